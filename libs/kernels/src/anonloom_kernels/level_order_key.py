"""An order of rows in which neighbours lose little when they are published alike.

Rows are divided again and again by a part: an axis and a level of its hierarchy, or an axis and a
place where it is cut in two. Every block of rows chooses its own next part, the one whose loss
drops most for the bits that it spends: an order of n rows into classes of k has about log2(n / k)
bits to spend, so a part that divides into many small groups must earn them. Blocks follow each
other boustrophedon: each is walked from the end that is nearer to the row before it.
"""

import math
from typing import NamedTuple

import numpy as np

from anonloom import Classes, Table
from anonloom.typing import CodeArray, FloatArray, IntArray
from anonloom_columns import collapse
from anonloom_kernels.compiled import kernel
from anonloom_kernels.hierarchy_levels import Levels, levels_of
from anonloom_kernels.losses import Losses, extent_loss, losses_of

__all__ = [
    "BITS",
    "MORE",
    "Scratch",
    "best_part",
    "divide",
    "level_order",
    "order_block",
    "order_blocks",
    "scratch_for",
    "weigh_parts",
]

#: Exponent of the bits in the comparison of parts. With 1 parts of few bits are preferred too
#: strongly, because the last bits of an order are worth less than the first.
BITS = 0.75

#: What gains more than another gains more than rounding could make of it.
MORE = 1 + 1e-12


class Scratch(NamedTuple):
    """Room to work in, allocated once per thread.

    Attributes
    ----------
    tally
        Rows per code; all zero between calls.
    code, weight
        The codes that occur in a block, ascending, and how many rows have each.
    packed
        Codes and weights of a block in one number each, to be sorted.
    first, last
        Where each cell of a division begins and ends.
    moved
        Rows in their new order.
    stack
        Blocks that are still to be divided.
    gain, place
        (axes x levels): what a part gains per bit, and the level or the code where it cuts.
    """

    tally: IntArray
    code: IntArray
    weight: IntArray
    packed: IntArray
    first: IntArray
    last: IntArray
    moved: IntArray
    stack: IntArray
    gain: FloatArray
    place: IntArray


def scratch_for(levels: Levels, rows: int) -> Scratch:
    """Allocate room for blocks of so many rows."""
    codes = max(2, int(levels.size.max(initial=0)))
    parts = levels.cells.shape
    return Scratch(
        np.zeros(codes, np.int64),
        np.empty(codes, np.int64),
        np.empty(codes, np.int64),
        np.empty(rows, np.int64),
        np.empty(codes, np.int64),
        np.empty(codes, np.int64),
        np.empty(rows, np.int64),
        np.empty((rows + codes + 1, 2), np.int64),
        np.empty(parts),
        np.empty(parts, np.int64),
    )


def sorted_codes(
    own: CodeArray, weights: IntArray, order: IntArray, begin: int, end: int, room: Scratch
) -> int:
    """List the codes of a block with their weights by sorting."""
    code, weight, packed = room.code, room.weight, room.packed
    for index in range(begin, end):
        row = order[index]
        packed[index - begin] = (np.int64(own[row]) << 32) | weights[row]
    part = packed[: end - begin]
    part.sort()
    result = 0
    for pair in part:
        if result and code[result - 1] == pair >> 32:
            weight[result - 1] += pair & 0xFFFFFFFF
        else:
            code[result], weight[result] = pair >> 32, pair & 0xFFFFFFFF
            result += 1
    return result


def list_codes(
    own: CodeArray, weights: IntArray, order: IntArray, begin: int, end: int, room: Scratch
) -> int:
    """List the codes of a block on one axis with their weights; return how many there are.

    A single code is not written down: it cannot be divided.
    """
    tally, code, weight = room.tally, room.code, room.weight
    least = most = own[order[begin]]
    for index in range(begin + 1, end):
        value = own[order[index]]
        least, most = min(least, value), max(most, value)
    if least == most:
        return 1
    if most - least > 4 * (end - begin) + 64:
        # Few rows far apart: sorting them is cheaper than walking over all codes between.
        return sorted_codes(own, weights, order, begin, end, room)
    for index in range(begin, end):
        row = order[index]
        tally[own[row]] += weights[row]
    result = 0
    for value in range(least, most + 1):
        if tally[value]:
            code[result], weight[result] = value, tally[value]
            tally[value] = 0
            result += 1
    return result


