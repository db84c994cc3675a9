"""When a value of the original agrees with a published cell: as ranges of codes.

What a cell agrees with is a stretch of neighbouring codes of the original: the values within an
interval or near a single value, the leaves below a node, one leaf. A set is several stretches.
So agreement is two comparisons of integers, whatever the column is.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import attrs
import numpy as np

from anonloom.typing import BoolArray, IntArray
from anonloom_linkage.aligned_columns import AlignedColumn, Cells

#: Patterns of so many columns can be counted one by one.
MOST_COLUMNS = 20
#: Patterns of agreement, times the combinations of columns that published rows leave open.
MOST_PATTERNS = 1 << 22


class Stretches(NamedTuple):
    """What the cells of all columns agree with; a column of sets has several layers.

    Attributes
    ----------
    column
        Of every layer, the place of its column.
    start
        Of every layer, where its cells begin in `first` and `last`.
    first, last
        First and last code of a cell's stretch; the last is -1 where no code lies in it.
    """

    column: IntArray
    start: IntArray
    first: Cells
    last: Cells


@attrs.frozen(eq=False)
class Attribute:
    """One column as it is compared.

    Attributes
    ----------
    first, last
        (layers x cells), as in `Stretches`.
    tolerance
        How far a number may be from a published one; 0 for categories.
    chance
        Share of all pairs of a record and a row that says something, in which both agree.
    """

    column: AlignedColumn
    first: Cells = attrs.field(repr=False)
    last: Cells = attrs.field(repr=False)
    tolerance: float
    chance: float

    @classmethod
    def of(cls, column: AlignedColumn, tolerance: float) -> "Attribute":
        """Find what every cell agrees with."""
        first, last = _near(column, tolerance) if column.is_ordered else _runs(column)
        nothing = (last < first) | column.open
        first, last = np.where(nothing, 0, first), np.where(nothing, -1, last)
        return cls(
            column,
            first.astype(np.int32),
            last.astype(np.int32),
            tolerance,
            _by_chance(column, first, last),
        )

    @property
    def words(self) -> str:
        """What a report says of the comparison."""
        name, unit = self.column.name, {"date": " days", "time": " seconds"}
        if not self.column.is_ordered:
            return name
        return f"{name} within {self.tolerance:.4g}{unit.get(self.column.type, '')}"

    @property
    def silent(self) -> BoolArray:
        """Published rows that say nothing about the column."""
        return self.column.open[self.column.sides[1]]

    @property
    def coarse(self) -> bool:
        """Whether the release shows any cell that is no single value."""
        wide = self.column.hi > self.column.lo
        if not self.column.is_ordered:
            wide = np.diff(self.column.covers.indptr) > 1
        return bool((wide | self.column.open)[self.column.sides[1]].any())


def attributes_of(
    columns: Sequence[AlignedColumn], tolerance: Mapping[str, float], share: float
) -> tuple[Attribute, ...]:
    """Prepare columns for comparison.

    Parameters
    ----------
    tolerance
        Per column, how far a number may be off: in days of a date, in seconds of a time.
    share
        The tolerance of all other columns, as a share of the original's standard deviation.
    """
    return tuple(
        Attribute.of(
            column,
            tolerance.get(column.name, share * _deviation(column)) if column.is_ordered else 0.0,
        )
        for column in columns
    )


def select_attributes(attributes: Sequence[Attribute]) -> tuple[Attribute, ...]:
    """Return as many columns as can be compared: those that agree least often by chance."""
    kept = list(attributes)
    while len(kept) > MOST_COLUMNS or len(open_columns(kept)[0]) << len(kept) > MOST_PATTERNS:
        kept.remove(max(kept, key=lambda attribute: attribute.chance))
    return tuple(kept)


def open_columns(attributes: Sequence[Attribute]) -> tuple[IntArray, IntArray]:
    """Which columns published rows leave open.

    Returns
    -------
    masks, of_rows
        The combinations, a bit per column, of which the first is 'none'; and every row's.
    """
    rows = len(attributes[0].silent) if attributes else 0
    of_rows = np.zeros(rows, np.int64)
    for bit, attribute in enumerate(attributes):
        of_rows |= attribute.silent.astype(np.int64) << bit
    masks, places = np.unique(np.append(of_rows, 0), return_inverse=True)
    return masks, places[:-1].astype(np.int64)


def stretches_of(attributes: Sequence[Attribute]) -> Stretches:
    """Lay the stretches of all columns one after the other."""
    layers = [(index, layer) for index, a in enumerate(attributes) for layer in range(len(a.first))]
    sizes = [len(attributes[index].column) for index, _ in layers]
    return Stretches(
        np.array([index for index, _ in layers], np.int64),
        np.cumsum([0, *sizes])[:-1].astype(np.int64),
        np.concatenate([attributes[index].first[layer] for index, layer in layers]),
        np.concatenate([attributes[index].last[layer] for index, layer in layers]),
    )


def _near(column: AlignedColumn, tolerance: float) -> tuple[IntArray, IntArray]:
    """Codes whose values an interval covers, or which are near a single value."""
    own = column.axis.places[: column.axis.value_count]
    single = column.lo == column.hi
    lo = np.where(single, column.lo - tolerance, column.lo)
    hi = np.where(single, column.hi + tolerance, column.hi)
    first = np.searchsorted(own, lo, side="left")
    last = np.searchsorted(own, hi, side="right") - 1
    # A missing value agrees with a missing one alone.
    first[column.missing] = last[column.missing] = column.axis.missing
    return first[None].astype(np.int64), last[None].astype(np.int64)


def _runs(column: AlignedColumn) -> tuple[IntArray, IntArray]:
    """Stretches of neighbouring leaves that a cell covers, the n-th of every cell in layer n."""
    covers, cells = column.covers, len(column)
    cell = np.repeat(np.arange(cells), np.diff(covers.indptr))
    leaf = covers.indices.astype(np.int64)
    begins = np.r_[True, (cell[1:] != cell[:-1]) | (leaf[1:] != leaf[:-1] + 1)][: len(leaf)]
    begin = np.flatnonzero(begins)
    end = np.r_[begin[1:], len(leaf)] - 1 if len(begin) else begin
    of_run = cell[begin]
    layer = np.arange(len(begin)) - np.searchsorted(of_run, of_run)
    layers = int(layer.max(initial=0)) + 1
    first = np.zeros((layers, cells), np.int64)
    last = np.full((layers, cells), -1, np.int64)
    first[layer, of_run], last[layer, of_run] = leaf[begin], leaf[end]
    return first, last


def _by_chance(column: AlignedColumn, first: IntArray, last: IntArray) -> float:
    """Share of all pairs that agree, from how often each value and each cell occurs."""
    records = np.r_[0, np.cumsum(np.bincount(column.sides[0], minlength=column.axis.size))]
    top = len(records) - 1
    # Leaves beyond the original's own have no records.
    covered = records[np.minimum(last + 1, top)] - records[np.minimum(first, top)]
    rows = np.where(column.open, 0, column.counts(1))
    pairs = float(rows.sum()) * len(column.sides[0])
    return float(covered.sum(axis=0) @ rows) / pairs if pairs else 0.0


def _deviation(column: AlignedColumn) -> float:
    """Standard deviation of the original's values."""
    axis = column.axis
    counts = np.bincount(column.sides[0], minlength=axis.size)[: axis.value_count]
    if axis.value_count < 2 or not counts.sum():
        return 0.0
    # In units of the range, because squares of large numbers may be none.
    places = (axis.places[: axis.value_count] - axis.places[0]) / axis.range
    mean = places @ counts / counts.sum()
    return float(np.sqrt((places - mean) ** 2 @ counts / counts.sum()) * axis.range)
