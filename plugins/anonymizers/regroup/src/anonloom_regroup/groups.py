"""The classes of a block while rows move between them, and what each would lose after a change.

Every class has a price list: for each value of each axis what the class would lose on that axis if
a row with that value came. What the class loses with any further row is a sum of prices, one per
axis. Per class and axis the two smallest and the two largest codes are kept, counted with
multiplicity: without a row that has the smallest code the class begins at the second, so that the
loss after any exchange of one row is known without looking at the others.
"""

from typing import NamedTuple

import numpy as np

from anonloom.typing import CodeArray, FloatArray, IntArray
from anonloom_kernels.compiled import kernel
from anonloom_kernels.losses import SET, Losses, loss_between, set_loss

#: Beyond every code.
_BEYOND = np.int32(2**31 - 1)


class Groups(NamedTuple):
    """Classes of the rows of a block.

    Attributes
    ----------
    value
        (rows x axes): number of a row's value, counted over all axes of the block.
    first
        Number of the first value of every axis, and the number of values.
    code
        Code of every value.
    owner
        Class of every row.
    following, preceding
        The next and the last row of the same class, or -1.
    head
        First row of every class, or -1 for one that is dissolved.
    size
        Rows of every class.
    ends
        (classes x axes x 4): smallest, second smallest, second largest, largest code.
    held
        (classes x values): rows that have each value; on axes of the kind SET only.
    members
        (classes x axes): different values; on axes of the kind SET only.
    price
        (values x classes): loss on the value's axis if a row with that value came to the class. In
        this order the prices of one value for all classes stand side by side.
    drawn
        Room for the prices of one class.
    loss
        What each row of a class loses.
    relief
        By how much the loss of a class falls at most if one row leaves.
    touched
        Sweep in which each class changed last.
    entered, prices
        Room for what every class loses with a row that comes, and for the prices of the class that
        it leaves.
    leaving, targets
        Room for the rows of a class that is dissolved, and for their new classes.
    """

    value: IntArray
    first: IntArray
    code: CodeArray
    owner: IntArray
    following: IntArray
    preceding: IntArray
    head: IntArray
    size: IntArray
    ends: CodeArray
    held: CodeArray
    members: IntArray
    price: FloatArray
    drawn: FloatArray
    loss: FloatArray
    relief: FloatArray
    touched: IntArray
    entered: FloatArray
    prices: FloatArray
    leaving: IntArray
    targets: IntArray


def loss_with(prices: FloatArray, value: IntArray, row: int) -> float:
    """Loss per row of a class with these prices once a row has come."""
    loss = 0.0
    for axis in range(value.shape[1]):
        loss += prices[value[row, axis]]
    return loss


def extent_without(
    value: IntArray,
    code: CodeArray,
    ends: CodeArray,
    held: CodeArray,
    members: IntArray,
    which: int,
    gone: int,
    axis: int,
) -> tuple[int, int, int]:
    """Ends and number of members of a class on an axis after row `gone` left; -1 for none."""
    lo, hi, count = ends[which, axis, 0], ends[which, axis, 3], members[which, axis]
    if gone >= 0:
        own = value[gone, axis]
        if code[own] == lo:
            lo = ends[which, axis, 1]
        if code[own] == hi:
            hi = ends[which, axis, 2]
        if held[which, own] == 1:
            count -= 1
    return lo, hi, count


def least_without(losses: Losses, groups: Groups, which: int, row: int, many: int) -> float:
    """Least loss per row of a class after one row has left, tried for some rows in turn.

    The first of them is `row`, `many` says how many are tried.
    """
    value, code, ends = groups.value, groups.code, groups.ends
    held, members, following = groups.held, groups.members, groups.following
    layout, values, ancestors = losses.layout, losses.values, losses.ancestors
    least = np.inf
    for _ in range(many):
        loss = 0.0
        for axis in range(value.shape[1]):
            lo, hi, count = extent_without(value, code, ends, held, members, which, row, axis)
            if layout[axis, 0] == SET:
                loss += set_loss(losses, axis, count, hi == layout[axis, 2])
            elif lo < hi:
                loss += loss_between(layout, values, ancestors, axis, lo, hi)
        least = min(least, loss)
        row = following[row]
    return least


def loss_without(losses: Losses, groups: Groups, which: int, gone: int) -> float:
    """Loss per row of a class after a row has left."""
    return least_without(losses, groups, which, gone, 1)


def loss_exchanged(losses: Losses, groups: Groups, which: int, gone: int, come: int) -> float:
    """Loss per row of a class after one row has left and another has come."""
    value, code, ends = groups.value, groups.code, groups.ends
    held, members = groups.held, groups.members
    layout, values, ancestors = losses.layout, losses.values, losses.ancestors
    loss = 0.0
    for axis in range(value.shape[1]):
        lo, hi, count = extent_without(value, code, ends, held, members, which, gone, axis)
        own = value[come, axis]
        lo, hi = min(lo, code[own]), max(hi, code[own])
        if layout[axis, 0] == SET:
            known = held[which, own] - (own == value[gone, axis])
            loss += set_loss(losses, axis, count + (known <= 0), hi == layout[axis, 2])
        else:
            loss += loss_between(layout, values, ancestors, axis, lo, hi)
    return loss


