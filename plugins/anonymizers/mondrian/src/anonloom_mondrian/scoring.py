"""Kernels: which cuts of a class come into question, and how much each of them saves.

A cut lies behind one of the occurring values of an axis. The cuts in question divide the values of
an axis into a few segments; smallest and largest codes per segment, cumulated from both ends, are
the extents of both halves of every cut on every axis.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anonloom.data.table import Table
from anonloom_kernels.compiled import kernel
from anonloom_kernels.losses import SET, Losses, ancestors_of, extent_loss, set_loss

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Codes = NDArray[np.int32]
Marks = NDArray[np.bool_]

#: Stands for 'no cut' in an array of codes.
NONE = -1
#: Along numbers, cuts are sought next to the values at the eighths of the rows.
PARTS = 8
#: A node with more occurring children than this is cut like a number, or single leaves would be
#: taken off its ends one by one, a level of the recursion for each.
MOST_CHILDREN = 16
#: Scores are compared to so many decimals: sums in another order must not decide.
DECIMALS = 12


class Trees(NamedTuple):
    """The hierarchies of the axes that publish nodes.

    Attributes
    ----------
    start
        Where the axis's part of `ancestors` begins; negative where no nodes are published.
    ancestors
        Node above every code on every level, level after level.
    """

    start: Ints
    ancestors: Codes


class Scratch(NamedTuple):
    """Room for one class at a time.

    Attributes
    ----------
    value, mass, mark
        Occurring codes on an axis, how many rows each has, whether a cut behind it is in question.
    of_code
        By code, counted from the smallest of the class: first its rows, then its segment.
    segment
        Segment of every fragment.
    first, last
        First and last segment of every code of another axis.
    """

    value: Codes
    mass: Ints
    mark: Marks
    of_code: Ints
    segment: Ints
    first: Ints
    last: Ints


def trees_of(table: Table) -> Trees:
    """Gather the hierarchies of a table's axes."""
    parts, start, total = [np.empty(0, np.int32)], [], 0
    for axis in table.axes:
        if axis.form != "nodes" or axis.occurring < 2:
            start.append(-1)
            continue
        parts.append(ancestors_of(axis).ravel())
        start.append(total)
        total += len(parts[-1])
    return Trees(np.array(start, np.int64), np.concatenate(parts))


@kernel
def score_cuts(
    codes: Codes,
    weight: Ints,
    bounds: Ints,
    losses: Losses,
    trees: Trees,
    enough: Marks,
    per_bit: float,
    score: Floats,
    smaller: Ints,
    best: Codes,
    even: Codes,
) -> None:
    """Fill in the best and the most even cut of every class along every axis.

    Parameters
    ----------
    codes, weight, bounds
        The classes; see `Fragments`.
    losses, trees, enough, per_bit
        See `BestLossCutter`.
    score, smaller, best, even
        To be filled; see `Proposals`.
    """
    axes = len(codes)
    most = np.max(np.diff(bounds))
    widest = np.max(losses.size)
    scratch = Scratch(
        np.empty(most, np.int32),
        np.empty(most, np.int64),
        np.empty(most, np.bool_),
        np.empty(widest, np.int64),
        np.empty(most, np.int64),
        np.empty(widest, np.int64),
        np.empty(widest, np.int64),
    )
    for at in range(len(bounds) - 1):
        begin, end = bounds[at], bounds[at + 1]
        own, weights = codes[:, begin:end], weight[begin:end]
        rows = np.sum(weights)
        before = whole_lost(own, losses, scratch)
        for axis in range(axes):
            score[axis, at], smaller[axis, at] = -np.inf, 0
            values = tally(own[axis], weights, scratch)
            if values < 2:
                continue
            mark_cuts(axis, values, rows, losses, trees, scratch)
            segments = divide(own[axis], values, scratch)
            lost = halves_lost(own, segments, losses, scratch)
            cut = choose(values, rows, before, lost, enough, per_bit, scratch)
            score[axis, at], smaller[axis, at], best[axis, at], even[axis, at] = cut


@kernel
def tally(codes: Codes, weights: Ints, scratch: Scratch) -> int:
    """Write down the occurring codes in ascending order with their rows; return how many."""
    low, high = np.min(codes), np.max(codes)
    span = np.int64(high) - low + 1
    found = 0
    if span <= 4 * len(codes) + 64:
        rows_of = scratch.of_code
        rows_of[:span] = 0
        for i in range(len(codes)):
            rows_of[codes[i] - low] += weights[i]
        for i in range(span):
            if rows_of[i]:
                scratch.value[found], scratch.mass[found] = low + i, rows_of[i]
                found += 1
        return found
    # Few rows far apart: cheaper to sort them than to walk over all codes between.
    order = np.argsort(codes)
    for i in order:
        if not found or scratch.value[found - 1] != codes[i]:
            scratch.value[found], scratch.mass[found] = codes[i], 0
            found += 1
        scratch.mass[found - 1] += weights[i]
    return found


@kernel
def mark_cuts(
    axis: int, values: int, rows: int, losses: Losses, trees: Trees, scratch: Scratch
) -> None:
    """Mark the values behind which a cut is in question."""
    value, mark = scratch.value, scratch.mark
    mark[:values] = False
    parts = PARTS
    mixed = value[values - 1] == losses.missing[axis]
    known = values - 1 if mixed else values
    if trees.start[axis] >= 0:
        children = 1
        if known > 1:
            size, level = losses.size[axis], trees.start[axis]
            above = trees.ancestors
            while above[level + value[0]] != above[level + value[known - 1]]:
                level += size
            # One level below the lowest common node: its children.
            level -= size
            for i in range(known - 1):
                mark[i] = above[level + value[i]] != above[level + value[i + 1]]
                children += mark[i]
        if children > MOST_CHILDREN:
            mark[:values] = False
        else:
            # Beside the children only the two sides of the middle value.
            parts = 2
    mark_parts(values, rows, parts, scratch)
    if mixed:
        mark[known - 1] = True
    mark[values - 1] = False


