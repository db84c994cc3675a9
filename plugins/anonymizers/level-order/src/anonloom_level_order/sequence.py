"""One sequence of parts for all rows (`search: none`): an ordinary sort by one key.

The parts of every axis are ranked by how much loss they save per bit over the whole table; the key
of a row are its digits in that sequence. Digits run boustrophedon: a digit counts backwards
wherever the digits that the other axes have so far sum up to an odd number, as in a reflected Gray
code. Those of the same axis do not count: its levels together are one ascending digit.
"""

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom import Classes, Table
from anonloom.data import Axis
from anonloom.typing import IntArray
from anonloom_columns import collapse, combined_key
from anonloom_kernels.hierarchy_levels import axis_levels
from anonloom_kernels.level_order_key import BITS

#: A number is halved at most so often.
_HALVINGS = 16


@attrs.frozen(eq=False)
class Part:
    """An axis and a level of it.

    Attributes
    ----------
    axis
        Number of the axis.
    digits
        Digit of every code, ascending.
    gain
        Loss that it saves per bit, beyond the part of the same axis that comes before it.
    """

    axis: int
    digits: NDArray[np.int32]
    gain: float


def halvings(axis: Axis) -> list[NDArray[np.int32]]:
    """Levels of an axis without a hierarchy: its range in 2, 4, 8, ... equal parts."""
    place = axis.places[: axis.value_count]
    share = (place - place[:1]) / (axis.range or 1.0)
    levels: list[NDArray[np.int32]] = []
    for turn in range(1, _HALVINGS + 1):
        parts = np.minimum((share * 2**turn).astype(np.int64), 2**turn - 1)
        digits = np.append(0, np.cumsum(parts[1:] != parts[:-1]))[: len(parts)]
        if axis.missing >= 0:
            digits = np.append(digits, digits.max(initial=-1) + 1)
        if len(digits) and digits[-1] > (levels[-1][-1] if levels else 0):
            levels.append(digits.astype(np.int32))
    if axis.size > 1 and (not levels or levels[-1][-1] < axis.size - 1):
        levels.append(np.arange(axis.size, dtype=np.int32))
    return levels


def _loss_and_bits(axis: Axis, digits: NDArray[np.int32], counts: IntArray) -> tuple[float, float]:
    """Mean loss of a row when every cell of a level is published alike, and the level's entropy."""
    cells = np.arange(int(digits[-1]) + 1)
    first = np.searchsorted(digits, cells, side="left")
    last = np.searchsorted(digits, cells, side="right") - 1
    share = np.bincount(digits, counts, minlength=len(cells)) / counts.sum()
    held = share[share > 0]
    return float(axis.loss(first, last) @ share), float(-(held * np.log2(held)).sum())


def parts_of(axis: Axis, number: int, counts: IntArray) -> list[Part]:
    """Rank the levels of an axis; one that gains less than a deeper one is skipped."""
    levels = axis_levels(axis) or halvings(axis)
    whole = axis.weight * float(axis.loss(np.array([0]), np.array([axis.size - 1]))[0])
    figures = [(whole, 0.0)]
    for digits in levels:
        loss, bits = _loss_and_bits(axis, digits, counts)
        figures.append((axis.weight * loss, bits))
    parts: list[Part] = []
    here = 0
    while here < len(levels):
        gains = [
            (figures[here][0] - loss) / max(bits - figures[here][1], 1e-9) ** BITS
            for loss, bits in figures[here + 1 :]
        ]
        here += int(np.argmax(gains)) + 1
        parts.append(Part(number, levels[here - 1], max(gains)))
    return parts


def sequence_of(table: Table, rows: IntArray) -> list[Part]:
    """All parts of all axes in the order of their gain; levels of one axis stay in order."""
    parts = []
    for number, axis in enumerate(table.axes):
        counts = np.bincount(table.codes[number, rows], minlength=axis.size)
        least = np.inf
        for part in parts_of(axis, number, counts):
            least = min(least, part.gain)
            parts.append(attrs.evolve(part, gain=least))
    return sorted(parts, key=lambda part: -part.gain)


def order_by_sequence(table: Table, rows: IntArray, bounds: IntArray) -> IntArray:
    """Order the rows of every block by one key; return positions in `rows`."""
    if not len(rows):
        return np.arange(0)
    block = np.repeat(np.arange(len(bounds) - 1, dtype=np.int32), np.diff(bounds))
    points = collapse(np.concatenate([block[None], table.codes.take(rows, axis=1)]))
    digits = [points.codes[0]]
    # Digit of every point on every axis, as far as the sequence has come.
    reached = np.zeros((len(table.axes), len(points)), np.int32)
    total = np.zeros(len(points), np.int32)
    for part in sequence_of(table, rows):
        others = total - reached[part.axis]
        digit = part.digits[points.codes[1 + part.axis]]
        digits.append(np.where(others & 1, part.digits[-1] - digit, digit))
        reached[part.axis], total = digit, others + digit
    key = combined_key(np.stack(digits))
    return Classes.from_labels(key[points.point]).rows
