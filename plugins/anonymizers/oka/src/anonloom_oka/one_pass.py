"""The two stages of one-pass k-means on cells, compiled: Lin and Wei's two algorithm boxes."""

import numpy as np
from numpy.typing import NDArray

from anonloom.typing import CodeArray, FloatArray, IntArray
from anonloom_kernels.compiled import kernel
from anonloom_kernels.losses import Losses
from anonloom_oka.centroids import (
    Clusters,
    add,
    clear,
    closest,
    distance,
    empty_clusters,
    look_from,
)


@kernel
def cluster_cells(
    losses: Losses, codes: CodeArray, cells: IntArray, draws: FloatArray, turns: FloatArray, k: int
) -> IntArray:
    """Cluster every cell for itself.

    Parameters
    ----------
    codes
        (rows x axes), in the order in which rows are clustered.
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
    offset = cells[0]
    labels = np.empty((2, cells[-1] - offset), np.int64)
    for cell in range(len(cells) - 1):
        here, stop = cells[cell], cells[cell + 1]
        own = labels[:, here - offset : stop - offset]
        if stop - here < 2 * k:
            own[:] = here
            continue
        clusters = _cluster(losses, codes[here:stop], draws[here:stop], k)
        _write(clusters, own[1], here)
        _adjust(losses, clusters, turns[here:stop], k)
        _write(clusters, own[0], here)
    return labels


@kernel
def _cluster(losses: Losses, codes: CodeArray, draws: FloatArray, k: int) -> Clusters:
    """The clustering stage: random seeds, then every row to the closest centroid."""
    rows = len(codes)
    clusters = empty_clusters(losses, codes, rows // k)
    seeds = np.argsort(draws)[: rows // k]
    seeded = np.zeros(rows, np.bool_)
    for cluster, row in enumerate(seeds):
        add(clusters, row, cluster)
        seeded[row] = True
    for row in range(rows):
        if not seeded[row]:
            add(clusters, row, closest(clusters, losses, row, rows))
    return clusters


@kernel
def _adjust(losses: Losses, clusters: Clusters, turns: FloatArray, k: int) -> None:
    """The adjustment stage: what large clusters have too many of goes to the small ones first."""
    removed = np.zeros(len(turns), np.bool_)
    for cluster in range(len(clusters.size)):
        if clusters.size[cluster] > k:
            _trim(losses, clusters, cluster, k, removed)
    rows = np.flatnonzero(removed)
    lacking = np.maximum(k - clusters.size, 0).sum()
    for row in rows[np.argsort(turns[rows])]:
        below = k if lacking else len(turns)
        add(clusters, row, closest(clusters, losses, row, below))
        lacking -= lacking > 0


@kernel
def _trim(
    losses: Losses, clusters: Clusters, cluster: int, k: int, removed: NDArray[np.bool_]
) -> None:
    """Leave a cluster the k rows that are closest to its centroid, and move that."""
    size = clusters.size[cluster]
    members = np.empty(size, np.int64)
    far = np.empty(size)
    row = clusters.newest[cluster]
    # In the order in which they came; the later of two equally far rows is removed.
    for index in range(size - 1, -1, -1):
        members[index] = row
        look_from(clusters, losses, row)
        far[index] = distance(clusters, losses, row, cluster)
        row = clusters.before[row]
    removed[members[np.argsort(far, kind="mergesort")[k:]]] = True
    clear(clusters, cluster)
    for member in members:
        if not removed[member]:
            add(clusters, member, cluster)


@kernel
def _write(clusters: Clusters, label: IntArray, first: int) -> None:
    """Write the cluster of every row."""
    for cluster in range(len(clusters.size)):
        row = clusters.newest[cluster]
        while row >= 0:
            label[row] = first + cluster
            row = clusters.before[row]
