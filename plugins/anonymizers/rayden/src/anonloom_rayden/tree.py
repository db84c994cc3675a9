"""The tree: nodes are cut by the distance of their points from a vantage point (Algorithm 1).

A node is a run of points, in ascending order of their codes; a point is a run of equal rows. Rows
at equal distance keep that order, so that a cut at a given number of rows is always possible and
always the same one; it may go through a point, whose rows are then divided.

A node owns a stretch of the arrays that is large enough for the points of all its descendants: a
cut adds at most one point, and below a node there are at most `size // least - 1` cuts. So the
tree is grown in place, and its branches in parallel.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anonloom.typing import CodeArray, IntArray
from anonloom_kernels.compiled import kernel
from anonloom_rayden.gower import Space, from_one
from anonloom_rayden.vantage import salted_hash, vantage_point

ALIGNED = 0
HALF = 1
PAPER = 2

#: Distances are compared in steps of 2**-30, so that sums that differ by rounding alone are ties.
_STEPS = 2.0**30
_PLACE = (1 << 32) - 1


class Points(NamedTuple):
    """Points, those of one node side by side.

    Attributes
    ----------
    codes
        (axes x points): the codes that all rows of a point share.
    first, weight
        The rows of a point are `weight` many, from place `first` of one fixed row order.
    """

    codes: CodeArray
    first: IntArray
    weight: IntArray


class Nodes(NamedTuple):
    """Nodes of the tree.

    Attributes
    ----------
    start, points
        First point and number of points.
    size
        Number of rows.
    salt
        What the node's random numbers come from.
    """

    start: IntArray
    points: IntArray
    size: IntArray
    salt: IntArray


class Scratch(NamedTuple):
    """Room for one cut."""

    distance: NDArray[np.float64]
    key: IntArray
    other: IntArray
    first: IntArray
    weight: IntArray
    code: CodeArray


class Rule(NamedTuple):
    """How nodes are cut.

    Attributes
    ----------
    cut, vantage
        See the constants of this module and of `vantage`.
    least
        Rows that a class needs.
    attempt
        How often a cut of these nodes was refused.
    """

    cut: int
    vantage: int
    least: int
    attempt: int


@kernel
def select(key: IntArray, count: int, weight: IntArray, begin: int, rows: int) -> tuple[int, int]:
    """Find the key with which the weight of all smaller ones and itself reaches `rows`.

    Keys differ; their lower half is the place of the point that they stand for. The array is
    reordered.

    Returns
    -------
    key, before
        The key, and the weight of all smaller ones.
    """
    low, high, before = 0, count - 1, 0
    while low < high:
        pivot = sorted_middle(key[low], key[(low + high) // 2], key[high])
        left, right = low, high
        while left <= right:
            while key[left] < pivot:
                left += 1
            while key[right] > pivot:
                right -= 1
            if left <= right:
                key[left], key[right] = key[right], key[left]
                left += 1
                right -= 1
        # Now low..right are at most the pivot, left..high at least; one may lie between them.
        reached = before
        for index in range(low, right + 1):
            reached += weight[begin + (key[index] & _PLACE)]
        if rows <= reached:
            high = right
            continue
        if left - right == 2:
            middle = weight[begin + (key[right + 1] & _PLACE)]
            if rows <= reached + middle:
                return key[right + 1], reached
            reached += middle
        low, before = left, reached
    return key[low], before


@kernel
def sorted_middle(one: int, two: int, three: int) -> int:
    """The second of three numbers."""
    return max(min(one, two), min(max(one, two), three))


@kernel
def near_rows(rule: Rule, size: int) -> int:
    """How many rows lie near: half of them, or a multiple of the least size close to that."""
    if rule.cut == ALIGNED:
        return (size // rule.least // 2) * rule.least
    return (size + 1) // 2


@kernel
def border(
    space: Space,
    rule: Rule,
    points: Points,
    start: int,
    count: int,
    size: int,
    salt: int,
    room: Scratch,
) -> tuple[int, int, int]:
    """Order the points of a node by distance, and find where the near ones end.

    Returns
    -------
    limit, torn, inside
        Points whose key in `room` is at most `limit` are near. Of the point `torn`, if it is not
        negative, only the first `inside` rows are.
    """
    if count > 1:
        one = vantage_point(
            space,
            rule.vantage,
            rule.attempt,
            points.codes,
            points.weight,
            start,
            count,
            size,
            salt,
            room.distance,
        )
        from_one(space, points.codes, one, start, count, 1, room.distance)
    else:
        room.distance[0] = 0.0
    for index in range(count):
        room.key[index] = (np.int64(room.distance[index] * _STEPS + 0.5) << 32) | index
        room.other[index] = room.key[index]
    rows = near_rows(rule, size)
    limit, before = select(room.other, count, points.weight, start, rows)
    if rule.cut == PAPER:
        # All rows at the median distance are near.
        return limit | _PLACE, -1, 0
    torn, inside = limit & _PLACE, rows - before
    if inside == points.weight[start + torn]:
        return limit, -1, 0
    return limit - 1, torn, inside


@kernel
def divide(
    points: Points,
    start: int,
    count: int,
    limit: int,
    torn: int,
    inside: int,
    least: int,
    room: Scratch,
) -> tuple[int, int, int]:
    """Put the near points of a node first, and the far ones behind them; the order stays.

    Returns
    -------
    near, rows, begin
        Number of near points and of their rows, and where the far points begin.
    """
    near, rows, far = 0, 0, 0
    for index in range(count):
        here, there = start + index, start + near
        first, weight = points.first[here], points.weight[here]
        if room.key[index] > limit:
            kept = inside if index == torn else 0
            room.first[far], room.weight[far] = first + kept, weight - kept
            weight = kept
            far += 1
        if weight > 0:
            points.first[there], points.weight[there] = first, weight
            near += 1
            rows += weight
    begin = start + near
    if least:
        begin += max(rows // least - 1, 0)
    points.first[begin : begin + far] = room.first[:far]
    points.weight[begin : begin + far] = room.weight[:far]
    for codes in points.codes:
        near, far = 0, 0
        for index in range(count):
            code = codes[start + index]
            if room.key[index] > limit:
                room.code[far] = code
                far += 1
            if room.key[index] <= limit or index == torn:
                codes[start + near] = code
                near += 1
        codes[begin : begin + far] = room.code[:far]
    return near, rows, begin


@kernel
def grow(space: Space, rule: Rule, points: Points, roots: Nodes, until: int, once: bool) -> Nodes:
    """Cut nodes in place while they have at least `until` rows, or just once.

    Returns
    -------
    Nodes
        The leaves, in no particular order; of nodes that are cut once, near and far in turns.
    """
    leaves = empty_nodes(most_leaves(rule, roots, once))
    room = empty_scratch(roots.points.max())
    # Of two branches the smaller one is grown first: then no more than this wait at a time.
    waiting = empty_nodes(64)
    spare = 0 if once or rule.cut == PAPER else rule.least
    result = 0
    for root in range(len(roots.start)):
        copy_node(roots, root, waiting, 0)
        open_nodes = 1
        while open_nodes:
            open_nodes -= 1
            start, count = waiting.start[open_nodes], waiting.points[open_nodes]
            size, salt = waiting.size[open_nodes], waiting.salt[open_nodes]
            near, rows, begin, torn = count, size, start, -1
            if size >= until:
                limit, torn, inside = border(space, rule, points, start, count, size, salt, room)
                near, rows, begin = divide(points, start, count, limit, torn, inside, spare, room)
            if rows == size:
                copy_node(waiting, open_nodes, leaves, result)
                result += 1
                continue
            far = count - near + (torn >= 0)
            if once:
                set_node(leaves, result, start, near, rows, salted_hash(salt, 0))
                set_node(leaves, result + 1, begin, far, size - rows, salted_hash(salt, 1))
                result += 2
                continue
            nearer_last = 2 * rows < size
            set_node(waiting, open_nodes + nearer_last, start, near, rows, salted_hash(salt, 0))
            set_node(
                waiting,
                open_nodes + (not nearer_last),
                begin,
                far,
                size - rows,
                salted_hash(salt, 1),
            )
            open_nodes += 2
    return Nodes(
        leaves.start[:result], leaves.points[:result], leaves.size[:result], leaves.salt[:result]
    )


@kernel
def most_leaves(rule: Rule, roots: Nodes, once: bool) -> int:
    """More leaves than this no tree over these nodes has."""
    if once:
        return 2 * len(roots.size)
    most = 0
    for root in range(len(roots.size)):
        # Without a least size every point may become a leaf of its own.
        cuts = roots.points[root] if rule.cut == PAPER else roots.size[root] // rule.least
        most += max(cuts, 1)
    return most


@kernel
def empty_nodes(count: int) -> Nodes:
    """Room for so many nodes."""
    return Nodes(
        np.empty(count, np.int64),
        np.empty(count, np.int64),
        np.empty(count, np.int64),
        np.empty(count, np.int64),
    )


@kernel
def set_node(nodes: Nodes, at: int, start: int, count: int, size: int, salt: int) -> None:
    """Write one node."""
    nodes.start[at], nodes.points[at] = start, count
    nodes.size[at], nodes.salt[at] = size, salt


@kernel
def copy_node(nodes: Nodes, at: int, target: Nodes, to: int) -> None:
    """Write one of the nodes to another place."""
    set_node(target, to, nodes.start[at], nodes.points[at], nodes.size[at], nodes.salt[at])


@kernel
def empty_scratch(count: int) -> Scratch:
    """Room for a cut of so many points."""
    return Scratch(
        np.empty(count, np.float64),
        np.empty(count, np.int64),
        np.empty(count, np.int64),
        np.empty(count, np.int64),
        np.empty(count, np.int64),
        np.empty(count, np.int32),
    )
