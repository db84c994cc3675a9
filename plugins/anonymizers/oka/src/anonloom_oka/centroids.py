"""Clusters with their centroids: kept up to date row by row, as one-pass k-means needs them.

The centroid of a number is the mean of its values, that of a category the value that most of its
rows have; of several such values the one that was first to reach that count. A number that more
than half of the rows lack is missing in the centroid.
"""

from typing import NamedTuple

import numpy as np

from anonloom.typing import CodeArray, FloatArray, IntArray
from anonloom_kernels.losses import LINE, Losses
from anonloom_kernels.merge_cost import Prices, price_axis, prices_of

#: Place of a missing number. Places lie between 0 and 1 and no two numbers are further apart than
#: their axis's share, so that everything but another missing one is as far as can be.
_NOWHERE = 4.0


class Clusters(NamedTuple):
    """The clusters of some cells; rows and clusters are counted through all of them.

    Attributes
    ----------
    size
        Rows of every cluster.
    newest
        Row that came last into every cluster, or -1.
    before
        For every row that which came into its cluster before it, or -1.
    total, mean
        (axes x clusters): sum of the places of a number, and place of its centroid.
    mode
        (axes x clusters): value of the centroid of a category, or -1.
    tally
        (axes x clusters): rows that have the mode; of a number, rows that lack it.
    apart
        Distance of every cluster from the row that was last looked from.
    numbers, categories
        Axes of either kind.
    places
        (rows x axes): place of every number.
    prices
        The values of the cells; a price is the distance from the row that was last looked from.
    """

    size: IntArray
    newest: IntArray
    before: IntArray
    total: FloatArray
    mean: FloatArray
    mode: IntArray
    tally: IntArray
    apart: FloatArray
    numbers: IntArray
    categories: IntArray
    places: FloatArray
    prices: Prices


def empty_clusters(losses: Losses, codes: CodeArray, cells: IntArray, count: int) -> Clusters:
    """Make clusters without rows.

    Parameters
    ----------
    codes
        (rows x axes): codes of the rows, cell after cell.
    cells
        First row of every cell, and behind the last one.
    count
        Clusters of all cells.
    """
    rows, axes = codes.shape
    numbers = np.flatnonzero(losses.kind == LINE)
    places = np.zeros((rows, axes))
    for axis in numbers:
        known = codes[:, axis] != losses.missing[axis]
        places[:, axis] = _NOWHERE
        places[known, axis] = losses.values[losses.start[axis] + codes[known, axis]]
    return Clusters(
        np.zeros(count, np.int64),
        np.full(count, -1, np.int64),
        np.full(rows, -1, np.int64),
        np.zeros((axes, count)),
        np.zeros((axes, count)),
        np.full((axes, count), -1, np.int64),
        np.zeros((axes, count), np.int64),
        np.zeros(count),
        numbers,
        np.flatnonzero(losses.kind != LINE),
        places,
        prices_of(codes, cells),
    )


def clear(clusters: Clusters, cluster: int) -> None:
    """Take all rows out of one cluster."""
    clusters.size[cluster] = 0
    clusters.newest[cluster] = -1
    clusters.total[:, cluster] = 0.0
    clusters.mode[:, cluster] = -1
    clusters.tally[:, cluster] = 0


def add(clusters: Clusters, row: int, cluster: int) -> None:
    """Put a row into a cluster and move the centroid."""
    clusters.before[row] = clusters.newest[cluster]
    clusters.newest[cluster] = row
    clusters.size[cluster] += 1
    size = clusters.size[cluster]
    for axis in clusters.numbers:
        if clusters.places[row, axis] == _NOWHERE:
            clusters.tally[axis, cluster] += 1
        else:
            clusters.total[axis, cluster] += clusters.places[row, axis]
        lacking = clusters.tally[axis, cluster]
        mean = clusters.total[axis, cluster] / max(size - lacking, 1)
        clusters.mean[axis, cluster] = _NOWHERE if 2 * lacking > size else mean
    for axis in clusters.categories:
        _count(clusters, row, cluster, axis)


def _count(clusters: Clusters, row: int, cluster: int, axis: int) -> None:
    """Count the row's value; it is the mode if it is now more frequent than any other."""
    values, before = clusters.prices.value, clusters.before
    value = values[row, axis]
    if value == clusters.mode[axis, cluster]:
        clusters.tally[axis, cluster] += 1
        return
    count = 0
    while row >= 0:
        count += values[row, axis] == value
        row = before[row]
    if count > clusters.tally[axis, cluster]:
        clusters.mode[axis, cluster] = value
        clusters.tally[axis, cluster] = count


def look_from(clusters: Clusters, losses: Losses, row: int) -> None:
    """Let the prices of all categories be the distances from this row."""
    prices = clusters.prices
    for axis in clusters.categories:
        code = prices.code[prices.value[row, axis]]
        # Rows are sorted: most values are those of the row before.
        if code != prices.lo[axis]:
            prices.lo[axis] = prices.hi[axis] = code
            price_axis(prices, losses, axis)


def measure(clusters: Clusters, losses: Losses, row: int, at: int, end: int) -> None:
    """Write how far clusters `at` to `end` are from a row: numbers, then categories."""
    look_from(clusters, losses, row)
    apart, price = clusters.apart[at:end], clusters.prices.price
    apart[:] = 0.0
    for axis in clusters.numbers:
        difference = np.abs(clusters.places[row, axis] - clusters.mean[axis, at:end])
        apart += np.minimum(difference, losses.share[axis])
    for axis in clusters.categories:
        apart += price[clusters.mode[axis, at:end]]


def closest(clusters: Clusters, losses: Losses, row: int, at: int, end: int, below: int) -> int:
    """Cluster of fewer than `below` rows with the closest centroid; the first of several.

    Of clusters `at` to `end` there must be one that has so few.
    """
    measure(clusters, losses, row, at, end)
    small = at + np.flatnonzero(clusters.size[at:end] < below)
    return int(small[np.argmin(clusters.apart[small])])
