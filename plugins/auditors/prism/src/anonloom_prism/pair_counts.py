"""Counts of all pairs of levels at once: Gram matrices of the encoded table, by class of target.

The Gram matrix of 0/1 columns holds how often every two levels meet. Of the rows of one class of
the sensitive attribute, it holds how often they meet there: every contingency table of a pair and
a target is read off these matrices. Those of larger sets come from the matrices of the rows at
each level of a further attribute, which together cost no more than one matrix of all rows.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom import short_repr
from anonloom.typing import FloatArray, IntArray
from anonloom_prism.encoding import EncodedTable
from anonloom_prism.targets import Targets

#: Rows that are multiplied at a time: few enough to stay in the cache after they were picked, and
#: for sums of 0 and 1 to be exact in single precision.
_TOGETHER = 2048


@short_repr
@attrs.frozen(eq=False)
class Counts:
    """How many rows have two levels, for some part of the rows; the last axes are symmetric.

    Attributes
    ----------
    both
        (... x columns x columns): the first levels of attributes.
    edge
        (... x attributes x columns): the last level of an attribute, and a first one.
    corner
        (... x attributes x attributes): two last levels.
    """

    both: FloatArray
    edge: FloatArray
    corner: FloatArray

    @classmethod
    def complete(cls, both: FloatArray, rows: FloatArray, starts: IntArray) -> "Counts":
        """Work out the counts of the last levels: what is left of the rows.

        Parameters
        ----------
        both
            A Gram matrix or many.
        rows
            How many rows each of them is of.
        starts
            First column of every attribute.
        """
        single = np.diagonal(both, axis1=-2, axis2=-1)
        summed = np.add.reduceat(both, starts, axis=-2)
        first = np.add.reduceat(single, starts, axis=-1)
        edge = single[..., None, :] - summed
        corner = np.add.reduceat(summed, starts, axis=-1)
        corner += rows[..., None, None] - first[..., :, None] - first[..., None, :]
        return cls(both, edge, corner)

    def singles(self) -> tuple[FloatArray, FloatArray]:
        """Counts of the first levels, and of the last ones."""
        return (
            np.diagonal(self.both, axis1=-2, axis2=-1),
            np.diagonal(self.corner, axis1=-2, axis2=-1),
        )


class Grams:
    """The encoded table, its rows sorted by class, and the Gram matrices of any part of them."""

    def __init__(self, encoded: EncodedTable, targets: Targets) -> None:
        order = np.argsort(targets.classes, kind="stable")
        self.encoded = encoded.sorted_by(order)
        self.classes = targets.classes[order]
        self.members = targets.members
        self.columns = self.encoded.indicators()
        #: Rows of every class, and (classes x columns x columns), over all rows.
        self.sizes, self.whole = self._by_class(np.arange(len(order)), self.columns.shape[1])

    def _by_class(self, rows: IntArray, width: int) -> tuple[FloatArray, FloatArray]:
        """Rows and Gram matrix of every class, over some rows, which are sorted by class."""
        count = self.members.shape[1]
        result = np.zeros((count, width, width))
        stops = np.searchsorted(self.classes[rows], np.arange(count + 1))
        for index, (start, stop) in enumerate(pairwise(stops)):
            for first in range(start, stop, _TOGETHER):
                part = self.columns[rows[first : min(first + _TOGETHER, stop)], :width]
                result[index] += part.T @ part
        return np.diff(stops).astype(np.float64), result

    def total_counts(self) -> Counts:
        """Return the counts over all rows, by class."""
        return Counts.complete(self.whole, self.sizes, self.encoded.starts)

    def conditional_counts(self, chosen: Sequence[int]) -> Iterator[Counts]:
        """Yield the counts for every combination of levels that occurs of some attributes.

        Counts are those of the attributes before the first chosen one.
        """
        before = min(chosen)
        starts = self.encoded.starts[:before]
        width = int(self.encoded.starts[before])
        cells = joint(self.encoded, chosen)
        order = np.argsort(cells, kind="stable")
        occurring, bounds = np.unique(cells[order], return_index=True)
        bounds = np.append(bounds, len(order))
        largest = int(np.argmax(np.diff(bounds)))
        # What is left of the whole is the most frequent combination: its rows need no product.
        left, left_rows = self.whole[:, :width, :width].copy(), self.sizes.copy()
        for index in range(len(occurring)):
            if index == largest:
                continue
            sizes, both = self._by_class(order[bounds[index] : bounds[index + 1]], width)
            left -= both
            left_rows -= sizes
            yield Counts.complete(both, sizes, starts)
        yield Counts.complete(left, left_rows, starts)


def joint(encoded: EncodedTable, chosen: Sequence[int]) -> NDArray[np.integer]:
    """Return the combination of levels of every row, as a number."""
    cells = np.zeros(encoded.rows, np.int64)
    for index in chosen:
        cells = cells * int(encoded.levels[index]) + encoded.codes[index]
    # Small numbers are sorted by their digits.
    size = int(np.prod([float(encoded.levels[index]) for index in chosen]))
    return cells.astype(np.int16) if size < 1 << 15 else cells
