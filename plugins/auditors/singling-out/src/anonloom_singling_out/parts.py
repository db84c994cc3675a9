"""Into which parts an attacker divides a column: what one condition of a predicate may say.

A condition is about one column: it has this value, or lies in this interval or published cell. All
conditions of one kind divide the values of the column into parts, so that a condition is the number
of a part, and a record meets exactly one of every kind.

Everything here is seen from the release. A published cell that stands for several values is a part
as it is; a value that several published cells cover falls in the narrowest.
"""

from collections.abc import Sequence

import attrs
import numpy as np

from anonloom import short_repr
from anonloom.typing import FloatArray, IntArray
from anonloom_linkage.aligned_columns import AlignedColumn
from anonloom_risk.nearest_rows import CONTROL, RELEASE

__all__ = ["Grid", "Parts", "cell_parts", "grid_parts", "neighbour_parts", "room"]

#: Room that is as good as more, and least room that counts, in standard deviations.
MOST_ROOM, LEAST_ROOM = 1.0, 1e-3


@short_repr
@attrs.frozen(eq=False)
class Parts:
    """A division of a column.

    Attributes
    ----------
    of_cell
        The part of every cell of the column.
    bits
        Of every cell how rare its part is in the population: minus the logarithm of the share that
        the release and the control show, with nobody left at nothing.
    """

    of_cell: IntArray
    bits: FloatArray

    @classmethod
    def of(cls, column: AlignedColumn, of_cell: IntArray) -> "Parts":
        """Weigh the parts by what release and control show."""
        shown = [RELEASE, CONTROL] if len(column.sides) > CONTROL else [RELEASE]
        rows = np.bincount(of_cell, weights=column.counts(*shown))
        shares = (rows + 1) / (rows.sum() + 1)
        return cls(of_cell, -np.log(shares)[of_cell])


@attrs.frozen
class Grid:
    """Intervals of equal width.

    Attributes
    ----------
    width
        In standard deviations of the release.
    shift
        By which share of a width they are moved.
    """

    width: float
    shift: float


def cell_parts(column: AlignedColumn) -> Parts:
    """Divide into single values, or into published cells where these stand for several."""
    return Parts.of(column, _published_cells(column))


def grid_parts(column: AlignedColumn, grids: Sequence[Grid]) -> list[Parts]:
    """Divide the line of single values into intervals; nothing for categories and cells."""
    places = _published_places(column)
    spread = float(np.std(places)) if len(places) else 0.0
    if not spread:
        return []
    least, most = float(places.min()), float(places.max())
    result = []
    for grid in grids:
        width = grid.width * spread
        borders = np.arange(least + grid.shift * width, most + width, width)
        result.append(Parts.of(column, _intervals(column, borders)))
    return result


def neighbour_parts(column: AlignedColumn) -> list[Parts]:
    """Divide the line between published values: each part is nearest to one of them.

    The first and the last part have no end: who is there has an extreme value.
    """
    distinct = np.unique(_published_places(column))
    if len(distinct) < 2:
        return []
    return [Parts.of(column, _intervals(column, distinct[:-1] / 2 + distinct[1:] / 2))]


def room(column: AlignedColumn) -> FloatArray:
    """Return for every cell how far the nearest published value is from its own neighbours.

    As a logarithm of standard deviations; 0 where values have no places. What stands alone is still
    alone when it was moved a little.
    """
    places = _published_places(column)
    distinct, spread = np.unique(places), float(np.std(places)) if len(places) else 0.0
    if len(distinct) < 2 or not spread:
        return np.zeros(len(column))
    gaps = np.diff(distinct)
    nearer = np.minimum(np.append(np.inf, gaps), np.append(gaps, np.inf)) / spread
    nearest = _intervals(column, distinct[:-1] / 2 + distinct[1:] / 2)
    # A missing value and `*` have no neighbours.
    nearer = np.append(nearer, [MOST_ROOM, MOST_ROOM])
    result: FloatArray = np.log(np.clip(nearer, LEAST_ROOM, MOST_ROOM))[nearest]
    return result


def _published_places(column: AlignedColumn) -> FloatArray:
    """Places of the rows of a release that publishes single values; else none."""
    cells = column.sides[RELEASE]
    if not column.is_ordered or len(_wide_cells(column)):
        return np.empty(0)
    places = column.lo[cells[~column.open[cells]]]
    return places[~np.isnan(places)]


def _intervals(column: AlignedColumn, borders: FloatArray) -> IntArray:
    """Number the intervals between borders; a missing value and `*` are parts of their own."""
    parts = np.searchsorted(borders, np.nan_to_num(column.lo), side="right")
    parts[column.missing] = len(borders) + 1
    parts[column.open] = len(borders) + 2
    return parts.astype(np.int64)


def _wide_cells(column: AlignedColumn) -> IntArray:
    """Cells of the release that stand for several values, the widest first."""
    several = (column.lo != column.hi) & ~column.missing & ~column.open
    wide = np.flatnonzero(several & (column.counts(RELEASE) > 0))
    if column.is_ordered:
        sizes = column.hi - column.lo
    else:
        sizes = np.diff(column.covers.tocsr().indptr)
    return wide[np.argsort(-sizes[wide], kind="stable")]


def _published_cells(column: AlignedColumn) -> IntArray:
    """The published cell that every cell falls in: the narrowest, or itself where there is none."""
    result = np.arange(len(column))
    wide = _wide_cells(column)
    if not len(wide):
        return result
    # Nothing is narrower than a single value that is published.
    single = np.flatnonzero((column.lo == column.hi) & (column.counts(RELEASE) == 0))
    if column.is_ordered:
        single = single[np.argsort(column.lo[single], kind="stable")]
        places = column.lo[single]
        first = np.searchsorted(places, column.lo[wide], side="left")
        stop = np.searchsorted(places, column.hi[wide], side="right")
        for cell, begin, end in zip(wide, first, stop, strict=True):
            result[single[begin:end]] = cell
        return result
    covers = column.covers.tocsr()
    of_leaf = np.full(covers.shape[1], -1, np.int64)
    for cell in wide:
        of_leaf[covers.indices[covers.indptr[cell] : covers.indptr[cell + 1]]] = cell
    leaf = of_leaf[column.lo[single].astype(np.int64)]
    result[single[leaf >= 0]] = leaf[leaf >= 0]
    return result
