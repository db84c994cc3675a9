"""Cutting neighbouring classes anew along other orders (`search: full`).

Classes that are neighbours in some order are put together, a few at a time. Their rows are ordered
by sequences of parts in which the axes count differently, at random, and each order is cut by the
dynamic programme; what loses less than the old classes, and is admitted, replaces them. Every round
looks at the classes in another order, so that other classes become neighbours.
"""

from typing import NamedTuple

import attrs
import numpy as np

from anonloom import Guard, StageContext, Table
from anonloom.typing import CodeArray, FloatArray, IntArray
from anonloom_kernels.admissible_windows import Windows
from anonloom_kernels.compiled import in_threads, kernel
from anonloom_kernels.hierarchy_levels import Levels
from anonloom_kernels.level_order_key import BITS, Scratch, order_block, order_blocks, scratch_for
from anonloom_kernels.losses import Losses
from anonloom_kernels.optimal_cuts import (
    CutRoom,
    best_division,
    cut_room_for,
    loss_of_window,
    walk_back,
)

#: Rows of the classes that are cut together, as a multiple of the least class.
_TOGETHER = 3
#: Orders that are tried for each group.
_TRIED = 3
#: How differently axes count in these orders: standard deviation of the logarithm.
_SPREAD = 0.7
#: The same for the orders in which classes become neighbours.
_WIDE_SPREAD = 1.0
#: Groups that one thread works on at a time.
_BATCH = 256


class Trials(NamedTuple):
    """Room for trying out orders of a group.

    Attributes
    ----------
    trial, ordered
        The group's rows in the order that is tried, and their codes, (rows x axes).
    best, sizes
        See `best_division`.
    """

    trial: IntArray
    ordered: CodeArray
    best: FloatArray
    sizes: IntArray


def old_loss(losses: Losses, ordered: CodeArray, edges: IntArray, room: CutRoom) -> float:
    """Loss of classes as they are, summed over their rows."""
    loss = 0.0
    for index in range(len(edges) - 1):
        start, stop = edges[index], edges[index + 1]
        loss += (stop - start) * loss_of_window(losses, ordered, start, stop, room)
    return loss


@kernel
def recut_groups(
    codes: CodeArray,
    weights: IntArray,
    losses: Losses,
    levels: Levels,
    edges: IntArray,
    groups: IntArray,
    preference: FloatArray,
    bits: FloatArray,
    windows: Windows,
    order: IntArray,
    taken: IntArray,
    room: Scratch,
    trials: Trials,
    cut_room: CutRoom,
) -> None:
    """Try other orders for some groups of classes; what is better is written down.

    Parameters
    ----------
    codes, weights
        (axes x rows), class after class; every row counts once.
    edges
        Offsets of the classes.
    groups
        Group g has the classes from `groups[g]` to `groups[g + 1]`, counted from `groups[0]`.
    preference, bits
        (groups x tries x axes) and (groups x tries): the sequences to try.
    order
        Columns of `codes`, in ascending order at first; changed where something better was found.
    taken
        Sizes of the classes that end with each row; changed where something better was found.
    """
    trial, ordered, best, sizes = trials
    for group in range(len(groups) - 1):
        of_group = edges[groups[group] - groups[0] : groups[group + 1] - groups[0] + 1]
        first, last = of_group[0], of_group[-1]
        trial[first:last] = np.arange(first, last)
        ordered[first:last] = codes[:, first:last].T
        # Rounding must not count as a gain.
        least = old_loss(losses, ordered, of_group, cut_room) - 1e-9
        for turn in range(preference.shape[1]):
            order_block(
                codes, weights, losses, levels, trial, first, last, -1, -1, -1,
                preference[group, turn], bits[group, turn], room,
            )  # fmt: skip
            ordered[first:last] = codes[:, trial[first:last]].T
            lost = best_division(losses, ordered, first, last, windows, best, sizes, cut_room)
            if lost < least:
                least = lost
                order[first:last] = trial[first:last]
                taken[first:last] = sizes[first + 1 : last + 1]


