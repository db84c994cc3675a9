"""One sweep over the rows of a block: each goes where the block loses least.

For a row r of class A and any class B there are three changes. *Move*: r goes to B. *Swap*: r goes
to B and a row of B comes to A. *Refill*: r goes to B, and a row of a third class that can spare it
comes to A; so a class of the least size can be left, too. The change in the loss of all classes
concerned is exact.
"""

import numpy as np
from numpy.typing import NDArray

from anonloom.typing import FloatArray, IntArray
from anonloom_kernels.compiled import kernel
from anonloom_kernels.losses import Losses
from anonloom_regroup.groups import (
    Groups,
    loss_exchanged,
    loss_with,
    loss_without,
    transfer,
    weigh,
    write_prices,
)

#: Gains below this are rounding.
LEAST_GAIN = 1e-9

#: Columns of a record of changes: the row, where it was, the partner, where that was.
RECORD = 4


def enter(
    groups: Groups, row: int, most: int, room: float, entered: FloatArray
) -> tuple[int, float]:
    """Price a row in every other class; find the class where it costs least.

    Parameters
    ----------
    most
        Largest size that a class may have afterwards.
    room
        What must not be spent.
    entered
        Becomes the loss per row of every class with the row; infinite for its own and for
        dissolved ones.

    Returns
    -------
    target, cost
        -1 if every class costs as much as there is room for.
    """
    size, price = groups.size, groups.price
    entered[:] = 0.0
    for value in groups.value[row]:
        entered += price[value]
    entered[groups.owner[row]] = np.inf
    entered[size == 0] = np.inf
    cost = (size + 1) * entered - size * groups.loss
    cheap = np.flatnonzero((cost < room) & (size < most))
    if not len(cheap):
        return -1, room
    target = cheap[np.argmin(cost[cheap])]
    return target, cost[target]


def best_swap(
    losses: Losses,
    groups: Groups,
    row: int,
    rest: float,
    entered: FloatArray,
    prices: FloatArray,
    best: float,
) -> tuple[int, float]:
    """Partner with which swapping gains most, and the gain; -1 if none gains more than `best`.

    Parameters
    ----------
    rest
        Loss per row of the own class without the row.
    prices
        Prices of the own class without the row.
    """
    size, loss, following = groups.size, groups.loss, groups.following
    own, value = groups.owner[row], groups.value
    rows, now, partner = size[own], size[own] * loss[own], -1
    # What the other class keeps of the row's coming when the best of its rows leaves.
    kept = entered - groups.relief
    there = size * (loss - np.where(kept > 0.0, kept, 0.0))
    most = now - rows * rest + there
    for which in np.flatnonzero(~(most <= best)).tolist():
        if most[which] <= best:
            continue
        other = groups.head[which]
        while other >= 0:
            mine = now - rows * loss_with(prices, value, other)
            if mine + there[which] > best:
                theirs = loss_exchanged(losses, groups, which, other, row)
                gain = mine + size[which] * (loss[which] - theirs)
                if gain > best:
                    partner, best = other, gain
            other = following[other]
    return partner, best


def best_refill(
    losses: Losses,
    groups: Groups,
    row: int,
    target: int,
    room: float,
    allowed: NDArray[np.bool_],
    prices: FloatArray,
    best: float,
) -> tuple[int, float]:
    """Row of a third class that takes the place of one that goes to the target, and the gain.

    Parameters
    ----------
    room
        What the row's going gains before its place is taken.
    prices
        Prices of the own class without the row.
    """
    size, loss, relief, following = groups.size, groups.loss, groups.relief, groups.following
    own, value = groups.owner[row], groups.value
    short = (size[own] - 1) * loss_without(losses, groups, own, row)
    filler = -1
    for which in range(len(size)):
        if which in (own, target) or size[which] < 2 or not allowed[size[which] - 1]:
            continue
        now, fewer = size[which] * loss[which], size[which] - 1
        spared = now - fewer * (loss[which] - relief[which])
        if room + spared <= best:
            continue
        other = groups.head[which]
        while other >= 0:
            mine = room + short - size[own] * loss_with(prices, value, other)
            if mine + spared > best:
                gain = mine + now - fewer * loss_without(losses, groups, which, other)
                if gain > best:
                    filler, best = other, gain
            other = following[other]
    return filler, best


