"""Kernels: which cuts of a class along an axis come into question.

A cut takes neighbouring values of the axis out of a class. Along an axis that publishes nodes these
are the values under one child of the lowest common node: such a cut lowers what both sides publish,
in whatever order siblings stand. Beside them, and along numbers only, a cut divides the values into
lower and higher ones, next to the value at some part of the rows.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anonloom import Table
from anonloom.typing import BoolArray, CodeArray, FloatArray, IntArray
from anonloom_kernels.losses import Losses, ancestors_of

#: Along numbers, cuts lie on either side of the values at the eighths of the rows.
PARTS = 8
#: Of more children than this only those come into question that hold one such part of the rows. If
#: every leaf of a large flat category did, they would be taken off one by one, a level for each.
MOST_CHILDREN = 16
#: There are never more cuts along an axis, or segments between them.
MOST_CUTS = 2 * (PARTS - 1) + MOST_CHILDREN + 1
MOST_SEGMENTS = 64
#: Along axes with more codes than this fragments are sorted; along others all codes are walked.
MOST_WALKED = 256


class Ways(NamedTuple):
    """How cuts are sought along each axis.

    Attributes
    ----------
    tree
        Where the axis's part of `ancestors` begins; negative where no nodes are published.
    ancestors
        Node above every code on every level, level after level.
    sorted
        Of the axes with many codes, the how manieth it is; negative for the others.
    """

    tree: IntArray
    ancestors: CodeArray
    sorted: IntArray


class Scratch(NamedTuple):
    """Room for one class and one axis at a time.

    Attributes
    ----------
    varied
        On which axes the class has different codes; the others cost nothing.
    value, reach
        Occurring codes, ascending, and how many rows have them or a smaller one.
    edge, part
        Whether a segment ends behind a value, and the segment that the value is in.
    of_code
        By code: first its rows, then its segment.
    segment
        Segment of every fragment.
    cut
        First and last value, then first and last segment, of what each cut takes out.
    lost
        What one row loses inside and outside of each cut.
    ends
        Least and most code on some axis: of each segment, of those before it, from it on.
    seen, member
        By code of some axis the segments in which it occurs, as bits; the codes that occur.
    """

    varied: BoolArray
    value: CodeArray
    reach: IntArray
    edge: BoolArray
    part: IntArray
    of_code: IntArray
    segment: IntArray
    cut: IntArray
    lost: FloatArray
    ends: IntArray
    seen: NDArray[np.uint64]
    member: CodeArray


def ways_of(table: Table) -> Ways:
    """Gather how cuts are sought along a table's axes."""
    parts, tree, total = [np.empty(0, np.int32)], [], 0
    for axis in table.axes:
        if axis.form != "nodes" or axis.value_count < 2:
            tree.append(-1)
            continue
        parts.append(ancestors_of(axis).ravel())
        tree.append(total)
        total += len(parts[-1])
    many = np.array([axis.size > MOST_WALKED for axis in table.axes], bool)
    number = np.where(many, np.cumsum(many) - 1, -1)
    return Ways(np.array(tree, np.int64), np.concatenate(parts), number)


def scratch_for(axes: int, most: int, widest: int) -> Scratch:
    """Return room for classes of so many fragments, and for so many axes of so many codes."""
    return Scratch(
        np.empty(axes, np.bool_),
        np.empty(most, np.int32),
        np.empty(most, np.int64),
        np.empty(most, np.bool_),
        np.empty(most, np.int64),
        np.empty(widest, np.int64),
        np.empty(most, np.int64),
        np.empty((4, MOST_CUTS), np.int64),
        np.empty((2, MOST_CUTS), np.float64),
        np.empty((2, 3, MOST_SEGMENTS + 1), np.int64),
        np.zeros(widest, np.uint64),
        np.empty(most, np.int32),
    )


def ends_of(codes: CodeArray) -> tuple[int, int]:
    """Smallest and largest code."""
    low = high = int(np.int64(codes[0]))
    for code in codes:
        low, high = min(low, code), max(high, code)
    return low, high


