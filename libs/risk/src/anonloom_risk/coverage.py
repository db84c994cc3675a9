"""What published rows may stand for: whether a release is generalized, and whom a row covers."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from anonloom.typing import BoolArray
from anonloom_linkage.aligned_columns import AlignedColumn

__all__ = ["covered", "is_generalized"]

#: A release in which so many rows have a cell that stands for several values is generalized.
GENERALIZED = 0.01


def is_generalized(columns: Sequence[AlignedColumn], release: int) -> bool:
    """Whether cells of the release stand for several values.

    Parameters
    ----------
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
    return bool(wide.sum() > GENERALIZED * rows or withheld > GENERALIZED * rows)


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
        if column.is_ordered:
            fits = (column.lo[published] <= column.lo[single]) & (
                column.hi[single] <= column.hi[published]
            )
        else:
            covers = column.covers.tocsr()
            leaf = column.lo[single].astype(np.int64)
            first, second = np.broadcast_arrays(published, leaf)
            fits = np.asarray(covers[first.ravel(), second.ravel()]).reshape(first.shape) > 0
        silent = column.open[published] | (column.missing[published] & column.missing[single])
        result &= fits | silent
    return result
