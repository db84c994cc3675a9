"""The tree, grown a whole level at a time."""

from collections.abc import Iterator

import attrs
import numpy as np

from anonloom import Classes, Guard, StageContext, Table, short_repr
from anonloom.data import Regions
from anonloom.typing import BoolArray, CodeArray, FloatArray, IntArray
from anonloom_tada.impurity import Counts, counts_for, terms
from anonloom_tada.split_choice import NONE, Chooser
from anonloom_tada.split_scores import (
    CandidateSplits,
    Trees,
    divide,
    room_for,
    score_splits,
    trees_of,
)
from anonloom_tada.targets import Targets
from anonloom_tada.weighted_points import WeightedPoints

#: Splits that are held at a time.
BATCH = 1 << 20

#: Elements that are read per point, level of an axis and target, for an estimate of the time.
STEPS = 130

#: A node whose rows are less impure than this, where all rows together have 1, is pure.
PURE = 1e-9


@attrs.frozen(eq=False)
class Nodes:
    """Nodes of one level.

    Attributes
    ----------
    number
        Number of each node in the tree.
    start, stop
        Where its points stand in the orders.
    rows
        How many rows it has.
    lo, hi
        (nodes x axes): its region, as first and last code.
    free
        (nodes x axes): along which axes it may be split.
    """

    number: IntArray
    start: IntArray
    stop: IntArray
    rows: IntArray
    lo: CodeArray
    hi: CodeArray
    free: BoolArray

    def __len__(self) -> int:
        return len(self.start)

    def take(self, which: IntArray | BoolArray) -> "Nodes":
        """Return these nodes."""
        return Nodes(*(own[which] for own in attrs.astuple(self, recurse=False)))


def concatenate_nodes(parts: list[Nodes]) -> Nodes:
    """Put the nodes of several parts one behind the other."""
    columns = zip(*(attrs.astuple(part, recurse=False) for part in parts), strict=True)
    return Nodes(*(np.concatenate(column) for column in columns))


@attrs.frozen(eq=False)
class Splits:
    """The splits of one level, each of one node into what it takes out and what remains.

    Attributes
    ----------
    node, parts
        Number of each node that is split, and (splits x 2) of its parts.
    axis, begin, end
        Along which axis, and which codes are taken out.
    last
        The last code of the node along the axis, before the split.
    gain
        As a share of the impurity of all rows.
    rows
        (splits x 2): rows of the parts.
    """

    node: IntArray
    parts: IntArray
    axis: IntArray
    begin: CodeArray
    end: CodeArray
    last: CodeArray
    gain: FloatArray
    rows: IntArray


@short_repr
@attrs.frozen(eq=False)
class Forest:
    """A tree for each given class.

    Attributes
    ----------
    roots
        Rows of every given class, whose node has the number of the class.
    splits
        Level after level.
    leaves
        What is not split any more.
    """

    roots: IntArray
    splits: tuple[Splits, ...]
    leaves: Nodes

    def classes(self, given: Classes, weighted: WeightedPoints, order: CodeArray) -> Classes:
        """Return the leaves as classes; the first region that holds a row is that of its class."""
        leaves = self.leaves.take(np.argsort(self.leaves.start))
        bounds = np.append(0, np.cumsum(leaves.rows))
        regions = Regions(leaves.lo, leaves.hi) if given.divide_space else None
        return Classes(weighted.rows_of(order), bounds, given.suppressed, regions)


