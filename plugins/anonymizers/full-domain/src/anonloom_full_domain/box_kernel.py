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


#: Numbers of boxes are taken modulo 2^64, as compiled code does by itself.
_WORD = 2**64 - 1

#: The golden ratio of 2^64: products with it differ most in their highest bits.
_SPREAD = 0x9E3779B97F4A7C15


def slots_for(points: int) -> int:
    """Size of a table with open addresses for so many points: a power of two, half of it empty."""
    return 1 << max(4, (2 * points - 1).bit_length())


@kernel
def group_points(
    codes: CodeArray,
    points: IntArray,
    weights: IntArray,
    node: NodeRecoding,
    slots: CodeArray,
    numbers: NDArray[np.uint64],
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
    slots, numbers
        Room for the table, `slots_for` the points, and for the number of every box.
    of_point, first, size, lost
        Results: the box of every point or -1; of every box its first point, its rows and what each
        of them loses.
    """
    slots[:] = -1
    shift, mask = 65 - len(slots).bit_length(), len(slots) - 1
    factors, starts = node.factors.tolist(), node.starts.tolist()
    boxes = 0
    for index, own in enumerate(codes[points].tolist()):
        point, number = points[index], box_number(own, node.cells, starts, factors)
        of_point[index] = -1
        if number < 0:
            continue
        slot = (number * _SPREAD & _WORD) >> shift
        box = slots[slot]
        while box >= 0 and not (
            numbers[box] == number and (node.exact or alike(codes, point, first[box], node))
        ):
            slot = (slot + 1) & mask
            box = slots[slot]
        if box < 0:
            box = slots[slot] = boxes
            boxes += 1
            numbers[box], first[box], size[box] = number, point, 0
            lost[box] = point_loss(own, node)
        size[box] += weights[index]
        of_point[index] = box
    return boxes


def box_number(own: list[int], cells: CodeArray, starts: list[int], factors: list[int]) -> int:
    """Return the number of the box that a point lies in, or -1 if it lies in none."""
    number = 0
    for axis, code in enumerate(own):
        cell = cells[starts[axis] + code]
        if cell < 0:
            return -1
        number += int(cell) * factors[axis]
    return number & _WORD


def point_loss(own: list[int], node: NodeRecoding) -> float:
    """What a row of the point loses."""
    loss = 0.0
    for axis, code in enumerate(own):
        loss += node.losses[node.starts[axis] + code]
    return loss


def alike(codes: CodeArray, one: int, other: int, node: NodeRecoding) -> bool:
    """Whether two points lie in one box."""
    for axis in range(codes.shape[1]):
        start = node.starts[axis]
        if node.cells[start + codes[one, axis]] != node.cells[start + codes[other, axis]]:
            return False
    return True
