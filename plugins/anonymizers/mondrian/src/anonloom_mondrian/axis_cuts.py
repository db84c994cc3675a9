"""Where classes are cut along one axis each, and what a cut makes of them."""

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom.typing import CodeArray, IntArray
from anonloom_mondrian.fragments import Fragments, in_order, spans


@attrs.frozen(eq=False)
class Cuts:
    """One cut per class.

    Attributes
    ----------
    at
        The first fragment, in the order along the axis, that does not go left as a whole.
    inside
        How many rows of that fragment go left; 0 when the cut lies between two values.
    left
        How many rows go left altogether.
    """

    at: IntArray
    inside: IntArray
    left: IntArray

    def where(self, other: NDArray[np.bool_], cuts: "Cuts") -> "Cuts":
        """Return these cuts, with the other ones where marked."""
        return Cuts(
            np.where(other, cuts.at, self.at),
            np.where(other, cuts.inside, self.inside),
            np.where(other, cuts.left, self.left),
        )


@attrs.frozen(eq=False)
class OrderedClasses:
    """Some classes of a level, each ordered along an axis of its own.

    Attributes
    ----------
    level, classes, axis
        The level, and of each of these classes the number and the axis.
    order
        Fragments of these classes, sorted by class and then by code.
    key, span
        Ascending number of each of them that tells class and code: `class * span + code`.
    reach
        Cumulated weight, with a zero in front.
    bounds
        Offsets of the classes in `order`.
    """

    level: Fragments
    classes: IntArray
    axis: IntArray
    order: IntArray
    key: IntArray
    span: int
    reach: IntArray
    bounds: IntArray

    @classmethod
    def along(cls, level: Fragments, classes: IntArray, axis: IntArray) -> "OrderedClasses":
        """Order classes along their axes."""
        counts = np.diff(level.bounds)[classes]
        fragments = spans(level.bounds[classes], counts)
        code = level.codes[np.repeat(axis, counts), fragments].astype(np.int64)
        span = int(code.max(initial=0)) + 1
        key = np.repeat(np.arange(len(classes)) * span, counts) + code
        place, key = in_order(key)
        order = fragments[place]
        reach = np.append(0, np.cumsum(level.weight[order]))
        bounds = np.append(0, np.cumsum(counts))
        return cls(level, classes, axis, order, key, span, reach, bounds)

    @property
    def sizes(self) -> IntArray:
        """Number of rows of every class."""
        return np.diff(self.reach[self.bounds])

    def behind_median(self) -> Cuts:
        """Cut behind the median value, as in the paper: left gets `value <= median`."""
        return self._between(np.searchsorted(self.key, self.key[self._middle()], side="right"))

    def before_median(self) -> Cuts:
        """Cut before the median value: left gets `value < median`."""
        return self._between(np.searchsorted(self.key, self.key[self._middle()], side="left"))

    def at_half(self) -> Cuts:
        """Cut at the middle row; rows with the median value may go either way."""
        middle = self._middle()
        left = (self.sizes + 1) // 2
        inside = self.reach[self.bounds[:-1]] + left - self.reach[middle]
        whole = inside == self.level.weight[self.order[middle]]
        return Cuts(np.where(whole, middle + 1, middle), np.where(whole, 0, inside), left)

    def before_last(self) -> Cuts:
        """Cut before the last value."""
        return self._between(np.searchsorted(self.key, self.key[self.bounds[1:] - 1], side="left"))

    def unevenness(self, cuts: Cuts) -> IntArray:
        """How many rows the larger half of every class has more than the smaller one."""
        difference: IntArray = np.abs(2 * cuts.left - self.sizes)
        return difference

    def _middle(self) -> IntArray:
        """The fragment that holds the lower median row of every class."""
        base = self.reach[self.bounds[:-1]]
        return np.searchsorted(self.reach, base + (self.sizes + 1) // 2, side="left") - 1

    def _between(self, at: IntArray) -> Cuts:
        return Cuts(at, np.zeros_like(at), self.reach[at] - self.reach[self.bounds[:-1]])

    def ends(self, cuts: Cuts, which: IntArray) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """First and last code of the left half, then of the right half, on the cut axis."""
        index = cuts.at[which]
        begin, end = self.bounds[:-1][which], self.bounds[1:][which]
        least, left, right, most = (
            self.key[place] % self.span for place in (begin, index - 1, index, end - 1)
        )
        return least, left, right, most

    def halves(self, cuts: Cuts, which: IntArray) -> Fragments:
        """Apply the cuts of some classes: left and right halves alternate in the result."""
        counts = np.diff(self.bounds)[which]
        index, inside = cuts.at[which], cuts.inside[which]
        # A fragment that is cut through stands in both halves.
        torn = (inside > 0).astype(np.int64)
        before = np.cumsum(counts + torn) - (counts + torn)
        behind_left = before + (index - self.bounds[which]) + torn
        place = spans(self.bounds[which], counts)
        copies = np.ones(len(place), np.int64)
        copies[(np.cumsum(counts) - counts + index - self.bounds[which])[torn > 0]] = 2
        fragment = self.order[np.repeat(place, copies)]
        first, weight = self.level.first[fragment], self.level.weight[fragment]
        second, part = behind_left[torn > 0], inside[torn > 0]
        weight[second - 1] = part
        first[second] += part
        weight[second] -= part
        bounds = np.append(np.stack([before, behind_left], axis=1).ravel(), len(fragment))
        codes = self.level.codes.take(fragment, axis=1)
        offset = np.repeat(self.level.offset[self.classes[which]], 2)
        offset[1::2] += cuts.left[which]
        lo, hi = self._regions(which, codes, behind_left)
        return Fragments(codes, first, weight, bounds, offset, lo, hi)

    def _regions(
        self, which: IntArray, codes: CodeArray, behind_left: IntArray
    ) -> tuple[CodeArray, CodeArray]:
        """Divide the regions: they stay a cover without gaps, disjoint unless a value is torn."""
        lo = np.repeat(self.level.lo[:, self.classes[which]], 2, axis=1)
        hi = np.repeat(self.level.hi[:, self.classes[which]], 2, axis=1)
        axis, left = self.axis[which], 2 * np.arange(len(which))
        end, begin = codes[axis, behind_left - 1], codes[axis, behind_left]
        hi[axis, left] = end
        lo[axis, left + 1] = np.where(begin == end, end, end + 1)
        return lo, hi
