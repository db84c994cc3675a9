"""Kernels: how impure both parts of a split are, from counts that each point changes a little."""

from typing import NamedTuple

import numpy as np

from anonloom.typing import CodeArray, FloatArray, IntArray
from anonloom_tada.targets import Targets


class Counts(NamedTuple):
    """What is known of one node, and of the inside of a split of it.

    Attributes
    ----------
    whole, part
        Rows of every value of every category: of the node, and inside.
    rows
        (2 x categories): rows whose value is known, of the node and inside.
    summed
        (3 x categories): sum of the terms of the impurity over all values, of the node, inside and
        outside.
    known, total, square
        (2 x numbers): sums of the node and inside.
    """

    whole: IntArray
    part: IntArray
    rows: IntArray
    summed: FloatArray
    known: IntArray
    total: FloatArray
    square: FloatArray


def counts_for(targets: Targets) -> Counts:
    """Return counts of nothing."""
    categories, numbers = len(targets.worth), len(targets.number_worth)
    return Counts(
        np.zeros(targets.start[-1], np.int64),
        np.zeros(targets.start[-1], np.int64),
        np.zeros((2, categories), np.int64),
        np.zeros((3, categories)),
        np.zeros((2, numbers), np.int64),
        np.zeros((2, numbers)),
        np.zeros((2, numbers)),
    )


def terms(rows: int) -> FloatArray:
    """Return n log n for every number of rows, of which an entropy is made."""
    counts = np.arange(rows + 1, dtype=float)
    result: FloatArray = counts * np.log(np.maximum(counts, 1))
    return result


def take_whole(
    points: CodeArray, weight: IntArray, targets: Targets, term: FloatArray, counts: Counts
) -> None:
    """Count the points of a node."""
    for target in range(len(targets.value)):
        value, start = targets.value[target], targets.start[target]
        entropy, whole = targets.entropy[target], counts.whole[start:]
        rows, summed = 0, 0.0
        for point in points:
            own = value[point]
            if own >= 0:
                summed += step(whole[own], weight[point], entropy, term)
                whole[own] += weight[point]
                rows += weight[point]
        counts.rows[0, target], counts.rows[1, target] = rows, 0
        counts.summed[0, target] = counts.summed[2, target] = summed
        counts.summed[1, target] = 0.0
    for target in range(len(targets.known)):
        known, total, square = 0, 0.0, 0.0
        for point in points:
            known += targets.known[target, point]
            total += targets.total[target, point]
            square += targets.square[target, point]
        counts.known[0, target], counts.known[1, target] = known, 0
        counts.total[0, target], counts.total[1, target] = total, 0.0
        counts.square[0, target], counts.square[1, target] = square, 0.0


def forget(points: CodeArray, targets: Targets, counted: IntArray) -> None:
    """Clear the counts of the values of points."""
    for target in range(len(targets.value)):
        value, start = targets.value[target], targets.start[target]
        for point in points:
            if value[point] >= 0:
                counted[start + value[point]] = 0


def take_in(
    points: CodeArray, weight: IntArray, targets: Targets, term: FloatArray, counts: Counts
) -> None:
    """Move points from outside of the split to its inside."""
    for target in range(len(targets.value)):
        value, start = targets.value[target], targets.start[target]
        entropy, whole, part = targets.entropy[target], counts.whole[start:], counts.part[start:]
        rows = counts.rows[1, target]
        inside, outside = counts.summed[1, target], counts.summed[2, target]
        for point in points:
            own = value[point]
            if own >= 0:
                more, before = weight[point], part[own]
                inside += step(before, more, entropy, term)
                outside -= step(whole[own] - before - more, more, entropy, term)
                part[own] = before + more
                rows += more
        counts.rows[1, target] = rows
        counts.summed[1, target], counts.summed[2, target] = inside, outside
    for target in range(len(targets.known)):
        known = counts.known[1, target]
        total, square = counts.total[1, target], counts.square[1, target]
        for point in points:
            known += targets.known[target, point]
            total += targets.total[target, point]
            square += targets.square[target, point]
        counts.known[1, target] = known
        counts.total[1, target], counts.square[1, target] = total, square


def empty(points: CodeArray, targets: Targets, counts: Counts) -> None:
    """Move all points that are inside back."""
    forget(points, targets, counts.part)
    for target in range(len(targets.value)):
        counts.rows[1, target] = 0
        counts.summed[1, target] = 0.0
        counts.summed[2, target] = counts.summed[0, target]
    for target in range(len(targets.known)):
        counts.known[1, target] = 0
        counts.total[1, target] = counts.square[1, target] = 0.0


def step(rows: int, more: int, entropy: bool, term: FloatArray) -> float:
    """What the term of a value grows by when it occurs more often."""
    if entropy:
        return float(term[rows + more] - term[rows])
    return float(more * (2.0 * rows + more))


def impurity_of(rows: int, summed: float, entropy: bool, term: FloatArray) -> float:
    """Impurity of so many rows, given the sum of the terms of their values."""
    if rows == 0:
        return 0.0
    return term[rows] - summed if entropy else rows - summed / rows


def deviation(known: int, total: float, square: float) -> float:
    """Sum of the squared deviations from the mean."""
    return max(square - total * total / known, 0.0) if known > 0 else 0.0


def whole_impurity(targets: Targets, term: FloatArray, counts: Counts) -> float:
    """Impurity of a node, over all targets."""
    result = 0.0
    for target in range(len(targets.worth)):
        rows, summed = counts.rows[0, target], counts.summed[0, target]
        own = impurity_of(rows, summed, targets.entropy[target], term)
        result += targets.worth[target] * own
    for target in range(len(targets.number_worth)):
        own = deviation(counts.known[0, target], counts.total[0, target], counts.square[0, target])
        result += targets.number_worth[target] * own
    return result


def parts_impurity(targets: Targets, term: FloatArray, counts: Counts) -> float:
    """Impurity of inside and outside together, over all targets."""
    result = 0.0
    for target in range(len(targets.worth)):
        entropy, inside = targets.entropy[target], counts.rows[1, target]
        own = impurity_of(inside, counts.summed[1, target], entropy, term)
        outside = counts.rows[0, target] - inside
        own += impurity_of(outside, counts.summed[2, target], entropy, term)
        result += targets.worth[target] * own
    known, total, square = counts.known, counts.total, counts.square
    for target in range(len(targets.number_worth)):
        own = deviation(known[1, target], total[1, target], square[1, target])
        own += deviation(
            known[0, target] - known[1, target],
            total[0, target] - total[1, target],
            square[0, target] - square[1, target],
        )
        result += targets.number_worth[target] * own
    return result
