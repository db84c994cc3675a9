"""Open classes as fragments: runs of rows with equal codes, side by side by class.

Equal rows are one fragment, so that the cost of a level follows the distinct combinations. A
relaxed cut may go through a fragment; its rows are then divided, and nothing else is.
"""

from collections.abc import Sequence

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom import Classes, Table, short_repr
from anonloom.data import Regions
from anonloom.typing import CodeArray, IntArray
from anonloom_columns import collapse


def spans(starts: IntArray, lengths: IntArray) -> IntArray:
    """Return the numbers of all ranges, one range after the other."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    return np.repeat(starts - ends + lengths, lengths) + np.arange(total)


def in_order(key: IntArray) -> tuple[IntArray, NDArray[np.int64]]:
    """Return the stable order of the keys, and the keys in that order."""
    n = len(key)
    bits = max(n - 1, 1).bit_length()
    if int(key.max(initial=0)).bit_length() + bits < 63:
        # Numbers sort several times faster than indices: put the index into the key.
        packed = np.sort((key << bits) | np.arange(n))
        return packed & ((1 << bits) - 1), packed >> bits
    order = np.argsort(key, kind="stable")
    return order, key[order]


@short_repr
@attrs.frozen(eq=False)
class Fragments:
    """Classes of fragments.

    Attributes
    ----------
    codes
        (axes x fragments): the codes that all rows of a fragment share.
    first, weight
        The rows of a fragment are `weight` many, from place `first` of one fixed row order.
    bounds
        Class `c` has the fragments from `bounds[c]` to `bounds[c + 1]`.
    offset
        Where the rows of each class begin in the result. The first region that holds a row is that
        of its class, so that the order counts.
    lo, hi
        (axes x classes): the region of each class, as first and last code.
    """

    codes: CodeArray
    first: IntArray
    weight: IntArray
    bounds: IntArray
    offset: IntArray
    lo: CodeArray
    hi: CodeArray

    def __len__(self) -> int:
        return len(self.bounds) - 1

    @property
    def sizes(self) -> IntArray:
        """Number of rows of every class."""
        return np.diff(np.append(0, np.cumsum(self.weight))[self.bounds])

    def extents(self) -> tuple[CodeArray, CodeArray]:
        """Smallest and largest code of every class, (axes x classes)."""
        starts = self.bounds[:-1]
        least = np.minimum.reduceat(self.codes, starts, axis=1)
        most = np.maximum.reduceat(self.codes, starts, axis=1)
        return least, most

    def take(self, classes: IntArray) -> "Fragments":
        """Return these classes, which are given in ascending order."""
        if len(classes) == len(self):
            return self
        counts = np.diff(self.bounds)[classes]
        inside = spans(self.bounds[classes], counts)
        return Fragments(
            self.codes.take(inside, axis=1),
            self.first[inside],
            self.weight[inside],
            np.append(0, np.cumsum(counts)),
            self.offset[classes],
            self.lo[:, classes],
            self.hi[:, classes],
        )

    def cut_out(self, axis: IntArray, begin: CodeArray, end: CodeArray) -> "Fragments":
        """Take the codes from `begin` to `end` on its axis out of every class.

        What is taken out and what remains alternate in the result; neither may be empty.
        """
        counts = np.diff(self.bounds)
        of_class, every = np.repeat(np.arange(len(self)), counts), np.arange(self.bounds[-1])
        code = self.codes[axis[of_class], every]
        inside = (begin[of_class] <= code) & (code <= end[of_class])
        before = np.append(0, np.cumsum(inside))
        taken = np.diff(before[self.bounds])
        # Places within the class: what is taken out in its order, then what remains.
        rank = before[:-1] - before[self.bounds[:-1]][of_class]
        place = every - rank + taken[of_class]
        place[inside] = (self.bounds[:-1][of_class] + rank)[inside]
        order = np.empty(len(every), np.int64)
        order[place] = every
        bounds = np.stack([self.bounds[:-1], self.bounds[:-1] + taken], axis=1).ravel()
        weight = self.weight[order]
        bounds = np.append(bounds, len(order))
        rows = np.diff(np.append(0, np.cumsum(weight))[bounds])
        first = 2 * np.arange(len(self))
        offset = np.repeat(self.offset, 2)
        offset[first + 1] += rows[first]
        lo, hi = self._regions(axis, begin, end, code)
        return Fragments(
            self.codes.take(order, axis=1), self.first[order], weight, bounds, offset, lo, hi
        )

    def _regions(
        self, axis: IntArray, begin: CodeArray, end: CodeArray, code: CodeArray
    ) -> tuple[CodeArray, CodeArray]:
        """Regions of what is taken out and of what remains.

        What remains on both sides keeps the whole region: what is taken out comes before it.
        """
        starts = self.bounds[:-1]
        lowest = begin == np.minimum.reduceat(code, starts)
        highest = end == np.maximum.reduceat(code, starts)
        lo, hi = np.repeat(self.lo, 2, axis=1), np.repeat(self.hi, 2, axis=1)
        out = 2 * np.arange(len(self))
        kept = out + 1
        lo[axis, out] = np.where(lowest, lo[axis, out], begin)
        hi[axis, out] = np.where(highest, hi[axis, out], end)
        lo[axis, kept] = np.where(lowest, end + 1, lo[axis, kept])
        hi[axis, kept] = np.where(highest, begin - 1, hi[axis, kept])
        return lo, hi

    def places(self) -> IntArray:
        """Places in the row order of all rows, class by class."""
        return spans(self.first, self.weight)

    def row_bounds(self) -> IntArray:
        """Offsets of the classes in `places()`."""
        return np.append(0, np.cumsum(self.sizes))


def gather(table: Table, classes: Classes) -> tuple[Fragments, IntArray]:
    """Collapse the rows of the given classes.

    Returns
    -------
    fragments
        One class for each that was given.
    rows
        The row order that the fragments refer to.
    """
    label = classes.class_of_position().astype(np.int32)
    # With the class in front, points come sorted by class and never cross two of them.
    points = collapse(np.concatenate([label[None], table.codes.take(classes.rows, axis=1)]))
    bounds = np.searchsorted(points.codes[0], np.arange(len(classes) + 1))
    first = np.cumsum(points.weights) - points.weights
    space = classes.space([axis.size for axis in table.axes])
    fragments = Fragments(
        points.codes[1:], first, points.weights, bounds, classes.starts, space.lo.T, space.hi.T
    )
    return fragments, classes.rows[points.rows_by_point()]


def join(parts: Sequence[Fragments]) -> Fragments:
    """Put the classes of several parts one behind the other."""
    counts = np.concatenate([np.diff(part.bounds) for part in parts])
    return Fragments(
        np.concatenate([part.codes for part in parts], axis=1),
        np.concatenate([part.first for part in parts]),
        np.concatenate([part.weight for part in parts]),
        np.append(0, np.cumsum(counts)),
        np.concatenate([part.offset for part in parts]),
        np.concatenate([part.lo for part in parts], axis=1),
        np.concatenate([part.hi for part in parts], axis=1),
    )


def assemble(parts: Sequence[Fragments], rows: IntArray, given: Classes) -> Classes:
    """Turn finished fragments of the given classes back into classes of rows."""
    order = np.argsort(np.concatenate([part.offset for part in parts]))
    counts = np.concatenate([np.diff(part.bounds) for part in parts])
    inside = spans((np.cumsum(counts) - counts)[order], counts[order])
    first = np.concatenate([part.first for part in parts])[inside]
    weight = np.concatenate([part.weight for part in parts])[inside]
    ends = np.append(0, np.cumsum(weight))[np.append(0, np.cumsum(counts[order]))]
    lo = np.concatenate([part.lo for part in parts], axis=1)[:, order]
    hi = np.concatenate([part.hi for part in parts], axis=1)[:, order]
    regions = Regions(np.ascontiguousarray(lo.T), np.ascontiguousarray(hi.T))
    return Classes(
        rows[spans(first, weight)],
        ends,
        given.suppressed,
        regions if given.divide_space else None,
    )
