"""What adding a row would cost a cluster that is being built: one price per value, not per row.

A cell has far fewer values than rows. The loss of the cluster with one more row is the sum, over
the axes, of the price of the row's value there; when a row joins, only the axes on which it adds
something new are priced again.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anonloom_kernels.losses import SET, Losses, loss_between, set_loss

__all__ = [
    "Prices",
    "begin",
    "join",
    "of_cell",
    "price_axis",
    "prices_of",
]


class Prices(NamedTuple):
    """The values of one cell and what each of them costs.

    Attributes
    ----------
    value
        (points x axes): number of the value of every point, counted over all axes of a cell.
    first
        Number of the first value of every axis, and of the one behind the last. `prices_of` numbers
        many cells at once: then there is a row for each of them, and `of_cell` takes one.
    code
        Code of every value on its axis.
    price
        Loss of the cluster on the value's axis, if a row with that value joined.
    inside
        Whether the cluster has the value; kept on axes of the kind SET only.
    lo, hi
        Extent of the cluster on every axis.
    members
        Number of different values of the cluster; kept on axes of the kind SET only.
    """

    value: NDArray[np.int64]
    first: NDArray[np.int64]
    code: NDArray[np.int64]
    price: NDArray[np.float64]
    inside: NDArray[np.bool_]
    lo: NDArray[np.int64]
    hi: NDArray[np.int64]
    members: NDArray[np.int64]


def prices_of(codes: NDArray[np.int32], cells: NDArray[np.int64]) -> Prices:
    """Number the values of every cell; those of a cell ascend by axis and code.

    Parameters
    ----------
    codes
        (points x axes): codes of the points, cell after cell.
    cells
        First point of every cell, and behind the last one.
    """
    axes, sizes = codes.shape[1], np.diff(cells)
    owner = np.repeat(np.arange(len(sizes)), sizes)
    width = int(codes.max(initial=0)) + 1
    # Values of one axis after the other, numbered through all cells; then cell by cell.
    value = np.empty(codes.shape, np.int64)
    found = []
    count = np.empty((len(sizes), axes), np.int64)
    for axis in range(axes):
        pairs, value[:, axis] = np.unique(owner * width + codes[:, axis], return_inverse=True)
        found.append(np.divmod(pairs, width))
        count[:, axis] = np.bincount(found[axis][0], minlength=len(sizes))
    ends = np.append(0, np.cumsum(count.ravel()))
    first = ends[np.arange(len(sizes))[:, None] * axes + np.arange(axes + 1)]
    shift = first[:, :axes] - (np.cumsum(count, axis=0) - count)
    code = np.empty(ends[-1], np.int64)
    for axis, (of_cell, own) in enumerate(found):
        value[:, axis] += shift[owner, axis]
        code[np.arange(len(own)) + shift[of_cell, axis]] = own
    return Prices(
        value,
        first,
        code,
        np.zeros(len(code)),
        np.zeros(len(code), np.bool_),
        np.zeros(axes, np.int64),
        np.zeros(axes, np.int64),
        np.ones(axes, np.int64),
    )


def of_cell(prices: Prices, cell: int) -> Prices:
    """The prices of one cell out of many: a view."""
    return prices._replace(first=prices.first[cell])


def begin(prices: Prices, losses: Losses, point: int) -> None:
    """Let the cluster be this point alone."""
    for axis in range(len(prices.lo)):
        value = prices.value[point, axis]
        prices.lo[axis] = prices.hi[axis] = prices.code[value]
        if losses.kind[axis] == SET:
            prices.inside[prices.first[axis] : prices.first[axis + 1]] = False
            prices.inside[value] = True
            prices.members[axis] = 1
        price_axis(prices, losses, axis)


def join(prices: Prices, losses: Losses, point: int) -> None:
    """Add a point to the cluster."""
    for axis in range(len(prices.lo)):
        value = prices.value[point, axis]
        code = prices.code[value]
        fresh = code < prices.lo[axis] or code > prices.hi[axis]
        if losses.kind[axis] == SET:
            fresh = not prices.inside[value]
            prices.inside[value] = True
            prices.members[axis] += fresh
        if fresh:
            prices.lo[axis] = min(prices.lo[axis], code)
            prices.hi[axis] = max(prices.hi[axis], code)
            price_axis(prices, losses, axis)


def price_axis(prices: Prices, losses: Losses, axis: int) -> None:
    """Price all values of one axis for the cluster's present extent."""
    lo, hi, codes = prices.lo[axis], prices.hi[axis], prices.code
    missing, is_set = losses.missing[axis], losses.kind[axis] == SET
    layout, values, ancestors = losses.layout, losses.values, losses.ancestors
    for value in range(prices.first[axis], prices.first[axis + 1]):
        code = codes[value]
        if is_set:
            members = prices.members[axis] + (not prices.inside[value])
            price = set_loss(losses, axis, members, missing in (hi, code))
        else:
            price = loss_between(layout, values, ancestors, axis, min(lo, code), max(hi, code))
        prices.price[value] = price