@attrs.define(eq=False)
class Recutter:
    """Classes that are cut anew round after round.

    Attributes
    ----------
    codes
        (axes x rows).
    rows
        The table's rows that the columns of `codes` are.
    blocks
        Offsets of blocks of `order` that classes must not cross.
    windows
        By size alone; what the guard demands beyond sizes is asked of every new class.
    order, edges
        The classes: columns of `codes`, and offsets.
    """

    table: Table
    guard: Guard
    codes: CodeArray
    rows: IntArray
    blocks: IntArray
    losses: Losses
    levels: Levels
    windows: Windows
    order: IntArray
    edges: IntArray

    def improve(self, rounds: int, context: StageContext) -> None:
        """Cut anew so many times."""
        for turn in range(rounds):
            self._rearrange(context.rng)
            self._recut(context)
            context.progress(turn + 1, rounds)

    def _rearrange(self, rng: np.random.Generator) -> None:
        """Put classes beside each other that are neighbours in some order."""
        starts, sizes = self.edges[:-1], np.diff(self.edges)
        members = self.order[starts + rng.integers(sizes)]
        bounds = np.searchsorted(starts, self.blocks)
        place = np.arange(len(starts))
        order_blocks(
            np.ascontiguousarray(self.codes[:, members]),
            np.ones(len(starts), np.int64),
            self.losses,
            self.levels,
            place,
            bounds,
            np.exp(rng.normal(0, _WIDE_SPREAD, len(self.codes))),
            BITS,
            scratch_for(self.levels, len(starts)),
        )
        sizes = sizes[place]
        self.edges = np.append(0, np.cumsum(sizes))
        moved = np.repeat(starts[place] - self.edges[:-1], sizes) + np.arange(len(self.order))
        self.order = self.order[moved]

    def _groups(self) -> IntArray:
        """Offsets of groups of neighbouring classes that are cut together."""
        starts = self.edges[:-1]
        block = np.searchsorted(self.blocks, starts, side="right") - 1
        turn = (starts - self.blocks[block]) // (_TOGETHER * self.windows.least)
        fresh = (np.diff(block) != 0) | (np.diff(turn) != 0)
        offsets: IntArray = np.r_[0, np.flatnonzero(fresh) + 1, len(starts)]
        return offsets

    def _recut(self, context: StageContext) -> None:
        groups = self._groups()
        count, axes = len(groups) - 1, len(self.codes)
        preference = np.exp(context.rng.normal(0, _SPREAD, (count, _TRIED, axes)))
        bits = context.rng.uniform(0.5, 1.2, (count, _TRIED))
        order = self.order.copy()
        taken = np.zeros(len(order) + 1, np.int64)
        taken[self.edges[1:]] = np.diff(self.edges)

        def batch(begin: int) -> None:
            end = min(begin + _BATCH, count)
            some = groups[begin : end + 1]
            edges = self.edges[some[0] : some[-1] + 1]
            base, limit = int(edges[0]), int(edges[-1])
            rows, size = order[base:limit], limit - base
            result = np.arange(size, dtype=np.int64)
            recut_groups(
                np.ascontiguousarray(self.codes[:, rows]), np.ones(size, np.int64),
                self.losses, self.levels, edges - base, some, preference[begin:end],
                bits[begin:end], self.windows, result, taken[base + 1 : limit + 1],
                scratch_for(self.levels, size),
                Trials(
                    np.empty(size, np.int64),
                    np.empty((size, axes), np.int32),
                    np.empty(size + 1),
                    np.zeros(size + 1, np.int64),
                ),
                cut_room_for(self.losses),
            )  # fmt: skip
            order[base:limit] = rows[result]

        in_threads(batch, range(0, count, _BATCH), context.workers)
        self._accept(groups, order, taken)

    def _accept(self, groups: IntArray, order: IntArray, taken: IntArray) -> None:
        """Take over what the guard admits, group by group."""
        ends = np.empty(len(order), np.int64)
        result = walk_back(taken, 0, len(order), ends)
        edges = np.append(0, ends[:result][::-1])
        verdict = self.guard.admits(self.table, self.rows[order], edges[:-1], edges[1:])
        if not verdict.all():
            limits = self.edges[groups]
            owner = np.searchsorted(limits, edges[:-1], side="right") - 1
            refused = np.zeros(len(groups) - 1, bool)
            refused[owner[~verdict]] = True
            old = np.repeat(refused, np.diff(limits))
            order[old] = self.order[old]
            kept = edges[:-1][~refused[owner]]
            before = np.searchsorted(limits, self.edges[:-1], side="right") - 1
            edges = np.append(np.union1d(kept, self.edges[:-1][refused[before]]), len(order))
        self.order, self.edges = order, edges
