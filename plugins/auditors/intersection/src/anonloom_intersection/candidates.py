"""Candidates: which sensitive values releases leave possible for a person, and how many rows."""

from collections.abc import Sequence
from functools import cached_property, reduce

import attrs
import numpy as np

from anonloom import Release, Table, short_repr
from anonloom.lazy import lazy_module
from anonloom.typing import BoolArray, IntArray
from anonloom_intersection.regions import Regions
from anonloom_intersection.typing import SparseMatrix
from anonloom_linkage.aligned_columns import AlignedColumn, align_columns, shared_columns

sparse = lazy_module("scipy.sparse")


@short_repr
@attrs.frozen(eq=False)
class SensitiveValues:
    """The values of a sensitive column, and which of them each cell may stand for.

    A missing value is no value. Values that lie in a published interval are those that occur as
    single ones in some table.

    Attributes
    ----------
    possible
        (cells x values): 1 where the cell may stand for the value.
    """

    column: AlignedColumn
    possible: SparseMatrix

    @classmethod
    def of(cls, column: AlignedColumn) -> "SensitiveValues":
        """Number the values of a column."""
        if not column.is_ordered:
            is_value = np.ones(column.covers.shape[1], np.int64)
            is_value[column.lo[column.missing].astype(np.int64)] = 0
            return cls(column, _weighted(column.covers, is_value[column.covers.indices]))
        values = np.unique(column.lo[column.lo == column.hi])
        first = np.searchsorted(values, column.lo, "left")
        last = np.searchsorted(values, column.hi, "right")
        first, last = np.where(column.open, 0, first), np.where(column.open, len(values), last)
        last = np.where(column.missing, first, last)
        starts = np.r_[0, np.cumsum(last - first)]
        indices = np.arange(starts[-1]) - np.repeat(starts[:-1] - first, last - first)
        shape = (len(column), len(values))
        return cls(
            column, sparse.csr_array((np.ones(len(indices), np.int64), indices, starts), shape)
        )

    @cached_property
    def certain(self) -> SparseMatrix:
        """The same, of the cells that stand for one value alone."""
        values = np.diff(self.possible.indptr)
        return _weighted(self.possible, np.repeat(values == 1, values).astype(np.int64))

    def own(self, side: int, rows: IntArray) -> IntArray:
        """Return the value of rows of a raw table, -1 for none."""
        starts = self.possible.indptr
        has_value = np.diff(starts) == 1
        value = np.full(len(has_value), -1, np.int64)
        value[has_value] = self.possible.indices[starts[:-1][has_value]]
        result: IntArray = value[self.column.sides[side][rows]]
        return result

    def counts(self, regions: Regions, side: int, cells: SparseMatrix) -> SparseMatrix:
        """Return (regions x values): rows of each region whose cell stands for the value.

        Parameters
        ----------
        cells
            `possible` or `certain`.
        """
        held = self.column.sides[side][regions.rows]
        shape = (len(regions), len(self.column))
        entries = (np.ones(len(held), np.int64), (regions.of_row, held))
        return (sparse.csr_array(entries, shape=shape) @ cells).tocsr()


def _weighted(matrix: SparseMatrix, entries: IntArray) -> SparseMatrix:
    """Return the matrix with these entries in place of its own; zeros are no entries."""
    result = matrix.copy()
    result.data = entries
    result.eliminate_zeros()
    return result


