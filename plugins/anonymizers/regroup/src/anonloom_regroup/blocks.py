"""Blocks of neighbouring classes: what is improved together, and in which arrangement."""

from collections.abc import Iterator

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom.data.classes import Classes
from anonloom.data.table import Table
from anonloom.kinds.guard import Guard
from anonloom_kernels.levelkey import level_order
from anonloom_kernels.losses import Losses
from anonloom_regroup.dissolving import dissolve_all
from anonloom_regroup.exchange import RECORD, sweep
from anonloom_regroup.groups import Groups, Ints, groups_of


def arranged(table: Table, classes: Classes, turn: int) -> Classes:
    """Put classes beside each other that are neighbours; every turn finds other neighbours.

    A class stands where one of its rows stands in the level order of such rows, in every turn
    another one.
    """
    members = classes.rows[classes.starts + turn % classes.sizes]
    order = level_order(table, members)
    sizes = classes.sizes[order]
    bounds = np.append(0, np.cumsum(sizes))
    places = np.repeat(classes.starts[order] - bounds[:-1], sizes) + np.arange(bounds[-1])
    return Classes(classes.rows[places], bounds, classes.suppressed)


def blocks(classes: Classes, rows: int) -> Iterator[tuple[int, int]]:
    """Yield the first class of every block and the one behind its last, about so many rows each."""
    count = max(1, round(len(classes.rows) / rows))
    wanted = np.linspace(0, len(classes.rows), count + 1)
    edges = np.unique(np.searchsorted(classes.bounds, wanted))
    yield from zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)


@attrs.frozen(eq=False)
class Improver:
    """Improves one block at a time.

    Attributes
    ----------
    allowed
        Whether a class may have each size.
    tolerance
        A sweep that saves less than this share of a block's loss is the last.
    sweeps
        Sweeps over a block at most.
    asked
        Whether the guard demands more than sizes: then it judges every change.
    """

    table: Table
    guard: Guard
    losses: Losses
    allowed: NDArray[np.bool_]
    tolerance: float
    sweeps: int
    asked: bool

    def improve(self, classes: Classes, begin: int, end: int) -> Ints:
        """Return the new class of every row of the classes from `begin` to `end`."""
        bounds = classes.bounds[begin : end + 1] - classes.bounds[begin]
        rows = classes.rows[classes.bounds[begin] : classes.bounds[end]]
        owner = np.repeat(np.arange(end - begin), np.diff(bounds))
        if end - begin > 1 and len(self.table.axes):
            groups = groups_of(self.losses, self.table.codes[:, rows], owner)
            barred = np.zeros(len(rows), bool)
            for turn in range(1, self.sweeps + 1):
                before = float(groups.size @ groups.loss)
                gained = self._turn(groups, rows, barred, turn)
                if gained <= self.tolerance * before:
                    break
            owner = groups.owner
        return owner + begin

    def _turn(self, groups: Groups, rows: Ints, barred: NDArray[np.bool_], turn: int) -> float:
        record = np.empty((len(groups.size) if self.asked else 0, RECORD), np.int64)
        changes, gained = sweep(self.losses, groups, self.allowed, turn, self.asked, barred, record)
        if not self.asked:
            return float(gained + dissolve_all(self.losses, groups, self.allowed, turn))
        return float(gained - self._take_back(groups, rows, barred, record[:changes]))
