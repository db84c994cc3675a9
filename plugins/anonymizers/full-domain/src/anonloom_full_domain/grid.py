"""The rows of the given classes as weighted points, which every node of a lattice puts in boxes."""

from functools import cached_property

import attrs
import numpy as np

from anonloom import Classes, Table, short_repr
from anonloom.typing import CodeArray, FloatArray, IntArray
from anonloom_columns import collapse
from anonloom_full_domain.box_kernel import NodeRecoding, group_points, slots_for
from anonloom_full_domain.lattice import Lattice

Node = tuple[int, ...]

#: Odd numbers far apart, as many as wanted: boxes are looked up by them if they are too many to
#: be numbered.
_STRIDE = 0xD1B54A32D192ED03


#: Elements that are read per point and axis to find its box, for an estimate of the time.
_STEPS = 1.5


@short_repr
@attrs.frozen(eq=False)
class Boxes:
    """The boxes of a node that hold points.

    Attributes
    ----------
    of_point
        Box of every point that was asked for, or -1.
    first
        A point of every box.
    sizes
        Rows of every box.
    lost
        What every row of the box loses if it is published so.
    """

    of_point: IntArray
    first: IntArray
    sizes: IntArray
    lost: FloatArray

    def __len__(self) -> int:
        return len(self.first)


@short_repr
@attrs.frozen(eq=False)
class Grid:
    """Points of a table.

    Attributes
    ----------
    codes
        (points x 1 + axes): in front the given class, which no box leaves, then the codes on the
        axes of the lattice.
    weights
        Rows of every point.
    point
        Point of every row of the given classes, in their order.
    """

    lattice: Lattice
    classes: Classes
    codes: CodeArray
    weights: IntArray
    point: IntArray

    @classmethod
    def of(cls, table: Table, classes: Classes, least: int = 1) -> "Grid":
        """Collapse the rows of classes; levels without a cell of so many rows are left out."""
        label = classes.class_of_position().astype(np.int32)
        lattice = Lattice.of(table, least)
        own = [table.codes[index][classes.rows] for index in lattice.places]
        result = collapse(np.stack([label, *own]))
        codes = np.ascontiguousarray(result.codes.T)
        return cls(lattice, classes, codes, result.weights, result.point)

    def __len__(self) -> int:
        return len(self.weights)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.point)

    def steps(self, nodes: float) -> float:
        """How many elements are read to put all points into the boxes of so many nodes."""
        return _STEPS * nodes * self.codes.size

    @cached_property
    def _starts(self) -> list[list[int]]:
        """Where every level of every axis begins in the tables; the given class is in front."""
        result, index = [[0]], len(self.classes)
        for axis in self.lattice.axes:
            levels, size = axis.lo.shape
            result.append([index + size * level for level in range(levels)])
            index += levels * size
        return result

    @cached_property
    def _cells(self) -> CodeArray:
        own = np.arange(len(self.classes), dtype=np.int32)
        return np.concatenate([own, *(axis.cells.ravel() for axis in self.lattice.axes)])

    @cached_property
    def _fresh_cells(self) -> CodeArray:
        fresh = np.concatenate(
            [np.ones(len(self.classes), bool), *(axis.fresh.ravel() for axis in self.lattice.axes)]
        )
        return np.where(fresh, self._cells, np.int32(-1))

    @cached_property
    def _losses(self) -> FloatArray:
        none = np.zeros(len(self.classes))
        return np.concatenate([none, *(axis.loss.ravel() for axis in self.lattice.axes)])

    @cached_property
    def _counts(self) -> list[list[int]]:
        """Number of cells of every level of every axis."""
        return [[len(self.classes)]] + [
            (axis.cells[:, -1] + 1).tolist() for axis in self.lattice.axes
        ]

    def boxes(
        self, node: Node, points: IntArray, weights: IntArray, *, only_fresh: bool = False
    ) -> Boxes:
        """Put points into the boxes of a node.

        Parameters
        ----------
        only_fresh
            Leave out boxes that are already boxes of a node below.
        """
        levels = (0, *node)
        starts = np.array([index[level] for index, level in zip(self._starts, levels, strict=True)])
        factors, span = [], 1
        for counts, level in zip(self._counts, levels, strict=True):
            factors.append(span)
            span *= counts[level]
        exact = span < 2**63
        if not exact:
            factors = [(_STRIDE * (2 * index + 1)) % 2**64 for index in range(len(factors))]
        recoding = NodeRecoding(
            self._fresh_cells if only_fresh else self._cells,
            self._losses,
            starts,
            np.array(factors, np.uint64),
            exact,
        )
        of_point, first = np.empty(len(points), np.int64), np.empty(len(points), np.int64)
        sizes, lost = np.empty(len(points), np.int64), np.empty(len(points))
        slots, numbers = (
            np.empty(slots_for(len(points)), np.int32),
            np.empty(len(points), np.uint64),
        )
        count = group_points(
            self.codes, points, weights, recoding, slots, numbers, of_point, first, sizes, lost
        )
        return Boxes(of_point, first[:count], sizes[:count], lost[:count])
