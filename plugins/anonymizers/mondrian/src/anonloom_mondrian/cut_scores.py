"""Kernels: which cuts of a class come into question, and how much each of them saves.

The cuts in question divide the occurring values of an axis into a few segments, and each cut takes
neighbouring segments out of the class. Smallest and largest codes per segment, cumulated from both
ends, give the extents of both halves of every cut on every axis.
"""

from math import log2
from typing import NamedTuple

import numpy as np

from anonloom.typing import BoolArray, CodeArray, FloatArray, IntArray
from anonloom_kernels.compiled import kernel
from anonloom_kernels.losses import SET, Losses, extent_loss, set_loss
from anonloom_mondrian.candidates import (
    Scratch,
    Ways,
    ends_of,
    find_cuts,
    number_segments,
    tally,
)

#: Scores are compared to so many decimals: sums in another order must not decide.
DECIMALS = 12


#: Stands for 'no cut' in an array of codes.
NONE = -1


class CutPairs(NamedTuple):
    """Two cuts of every class along every axis, (axes x classes).

    Attributes
    ----------
    score, smaller
        How good the better cut is, and how many rows its smaller half has.
    best
        First and last code that the better cut takes out, (2 x axes x classes); `NONE` where no
        cut leaves enough rows on both sides.
    even
        The same of the cut with the largest smaller half.
    """

    score: FloatArray
    smaller: IntArray
    best: CodeArray
    even: CodeArray


@kernel
def score_cuts(
    codes: CodeArray,
    weight: IntArray,
    bounds: IntArray,
    orders: IntArray,
    losses: Losses,
    ways: Ways,
    enough: BoolArray,
    per_bit: float,
    scratch: Scratch,
    found: CutPairs,
) -> None:
    """Fill in the best and the most even cut of every class along every axis.

    Parameters
    ----------
    codes, weight, bounds
        The classes; see `Fragments`.
    orders
        Along every axis that has many codes the fragments of each class, counted within the class,
        in the order of their codes, (such axes x fragments).
    losses, ways, enough, per_bit
        See `BestLossCutter`.
    scratch
        Room for the largest class.
    found
        To be filled.
    """
    for index in range(len(bounds) - 1):
        begin, end = bounds[index], bounds[index + 1]
        own, weights = codes[:, begin:end], weight[begin:end]
        rows = 0
        for rows_of in weights:
            rows += rows_of
        before = whole_lost(own, losses, scratch)
        for axis in range(len(own)):
            if not scratch.varied[axis]:
                continue
            row = ways.sorted[axis]
            order = orders[row, begin:end] if row >= 0 else orders[0, :0]
            values = tally(own[axis], weights, order, scratch)
            cuts = find_cuts(axis, values, losses, ways, scratch)
            segments = number_segments(own[axis], values, order, cuts, scratch)
            for cut in range(cuts):
                scratch.lost[0, cut] = scratch.lost[1, cut] = 0.0
            for other in range(len(own)):
                if scratch.varied[other]:
                    add_lost(own[other], other, segments, cuts, losses, scratch)
            choose(axis, index, cuts, rows, before, enough, per_bit, scratch, found)


def whole_lost(own: CodeArray, losses: Losses, scratch: Scratch) -> float:
    """What one row of the class loses while it is not cut; also marks the axes that vary."""
    lost = 0.0
    for axis in range(len(own)):
        codes = own[axis]
        low, high = ends_of(codes)
        scratch.varied[axis] = low < high
        if losses.kind[axis] != SET:
            lost += extent_loss(losses, axis, low, high)
            continue
        for i in range(len(codes)):
            scratch.segment[i] = 0
        members = note_members(codes, scratch)
        forget_members(members, scratch)
        lost += set_loss(losses, axis, members, high == losses.missing[axis])
    return lost


