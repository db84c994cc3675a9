"""The different values that each class has on an axis, and how often it has them."""

from itertools import pairwise

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom import Classes
from anonloom.data import Axis
from anonloom.typing import IntArray


@attrs.frozen(eq=False)
class Members:
    """Values of classes.

    Attributes
    ----------
    bounds
        Class `c` has the entries from `bounds[c]` to `bounds[c + 1]`.
    codes
        Ascending codes within a class.
    counts
        How many rows of the class have each.
    """

    bounds: IntArray
    codes: IntArray
    counts: IntArray

    @classmethod
    def of(cls, codes: NDArray[np.int32], classes: Classes) -> "Members":
        """Count the codes of one axis in every class."""
        size = int(codes.max(initial=0)) + 1
        pairs = classes.class_of_position() * size + codes[classes.rows]
        distinct, counts = np.unique(pairs, return_counts=True)
        bounds = np.searchsorted(distinct, np.arange(len(classes) + 1) * size)
        return cls(bounds, distinct % size, counts)

    @property
    def owner(self) -> IntArray:
        """Class of every entry."""
        return np.repeat(np.arange(len(self.bounds) - 1), np.diff(self.bounds))


def set_cells(axis: Axis, codes: NDArray[np.int32], classes: Classes) -> NDArray[np.object_]:
    """Published sets of every class; classes with the same set share one text."""
    members = Members.of(codes, classes)
    raw, step = members.codes.tobytes(), members.codes.itemsize
    known: dict[bytes, int] = {}
    edges = (members.bounds * step).tolist()
    which = [known.setdefault(raw[start:stop], len(known)) for start, stop in pairwise(edges)]
    written = axis.publish_sets([np.frombuffer(key, np.int64) for key in known])
    return written[np.array(which, np.int64)]
