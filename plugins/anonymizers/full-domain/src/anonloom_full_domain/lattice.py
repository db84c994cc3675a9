"""The lattice of level vectors: every axis on one of its levels, from single values to everything.

A level is a partition of the codes of an axis into intervals, its cells; levels are nested. One
level of every axis is a node of the lattice; it divides the table into boxes, products of cells.
"""

from functools import cached_property
from math import prod
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom import Table, short_repr
from anonloom.data import Axis
from anonloom.typing import CodeArray, FloatArray

#: The range of a number without a hierarchy is halved down to so many bins; below them, its values.
_FINEST_BINS = 16


@short_repr
@attrs.frozen(eq=False)
class Levels:
    """The levels of one axis, the finest first. All arrays are (levels x codes).

    Attributes
    ----------
    lo, hi
        First and last code of the cell that each code lies in.
    loss
        What a row in that cell loses on this axis, weighted by the axis's share of all weights.
    of_hierarchy
        (levels): the level of the axis's hierarchy, or -1.
    """

    lo: CodeArray
    hi: CodeArray
    loss: FloatArray
    of_hierarchy: CodeArray

    @classmethod
    def of(cls, axis: Axis, share: float, rows: NDArray[np.int64], least: int) -> "Levels":
        """Gather the levels of an axis; one that divides no more than the next finer is left out.

        The missing value is a cell of its own on all levels but the last, where it lies with all
        others.

        Parameters
        ----------
        rows
            How many rows every code has.
        least
            Rows that a class needs: a level on which no cell has so many divides in vain.
        """
        steps = _hierarchy_steps(axis) if axis.hierarchy is not None else _halving_steps(axis)
        if axis.missing >= 0:
            steps = [(np.append(lo, np.int32(axis.missing)), number) for lo, number in steps]
            steps.append((np.zeros(axis.size, np.int32), steps[-1][1] if steps else -1))
        kept: list[tuple[CodeArray, int]] = []
        for index, (lo, number) in enumerate(steps):
            fits = index == len(steps) - 1 or np.bincount(lo, rows).max(initial=0) >= least
            if fits and (not kept or not np.array_equal(kept[-1][0], lo)):
                kept.append((lo, number))
        lo = np.stack([item for item, _ in kept]).astype(np.int32)
        hi = np.stack([_ends(item) for item in lo])
        numbers = np.array([number for _, number in kept], np.int32)
        return cls(lo, hi, share * axis.loss(lo, hi), numbers)

    def __len__(self) -> int:
        return len(self.lo)

    @cached_property
    def cells(self) -> CodeArray:
        """Number of the cell that each code lies in."""
        first: CodeArray = np.cumsum(
            np.diff(self.lo, axis=1, prepend=-1) > 0, axis=1, dtype=np.int32
        )
        return first - 1

    @cached_property
    def fresh(self) -> NDArray[np.bool_]:
        """Where a cell is not already one of the next finer level."""
        fresh = np.ones(self.lo.shape, bool)
        fresh[1:] = (self.lo[1:] != self.lo[:-1]) | (self.hi[1:] != self.hi[:-1])
        return fresh


def _hierarchy_steps(axis: Axis) -> list[tuple[CodeArray, int]]:
    tree = axis.hierarchy
    assert tree is not None
    return [(tree.first[nodes], level) for level, nodes in enumerate(tree.ancestors)]


def _halving_steps(axis: Axis) -> list[tuple[CodeArray, int]]:
    """Single values, halves of bins, the range in 16, 8, 4, 2 equal parts, the whole range.

    A continuous number has few rows in most of sixteen bins, or most rows in one: below them each
    bin's values are halved, and halved again, wherever they lie.
    """
    places = axis.places[: axis.value_count]
    share = (places - places[:1]) / (axis.range or 1.0)
    part = np.minimum((share * _FINEST_BINS).astype(np.int64), _FINEST_BINS - 1)
    lo = np.searchsorted(part, part).astype(np.int32)
    steps = [lo]
    while (lo != np.arange(len(lo))).any():
        # The middle of every cell, rounded up.
        lo = np.where(np.arange(len(lo)) < (lo + _ends(lo)) // 2 + 1, lo, (lo + _ends(lo)) // 2 + 1)
        steps.insert(0, lo.astype(np.int32))
    while part.any():
        part >>= 1
        steps.append(np.searchsorted(part, part).astype(np.int32))
    return [(step, -1) for step in steps]


def _ends(lo: CodeArray) -> CodeArray:
    """Last code of every code's cell."""
    last = np.append(np.flatnonzero(np.diff(lo)), len(lo) - 1)
    return last[np.searchsorted(last, np.arange(len(lo)))].astype(np.int32)


@short_repr
@attrs.frozen(eq=False)
class Lattice:
    """The levels of all axes of a table.

    Attributes
    ----------
    every
        The levels of every axis of the table.
    """

    every: tuple[Levels, ...]

    @classmethod
    def of(cls, table: Table, least: int = 1) -> "Lattice":
        """Gather the levels of a table's axes.

        Parameters
        ----------
        least
            Rows that a class needs.
        """
        weights = np.array([axis.weight for axis in table.axes], float)
        return cls(
            tuple(
                Levels.of(
                    axis,
                    float(weight / weights.sum()),
                    np.bincount(codes, minlength=axis.size),
                    least,
                )
                for axis, codes, weight in zip(table.axes, table.codes, weights, strict=True)
            )
        )

    @cached_property
    def places(self) -> NDArray[np.int64]:
        """Places of the axes that have more than a single value."""
        return np.flatnonzero([levels.lo.shape[1] > 1 for levels in self.every])

    @cached_property
    def axes(self) -> tuple[Levels, ...]:
        """The levels of these axes: what a node has one of each of."""
        return tuple(self.every[index] for index in self.places)

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of levels of the axes of a node."""
        return tuple(len(axis) for axis in self.axes)

    @property
    def nodes(self) -> int:
        """Number of nodes, exact however large it is."""
        return prod(self.shape)

    def top(self) -> tuple[int, ...]:
        """Return the node on which every axis is a single cell."""
        return tuple(levels - 1 for levels in self.shape)

    def node_sums(self, of_levels: list[Any]) -> FloatArray:
        """Add one figure per level over the axes, for all nodes: an array with the shape."""
        total = np.zeros(())
        for figures in of_levels:
            total = np.add.outer(total, np.asarray(figures, float))
        return total

    def mean_losses(self, codes: CodeArray, weights: NDArray[np.int64]) -> FloatArray:
        """Mean loss of weighted points, (axes x points), on every node if all are published."""
        means = []
        for axis, own in zip(self.axes, codes, strict=True):
            share = np.bincount(own, weights, minlength=axis.lo.shape[1])
            means.append(axis.loss @ share / max(int(weights.sum()), 1))
        return self.node_sums(means)

    def least_losses(self) -> FloatArray:
        """Bound for every node: no fresh box of it loses less."""
        return self.node_sums(
            [np.where(axis.fresh, axis.loss, np.inf).min(axis=1) for axis in self.axes]
        )
