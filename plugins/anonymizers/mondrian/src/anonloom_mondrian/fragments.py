"""Open classes as fragments: runs of rows with equal codes, side by side by class.

Equal rows are one fragment, so that the cost of a level follows the distinct combinations. A
relaxed cut may go through a fragment; its rows are then divided, and nothing else is.
"""

from collections.abc import Sequence

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom.data.classes import Classes, Regions
from anonloom.data.points import collapse
from anonloom.data.table import Table

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]


def spans(starts: Ints, lengths: Ints) -> Ints:
    """Return the numbers of all ranges, one range after the other."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    return np.repeat(starts - ends + lengths, lengths) + np.arange(total)


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
    lo, hi
        (axes x classes): the region of each class, as first and last code.
    """

    codes: Codes
    first: Ints
    weight: Ints
    bounds: Ints
    lo: Codes
    hi: Codes

    def __len__(self) -> int:
        return len(self.bounds) - 1

    @property
    def sizes(self) -> Ints:
        """Number of rows of every class."""
        return np.diff(np.append(0, np.cumsum(self.weight))[self.bounds])

    def extents(self) -> tuple[Codes, Codes]:
        """Smallest and largest code of every class, (axes x classes)."""
        starts = self.bounds[:-1]
        least = np.minimum.reduceat(self.codes, starts, axis=1)
        most = np.maximum.reduceat(self.codes, starts, axis=1)
        return least, most

    def take(self, classes: Ints) -> "Fragments":
        """Return these classes."""
        counts = np.diff(self.bounds)[classes]
        inside = spans(self.bounds[classes], counts)
        return Fragments(
            self.codes[:, inside],
            self.first[inside],
            self.weight[inside],
            np.append(0, np.cumsum(counts)),
            self.lo[:, classes],
            self.hi[:, classes],
        )

    def divided(self, axis: Ints, last: Codes) -> "Fragments":
        """Cut every class along its axis: codes up to `last` go left, the others right.

        Left and right halves alternate in the result; neither may be empty.
        """
        counts = np.diff(self.bounds)
        of_class = np.repeat(np.arange(len(self)), counts)
        left = self.codes[axis[of_class], np.arange(len(of_class))] <= last[of_class]
        before = np.append(0, np.cumsum(left))
        lefts = np.diff(before[self.bounds])
        # Places within the class: its left fragments in their order, then its right ones.
        rank = before[:-1] - before[self.bounds[:-1]][of_class]
        place = np.arange(len(of_class)) - rank + lefts[of_class]
        place[left] = (self.bounds[:-1][of_class] + rank)[left]
        order = np.empty(len(of_class), np.int64)
        order[place] = np.arange(len(of_class))
        bounds = np.stack([self.bounds[:-1], self.bounds[:-1] + lefts], axis=1).ravel()
        lo, hi = np.repeat(self.lo, 2, axis=1), np.repeat(self.hi, 2, axis=1)
        first_half = 2 * np.arange(len(self))
        hi[axis, first_half], lo[axis, first_half + 1] = last, last + 1
        return Fragments(
            self.codes[:, order],
            self.first[order],
            self.weight[order],
            np.append(bounds, len(order)),
            lo,
            hi,
        )

    def places(self) -> Ints:
        """Places in the row order of all rows, class by class."""
        return spans(self.first, self.weight)

    def row_bounds(self) -> Ints:
        """Offsets of the classes in `places()`."""
        return np.append(0, np.cumsum(self.sizes))


def gather(table: Table, classes: Classes) -> tuple[Fragments, Ints]:
    """Collapse the rows of the given classes.

    Returns
    -------
    fragments
        One class for each that was given.
    rows
        The row order that the fragments refer to.
    """
    axes = len(table.axes)
    label = classes.class_of_position().astype(np.int32)
    # With the class in front, points come sorted by class and never cross two of them.
    points = collapse(np.concatenate([label[None], table.codes[:, classes.rows]]))
    bounds = np.searchsorted(points.codes[0], np.arange(len(classes) + 1))
    first = np.cumsum(points.weights) - points.weights
    if classes.regions is not None:
        lo, hi = classes.regions.lo.T, classes.regions.hi.T
    else:
        lo = np.zeros((axes, len(classes)), np.int32)
        top = np.array([axis.size - 1 for axis in table.axes], np.int32)
        hi = np.repeat(top[:, None], len(classes), axis=1)
    fragments = Fragments(points.codes[1:], first, points.weights, bounds, lo, hi)
    return fragments, classes.rows[points.rows_by_point()]


def join(parts: Sequence[Fragments]) -> Fragments:
    """Put the classes of several parts one behind the other."""
    counts = np.concatenate([np.diff(part.bounds) for part in parts])
    return Fragments(
        np.concatenate([part.codes for part in parts], axis=1),
        np.concatenate([part.first for part in parts]),
        np.concatenate([part.weight for part in parts]),
        np.append(0, np.cumsum(counts)),
        np.concatenate([part.lo for part in parts], axis=1),
        np.concatenate([part.hi for part in parts], axis=1),
    )


def assemble(parts: Sequence[Fragments], rows: Ints, suppressed: Ints) -> Classes:
    """Turn finished fragments back into classes of rows."""
    whole = join(parts)
    return Classes(
        rows[whole.places()],
        whole.row_bounds(),
        suppressed,
        Regions(np.ascontiguousarray(whole.lo.T), np.ascontiguousarray(whole.hi.T)),
    )
