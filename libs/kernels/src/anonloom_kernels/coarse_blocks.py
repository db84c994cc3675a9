"""Coarse cells: blocks of the level-key order, so that a quadratic method costs what is linear.

Neighbours in that order lose little together, so a clustering that stays inside a block of it
misses little. Kernels get whole batches of cells, so that thousands of small classes cost no more
than one large one, and cells do not know of each other, so that threads change no result.
"""

from collections.abc import Callable
from itertools import pairwise
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from anonloom import Classes, StageContext, Table
from anonloom_kernels.compiled import in_threads
from anonloom_kernels.level_order_key import level_order

__all__ = [
    "Work",
    "cells_of",
    "each_cell",
]

#: Rows of a batch, unless a single cell has more: often enough for progress, seldom enough for
#: Python.
_BATCH = 4096

#: Does the cells from one number to another; returns something for each of their rows, which are
#: the last axis.
Work = Callable[[int, int], NDArray[np.int64]]


def cells_of(
    table: Table, classes: Classes, limit: int, least: int, context: StageContext
) -> Classes:
    """Cut every class into cells of nearly equal size, and warn where any is cut.

    Parameters
    ----------
    limit
        Most rows of a cell, as far as `least` allows it.
    least
        Fewest rows of a cell; a class with fewer is a cell as it is.

    Returns
    -------
    Classes
        The cells, in the order of the classes; a class of up to `limit` rows keeps its row order.
    """
    sizes = classes.sizes
    counts = np.minimum(-(-sizes // limit), np.maximum(sizes // least, 1))
    if (counts == 1).all():
        return classes
    owner = np.repeat(np.arange(len(classes)), counts)
    place = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
    starts = classes.starts[owner] + place * sizes[owner] // counts[owner]
    bounds = np.append(starts, len(classes.rows)).astype(np.int64)
    context.warn(
        f"More than {limit:,} rows are not clustered at once ('cell'): they were cut into "
        f"{int(counts[counts > 1].sum()):,} blocks first, and clusters across blocks, which might "
        "lose less, were not tried."
    )
    return Classes(_rows_by_level_key(table, classes, counts > 1), bounds, classes.suppressed)


def _rows_by_level_key(table: Table, classes: Classes, cut: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Rows of the classes; those of the marked ones by level key."""
    rows = classes.rows.copy()
    inside = np.flatnonzero(cut[classes.class_of_position()])
    bounds = np.append(0, np.cumsum(classes.sizes[cut]))
    rows[inside] = rows[inside[level_order(table, rows[inside], bounds)]]
    return rows


def each_cell(work: Work, cells: Classes, context: StageContext) -> NDArray[np.int64]:
    """Do every cell, in batches, with all workers; return what was found, rows in order.

    There must be a cell.
    """
    done, lock = 0, Lock()

    def batch(ends: tuple[int, int]) -> NDArray[np.int64]:
        nonlocal done
        result = work(*ends)
        with lock:
            done += result.shape[-1]
            context.progress(done, len(cells.rows))
        return result

    result = in_threads(batch, list(pairwise(_batches(cells.bounds))), context.workers)
    return np.concatenate(result, axis=-1)


def _batches(bounds: NDArray[np.int64]) -> list[int]:
    """First cells of batches of about equally many rows, and the end."""
    # A cell belongs to the batch in which it starts.
    firsts = np.flatnonzero(np.diff(bounds[:-1] // _BATCH, prepend=-1))
    return [*firsts.tolist(), len(bounds) - 1]