def write_prices(losses: Losses, groups: Groups, which: int, gone: int, prices: FloatArray) -> None:
    """Price every value for a class that row `gone` has left; -1 for none."""
    value, code, ends, first = groups.value, groups.code, groups.ends, groups.first
    held, members = groups.held, groups.members
    layout, values, ancestors = losses.layout, losses.values, losses.ancestors
    for axis in range(value.shape[1]):
        lo, hi, count = extent_without(value, code, ends, held, members, which, gone, axis)
        for index in range(first[axis], first[axis + 1]):
            begin, end = min(lo, code[index]), max(hi, code[index])
            if layout[axis, 0] == SET:
                known = held[which, index]
                if gone >= 0 and index == value[gone, axis]:
                    known -= 1
                prices[index] = set_loss(losses, axis, count + (known <= 0), end == layout[axis, 2])
            else:
                prices[index] = loss_between(layout, values, ancestors, axis, begin, end)


def survey(losses: Losses, groups: Groups, which: int) -> None:
    """Look at all rows of a class anew."""
    value, code, following = groups.value, groups.code, groups.following
    ends, held, members = groups.ends, groups.held, groups.members
    for axis in range(value.shape[1]):
        first, second, former, last, different = _BEYOND, _BEYOND, np.int32(-1), np.int32(-1), 0
        is_set = losses.kind[axis] == SET
        if is_set:
            held[which, groups.first[axis] : groups.first[axis + 1]] = 0
        row = groups.head[which]
        while row >= 0:
            own = code[value[row, axis]]
            second = min(second, max(first, own))
            first = min(first, own)
            former = max(former, min(last, own))
            last = max(last, own)
            if is_set:
                different += held[which, value[row, axis]] == 0
                held[which, value[row, axis]] += 1
            row = following[row]
        ends[which, axis, 0], ends[which, axis, 1] = first, second
        ends[which, axis, 2], ends[which, axis, 3] = former, last
        members[which, axis] = different


def weigh(losses: Losses, groups: Groups, which: int) -> None:
    """Update everything that is known of a class whose rows changed."""
    groups.loss[which] = groups.relief[which] = 0.0
    if groups.size[which] == 0:
        return
    survey(losses, groups, which)
    drawn, price = groups.drawn, groups.price
    write_prices(losses, groups, which, -1, drawn)
    price[:, which] = drawn
    whole = loss_with(drawn, groups.value, groups.head[which])
    groups.loss[which] = whole
    if groups.size[which] > 1:
        least = least_without(losses, groups, which, groups.head[which], groups.size[which])
        groups.relief[which] = max(0.0, whole - least)


def transfer(groups: Groups, row: int, to: int) -> None:
    """Put a row into another class; `weigh` must follow for both."""
    following, preceding, head = groups.following, groups.preceding, groups.head
    old = groups.owner[row]
    if preceding[row] >= 0:
        following[preceding[row]] = following[row]
    else:
        head[old] = following[row]
    if following[row] >= 0:
        preceding[following[row]] = preceding[row]
    groups.size[old] -= 1
    following[row], preceding[row] = head[to], -1
    if head[to] >= 0:
        preceding[head[to]] = row
    head[to] = row
    groups.owner[row] = to
    groups.size[to] += 1


@kernel
def link_rows(
    owner: IntArray, head: IntArray, following: IntArray, preceding: IntArray, size: IntArray
) -> None:
    """Chain the rows of every class, in their order, and count them."""
    for row in range(len(owner) - 1, -1, -1):
        which = owner[row]
        following[row], preceding[row] = head[which], -1
        if head[which] >= 0:
            preceding[head[which]] = row
        head[which] = row
        size[which] += 1


@kernel
def weigh_all(losses: Losses, groups: Groups) -> None:
    """Look at every class of a new block."""
    for which in range(len(groups.size)):
        weigh(losses, groups, which)


def groups_of(losses: Losses, codes: CodeArray, owner: IntArray) -> Groups:
    """Build the classes 0, 1, ... of a block.

    Parameters
    ----------
    codes
        (axes x rows).
    owner
        Class of every row; every number up to the largest occurs.
    """
    classes, axes = int(owner.max()) + 1, len(codes)
    numbered = [np.unique(column, return_inverse=True) for column in codes]
    first = np.cumsum([0, *(len(values) for values, _ in numbered)])
    value = np.stack(
        [index + start for (_, index), start in zip(numbered, first, strict=False)], axis=1
    )
    head, size = np.full(classes, -1), np.zeros(classes, np.int64)
    following, preceding = np.empty(len(owner), np.int64), np.empty(len(owner), np.int64)
    link_rows(owner, head, following, preceding, size)
    groups = Groups(
        np.ascontiguousarray(value, np.int64),
        first,
        np.concatenate([values for values, _ in numbered]).astype(np.int32),
        owner.copy(),
        following,
        preceding,
        head,
        size,
        np.empty((classes, axes, 4), np.int32),
        np.zeros((classes, int(first[-1])), np.int32),
        np.zeros((classes, axes), np.int64),
        np.empty((int(first[-1]), classes)),
        np.empty(int(first[-1])),
        np.zeros(classes),
        np.zeros(classes),
        np.zeros(classes, np.int64),
        np.empty(classes),
        np.empty(int(first[-1])),
        np.empty(len(owner), np.int64),
        np.empty(len(owner), np.int64),
    )
    weigh_all(losses, groups)
    return groups
