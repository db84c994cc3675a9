"""Trees over the rows of a table: how rows become points, and who may refuse a cut."""

from collections.abc import Sequence

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom import Classes, Guard, StageContext, Table
from anonloom.typing import IntArray
from anonloom_columns import collapse
from anonloom_kernels.compiled import in_threads
from anonloom_rayden.gower import Space
from anonloom_rayden.tree import PAPER, Nodes, Points, Rule, grow
from anonloom_rayden.vantage import BEST_SPREAD, CANDIDATES, FARTHEST, RANDOM

#: How many other vantage points are tried where the guard refuses a cut.
_ATTEMPTS = 4
#: What interpreting costs per axis of a node, and per row and level, in elements that are read: an
#: estimate of the time. Nodes are worked on as whole arrays, so that their number counts.
_STEPS_PER_AXIS = 100
_STEPS_PER_ROW = 2
#: Branches per thread, so that threads finish together.
_BRANCHES = 8


def spans(starts: IntArray, lengths: IntArray) -> IntArray:
    """Return the numbers of all ranges, one range after the other."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    return np.repeat(starts - ends + lengths, lengths) + np.arange(total)


def sizes_decide(table: Table, guard: Guard, rows: int) -> bool:
    """Whether the guard admits every class, of up to so many rows, that has the least size."""
    if not guard.size_only or table.with_all_columns().persons is not None:
        return False
    sizes = np.arange(guard.min_size, rows + 1, dtype=np.int64)
    return bool((np.asarray(guard.least_kept(sizes)) >= guard.demanded).all())


def gather(table: Table, classes: Classes, context: StageContext) -> tuple[Points, Nodes, IntArray]:
    """Collapse the rows of the given classes to points, in ascending order of their codes.

    Returns
    -------
    points, roots
        One node for each class that was given.
    rows
        The row order that the points refer to.
    """
    codes = table.codes.take(classes.rows, axis=1)
    if len(classes) > 1:
        # With the class in front, points come sorted by class and never cross two of them.
        label = classes.class_of_position().astype(np.int32)
        collapsed = collapse(np.concatenate([label[None], codes]))
        bounds = np.searchsorted(collapsed.codes[0], np.arange(len(classes) + 1))
        codes = np.ascontiguousarray(collapsed.codes[1:])
    else:
        collapsed = collapse(codes)
        bounds = np.array([0, len(collapsed)])
        codes = collapsed.codes
    first = np.cumsum(collapsed.weights) - collapsed.weights
    salts = context.rng.integers(2**63, size=len(classes))
    roots = Nodes(bounds[:-1], np.diff(bounds), classes.sizes, salts)
    rows = classes.rows[collapsed.rows_by_point()]
    return Points(codes, first, collapsed.weights), roots, rows


def rows_of(points: Points, nodes: Nodes, rows: IntArray) -> tuple[IntArray, IntArray]:
    """Rows of all nodes, one node after the other, and the offsets of the nodes."""
    inside = spans(nodes.start, nodes.points)
    places = spans(points.first[inside], points.weight[inside])
    return rows[places], np.append(0, np.cumsum(nodes.size))


def _some(nodes: Nodes, which: NDArray[np.bool_] | IntArray) -> Nodes:
    return Nodes(*(part[which] for part in nodes))


def _apart(points: Points, nodes: Nodes, spare: IntArray | int) -> tuple[Points, Nodes]:
    """Copy the points of some nodes, with room behind those of each."""
    room = nodes.points + spare
    starts = np.cumsum(room) - room
    source, target = spans(nodes.start, nodes.points), spans(starts, nodes.points)
    total = int(room.sum())
    codes = np.zeros((len(points.codes), total), np.int32)
    for own, given in zip(codes, points.codes, strict=True):
        own[target] = given[source]
    first, weight = np.zeros(total, np.int64), np.zeros(total, np.int64)
    first[target], weight[target] = points.first[source], points.weight[source]
    return Points(codes, first, weight), nodes._replace(start=starts)


def _concatenate(parts: Sequence[tuple[Points, Nodes]]) -> tuple[Points, Nodes]:
    """Put the nodes of several trees one behind the other."""
    lengths = [len(points.first) for points, _ in parts]
    before = np.cumsum([0, *lengths[:-1]])
    points = Points(
        np.concatenate([points.codes for points, _ in parts], axis=1),
        np.concatenate([points.first for points, _ in parts]),
        np.concatenate([points.weight for points, _ in parts]),
    )
    moved = [
        nodes._replace(start=nodes.start + offset)
        for (_, nodes), offset in zip(parts, before, strict=True)
    ]
    return points, Nodes(*(np.concatenate(column) for column in zip(*moved, strict=True)))


def _shares(sizes: IntArray, workers: int) -> list[IntArray]:
    """Divide nodes among threads so that all have about as many rows."""
    if workers <= 1 or len(sizes) <= 1:
        return [np.arange(len(sizes))]
    reach = np.cumsum(sizes)
    ends = np.searchsorted(reach, reach[-1] * np.arange(1, workers) / workers)
    return [part for part in np.split(np.arange(len(sizes)), ends) if len(part)]


@attrs.frozen(eq=False)
class TreeBuilder:
    """Grows trees.

    Attributes
    ----------
    space, rule
        The distance, and how nodes are cut.
    run
        Told how far the work is; says how many threads may be used.
    """

    space: Space
    rule: Rule
    run: StageContext

    def steps(self, roots: Nodes) -> float:
        """How many elements an interpreter could read while it grows these trees, about."""
        tried = {RANDOM: 0, FARTHEST: 1, BEST_SPREAD: CANDIDATES}[self.rule.vantage]
        nodes = roots.size / self.rule.least
        levels = np.log2(np.maximum(nodes, 1))
        of_axes = _STEPS_PER_AXIS * len(self.space.kind) * nodes
        return float((1 + tried) * (of_axes + _STEPS_PER_ROW * roots.size * levels).sum())

    def freely(self, points: Points, roots: Nodes) -> tuple[Points, Nodes]:
        """Cut every node that has twice the least size."""
        least, total = self.rule.least, int(roots.size.sum())
        cuts = 0 if self.rule.cut == PAPER else roots.size // least
        points, nodes = _apart(points, roots, cuts)
        workers = self.run.workers
        if workers > 1:
            # The trunk first; its branches own disjoint stretches of the arrays.
            until = max(2 * least, total // (_BRANCHES * workers))
            nodes = grow(self.space, self.rule, points, nodes, until, False)
        parts = [_some(nodes, part) for part in _shares(nodes.size, workers)]
        leaves = in_threads(
            lambda part: grow(self.space, self.rule, points, part, 2 * least, False),
            parts,
            workers,
        )
        self.run.progress(total, total)
        result = Nodes(*(np.concatenate(column) for column in zip(*leaves, strict=True)))
        # In the order of their points, whichever branch was grown first.
        order = np.argsort(result.start, kind="stable")
        return points, Nodes(*(column[order] for column in result))

    def cut_guarded(
        self, points: Points, roots: Nodes, rows: IntArray, table: Table, guard: Guard
    ) -> tuple[Points, Nodes]:
        """Cut, a level at a time, every node whose halves the guard admits.

        Where it refuses, other vantage points are tried before the node is left as it is.
        """
        least, total = self.rule.least, len(rows)
        done: list[tuple[Points, Nodes]] = []
        nodes = roots
        while len(nodes.size):
            large = nodes.size >= 2 * least
            done.append(_apart(points, _some(nodes, ~large), 0))
            nodes = _some(nodes, large)
            parts = [_apart(points, _some(nodes, np.zeros(len(nodes.size), bool)), 0)]
            for attempt in range(_ATTEMPTS):
                if not len(nodes.size):
                    break
                trial, tried = _apart(points, nodes, 1)
                rule = self.rule._replace(attempt=attempt)
                halves = grow(self.space, rule, trial, tried, 2 * least, True)
                order, bounds = rows_of(trial, halves, rows)
                verdict = guard.admits(table, order, bounds[:-1], bounds[1:])
                both = verdict[0::2] & verdict[1::2]
                parts.append(_apart(trial, _some(halves, np.repeat(both, 2)), 0))
                nodes = _some(nodes, ~both)
            done.append(_apart(points, nodes, 0))
            points, nodes = _concatenate(parts)
            self.run.progress(total - int(nodes.size.sum()), total)
        return _concatenate(done)
