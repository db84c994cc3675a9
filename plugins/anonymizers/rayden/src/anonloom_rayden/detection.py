"""Which rows are outliers of their class: scores, thresholds, and how many may be taken out."""

from typing import Literal

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom import Classes, Guard, StageContext, Table, short_repr
from anonloom.typing import FloatArray, IntArray
from anonloom_columns import combined_key
from anonloom_kernels.compiled import in_threads
from anonloom_rayden import scores as chains
from anonloom_rayden.gower import Space
from anonloom_rayden.scores import score_classes
from anonloom_rayden.tree import ALIGNED, Rule
from anonloom_rayden.tree_growth import TreeBuilder, gather, rows_of, sizes_decide, spans
from anonloom_rayden.vantage import BEST_SPREAD

Chain = Literal["paper", "sbn", "pyod"]

CHAINS = {"paper": chains.PAPER, "sbn": chains.SBN, "pyod": chains.PYOD}

#: Scores this close to the threshold, as a share of themselves, do not exceed it: in a class of p
#: rows a single one lies sqrt(p - 1) deviations off at most, and rounding must not decide there.
_ROUNDING = 1e-9

#: What interpreting costs per row and axis, and per neighbour or pair of them, in elements that are
#: read: an estimate of the time.
_STEPS_PER_AXIS = 100
_STEPS_PER_NEIGHBOUR = 5

#: Neighbours of a row are looked for among this many rows of its class at least.
_CELL = 512


@short_repr
@attrs.frozen(eq=False)
class ScoreSettings:
    """How rows are scored.

    Attributes
    ----------
    space
        The distance.
    neighbours
        Size of the neighbourhood.
    chain
        In which order neighbours are chained, and what a step is; see the parameter of `Cof`.
    """

    space: Space
    neighbours: int
    chain: Chain

    def steps(self, classes: Classes) -> float:
        """How many elements an interpreter could read while it scores, about."""
        around = np.minimum(self.neighbours, classes.sizes).astype(float)
        chained = around if self.chain == "paper" else around**2
        of_row = _STEPS_PER_AXIS * len(self.space.kind) + _STEPS_PER_NEIGHBOUR * chained
        return float((classes.sizes * of_row).sum())

    def scores(self, table: Table, classes: Classes, context: StageContext) -> FloatArray:
        """Score of every position of `classes.rows`."""
        least = max(_CELL, 4 * self.neighbours)
        if (classes.sizes < 2 * least).all():
            return self._within(table, classes, context)
        # The cost of a class is quadratic: neighbours in large ones are looked for in cells.
        points, roots, rows = gather(table, classes, context)
        rule = Rule(ALIGNED, BEST_SPREAD, least, 0)
        points, leaves = TreeBuilder(self.space, rule, context).freely(points, roots)
        cells = Classes(*rows_of(points, leaves, rows))
        of_rows = np.empty(len(table))
        of_rows[cells.rows] = self._within(table, cells, context)
        return of_rows[classes.rows]

    def _within(self, table: Table, classes: Classes, context: StageContext) -> FloatArray:
        codes = np.ascontiguousarray(table.codes[:, classes.rows])
        keys = combined_key(codes)
        scores = np.empty(len(keys))
        ends = np.searchsorted(
            classes.bounds, len(keys) * np.arange(context.workers + 1) / context.workers
        )
        in_threads(
            lambda part: score_classes(
                self.space,
                codes,
                keys,
                classes.bounds[ends[part] : ends[part + 1] + 1],
                self.neighbours,
                CHAINS[self.chain],
                scores,
            ),
            range(context.workers),
            context.workers,
        )
        return scores


def beyond(scores: FloatArray, classes: Classes, alpha: float) -> NDArray[np.bool_]:
    """Mark the rows whose score exceeds mean + alpha x standard deviation of their class.

    A score is infinite where all neighbours of a row equal each other and the row does not equal
    them. Mean and deviation are then taken in the limit of ever larger scores: where j of p rows
    have such a score, each of them lies sqrt((p - j) / j) deviations above the mean, and no other
    row lies above it at all.
    """
    finite = np.isfinite(scores)
    known = np.where(finite, scores, 0.0)
    mean = np.add.reduceat(known, classes.starts) / classes.sizes
    off = known - np.repeat(mean, classes.sizes)
    deviation = np.sqrt(np.add.reduceat(off * off, classes.starts) / classes.sizes)
    far = off > alpha * np.repeat(deviation, classes.sizes) + _ROUNDING * known
    infinite = np.add.reduceat(~finite, classes.starts, dtype=np.int64)
    alone = classes.sizes - infinite > alpha**2 * infinite
    return np.where(
        np.repeat(infinite > 0, classes.sizes), ~finite & np.repeat(alone, classes.sizes), far
    )


def removable(
    table: Table, classes: Classes, guard: Guard, flagged: IntArray, scores: FloatArray
) -> NDArray[np.bool_]:
    """Say which flagged positions can leave their classes so that the guard admits the rest.

    The most outlying go first. Where the guard refuses what remains, one fewer goes, and so on;
    with none gone a class is as it was.
    """
    of_class = classes.class_of_position()[flagged]
    order = np.lexsort((flagged, -scores[flagged], of_class))
    fresh = np.r_[True, np.diff(of_class[order]) > 0]
    rank = np.empty(len(flagged), np.int64)
    rank[order] = np.arange(len(flagged)) - np.flatnonzero(fresh)[np.cumsum(fresh) - 1]
    room = np.maximum(classes.sizes - guard.min_size, 0)
    allowed = np.minimum(np.bincount(of_class, minlength=len(classes)), room)
    if sizes_decide(table, guard, int(classes.sizes.max())):
        return rank < allowed[of_class]
    pending = np.flatnonzero(allowed)
    while len(pending):
        gone = np.zeros(len(classes.rows), bool)
        gone[flagged[rank < allowed[of_class]]] = True
        refused = ~admits_rest(table, classes, guard, gone, pending)
        allowed[pending[refused]] -= 1
        pending = pending[refused & (allowed[pending] > 0)]
    return rank < allowed[of_class]


def admits_rest(
    table: Table, classes: Classes, guard: Guard, gone: NDArray[np.bool_], which: IntArray
) -> NDArray[np.bool_]:
    """Whether the guard admits some classes without the positions that are gone."""
    sizes = classes.sizes[which]
    inside = spans(classes.starts[which], sizes)
    kept = ~gone[inside]
    left = np.add.reduceat(kept, np.cumsum(sizes) - sizes, dtype=np.int64)
    stops = np.cumsum(left)
    return guard.admits(table, classes.rows[inside[kept]], stops - left, stops)
