"""Searches among the points of a cell by what they would cost the cluster that is being built."""

import numpy as np
from numpy.typing import NDArray

from anonloom_kernels.compiled import kernel
from anonloom_kernels.prices import Prices


@kernel
def cost(prices: Prices, point: int) -> float:
    """Loss of one row of the cluster, if this point joined."""
    total = 0.0
    for axis in range(prices.value.shape[1]):
        total += prices.price[prices.value[point, axis]]
    return total


@kernel
def dearest(prices: Prices, alive: NDArray[np.int64]) -> int:
    """Place of the point that would cost the most; the first of several."""
    most, found = -1.0, 0
    for at in range(len(alive)):
        own = cost(prices, alive[at])
        if own > most:
            most, found = own, at
    return found


@kernel
def densest(prices: Prices, alive: NDArray[np.int64], left: NDArray[np.int64]) -> int:
    """Place of the point with the most rows left; of several the cheapest, then the first."""
    most, least, found = 0, np.inf, 0
    for at in range(len(alive)):
        rows = left[alive[at]]
        if rows >= most:
            own = cost(prices, alive[at])
            if rows > most or own < least:
                most, least, found = rows, own, at
    return found


@kernel
def cheapest(
    prices: Prices, alive: NDArray[np.int64], left: NDArray[np.int64], start: int, least: float
) -> tuple[int, float]:
    """Place and cost of the point that would cost the least; the first of several.

    Places before `start` are known to cost more than `least`, and none costs less than that.
    """
    lowest, found = np.inf, start
    for at in range(start, len(alive)):
        if left[alive[at]]:
            own = cost(prices, alive[at])
            if own < lowest:
                lowest, found = own, at
                if own <= least:
                    break
    return found, lowest
