"""Earth mover's distances between a class and the whole table, without a loop over classes.

All three are those of Li et al. (ICDE 2007). Each is computed from the values that occur in a
class alone; what the absent values contribute follows from the distribution of the whole table.
"""

from typing import Literal

import numpy as np

from anonloom.data import Axis
from anonloom.hierarchies import Hierarchy
from anonloom.typing import FloatArray
from anonloom_disclosure.counting import Tally

Distance = Literal["equal", "ordered", "hierarchical"]


def distance_for(axis: Axis) -> Distance:
    """The distance that a column's type suggests."""
    if axis.type != "category":
        return "ordered"
    deep = axis.hierarchy is not None and axis.hierarchy.depth > 2
    return "hierarchical" if deep else "equal"


def closeness(tally: Tally, axis: Axis) -> FloatArray:
    """Distance of every class from the whole table; 0 for a class without any value."""
    distance = distance_for(axis)
    if distance == "ordered":
        return ordered_distance(tally)
    if distance == "hierarchical":
        assert axis.hierarchy is not None
        return hierarchical_distance(tally, axis.hierarchy)
    return equal_distance(tally)


def equal_distance(tally: Tally) -> FloatArray:
    """All values equally far apart: the mass that has to move, (1/2) sum |q - p|."""
    # Half of the absolute differences is the sum of the positive ones, and only values that occur
    # in the class can have a positive one.
    surplus = np.maximum(tally.share - tally.overall[tally.value], 0.0)
    return tally.sum_by_class(surplus)


def ordered_distance(tally: Tally) -> FloatArray:
    """Neighbouring values 1 / (m - 1) apart: (1 / (m - 1)) sum_i |Q_i - P_i|, cumulated shares."""
    m = len(tally.whole)
    if m < 2 or not len(tally.of):
        return np.zeros(tally.classes)
    P = np.cumsum(tally.overall)
    # below[i] = P_0 + ... + P_(i-1), so that sums over stretches are differences.
    below = np.r_[0.0, np.cumsum(P)]
    first = np.r_[True, tally.of[1:] != tally.of[:-1]]
    last = np.r_[first[1:], True]
    running = np.cumsum(tally.share)
    before = np.r_[0.0, running[:-1]][first]
    sizes = np.diff(np.r_[np.flatnonzero(first), len(first)])
    Q = running - np.repeat(before, sizes)
    # Between two values that occur, Q stays the same and P rises: |Q - P| changes sign once.
    start = tally.value
    stop = np.where(last, m, np.r_[tally.value[1:], m])
    cross = np.clip(np.searchsorted(P, Q, side="right"), start, stop)
    rising = Q * (cross - start) - (below[cross] - below[start])
    falling = below[stop] - below[cross] - Q * (stop - cross)
    moved = tally.sum_by_class(rising + falling)
    # Before the first value that occurs, Q is 0.
    moved[tally.of[first]] += below[tally.value[first]]
    return np.maximum(moved, 0.0) / (m - 1)


def hierarchical_distance(tally: Tally, hierarchy: Hierarchy) -> FloatArray:
    """Two values as far apart as the level of their lowest common ancestor, over the height."""
    cost = np.zeros(tally.classes)
    height = hierarchy.depth - 1
    size = len(hierarchy.labels)
    of, node, q = tally.of, hierarchy.ancestors[0][tally.value].astype(np.int64), tally.share
    leaf_share = tally.overall
    p = np.bincount(hierarchy.ancestors[0], leaf_share, minlength=size)
    for level in range(1, hierarchy.depth):
        # extra(N) of every child that occurs; children that do not occur only lack mass.
        extra = q - p[node]
        parent_of = np.zeros(size, np.int64)
        parent_of[hierarchy.ancestors[level - 1]] = hierarchy.ancestors[level]
        pairs, inverse = np.unique(of * size + parent_of[node], return_inverse=True)
        surplus = np.bincount(inverse, np.maximum(extra, 0.0), minlength=len(pairs))
        q = np.bincount(inverse, q, minlength=len(pairs)).astype(np.float64)
        of, node = pairs // size, pairs % size
        p = np.bincount(hierarchy.ancestors[level], leaf_share, minlength=size)
        # What lacks is what is in excess less what the whole node has in excess.
        lacking = surplus - (q - p[node])
        moved = np.minimum(surplus, np.maximum(lacking, 0.0))
        cost += (level / height) * np.bincount(of, moved, minlength=tally.classes)
    return cost
