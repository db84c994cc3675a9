"""Greedy k-member clustering of cells: Byun, Kamra, Bertino and Li's algorithm box."""

from typing import NamedTuple

import numpy as np

from anonloom.typing import BoolArray, CodeArray, FloatArray, IntArray
from anonloom_k_member.searches import cheapest, dearest, densest
from anonloom_kernels.compiled import kernel
from anonloom_kernels.losses import SET, Losses, extent_loss, set_loss
from anonloom_kernels.merge_cost import Prices, begin, join, of_cell, prices_of


class Points(NamedTuple):
    """The points of some cells: equal rows of a cell are one.

    Attributes
    ----------
    codes
        (points x axes).
    first
        First row of every point, and behind the last one; rows are sorted by point.
    cells
        First point of every cell, and behind the last one.
    starts
        A random point of every cell.
    point, turn
        Point of every row; the rows of every cell in random order.
    left
        How many rows of every point are in no cluster yet.
    alive
        The points of every cell; those that have rows left come first, ascending.
    """

    codes: CodeArray
    first: IntArray
    cells: IntArray
    starts: IntArray
    point: IntArray
    turn: IntArray
    left: IntArray
    alive: IntArray


class Clusters(NamedTuple):
    """The finished clusters of some cells.

    Attributes
    ----------
    lo, hi, members
        (clusters x axes): extent and number of different values.
    size, loss
        Rows, and the loss of one of them.
    has
        (clusters x axes): whether it has the value of the row that is looked at; axes of the kind
        SET only.
    """

    lo: IntArray
    hi: IntArray
    members: IntArray
    size: IntArray
    loss: FloatArray
    has: BoolArray


