"""The nearest class by loss, of a class or of a row, without comparing every pair.

Classes are put into blocks of neighbours. The union with any class of a block covers at least what
the union with the block's innermost ends covers, so that it loses at least as much: that is the
block's bound. Blocks are opened in the order of their bounds until no bound is below what was
found, which is then exact, or until so many are open that more would cost more than they gain.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom import Classes, Table, short_repr
from anonloom.data import Axis, Rows
from anonloom.typing import FloatArray

#: Classes in a block.
_BLOCK = 32

#: Blocks that are opened at most: up to 8,192 classes the nearest is always exact.
_OPENED = 256

#: Pairs of a class and a block, or of two classes, that are compared at a time: bounds memory.
_PAIRS = 2_000_000

Ends = NDArray[np.integer]

#: Keeps a bound that is a cost on paper from lying above it after rounding.
_ROUNDING = 1e-9


def nearest_classes(
    table: Table,
    classes: Classes,
    some: Rows,
    parent: Rows,
    extents: tuple[Ends, Ends] | None = None,
) -> Rows:
    """For each of some classes another one of the same parent whose union with it loses least.

    Of several equally near ones it is the first. Among more than 8,192 classes that are nearly
    equally near, it is the nearest of the 8,192 most promising.

    Parameters
    ----------
    parent
        Parent of every class. Each of the given classes must have company in its own.
    extents
        (classes x axes): first and last code of what every class publishes, where that is more
        than its rows cover.
    """
    lo, hi = classes.extents(table.codes) if extents is None else extents
    boxes = _Boxes.of(table.axes, lo.T, hi.T, parent)
    return _ClassSearch(boxes, classes.sizes, parent).nearest(some)


def nearest_to_rows(
    axes: Sequence[Axis], codes: NDArray[np.int32], lo: Ends, hi: Ends, company: int
) -> Rows:
    """For each row the class that it extends at the least loss.

    The row loses what the extended class loses, and its company loses what the extension adds. Of
    several equally near classes it is the first; among very many see `nearest_classes`.

    Parameters
    ----------
    codes
        (axes x rows).
    lo, hi
        (axes x classes): first and last code of what every class publishes.
    company
        How many others are thought to be in a class.
    """
    boxes = _Boxes.of(axes, lo, hi, np.zeros(lo.shape[1], np.int64))
    return _RowSearch(boxes, codes, company).nearest(np.arange(codes.shape[1]))


@short_repr
@attrs.frozen(eq=False)
class _Boxes:
    """What classes publish, in blocks of neighbours.

    Attributes
    ----------
    lo, hi
        (axes x classes): first and last codes.
    blocks
        (blocks x places): the classes of every block; the last block repeats its last class.
    """

    axes: Sequence[Axis]
    lo: Ends
    hi: Ends
    blocks: NDArray[np.int64]

    @classmethod
    def of(cls, axes: Sequence[Axis], lo: Ends, hi: Ends, parent: Rows) -> "_Boxes":
        lo, hi = np.ascontiguousarray(lo), np.ascontiguousarray(hi)
        order = _by_neighbourhood(axes, lo, hi, parent)
        padded = np.append(order, np.repeat(order[-1:], -len(order) % _BLOCK))
        return cls(axes, lo, hi, padded.reshape(-1, _BLOCK))

    def __len__(self) -> int:
        return int(self.lo.shape[1])

    def losses(self, lo: Ends, hi: Ends, other_lo: Ends, other_hi: Ends) -> FloatArray:
        """Weighted loss of the union of what lies from `lo` to `hi` with each of its others.

        Parameters
        ----------
        lo, hi
            (axes x n).
        other_lo, other_hi
            (axes x n x others), or (axes x 1 x others) where all have the same.
        """
        losses = np.zeros((lo.shape[1], other_lo.shape[-1]))
        for index, axis in enumerate(self.axes):
            first = np.minimum(lo[index][:, None], other_lo[index])
            last = np.maximum(hi[index][:, None], other_hi[index])
            losses += axis.weight * axis.loss(first, last)
        return losses

    @cached_property
    def innermost(self) -> tuple[Ends, Ends]:
        """(axes x 1 x blocks): the last first code and the first last code of every block."""
        lo, hi = self.lo[:, self.blocks].max(axis=2), self.hi[:, self.blocks].min(axis=2)
        return lo[:, None], hi[:, None]


@attrs.frozen(eq=False)
class _Search(ABC):
    """Finds the box that costs least."""

    boxes: _Boxes

    @abstractmethod
    def _costs(self, some: Rows, other: NDArray[np.int64]) -> FloatArray:
        """Cost of each with each of its row of others."""

    @abstractmethod
    def _bounds(self, some: Rows) -> FloatArray:
        """Least that each can cost with a box of each block."""

    def nearest(self, some: Rows) -> Rows:
        """Find the nearest box of each, some at a time."""
        nearest = np.empty(len(some), np.int64)
        step = max(1, _PAIRS // max(len(self.boxes.blocks), _BLOCK))
        for start in range(0, len(some), step):
            nearest[start : start + step] = self._nearest(some[start : start + step])
        return nearest

    def _nearest(self, some: Rows) -> Rows:
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
            other = self.boxes.blocks[block]
            cost = self._costs(some[searching], other)
            least = cost.min(axis=1)
            first = np.where(cost == least[:, None], other, len(self.boxes)).min(axis=1)
            result, known = best[searching], nearest[searching]
            better = (least < result) | ((least == result) & (first < known))
            best[searching] = np.where(better, least, result)
            nearest[searching] = np.where(better, first, known)
        return nearest


@attrs.frozen(eq=False)
class _ClassSearch(_Search):
    """Classes that join other ones of the same parent: all rows share the loss of the union."""

    sizes: Rows
    parent: Rows

    def _costs(self, some: Rows, other: NDArray[np.int64]) -> FloatArray:
        """See `_Search._costs`."""
        lo, hi = self.boxes.lo, self.boxes.hi
        cost = self.boxes.losses(lo[:, some], hi[:, some], lo[:, other], hi[:, other])
        # All rows of the union share its loss: joining a large class costs more.
        cost *= self.sizes[some][:, None] + self.sizes[other]
        cost[(self.parent[some][:, None] != self.parent[other]) | (some[:, None] == other)] = np.inf
        return cost

    def _bounds(self, some: Rows) -> FloatArray:
        """See `_Search._bounds`."""
        sizes, first, last = self._of_blocks
        lo, hi = self.boxes.lo[:, some], self.boxes.hi[:, some]
        cost = self.boxes.losses(lo, hi, *self.boxes.innermost)
        cost *= self.sizes[some][:, None] + sizes
        parent = self.parent[some][:, None]
        cost[(parent < first) | (parent > last)] = np.inf
        return cost

    @cached_property
    def _of_blocks(self) -> tuple[Rows, Rows, Rows]:
        """Smallest size of every block, its first and last parent."""
        blocks = self.boxes.blocks
        parent = self.parent[blocks]
        return self.sizes[blocks].min(axis=1), parent.min(axis=1), parent.max(axis=1)


@attrs.frozen(eq=False)
class _RowSearch(_Search):
    """Rows that join classes, whose company pays for what they add."""

    codes: NDArray[np.int32]
    company: int

    @cached_property
    def _own(self) -> FloatArray:
        """Loss of every class before anybody joins."""
        lo, hi = self.boxes.lo, self.boxes.hi
        return self.boxes.losses(lo, hi, lo[:, :, None], hi[:, :, None])[:, 0]

    def _costs(self, some: Rows, other: NDArray[np.int64]) -> FloatArray:
        """See `_Search._costs`."""
        lo, hi, codes = self.boxes.lo, self.boxes.hi, self.codes[:, some]
        joined = self.boxes.losses(codes, codes, lo[:, other], hi[:, other])
        cost: FloatArray = joined + self.company * (joined - self._own[other])
        return cost

    def _bounds(self, some: Rows) -> FloatArray:
        """See `_Search._bounds`: what a union loses is no less than what either part loses."""
        codes = self.codes[:, some]
        joined = self.boxes.losses(codes, codes, *self.boxes.innermost)
        most = self._own[self.boxes.blocks].max(axis=1)
        bound: FloatArray = joined + np.maximum(self.company * (joined - most), 0.0) - _ROUNDING
        return bound


def _least(bounds: FloatArray, count: int) -> NDArray[np.int64]:
    """Places of the least bounds of every row, in ascending order."""
    if bounds.shape[1] <= count:
        return np.argsort(bounds, axis=1)
    order = np.argpartition(bounds, count, axis=1)[:, :count]
    inner = np.argsort(np.take_along_axis(bounds, order, axis=1), axis=1)
    return np.take_along_axis(order, inner, axis=1)


def _by_neighbourhood(axes: Sequence[Axis], lo: Ends, hi: Ends, parent: Rows) -> Rows:
    """Order classes by parent, and within one so that neighbours in space stand together.

    Groups are halved at the middle of the axis on which they lose most, all groups at a time.
    """
    order = np.argsort(parent, kind="stable")
    starts = np.flatnonzero(np.append(True, np.diff(parent[order]) != 0))
    while True:
        counts = np.diff(np.append(starts, len(order)))
        if (counts <= _BLOCK).all():
            return order
        loss = np.empty((len(axes), len(starts)))
        for index, axis in enumerate(axes):
            first = np.minimum.reduceat(lo[index, order], starts)
            last = np.maximum.reduceat(hi[index, order], starts)
            loss[index] = axis.weight * axis.loss(first, last)
        widest = np.repeat(loss.argmax(axis=0), counts)
        group = np.repeat(np.arange(len(starts)), counts)
        middle = lo[widest, order].astype(np.int64) + hi[widest, order]
        order = order[np.lexsort((middle, group))]
        halves = starts + counts // 2
        starts = np.sort(np.append(starts, halves[counts > _BLOCK]))
