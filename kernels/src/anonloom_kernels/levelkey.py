"""An order of rows in which neighbours lose little when they are published alike.

Rows are divided again and again by a part: an axis and a level of its hierarchy, or an axis and a
place where it is cut in two. Every block of rows chooses its own next part, the one whose loss
drops most for the bits that it spends: an order of n rows into classes of k has about log2(n / k)
bits to spend, so a part that divides into many small groups must earn them. Blocks follow each
other boustrophedon: each is walked from the end that is nearer to the row before it.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anonloom.data.points import collapse
from anonloom.data.table import Table
from anonloom_kernels.compiled import kernel
from anonloom_kernels.levels import Levels, levels_of
from anonloom_kernels.losses import SET, Losses, extent_loss, losses_of, set_loss

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

#: Exponent of the bits in the comparison of parts. With 1 parts of few bits are preferred too
#: strongly, because the last bits of an order are worth less than the first.
BITS = 0.75


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

    tally: Ints
    code: Ints
    weight: Ints
    packed: Ints
    first: Ints
    last: Ints
    moved: Ints
    stack: Ints
    gain: Floats
    place: Ints


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


@kernel
def _tally(
    codes: NDArray[np.int32], weights: Ints, order: Ints, begin: int, end: int, room: Scratch
) -> int:
    """List the codes of a block on one axis with their weights; return how many there are."""
    least, most = codes[order[begin]], codes[order[begin]]
    for at in range(begin, end):
        code = codes[order[at]]
        least, most = min(least, code), max(most, code)
    found = 0
    if least == most:
        return 1
    if most - least <= 4 * (end - begin):
        for at in range(begin, end):
            room.tally[codes[order[at]]] += weights[order[at]]
        for code in range(least, most + 1):
            if room.tally[code]:
                room.code[found], room.weight[found] = code, room.tally[code]
                room.tally[code] = 0
                found += 1
        return found
    # Few rows far apart: sorting them is cheaper than walking over all codes between.
    for at in range(begin, end):
        room.packed[at - begin] = (np.int64(codes[order[at]]) << 32) | weights[order[at]]
    packed = room.packed[: end - begin]
    packed.sort()
    for pair in packed:
        code = pair >> 32
        if found and room.code[found - 1] == code:
            room.weight[found - 1] += pair & 0xFFFFFFFF
        else:
            room.code[found], room.weight[found] = code, pair & 0xFFFFFFFF
            found += 1
    return found


@kernel
def _cell_loss(losses: Losses, levels: Levels, axis: int, room: Scratch, a: int, b: int) -> float:
    """Loss of a cell that has the codes number a to b of the tally."""
    if losses.kind[axis] == SET:
        with_missing = room.code[b] == losses.missing[axis]
        return set_loss(losses, axis, b - a + 1, with_missing)
    return extent_loss(losses, axis, room.code[a], room.code[b])


@kernel
def _bits(share: float) -> float:
    return -share * np.log2(share)


@kernel
def _gain_of_level(
    losses: Losses, levels: Levels, axis: int, level: int, room: Scratch, found: int, bits: float
) -> float:
    """What dividing a block by the nodes of a level gains per bit; 0 if it does not divide."""
    base = levels.start[axis] + level * levels.size[axis]
    total = room.weight[:found].sum()
    entropy, lost, first, inside = 0.0, 0.0, 0, 0
    for at in range(found):
        inside += room.weight[at]
        digit = levels.digits[base + room.code[at]]
        if at + 1 == found or levels.digits[base + room.code[at + 1]] != digit:
            if first == 0 and at + 1 == found:
                return 0.0
            entropy += _bits(inside / total)
            lost += inside * _cell_loss(losses, levels, axis, room, first, at)
            first, inside = at + 1, 0
    whole = _cell_loss(losses, levels, axis, room, 0, found - 1)
    return (whole - lost / total) / entropy**bits


@kernel
def _best_cut(
    losses: Losses, levels: Levels, axis: int, room: Scratch, found: int, bits: float
) -> tuple[float, int]:
    """What cutting a block in two gains per bit at the best place, and the first code behind it."""
    total = room.weight[:found].sum()
    whole = _cell_loss(losses, levels, axis, room, 0, found - 1)
    best, place, left = 0.0, room.code[1], 0
    for at in range(1, found):
        left += room.weight[at - 1]
        share = left / total
        lost = share * _cell_loss(losses, levels, axis, room, 0, at - 1)
        lost += (1.0 - share) * _cell_loss(losses, levels, axis, room, at, found - 1)
        gain = (whole - lost) / (_bits(share) + _bits(1.0 - share)) ** bits
        if gain > best:
            best, place = gain, room.code[at]
    return best, place


@kernel
def weigh_parts(
    codes: NDArray[np.int32],
    weights: Ints,
    losses: Losses,
    levels: Levels,
    order: Ints,
    begin: int,
    end: int,
    preference: Floats,
    bits: float,
    room: Scratch,
) -> None:
    """Write into `room.gain` and `room.place` what every part would gain in a block."""
    room.gain[:] = 0.0
    for axis in range(len(codes)):
        found = _tally(codes[axis], weights, order, begin, end, room)
        if found < 2:
            continue
        if levels.depth[axis] == 0:
            gain, place = _best_cut(losses, levels, axis, room, found, bits)
            room.gain[axis, 0], room.place[axis, 0] = gain * preference[axis], place
        for level in range(levels.depth[axis]):
            gain = _gain_of_level(losses, levels, axis, level, room, found, bits)
            room.gain[axis, level], room.place[axis, level] = gain * preference[axis], level


@kernel
def best_part(room: Scratch) -> tuple[int, int]:
    """Axis and level of the part that gains most, (-1, -1) if none gains; the first of equals."""
    best, axis, level = 0.0, -1, -1
    for a in range(room.gain.shape[0]):
        for b in range(room.gain.shape[1]):
            if room.gain[a, b] > best:
                best, axis, level = room.gain[a, b], a, b
    return axis, level


@kernel
def _digit(levels: Levels, axis: int, place: int, code: int) -> int:
    if levels.depth[axis] == 0:
        return 1 if code >= place else 0
    return levels.digits[levels.start[axis] + place * levels.size[axis] + code]


@kernel
def divide(
    codes: NDArray[np.int32],
    levels: Levels,
    order: Ints,
    begin: int,
    end: int,
    axis: int,
    place: int,
    previous: int,
    stack: Ints,
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
    cells = 2 if levels.depth[axis] == 0 else levels.cells[axis, place]
    room.last[:cells] = 0
    for at in range(begin, end):
        room.last[_digit(levels, axis, place, codes[axis, order[at]])] += 1
    least, most = 0, cells - 1
    while room.last[least] == 0:
        least += 1
    while room.last[most] == 0:
        most -= 1
    falling = False
    if previous >= 0:
        before = _digit(levels, axis, place, codes[axis, previous])
        falling = abs(before - most) < abs(before - least)
    reach = begin
    for turn in range(cells):
        cell = cells - 1 - turn if falling else turn
        size = room.last[cell]
        room.first[cell], room.last[cell] = reach, reach
        reach += size
    for at in range(begin, end):
        cell = _digit(levels, axis, place, codes[axis, order[at]])
        room.moved[room.last[cell]] = order[at]
        room.last[cell] += 1
    order[begin:end] = room.moved[begin:end]
    for turn in range(cells):
        cell = turn if falling else cells - 1 - turn
        if room.last[cell] > room.first[cell]:
            stack[top, 0], stack[top, 1] = room.first[cell], room.last[cell]
            top += 1
    return top


@kernel
def order_block(
    codes: NDArray[np.int32],
    weights: Ints,
    losses: Losses,
    levels: Levels,
    order: Ints,
    begin: int,
    end: int,
    previous: int,
    axis: int,
    place: int,
    preference: Floats,
    bits: float,
    room: Scratch,
) -> int:
    """Order the rows of a block in place; return the last of them.

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
    return previous


@kernel
def _order_blocks(
    codes: NDArray[np.int32],
    weights: Ints,
    losses: Losses,
    levels: Levels,
    order: Ints,
    bounds: Ints,
    bits: float,
    room: Scratch,
) -> None:
    """Order the rows of every block, one after the other."""
    alike = np.ones(len(codes))
    for block in range(len(bounds) - 1):
        order_block(
            codes, weights, losses, levels, order, bounds[block], bounds[block + 1],
            -1, -1, -1, alike, bits, room,
        )  # fmt: skip


def level_order(table: Table, rows: Ints, bounds: Ints | None = None) -> Ints:
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
    points = collapse(np.concatenate([block[None], table.codes[:, rows]]))
    ends = np.searchsorted(points.codes[0], np.arange(len(bounds)))
    levels = levels_of(table)
    order = np.arange(len(points))
    _order_blocks(
        points.codes[1:],
        points.weights,
        losses_of(table),
        levels,
        order,
        ends,
        BITS,
        scratch_for(levels, len(points)),
    )
    rank = np.empty(len(points), np.int64)
    rank[order] = np.arange(len(points))
    return np.argsort(rank[points.point], kind="stable")
