"""Kernels: every split of every node, and how much each of them gains.

Points of a node are visited in the order of their codes. What has been visited is inside of a
split, the rest is outside, and both impurities follow from counts (see `impurity`).
Along a number whatever lies below a threshold is inside; along a category that is what lies under
one node of the hierarchy, on every level below the root.
"""

from typing import NamedTuple

import numpy as np

from anonloom import Table
from anonloom.typing import BoolArray, CodeArray, FloatArray, IntArray
from anonloom_kernels.compiled import kernel
from anonloom_kernels.losses import ancestors_of
from anonloom_tada.impurity import (
    Counts,
    empty,
    forget,
    parts_impurity,
    take_in,
    take_whole,
    whole_impurity,
)
from anonloom_tada.targets import Targets

#: Scores are compared to so many decimals: sums in another order must not decide.
DECIMALS = 12


class Trees(NamedTuple):
    """How splits are sought along each axis.

    Attributes
    ----------
    start
        Where the axis's part of `ancestors` begins.
    levels
        Levels below the root; 0 along a number.
    size, missing
        Number of codes, and code of the missing value or -1.
    ancestors
        Node above every code on every level, level after level.
    """

    start: IntArray
    levels: IntArray
    size: IntArray
    missing: IntArray
    ancestors: CodeArray

    def most(self, points: IntArray) -> IntArray:
        """How many splits nodes of so many points have at most."""
        result = np.minimum(points[:, None], self.size) * np.maximum(self.levels, 1)
        most: IntArray = result.sum(axis=1)
        return most


def trees_of(table: Table) -> Trees:
    """Gather how splits are sought along a table's axes."""
    parts, start, levels = [np.empty(0, np.int32)], [], []
    for axis in table.axes:
        start.append(sum(map(len, parts)))
        by_nodes = axis.type == "category" and axis.value_count > 1
        # Whatever the root covers leaves nothing outside. A single value has no tree to follow.
        above = ancestors_of(axis)[:-1] if by_nodes else np.empty((0, axis.size), np.int32)
        levels.append(len(above))
        parts.append(above.ravel())
    return Trees(
        np.array(start, np.int64),
        np.array(levels, np.int64),
        np.array([axis.size for axis in table.axes], np.int64),
        np.array([axis.missing for axis in table.axes], np.int64),
        np.concatenate(parts),
    )


class CandidateSplits(NamedTuple):
    """The splits in question; each takes codes of one axis out of its node.

    Attributes
    ----------
    node, axis
        Which node, along which axis.
    begin, end
        First and last code that is taken out.
    inside
        How many rows are taken out.
    gain
        What both parts are purer than the node, as a share of the impurity of all rows.
    score
        The same as a share of the node's impurity, rounded.
    """

    node: IntArray
    axis: IntArray
    begin: CodeArray
    end: CodeArray
    inside: IntArray
    gain: FloatArray
    score: FloatArray

    def take(self, which: IntArray | slice) -> "CandidateSplits":
        """Return these splits."""
        return CandidateSplits(
            self.node[which],
            self.axis[which],
            self.begin[which],
            self.end[which],
            self.inside[which],
            self.gain[which],
            self.score[which],
        )


def room_for(splits: int) -> CandidateSplits:
    """Return room for so many splits."""
    return CandidateSplits(
        np.empty(splits, np.int64),
        np.empty(splits, np.int64),
        np.empty(splits, np.int32),
        np.empty(splits, np.int32),
        np.empty(splits, np.int64),
        np.empty(splits, np.float64),
        np.empty(splits, np.float64),
    )


