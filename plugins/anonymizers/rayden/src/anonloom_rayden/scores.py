"""Connectivity-based outlier factors inside classes, for kernels.

Equal rows have equal scores, so that they are one weighted point here: a row's neighbours are
first the rows that equal it, at distance 0, and then whole points in the order of their distance,
ties in the order of their codes.
"""

import numpy as np

from anonloom.typing import CodeArray, FloatArray, IntArray
from anonloom_kernels.compiled import kernel
from anonloom_rayden.gower import Space, from_one, in_steps

#: Chains of neighbours, each with the lengths of its steps. PAPER: from each neighbour to the next,
#: in the order of their distance from the row, as RAYDEN writes it. SBN: the set-based nearest path
#: of the original COF: the next one is whichever is nearest to all before it. PYOD: the next one is
#: the next nearest to the row, and its step is that to the nearest one before it.
PAPER = 0
SBN = 1
PYOD = 2

#: Distances are rounded to steps of 2**-40, so that sums that differ by rounding alone are ties.
_STEPS = 2.0**40


@kernel
def score_classes(
    space: Space,
    codes: CodeArray,
    keys: IntArray,
    bounds: IntArray,
    neighbours: int,
    chain: int,
    scores: FloatArray,
) -> None:
    """Write the score of every row of some classes.

    Parameters
    ----------
    codes, keys
        Codes of the rows (axes x rows), those of a class side by side, and one number per row that
        orders rows as their codes do.
    bounds
        Offsets of the classes that are to be scored.
    neighbours
        Size of the neighbourhood; a class of s rows has at most s - 1.
    """
    for index in range(len(bounds) - 1):
        begin, end = bounds[index], bounds[index + 1]
        _, first, point, weight = np.unique(
            keys[begin:end], return_index=True, return_inverse=True, return_counts=True
        )
        if len(first) <= 1:
            # All rows are equal: every chain has length 0, and 0/0 counts as 1.
            scores[begin:end] = 1.0
            continue
        points, most = codes[:, begin + first], min(neighbours, int(end - begin) - 1)
        scores[begin:end] = point_scores(space, points, weight, most, chain)[point]


def point_scores(
    space: Space, points: CodeArray, weight: IntArray, neighbours: int, chain: int
) -> FloatArray:
    """Score the points of one class."""
    count = len(weight)
    apart = distances(space, points)
    nearest = [nearest_points(apart[point], point, neighbours) for point in range(count)]
    length = [
        chain_length(apart, nearest[point], weight, point, neighbours, chain)
        for point in range(count)
    ]
    scores = np.empty(count)
    for point in range(count):
        # The neighbourhood: equal rows first, then whole points until it is full.
        around, left = 0.0, neighbours
        equals = min(weight[point] - 1, left)
        around += equals * length[point]
        left -= equals
        for other in nearest[point]:
            if left == 0:
                break
            taken = min(weight[other], left)
            around += taken * length[other]
            left -= taken
        scores[point] = ratio(neighbours * length[point], around)
    return scores


def distances(space: Space, points: CodeArray) -> FloatArray:
    """Distance of every two points."""
    count = points.shape[1]
    apart = np.zeros((count, count))
    for point in range(count):
        from_one(space, points, point, 0, point, 1, apart[point])
        apart[point, :point] = in_steps(apart[point, :point], _STEPS) / _STEPS
        apart[:point, point] = apart[point, :point]
    return apart


def ratio(own: float, around: float) -> float:
    """A chain's length over those of its neighbourhood; 0/0 is 1."""
    if around > 0.0:
        return own / around
    return np.inf if own > 0.0 else 1.0


def nearest_points(apart: FloatArray, one: int, most: int) -> IntArray:
    """The `most` points nearest to `one`, the nearest first; of equally near ones the first."""
    order = np.argsort(apart, kind="stable")
    nearest: IntArray = order[order != one][:most]
    return nearest


def chain_length(
    apart: FloatArray, nearest: IntArray, weight: IntArray, one: int, neighbours: int, chain: int
) -> float:
    """Average chaining distance of a point: a weighted mean of the steps of its chain."""
    if chain == SBN:
        return set_based_length(apart, nearest, weight, one, neighbours)
    step = weight[one] - 1
    before, total, index = one, 0.0, 0
    while step < neighbours:
        point = nearest[index]
        if chain == PAPER:
            total += (step + 1) * apart[before, point]
        else:
            shortest = apart[one, point]
            for earlier in range(index):
                shortest = min(shortest, apart[nearest[earlier], point])
            total += (neighbours - step) * shortest
        # The other rows of the point follow at distance 0.
        step += weight[point]
        before = point
        index += 1
    return 2.0 * total / (neighbours * (neighbours + 1))


def set_based_length(
    apart: FloatArray, nearest: IntArray, weight: IntArray, one: int, neighbours: int
) -> float:
    """Average chaining distance along the set-based nearest path (Tang et al., definitions 2 to 5).

    The path begins with the point itself. Whichever neighbour is nearest to any of those on it
    comes next, and its step is that distance; among equally near ones the one nearest to the point
    itself. Step i of r - 1 weighs 2 (r - i) / (r (r - 1)), for r rows of which r - 1 are
    neighbours.
    """
    first = min(weight[one] - 1, neighbours)
    count, rows = 0, first
    while rows < neighbours:
        rows += weight[nearest[count]]
        count += 1
    # Of the last point only so many rows are neighbours as there is room for.
    spare = rows - neighbours
    # Distance of every neighbour from the path so far; negative for those on it.
    gap = np.empty(count)
    for index in range(count):
        gap[index] = apart[one, nearest[index]]
    step, total = first, 0.0
    for _ in range(count):
        closest = -1
        for index in range(count):
            if gap[index] >= 0.0 and (closest < 0 or gap[index] < gap[closest]):
                closest = index
        total += (neighbours - step) * gap[closest]
        # The other rows of the point follow at distance 0.
        step += weight[nearest[closest]] - (spare if closest == count - 1 else 0)
        gap[closest] = -1.0
        for index in range(count):
            gap[index] = min(gap[index], apart[nearest[closest], nearest[index]])
    return 2.0 * total / (neighbours * (neighbours + 1))