def cluster_cells(
    losses: Losses,
    codes: CodeArray,
    first: IntArray,
    cells: IntArray,
    starts: IntArray,
    draws: FloatArray,
    k: int,
    dense: bool,
) -> IntArray:
    """Cluster every cell for itself.

    Parameters
    ----------
    codes, first, starts
        See `Points`; these and `draws` may hold more cells than are clustered.
    cells
        First point of every cell, and behind the last one.
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
    codes, first = codes[cells[0] : cells[-1]], first[cells[0] : cells[-1] + 1]
    points = _points_of(
        codes, first - first[0], cells - cells[0], starts - cells[0], draws[first[0] : first[-1]]
    )
    sizes = np.diff(points.first[points.cells])
    counts = sizes // k
    clusters = _room_for(int(counts.sum()), k, codes.shape[1])
    label = np.empty(len(points.turn), np.int64)
    cluster_each(losses, points, prices_of(codes, points.cells), clusters, k, dense, label)
    # The kernel counts clusters through all cells, which no other batch may do as well.
    label += np.repeat(first[points.cells[:-1]] - (np.cumsum(counts) - counts), sizes)
    return label


def _points_of(
    codes: CodeArray, first: IntArray, cells: IntArray, starts: IntArray, draws: FloatArray
) -> Points:
    """Gather what the kernel reads of the points, none of which is in a cluster yet."""
    left = np.diff(first)
    point = np.repeat(np.arange(len(left)), left)
    cell = np.searchsorted(cells, point, side="right")
    turn = np.lexsort((draws, cell))
    return Points(codes, first, cells, starts, point, turn, left, np.arange(len(left)))


def _room_for(count: int, k: int, axes: int) -> Clusters:
    """Room for so many clusters of k rows."""
    return Clusters(
        np.zeros((count, axes), np.int64),
        np.zeros((count, axes), np.int64),
        np.zeros((count, axes), np.int64),
        np.full(count, k, np.int64),
        np.zeros(count),
        np.zeros((count, axes), np.bool_),
    )


@kernel
def cluster_each(
    losses: Losses,
    points: Points,
    prices: Prices,
    clusters: Clusters,
    k: int,
    dense: bool,
    label: IntArray,
) -> None:
    """Cluster every cell; clusters are counted through all of them. See `cluster_cells`."""
    first, cells = points.first, points.cells
    at = 0
    for cell in range(len(cells) - 1):
        here, stop = first[cells[cell]], first[cells[cell + 1]]
        end = at + (stop - here) // k
        if end - at < 2:
            label[here:stop] = at
        else:
            _cluster(
                losses, points, of_cell(prices, cell), clusters, cell, at, end, k, dense, label
            )
        at = end


def _cluster(
    losses: Losses,
    points: Points,
    prices: Prices,
    clusters: Clusters,
    cell: int,
    at: int,
    end: int,
    k: int,
    dense: bool,
    label: IntArray,
) -> None:
    """Make clusters `at` to `end` of a cell, as if one had just ended with a random record."""
    alive, left = points.alive[points.cells[cell] : points.cells[cell + 1]], points.left
    record = points.starts[cell]
    for cluster in range(at, end):
        begin(prices, losses, record)
        index = densest(prices, alive, left) if dense else dearest(prices, alive)
        record, loss = _build(losses, points, prices, alive, alive[index], k, cluster, label)
        clusters.lo[cluster] = prices.lo
        clusters.hi[cluster] = prices.hi
        clusters.members[cluster] = prices.members
        clusters.loss[cluster] = loss
        alive = _still_alive(alive, left)
    _spread(losses, points, clusters, cell, at, end, alive, label)


def _still_alive(alive: IntArray, left: IntArray) -> IntArray:
    """Move the points that have rows left to the front, and return those."""
    still = alive[left[alive] > 0]
    alive[: len(still)] = still
    return alive[: len(still)]


def _build(
    losses: Losses,
    points: Points,
    prices: Prices,
    alive: IntArray,
    record: int,
    k: int,
    cluster: int,
    label: IntArray,
) -> tuple[int, float]:
    """Build one cluster from its first record; return the last one, and the loss of a row.

    Rows that are equal to the one just added cost nothing more, so they are next.
    """
    first, left = points.first, points.left
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


def _spread(
    losses: Losses,
    points: Points,
    clusters: Clusters,
    cell: int,
    at: int,
    end: int,
    alive: IntArray,
    label: IntArray,
) -> None:
    """Give each row that is left over, in random order, to the cluster that it costs least."""
    first, codes, has = points.first, points.codes, clusters.has
    for own in alive:
        label[first[own + 1] - points.left[own] : first[own + 1]] = -1
    here, stop = points.cells[cell], points.cells[cell + 1]
    for row in points.turn[first[here] : first[stop]]:
        if label[row] >= 0:
            continue
        record = points.point[row]
        for axis in range(codes.shape[1]):
            if losses.kind[axis] == SET:
                _who_has(
                    points, here, stop, axis, codes[record, axis], label, has[at:end, axis], at
                )
        best, least, total = at, np.inf, 0.0
        for cluster in range(at, end):
            size = clusters.size[cluster]
            own = _with(losses, clusters, cluster, codes[record])
            rise = (size + 1) * own - size * clusters.loss[cluster]
            if rise < least:
                best, least, total = cluster, rise, own
        label[row] = best
        clusters.size[best] += 1
        clusters.loss[best] = total
        for axis in range(codes.shape[1]):
            code = np.int64(codes[record, axis])
            clusters.lo[best, axis] = min(clusters.lo[best, axis], code)
            clusters.hi[best, axis] = max(clusters.hi[best, axis], code)
            clusters.members[best, axis] += not has[best, axis]


def _who_has(
    points: Points,
    here: int,
    stop: int,
    axis: int,
    code: int,
    label: IntArray,
    has: BoolArray,
    at: int,
) -> None:
    """Say which clusters, from `at` on, have a row with this code."""
    has[:] = False
    for point in here + np.flatnonzero(points.codes[here:stop, axis] == code):
        for row in range(points.first[point], points.first[point + 1]):
            if label[row] >= 0:
                has[label[row] - at] = True


def _with(losses: Losses, clusters: Clusters, cluster: int, codes: CodeArray) -> float:
    """Loss of one row of a cluster, if a row with these codes joined."""
    total = 0.0
    for axis in range(len(codes)):
        code = np.int64(codes[axis])
        lo, hi = min(clusters.lo[cluster, axis], code), max(clusters.hi[cluster, axis], code)
        if losses.kind[axis] == SET:
            members = clusters.members[cluster, axis] + (not clusters.has[cluster, axis])
            total += set_loss(losses, axis, members, hi == losses.missing[axis])
        else:
            total += extent_loss(losses, axis, lo, hi)
    return total
