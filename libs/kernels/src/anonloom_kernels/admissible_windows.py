"""Which windows of an order may become classes, as the guard judges them.

A window of the sizes from k to 2k - 1 may begin anywhere: whatever an order allows with larger
classes it allows with these, unless more than sizes is demanded. For such demands some of these
sizes are asked about, and longer windows too: for every size that is 2k times a power of two,
windows of one to two times that size whose ends lie on a grid of an eighth of it. The last of them
is the whole block, so that a block that the guard admits as a whole is never infeasible.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anonloom import Guard, Table
from anonloom.typing import IntArray

__all__ = [
    "Windows",
    "by_size_alone",
    "windows_of",
]

#: Grid steps in the size of a long window.
_STEPS = 8

#: Short sizes that the guard is asked about: more cost more than they gain.
_SIZES = 16

#: Windows that the guard judges at a time, counted in rows: bounds memory.
_ROWS = 4_000_000


class Windows(NamedTuple):
    """Windows that may become classes.

    Attributes
    ----------
    least, most
        Sizes of short windows.
    by_size
        Whether a short window of each size is admitted, from size 0.
    column
        Column of `admitted` of each size, from size 0; -1 for a size that was not asked about.
    admitted
        (ends x columns): whether the window of that size that ends behind row i is admitted;
        without rows where the size alone decides.
    starts, stops
        Long windows, in ascending order of their stops.
    """

    least: int
    most: int
    by_size: NDArray[np.bool_]
    column: IntArray
    admitted: NDArray[np.bool_]
    starts: IntArray
    stops: IntArray


def by_size_alone(guard: Guard) -> Windows:
    """Windows of the sizes that the guard demands, whatever else it does."""
    least = guard.min_size
    most = 2 * least - 1
    by_size: NDArray[np.bool_] = np.asarray(guard.least_kept(np.arange(most + 1))) >= guard.demanded
    by_size[:least] = False
    unasked, nothing = np.empty((0, 0), bool), np.empty(0, np.int64)
    return Windows(least, most, by_size, np.full(most + 1, -1), unasked, nothing, nothing)


def windows_of(table: Table, rows: IntArray, bounds: IntArray, guard: Guard) -> Windows:
    """Ask the guard about the windows of every block of an order.

    Parameters
    ----------
    rows
        The order.
    bounds
        Offsets of blocks that no window may cross.
    """
    sized = by_size_alone(guard)
    # A sampler may keep fewer rows of a larger class: then not every number of rows can be divided.
    simple = guard.size_only and table.with_all_columns().persons is None
    if simple and sized.by_size[sized.least :].all():
        return sized
    asked = _short_sizes(sized.least)
    column = sized.column.copy()
    column[asked] = np.arange(len(asked))
    starts, stops = _long(bounds, sized.least)
    allowed = _guard_verdicts(table, rows, starts, stops, guard)
    return sized._replace(
        column=column,
        admitted=_short(table, rows, bounds, guard, asked),
        starts=starts[allowed],
        stops=stops[allowed],
    )


def _short_sizes(least: int) -> IntArray:
    """Short sizes that the guard is asked about: most classes of a good division are small.

    The least and the greatest have no common divisor, so that any large number is a sum of them.
    """
    sizes: IntArray = (
        least - 1 + np.unique(np.rint(np.geomspace(1, least, _SIZES)).astype(np.int64))
    )
    return np.arange(least, 2 * least) if least <= _SIZES else sizes


def _short(
    table: Table, rows: IntArray, bounds: IntArray, guard: Guard, asked: IntArray
) -> NDArray[np.bool_]:
    """Judge the windows of short sizes behind every row.

    Sizes in between are left out: that a smaller window is admitted says nothing of them, not even
    where merging admitted classes can do no harm, for the rows between are no admitted class.
    """
    first = np.repeat(bounds[:-1], np.diff(bounds))
    stop = np.arange(1, len(rows) + 1)
    admitted = np.zeros((len(rows), len(asked)), bool)
    for index, size in enumerate(asked.tolist()):
        inside = np.flatnonzero(stop - size >= first)
        admitted[inside, index] = _guard_verdicts(
            table, rows, stop[inside] - size, stop[inside], guard
        )
    return admitted


def _long(bounds: IntArray, least: int) -> tuple[IntArray, IntArray]:
    """Ends of all long windows of all blocks, by their stops."""
    begins, ends = bounds[:-1], bounds[1:]
    starts, stops, size = [begins], [ends], 2 * least
    while True:
        step = max(1, size // _STEPS)
        reach = -(-(ends - begins) // step)
        if not (reach >= size // step).any():
            break
        for steps in range(size // step, 2 * size // step + 1):
            counts = np.maximum(reach - steps + 1, 0)
            block = np.repeat(np.arange(len(counts)), counts)
            place = np.arange(len(block)) - np.repeat(np.cumsum(counts) - counts, counts)
            starts.append(begins[block] + place * step)
            stops.append(np.minimum(starts[-1] + steps * step, ends[block]))
        size *= 2
    joined_starts, joined_stops = np.concatenate(starts), np.concatenate(stops)
    order = np.argsort(joined_stops, kind="stable")
    return joined_starts[order], joined_stops[order]


def _guard_verdicts(
    table: Table, rows: IntArray, starts: IntArray, stops: IntArray, guard: Guard
) -> NDArray[np.bool_]:
    """Ask the guard, a bounded number of rows at a time."""
    verdict = np.empty(len(starts), bool)
    part = np.cumsum(stops - starts) // _ROWS
    edges = [0, *(np.flatnonzero(np.diff(part)) + 1).tolist(), len(starts)]
    for begin, end in pairwise(edges):
        verdict[begin:end] = guard.admits(table, rows, starts[begin:end], stops[begin:end])
    return verdict
