"""Which split of every node is taken: the best one of which the guard admits both parts."""

import attrs
import numpy as np

from anonloom import Guard, Table, short_repr
from anonloom.typing import BoolArray, CodeArray, IntArray
from anonloom_tada.split_scores import CandidateSplits
from anonloom_tada.weighted_points import WeightedPoints, spans

#: Where the guard refuses the best splits of a node, so many times as many are asked about next.
MORE = 4

#: Stands for 'no split' among numbers of splits.
NONE = -1


@short_repr
@attrs.frozen(eq=False)
class Chooser:
    """Asks the guard about splits.

    Attributes
    ----------
    table, guard
        What the rows are, and what both parts must satisfy.
    weighted, orders
        The points, and their orders along the axes.
    """

    table: Table
    guard: Guard
    weighted: WeightedPoints
    orders: CodeArray

    @property
    def size_suffices(self) -> bool:
        """Whether every part that is large enough is admitted."""
        return self.guard.size_only and self.table.with_all_columns().persons is None

    def large(self, sizes: IntArray) -> BoolArray:
        """Whether so many rows are enough."""
        kept = np.asarray(self.guard.least_kept(sizes))
        large: BoolArray = (sizes > 0) & (kept >= self.guard.demanded)
        return large

    def choose(
        self, found: CandidateSplits, start: IntArray, stop: IntArray, rows: IntArray
    ) -> IntArray:
        """Return the number of the split that each node gets, or NONE.

        Parameters
        ----------
        found
            Splits, those of a node side by side; both parts are large enough.
        start, stop, rows
            Where the points of each node stand in the orders, and how many rows it has.
        """
        smaller = np.minimum(found.inside, rows[found.node] - found.inside)
        # Equal scores go to the more even split, then to the first column.
        best = np.lexsort((-smaller, -found.score, found.node))
        edges = np.searchsorted(found.node[best], np.arange(len(start) + 1))
        tried, last = edges[:-1].copy(), edges[1:]
        chosen = np.full(len(start), NONE, np.int64)
        many = 1
        while len(open_nodes := np.flatnonzero((chosen == NONE) & (tried < last))):
            counts = np.minimum(many, (last - tried)[open_nodes])
            asked = best[spans(tried[open_nodes], counts)]
            good = np.flatnonzero(self._both(found, asked, start, stop))
            nodes, first = np.unique(found.node[asked[good]], return_index=True)
            chosen[nodes] = asked[good[first]]
            tried[open_nodes] += counts
            many *= MORE
        return chosen

    def _both(
        self, found: CandidateSplits, asked: IntArray, start: IntArray, stop: IntArray
    ) -> BoolArray:
        """Whether both parts of each split are admitted."""
        verdict = np.ones(len(asked), bool)
        if self.size_suffices:
            return verdict
        # One axis at a time, so that a row order is never held more often than needed.
        for axis in np.unique(found.axis[asked]):
            here = np.flatnonzero(found.axis[asked] == axis)
            verdict[here] = self._along(int(axis), found, asked[here], start, stop)
        return verdict

    def _along(
        self, axis: int, found: CandidateSplits, asked: IntArray, start: IntArray, stop: IntArray
    ) -> BoolArray:
        """Judge splits along one axis.

        Every node's rows stand in the order of the axis twice in a row: what a split takes out of
        the middle is a range of the first copy, and what it leaves is a range that ends in the
        second.
        """
        nodes, of_split = np.unique(found.node[asked], return_inverse=True)
        counts = (stop - start)[nodes]
        points = self.orders[axis, spans(start[nodes], counts)]
        code = self.weighted.codes[axis, points].astype(np.int64)
        span = int(code.max()) + 2
        key = np.repeat(np.arange(len(nodes)) * span, counts) + code
        reach = np.append(0, np.cumsum(self.weighted.weight[points]))
        begin, end = found.begin[asked].astype(np.int64), found.end[asked].astype(np.int64)
        low = reach[np.searchsorted(key, of_split * span + begin)]
        high = reach[np.searchsorted(key, of_split * span + end + 1)]
        before = reach[np.append(0, np.cumsum(counts))]
        size, base = np.diff(before)[of_split], before[:-1][of_split]
        twice = self.orders[axis, spans(np.repeat(start[nodes], 2), np.repeat(counts, 2))]
        rows = self.weighted.rows_of(twice)
        # The first copy of a node begins where those of all earlier ones have been written twice.
        starts = np.concatenate([low + base, high + base])
        stops = np.concatenate([high + base, low + base + size])
        admitted = self.guard.admits(self.table, rows, starts, stops)
        both: BoolArray = admitted[: len(asked)] & admitted[len(asked) :]
        return both