@kernel
def score_splits(
    start: IntArray,
    stop: IntArray,
    free: BoolArray,
    orders: CodeArray,
    codes: CodeArray,
    weight: IntArray,
    trees: Trees,
    targets: Targets,
    term: FloatArray,
    enough: BoolArray,
    counts: Counts,
    impurity: FloatArray,
    found: CandidateSplits,
) -> int:
    """Write down every split that leaves enough rows on both sides; return how many there are.

    Parameters
    ----------
    start, stop
        Where each node's points stand in the orders.
    free
        (nodes x axes): along which axes a node may be split.
    orders, codes, weight
        See `WeightedPoints`.
    trees, targets
        How splits are sought, and what they are to make pure.
    term
        See `terms`.
    enough
        Whether so many rows are enough.
    counts
        Counts of nothing, which they are again afterwards.
    impurity
        Of every node, to be filled.
    found
        To be filled.
    """
    count = 0
    for node in range(len(start)):
        points = orders[:, start[node] : stop[node]]
        rows = 0
        for point in points[0]:
            rows += weight[point]
        take_whole(points[0], weight, targets, term, counts)
        impurity[node] = before = whole_impurity(targets, term, counts)
        for axis in range(len(points)):
            own, along = codes[axis], points[axis]
            if not free[node, axis] or own[along[0]] == own[along[len(along) - 1]]:
                continue
            levels = trees.levels[axis]
            for level in range(max(levels, 1)):
                count = along_level(
                    node, axis, level, along, own, weight, rows, before,
                    trees, targets, term, enough, counts, found, count,
                )  # fmt: skip
        forget(points[0], targets, counts.whole)
    return count


def along_level(
    node: int,
    axis: int,
    level: int,
    along: CodeArray,
    own: CodeArray,
    weight: IntArray,
    rows: int,
    before: float,
    trees: Trees,
    targets: Targets,
    term: FloatArray,
    enough: BoolArray,
    counts: Counts,
    found: CandidateSplits,
    count: int,
) -> int:
    """Write down the splits along one level of an axis, or along a number."""
    by_nodes = trees.levels[axis] > 0
    size, missing, above = trees.size[axis], trees.missing[axis], trees.ancestors
    here = trees.start[axis] + level * size
    below, last = here - size, len(along) - 1
    inside, groups, first = 0, 0, 0
    begin_code = own[along[0]]
    for index in range(len(along)):
        code = own[along[index]]
        inside += weight[along[index]]
        if index < last:
            after = own[along[index + 1]]
            if code == after:
                continue
            if by_nodes and after != missing and above[here + code] == above[here + after]:
                continue
        # A group ends here: values below a threshold, or those under one node.
        groups += 1
        # The last of two takes out what the first leaves, and one alone leaves nothing.
        wanted = index < last or (by_nodes and groups > 2)
        if by_nodes and level > 0 and wanted:
            # What one node of the level below covers has been looked at there.
            wanted = code != missing and above[below + begin_code] != above[below + code]
        wanted = wanted and enough[inside] and enough[rows - inside]
        if not by_nodes or wanted:
            take_in(along[first : index + 1], weight, targets, term, counts)
            if wanted:
                gain = before - parts_impurity(targets, term, counts)
                found.node[count], found.axis[count] = node, axis
                found.begin[count], found.end[count] = begin_code, code
                found.inside[count], found.gain[count] = inside, max(gain, 0.0)
                share = gain / before if before > 0 else 0.0
                found.score[count] = np.round(max(share, 0.0), DECIMALS)
                count += 1
            if by_nodes:
                empty(along[first : index + 1], targets, counts)
        first = index + 1
        if by_nodes and index < last:
            inside, begin_code = 0, own[along[index + 1]]
    if not by_nodes:
        empty(along, targets, counts)
    return count


@kernel
def divide(
    orders: CodeArray,
    codes: CodeArray,
    start: IntArray,
    stop: IntArray,
    axis: IntArray,
    begin: CodeArray,
    end: CodeArray,
    middle: IntArray,
    kept: CodeArray,
) -> None:
    """Put what a split takes out of its node in front, along every axis, and say where it ends."""
    for node in range(len(start)):
        first, last = start[node], stop[node]
        own, low, high = codes[axis[node]], begin[node], end[node]
        for order in orders:
            points = order[first:last].copy()
            taken = (low <= own[points]) & (own[points] <= high)
            put = first + np.count_nonzero(taken)
            held = kept[: last - put]
            held[:] = points[~taken]
            order[first:put], order[put:last] = points[taken], held
            middle[node] = put
