"""Cut every class near the middle of its widest axis, as the paper does."""

from typing import Literal

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom.typing import BoolArray, IntArray
from anonloom_mondrian.admission import Admission
from anonloom_mondrian.axis_cuts import Cuts, OrderedClasses
from anonloom_mondrian.fragments import Fragments, join

#: Where the rows with the median value go.
Ties = Literal["even", "best", "left", "either"]


@attrs.frozen(eq=False)
class WidestCutter:
    """Cuts one level after the other along the widest axes.

    Attributes
    ----------
    admission
        Says which cuts are allowable.
    ties
        Where rows with the median value go; `either` is the paper's relaxed partitioning.
    """

    admission: Admission
    ties: Ties

    def cut(self, level: Fragments) -> tuple[list[Fragments], Fragments]:
        """Cut all classes of a level; return those that stay as they are, and the halves."""
        roomy = self.admission.roomy(level)
        closed = [level.take(np.flatnonzero(~roomy))]
        level = level.take(np.flatnonzero(roomy))
        if not len(level):
            return closed, level
        spread, mixed = self._spreads(level)
        # Equally wide axes are tried in the order of the columns.
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

    def _spreads(self, level: Fragments) -> tuple[NDArray[np.float64], BoolArray]:
        """Normalized width of every class on every axis, and where missing mixes with values."""
        least, most = level.extents()
        spread = np.empty(least.shape)
        mixed = np.empty(least.shape, bool)
        for index, axis in enumerate(self.admission.table.axes):
            spread[index] = axis.weight * axis.loss(least[index], most[index])
            mixed[index] = (most[index] == axis.missing) & (least[index] < most[index])
        return spread, mixed

    def _try(
        self, level: Fragments, classes: IntArray, axis: IntArray, off_missing: bool
    ) -> tuple[list[Fragments], BoolArray]:
        """Cut classes along their axes; return the allowed halves, and which cuts are allowed."""
        ordered = OrderedClasses.along(level, classes, axis)
        allowed = np.zeros(len(classes), bool)
        parts: list[Fragments] = []
        for cuts in self._options(ordered, off_missing):
            which = np.flatnonzero(self._large(ordered, cuts) & ~allowed)
            halves = ordered.halves(cuts, which)
            admitted = self.admission.both(halves)
            allowed[which] = admitted
            if not admitted.all():
                halves = halves.take(np.flatnonzero(np.repeat(admitted, 2)))
            parts.append(halves)
        return parts, allowed

    def _options(self, ordered: OrderedClasses, off_missing: bool) -> tuple[Cuts, ...]:
        """Return the cuts to try, the better first."""
        if off_missing:
            return (ordered.before_last(),)
        if self.ties == "either":
            return (ordered.at_half(),)
        behind = ordered.behind_median()
        if self.ties == "left":
            return (behind,)
        before = ordered.before_median()
        if self.ties == "even":
            # The boundary nearest to the middle row is one of the two.
            worse = ordered.unevenness(before) <= ordered.unevenness(behind)
        else:
            worse = self._loss_after(ordered, before) < self._loss_after(ordered, behind)
        return behind.where(worse, before), before.where(worse, behind)

    def _loss_after(self, ordered: OrderedClasses, cuts: Cuts) -> NDArray[np.float64]:
        """Loss on the cut axis after a cut; infinite where a half is too small."""
        right = ordered.sizes - cuts.left
        lost = np.full(len(right), np.inf)
        large = self._large(ordered, cuts)
        for index in np.unique(ordered.axis):
            axis = self.admission.table.axes[index]
            here = np.flatnonzero(large & (ordered.axis == index))
            least, end, begin, most = ordered.ends(cuts, here)
            lost[here] = cuts.left[here] * axis.loss(least, end)
            lost[here] += right[here] * axis.loss(begin, most)
        return lost

    def _large(self, ordered: OrderedClasses, cuts: Cuts) -> BoolArray:
        """Whether both halves of each class have the rows that the guard demands."""
        left: BoolArray = self.admission.large(cuts.left)
        return left & self.admission.large(ordered.sizes - cuts.left)
