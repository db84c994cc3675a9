"""Equal rows as weighted points, kept in order along every axis while nodes are divided.

Rows that agree in every quasi-identifier and in every label that is a category are one point. A
node of the tree is a range of places; along every axis the points of a node stand in that range,
in the order of their codes, so that no level has to sort anything.
"""

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom import Classes, Table, short_repr
from anonloom.typing import CodeArray, IntArray
from anonloom_columns import collapse


def spans(starts: IntArray, lengths: IntArray) -> IntArray:
    """Return the numbers of all ranges, one range after the other."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    return np.repeat(starts - ends + lengths, lengths) + np.arange(total)


@short_repr
@attrs.frozen(eq=False)
class WeightedPoints:
    """The rows of the given classes as points.

    Attributes
    ----------
    codes
        (axes x points): the codes that all rows of a point share.
    extra
        (further columns x points): what else they share.
    first, weight
        The rows of a point are `weight` many, from place `first` of `rows`.
    rows
        Row numbers, those of one point side by side.
    point
        Point of every place of the given classes' rows.
    bounds
        Offsets of the given classes among the points.
    """

    codes: CodeArray
    extra: CodeArray
    first: IntArray
    weight: IntArray
    rows: IntArray
    point: IntArray
    bounds: IntArray

    @classmethod
    def of(cls, table: Table, classes: Classes, extra: CodeArray) -> "WeightedPoints":
        """Collapse the rows of the classes.

        Parameters
        ----------
        extra
            (further columns x rows of the classes): what rows of one point agree in, too.
        """
        axes = len(table.axes)
        label = classes.class_of_position().astype(np.int32)
        # With the class in front, points come sorted by class and never cross two of them.
        points = collapse(
            np.concatenate([label[None], table.codes.take(classes.rows, axis=1), extra])
        )
        return cls(
            np.ascontiguousarray(points.codes[1 : 1 + axes]),
            points.codes[1 + axes :],
            np.cumsum(points.weights) - points.weights,
            points.weights,
            classes.rows[points.rows_by_point()],
            points.point,
            np.searchsorted(points.codes[0], np.arange(len(classes) + 1)),
        )

    def orders(self) -> CodeArray:
        """Points of every class in the order of their codes, (axes x points)."""
        of_class = np.repeat(np.arange(len(self.bounds) - 1), np.diff(self.bounds))
        orders = np.empty(self.codes.shape, np.int32)
        bits = max(len(of_class) - 1, 1).bit_length()
        for axis, codes in enumerate(self.codes):
            span = int(codes.max(initial=0)) + 1
            key = of_class * span + codes
            if int(key.max(initial=0)).bit_length() + bits < 63:
                # Numbers sort several times faster than indices: put the index into the key.
                packed = np.sort((key << bits) | np.arange(len(key)))
                orders[axis] = packed & ((1 << bits) - 1)
            else:
                orders[axis] = np.argsort(key, kind="stable")
        return orders

    def rows_of(self, points: NDArray[np.integer]) -> IntArray:
        """Row numbers of these points, one point after the other."""
        result: IntArray = self.rows[spans(self.first[points], self.weight[points])]
        return result
