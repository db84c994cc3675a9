"""Mondrian: cut every class at the median of its widest axis, a whole level of the tree at once."""

from typing import Literal

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom.data.classes import Classes
from anonloom.data.table import Table
from anonloom.kinds.context import Run
from anonloom.kinds.guard import Guard
from anonloom.kinds.partitioner import Partitioner
from anonloom.params import param
from anonloom_mondrian.cutting import Cuts, Ordered
from anonloom_mondrian.fragments import Fragments, Ints, assemble, gather, join


@attrs.frozen(kw_only=True)
class Mondrian(Partitioner):
    """Multidimensional partitioning (LeFevre, DeWitt and Ramakrishnan 2006, section 4).

    Classes are cut until no axis has an allowable cut. Given classes that the guard does not admit
    and that cannot be cut into admitted ones are suppressed.
    """

    mode: Literal["strict", "relaxed"] = param(
        help="strict: rows with equal values stay together, regions are disjoint; relaxed: rows "
        "with the median value may go either way, so that halves are equal.",
        default="strict",
    )

    ties: Literal["best", "left"] = param(
        help="Where a strict cut puts the rows with the median value: on the side where less is "
        "lost, or always left, as the paper writes it.",
        default="best",
    )

    def partition(self, table: Table, classes: Classes, guard: Guard, run: Run) -> Classes:
        """Return the refined classes."""
        if not len(classes):
            return classes
        level, rows = gather(table, classes)
        cutter = _Cutter(table, rows, guard, self)
        done: list[Fragments] = []
        finished = 0
        while len(level):
            closed, level = cutter.cut(level)
            done += closed
            finished += sum(int(part.weight.sum()) for part in closed)
            run.progress(finished, len(rows))
        refined = assemble(done, rows, classes.suppressed)
        # A cut makes admitted halves only; what was never cut is as good as it came.
        admitted = guard.admits_classes(table, refined)
        return refined if admitted.all() else refined.suppress(~admitted)


@attrs.frozen(eq=False)
class _Cutter:
    """Cuts one level after the other."""

    table: Table
    rows: Ints
    guard: Guard
    method: Mondrian

    def cut(self, level: Fragments) -> tuple[list[Fragments], Fragments]:
        """Cut all classes of a level; return those that stay as they are, and the halves."""
        roomy = level.sizes >= 2 * self.guard.min_size
        closed = [level.take(np.flatnonzero(~roomy))]
        level = level.take(np.flatnonzero(roomy))
        if not len(level):
            return closed, level
        spread, mixed = self._spreads(level)
        by_width = np.argsort(-spread, axis=0, kind="stable")
        cut, uncut = np.zeros(len(level), bool), np.arange(len(level))
        halves: list[Fragments] = []
        # choose_dimension: the widest axis, or the next widest where that has no allowable cut.
        for axis in by_width:
            for off_missing in (True, False):
                worth = mixed if off_missing else spread > 0
                tried = uncut[worth[axis[uncut], uncut]]
                if len(tried):
                    parts, allowed = self._try(level, tried, axis[tried], off_missing)
                    halves += parts
                    cut[tried[allowed]] = True
                    uncut = np.flatnonzero(~cut)
        closed.append(level.take(uncut))
        return closed, join([level.take(uncut[:0]), *halves])

    def _spreads(self, level: Fragments) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Normalized width of every class on every axis, and where missing mixes with values."""
        least, most = level.extents()
        spread = np.empty(least.shape)
        mixed = np.empty(least.shape, bool)
        for at, axis in enumerate(self.table.axes):
            spread[at] = axis.weight * axis.loss(least[at], most[at])
            mixed[at] = (most[at] == axis.missing) & (least[at] < most[at])
        return spread, mixed

    def _try(
        self, level: Fragments, classes: Ints, axis: Ints, off_missing: bool
    ) -> tuple[list[Fragments], NDArray[np.bool_]]:
        """Cut classes along their axes; return the allowed halves, and which cuts are allowed."""
        ordered = Ordered.along(level, classes, axis)
        allowed = np.zeros(len(classes), bool)
        parts: list[Fragments] = []
        for cuts in self._options(ordered, off_missing):
            which = np.flatnonzero(self._large(ordered, cuts) & ~allowed)
            halves = ordered.halves(cuts, which)
            admitted = self._admitted(halves)
            allowed[which] = admitted
            if not admitted.all():
                halves = halves.take(np.flatnonzero(np.repeat(admitted, 2)))
            parts.append(halves)
        return parts, allowed

    def _options(self, ordered: Ordered, off_missing: bool) -> tuple[Cuts, ...]:
        """Return the cuts to try, the better first."""
        if off_missing:
            return (ordered.before_last(),)
        if self.method.mode == "relaxed":
            return (ordered.at_half(),)
        behind = ordered.behind_median()
        if self.method.ties == "left":
            return (behind,)
        before = ordered.before_median()
        worse = self._lost(ordered, before) < self._lost(ordered, behind)
        return behind.where(worse, before), before.where(worse, behind)

    def _lost(self, ordered: Ordered, cuts: Cuts) -> NDArray[np.float64]:
        """Loss on the cut axis after a cut; infinite where a half is too small."""
        right = ordered.sizes - cuts.left
        lost = np.full(len(right), np.inf)
        large = self._large(ordered, cuts)
        for at in np.unique(ordered.axis):
            axis, here = self.table.axes[at], np.flatnonzero(large & (ordered.axis == at))
            least, end, begin, most = ordered.ends(cuts, here)
            lost[here] = cuts.left[here] * axis.loss(least, end)
            lost[here] += right[here] * axis.loss(begin, most)
        return lost

    def _large(self, ordered: Ordered, cuts: Cuts) -> NDArray[np.bool_]:
        """Whether both halves of each class have the rows that the guard demands."""
        right = ordered.sizes - cuts.left
        smaller = np.minimum(cuts.left, right)
        kept: Ints = np.minimum(self.guard.least_kept(cuts.left), self.guard.least_kept(right))
        large: NDArray[np.bool_] = (smaller > 0) & (kept >= self.guard.demanded)
        return large

    def _admitted(self, halves: Fragments) -> NDArray[np.bool_]:
        """Whether the guard admits both halves of each class; large enough they are."""
        if not len(halves) or (self.guard.size_only and self.table.revealed().persons is None):
            return np.ones(len(halves) // 2, bool)
        bounds = halves.row_bounds()
        rows = self.rows[halves.places()]
        verdict = self.guard.admits(self.table, rows, bounds[:-1], bounds[1:])
        both: NDArray[np.bool_] = verdict[0::2] & verdict[1::2]
        return both
