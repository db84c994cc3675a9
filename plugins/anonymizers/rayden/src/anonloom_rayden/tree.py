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

from anonloom.typing import BoolArray, CodeArray, IntArray
from anonloom_kernels.compiled import kernel
from anonloom_rayden.gower import Space, from_one, in_steps
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


def grow(space: Space, rule: Rule, points: Points, roots: Nodes, until: int, once: bool) -> Nodes:
    """Cut nodes in place while they have at least `until` rows, or just once.

    Returns
    -------
    Nodes
        The leaves, in no particular order; of nodes that are cut once, near and far in turns.
    """
    most = most_leaves(rule, roots, once)
    leaves = Nodes(*(np.empty(most, np.int64) for _ in Nodes._fields))
    result = grow_nodes(space, rule, points, roots, until, once, leaves)
    return Nodes(*(part[:result] for part in leaves))


def most_leaves(rule: Rule, roots: Nodes, once: bool) -> int:
    """More leaves than this no tree over these nodes has."""
    if once:
        return 2 * len(roots.size)
    # Without a least size every point may become a leaf of its own.
    cuts = roots.points if rule.cut == PAPER else roots.size // rule.least
    return int(np.maximum(cuts, 1).sum())


@kernel
def grow_nodes(
    space: Space, rule: Rule, points: Points, roots: Nodes, until: int, once: bool, leaves: Nodes
) -> int:
    """Cut nodes as `grow` does, write down the leaves and return how many there are."""
    spare = 0 if once or rule.cut == PAPER else rule.least
    result = 0
    for root in zip(*roots, strict=True):
        waiting = [tuple(map(int, root))]
        while waiting:
            node = waiting.pop()
            start, count, size, salt = node
            near, rows, begin, torn = count, size, start, -1
            if size >= until:
                far, torn, inside = border(space, rule, points, start, count, size, salt)
                near, rows, begin = divide(points, start, far, torn, inside, spare)
            if rows == size:
                set_node(leaves, result, node)
                result += 1
                continue
            nearer = start, near, rows, salted_hash(salt, 0)
            farther = begin, count - near + (torn >= 0), size - rows, salted_hash(salt, 1)
            if once:
                set_node(leaves, result, nearer)
                set_node(leaves, result + 1, farther)
                result += 2
            else:
                # The smaller branch is grown first: then few nodes wait at a time.
                waiting += (farther, nearer) if 2 * rows < size else (nearer, farther)
    return result


def set_node(nodes: Nodes, at: int, node: tuple[int, ...]) -> None:
    """Write one node."""
    nodes.start[at], nodes.points[at], nodes.size[at], nodes.salt[at] = node


def border(
    space: Space, rule: Rule, points: Points, start: int, count: int, size: int, salt: int
) -> tuple[BoolArray, int, int]:
    """Order the points of a node by distance, and find where the near ones end.

    Returns
    -------
    far, torn, inside
        Which points are far. Of the point `torn`, if it is not negative, the first `inside` rows
        are near all the same.
    """
    distance = np.zeros(count)
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
        )
        from_one(space, points.codes, one, start, count, 1, distance)
    key = (in_steps(distance, _STEPS).astype(np.int64) << 32) | np.arange(count)
    rows = near_rows(rule, size)
    limit, before = select(key, count, points.weight, start, rows)
    if rule.cut == PAPER:
        # All rows at the median distance are near.
        return key > limit | _PLACE, -1, 0
    torn, inside = limit & _PLACE, rows - before
    if inside == points.weight[start + torn]:
        return key > limit, -1, 0
    return key >= limit, torn, inside


def near_rows(rule: Rule, size: int) -> int:
    """How many rows lie near: half of them, or a multiple of the least size close to that."""
    if rule.cut == ALIGNED:
        return (size // rule.least // 2) * rule.least
    return (size + 1) // 2


def select(key: IntArray, count: int, weight: IntArray, begin: int, rows: int) -> tuple[int, int]:
    """Find the key with which the weight of all smaller ones and itself reaches `rows`.

    Keys differ; their lower half is the place of the point that they stand for.

    Returns
    -------
    key, before
        The key, and the weight of all smaller ones.
    """
    ascending = np.sort(key[:count])
    held = weight[begin + (ascending & _PLACE)]
    reached = np.cumsum(held)
    at = np.searchsorted(reached, rows)
    return int(ascending[at]), int(reached[at] - held[at])


def divide(
    points: Points, start: int, far: BoolArray, torn: int, inside: int, least: int
) -> tuple[int, int, int]:
    """Put the near points of a node first, and the far ones behind them; the order stays.

    Returns
    -------
    near, rows, begin
        Number of near points and of their rows, and where the far points begin.
    """
    end = start + len(far)
    codes = points.codes[:, start:end].copy()
    first, weight = points.first[start:end].copy(), points.weight[start:end].copy()
    kept = np.where(far, 0, weight)
    if torn >= 0:
        kept[torn] = inside
    near = kept > 0
    count, rows = int(near.sum()), int(kept.sum())
    # Room for the points that cuts of the near ones will add.
    begin = start + count + (max(rows // least - 1, 0) if least else 0)
    here, there = slice(start, start + count), slice(begin, begin + int(far.sum()))
    points.codes[:, here], points.codes[:, there] = codes[:, near], codes[:, far]
    points.first[here], points.first[there] = first[near], (first + kept)[far]
    points.weight[here], points.weight[there] = kept[near], (weight - kept)[far]
    return count, rows, begin
