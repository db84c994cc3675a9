"""Searches among the points of a cell by what they would cost the cluster that is being built."""

import numpy as np

from anonloom.typing import FloatArray, IntArray
from anonloom_kernels.merge_cost import Prices


def costs(prices: Prices, points: IntArray) -> FloatArray:
    """Loss of one row of the cluster, if one of these points joined."""
    price, value = prices.price, prices.value
    total = np.zeros(len(points))
    for axis in range(value.shape[1]):
        total += price[value[points, axis]]
    # The difference of numbers that are too large is none: it costs all there is.
    total[np.isnan(total)] = np.inf
    return total


def dearest(prices: Prices, alive: IntArray) -> int:
    """Place of the point that would cost the most; the first of several."""
    return int(np.argmax(costs(prices, alive)))


def densest(prices: Prices, alive: IntArray, left: IntArray) -> int:
    """Place of the point with the most rows left; of several the cheapest, then the first."""
    rows = left[alive]
    most = np.flatnonzero(rows == rows.max())
    return int(most[np.argmin(costs(prices, alive[most]))])


def cheapest(
    prices: Prices, alive: IntArray, left: IntArray, start: int, least: float
) -> tuple[int, float]:
    """Place and cost of the point that would cost the least; the first of several.

    None costs less than `least`, and those before `start` are known to cost more than that: they
    are looked at only if no other one costs just as little.
    """
    here = np.flatnonzero(left[alive])
    own = costs(prices, alive[here])
    free = np.flatnonzero(own <= least)
    if len(free):
        index = free[np.searchsorted(here[free], start) % len(free)]
    else:
        index = np.argmin(own)
    return int(here[index]), float(own[index])
