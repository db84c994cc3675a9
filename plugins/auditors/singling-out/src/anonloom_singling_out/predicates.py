"""Predicates, and whom they match: conjunctions of conditions, one per column, as one number.

A family of predicates names columns and how each is divided into parts. Every record meets exactly
one predicate of a family, so that nobody need go through predicates: records are. Parts have random
numbers of 64 bits, and the sum of a record's is the number of the predicate that it meets. Two
predicates share a number with a chance of 1 in 2^64.
"""

from collections.abc import Iterable, Sequence

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom import short_repr
from anonloom.typing import BoolArray, FloatArray, IntArray
from anonloom_linkage.aligned_columns import AlignedColumn
from anonloom_risk.nearest_rows import ORIGINAL, RELEASE, TARGETS
from anonloom_singling_out.parts import Parts

__all__ = ["Evidence", "Family", "Keys", "Matches", "occurrences"]

#: Numbers of predicates.
Keys = NDArray[np.uint64]
#: Columns, by number, and how each is divided.
Family = tuple[tuple[int, int], ...]


@short_repr
@attrs.frozen(eq=False)
class Matches:
    """What predicates do that match each target.

    Attributes
    ----------
    isolates
        Whether the predicate matches nobody of the original who is unlike the target.
    bits
        How rare it makes whom it matches; -inf where there is no predicate.
    """

    isolates: BoolArray
    bits: FloatArray


@short_repr
@attrs.frozen(eq=False)
class Evidence:
    """Original, release, targets and control as parts, with a number drawn for every part.

    Attributes
    ----------
    columns
        Those of `align_evidence`.
    parts
        By column the ways to divide it.
    numbers
        The same for the numbers drawn, by cell of the column.
    values
        By column a number for every cell: who is alike has the same.
    """

    columns: Sequence[AlignedColumn]
    parts: Sequence[Sequence[Parts]]
    numbers: Sequence[Sequence[Keys]]
    values: Sequence[Keys]
    people: IntArray
    own: BoolArray

    @classmethod
    def of(
        cls,
        columns: Sequence[AlignedColumn],
        parts: Sequence[Sequence[Parts]],
        rng: np.random.Generator,
    ) -> "Evidence":
        """Draw the numbers, and find out who of the original is alike.

        Parameters
        ----------
        columns, parts
            At least one column.
        """
        numbers = [
            [_draw(rng, int(way.of_cell.max()) + 1)[way.of_cell] for way in ways] for ways in parts
        ]
        values = [_draw(rng, len(column)) for column in columns]
        persons = _sum_cells(values, columns, ORIGINAL)
        people = np.unique(persons, return_index=True)[1]
        own = occurrences(persons, _sum_cells(values, columns, TARGETS)) > 0
        return cls(columns, parts, numbers, values, people, own)

    def distinct(self, side: int) -> IntArray:
        """Return one row of a table for all that are alike in all columns."""
        keys = _sum_cells(self.values, self.columns, side)
        return np.unique(keys, return_index=True)[1]

    def keys(self, family: Family, side: int, rows: IntArray | slice = slice(None)) -> Keys:
        """Return the predicate that each of these rows of a table meets."""
        sums = [
            self.numbers[column][way][self.columns[column].sides[side][rows]]
            for column, way in family
        ]
        return np.asarray(np.sum(sums, axis=0, dtype=np.uint64))

    def bits(self, family: Family) -> FloatArray:
        """Return how rare the predicate makes every target that meets it."""
        sums = [
            self.parts[column][way].bits[self.columns[column].sides[TARGETS]]
            for column, way in family
        ]
        return np.asarray(np.sum(sums, axis=0))

    def published(self, family: Family, keys: Keys) -> IntArray:
        """Return how many published rows predicates match: 0, 1, or 2 for more."""
        return occurrences(self.keys(family, RELEASE), keys)

    def isolated(self, family: Family, targets: IntArray, keys: Keys) -> BoolArray:
        """Whether predicates that targets meet match nobody of the original who is unlike them."""
        people = occurrences(self.keys(family, ORIGINAL, self.people), keys)
        # A target who is of the original, or has a twin there, is one of those people.
        return np.asarray(people == self.own[targets])

    def surest(self, families: Iterable[Family]) -> Matches:
        """Return what the surest of all predicates does that match a target and a published row.

        Parameters
        ----------
        families
            The more specific ones come first, and leave few targets for the others.
        """
        bits = np.full(len(self.own), -np.inf)
        isolates = np.zeros(len(self.own), bool)
        for family in families:
            rarity = self.bits(family)
            open_targets = np.flatnonzero(rarity > bits)
            keys = self.keys(family, TARGETS, open_targets)
            rows = self.published(family, keys)
            # Where two rows are published, the attacker expects two people.
            sure = rarity[open_targets] - np.log(np.maximum(rows, 1))
            better = (rows > 0) & (sure > bits[open_targets])
            matched = open_targets[better]
            bits[matched] = sure[better]
            isolates[matched] = self.isolated(family, matched, keys[better])
        return Matches(isolates, bits)


def _draw(rng: np.random.Generator, size: int) -> Keys:
    return rng.integers(0, 2**64, size, dtype=np.uint64)


def _sum_cells(values: Sequence[Keys], columns: Sequence[AlignedColumn], side: int) -> Keys:
    cells = [own[column.sides[side]] for own, column in zip(values, columns, strict=True)]
    return np.asarray(np.sum(cells, axis=0, dtype=np.uint64))


def occurrences(among: Keys, keys: Keys) -> IntArray:
    """Return how often each key occurs among others: 0, 1, or 2 for more."""
    if not len(among):
        return np.zeros(len(keys), np.int64)
    ascending = np.sort(among)
    first = np.searchsorted(ascending, keys)
    last = len(ascending) - 1
    once = (first <= last) & (ascending[np.minimum(first, last)] == keys)
    twice = once & (first < last) & (ascending[np.minimum(first + 1, last)] == keys)
    return np.asarray(once.astype(np.int64) + twice)
