"""Looking ahead before a block is divided (`search: full`).

The part that saves most per bit is a guess. Here the most promising parts of every block are tried
out: the block is ordered to the end with each of them as its first part, cut by the dynamic
programme, and divided by the one that loses least.
"""

import numpy as np
from numpy.typing import NDArray

from anonloom.typing import IntArray
from anonloom_kernels.admissible_windows import Windows
from anonloom_kernels.compiled import kernel
from anonloom_kernels.hierarchy_levels import Levels
from anonloom_kernels.level_order_key import Scratch, best_part, divide, order_block, weigh_parts
from anonloom_kernels.losses import Losses
from anonloom_kernels.optimal_cuts import best_division


@kernel
def _rank_parts(room: Scratch, axes: IntArray, places: IntArray) -> int:
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


@kernel
def search_blocks(
    codes: NDArray[np.int32],
    losses: Losses,
    levels: Levels,
    order: IntArray,
    bounds: IntArray,
    windows: Windows,
    tried: int,
    bits: float,
    room: Scratch,
) -> None:
    """Order the rows of every block in place, looking ahead where it can hold four classes."""
    rows, alike = len(order), np.ones(len(codes))
    weights = np.ones(codes.shape[1], np.int64)
    axes, places = np.empty(tried, np.int64), np.empty(tried, np.int64)
    trial, ordered = order.copy(), np.empty((rows, len(codes)), np.int32)
    best, taken = np.empty(rows + 1), np.empty(rows + 1, np.int64)
    stack = np.empty_like(room.stack)
    for block in range(len(bounds) - 1):
        stack[0, 0], stack[0, 1] = bounds[block], bounds[block + 1]
        top, previous = 1, -1
        while top > 0:
            top -= 1
            first, last = stack[top, 0], stack[top, 1]
            weigh_parts(codes, weights, losses, levels, order, first, last, alike, bits, room)
            count = _rank_parts(room, axes, places)
            if count == 0:
                previous = order[last - 1]
                continue
            chosen, least = 0, np.inf
            for index in range(count if count > 1 and last - first >= 4 * windows.least else 0):
                trial[first:last] = order[first:last]
                order_block(
                    codes, weights, losses, levels, trial, first, last, previous,
                    axes[index], places[index], alike, bits, room,
                )  # fmt: skip
                for row in range(first, last):
                    ordered[row] = codes[:, trial[row]]
                lost = best_division(losses, ordered, first, last, windows, best, taken)
                if lost < least:
                    chosen, least = index, lost
            top = divide(
                codes, levels, order, first, last, axes[chosen], places[chosen], previous,
                stack, top, room,
            )  # fmt: skip
