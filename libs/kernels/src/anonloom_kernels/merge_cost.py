"""What adding a row would cost a cluster that is being built: one price per value, not per row.

A cell has far fewer values than rows. The loss of the cluster with one more row is the sum, over
the axes, of the price of the row's value there; when a row joins, only the axes on which it adds
something new are priced again.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anonloom_kernels.losses import SET, Losses, extent_loss, set_loss

__all__ = [
    "Prices",
    "begin",
    "join",
    "price_axis",
    "prices_of",
]


class Prices(NamedTuple):
    """The values of one cell and what each of them costs.

    Attributes
    ----------
    value
        (points x axes): number of the value of every point, counted over all axes.
    first
        Number of the first value of every axis, and the number of values.
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


def prices_of(codes: NDArray[np.int32]) -> Prices:
    """Number the values of a cell, given the codes of its points (points x axes)."""
    points, axes = codes.shape
    value = np.empty((points, axes), np.int64)
    first = np.zeros(axes + 1, np.int64)
    code = np.empty(points * axes, np.int64)
    count = 0
    for axis in range(axes):
        first[axis] = count
        column = codes[:, axis].copy()
        order = np.argsort(column)
        for index in range(points):
            own = np.int64(column[order[index]])
            if index == 0 or own != code[count - 1]:
                code[count] = own
                count += 1
            value[order[index], axis] = count - 1
    first[axes] = count
    return Prices(
        value,
        first,
        code[:count].copy(),
        np.zeros(count),
        np.zeros(count, np.bool_),
        np.zeros(axes, np.int64),
        np.zeros(axes, np.int64),
        np.ones(axes, np.int64),
    )


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
    lo, hi = prices.lo[axis], prices.hi[axis]
    missing = losses.missing[axis]
    for value in range(prices.first[axis], prices.first[axis + 1]):
        code = prices.code[value]
        if losses.kind[axis] == SET:
            members = prices.members[axis] + (not prices.inside[value])
            lacking = missing in (hi, code)
            prices.price[value] = set_loss(losses, axis, members, lacking)
        else:
            prices.price[value] = extent_loss(losses, axis, min(lo, code), max(hi, code))
