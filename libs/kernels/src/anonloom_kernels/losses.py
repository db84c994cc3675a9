"""The loss of an extent, for kernels: what `Axis.loss` says, as plain arrays and one function.

`Losses` is a named tuple of arrays, which compiled code can take apart. Every axis is weighted by
its share of all weights, so that the sum over the axes is what one row of a class loses.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anonloom import Table
from anonloom.data import Axis

__all__ = [
    "AxisPart",
    "DENSE",
    "DENSE_CODES",
    "LINE",
    "Losses",
    "SET",
    "TREE",
    "ancestors_of",
    "extent_loss",
    "loss_between",
    "losses_by_axis",
    "losses_of",
    "set_loss",
]

#: The loss is a difference of places.
LINE = 0
#: The loss of every pair of codes stands in a table.
DENSE = 1
#: The loss is that of the lowest common node, found level by level.
TREE = 2
#: The loss depends on how many values a class has; see `set_loss`.
SET = 3

#: Axes with more codes than this have no table of pairs.
DENSE_CODES = 256


class Losses(NamedTuple):
    """The losses of all axes of a table.

    Attributes
    ----------
    kind
        LINE, DENSE, TREE or SET, per axis.
    share
        Weight of each axis in the sum: what is lost on it at most.
    size
        Number of codes of each axis.
    missing
        Code of the missing value, or -1, per axis.
    start
        Where the axis's part of `values` begins.
    values
        LINE: place of every code. DENSE: loss of every pair of codes. TREE: loss of every node.
        SET: loss of every number of members, from 0.
    above
        Where the axis's part of `ancestors` begins (TREE).
    levels
        Levels of the axis's hierarchy (TREE).
    ancestors
        Node above every code on every level (TREE).
    layout
        (axes x 6): kind, size, missing, start, above, and where in `values` the share stands: all
        that `loss_between` needs to know of an axis, in one array.
    """

    kind: NDArray[np.int64]
    share: NDArray[np.float64]
    size: NDArray[np.int64]
    missing: NDArray[np.int64]
    start: NDArray[np.int64]
    values: NDArray[np.float64]
    above: NDArray[np.int64]
    levels: NDArray[np.int64]
    ancestors: NDArray[np.int32]
    layout: NDArray[np.int64]


#: Kind, values and ancestors of one axis, before they are weighted.
AxisPart = tuple[int, NDArray[np.float64], NDArray[np.int32]]


def losses_of(table: Table) -> Losses:
    """Gather the losses of a table's axes."""
    return losses_by_axis(table, _of_axis)


def losses_by_axis(table: Table, of_axis: Callable[[Axis], AxisPart]) -> Losses:
    """Gather what is said of every axis, weighted by the axis's share."""
    weights = np.array([axis.weight for axis in table.axes], float)
    share = weights / weights.sum() if len(weights) else weights
    parts = [of_axis(axis) for axis in table.axes]
    kind = np.array([part[0] for part in parts], np.int64)
    values = [part[1] * weight for part, weight in zip(parts, share, strict=True)]
    ancestors = [part[2] for part in parts]
    size = np.array([axis.size for axis in table.axes], np.int64)
    missing = np.array([axis.missing for axis in table.axes], np.int64)
    start, above = _starts(values), _starts(ancestors)
    flat = np.concatenate([*values, share])
    whole = len(flat) - len(share) + np.arange(len(share))
    return Losses(
        kind,
        share,
        size,
        missing,
        start,
        flat,
        above,
        np.array([nodes.shape[0] for nodes in ancestors], np.int64),
        np.concatenate([*(nodes.ravel() for nodes in ancestors), np.empty(0, np.int32)]),
        np.stack([kind, size, missing, start, above, whole], axis=1),
    )


def _starts(parts: list[NDArray[np.float64]] | list[NDArray[np.int32]]) -> NDArray[np.int64]:
    sizes = [part.size for part in parts]
    return np.cumsum([0, *sizes], dtype=np.int64)[:-1]


def _of_axis(axis: Axis) -> AxisPart:
    """Kind, values and ancestors of one axis, as `Axis.loss` has it."""
    none = np.empty((0, 0), np.int32)
    if axis.form == "set":
        return SET, axis.set_loss(np.arange(axis.size + 1)), none
    if axis.form == "interval":
        scale = axis.range or np.inf
        return LINE, (axis.places - axis.places[:1]) / scale, none
    codes = np.arange(axis.size)
    if axis.size <= DENSE_CODES:
        lo, hi = np.minimum.outer(codes, codes), np.maximum.outer(codes, codes)
        return DENSE, axis.loss(lo, hi).ravel(), none
    assert axis.hierarchy is not None
    tree, leaves = axis.hierarchy, np.arange(axis.value_count)
    of_nodes = np.zeros(len(tree.labels))
    for level in range(tree.depth):
        of_nodes[tree.ancestors[level]] = axis.node_loss(
            leaves, leaves, np.full(len(leaves), level)
        )
    return TREE, of_nodes, ancestors_of(axis)


def ancestors_of(axis: Axis) -> NDArray[np.int32]:
    """Node above every code on every level of an axis that has a hierarchy."""
    assert axis.hierarchy is not None
    above = axis.hierarchy.ancestors
    if axis.missing >= 0:
        # The missing value has no node; extents that hold it are told apart before.
        above = np.concatenate([above, np.zeros((len(above), 1), np.int32)], axis=1)
    return np.ascontiguousarray(above)


def loss_between(
    layout: NDArray[np.int64],
    values: NDArray[np.float64],
    ancestors: NDArray[np.int32],
    axis: int,
    lo: int,
    hi: int,
) -> float:
    """Weighted loss of one axis for a class from `lo` to `hi`, for the innermost loops.

    The arrays are those of `Losses`, taken out by whoever loops. On an axis of kind SET it is the
    most that the class can lose.
    """
    kind, start = layout[axis, 0], layout[axis, 3]
    if kind == DENSE:
        return values[start + lo * layout[axis, 1] + hi]
    if lo == hi:
        return 0.0
    if hi == layout[axis, 2]:
        return values[layout[axis, 5]]
    if kind == LINE:
        return values[start + hi] - values[start + lo]
    if kind == SET:
        return values[start + hi - lo + 1]
    level = layout[axis, 4]
    while ancestors[level + lo] != ancestors[level + hi]:
        level += layout[axis, 1]
    return values[start + ancestors[level + lo]]


def extent_loss(losses: Losses, axis: int, lo: int, hi: int) -> float:
    """Weighted loss of one axis for a class from `lo` to `hi`; see `loss_between`."""
    return loss_between(losses.layout, losses.values, losses.ancestors, axis, lo, hi)


def set_loss(losses: Losses, axis: int, members: int, with_missing: bool) -> float:
    """Weighted loss of one axis of kind SET for a class with so many different codes."""
    if members > 1 and with_missing:
        return losses.share[axis]
    return losses.values[losses.start[axis] + members]
