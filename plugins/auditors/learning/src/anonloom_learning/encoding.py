"""Published cells as features, by nothing but what a reader of the release knows.

A number, date or time is the middle of what its cell covers, and its width; a category is a share
for each of its values, equal shares of all that the cell covers. A single value is a width of 0
and one share of 1: what classifiers see of an original row. How frequent the covered values are in
the original is never used: a recipient of the release does not know it.
"""

from collections.abc import Sequence

import attrs
import numpy as np
from scipy import sparse

from anonloom import short_repr
from anonloom.typing import BoolArray, Float32Array, FloatArray, IntArray
from anonloom_linkage.aligned_columns import AlignedColumn
from anonloom_linkage.marginals import leaf_parts

Features = Float32Array

#: A category with more values is encoded by the groups of its hierarchy.
MOST_LEAVES = 100

#: No place is farther from the middle than this many ranges of its column: noise may throw a value
#: anywhere, and features are small numbers.
FARTHEST = 1e6


@short_repr
@attrs.frozen(eq=False)
class EncodedTables:
    """Tables as features.

    Attributes
    ----------
    rows
        One array (rows x features) for every table, with the same features.
    shares
        Which features are shares of values; the others are places and widths.
    left_out
        Columns that are no features: categories of many values, and no hierarchy to group them.
    """

    rows: tuple[Features, ...]
    shares: BoolArray
    left_out: tuple[str, ...]


def encode(
    columns: Sequence[AlignedColumn], sizes: Sequence[int], *, widths: bool
) -> EncodedTables:
    """Encode columns of several tables alike.

    Parameters
    ----------
    sizes
        Number of rows of every table.
    widths
        Whether the widths of intervals are features.
    """
    parts: list[list[Features]] = [[np.empty((size, 0), np.float32)] for size in sizes]
    shares: list[bool] = []
    left_out: list[str] = []
    for column in columns:
        numbers = (
            place_features(column, widths) if column.is_ordered else np.empty((len(column), 0))
        )
        values = absence_features(column) if column.is_ordered else share_features(column)
        if not column.is_ordered and not values.shape[1]:
            left_out.append(column.name)
        table = np.hstack([numbers, values]).astype(np.float32)
        of_values = np.arange(table.shape[1]) >= numbers.shape[1]
        occurs = column.counts(*range(len(sizes))) > 0
        # What is the same everywhere teaches nothing: where no cell is an interval, no width is.
        varies = (table[occurs] != table[occurs][:1]).any(axis=0)
        shares += of_values[varies].tolist()
        for part, side in zip(parts, column.sides, strict=True):
            part.append(table[:, varies][side])
    return EncodedTables(tuple(map(np.hstack, parts)), np.array(shares, bool), tuple(left_out))


def place_features(column: AlignedColumn, widths: bool) -> FloatArray:
    """Middle and width of what every cell covers, in ranges of the column, from its middle.

    `*` covers everything between the column's ends. A missing value lies in the middle.
    """
    own = column.axis.places[: column.axis.value_count]
    first, last = (float(own[0]), float(own[-1])) if len(own) else (0.0, 0.0)
    middle, unit = first / 2 + last / 2, (last - first) or 1.0
    lo, hi = np.where(column.open, first, column.lo), np.where(column.open, last, column.hi)
    lo, hi = (np.where(column.missing, middle, end) for end in (lo, hi))
    places = np.clip((lo / 2 + hi / 2 - middle) / unit, -FARTHEST, FARTHEST)
    features = [places, np.minimum((hi - lo) / unit, FARTHEST)]
    return np.stack(features if widths else features[:1], axis=1)


def absence_features(column: AlignedColumn) -> FloatArray:
    """Whether every cell has a value, and whether it has none."""
    return np.stack([~column.missing, column.missing], axis=1).astype(float)


def share_features(column: AlignedColumn) -> FloatArray:
    """Shares of every cell over the values of a category, or over groups of them where it has many.

    The missing value is one of them, and has no share in `*`.
    """
    group = _groups(column, column.covers.shape[1])
    if group is None:
        return np.empty((len(column), 0))
    leaves = np.arange(len(group))
    grouping = sparse.csr_array((np.ones(len(group)), (leaves, group)))
    result: FloatArray = (leaf_parts(column, "spread") @ grouping).toarray()
    return result


def _groups(column: AlignedColumn, leaves: int) -> IntArray | None:
    """Group of every leaf: itself, or a node of the lowest level that is small enough."""
    if leaves <= MOST_LEAVES:
        return np.arange(leaves)
    hierarchy, occurring = column.axis.hierarchy, column.axis.value_count
    others = leaves - occurring
    for level in hierarchy.ancestors[1:-1] if hierarchy is not None else ():
        nodes, group = np.unique(level, return_inverse=True)
        if len(nodes) + others <= MOST_LEAVES:
            return np.concatenate([group, len(nodes) + np.arange(others)])
    return None