@kernel
def mark_parts(values: int, rows: int, parts: int, scratch: Scratch) -> None:
    """Mark both sides of the values at which each part of the rows ends."""
    reached, part = 0, 1
    for i in range(values):
        reached += scratch.mass[i]
        while part < parts and reached * parts >= rows * part:
            if i:
                scratch.mark[i - 1] = True
            scratch.mark[i] = True
            part += 1


@kernel
def divide(codes: Codes, values: int, scratch: Scratch) -> int:
    """Number the segments between the marks and tell those of the fragments; return how many."""
    value, mark = scratch.value, scratch.mark
    low, last = value[0], value[values - 1]
    dense = np.int64(last) - low + 1 <= 4 * len(codes) + 64
    segments = 0
    for i in range(values):
        if dense:
            scratch.of_code[value[i] - low] = segments
        else:
            scratch.first[i] = segments
        segments += mark[i]
    for i in range(len(codes)):
        if dense:
            scratch.segment[i] = scratch.of_code[codes[i] - low]
        else:
            scratch.segment[i] = scratch.first[np.searchsorted(value[:values], codes[i])]
    return segments + 1


@kernel
def halves_lost(own: Codes, segments: int, losses: Losses, scratch: Scratch) -> Floats:
    """What one row loses left and right of the cut behind each segment but the last, (cuts x 2)."""
    lost = np.zeros((segments - 1, 2))
    least, most = np.empty(segments, np.int64), np.empty(segments, np.int64)
    members = np.zeros((segments, 2), np.int64)
    for axis in range(len(own)):
        codes = own[axis]
        low, high = np.int64(codes[0]), np.int64(codes[0])
        least[:], most[:] = losses.size[axis], -1
        for i in range(len(codes)):
            code, segment = np.int64(codes[i]), scratch.segment[i]
            least[segment] = min(least[segment], code)
            most[segment] = max(most[segment], code)
            low, high = min(low, code), max(high, code)
        if low == high:
            continue
        is_set = losses.kind[axis] == SET
        if is_set:
            count_members(codes, low, high, segments, members, scratch)
        for side in range(2):
            lo, hi = np.int64(losses.size[axis]), np.int64(-1)
            for step in range(segments - 1):
                segment = step if side == 0 else segments - 1 - step
                lo, hi = min(lo, least[segment]), max(hi, most[segment])
                cut = step if side == 0 else segment - 1
                if is_set:
                    mixed = hi == losses.missing[axis]
                    lost[cut, side] += set_loss(losses, axis, members[cut, side], mixed)
                else:
                    lost[cut, side] += extent_loss(losses, axis, lo, hi)
    return lost


@kernel
def count_members(
    codes: Codes, low: int, high: int, segments: int, members: Ints, scratch: Scratch
) -> None:
    """Count the different codes left and right of the cut behind each segment."""
    first, last = scratch.first, scratch.last
    first[low : high + 1], last[low : high + 1] = segments, -1
    for i in range(len(codes)):
        segment = scratch.segment[i]
        first[codes[i]] = min(first[codes[i]], segment)
        last[codes[i]] = max(last[codes[i]], segment)
    members[:] = 0
    for code in range(low, high + 1):
        if last[code] >= 0:
            members[first[code], 0] += 1
            members[last[code], 1] += 1
    for segment in range(1, segments):
        members[segment, 0] += members[segment - 1, 0]
    # Right of the cut behind a segment: what occurs last in a later one.
    later = 0
    for step in range(segments):
        segment = segments - 1 - step
        here = members[segment, 1]
        members[segment, 1] = later
        later += here


@kernel
def whole_lost(own: Codes, losses: Losses, scratch: Scratch) -> float:
    """What one row of the class loses while it is not cut."""
    lost = 0.0
    for axis in range(len(own)):
        codes = own[axis]
        low, high = np.int64(np.min(codes)), np.int64(np.max(codes))
        if losses.kind[axis] != SET:
            lost += extent_loss(losses, axis, low, high)
            continue
        seen = scratch.first
        seen[low : high + 1] = 0
        for i in range(len(codes)):
            seen[codes[i]] = 1
        members = np.sum(seen[low : high + 1])
        lost += set_loss(losses, axis, members, high == losses.missing[axis])
    return lost


@kernel
def choose(
    values: int,
    rows: int,
    before: float,
    lost: Floats,
    enough: Marks,
    per_bit: float,
    scratch: Scratch,
) -> tuple[float, int, int, int]:
    """Score, smaller half and last left code of the best cut; last left code of the most even."""
    score, smaller, best, even, most_even = -np.inf, 0, NONE, NONE, 0
    left, cut = 0, 0
    for i in range(values - 1):
        left += scratch.mass[i]
        if not scratch.mark[i]:
            continue
        if enough[left] and enough[rows - left]:
            share, least = left / rows, min(left, rows - left)
            drop = before - share * lost[cut, 0] - (1 - share) * lost[cut, 1]
            bits = -share * np.log2(share) - (1 - share) * np.log2(1 - share)
            own = np.round(drop / bits**per_bit, DECIMALS)
            if own > score or (own == score and least > smaller):
                score, smaller, best = own, least, scratch.value[i]
            if least > most_even:
                even, most_even = scratch.value[i], least
        cut += 1
    return score, smaller, best, even
