"""Blocks of neighbouring classes: what is improved together, and in which arrangement."""

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom import Classes, Guard, Table
from anonloom.typing import IntArray
from anonloom_kernels.level_order_key import level_order
from anonloom_kernels.losses import Losses
from anonloom_regroup.dissolution import dissolve_all
from anonloom_regroup.exchange import RECORD, sweep, take_back
from anonloom_regroup.groups import Groups, groups_of

#: Classes grow to at most so many times the least size; larger ones are split afterwards.
_GROWTH = 4


def arrange_classes(table: Table, classes: Classes, turn: int) -> Classes:
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


def block_edges(classes: Classes, rows: int) -> IntArray:
    """Offsets of blocks of classes that have about so many rows each."""
    count = max(1, round(len(classes.rows) / rows))
    wanted = np.linspace(0, len(classes.rows), count + 1)
    return np.unique(np.searchsorted(classes.bounds, wanted))


@attrs.frozen(eq=False)
class Improver:
    """Improves one block at a time.

    Attributes
    ----------
    allowed
        Whether a class may have each size.
    most
        Size beyond which no class grows.
    sweeps
        Sweeps over a block at most.
    tolerance
        A sweep that saves less than this share of a block's loss is the last.
    asked
        Whether the guard demands more than sizes: then it judges every change.
    """

    table: Table
    guard: Guard
    losses: Losses
    allowed: NDArray[np.bool_]
    most: int
    sweeps: int
    tolerance: float
    asked: bool

    @classmethod
    def of(
        cls, table: Table, classes: Classes, guard: Guard, losses: Losses, sweeps: int,
        tolerance: float,
    ) -> "Improver":  # fmt: skip
        """Prepare for classes of these sizes."""
        most = _GROWTH * guard.min_size
        sizes = np.arange(max(most, int(classes.sizes.max())) + 1)
        allowed = np.asarray(guard.least_kept(sizes)) >= guard.demanded
        allowed[0] = False
        asked = not guard.size_only or table.with_all_columns().persons is not None
        return cls(table, guard, losses, allowed, most, sweeps, tolerance, asked)

    def improve(self, classes: Classes, begin: int, end: int) -> IntArray:
        """Return the new class of every row of the classes from `begin` to `end`."""
        bounds = classes.bounds[begin : end + 1] - classes.bounds[begin]
        rows = classes.rows[classes.bounds[begin] : classes.bounds[end]]
        owner = np.repeat(np.arange(end - begin), np.diff(bounds))
        if end - begin > 1:
            groups = groups_of(self.losses, self.table.codes[:, rows], owner)
            barred = np.zeros(len(rows), bool)
            for turn in range(1, self.sweeps + 1):
                before = float(groups.size @ groups.loss)
                if self._turn(groups, rows, barred, turn) <= self.tolerance * before:
                    break
            owner = groups.owner
        return owner + begin

    def _turn(self, groups: Groups, rows: IntArray, barred: NDArray[np.bool_], turn: int) -> float:
        """Sweep once; return the loss that it saved."""
        record = np.empty((len(groups.size) if self.asked else 0, RECORD), np.int64)
        changes, gained = sweep(
            self.losses, groups, self.allowed, self.most, turn, self.asked, barred, record
        )
        if self.asked:
            refused = self._refusals(groups, rows, turn)
            lost = take_back(self.losses, groups, record[:changes], refused, barred)
            return float(gained - lost)
        return float(gained + dissolve_all(self.losses, groups, self.allowed, self.most, turn))

    def _refusals(self, groups: Groups, rows: IntArray, turn: int) -> NDArray[np.bool_]:
        """Ask the guard about the classes that this sweep changed."""
        order = np.argsort(groups.owner, kind="stable")
        stops = np.cumsum(groups.size)
        changed = np.flatnonzero(groups.touched == turn)
        refused = np.zeros(len(groups.size), bool)
        refused[changed] = ~self.guard.admits(
            self.table, rows[order], (stops - groups.size)[changed], stops[changed]
        )
        return refused
