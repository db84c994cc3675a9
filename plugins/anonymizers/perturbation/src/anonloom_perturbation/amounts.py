"""A check of a number, or of every number of a mapping."""

from collections.abc import Mapping

import attrs

from anonloom.params import Check


@attrs.frozen
class Every:
    """A rule for a number, or for each number that a mapping holds."""

    rule: Check

    @property
    def words(self) -> str:
        """The rule's own words."""
        return f", each{self.rule.words}"

    def __call__(self, value: object) -> bool:
        """Return whether the number, or every number, is allowed."""
        return all(map(self.rule, value.values() if isinstance(value, Mapping) else [value]))

    def schema(self) -> dict[str, object]:
        """Return the rule for both forms."""
        rule = self.rule.schema()
        return {**rule, "additionalProperties": {"type": "number", **rule}}