@short_repr
@attrs.frozen(eq=False)
class Candidates:
    """What is possible for every target.

    Attributes
    ----------
    rows_by_value
        (targets x values): rows that may be the target's and have the value; at most so many
        people of all releases in question are like the target and have it.
    own
        The target's own value, -1 for none.
    """

    rows_by_value: SparseMatrix
    own: IntArray

    @property
    def values(self) -> IntArray:
        """How many values are possible for each target."""
        return np.asarray(np.diff(self.rows_by_value.indptr), np.int64)

    @property
    def rows(self) -> IntArray:
        """How many rows are possible for each target."""
        return np.asarray(self.rows_by_value.sum(axis=1), np.int64)

    @cached_property
    def right(self) -> BoolArray:
        """Whether the target's own value is among the candidates."""
        target = np.repeat(np.arange(len(self.own)), self.values)
        hits = target[self.rows_by_value.indices == self.own[target]]
        result = np.zeros(len(self.own), bool)
        result[hits] = True
        return result

    @property
    def disclosed(self) -> BoolArray:
        """Targets of whom one value is left, their own."""
        return np.asarray(self.right & (self.values == 1))

    def of(self, targets: IntArray) -> "Candidates":
        """Return the candidates of some of the targets."""
        return Candidates(self.rows_by_value[targets], self.own[targets])

    def intersect(self, other: "Candidates") -> "Candidates":
        """Return what is possible by both.

        A value that one release has c times among the rows in question, and the other d times, is
        that of min(c, d) people of both at most.
        """
        return attrs.evolve(self, rows_by_value=self.rows_by_value.minimum(other.rows_by_value))


@short_repr
@attrs.frozen(eq=False)
class Attack:
    """Targets, and every region of every release that covers them.

    Attributes
    ----------
    regions
        Of every release.
    covering
        For every release (targets x regions).
    sensitive
        By name the sensitive columns that two releases or more show, and the numbers of these
        releases. They are the sides 1, 2, ... of the column; the targets are the last.
    targets
        Rows of the targets' table.
    """

    regions: tuple[Regions, ...]
    covering: tuple[SparseMatrix, ...]
    sensitive: dict[str, tuple[SensitiveValues, tuple[int, ...]]]
    targets: IntArray

    @classmethod
    def prepare(
        cls, original: Table, releases: Sequence[Release], targets: Table | None = None
    ) -> "Attack":
        """Find the regions that cover each target.

        Parameters
        ----------
        original
            What columns are.
        targets
            Raw records of people whose quasi-identifiers the attacker knows; those of the original
            by default.
        """
        targets = original if targets is None else targets
        rows = np.arange(len(targets))
        regions, covering = [], []
        for release in releases:
            # Each release with the columns that it shows: another may show more.
            sides: list[Release | Table] = [release, targets]
            names = shared_columns(original, sides, frozenset({"quasi"}))
            regions.append(Regions.of(align_columns(original, sides, names), 1, release))
            covering.append(regions[-1].covering(2, rows))
        sensitive = {}
        for name in shared_columns(original, [targets], frozenset({"sensitive"})):
            shown = tuple(at for at, release in enumerate(releases) if name in release.frame)
            if len(shown) > 1:
                showing = [releases[at] for at in shown]
                (column,) = align_columns(original, [*showing, targets], [name])
                sensitive[name] = SensitiveValues.of(column), shown
        return cls(tuple(regions), tuple(covering), sensitive, rows)

    def own_values(self, name: str) -> IntArray:
        """Return every target's own value of a sensitive column, -1 for none."""
        values, shown = self.sensitive[name]
        return values.own(len(shown) + 1, self.targets)

    def counts(self, name: str, *, certain: bool = False) -> tuple[SparseMatrix, ...]:
        """Return for every release that shows the column (regions x values).

        Parameters
        ----------
        certain
            Count only cells that stand for one value alone.
        """
        values, shown = self.sensitive[name]
        cells = values.certain if certain else values.possible
        return tuple(
            values.counts(self.regions[release], side, cells)
            for side, release in enumerate(shown, start=1)
        )

    def singles(self, name: str) -> tuple[Candidates, ...]:
        """Return what every release by itself leaves possible for each target."""
        own = self.own_values(name)
        _, shown = self.sensitive[name]
        return tuple(
            Candidates(self.covering[release] @ counts, own)
            for release, counts in zip(shown, self.counts(name), strict=True)
        )

    def candidates(self, name: str) -> Candidates:
        """Return what all releases together leave possible for each target."""
        return reduce(Candidates.intersect, self.singles(name))
