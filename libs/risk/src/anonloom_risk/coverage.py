"""What published rows may stand for: whether a release is generalized, and whom a row covers."""

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom.typing import BoolArray, IntArray
from anonloom_linkage.aligned_columns import AlignedColumn

__all__ = ["covered", "is_generalized"]

#: Wide rows of which it is asked whether they cover anybody, and pairs looked at together.
ASKED = 50
CHUNK = 1 << 18
#: Categories with no more cells times leaves than this are looked up in a table.
MOST_LOOKED_UP = 1 << 22
#: A release in which so many rows have a cell that stands for several values is generalized.
GENERALIZED = 0.01


@attrs.frozen(eq=False)
class ColumnCover:
    """Which single values each cell of one column may stand for."""

    column: AlignedColumn
    leaves: Any = attrs.field(repr=False)

    @classmethod
    def of(cls, column: AlignedColumn) -> "ColumnCover":
        """Prepare to look cells up."""
        if column.is_ordered:
            return cls(column, None)
        covers = column.covers.tocsr()
        small = covers.shape[0] * covers.shape[1] <= MOST_LOOKED_UP
        return cls(column, covers.toarray() > 0 if small else covers)

    def fits(self, published: NDArray[np.integer], single: NDArray[np.integer]) -> BoolArray:
        """Whether cells may stand for single values, of the same shape or to be broadcast."""
        column = self.column
        if column.is_ordered:
            fits = (column.lo[published] <= column.lo[single]) & (
                column.hi[single] <= column.hi[published]
            )
        else:
            first, second = np.broadcast_arrays(published, column.lo[single].astype(np.int64))
            found = np.asarray(self.leaves[first.ravel(), second.ravel()]).reshape(first.shape)
            fits = found > 0
        silent = column.open[published] | (column.missing[published] & column.missing[single])
        return np.asarray(fits | silent)


def covered(
    columns: Sequence[AlignedColumn],
    cells: Sequence[NDArray[np.integer]],
    own: Sequence[NDArray[np.integer]],
) -> BoolArray:
    """Whether published cells may stand for single values, in every column.

    Parameters
    ----------
    cells, own
        By column, cells of the release and single values, of the same shape or to be broadcast.
    """
    result: BoolArray = np.ones(np.broadcast_shapes(cells[0].shape, own[0].shape), bool)
    for column, published, single in zip(columns, cells, own, strict=True):
        result &= ColumnCover.of(column).fits(published, single)
    return result


def wide_rows(columns: Sequence[AlignedColumn], release: int) -> BoolArray:
    """Mark the rows of a release with a cell that stands for several values."""
    wide = np.zeros(len(columns[0].sides[release]), bool)
    for column in columns:
        wide |= ((column.open | (column.lo != column.hi)) & ~column.missing)[column.sides[release]]
    return wide


def is_generalized(columns: Sequence[AlignedColumn], release: int) -> bool:
    """Whether cells of the release stand for several values, and tell the truth.

    A release that changes values as well has wide rows that cover nobody of the original.

    Parameters
    ----------
    columns
        Their first side is the original.
    release
        Number of the release among the sides of the columns.
    """
    if not columns:
        return False
    rows = len(columns[0].sides[release])
    wide, withheld = np.zeros(rows, bool), 0
    for column in columns:
        cells = column.sides[release]
        several = (column.lo != column.hi) & ~column.missing & ~column.open
        wide |= several[cells]
        # A value that the original lacks says nothing either, and is no generalized cell.
        withheld = max(withheld, int(column.open[cells].sum()) - column.unread[release])
    if not (wide.sum() > GENERALIZED * rows or withheld > GENERALIZED * rows):
        return False
    return _cover_somebody(columns, release, np.flatnonzero(wide_rows(columns, release)))


def _cover_somebody(columns: Sequence[AlignedColumn], release: int, rows: IntArray) -> bool:
    """Whether most of these rows cover somebody of the original; some of them are asked."""
    rows = rows[np.linspace(0, len(rows) - 1, min(len(rows), ASKED)).astype(np.int64)]
    covers = [ColumnCover.of(column) for column in columns]
    people = len(columns[0].sides[0])
    found = np.zeros(len(rows), bool)
    for start in range(0, people, CHUNK // ASKED):
        open_ = np.flatnonzero(~found)
        some = slice(start, start + CHUNK // ASKED)
        fits = np.ones((len(open_), len(columns[0].sides[0][some])), bool)
        for cover in covers:
            cells = cover.column.sides[release][rows[open_]]
            fits &= cover.fits(cells[:, None], cover.column.sides[0][some][None, :])
        found[open_] = fits.any(axis=1)
        if found.all():
            break
    return bool(2 * found.sum() >= len(rows))
