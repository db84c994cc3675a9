"""Distance of two rows over mixed columns, for kernels: plain arrays and a few functions.

Gower's distance is the weighted mean of one distance per axis, each between 0 and 1. A missing
value on either side makes an axis say nothing (the indicator delta of the paper); the mean is over
all axes nevertheless, as the paper writes it.
"""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from anonloom import Schema, Table
from anonloom.data import Axis
from anonloom.errors import UsageError
from anonloom.typing import CodeArray, FloatArray

Categories = Literal["equality", "hierarchy", "codes"]
Distance = Literal["gower", "euclidean"]

#: The distance is a difference of places.
LINE = 0
#: The distance is 0 for equal codes and 1 for all others.
EQUAL = 1
#: The distance of every pair of codes stands in a table.
PAIRS = 2
#: The distance is the loss of the lowest common node, found level by level.
TREE = 3

#: Axes with more codes than this have no table of pairs.
_MOST_PAIRS = 256
#: No distance is below 0 or beyond 1; what is no number would count as this.
_BEYOND = 1.5


class Space(NamedTuple):
    """All that the distance of two rows depends on, besides their codes.

    Attributes
    ----------
    kind
        LINE, EQUAL, PAIRS or TREE, per axis.
    share
        The most that the axis adds to the distance: its share of all weights.
    size, missing
        Number of codes of each axis, and the code of the missing value or -1.
    start
        Where the axis's part of `values` begins.
    values
        LINE: place of every code. PAIRS: distance of every pair of codes. TREE: loss of every node.
    above
        Where the axis's part of `ancestors` begins (TREE).
    ancestors
        Node above every code on every level (TREE).
    euclidean
        Whether differences are squared and the distance is the root of their weighted mean.
    """

    kind: NDArray[np.int64]
    share: NDArray[np.float64]
    size: NDArray[np.int64]
    missing: NDArray[np.int64]
    start: NDArray[np.int64]
    values: NDArray[np.float64]
    above: NDArray[np.int64]
    ancestors: NDArray[np.int32]
    euclidean: bool


def space_of(table: Table, distance: Distance, categories: Categories) -> Space:
    """Gather what the distance depends on.

    Raises
    ------
    UsageError
        When a Euclidean distance is asked for and there are categories that are not numbers.
    """
    problem = distance_problem(table.schema, distance, categories)
    if problem is not None:
        raise UsageError(problem)
    weights = np.array([axis.weight for axis in table.axes], float)
    parts = [_of_axis(axis, categories) for axis in table.axes]
    values = [own for _, own, _ in parts]
    ancestors = [above for _, _, above in parts]
    return Space(
        np.array([kind for kind, _, _ in parts], np.int64),
        weights / weights.sum() if len(weights) else weights,
        np.array([axis.size for axis in table.axes], np.int64),
        np.array([axis.missing for axis in table.axes], np.int64),
        _starts([own.size for own in values]),
        np.concatenate([*(own.ravel() for own in values), np.empty(0)]),
        _starts([above.size for above in ancestors]),
        np.concatenate([*(above.ravel() for above in ancestors), np.empty(0, np.int32)]),
        distance == "euclidean",
    )


def distance_problem(schema: Schema, distance: Distance, categories: Categories) -> str | None:
    """Say why there is no such distance between rows of a table, or None."""
    if distance != "euclidean" or categories == "codes":
        return None
    names = [f"'{name}'" for name in schema.quasi if schema[name].type == "category"]
    if not names:
        return None
    return (
        "a Euclidean distance needs numbers, and these quasi-identifiers are categories: "
        f"{', '.join(names)}; 'distance: gower' takes them, 'categories: codes' uses their ranks "
        "as numbers"
    )


def _starts(sizes: list[int]) -> NDArray[np.int64]:
    return np.cumsum([0, *sizes], dtype=np.int64)[:-1]


def _of_axis(
    axis: Axis, categories: Categories
) -> tuple[int, NDArray[np.float64], NDArray[np.int32]]:
    """Kind, values and ancestors of one axis."""
    none = np.empty((0, 0), np.int32)
    if axis.type != "category" or categories == "codes":
        # Only differences count; an axis with one value has no range and no differences.
        return LINE, (axis.places - axis.places[:1]) / (axis.range or 1.0), none
    if categories == "equality" or not axis.value_count:
        return EQUAL, np.empty(0), none
    assert axis.hierarchy is not None
    leaves = np.arange(axis.value_count)
    if axis.size <= _MOST_PAIRS:
        pairs = np.zeros((axis.size, axis.size))
        lo, hi = np.minimum.outer(leaves, leaves), np.maximum.outer(leaves, leaves)
        pairs[: axis.value_count, : axis.value_count] = axis.node_loss(lo, hi)
        return PAIRS, pairs, none
    tree = axis.hierarchy
    of_nodes = np.zeros(len(tree.labels))
    for level in range(tree.depth):
        of_nodes[tree.ancestors[level]] = axis.node_loss(
            leaves, leaves, np.full(len(leaves), level)
        )
    above = np.zeros((tree.depth, axis.size), np.int32)
    above[:, : axis.value_count] = tree.ancestors
    return TREE, of_nodes, above


def along(space: Space, axis: int, one: int, others: CodeArray) -> FloatArray:
    """Distances of one code from others on one axis, between 0 and 1."""
    apart = np.zeros(len(others))
    size, start, missing = space.size[axis], space.start[axis], space.missing[axis]
    differ = np.flatnonzero((others != one) & (others != missing))
    if one == missing or not len(differ):
        return apart
    kind, others = space.kind[axis], others[differ]
    if kind == EQUAL:
        apart[differ] = 1.0
    elif kind == LINE:
        apart[differ] = np.abs(space.values[start + one] - space.values[start + others])
    elif kind == PAIRS:
        apart[differ] = space.values[start + one * size + others]
    else:
        level = np.full(len(others), space.above[axis])
        below = space.ancestors[level + one] != space.ancestors[level + others]
        while below.any():
            level += below * size
            below = space.ancestors[level + one] != space.ancestors[level + others]
        apart[differ] = space.values[start + space.ancestors[level + one]]
    return apart


def from_one(
    space: Space,
    codes: CodeArray,
    one: int,
    begin: int,
    count: int,
    step: int,
    out: FloatArray,
) -> None:
    """Distances of one column of `codes` from `count` columns, every `step`-th from `begin` on."""
    total = np.zeros(count)
    for axis in range(len(codes)):
        others = codes[axis, begin : begin + count * step : step]
        apart = along(space, axis, codes[axis, one], others)
        total += space.share[axis] * (apart * apart if space.euclidean else apart)
    out[:count] = np.sqrt(total) if space.euclidean else total


def in_steps(distance: FloatArray, steps: float) -> FloatArray:
    """How many steps of one over `steps` each distance has, rounded."""
    within = np.fmax(0.0, np.fmin(_BEYOND, distance))
    return np.floor(within * steps + 0.5)
