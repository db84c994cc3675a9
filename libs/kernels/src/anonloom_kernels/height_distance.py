"""Distance by height, for kernels: the measure of the clustering papers, in the shape of `Losses`.

Numbers and dates are as far apart as their difference over the range. Categories are as far apart
as their lowest common node is high: its level over the height of the tree. A missing value is as
far as can be from every other one. Unlike the loss, the measure does not ask how a column will be
published nor how many values lie under a node.
"""

import numpy as np

from anonloom import Table
from anonloom.data import Axis
from anonloom_kernels.losses import (
    DENSE,
    DENSE_CODES,
    LINE,
    TREE,
    AxisPart,
    Losses,
    ancestors_of,
    losses_by_axis,
)

__all__ = [
    "heights_of",
]


def heights_of(table: Table) -> Losses:
    """Gather the distances of a table's axes: `extent_loss` of a pair of codes is their distance.

    No axis has the kind SET.
    """
    return losses_by_axis(table, _of_axis)


def _of_axis(axis: Axis) -> AxisPart:
    """Kind, values and ancestors of one axis."""
    none = np.empty((0, 0), np.int32)
    if axis.type != "category":
        return LINE, (axis.places - axis.places[:1]) / (axis.range or np.inf), none
    tree = axis.hierarchy
    assert tree is not None
    height = max(tree.depth - 1, 1)
    if axis.size <= DENSE_CODES:
        apart = np.ones((axis.size, axis.size))
        leaves = np.arange(axis.value_count)
        lo, hi = np.minimum.outer(leaves, leaves), np.maximum.outer(leaves, leaves)
        apart[: axis.value_count, : axis.value_count] = tree.level(lo, hi) / height
        np.fill_diagonal(apart, 0.0)
        return DENSE, apart.ravel(), none
    of_nodes = np.zeros(len(tree.labels))
    # From the root downwards: a node that fills several levels is as high as the lowest of them.
    for level in range(tree.depth - 1, -1, -1):
        of_nodes[tree.ancestors[level]] = level / height
    return TREE, of_nodes, ancestors_of(axis)
