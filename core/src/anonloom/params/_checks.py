"""Checks of a parameter's value that carry their own words.

A check is called with the value and says whether it is allowed. Its words complete a sentence:
"must be an integer" + " of at least 2".
"""

from collections.abc import Mapping, Sized
from typing import Protocol, runtime_checkable

import attrs

Number = int | float


@runtime_checkable
class Check(Protocol):
    """What `param(check=...)` takes: a rule for one value, its words and its JSON schema."""

    @property
    def words(self) -> str:
        """What follows the type in "must be <type><words>", with its leading space."""

    def __call__(self, value: object) -> bool:
        """Return whether `value`, which already has the right type, is allowed."""

    def schema(self) -> dict[str, object]:
        """Return the keywords of JSON schema that say the same; may be empty."""


@attrs.frozen
class Within:
    """A number in a range, either end of which may be open or absent."""

    words: str
    least: Number | None = None
    most: Number | None = None
    least_open: bool = False
    most_open: bool = False

    def __call__(self, value: object) -> bool:
        """Return whether `value` lies in the range."""
        if not isinstance(value, int | float):
            return True  # another member of a union, such as 'auto': not this rule's affair
        # Written as 'inside', not as 'not outside', so that NaN is never allowed.
        above = self.least is None or (
            value > self.least if self.least_open else value >= self.least
        )
        below = self.most is None or (value < self.most if self.most_open else value <= self.most)
        return above and below

    def schema(self) -> dict[str, object]:
        """Return the bounds as JSON schema."""
        results: dict[str, object] = {}
        if self.least is not None:
            results["exclusiveMinimum" if self.least_open else "minimum"] = self.least
        if self.most is not None:
            results["exclusiveMaximum" if self.most_open else "maximum"] = self.most
        return results


def at_least(least: Number) -> Check:
    """Allow numbers from `least` on."""
    return Within(f" of at least {least}", least=least)


def above(least: Number) -> Check:
    """Allow numbers greater than `least`."""
    return Within(f" above {least}", least=least, least_open=True)


def at_most(most: Number) -> Check:
    """Allow numbers up to `most`."""
    return Within(f" of at most {most}", most=most)


def below(most: Number) -> Check:
    """Allow numbers less than `most`."""
    return Within(f" below {most}", most=most, most_open=True)


def between(
    least: Number, most: Number, *, least_open: bool = False, most_open: bool = False
) -> Check:
    """Allow numbers from `least` to `most`; either end may be left out."""
    if least_open and most_open:
        words = f" above {least} and below {most}"
    elif least_open:
        words = f" above {least} and at most {most}"
    elif most_open:
        words = f" of at least {least} and below {most}"
    else:
        words = f" from {least} to {most}"
    return Within(words, least, most, least_open, most_open)


@attrs.frozen
class OneOf:
    """A value out of a few; for texts that are known when the code is written use `Literal`."""

    choices: tuple[object, ...]

    @property
    def words(self) -> str:
        """The choices in a row."""
        return f" out of {', '.join(map(repr, self.choices))}"

    def __call__(self, value: object) -> bool:
        """Return whether `value` is one of the choices, of the same type."""
        return any(value == choice and type(value) is type(choice) for choice in self.choices)

    def schema(self) -> dict[str, object]:
        """Return the choices as JSON schema."""
        return {"enum": list(self.choices)}


def one_of(*choices: object) -> Check:
    """Allow these values only."""
    return OneOf(choices)


@attrs.frozen
class NotEmpty:
    """A text, list or mapping with something in it."""

    words: str = " that is not empty"

    def __call__(self, value: object) -> bool:
        """Return whether `value` holds anything."""
        return not isinstance(value, Sized) or len(value) > 0

    def schema(self) -> dict[str, object]:
        """Return the least length for each type that has one; JSON schema ignores the others."""
        return {"minLength": 1, "minItems": 1, "minProperties": 1}


def not_empty() -> Check:
    """Allow texts, lists and mappings that hold something."""
    return NotEmpty()


@attrs.frozen
class Distinct:
    """A list without repetitions."""

    words: str = " without repetitions"

    def __call__(self, value: object) -> bool:
        """Return whether no element occurs twice."""
        return not isinstance(value, tuple) or all(
            element not in value[:index] for index, element in enumerate(value)
        )

    def schema(self) -> dict[str, object]:
        """Return the rule as JSON schema."""
        return {"uniqueItems": True}


def distinct() -> Check:
    """Allow lists in which nothing occurs twice."""
    return Distinct()


@attrs.frozen
class Each:
    """A rule for every element of a list, or every value of a mapping."""

    check: Check

    @property
    def words(self) -> str:
        """The rule of the elements."""
        return f", each{self.check.words}"

    def __call__(self, value: object) -> bool:
        """Return whether every element is allowed."""
        elements = tuple(value.values()) if isinstance(value, Mapping) else value
        return not isinstance(elements, tuple) or all(self.check(element) for element in elements)

    def schema(self) -> dict[str, object]:
        """Leave the elements to the run-time check: their schema is the type's affair."""
        return {}


def each(check: Check) -> Check:
    """Allow lists whose elements, and mappings whose values, all pass `check`."""
    return Each(check)


@attrs.frozen
class AllOf:
    """Several rules at once."""

    checks: tuple[Check, ...]

    @property
    def words(self) -> str:
        """All rules in a row; those of the elements come last."""
        whole = [check.words for check in self.checks if not isinstance(check, Each)]
        elements = [check.words for check in self.checks if isinstance(check, Each)]
        return " and".join(whole) + "".join(elements)

    def __call__(self, value: object) -> bool:
        """Return whether every rule allows `value`."""
        return all(check(value) for check in self.checks)

    def schema(self) -> dict[str, object]:
        """Return all rules as JSON schema."""
        merged: dict[str, object] = {}
        for check in self.checks:
            merged.update(check.schema())
        return merged


def all_of(*checks: Check) -> Check:
    """Allow what all of these checks allow."""
    return AllOf(checks)