@short_repr
@attrs.frozen(eq=False)
class Grower:
    """Splits nodes, level by level.

    Attributes
    ----------
    weighted, orders, targets, trees
        Points, their orders along the axes (which are changed), what splits are to make pure, and
        how splits are sought.
    chooser
        Knows what the guard admits.
    reuse
        Whether an axis may be split along again below a split along it.
    """

    table: Table
    weighted: WeightedPoints
    orders: CodeArray
    targets: Targets
    trees: Trees
    chooser: Chooser
    reuse: bool
    term: FloatArray
    enough: BoolArray
    counts: Counts

    @classmethod
    def of(
        cls, table: Table, weighted: WeightedPoints, targets: Targets, guard: Guard, reuse: bool
    ) -> "Grower":
        """Prepare what all levels need."""
        orders = weighted.orders()
        chooser = Chooser(table, guard, weighted, orders)
        rows = len(weighted.rows)
        enough = chooser.large(np.arange(rows + 1))
        # Only entropies need them.
        term = terms(rows if targets.entropy.any() else 0)
        counts = counts_for(targets)
        return cls(
            table, weighted, orders, targets, trees_of(table), chooser, reuse, term, enough, counts
        )

    @property
    def steps(self) -> float:
        """How many elements are read to grow the trees, about."""
        ways = int(np.maximum(self.trees.levels, 1).sum())
        targets = len(self.targets.worth) + len(self.targets.number_worth)
        return STEPS * len(self.weighted.weight) * ways * targets

    @property
    def order(self) -> CodeArray:
        """Points, those of one node side by side."""
        order: CodeArray = self.orders[0]
        return order

    def grow(self, classes: Classes, context: StageContext) -> Forest:
        """Grow the tree of every given class."""
        level = self._roots(classes)
        roots, number = level.rows, len(level)
        closed: list[Nodes] = []
        splits: list[Splits] = []
        finished = 0
        while len(level):
            done, level, result = self._split(level, number)
            closed.append(done)
            splits += result
            number += 2 * sum(len(item.node) for item in result)
            finished += int(done.rows.sum())
            context.progress(finished, len(classes.rows))
        return Forest(roots, tuple(splits), concatenate_nodes(closed))

    def _roots(self, classes: Classes) -> Nodes:
        shape = (len(classes), len(self.table.axes))
        space = classes.space([axis.size for axis in self.table.axes])
        bounds, every = self.weighted.bounds, np.arange(len(classes))
        return Nodes(
            every,
            bounds[:-1],
            bounds[1:],
            classes.sizes,
            space.lo,
            space.hi,
            np.ones(shape, bool),
        )

    def _split(self, level: Nodes, number: int) -> tuple[Nodes, Nodes, list[Splits]]:
        """Split a level; return the nodes that stay, the parts of the others, and the splits."""
        roomy = level.rows >= 2 * self.chooser.guard.min_size
        closed, parts, result = [level.take(~roomy)], [level.take(np.arange(0))], []
        level = level.take(roomy)
        for batch in self._batches(level):
            stay, halves, splits = self._split_batch(batch, number)
            closed.append(stay)
            parts.append(halves)
            result.append(splits)
            number += len(halves)
        return concatenate_nodes(closed), concatenate_nodes(parts), result

    def _batches(self, level: Nodes) -> Iterator[Nodes]:
        """Divide a level, so that not too many splits are held at a time."""
        most = np.cumsum(self.trees.most(level.stop - level.start))
        first = 0
        while first < len(level):
            before = most[first - 1] if first else 0
            last = max(int(np.searchsorted(most, before + BATCH, side="right")), first + 1)
            yield level.take(np.arange(first, last))
            first = last

    def _split_batch(self, level: Nodes, number: int) -> tuple[Nodes, Nodes, Splits]:
        result, impurity = self._score(level)
        pure = impurity * len(self.weighted.rows) <= PURE * level.rows
        chosen = np.full(len(level), NONE, np.int64)
        open_nodes = np.flatnonzero(~pure)
        # Splits of pure nodes are left out, and the others' nodes numbered anew.
        result = result.take(np.flatnonzero(~pure[result.node]))
        result = result._replace(node=(np.cumsum(~pure) - 1)[result.node])
        asked = level.take(open_nodes)
        chosen[open_nodes] = self.chooser.choose(result, asked.start, asked.stop, asked.rows)
        cut = chosen != NONE
        which = chosen[cut]
        split = level.take(cut)
        halves, splits = self._divide(split, result.take(which), number)
        return level.take(~cut), halves, splits

    def _score(self, level: Nodes) -> tuple[CandidateSplits, FloatArray]:
        impurity = np.zeros(len(level))
        room = room_for(int(self.trees.most(level.stop - level.start).sum()))
        count = score_splits(
            level.start, level.stop, level.free, self.orders, self.weighted.codes,
            self.weighted.weight, self.trees, self.targets, self.term, self.enough, self.counts,
            impurity, room,
        )  # fmt: skip
        return room.take(slice(count)), impurity

    def _divide(self, level: Nodes, found: CandidateSplits, number: int) -> tuple[Nodes, Splits]:
        """Apply one split to each node: what is taken out and what remains alternate."""
        codes, axis = self.weighted.codes, found.axis
        least = codes[axis, self.orders[axis, level.start]]
        most = codes[axis, self.orders[axis, level.stop - 1]]
        middle = np.empty(len(level), np.int64)
        longest = int((level.stop - level.start).max(initial=0))
        divide(
            self.orders, codes, level.start, level.stop, axis, found.begin, found.end, middle,
            np.empty(longest, np.int32),
        )  # fmt: skip
        rows = np.stack([found.inside, level.rows - found.inside], axis=1)
        lo, hi = self._regions(level, found, found.begin == least, found.end == most)
        free = np.repeat(level.free, 2, axis=0)
        if not self.reuse:
            free[np.arange(len(free)), np.repeat(axis, 2)] = False
        parts = number + np.arange(2 * len(level))
        halves = Nodes(
            parts,
            np.stack([level.start, middle], axis=1).ravel(),
            np.stack([middle, level.stop], axis=1).ravel(),
            rows.ravel(),
            lo,
            hi,
            free,
        )
        splits = Splits(
            level.number,
            parts.reshape(-1, 2),
            axis,
            found.begin,
            found.end,
            most,
            found.gain,
            rows,
        )
        return halves, splits

    def _regions(
        self, level: Nodes, found: CandidateSplits, lowest: BoolArray, highest: BoolArray
    ) -> tuple[CodeArray, CodeArray]:
        """Regions of what is taken out and of what remains.

        What remains on both sides keeps the whole region: what is taken out comes before it.
        """
        lo, hi = np.repeat(level.lo, 2, axis=0), np.repeat(level.hi, 2, axis=0)
        out = 2 * np.arange(len(level))
        kept, axis, begin, end = out + 1, found.axis, found.begin, found.end
        lo[out, axis] = np.where(lowest, lo[out, axis], begin)
        hi[out, axis] = np.where(highest, hi[out, axis], end)
        lo[kept, axis] = np.where(lowest, end + 1, lo[kept, axis])
        hi[kept, axis] = np.where(highest, begin - 1, hi[kept, axis])
        return lo, hi