def bits_of(share: float) -> float:
    """What a part of this share adds to the entropy of a division."""
    # Not numpy's log2: it need not be that of the C library, to the last bit.
    return -share * math.log2(share)


def gain_of_level(
    losses: Losses, axis: int, digits: CodeArray, base: int, found: int, total: int, bits: float,
    room: Scratch,
) -> float:  # fmt: skip
    """What dividing a block by the nodes of a level gains per bit; 0 if it does not divide."""
    code, weight = room.code, room.weight
    entropy, lost, first, inside = 0.0, 0.0, 0, 0
    for index in range(found):
        inside += weight[index]
        if index + 1 == found or digits[base + code[index + 1]] != digits[base + code[index]]:
            entropy += bits_of(inside / total)
            lost += inside * extent_loss(losses, axis, code[first], code[index])
            first, inside = index + 1, 0
    whole = extent_loss(losses, axis, code[0], code[found - 1])
    return (whole - lost / total) / entropy**bits if entropy > 0.0 else 0.0


def best_cut(
    losses: Losses, axis: int, found: int, total: int, bits: float, room: Scratch
) -> tuple[float, int]:
    """What cutting a block in two gains per bit at the best place, and the first code behind it."""
    code, weight = room.code, room.weight
    least, most = code[0], code[found - 1]
    whole = extent_loss(losses, axis, least, most)
    best, place, left = 0.0, code[1], 0
    for index in range(1, found):
        left += weight[index - 1]
        share = left / total
        lost = share * extent_loss(losses, axis, least, code[index - 1])
        lost += (1.0 - share) * extent_loss(losses, axis, code[index], most)
        gain = (whole - lost) / (bits_of(share) + bits_of(1.0 - share)) ** bits
        # Of equals the first: rounding must not choose between them.
        if gain > best * MORE:
            best, place = gain, code[index]
    return best, place


def weigh_parts(
    codes: CodeArray,
    weights: IntArray,
    losses: Losses,
    levels: Levels,
    order: IntArray,
    begin: int,
    end: int,
    preference: FloatArray,
    bits: float,
    room: Scratch,
) -> None:
    """Write into `room.gain` and `room.place` what every part would gain in a block."""
    gain, place, weight = room.gain, room.place, room.weight
    depth, start, size, digits = levels.depth, levels.start, levels.size, levels.digits
    for axis in range(len(codes)):
        for level in range(gain.shape[1]):
            gain[axis, level] = 0.0
        found = list_codes(codes[axis], weights, order, begin, end, room)
        if found < 2:
            continue
        total = 0
        for index in range(found):
            total += weight[index]
        if depth[axis] == 0:
            best, cut = best_cut(losses, axis, found, total, bits, room)
            gain[axis, 0], place[axis, 0] = best * preference[axis], cut
        for level in range(depth[axis]):
            base = start[axis] + level * size[axis]
            won = gain_of_level(losses, axis, digits, base, found, total, bits, room)
            gain[axis, level], place[axis, level] = won * preference[axis], level


def best_part(room: Scratch) -> tuple[int, int]:
    """Axis and level of the part that gains most, (-1, -1) if none gains; the first of equals."""
    gain = room.gain
    best, axis, level = 0.0, -1, -1
    for a in range(gain.shape[0]):
        for b in range(gain.shape[1]):
            if gain[a, b] > best * MORE:
                best, axis, level = gain[a, b], a, b
    return axis, level


def digit_of(digits: CodeArray, base: int, place: int, code: int) -> int:
    """Digit of a code: by a level, or before and behind a place where there are no levels."""
    if base < 0:
        return 1 if code >= place else 0
    return digits[base + code]


