"""Which windows of an order may become classes, as the guard judges them.

A window of the sizes from k to 2k - 1 may begin anywhere: whatever an order allows with larger
classes it allows with these, unless more than sizes is demanded. For such demands there are longer
windows too: for every size that is 2k times a power of two, windows of one to two times that size
whose ends lie on a grid of an eighth of it. The last of them is the whole order, so that a class
that the guard admits as a whole is never infeasible, and all of them together hold few rows.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anonloom.data.table import Table
from anonloom.kinds.guard import Guard

Ints = NDArray[np.int64]

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
    admitted
        (ends x sizes): whether the window of `least` + j rows that ends behind row i is admitted;
        without rows where the size alone decides.
    starts, stops
        Long windows, in ascending order of their stops.
    """

    least: int
    most: int
    by_size: NDArray[np.bool_]
    admitted: NDArray[np.bool_]
    starts: Ints
    stops: Ints


def by_size_alone(guard: Guard) -> Windows:
    """Windows of the sizes that the guard demands, whatever else it does."""
    least = guard.min_size
    most = 2 * least - 1
    by_size: NDArray[np.bool_] = np.asarray(guard.least_kept(np.arange(most + 1))) >= guard.demanded
    by_size[:least] = False
    unasked, nothing = np.empty((0, most - least + 1), bool), np.empty(0, np.int64)
    return Windows(least, most, by_size, unasked, nothing, nothing)


def windows_of(table: Table, rows: Ints, bounds: Ints, guard: Guard) -> Windows:
    """Ask the guard about the windows of every block of an order.

    Parameters
    ----------
    rows
        The order.
    bounds
        Offsets of blocks that no window may cross.
    """
    sized = by_size_alone(guard)
    least, most = sized.least, sized.most
    # A sampler may keep fewer rows of a larger class: then not every number of rows can be divided.
    simple = guard.size_only and table.revealed().persons is None
    if simple and sized.by_size[least:].all():
        return sized
    admitted = _short(table, rows, bounds, guard, least, most)
    starts, stops = _long(bounds, least)
    allowed = _judged(table, rows, starts, stops, guard)
    return sized._replace(admitted=admitted, starts=starts[allowed], stops=stops[allowed])


def _short(
    table: Table, rows: Ints, bounds: Ints, guard: Guard, least: int, most: int
) -> NDArray[np.bool_]:
    """Judge the windows of short sizes behind every row.

    Of many sizes only some are asked about. Where merging can do no harm, a window that holds an
    admitted one with the same end is admitted as well; elsewhere sizes in between are left out.
    """
    step = -(-(most - least + 1) // _SIZES)
    first = np.repeat(bounds[:-1], np.diff(bounds))
    stop = np.arange(1, len(rows) + 1)
    admitted = np.zeros((len(rows), most - least + 1), bool)
    for at, size in enumerate(range(least, most + 1)):
        inside = np.flatnonzero(stop - size >= first)
        if at % step == 0:
            admitted[inside, at] = _judged(table, rows, stop[inside] - size, stop[inside], guard)
        elif guard.monotone:
            admitted[inside, at] = admitted[inside, at - 1]
    return admitted


def _long(bounds: Ints, least: int) -> tuple[Ints, Ints]:
    """Ends of all long windows of all blocks, by their stops."""
    starts, stops = [], []
    for begin, end in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        size = 2 * least
        # Also beyond the block's length: its whole is a window.
        while True:
            step = max(1, size // _STEPS)
            grid = np.append(np.arange(begin, end, step), end)
            pairs = np.arange(_STEPS, 2 * _STEPS + 1)
            start, stop = np.broadcast_arrays(
                np.arange(len(grid))[:, None], np.arange(len(grid))[:, None] + pairs
            )
            inside = stop < len(grid)
            starts.append(grid[start[inside]])
            stops.append(grid[stop[inside]])
            size *= 2
            if step >= end - begin:
                break
        starts.append(np.array([begin]))
        stops.append(np.array([end]))
    joined_starts = np.concatenate([np.empty(0, np.int64), *starts])
    joined_stops = np.concatenate([np.empty(0, np.int64), *stops])
    order = np.argsort(joined_stops, kind="stable")
    return joined_starts[order], joined_stops[order]


def _judged(table: Table, rows: Ints, starts: Ints, stops: Ints, guard: Guard) -> NDArray[np.bool_]:
    """Ask the guard, a bounded number of rows at a time."""
    verdict = np.empty(len(starts), bool)
    reach = np.cumsum(stops - starts)
    edges = np.searchsorted(reach, np.arange(0, (reach[-1] if len(reach) else 0) + _ROWS, _ROWS))
    for begin, end in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        verdict[begin:end] = guard.admits(table, rows, starts[begin:end], stops[begin:end])
    return verdict
