"""The kernel: which weighted points lie in one box of a node."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anonloom.typing import CodeArray, FloatArray, IntArray
from anonloom_kernels.compiled import kernel


class NodeRecoding(NamedTuple):
    """A node of the lattice, for kernels.

    Attributes
    ----------
    cells, losses
        Cell and loss of every code on every level of every axis, one behind the other. A cell
        below 0 leaves the point out.
    starts
        Where the node's level of each axis begins in them.
    factors
        The number of a box is the sum of its cells times these.
    exact
        Whether boxes with equal numbers are equal. Where numbers are too small for that, they only
        serve to look a box up.
    """

    cells: CodeArray
    losses: FloatArray
    starts: IntArray
    factors: NDArray[np.uint64]
    exact: bool


@kernel
def group_points(
    codes: CodeArray,
    points: IntArray,
    weights: IntArray,
    node: NodeRecoding,
    of_point: IntArray,
    first: IntArray,
    size: IntArray,
    lost: FloatArray,
) -> int:
    """Group points by their box in a table with open addresses; returns the number of boxes.

    Parameters
    ----------
    codes
        (points x axes).
    points, weights
        The points to group, and how many rows each stands for.
    of_point, first, size, lost
        Results: the box of every point or -1; of every box its first point, its rows and what each
        of them loses.
    """
    bits = 4
    while (1 << bits) < 2 * len(points):
        bits += 1
    slots = np.full(1 << bits, -1, np.int64)
    numbers = np.empty(len(points), np.uint64)
    mask, shift = (1 << bits) - 1, np.uint64(64 - bits)
    boxes = 0
    for index in range(len(points)):
        inside, number = _number(codes[points[index]], node)
        of_point[index] = -1
        if not inside:
            continue
        slot = np.int64((number * np.uint64(0x9E3779B97F4A7C15)) >> shift)
        box = slots[slot]
        while box >= 0 and not (
            numbers[box] == number
            and (node.exact or _alike(codes, points[index], first[box], node))
        ):
            slot = np.int64((slot + 1) & mask)
            box = slots[slot]
        if box < 0:
            box = slots[slot] = boxes
            boxes += 1
            numbers[box], first[box], size[box] = number, points[index], 0
            lost[box] = _loss(codes[points[index]], node)
        size[box] += weights[index]
        of_point[index] = box
    return boxes


@kernel
def _number(own: CodeArray, node: NodeRecoding) -> tuple[bool, np.uint64]:
    """Whether a point lies in a box, and the number of that box."""
    number = np.uint64(0)
    for axis in range(len(own)):
        cell = node.cells[node.starts[axis] + own[axis]]
        if cell < 0:
            return False, number
        number += np.uint64(cell) * node.factors[axis]
    return True, number


@kernel
def _loss(own: CodeArray, node: NodeRecoding) -> float:
    """What a row of the point loses."""
    loss = 0.0
    for axis in range(len(own)):
        loss += node.losses[node.starts[axis] + own[axis]]
    return loss


@kernel
def _alike(codes: CodeArray, one: int, other: int, node: NodeRecoding) -> bool:
    """Whether two points lie in one box."""
    for axis in range(codes.shape[1]):
        start = node.starts[axis]
        if node.cells[start + codes[one, axis]] != node.cells[start + codes[other, axis]]:
            return False
    return True