def divide(
    codes: CodeArray,
    levels: Levels,
    order: IntArray,
    begin: int,
    end: int,
    axis: int,
    place: int,
    previous: int,
    stack: IntArray,
    top: int,
    room: Scratch,
) -> int:
    """Sort a block by a part, and put its cells on the stack, the first in order on top.

    The digits ascend, or descend if that brings the cell nearer to the previous row first.

    Returns
    -------
    top
        The new height of the stack.
    """
    own, digits = codes[axis], levels.digits
    first, last, moved = room.first, room.last, room.moved
    leveled = levels.depth[axis] > 0
    cells = levels.cells[axis, place] if leveled else 2
    base = levels.start[axis] + place * levels.size[axis] if leveled else -1
    for cell in range(cells):
        last[cell] = 0
    for index in range(begin, end):
        last[digit_of(digits, base, place, own[order[index]])] += 1
    least, most = 0, cells - 1
    while last[least] == 0:
        least += 1
    while last[most] == 0:
        most -= 1
    falling = False
    if previous >= 0:
        before = digit_of(digits, base, place, own[previous])
        falling = abs(before - most) < abs(before - least)
    reach = begin
    for turn in range(cells):
        cell = cells - 1 - turn if falling else turn
        size = last[cell]
        first[cell], last[cell] = reach, reach
        reach += size
    for index in range(begin, end):
        cell = digit_of(digits, base, place, own[order[index]])
        moved[last[cell]] = order[index]
        last[cell] += 1
    for index in range(begin, end):
        order[index] = moved[index]
    for turn in range(cells):
        cell = turn if falling else cells - 1 - turn
        if last[cell] > first[cell]:
            stack[top, 0], stack[top, 1] = first[cell], last[cell]
            top += 1
    return top


def order_block(
    codes: CodeArray,
    weights: IntArray,
    losses: Losses,
    levels: Levels,
    order: IntArray,
    begin: int,
    end: int,
    previous: int,
    axis: int,
    place: int,
    preference: FloatArray,
    bits: float,
    room: Scratch,
) -> None:
    """Order the rows of a block, which has any, in place.

    Parameters
    ----------
    previous
        The row before the block, or -1.
    axis, place
        The part by which the block itself is divided; -1 to choose it as all others.
    preference
        Factor of the gain of every axis.
    """
    stack = room.stack
    stack[0, 0], stack[0, 1] = begin, end
    top = 1
    while top > 0:
        top -= 1
        first, last = stack[top, 0], stack[top, 1]
        if axis < 0 and last - first > 1:
            weigh_parts(codes, weights, losses, levels, order, first, last, preference, bits, room)
            axis, level = best_part(room)
            if axis >= 0:
                place = room.place[axis, level]
        if axis >= 0:
            top = divide(codes, levels, order, first, last, axis, place, previous, stack, top, room)
        else:
            previous = order[last - 1]
        axis = -1


@kernel
def order_blocks(
    codes: CodeArray,
    weights: IntArray,
    losses: Losses,
    levels: Levels,
    order: IntArray,
    bounds: IntArray,
    preference: FloatArray,
    bits: float,
    room: Scratch,
) -> None:
    """Order the rows of every block in place, each for itself."""
    for block in range(len(bounds) - 1):
        begin, end = bounds[block], bounds[block + 1]
        if begin < end:
            order_block(
                codes, weights, losses, levels, order, begin, end, -1, -1, -1, preference, bits,
                room,
            )  # fmt: skip


def level_order(table: Table, rows: IntArray, bounds: IntArray | None = None) -> IntArray:
    """Order rows so that neighbours lose little when they are published alike.

    Parameters
    ----------
    rows
        Rows of the table.
    bounds
        Offsets of blocks of `rows` that are ordered each for itself; one block by default.

    Returns
    -------
    order
        Positions in `rows`; equal rows stand together, in the order in which they were given.
    """
    if not len(rows) or not len(table.axes):
        return np.arange(len(rows))
    bounds = np.array([0, len(rows)]) if bounds is None else bounds
    block = np.repeat(np.arange(len(bounds) - 1, dtype=np.int32), np.diff(bounds))
    # With the block in front, equal rows of two blocks are two points, and points come by block.
    points = collapse(np.concatenate([block[None], table.codes.take(rows, axis=1)]))
    ends = np.searchsorted(points.codes[0], np.arange(len(bounds)))
    levels = levels_of(table)
    order = np.arange(len(points))
    order_blocks(
        points.codes[1:],
        points.weights,
        losses_of(table),
        levels,
        order,
        ends,
        np.ones(len(table.axes)),
        BITS,
        scratch_for(levels, len(points)),
    )
    rank = np.empty(len(points), np.int64)
    rank[order] = np.arange(len(points))
    # Rows by rank, equal ones as they come: what a stable argsort gives, several times faster.
    return Classes.from_labels(rank[points.point]).rows
