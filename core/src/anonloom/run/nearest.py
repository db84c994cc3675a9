"""The nearest class by loss, without comparing every pair of classes.

Classes are put into blocks of neighbours. The union with any class of a block covers at least what
the union with the block's innermost ends covers, so that it loses at least as much: that is the
block's bound. Blocks are opened in the order of their bounds until no bound is below what was
found, which is then exact, or until so many are open that more would cost more than they gain.
"""

from functools import cached_property

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom.brief import short_repr
from anonloom.data.classes import Classes, Rows
from anonloom.data.table import Table

#: Classes in a block.
_BLOCK = 32

#: Blocks that are opened at most: up to 8,192 classes the nearest is always exact.
_OPENED = 256

#: Pairs of a class and a block, or of two classes, that are compared at a time: bounds memory.
_PAIRS = 2_000_000

Floats = NDArray[np.float64]


def nearest_classes(table: Table, classes: Classes, some: Rows, parent: Rows) -> Rows:
    """For each of some classes another one of the same parent whose union with it loses least.

    Of several equally near ones it is the first. Among more than 8,192 classes that are nearly
    equally near, it is the nearest of the 8,192 most promising.

    Parameters
    ----------
    parent
        Parent of every class. Each of the given classes must have company in its own.
    """
    search = _Search.of(table, classes, parent)
    nearest = np.empty(len(some), np.int64)
    step = max(1, _PAIRS // max(len(search.blocks), _BLOCK))
    for start in range(0, len(some), step):
        nearest[start : start + step] = search.nearest(some[start : start + step])
    return nearest


@short_repr
@attrs.frozen(eq=False)
class _Search:
    """Classes in blocks of neighbours.

    Attributes
    ----------
    lo, hi
        (axes x classes): extents.
    blocks
        (blocks x places): the classes of every block; the last block repeats its last class.
    """

    table: Table
    lo: NDArray[np.int32]
    hi: NDArray[np.int32]
    sizes: Rows
    parent: Rows
    blocks: NDArray[np.int64]

    @classmethod
    def of(cls, table: Table, classes: Classes, parent: Rows) -> "_Search":
        lo, hi = (np.ascontiguousarray(ends.T) for ends in classes.extents(table.codes))
        order = _by_neighbourhood(table, lo, hi, parent)
        padded = np.append(order, np.repeat(order[-1:], -len(order) % _BLOCK))
        return cls(table, lo, hi, classes.sizes, parent, padded.reshape(-1, _BLOCK))

    def nearest(self, some: Rows) -> Rows:
        """Find the nearest class of each of some classes."""
        bounds = self._bounds(some)
        order = _least(bounds, _OPENED)
        best, nearest = np.full(len(some), np.inf), np.full(len(some), -1)
        searching = np.arange(len(some))
        for turn in range(order.shape[1]):
            block = order[searching, turn]
            bound = bounds[searching, block]
            # A block whose bound is equal may hold an equally near class that comes first.
            worth = (bound <= best[searching]) & (bound < np.inf)
            searching, block = searching[worth], block[worth]
            if not len(searching):
                break
            other = self.blocks[block]
            cost = self._costs(some[searching], other)
            least = cost.min(axis=1)
            first = np.where(cost == least[:, None], other, len(self.sizes)).min(axis=1)
            found, known = best[searching], nearest[searching]
            better = (least < found) | ((least == found) & (first < known))
            best[searching] = np.where(better, least, found)
            nearest[searching] = np.where(better, first, known)
        return nearest

    def _costs(self, some: Rows, other: NDArray[np.int64]) -> Floats:
        """Loss of the union of each class with each of its row of others."""
        cost = self._losses(some, self.lo[:, other], self.hi[:, other])
        # All rows of the union share its loss: joining a large class costs more.
        cost *= self.sizes[some][:, None] + self.sizes[other]
        cost[(self.parent[some][:, None] != self.parent[other]) | (some[:, None] == other)] = np.inf
        return cost

    def _bounds(self, some: Rows) -> Floats:
        """Least that the union of each class with a class of each block can cost."""
        lo, hi, sizes, first, last = self._of_blocks
        cost = self._losses(some, lo[:, None], hi[:, None])
        cost *= self.sizes[some][:, None] + sizes
        parent = self.parent[some][:, None]
        cost[(parent < first) | (parent > last)] = np.inf
        return cost

    @cached_property
    def _of_blocks(self) -> tuple[NDArray[np.int32], NDArray[np.int32], Rows, Rows, Rows]:
        """Innermost ends of every block, its smallest size, its first and last parent."""
        parent = self.parent[self.blocks]
        return (
            self.lo[:, self.blocks].max(axis=2),
            self.hi[:, self.blocks].min(axis=2),
            self.sizes[self.blocks].min(axis=1),
            parent.min(axis=1),
            parent.max(axis=1),
        )

    def _losses(self, some: Rows, lo: NDArray[np.int32], hi: NDArray[np.int32]) -> Floats:
        """Weighted loss of the union of each class with what lies from `lo` to `hi`."""
        losses = np.zeros((len(some), lo.shape[-1]))
        for at, axis in enumerate(self.table.axes):
            first = np.minimum(self.lo[at, some][:, None], lo[at])
            last = np.maximum(self.hi[at, some][:, None], hi[at])
            losses += axis.weight * axis.loss(first, last)
        return losses


def _least(bounds: Floats, count: int) -> NDArray[np.int64]:
    """Places of the least bounds of every row, in ascending order."""
    if bounds.shape[1] <= count:
        return np.argsort(bounds, axis=1)
    order = np.argpartition(bounds, count, axis=1)[:, :count]
    inner = np.argsort(np.take_along_axis(bounds, order, axis=1), axis=1)
    return np.take_along_axis(order, inner, axis=1)


def _by_neighbourhood(
    table: Table, lo: NDArray[np.int32], hi: NDArray[np.int32], parent: Rows
) -> Rows:
    """Order classes by parent, and within one so that neighbours in space stand together.

    Groups are halved at the middle of the axis on which they lose most, all groups at a time.
    """
    order = np.argsort(parent, kind="stable")
    starts = np.flatnonzero(np.append(True, np.diff(parent[order]) != 0))
    while True:
        counts = np.diff(np.append(starts, len(order)))
        if (counts <= _BLOCK).all():
            return order
        loss = np.empty((len(table.axes), len(starts)))
        for at, axis in enumerate(table.axes):
            first = np.minimum.reduceat(lo[at, order], starts)
            last = np.maximum.reduceat(hi[at, order], starts)
            loss[at] = axis.weight * axis.loss(first, last)
        widest = np.repeat(loss.argmax(axis=0), counts)
        group = np.repeat(np.arange(len(starts)), counts)
        middle = lo[widest, order].astype(np.int64) + hi[widest, order]
        order = order[np.lexsort((middle, group))]
        halves = starts + counts // 2
        starts = np.sort(np.append(starts, halves[counts > _BLOCK]))