def add_lost(
    codes: CodeArray, axis: int, segments: int, cuts: int, losses: Losses, scratch: Scratch
) -> None:
    """Add what one row loses on an axis inside and outside of every cut."""
    least, most = scratch.ends[0, 0], scratch.ends[1, 0]
    top = int(losses.size[axis])
    for segment in range(segments):
        least[segment], most[segment] = top, -1
    for i in range(len(codes)):
        code, segment = np.int64(codes[i]), scratch.segment[i]
        if code < least[segment]:
            least[segment] = code
        if code > most[segment]:
            most[segment] = code
    cumulate(segments, top, scratch)
    is_set = losses.kind[axis] == SET
    members = note_members(codes, scratch) if is_set else 0
    missing = losses.missing[axis]
    before, behind = scratch.ends[:, 1], scratch.ends[:, 2]
    for cut in range(cuts):
        first, last = scratch.cut[2, cut], scratch.cut[3, cut]
        lo, hi = before[0, last + 1], before[1, last + 1]
        if first:
            lo, hi = top, -1
            for segment in range(first, last + 1):
                lo, hi = min(lo, least[segment]), max(hi, most[segment])
        low = min(before[0, first], behind[0, last + 1])
        high = max(before[1, first], behind[1, last + 1])
        if is_set:
            inside, outside = count_members(members, first, last, scratch)
            scratch.lost[0, cut] += set_loss(losses, axis, inside, hi == missing)
            scratch.lost[1, cut] += set_loss(losses, axis, outside, high == missing)
        else:
            scratch.lost[0, cut] += extent_loss(losses, axis, lo, hi)
            scratch.lost[1, cut] += extent_loss(losses, axis, low, high)
    if is_set:
        forget_members(members, scratch)


def cumulate(segments: int, top: int, scratch: Scratch) -> None:
    """Least and most code of the segments before, and of those from, each segment on."""
    least, most = scratch.ends[0], scratch.ends[1]
    least[1, 0], most[1, 0] = top, -1
    least[2, segments], most[2, segments] = top, -1
    for segment in range(segments):
        least[1, segment + 1] = min(least[1, segment], least[0, segment])
        most[1, segment + 1] = max(most[1, segment], most[0, segment])
        back = segments - 1 - segment
        least[2, back] = min(least[2, back + 1], least[0, back])
        most[2, back] = max(most[2, back + 1], most[0, back])


def note_members(codes: CodeArray, scratch: Scratch) -> int:
    """Write down the different codes and in which segments each occurs; return how many."""
    members = 0
    for i in range(len(codes)):
        if not scratch.seen[codes[i]]:
            scratch.member[members] = codes[i]
            members += 1
        scratch.seen[codes[i]] |= np.uint64(1) << np.uint64(scratch.segment[i])
    return members


def forget_members(members: int, scratch: Scratch) -> None:
    """Clear what `note_members` wrote."""
    for i in range(members):
        scratch.seen[scratch.member[i]] = 0


def count_members(members: int, first: int, last: int, scratch: Scratch) -> tuple[int, int]:
    """How many of the noted codes occur in these segments, and how many outside of them."""
    one = np.uint64(1)
    taken = ((one << np.uint64(last + 1 - first)) - one) << np.uint64(first)
    inside, outside = 0, 0
    for i in range(members):
        seen = scratch.seen[scratch.member[i]]
        inside += (seen & taken) != 0
        outside += (seen & ~taken) != 0
    return inside, outside


def choose(
    axis: int,
    at: int,
    cuts: int,
    rows: int,
    before: float,
    enough: BoolArray,
    per_bit: float,
    scratch: Scratch,
    found: CutPairs,
) -> None:
    """Write down the best and the most even of the cuts that leave enough rows on both sides."""
    most_even = 0
    for cut in range(cuts):
        first, last = scratch.cut[0, cut], scratch.cut[1, cut]
        inside = scratch.reach[last] - (scratch.reach[first - 1] if first else 0)
        outside = rows - inside
        if not (enough[inside] and enough[outside]):
            continue
        share, smaller = inside / rows, min(inside, outside)
        drop = before - share * scratch.lost[0, cut] - (1 - share) * scratch.lost[1, cut]
        bits = -share * log2(share) - (1 - share) * log2(1 - share)
        score, best = np.round(drop / bits**per_bit, DECIMALS), found.score[axis, at]
        if score > best or (score == best and smaller > found.smaller[axis, at]):
            found.score[axis, at], found.smaller[axis, at] = score, smaller
            found.best[0, axis, at], found.best[1, axis, at] = (
                scratch.value[first],
                scratch.value[last],
            )
        if smaller > most_even:
            most_even = smaller
            found.even[0, axis, at], found.even[1, axis, at] = (
                scratch.value[first],
                scratch.value[last],
            )
