"""The kernel: which weighted points lie in one box of a node."""

import numpy as np
from numpy.typing import NDArray

from anonloom_kernels.compiled import kernel

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
Floats = NDArray[np.float64]


@kernel
def group_points(
    codes: Codes,
    points: Ints,
    weights: Ints,
    cells: Codes,
    losses: Floats,
    starts: Ints,
    factors: NDArray[np.uint64],
    exact: bool,
    of_point: Ints,
    first: Ints,
    size: Ints,
    lost: Floats,
) -> int:
    """Group points by their box; returns the number of boxes.

    Parameters
    ----------
    codes
        (points x axes).
    points, weights
        The points to group, and how many rows each stands for.
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
    of_point, first, size, lost
        Results: the box of every point or -1; of every box its first point, its rows and what each
        of them loses.
    """
    n, axes = len(points), codes.shape[1]
    bits = 4
    while (1 << bits) < 2 * n:
        bits += 1
    slots = np.full(1 << bits, -1, np.int32)
    numbers = np.empty(n, np.uint64)
    mask, shift = (1 << bits) - 1, np.uint64(64 - bits)
    boxes = 0
    for at in range(n):
        own = codes[points[at]]
        number = np.uint64(0)
        inside = True
        for axis in range(axes):
            cell = cells[starts[axis] + own[axis]]
            if cell < 0:
                inside = False
                break
            number += np.uint64(cell) * factors[axis]
        of_point[at] = -1
        if not inside:
            continue
        slot = np.int64((number * np.uint64(0x9E3779B97F4A7C15)) >> shift)
        while True:
            box = np.int64(slots[slot])
            if box < 0:
                slots[slot] = boxes
                numbers[boxes] = number
                first[boxes] = points[at]
                size[boxes] = weights[at]
                of_point[at] = boxes
                boxes += 1
                break
            if numbers[box] == number and (
                exact or _same_box(codes, points[at], first[box], cells, starts)
            ):
                size[box] += weights[at]
                of_point[at] = box
                break
            slot = np.int64((slot + 1) & mask)
    for which in range(boxes):
        own = codes[first[which]]
        loss = 0.0
        for axis in range(axes):
            loss += losses[starts[axis] + own[axis]]
        lost[which] = loss
    return boxes


@kernel
def _same_box(codes: Codes, one: int, other: int, cells: Codes, starts: Ints) -> bool:
    for axis in range(codes.shape[1]):
        if cells[starts[axis] + codes[one, axis]] != cells[starts[axis] + codes[other, axis]]:
            return False
    return True
