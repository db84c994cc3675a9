"""Rounds of local recoding: what is admitted is published, and the next round has the rest.

By cells: of all boxes of all nodes, that of least loss which the guard admits is published, again
and again. A box that several nodes have counts for the lowest of them. Boxes only lose rows while
others are published, so a node is formed again no sooner than at the least loss of those of its
boxes that were still large enough: less than twice on average.

By levels: a round takes one node with all of its admitted boxes: that of least mean loss for which
they hold a certain share of the rows that are left.
"""

from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from anonloom.typing import FloatArray
from anonloom_full_domain.evaluation import Evaluation
from anonloom_full_domain.published_points import PublishedPoints as PublishedPoints
from anonloom_full_domain.search import greedy_path
from anonloom_full_domain.verdicts import Judge
from anonloom_full_domain.viable_points import ViablePoints

#: Losses that differ by less are equal.
_EQUAL = 1e-12


def by_cells(published: PublishedPoints, judge: Judge) -> None:
    """Publish the admitted box of least loss until none is left that tells anything."""
    lattice = published.grid.lattice
    nodes = np.indices(lattice.shape).reshape(len(lattice.shape), lattice.nodes).T
    viable = ViablePoints(published, judge)
    _cells_of(published, judge, nodes, lattice.least_losses().ravel(), viable)


def by_descents(published: PublishedPoints, judge: Judge) -> None:
    """Do so with the nodes that a greedy search passes, for as long as it finds new ones."""
    grid = published.grid
    while len(published.left):
        before = published.count
        evaluation = Evaluation(grid, judge, grid.rows, published.left)
        nodes = np.array(greedy_path(evaluation), np.int64).reshape(-1, len(grid.lattice.axes))
        bounds = np.zeros(len(nodes))
        for index, axis in enumerate(grid.lattice.axes):
            bounds += axis.loss.min(axis=1)[nodes[:, index]]
        _cells_of(published, judge, nodes, bounds)
        if published.count == before:
            break


def _cells_of(
    published: PublishedPoints,
    judge: Judge,
    nodes: NDArray[np.int64],
    bounds: FloatArray,
    viable: ViablePoints | None = None,
) -> None:
    """Publish boxes of some nodes, none of which has a box that loses less than its bound.

    Parameters
    ----------
    viable
        Given where the nodes are all nodes of the lattice: boxes then count for the lowest node
        that has them, and what is found out of nodes above serves many.
    """
    order = np.argsort(bounds, kind="stable")
    # What loses everything is no recoding.
    order = order[bounds[order] < 1 - _EQUAL]
    # Sorted, and so a heap.
    queue = list(zip(bounds[order].tolist(), order.tolist(), strict=True))
    judged = np.full(len(nodes), -1.0)
    while queue and len(published.left):
        bound, index = heappop(queue)
        node = tuple(nodes[index].tolist())
        points = published.left if viable is None else viable.of(node)
        if not len(points):
            continue
        weights = published.grid.weights[points]
        boxes = published.grid.boxes(node, points, weights, only_fresh=viable is not None)
        large = judge.large(boxes) & (boxes.lost < 1 - _EQUAL)
        if not large.any():
            continue
        now = boxes.lost <= bound + _EQUAL
        # A box that the guard has refused once has only lost rows since.
        asked = large & now & (boxes.lost > judged[index] + _EQUAL)
        later = boxes.lost[large & ~now]
        published.take(node, boxes, judge.admission(boxes, points, asked), points)
        judged[index] = bound
        if len(later):
            heappush(queue, (float(later.min()), index))


def by_levels(published: PublishedPoints, judge: Judge, step: float) -> None:
    """Publish one node at a time that has at least a share of the rows in admitted boxes."""
    grid = published.grid
    losses = grid.lattice.mean_losses(grid.codes[:, 1:].T, grid.weights)
    order = np.argsort(losses, axis=None, kind="stable")
    order = order[losses.ravel()[order] < 1 - _EQUAL]
    # How many rows a node had in admitted boxes when it was last looked at; never more later.
    most = np.full(len(order), grid.rows)
    while len(published.left):
        demanded = max(step * int(published.weights.sum()), 1.0)
        enough = np.flatnonzero(most >= demanded)
        if not len(enough):
            break
        place = int(enough[0])
        node = tuple(int(level) for level in np.unravel_index(order[place], losses.shape))
        points = published.left
        boxes = grid.boxes(node, points, published.weights)
        good = judge.admission(boxes, points, judge.large(boxes))
        most[place] = int(boxes.sizes[good].sum())
        if most[place] >= demanded:
            published.take(node, boxes, good)
            most[place] = 0
