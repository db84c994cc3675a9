"""k-anonymity: a class holds at least k persons."""

from typing import ClassVar

import attrs
import numpy as np

from anonloom import PrivacyModel, Schema, Table, param
from anonloom.kinds import Offsets
from anonloom.params import all_of, at_least, distinct, each, not_empty
from anonloom.typing import BoolArray, IntArray
from anonloom_privacy_models.sensitive import quoted_names
from anonloom_privacy_models.tallies import distinct as distinct_keys


@attrs.frozen(kw_only=True)
class KAnonymity(PrivacyModel):
    """At least k persons per class (Sweeney 2002); rows, where no column names the person."""

    # The persons of a union are at least those of either part.
    monotone: ClassVar[bool] = True
    #: Parameters with which `anonloom plugins check` tries it.
    example: ClassVar[dict[str, object]] = {"k": 3}

    k: int = param(help="Least number of persons in a class.", check=at_least(2))
    on: tuple[tuple[str, ...], ...] | None = param(
        help="Combinations of quasi-identifiers that must be k-anonymous each; all "
        "quasi-identifiers together by default.",
        default=None,
        check=all_of(not_empty(), distinct(), each(all_of(not_empty(), distinct()))),
    )

    @property
    def min_size(self) -> int:
        """A person has at least one row."""
        return self.k

    @property
    def size_only(self) -> bool:
        """With one row per person the size decides."""
        return True

    def meaning(self, unit: str) -> str:
        """Say what k-anonymity promises."""
        of = "quasi-identifiers" if self.on is None else "the chosen quasi-identifiers"
        return (
            f"Every published combination of {of} is shared by at least {self.k} {unit}, so that "
            "nobody can be singled out by them."
        )

    def admits(self, table: Table, rows: Offsets, starts: Offsets, stops: Offsets) -> BoolArray:
        """Count the persons of every range."""
        return self._persons(table, rows, starts, stops) >= self.k

    def would_pass(self, table: Table, rows: Offsets, starts: Offsets, stops: Offsets) -> str:
        """Say the greatest k that admits all ranges."""
        persons = self._persons(table, rows, starts, stops)
        least = int(persons.min()) if len(persons) else self.k
        return f"k: {least}" if least > 1 else "no k"

    def combinations(self, schema: Schema) -> tuple[tuple[str, ...], ...]:
        """Return the combinations that were chosen, or all quasi-identifiers.

        A class of rows that agree in all of them is k-anonymous on each: the published classes of
        fewer columns are unions of such classes.
        """
        return (schema.quasi,) if self.on is None else self.on

    def problem(self, schema: Schema) -> str | None:
        """Refuse combinations of columns that are no quasi-identifiers."""
        there = f"quasi-identifiers: {quoted_names(schema.quasi)}"
        if not schema.quasi:
            return "the table has no quasi-identifier; declare at least one column 'role: quasi'"
        for name in (name for combination in self.on or () for name in combination):
            if name not in schema:
                return f"column '{name}' in 'on' is not declared; {there}"
            if schema[name].role != "quasi":
                return f"column '{name}' in 'on' has role '{schema[name].role}'; {there}"
        return None

    def _persons(self, table: Table, rows: Offsets, starts: Offsets, stops: Offsets) -> IntArray:
        persons = table.persons
        if persons is None:
            return np.asarray(stops, np.int64) - np.asarray(starts, np.int64)
        unknown = table.unknown_persons
        # Whoever is not known may be one of the others.
        known = None if unknown is None else ~unknown[rows]
        return distinct_keys(persons[rows].astype(np.int64), starts, stops, known)
