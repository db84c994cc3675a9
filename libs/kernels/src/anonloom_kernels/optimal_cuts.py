"""Cutting an order into classes: the division of least loss, by a dynamic programme.

`best[i]` is the least that the first i rows of a block can lose. The class that ends behind row i
is a window of rows, so that best[i] = min over windows of best[start] + size x loss of the window.
Walking from the end of a window to its start, the extents only grow: one step per row and axis.
"""

import numpy as np
from numpy.typing import NDArray

from anonloom.typing import FloatArray, IntArray
from anonloom_kernels.admissible_windows import Windows
from anonloom_kernels.compiled import kernel
from anonloom_kernels.losses import SET, Losses, extent_loss, loss_between, set_loss

__all__ = [
    "best_division",
    "divide",
    "loss_of_window",
    "walk_back",
]


@kernel
def _unseen(losses: Losses) -> IntArray:
    """Room to remember the codes of SET axes; empty if there is no such axis."""
    codes = 0
    for axis in range(len(losses.kind)):
        if losses.kind[axis] == SET:
            codes += losses.size[axis]
    return np.full(codes, -1)


@kernel
def _widen_sets(
    losses: Losses,
    ordered: NDArray[np.int32],
    row: int,
    members: IntArray,
    seen: IntArray,
    stamp: int,
    lost: FloatArray,
) -> float:
    """Take a row into the sets of a window; return by how much the loss of the window grows.

    `seen` says for each code of the SET axes in which window it was met last, `stamp` is the number
    of this window. `members` of an axis is negative once its set holds the missing value.
    """
    grown, base = 0.0, 0
    for axis in range(ordered.shape[1]):
        if losses.kind[axis] != SET:
            continue
        code = ordered[row, axis]
        if seen[base + code] != stamp:
            seen[base + code] = stamp
            mixed = members[axis] < 0 or code == losses.missing[axis]
            count = abs(members[axis]) + 1
            members[axis] = -count if mixed else count
            loss = set_loss(losses, axis, count, mixed)
            grown += loss - lost[axis]
            lost[axis] = loss
        base += losses.size[axis]
    return grown


@kernel
def loss_of_window(losses: Losses, ordered: NDArray[np.int32], start: int, stop: int) -> float:
    """Loss of one row of a window."""
    axes = ordered.shape[1]
    loss = 0.0
    for axis in range(axes):
        if losses.kind[axis] != SET:
            lo, hi = ordered[start, axis], ordered[start, axis]
            for row in range(start + 1, stop):
                lo, hi = min(lo, ordered[row, axis]), max(hi, ordered[row, axis])
            loss += extent_loss(losses, axis, lo, hi)
    seen = _unseen(losses)
    if len(seen):
        members, lost = np.zeros(axes, np.int64), np.zeros(axes)
        for row in range(start, stop):
            loss += _widen_sets(losses, ordered, row, members, seen, 0, lost)
    return loss


@kernel
def _try_long(
    losses: Losses,
    ordered: NDArray[np.int32],
    begin: int,
    starts: IntArray,
    stops: IntArray,
    long: int,
    best: FloatArray,
    taken: IntArray,
) -> int:
    """Try the long windows that end where number `long` does; return the number behind them."""
    stop = stops[long]
    while long < len(stops) and stops[long] == stop:
        start, size = starts[long], stop - starts[long]
        if start >= begin and best[start] < best[stop]:
            whole = best[start] + size * loss_of_window(losses, ordered, start, stop)
            if whole < best[stop]:
                best[stop], taken[stop] = whole, size
        long += 1
    return long


@kernel
def best_division(
    losses: Losses,
    ordered: NDArray[np.int32],
    begin: int,
    end: int,
    windows: Windows,
    best: FloatArray,
    taken: IntArray,
) -> float:
    """Least loss of a block; `taken[i]` becomes the size of the class that ends behind row i - 1.

    Parameters
    ----------
    ordered
        (rows x axes): codes in the order.
    best
        Room, one longer than the order; `best[begin]` to `best[end]` are overwritten.

    Returns
    -------
    loss
        Sum over the rows of the block; infinite if no division is admitted.
    """
    axes = ordered.shape[1]
    lo, hi = np.empty(axes, np.int64), np.empty(axes, np.int64)
    members, lost = np.empty(axes, np.int64), np.empty(axes)
    seen = _unseen(losses)
    layout, values, ancestors = losses.layout, losses.values, losses.ancestors
    least, most, by_size, column, admitted, starts, stops = windows
    long = int(np.searchsorted(stops, begin + 1))
    best[begin] = 0.0
    for stop in range(begin + 1, end + 1):
        best[stop] = np.inf
        for axis in range(axes):
            lo[axis], hi[axis] = ordered[stop - 1, axis], ordered[stop - 1, axis]
            members[axis], lost[axis] = 0, 0.0
        loss = 0.0
        for size in range(1, min(most, stop - begin) + 1 if stop - begin >= least else 0):
            # Written out here: a call per row would cost more than the work.
            for axis in range(axes):
                code = ordered[stop - size, axis]
                if lo[axis] <= code <= hi[axis]:
                    continue
                lo[axis], hi[axis] = min(lo[axis], code), max(hi[axis], code)
                if layout[axis, 0] != SET:
                    wider = loss_between(layout, values, ancestors, axis, lo[axis], hi[axis])
                    loss += wider - lost[axis]
                    lost[axis] = wider
            if len(seen):
                loss += _widen_sets(losses, ordered, stop - size, members, seen, stop, lost)
            if size < least:
                continue
            allowed = by_size[size]
            if len(admitted):
                allowed = column[size] >= 0 and admitted[stop - 1, column[size]]
            if allowed and best[stop - size] + size * loss < best[stop]:
                best[stop], taken[stop] = best[stop - size] + size * loss, size
        if long < len(stops) and stops[long] == stop:
            long = _try_long(losses, ordered, begin, starts, stops, long, best, taken)
    return best[end]


@kernel
def _divide_all(
    losses: Losses, ordered: NDArray[np.int32], bounds: IntArray, windows: Windows
) -> tuple[IntArray, FloatArray]:
    """Sizes of the classes that end behind each row, and the loss of every block."""
    best, taken = np.empty(len(ordered) + 1), np.zeros(len(ordered) + 1, np.int64)
    loss = np.empty(len(bounds) - 1)
    for block in range(len(loss)):
        begin, end = bounds[block], bounds[block + 1]
        loss[block] = best_division(losses, ordered, begin, end, windows, best, taken)
    return taken, loss


@kernel
def walk_back(taken: IntArray, begin: int, end: int, ends: IntArray) -> int:
    """Write the ends of a block's classes, the last first; return how many there are."""
    count = 0
    while end > begin:
        ends[count] = end
        end -= taken[end]
        count += 1
    return count


def divide(
    losses: Losses, ordered: NDArray[np.int32], bounds: IntArray, windows: Windows
) -> tuple[IntArray, FloatArray]:
    """Cut every block of an order into the classes of least loss.

    Returns
    -------
    edges
        Offsets of all classes.
    loss
        Sum over the rows of each block; infinite for a block that has no admitted division. Such a
        block stays whole.
    """
    taken, loss = _divide_all(losses, ordered, bounds, windows)
    whole = np.flatnonzero(np.isinf(loss))
    taken[bounds[whole + 1]] = bounds[whole + 1] - bounds[whole]
    ends = np.empty(len(ordered), np.int64)
    count = walk_back(taken, 0, len(ordered), ends)
    return np.append(0, ends[:count][::-1]), loss
