"""Greedy k-member clustering of cells, compiled: Byun, Kamra, Bertino and Li's algorithm box."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anonloom.typing import IntArray
from anonloom_k_member.searches import cheapest, dearest, densest
from anonloom_kernels.compiled import kernel
from anonloom_kernels.losses import SET, Losses, extent_loss, set_loss
from anonloom_kernels.merge_cost import Prices, begin, join, prices_of


class Clusters(NamedTuple):
    """The finished clusters of a cell: extents, different values, sizes, loss of one row."""

    lo: IntArray
    hi: IntArray
    members: IntArray
    size: IntArray
    loss: NDArray[np.float64]


@kernel
def cluster_cells(
    losses: Losses,
    codes: NDArray[np.int32],
    first: IntArray,
    cells: IntArray,
    starts: IntArray,
    draws: NDArray[np.float64],
    k: int,
    dense: bool,
) -> IntArray:
    """Cluster every cell for itself.

    Parameters
    ----------
    codes
        (points x axes): equal rows of a cell are one point.
    first
        First row of every point, and behind the last one; rows are sorted by point.
    cells
        First point of every cell, and behind the last one.
    starts
        A random point of every cell.
    draws
        A random number for every row.
    k
        Rows of a cluster.
    dense
        Whether a cluster begins where the most equal rows are, or furthest from the last record.

    Returns
    -------
    labels
        Cluster of every row from `first[cells[0]]` on; no two cells share a number.
    """
    offset = first[cells[0]]
    labels = np.empty(first[cells[-1]] - offset, np.int64)
    for cell in range(len(cells) - 1):
        here, stop = cells[cell], cells[cell + 1]
        own = first[here : stop + 1] - first[here]
        rows = slice(first[here] - offset, first[stop] - offset)
        label = labels[rows]
        _cluster(
            losses,
            codes[here:stop],
            own,
            starts[cell] - here,
            draws[first[here] : first[stop]],
            k,
            dense,
            label,
        )
        label += first[here]
    return labels


@kernel
def _cluster(
    losses: Losses,
    codes: NDArray[np.int32],
    first: IntArray,
    record: int,
    draws: NDArray[np.float64],
    k: int,
    dense: bool,
    label: IntArray,
) -> None:
    """Cluster one cell; `record` is a random one, as if a cluster had ended with it."""
    rows = first[-1]
    count = rows // k
    if count < 2:
        label[:] = 0
        return
    prices = prices_of(codes)
    left = np.diff(first)
    alive = np.arange(len(left))
    axes = codes.shape[1]
    clusters = Clusters(
        np.empty((count, axes), np.int64),
        np.empty((count, axes), np.int64),
        np.empty((count, axes), np.int64),
        np.full(count, k, np.int64),
        np.empty(count),
    )
    for cluster in range(count):
        begin(prices, losses, record)
        index = densest(prices, alive, left) if dense else dearest(prices, alive)
        record = alive[index]
        record, loss = _build(losses, prices, alive, left, first, record, k, cluster, label)
        clusters.lo[cluster] = prices.lo
        clusters.hi[cluster] = prices.hi
        clusters.members[cluster] = prices.members
        clusters.loss[cluster] = loss
        alive = alive[left[alive] > 0]
    _spread(losses, codes, clusters, alive, left, first, draws, label)


@kernel
def _build(
    losses: Losses,
    prices: Prices,
    alive: IntArray,
    left: IntArray,
    first: IntArray,
    record: int,
    k: int,
    cluster: int,
    label: IntArray,
) -> tuple[int, float]:
    """Build one cluster from its first record; return the last one, and the loss of a row.

    Rows that are equal to the one just added cost nothing more, so they are next.
    """
    begin(prices, losses, record)
    missing, start, loss = k, 0, 0.0
    while True:
        taken = min(left[record], missing)
        row = first[record + 1] - left[record]
        label[row : row + taken] = cluster
        left[record] -= taken
        missing -= taken
        if not missing:
            return record, loss
        start, own = cheapest(prices, alive, left, start, loss)
        record = alive[start]
        if own > loss:
            # Nothing is priced anew by a row that adds no loss, so that the search goes on
            # where it was.
            join(prices, losses, record)
            start, loss = 0, own


@kernel
def _spread(
    losses: Losses,
    codes: NDArray[np.int32],
    clusters: Clusters,
    alive: IntArray,
    left: IntArray,
    first: IntArray,
    draws: NDArray[np.float64],
    label: IntArray,
) -> None:
    """Give each row that is left over, in random order, to the cluster that it costs least."""
    over = np.empty(left.sum(), np.int64)
    point = np.empty(len(over), np.int64)
    count = 0
    for own in alive:
        for row in range(first[own + 1] - left[own], first[own + 1]):
            over[count], point[count] = row, own
            label[row] = -1
            count += 1
    axes = codes.shape[1]
    has = np.zeros((axes, len(clusters.size)), np.bool_)
    for index in np.argsort(draws[over]):
        record = point[index]
        for axis in range(axes):
            if losses.kind[axis] == SET:
                _who_has(codes[:, axis], codes[record, axis], first, label, has[axis])
        best, least, total = 0, np.inf, 0.0
        for cluster in range(len(clusters.size)):
            size = clusters.size[cluster]
            own = _with(losses, clusters, cluster, codes[record], has)
            rise = (size + 1) * own - size * clusters.loss[cluster]
            if rise < least:
                best, least, total = cluster, rise, own
        label[over[index]] = best
        clusters.size[best] += 1
        clusters.loss[best] = total
        for axis in range(axes):
            code = np.int64(codes[record, axis])
            clusters.lo[best, axis] = min(clusters.lo[best, axis], code)
            clusters.hi[best, axis] = max(clusters.hi[best, axis], code)
            clusters.members[best, axis] += not has[axis, best]


@kernel
def _who_has(
    column: NDArray[np.int32], code: int, first: IntArray, label: IntArray, has: NDArray[np.bool_]
) -> None:
    """Say which clusters have a row with this code."""
    has[:] = False
    for point in range(len(column)):
        if column[point] == code:
            for row in range(first[point], first[point + 1]):
                if label[row] >= 0:
                    has[label[row]] = True


@kernel
def _with(
    losses: Losses,
    clusters: Clusters,
    cluster: int,
    codes: NDArray[np.int32],
    has: NDArray[np.bool_],
) -> float:
    """Loss of one row of a cluster, if a row with these codes joined."""
    total = 0.0
    for axis in range(len(codes)):
        code = np.int64(codes[axis])
        lo, hi = min(clusters.lo[cluster, axis], code), max(clusters.hi[cluster, axis], code)
        if losses.kind[axis] == SET:
            members = clusters.members[cluster, axis] + (not has[axis, cluster])
            lacking = hi == losses.missing[axis]
            total += set_loss(losses, axis, members, lacking)
        else:
            total += extent_loss(losses, axis, lo, hi)
    return total
