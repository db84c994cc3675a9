"""Privacy model alpha-deassociation: no sensitive value is too frequent in a class."""

import math
from fractions import Fraction
from typing import ClassVar

import attrs
import numpy as np

from anonloom import PrivacyModel, Schema, Table, param
from anonloom.cells import number_text
from anonloom.kinds import Offsets
from anonloom.params import between
from anonloom.typing import BoolArray, FloatArray, IntArray


@attrs.frozen(kw_only=True)
class AlphaDeassociation(PrivacyModel):
    """No value has a share above alpha among the persons of a class (Wong et al. 2006).

    A missing value is no value: rows without one are not counted, and a class in which nobody has
    one is refused.
    """

    # Two classes may share persons, who count once in the union: it is no mixture of the two.
    monotone: ClassVar[bool] = False
    #: Parameters with which `anonloom plugins check` tries it.
    example: ClassVar[dict[str, object]] = {"alpha": 0.5, "of": "illness"}

    alpha: float = param(
        help="Greatest share of the persons of a class who may have the same value.",
        check=between(0, 1, least_open=True, most_open=True),
    )
    of: str = param(help="The sensitive column.")

    @property
    def min_size(self) -> int:
        """Even a value that occurs once has a share: 1 / size must not be above alpha."""
        size = math.ceil(1 / Fraction(self.alpha))
        # As a float, one third is a little less than one third, and still admits three persons.
        return size - 1 if 1 / (size - 1) <= self.alpha else size

    def meaning(self, unit: str) -> str:
        """Say what the model promises."""
        return (
            f"Of the {unit} that share a combination a share of at most {self.alpha:g} has the "
            f"same value of '{self.of}', so that finding the group leaves the value in doubt."
        )

    def problem(self, schema: Schema) -> str | None:
        """Refuse a column that is not declared, or not sensitive."""
        sensitive = ", ".join(f"'{name}'" for name in schema.names_with_role("sensitive"))
        there = f"sensitive columns: {sensitive or 'none'}"
        if self.of not in schema:
            return f"column '{self.of}' is not declared; {there}"
        if schema[self.of].role != "sensitive":
            return f"column '{self.of}' has role '{schema[self.of].role}'; {there}"
        return None

    def admits(self, table: Table, rows: Offsets, starts: Offsets, stops: Offsets) -> BoolArray:
        """Compare the most frequent value of every range with alpha."""
        return self._largest_shares(table, rows, starts, stops) <= self.alpha

    def would_pass(self, table: Table, rows: Offsets, starts: Offsets, stops: Offsets) -> str:
        """Say the least alpha that admits all ranges, rounded up to hundredths."""
        shares = self._largest_shares(table, rows, starts, stops)
        worst = float(shares.max()) if len(shares) else self.alpha
        # What rounds up to 1 protects nobody; a range without any value is infinite.
        if worst > 0.99:
            return "no alpha"
        return f"alpha: {number_text(math.ceil(round(worst * 100, 9)) / 100)}"

    def _largest_shares(
        self, table: Table, rows: Offsets, starts: Offsets, stops: Offsets
    ) -> FloatArray:
        """Share of the most frequent value of every range; infinite where there is no value."""
        starts, lengths = np.asarray(starts, np.int64), np.subtract(stops, starts, dtype=np.int64)
        # The members of all ranges, one after another; a row may be a member of several.
        of_range = np.repeat(np.arange(len(starts)), lengths)
        first = np.cumsum(lengths) - lengths
        members = rows[np.arange(len(of_range)) + (starts - first)[of_range]]

        coded, unknown = table.encode_column(self.of), table.unknown_persons
        counted = ~coded.missing[members]
        if unknown is not None:
            counted &= ~unknown[members]
        of_range, members = of_range[counted], members[counted]

        persons = None if table.persons is None else table.persons[members]
        everybody = _count_persons(of_range, persons, len(starts))
        pairs = of_range * coded.axis.size + coded.codes[members]
        distinct, of_pair = np.unique(pairs, return_inverse=True)
        holders = _count_persons(of_pair, persons, len(distinct))
        most = np.zeros(len(starts), np.int64)
        np.maximum.at(most, distinct // coded.axis.size, holders)
        shares = np.full(len(starts), np.inf)
        # One division, so that 57 of 100 is the number that a pipeline means by 0.57.
        np.divide(most, everybody, out=shares, where=everybody > 0)
        return shares


def _count_persons(owners: IntArray, persons: Offsets | None, count: int) -> IntArray:
    """Count the different persons of every owner; without persons every row is one."""
    if persons is None:
        return np.bincount(owners, minlength=count)
    width = int(persons.max(initial=0)) + 1
    distinct = np.unique(owners * width + persons)
    return np.bincount(distinct // width, minlength=count)
