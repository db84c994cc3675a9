"""Cutting an order into classes: the division of least loss, by a dynamic programme.

`best[i]` is the least that the first i rows of a block can lose. The class that ends behind row i
is a window of rows, so that best[i] = min over windows of best[start] + size x loss of the window.
Walking from the end of a window to its start, the extents only grow: one step per row and axis.
"""

from typing import NamedTuple

import numpy as np

from anonloom.typing import CodeArray, FloatArray, IntArray
from anonloom_kernels.admissible_windows import Windows
from anonloom_kernels.compiled import kernel
from anonloom_kernels.losses import SET, Losses, extent_loss, loss_between, set_loss

__all__ = [
    "CutRoom",
    "best_division",
    "cut_room_for",
    "divide",
    "loss_of_window",
    "walk_back",
]


class CutRoom(NamedTuple):
    """Room to walk over windows in, one at a time.

    Attributes
    ----------
    lo, hi
        Extent of the window on every axis.
    members
        How many codes it has on every SET axis; negative once the missing value is among them.
    lost
        What it loses on every axis.
    seen
        Of every code of the SET axes the number of the window in which it was met last; empty if
        there is no such axis.
    stamp
        Number of the window, one element: no two windows have the same.
    """

    lo: IntArray
    hi: IntArray
    members: IntArray
    lost: FloatArray
    seen: IntArray
    stamp: IntArray


def cut_room_for(losses: Losses) -> CutRoom:
    """Allocate room for windows of such axes."""
    axes, codes = len(losses.kind), int(losses.size[losses.kind == SET].sum())
    return CutRoom(
        np.zeros(axes, np.int64),
        np.zeros(axes, np.int64),
        np.zeros(axes, np.int64),
        np.zeros(axes),
        np.zeros(codes, np.int64),
        np.zeros(1, np.int64),
    )


def widen_sets(losses: Losses, row: CodeArray, room: CutRoom) -> float:
    """Take a row into the sets of a window; return by how much the loss of the window grows."""
    kind, size, missing = losses.kind, losses.size, losses.missing
    members, lost, seen, stamp = room.members, room.lost, room.seen, room.stamp[0]
    grown, base = 0.0, 0
    for axis in range(len(row)):
        if kind[axis] != SET:
            continue
        code = row[axis]
        if seen[base + code] != stamp:
            seen[base + code] = stamp
            mixed = members[axis] < 0 or code == missing[axis]
            count = abs(members[axis]) + 1
            members[axis] = -count if mixed else count
            loss = set_loss(losses, axis, count, mixed)
            grown += loss - lost[axis]
            lost[axis] = loss
        base += size[axis]
    return grown


def loss_of_window(
    losses: Losses, ordered: CodeArray, start: int, stop: int, room: CutRoom
) -> float:
    """Loss of one row of a window."""
    members, lost = room.members, room.lost
    loss = 0.0
    for axis in range(ordered.shape[1]):
        if losses.kind[axis] != SET:
            codes = ordered[start:stop, axis]
            loss += extent_loss(losses, axis, codes.min(), codes.max())
    if len(room.seen):
        room.stamp[0] += 1
        for axis in range(ordered.shape[1]):
            members[axis], lost[axis] = 0, 0.0
        for row in range(start, stop):
            loss += widen_sets(losses, ordered[row], room)
    return loss


def try_long(
    losses: Losses,
    ordered: CodeArray,
    begin: int,
    windows: Windows,
    long: int,
    best: FloatArray,
    taken: IntArray,
    room: CutRoom,
) -> int:
    """Try the long windows that end where number `long` does; return the number behind them."""
    starts, stops = windows.starts, windows.stops
    stop = stops[long]
    while long < len(stops) and stops[long] == stop:
        start, size = starts[long], stop - starts[long]
        if start >= begin and best[start] < best[stop]:
            whole = best[start] + size * loss_of_window(losses, ordered, start, stop, room)
            if whole < best[stop]:
                best[stop], taken[stop] = whole, size
        long += 1
    return long


def best_division(
    losses: Losses,
    ordered: CodeArray,
    begin: int,
    end: int,
    windows: Windows,
    best: FloatArray,
    taken: IntArray,
    room: CutRoom,
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
    lo, hi, members, lost, seen, stamp = room
    layout, values, ancestors = losses.layout, losses.values, losses.ancestors
    least, most, by_size, column, admitted, _, stops = windows
    long = int(np.searchsorted(stops, begin + 1))
    best[begin] = 0.0
    for stop in range(begin + 1, end + 1):
        best[stop] = np.inf
        for axis in range(axes):
            lo[axis], hi[axis] = ordered[stop - 1, axis], ordered[stop - 1, axis]
            members[axis], lost[axis] = 0, 0.0
        loss = 0.0
        stamp[0] += 1
        for size in range(1, min(most, stop - begin) + 1 if stop - begin >= least else 0):
            row = ordered[stop - size]
            for axis in range(axes):
                code = row[axis]
                if lo[axis] <= code <= hi[axis]:
                    continue
                lo[axis], hi[axis] = min(lo[axis], code), max(hi[axis], code)
                if layout[axis, 0] != SET:
                    wider = loss_between(layout, values, ancestors, axis, lo[axis], hi[axis])
                    loss += wider - lost[axis]
                    lost[axis] = wider
            if len(seen):
                loss += widen_sets(losses, row, room)
            if size < least:
                continue
            allowed = by_size[size]
            if len(admitted):
                allowed = column[size] >= 0 and admitted[stop - 1, column[size]]
            if allowed and best[stop - size] + size * loss < best[stop]:
                best[stop], taken[stop] = best[stop - size] + size * loss, size
        if long < len(stops) and stops[long] == stop:
            long = try_long(losses, ordered, begin, windows, long, best, taken, room)
    return best[end]


@kernel
def divide_all(
    losses: Losses,
    ordered: CodeArray,
    bounds: IntArray,
    windows: Windows,
    best: FloatArray,
    taken: IntArray,
    loss: FloatArray,
    room: CutRoom,
) -> None:
    """Write down the sizes of the classes that end behind each row, and the loss of every block."""
    for block in range(len(loss)):
        begin, end = bounds[block], bounds[block + 1]
        loss[block] = best_division(losses, ordered, begin, end, windows, best, taken, room)


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
    losses: Losses, ordered: CodeArray, bounds: IntArray, windows: Windows
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
    best, taken = np.empty(len(ordered) + 1), np.zeros(len(ordered) + 1, np.int64)
    loss = np.empty(len(bounds) - 1)
    divide_all(losses, ordered, bounds, windows, best, taken, loss, cut_room_for(losses))
    whole = np.flatnonzero(np.isinf(loss))
    taken[bounds[whole + 1]] = bounds[whole + 1] - bounds[whole]
    ends = np.empty(len(ordered), np.int64)
    count = walk_back(taken, 0, len(ordered), ends)
    return np.append(0, ends[:count][::-1]), loss
