"""The two stages of one-pass k-means on cells: Lin and Wei's two algorithm boxes."""

from typing import NamedTuple

import numpy as np

from anonloom.typing import BoolArray, CodeArray, FloatArray, IntArray
from anonloom_kernels.compiled import kernel
from anonloom_kernels.losses import Losses
from anonloom_kernels.merge_cost import of_cell
from anonloom_oka.centroids import Clusters, add, clear, closest, empty_clusters, measure


class Turns(NamedTuple):
    """In which order rows are dealt with, cell after cell, and what becomes of them.

    Attributes
    ----------
    cells
        First row of every cell, and behind the last one.
    drawn
        The rows of every cell as they are drawn; the first ones are the seeds.
    turn
        The rows of every cell in the order in which those that are removed are placed again.
    taken
        Whether a row is a seed, then whether the adjustment removes it.
    member, away
        Rows of one cluster, and how far each is from its centroid.
    """

    cells: IntArray
    drawn: IntArray
    turn: IntArray
    taken: BoolArray
    member: IntArray
    away: FloatArray


def cluster_cells(
    losses: Losses, codes: CodeArray, cells: IntArray, draws: FloatArray, turns: FloatArray, k: int
) -> IntArray:
    """Cluster every cell for itself.

    Parameters
    ----------
    codes
        (rows x axes), in the order in which rows are clustered; there may be more rows than in the
        cells.
    cells
        First row of every cell, and behind the last one.
    draws, turns
        Random numbers for every row: the rows with the lowest `draws` are the seeds; rows that the
        adjustment takes out are placed in the order of `turns`.
    k
        Least number of rows of a cluster.

    Returns
    -------
    labels
        (2 x rows): cluster of every row of these cells, after the adjustment and before it; no two
        cells share a number.
    """
    own, sizes = slice(cells[0], cells[-1]), np.diff(cells)
    rows, counts = int(sizes.sum()), sizes // k
    cell = np.repeat(np.arange(len(sizes)), sizes)
    order = Turns(
        cells - cells[0],
        np.lexsort((draws[own], cell)),
        np.lexsort((turns[own], cell)),
        np.zeros(rows, np.bool_),
        np.zeros(rows, np.int64),
        np.zeros(rows),
    )
    clusters = empty_clusters(losses, codes[own], order.cells, int(counts.sum()))
    labels = np.empty((2, rows), np.int64)
    cluster_each(losses, order, clusters, k, labels)
    # The kernel counts clusters through all cells, which no other batch may do as well.
    labels += np.repeat(cells[:-1] - (np.cumsum(counts) - counts), sizes)
    return labels


@kernel
def cluster_each(
    losses: Losses, order: Turns, clusters: Clusters, k: int, labels: IntArray
) -> None:
    """Cluster every cell; clusters are counted through all of them. See `cluster_cells`."""
    at = 0
    for cell in range(len(order.cells) - 1):
        here, stop = order.cells[cell], order.cells[cell + 1]
        end = at + (stop - here) // k
        if end - at < 2:
            labels[:, here:stop] = at
        else:
            own = clusters._replace(prices=of_cell(clusters.prices, cell))
            _cluster(losses, order, own, here, stop, at, end)
            _write(own, at, end, labels[1])
            _adjust(losses, order, own, here, stop, at, end, k)
            _write(own, at, end, labels[0])
        at = end


def _cluster(
    losses: Losses, order: Turns, clusters: Clusters, here: int, stop: int, at: int, end: int
) -> None:
    """The clustering stage: random seeds, then every row to the closest centroid."""
    clusters.prices.lo[:] = -1
    for cluster in range(at, end):
        row = order.drawn[here + cluster - at]
        add(clusters, row, cluster)
        order.taken[row] = True
    for row in range(here, stop):
        if not order.taken[row]:
            add(clusters, row, closest(clusters, losses, row, at, end, stop - here))


def _adjust(
    losses: Losses,
    order: Turns,
    clusters: Clusters,
    here: int,
    stop: int,
    at: int,
    end: int,
    k: int,
) -> None:
    """The adjustment stage: what large clusters have too many of goes to the small ones first."""
    removed = order.taken
    removed[here:stop] = False
    for cluster in range(at, end):
        if clusters.size[cluster] > k:
            _trim(losses, order, clusters, cluster, k)
    lacking = 0
    for cluster in range(at, end):
        lacking += k - clusters.size[cluster]
    for row in order.turn[here:stop]:
        if removed[row]:
            below = k if lacking > 0 else stop - here
            add(clusters, row, closest(clusters, losses, row, at, end, below))
            lacking -= 1


def _trim(losses: Losses, order: Turns, clusters: Clusters, cluster: int, k: int) -> None:
    """Leave a cluster the k rows that are closest to its centroid, and move that."""
    size = clusters.size[cluster]
    member, away, removed = order.member[:size], order.away[:size], order.taken
    row = clusters.newest[cluster]
    # In the order in which they came; the later of two equally far rows is removed.
    for index in range(size - 1, -1, -1):
        member[index] = row
        measure(clusters, losses, row, cluster, cluster + 1)
        away[index] = clusters.apart[cluster]
        row = clusters.before[row]
    removed[member[np.argsort(away, kind="stable")[k:]]] = True
    clear(clusters, cluster)
    for row in member:
        if not removed[row]:
            add(clusters, row, cluster)


def _write(clusters: Clusters, at: int, end: int, label: IntArray) -> None:
    """Write the cluster of every row."""
    for cluster in range(at, end):
        row = clusters.newest[cluster]
        while row >= 0:
            label[row] = cluster
            row = clusters.before[row]