def tally(codes: CodeArray, weights: IntArray, order: IntArray, scratch: Scratch) -> int:
    """Write down the occurring codes in ascending order with their rows; return how many.

    Parameters
    ----------
    codes, weights
        Of the fragments of a class.
    order
        The fragments in the order of their codes; empty where codes are few.
    """
    result, rows = 0, 0
    for i in order:
        if not result or scratch.value[result - 1] != codes[i]:
            scratch.value[result] = codes[i]
            result += 1
        rows += weights[i]
        scratch.reach[result - 1] = rows
    if not len(order):
        low, high = ends_of(codes)
        for code in range(low, high + 1):
            scratch.of_code[code] = 0
        for i in range(len(codes)):
            scratch.of_code[codes[i]] += weights[i]
        for code in range(low, high + 1):
            if scratch.of_code[code]:
                rows += scratch.of_code[code]
                scratch.value[result], scratch.reach[result] = code, rows
                result += 1
    return result


def find_cuts(axis: int, values: int, losses: Losses, ways: Ways, scratch: Scratch) -> int:
    """Write down the first and last values of the cuts in question; return how many they are."""
    mixed = scratch.value[values - 1] == losses.missing[axis]
    known = values - 1 if mixed else values
    cuts, parts = 0, PARTS
    if ways.tree[axis] >= 0:
        level = ways.tree[axis]
        size, above, value = losses.size[axis], ways.ancestors, scratch.value
        while above[level + value[0]] != above[level + value[known - 1]]:
            level += size
        # One level below the lowest common node: its children.
        level -= size
        children = 1
        for i in range(1, known):
            children += above[level + value[i - 1]] != above[level + value[i]]
        rows = scratch.reach[values - 1]
        least = 0 if children <= MOST_CHILDREN else (rows + MOST_CHILDREN - 1) // MOST_CHILDREN
        first = 0
        for i in range(known if known > 1 else 0):
            if i + 1 == known or above[level + value[i]] != above[level + value[i + 1]]:
                inside = scratch.reach[i] - (scratch.reach[first - 1] if first else 0)
                if inside >= least:
                    scratch.cut[0, cuts], scratch.cut[1, cuts] = first, i
                    cuts += 1
                first = i + 1
        parts = 2 if children <= MOST_CHILDREN else PARTS
    return cut_parts(values, known, parts, cuts, scratch)


def cut_parts(values: int, known: int, parts: int, cuts: int, scratch: Scratch) -> int:
    """Write down the cuts on both sides of the values at which each part of the rows ends.

    Where values and missing ones mix, also the cut between them.
    """
    rows, behind, middle = scratch.reach[values - 1], -1, 0
    for part in range(1, parts):
        while scratch.reach[middle] * parts < rows * part:
            middle += 1
        for last in range(max(middle - 1, behind + 1), min(middle + 1, values - 1)):
            scratch.cut[0, cuts], scratch.cut[1, cuts] = 0, last
            cuts += 1
            behind = last
    if behind < known - 1 < values - 1:
        scratch.cut[0, cuts], scratch.cut[1, cuts] = 0, known - 1
        cuts += 1
    return cuts


def number_segments(
    codes: CodeArray, values: int, order: IntArray, cuts: int, scratch: Scratch
) -> int:
    """Number the segments between the ends of the cuts, tell the fragments'; return how many."""
    value, part = scratch.value, scratch.part
    for i in range(values):
        scratch.edge[i] = False
    for cut in range(cuts):
        first, last = scratch.cut[0, cut], scratch.cut[1, cut]
        scratch.edge[last] = True
        if first:
            scratch.edge[first - 1] = True
    segments = 0
    for i in range(values):
        part[i] = segments
        segments += scratch.edge[i] and i + 1 < values
    for cut in range(cuts):
        scratch.cut[2, cut] = part[scratch.cut[0, cut]]
        scratch.cut[3, cut] = part[scratch.cut[1, cut]]
    index = 0
    for i in order:
        index += value[index] != codes[i]
        scratch.segment[i] = part[index]
    if not len(order):
        for i in range(values):
            scratch.of_code[value[i]] = part[i]
        for i in range(len(codes)):
            scratch.segment[i] = scratch.of_code[codes[i]]
    return segments + 1
