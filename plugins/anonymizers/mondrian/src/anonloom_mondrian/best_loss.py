"""Cut every class where its rows lose least afterwards, on all axes together."""

import attrs
import numpy as np

from anonloom import StageContext, short_repr
from anonloom.typing import BoolArray, IntArray
from anonloom_kernels.compiled import announce_interpreted
from anonloom_kernels.losses import Losses, losses_of
from anonloom_mondrian.admission import Admission
from anonloom_mondrian.candidates import Ways, scratch_for, ways_of
from anonloom_mondrian.cut_scores import NONE, CutPairs, score_cuts
from anonloom_mondrian.fragments import Fragments, in_order, join

#: Elements that are read per row and axis, over all levels, for an estimate of the time.
STEPS = 400


@short_repr
@attrs.frozen(eq=False)
class BestLossCutter:
    """Cuts one level after the other where least is lost.

    Attributes
    ----------
    admission
        Says which cuts are allowable.
    per_bit
        Power of the entropy of a cut, by which the drop in loss is divided.
    losses, ways
        What an extent loses on each axis, and how cuts are sought along it.
    enough
        Whether a class of so many rows is large enough.
    """

    admission: Admission
    per_bit: float
    losses: Losses
    ways: Ways
    enough: BoolArray

    @classmethod
    def of(cls, admission: Admission, per_bit: float, context: StageContext) -> "BestLossCutter":
        """Prepare what all levels need."""
        table = admission.table
        enough = admission.large(np.arange(len(admission.rows) + 1))
        announce_interpreted(context, __package__, STEPS * len(admission.rows) * len(table.axes))
        return cls(admission, per_bit, losses_of(table), ways_of(table), enough)

    def cut(self, level: Fragments) -> tuple[list[Fragments], Fragments]:
        """Cut all classes of a level; return those that stay as they are, and the halves."""
        roomy = self.admission.roomy(level)
        closed = [level.take(np.flatnonzero(~roomy))]
        level = level.take(np.flatnonzero(roomy))
        if not len(level):
            return closed, level
        result = self.propose(level)
        cut, uncut = np.zeros(len(level), bool), np.arange(len(level))
        halves: list[Fragments] = []
        # The better axes first; among equals the more even cut, then the order of the columns.
        order = np.lexsort((-result.smaller, -result.score), axis=0)
        # Where the guard refuses the best cut of every axis, the most even ones are the likeliest
        # to leave enough different values on both sides.
        for ends in (result.best, result.even):
            for axis in order:
                tried = uncut[ends[0, axis[uncut], uncut] != NONE]
                if len(tried):
                    parts = level.take(tried).cut_out(axis[tried], *ends[:, axis[tried], tried])
                    admitted = self.admission.both(parts)
                    if not admitted.all():
                        parts = parts.take(np.flatnonzero(np.repeat(admitted, 2)))
                    halves.append(parts)
                    cut[tried[admitted]] = True
                    uncut = np.flatnonzero(~cut)
        closed.append(level.take(uncut))
        return closed, join([level.take(uncut[:0]), *halves])

    def propose(self, level: Fragments) -> CutPairs:
        """Find the best and the most even cut of every class along every axis."""
        shape = (len(level.codes), len(level))
        result = CutPairs(
            np.full(shape, -np.inf),
            np.zeros(shape, np.int64),
            np.full((2, *shape), NONE, np.int32),
            np.full((2, *shape), NONE, np.int32),
        )
        largest = int(np.diff(level.bounds).max())
        scratch = scratch_for(len(level.codes), largest, int(self.losses.size.max()))
        score_cuts(
            level.codes,
            level.weight,
            level.bounds,
            self._orders(level),
            self.losses,
            self.ways,
            self.enough,
            self.per_bit,
            scratch,
            result,
        )
        return result

    def _orders(self, level: Fragments) -> IntArray:
        """Sort the fragments of every class along each axis that has many codes."""
        axes = np.flatnonzero(self.ways.sorted >= 0)
        if not len(axes):
            return np.empty((1, 0), np.int64)
        of_class = np.repeat(np.arange(len(level)), np.diff(level.bounds))
        orders = np.empty((len(axes), len(of_class)), np.int64)
        for index, axis in enumerate(axes):
            size = self.admission.table.axes[axis].size
            orders[index] = in_order(of_class * size + level.codes[axis])[0]
        orders -= level.bounds[of_class]
        return orders
