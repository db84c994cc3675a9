"""Dissolving a class: all its rows go to other classes if the block then loses less."""

import numpy as np
from numpy.typing import NDArray

from anonloom_kernels.compiled import kernel
from anonloom_kernels.losses import Losses
from anonloom_regroup.exchange import LEAST_GAIN, enter
from anonloom_regroup.groups import Groups, transfer, weigh


def dissolve(
    losses: Losses, groups: Groups, which: int, allowed: NDArray[np.bool_], most: int
) -> float:
    """Send the rows of a class elsewhere; return what that saved, 0 if everything stayed.

    The new classes of the rows are in `targets`, in the order in which they left.
    """
    entered, targets = groups.entered, groups.targets
    before, spent, count = groups.size[which] * groups.loss[which], 0.0, 0
    row = groups.head[which]
    while row >= 0:
        groups.leaving[count] = row
        count += 1
        row = groups.following[row]
    rows = groups.leaving[:count]
    # Each row alone must already fit elsewhere: most classes end here, before anything moves.
    least = 0.0
    for row in rows:
        target, cost = enter(groups, row, most, before - least, entered)
        least += cost
        if target < 0:
            return 0.0
    sent = 0
    for row in rows:
        room = before - spent - LEAST_GAIN
        target, cost = enter(groups, row, most, room, entered)
        if target < 0 or not allowed[groups.size[target] + 1]:
            break
        transfer(groups, row, target)
        weigh(losses, groups, target)
        targets[sent] = target
        spent += cost
        sent += 1
    if sent == count:
        weigh(losses, groups, which)
        return float(before - spent)
    for index in range(sent):
        transfer(groups, rows[index], which)
    for index in range(sent):
        weigh(losses, groups, targets[index])
    weigh(losses, groups, which)
    return 0.0


@kernel
def dissolve_all(
    losses: Losses, groups: Groups, allowed: NDArray[np.bool_], most: int, turn: int
) -> float:
    """Dissolve every class that changed lately and whose rows fit better elsewhere."""
    gained = 0.0
    for which in range(len(groups.size)):
        if groups.loss[which] <= 0.0 or groups.touched[which] < turn - 1:
            continue
        rows = groups.size[which]
        gain = dissolve(losses, groups, which, allowed, most)
        if gain > 0.0:
            gained += gain
            groups.touched[which] = turn
            for index in range(rows):
                groups.touched[groups.targets[index]] = turn
    return gained
