"""Looking ahead before a block is divided (`search: full`).

The part that saves most per bit is a guess. Here the most promising parts of every block are tried
out: the block is ordered to the end with each of them as its first part, cut by the dynamic
programme, and divided by the one that loses least.
"""

from typing import NamedTuple

import numpy as np

from anonloom.typing import CodeArray, FloatArray, IntArray
from anonloom_kernels.admissible_windows import Windows
from anonloom_kernels.compiled import kernel
from anonloom_kernels.hierarchy_levels import Levels
from anonloom_kernels.level_order_key import (
    Scratch,
    best_part,
    divide,
    order_block,
    scratch_for,
    weigh_parts,
)
from anonloom_kernels.losses import Losses
from anonloom_kernels.optimal_cuts import CutRoom, best_division, cut_room_for


class Attempts(NamedTuple):
    """Room for trying out parts of a block.

    Attributes
    ----------
    axes, places
        The most promising parts, the best first.
    trial, ordered
        The block's rows in the order that is tried, and their codes, (rows x axes).
    best, taken
        See `best_division`.
    stack
        Blocks that are still to be divided.
    """

    axes: IntArray
    places: IntArray
    trial: IntArray
    ordered: CodeArray
    best: FloatArray
    taken: IntArray
    stack: IntArray


def rank_parts(room: Scratch, axes: IntArray, places: IntArray) -> int:
    """List the parts that gain most, the best first; return how many there are."""
    count = 0
    while count < len(axes):
        axis, level = best_part(room)
        if axis < 0:
            break
        axes[count], places[count] = axis, room.place[axis, level]
        room.gain[axis, level] = 0.0
        count += 1
    return count


def choose_part(
    codes: CodeArray,
    weights: IntArray,
    losses: Losses,
    levels: Levels,
    order: IntArray,
    first: int,
    last: int,
    previous: int,
    count: int,
    windows: Windows,
    alike: FloatArray,
    bits: float,
    room: Scratch,
    attempts: Attempts,
    cut_room: CutRoom,
) -> int:
    """Try out the first parts of a block's list; return the number of that which loses least."""
    axes, places, trial, ordered, best, taken, _ = attempts
    chosen, least = 0, np.inf
    for index in range(count):
        trial[first:last] = order[first:last]
        order_block(
            codes, weights, losses, levels, trial, first, last, previous,
            axes[index], places[index], alike, bits, room,
        )  # fmt: skip
        ordered[first:last] = codes[:, trial[first:last]].T
        lost = best_division(losses, ordered, first, last, windows, best, taken, cut_room)
        if lost < least:
            chosen, least = index, lost
    return chosen


@kernel
def look_ahead(
    codes: CodeArray,
    weights: IntArray,
    losses: Losses,
    levels: Levels,
    order: IntArray,
    bounds: IntArray,
    windows: Windows,
    alike: FloatArray,
    bits: float,
    room: Scratch,
    attempts: Attempts,
    cut_room: CutRoom,
) -> None:
    """Order the rows of every block in place, looking ahead where it can hold four classes."""
    axes, places, stack = attempts.axes, attempts.places, attempts.stack
    for block in range(len(bounds) - 1):
        stack[0, 0], stack[0, 1] = bounds[block], bounds[block + 1]
        top, previous = (1 if bounds[block] < bounds[block + 1] else 0), -1
        while top > 0:
            top -= 1
            first, last = stack[top, 0], stack[top, 1]
            weigh_parts(codes, weights, losses, levels, order, first, last, alike, bits, room)
            count = rank_parts(room, axes, places)
            if count == 0:
                previous = order[last - 1]
                continue
            chosen = 0
            if count > 1 and last - first >= 4 * windows.least:
                chosen = choose_part(
                    codes, weights, losses, levels, order, first, last, previous, count, windows,
                    alike, bits, room, attempts, cut_room,
                )  # fmt: skip
            top = divide(
                codes, levels, order, first, last, axes[chosen], places[chosen], previous,
                stack, top, room,
            )  # fmt: skip


def search_blocks(
    codes: CodeArray,
    losses: Losses,
    levels: Levels,
    bounds: IntArray,
    windows: Windows,
    tried: int,
    bits: float,
) -> IntArray:
    """Order the rows of every block, looking ahead where it can hold four classes.

    Parameters
    ----------
    codes
        (axes x rows), block after block.
    tried
        How many parts of a block are tried out.

    Returns
    -------
    order
        Columns of `codes` in their order.
    """
    axes, rows = codes.shape
    order, room = np.arange(rows, dtype=np.int64), scratch_for(levels, rows)
    attempts = Attempts(
        np.empty(tried, np.int64),
        np.empty(tried, np.int64),
        np.empty(rows, np.int64),
        np.empty((rows, axes), np.int32),
        np.empty(rows + 1),
        np.empty(rows + 1, np.int64),
        np.empty_like(room.stack),
    )
    look_ahead(
        codes, np.ones(rows, np.int64), losses, levels, order, bounds, windows, np.ones(axes), bits,
        room, attempts, cut_room_for(losses),
    )  # fmt: skip
    return order
