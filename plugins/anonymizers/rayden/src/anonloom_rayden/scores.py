"""Connectivity-based outlier factors inside classes, for kernels.

Equal rows have equal scores, so that they are one weighted point here: a row's neighbours are
first the rows that equal it, at distance 0, and then whole points in the order of their distance,
ties in the order of their codes.
"""

import numpy as np
from numpy.typing import NDArray

from anonloom.typing import FloatArray, IntArray
from anonloom_kernels.compiled import kernel
from anonloom_rayden.gower import Space, between

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
    codes: NDArray[np.int32],
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
    largest = 0
    for index in range(len(bounds) - 1):
        largest = max(largest, bounds[index + 1] - bounds[index])
    points = np.empty((len(codes), largest), np.int32)
    weight = np.empty(largest, np.int64)
    for index in range(len(bounds) - 1):
        begin, size = bounds[index], bounds[index + 1] - bounds[index]
        order = begin + np.argsort(keys[begin : begin + size], kind="mergesort")
        count = collapse_rows(codes, keys, order, points, weight)
        if count == 1:
            # All rows are equal: every chain has length 0, and 0/0 counts as 1.
            scores[begin : begin + size] = 1.0
            continue
        of_points = point_scores(space, points, weight[:count], min(neighbours, size - 1), chain)
        place = 0
        for point in range(count):
            for _ in range(weight[point]):
                scores[order[place]] = of_points[point]
                place += 1


@kernel
def collapse_rows(
    codes: NDArray[np.int32],
    keys: IntArray,
    order: IntArray,
    points: NDArray[np.int32],
    weight: IntArray,
) -> int:
    """Write the distinct rows among ordered ones, and how often each occurs; return their count."""
    count = 0
    for place in range(len(order)):
        row = order[place]
        if place and keys[row] == keys[order[place - 1]]:
            weight[count - 1] += 1
            continue
        for axis in range(len(codes)):
            points[axis, count] = codes[axis, row]
        weight[count] = 1
        count += 1
    return count


@kernel
def point_scores(
    space: Space, points: NDArray[np.int32], weight: IntArray, neighbours: int, chain: int
) -> FloatArray:
    """Score the points of one class."""
    count = len(weight)
    apart = np.zeros((count, count))
    for indice in range(count):
        for other in range(indice):
            exact = between(space, points, indice, other)
            apart[indice, other] = apart[other, indice] = np.floor(exact * _STEPS + 0.5) / _STEPS
    most = min(neighbours, count)
    nearest = np.empty((count, most), np.int64)
    result = np.empty(count, np.int64)
    length = np.empty(count)
    for indice in range(count):
        result[indice] = nearest_points(apart[indice], indice, most, nearest[indice])
        length[indice] = chain_length(apart, nearest[indice], weight, indice, neighbours, chain)
    scores = np.empty(count)
    for indice in range(count):
        # The neighbourhood: equal rows first, then whole points until it is full.
        around, left = 0.0, neighbours
        equals = min(weight[indice] - 1, left)
        around += equals * length[indice]
        left -= equals
        for index in range(result[indice]):
            if left == 0:
                break
            taken = min(weight[nearest[indice, index]], left)
            around += taken * length[nearest[indice, index]]
            left -= taken
        scores[indice] = ratio(neighbours * length[indice], around)
    return scores


@kernel
def ratio(own: float, around: float) -> float:
    """A chain's length over those of its neighbourhood; 0/0 is 1."""
    if around > 0.0:
        return own / around
    return np.inf if own > 0.0 else 1.0


@kernel
def nearest_points(apart: FloatArray, one: int, most: int, nearest: IntArray) -> int:
    """Write the `most` points nearest to `one`, the nearest first; return how many there are."""
    result = 0
    for other in range(len(apart)):
        if other == one:
            continue
        if result == most and apart[other] >= apart[nearest[most - 1]]:
            continue
        index = min(result, most - 1)
        while index > 0 and apart[nearest[index - 1]] > apart[other]:
            nearest[index] = nearest[index - 1]
            index -= 1
        nearest[index] = other
        result = min(result + 1, most)
    return result


@kernel
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


@kernel
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