def best_change(
    losses: Losses,
    groups: Groups,
    row: int,
    allowed: NDArray[np.bool_],
    most: int,
) -> tuple[int, int, float]:
    """Target and partner of the change that gains most for a row, and what it gains."""
    own, entered, prices = groups.owner[row], groups.entered, groups.prices
    rows, loss = groups.size[own], groups.loss[own]
    rest = loss_without(losses, groups, own, row)
    saved = rows * loss - (rows - 1) * rest
    target, cost = enter(groups, row, most, saved, entered)
    write_prices(losses, groups, own, row, prices)
    best, goal, partner = LEAST_GAIN, -1, -1
    if target >= 0 and allowed[groups.size[target] + 1]:
        room = saved - cost
        if allowed[rows - 1]:
            if room > best:
                best, goal = room, target
        else:
            filler, gain = best_refill(losses, groups, row, target, room, allowed, prices, best)
            if filler >= 0:
                best, goal, partner = gain, target, filler
    other, gain = best_swap(losses, groups, row, rest, entered, prices, best)
    if other >= 0:
        best, goal, partner = gain, groups.owner[other], other
    return goal, partner, best


@kernel
def sweep(
    losses: Losses,
    groups: Groups,
    allowed: NDArray[np.bool_],
    most: int,
    turn: int,
    once: bool,
    barred: NDArray[np.bool_],
    record: IntArray,
) -> tuple[int, float]:
    """Change what gains, row by row.

    Parameters
    ----------
    allowed
        Whether a class may have each size.
    most
        Size beyond which no class grows.
    turn
        Number of this sweep, from 1. Rows of classes that did not change in this sweep or the last
        are not looked at again.
    once
        Whether a class may take part in one change only, so that a change can be taken back alone.
    barred
        Rows that must stay.
    record
        Is filled with the changes, if a class takes part in one only.

    Returns
    -------
    changes, gained
        How many there were, and the loss that they saved.
    """
    touched, owner = groups.touched, groups.owner
    gained, changes = 0.0, 0
    for row in range(len(owner)):
        own = owner[row]
        busy = once and touched[own] == turn
        if barred[row] or busy or groups.size[own] < 2 or groups.loss[own] <= 0.0:
            continue
        if touched[own] < turn - 1:
            continue
        target, partner, gain = best_change(losses, groups, row, allowed, most)
        third = owner[partner] if partner >= 0 else target
        if target < 0 or (once and (touched[target] == turn or touched[third] == turn)):
            continue
        if once:
            record[changes, 0], record[changes, 1] = row, own
            record[changes, 2], record[changes, 3] = partner, third
        transfer(groups, row, target)
        if partner >= 0:
            transfer(groups, partner, own)
        for which in (own, target) if third == target else (own, target, third):
            touched[which] = turn
            weigh(losses, groups, which)
        gained += gain
        changes += 1
    return changes, gained


@kernel
def take_back(
    losses: Losses,
    groups: Groups,
    record: IntArray,
    refused: NDArray[np.bool_],
    barred: NDArray[np.bool_],
) -> float:
    """Undo the changes that made a refused class; return the loss that they had saved.

    Their rows are barred: what was refused once would be tried again in every sweep.
    """
    size, loss, owner = groups.size, groups.loss, groups.owner
    lost = 0.0
    for index in range(len(record)):
        row, own, partner, third = record[index]
        target = owner[row]
        if not (refused[own] or refused[target] or refused[third]):
            continue
        barred[row] = True
        concerned = (own, target) if third == target else (own, target, third)
        for which in concerned:
            lost -= size[which] * loss[which]
        transfer(groups, row, own)
        if partner >= 0:
            transfer(groups, partner, third)
        for which in concerned:
            weigh(losses, groups, which)
            lost += size[which] * loss[which]
    return lost
