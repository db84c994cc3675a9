"""The levels of every axis for kernels: into which parts a hierarchy divides the codes."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anonloom import Table
from anonloom.data import Axis

__all__ = [
    "Levels",
    "axis_levels",
    "levels_of",
]


class Levels(NamedTuple):
    """Digits of all codes on all levels.

    On a level every code has a digit: the rank of its node there. Digits ascend with the codes. A
    missing value has the last digit of every level. An axis that is published without its
    hierarchy has no levels: it is divided in two at any place.

    Attributes
    ----------
    depth
        Levels of each axis, from the children of the root down to the single codes.
    start
        Where the axis's part of `digits` begins.
    size
        Number of codes of each axis.
    cells
        (axes x levels): how many digits there are.
    digits
        Digit of every code, level after level, axis after axis.
    """

    depth: NDArray[np.int64]
    start: NDArray[np.int64]
    size: NDArray[np.int64]
    cells: NDArray[np.int64]
    digits: NDArray[np.int32]


def levels_of(table: Table) -> Levels:
    """Gather the levels of a table's axes."""
    digits = [axis_levels(axis) for axis in table.axes]
    depth = np.array([len(levels) for levels in digits], np.int64)
    size = np.array([axis.size for axis in table.axes], np.int64)
    cells = np.zeros((len(digits), int(depth.max(initial=1))), np.int64)
    for index, levels in enumerate(digits):
        cells[index, : len(levels)] = [row[-1] + 1 for row in levels]
    flat = [row for levels in digits for row in levels]
    return Levels(
        depth,
        np.cumsum(np.append(0, depth * size))[:-1],
        size,
        cells,
        np.concatenate([*flat, np.empty(0, np.int32)]).astype(np.int32),
    )


def axis_levels(axis: Axis) -> list[NDArray[np.int32]]:
    """Digits of every code on every level of an axis's hierarchy that divides further."""
    if axis.hierarchy is None or axis.form == "interval":
        return []
    levels: list[NDArray[np.int32]] = []
    for nodes in axis.hierarchy.ancestors[::-1][1:]:
        digits = np.append(0, np.cumsum(nodes[1:] != nodes[:-1]))[: len(nodes)]
        if axis.missing >= 0:
            digits = np.append(digits, digits.max(initial=-1) + 1)
        if len(digits) and digits[-1] > (levels[-1][-1] if levels else 0):
            levels.append(digits.astype(np.int32))
    return levels
