"""Clusters with their centroids: kept up to date row by row, as one-pass k-means needs them.

The centroid of a number is the mean of its values, that of a category the value that most of its
rows have; of several such values the one that was first to reach that count. A number that more
than half of the rows lack is missing in the centroid.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anonloom.typing import FloatArray, IntArray
from anonloom_kernels.compiled import kernel
from anonloom_kernels.losses import LINE, Losses
from anonloom_kernels.merge_cost import Prices, price_axis, prices_of

#: Place of a missing number. Places lie between 0 and 1 and no two numbers are further apart than
#: their axis's share, so that everything but another missing one is as far as can be.
_NOWHERE = 4.0


class Clusters(NamedTuple):
    """The clusters of one cell.

    Attributes
    ----------
    size
        Rows of every cluster.
    newest
        Row that came last into every cluster, or -1.
    before
        For every row that which came into its cluster before it, or -1.
    total, mean
        (clusters x axes): sum of the places of a number, and place of its centroid.
    mode
        (clusters x axes): value of the centroid of a category, or -1.
    tally
        (clusters x axes): rows that have the mode; of a number, rows that lack it.
    numbers, categories
        Axes of either kind.
    places
        (rows x axes): place of every number.
    prices
        The values of the cell; a price is the distance from the row that was last looked from.
    """

    size: IntArray
    newest: IntArray
    before: IntArray
    total: FloatArray
    mean: FloatArray
    mode: IntArray
    tally: IntArray
    numbers: IntArray
    categories: IntArray
    places: FloatArray
    prices: Prices


@kernel
def empty_clusters(losses: Losses, codes: NDArray[np.int32], count: int) -> Clusters:
    """Make clusters without rows for the rows of a cell, given their codes (rows x axes)."""
    rows, axes = codes.shape
    numbers = np.flatnonzero(losses.kind == LINE)
    places = np.zeros((rows, axes))
    for axis in numbers:
        for row in range(rows):
            code = codes[row, axis]
            known = code != losses.missing[axis]
            places[row, axis] = losses.values[losses.start[axis] + code] if known else _NOWHERE
    prices = prices_of(codes)
    prices.lo[:] = -1
    return Clusters(
        np.zeros(count, np.int64),
        np.full(count, -1, np.int64),
        np.full(rows, -1, np.int64),
        np.zeros((count, axes)),
        np.zeros((count, axes)),
        np.full((count, axes), -1, np.int64),
        np.zeros((count, axes), np.int64),
        numbers,
        np.flatnonzero(losses.kind != LINE),
        places,
        prices,
    )


@kernel
def clear(clusters: Clusters, cluster: int) -> None:
    """Take all rows out of one cluster."""
    clusters.size[cluster] = 0
    clusters.newest[cluster] = -1
    clusters.total[cluster] = 0.0
    clusters.mode[cluster] = -1
    clusters.tally[cluster] = 0


@kernel
def add(clusters: Clusters, row: int, cluster: int) -> None:
    """Put a row into a cluster and move the centroid."""
    clusters.before[row] = clusters.newest[cluster]
    clusters.newest[cluster] = row
    clusters.size[cluster] += 1
    size = clusters.size[cluster]
    for axis in clusters.numbers:
        if clusters.places[row, axis] == _NOWHERE:
            clusters.tally[cluster, axis] += 1
        else:
            clusters.total[cluster, axis] += clusters.places[row, axis]
        lacking = clusters.tally[cluster, axis]
        mean = clusters.total[cluster, axis] / max(size - lacking, 1)
        clusters.mean[cluster, axis] = _NOWHERE if 2 * lacking > size else mean
    for axis in clusters.categories:
        _count(clusters, row, cluster, axis)


@kernel
def _count(clusters: Clusters, row: int, cluster: int, axis: int) -> None:
    """Count the row's value; it is the mode if it is now more frequent than any other."""
    value = clusters.prices.value[row, axis]
    if value == clusters.mode[cluster, axis]:
        clusters.tally[cluster, axis] += 1
        return
    count = 0
    while row >= 0:
        count += clusters.prices.value[row, axis] == value
        row = clusters.before[row]
    if count > clusters.tally[cluster, axis]:
        clusters.mode[cluster, axis] = value
        clusters.tally[cluster, axis] = count


@kernel
def look_from(clusters: Clusters, losses: Losses, row: int) -> None:
    """Let the prices of all categories be the distances from this row."""
    prices = clusters.prices
    for axis in clusters.categories:
        code = prices.code[prices.value[row, axis]]
        # Rows are sorted: most values are those of the row before.
        if code != prices.lo[axis]:
            prices.lo[axis] = prices.hi[axis] = code
            price_axis(prices, losses, axis)


@kernel
def distance(clusters: Clusters, losses: Losses, row: int, cluster: int) -> float:
    """Distance to a centroid from the row that was last looked from: numbers, then categories."""
    total = 0.0
    for axis in clusters.numbers:
        apart = abs(clusters.places[row, axis] - clusters.mean[cluster, axis])
        total += min(apart, losses.share[axis])
    for axis in clusters.categories:
        total += clusters.prices.price[clusters.mode[cluster, axis]]
    return total


@kernel
def closest(clusters: Clusters, losses: Losses, row: int, below: int) -> int:
    """Cluster of fewer than `below` rows with the closest centroid; the first of several."""
    look_from(clusters, losses, row)
    least, result = np.inf, -1
    for cluster in range(len(clusters.size)):
        if clusters.size[cluster] < below:
            own = distance(clusters, losses, row, cluster)
            if own < least:
                least, result = own, cluster
    return result
