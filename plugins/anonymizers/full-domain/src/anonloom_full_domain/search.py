"""The node of least loss: an exact search with predictive tagging, and a greedy one.

The argument for the exact search. What a node loses if every row were published (its bound) is at
most what it loses in truth, since a suppressed row loses everything; a node whose bound is not
below the best known loss can be left out. Boxes only grow upwards. So, if larger classes are never
worse, a node with more rows in too small boxes than may be suppressed has only such nodes below it:
they are tagged and left out. What the guard refuses for other reasons tags nothing, unless nothing
may be suppressed and the guard is monotone: where one node publishes all rows in admitted boxes,
the boxes above are unions of these.
"""

from collections.abc import Iterator

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom import StageContext, short_repr
from anonloom.typing import FloatArray
from anonloom_full_domain.evaluation import Evaluation, Outcome
from anonloom_full_domain.grid import Node
from anonloom_full_domain.lattice import Lattice

#: Losses that differ by less are equal: sums of the same figures in another order.
_EQUAL = 1e-12

#: Nodes that the greedy search follows at a time.
_BEAM = 4

#: Share of the lattice that an exact search evaluates, about: without suppression, and with it.
_EVALUATED = (0.012, 0.08)


@attrs.define(eq=False)
class Best:
    """The best node so far."""

    node: Node
    loss: float
    evaluated: int = 0

    def take(self, node: Node, loss: float) -> None:
        """Remember a node that may be published."""
        if loss < self.loss - _EQUAL:
            self.node, self.loss = node, loss


def exact(evaluation: Evaluation, context: StageContext) -> Best:
    """Find a node of least loss among all that refuse no more rows than allowed."""
    return _Exact.over(evaluation).search(context)


@short_repr
@attrs.define(eq=False)
class _Exact:
    """State of the exact search.

    Attributes
    ----------
    bound
        Loss of every node if no row were refused.
    closed
        Nodes that were evaluated, or are tagged as refusing too many rows.
    fits
        Nodes known to have few enough rows in too small boxes.
    """

    evaluation: Evaluation
    bound: FloatArray
    closed: NDArray[np.bool_]
    fits: NDArray[np.bool_]
    best: Best
    tagging: bool
    monotone: bool

    @classmethod
    def over(cls, evaluation: Evaluation) -> "_Exact":
        grid, judge = evaluation.grid, evaluation.judge
        bound = grid.lattice.mean_losses(grid.codes[:, 1:].T, grid.weights)
        return cls(
            evaluation,
            bound,
            np.zeros(bound.shape, bool),
            np.zeros(bound.shape, bool),
            Best(grid.lattice.top(), np.inf),
            tagging=judge.larger_is_better,
            monotone=judge.larger_is_better and judge.guard.monotone and evaluation.allowed == 0,
        )

    def search(self, context: StageContext) -> Best:
        """Visit the nodes by ascending bound until no bound is below the best loss."""
        order = np.argsort(self.bound, axis=None, kind="stable")
        for done, index in enumerate(order):
            node = tuple(int(level) for level in np.unravel_index(index, self.bound.shape))
            if self.bound[node] >= self.best.loss - _EQUAL:
                break
            if not self.closed[node]:
                self._clear(self._path(node))
                context.progress(done, len(order))
        context.progress(len(order), len(order))
        return self.best

    def _path(self, node: Node) -> list[Node]:
        """Return a chain of open nodes upwards, the next always that of least bound."""
        path = [node]
        while self.tagging and not self.fits[node]:
            above = [up for up in _neighbours(node, 1, self.bound.shape) if self._is_open(up)]
            if not above:
                break
            node = min(above, key=lambda up: float(self.bound[up]))
            path.append(node)
        return path

    def _is_open(self, node: Node) -> bool:
        return not self.closed[node] and self.bound[node] < self.best.loss - _EQUAL

    def _clear(self, path: list[Node]) -> None:
        """Find by halving where on the path boxes become large enough; the first node is closed."""
        begin, end = 0, len(path)
        while begin < end:
            middle = (begin + end) // 2
            if self._fits(path[middle]):
                end = middle
            else:
                begin = middle + 1

    def _fits(self, node: Node) -> bool:
        """Evaluate a node; tag what it tells of others."""
        allowed = self.evaluation.allowed
        outcome = self.evaluation.outcome(node)
        self.best.evaluated += 1
        self.closed[node] = True
        if outcome.refused <= allowed:
            self.best.take(node, outcome.loss)
        if self.monotone:
            return self._tag(node, outcome.refused <= allowed)
        return self._tag(node, outcome.too_small <= allowed)

    def _tag(self, node: Node, fits: bool) -> bool:
        if not self.tagging:
            return fits
        if fits:
            self.fits[tuple(slice(level, None) for level in node)] = True
        else:
            self.closed[tuple(slice(None, level + 1) for level in node)] = True
        return fits


def evaluated_nodes(lattice: Lattice, suppresses: bool) -> float:
    """How many nodes an exact search evaluates, about."""
    return _EVALUATED[suppresses] * lattice.nodes


def passed_nodes(lattice: Lattice) -> float:
    """How many nodes a greedy search passes on its way down, about."""
    return _BEAM * len(lattice.shape) * sum(lattice.top()) / 2


def greedy(evaluation: Evaluation, context: StageContext) -> Best:
    """Go down from the top, in each step to the best nodes found by lowering one level.

    It evaluates at most four times the square of all levels taken together; what it finds need
    not be the best.
    """
    top = evaluation.grid.lattice.top()
    best, steps = Best(top, np.inf), sum(top)
    for step, reach in enumerate(_descent(evaluation, only_better=True)):
        best.evaluated += len(reach)
        for node, loss in reach.items():
            best.take(node, loss)
        context.progress(step, steps)
    context.progress(steps, steps)
    return best


def greedy_path(evaluation: Evaluation) -> list[Node]:
    """Return the nodes that a greedy search evaluates on its way to the bottom."""
    return [node for reach in _descent(evaluation, only_better=False) for node in reach]


def _descent(evaluation: Evaluation, *, only_better: bool) -> Iterator[dict[Node, float]]:
    """Yield the nodes of every step with their losses.

    Parameters
    ----------
    only_better
        Stop where no step down loses less. Otherwise go on while anything is published.
    """
    lattice = evaluation.grid.lattice
    top = lattice.top()
    loss = _loss(evaluation, evaluation.outcome(top))
    yield {top: loss}
    beam = [(loss, top)]
    while beam:
        reach: dict[Node, float] = {}
        followed: dict[Node, float] = {}
        for loss, node in beam:
            for below in _neighbours(node, -1, lattice.shape):
                if below not in reach:
                    reach[below] = _loss(evaluation, evaluation.outcome(below))
                if reach[below] < (loss - _EQUAL if only_better else 1.0 - _EQUAL):
                    followed[below] = reach[below]
        if reach:
            yield reach
        beam = sorted((loss, node) for node, loss in followed.items())[:_BEAM]


def _loss(evaluation: Evaluation, outcome: Outcome) -> float:
    return outcome.loss if outcome.refused <= evaluation.allowed else np.inf


def _neighbours(node: Node, step: int, shape: tuple[int, ...]) -> list[Node]:
    """Nodes one level above (1) or below (-1) on one axis."""
    return [
        (*node[:index], level + step, *node[index + 1 :])
        for index, level in enumerate(node)
        if 0 <= level + step < shape[index]
    ]
