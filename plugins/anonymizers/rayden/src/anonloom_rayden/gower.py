"""Distance of two rows over mixed columns, for kernels: plain arrays and two functions.

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
from anonloom_kernels.compiled import kernel

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


@kernel
def along(space: Space, axis: int, one: int, other: int) -> float:
    """Distance of two codes on one axis, between 0 and 1."""
    if one == other:
        return 0.0
    if one == space.missing[axis] or other == space.missing[axis]:
        return 0.0
    kind, start = space.kind[axis], space.start[axis]
    if kind == EQUAL:
        return 1.0
    if kind == LINE:
        return abs(float(space.values[start + one] - space.values[start + other]))
    if kind == PAIRS:
        return float(space.values[start + one * space.size[axis] + other])
    level = space.above[axis]
    while space.ancestors[level + one] != space.ancestors[level + other]:
        level += space.size[axis]
    return float(space.values[start + space.ancestors[level + one]])


@kernel
def between(space: Space, codes: NDArray[np.int32], one: int, other: int) -> float:
    """Distance of two columns of `codes` (axes x points)."""
    total = 0.0
    for axis in range(len(codes)):
        apart = along(space, axis, codes[axis, one], codes[axis, other])
        total += space.share[axis] * (apart * apart if space.euclidean else apart)
    return np.sqrt(total) if space.euclidean else total


@kernel
def from_one(
    space: Space,
    codes: NDArray[np.int32],
    one: int,
    begin: int,
    count: int,
    step: int,
    out: NDArray[np.float64],
) -> None:
    """Distances of one column of `codes` from `count` columns, every `step`-th from `begin` on.

    They are those of `between`, an axis at a time.
    """
    out[:count] = 0.0
    for axis in range(len(codes)):
        code, share, missing = codes[axis, one], space.share[axis], space.missing[axis]
        if code == missing:
            continue
        if space.kind[axis] == EQUAL and not space.euclidean:
            for index in range(count):
                other = codes[axis, begin + index * step]
                out[index] += share if other != code and other != missing else 0.0
        else:
            for index in range(count):
                apart = along(space, axis, code, codes[axis, begin + index * step])
                out[index] += share * (apart * apart if space.euclidean else apart)
    if space.euclidean:
        for index in range(count):
            out[index] = np.sqrt(out[index])
