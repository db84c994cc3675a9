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

    None costs less than `least`, and those before `start` are known to cost more than that: they
    are looked at only if no other one costs just as little.
    """
    lowest, found, at = np.inf, len(alive), start - 1
    for _ in range(len(alive)):
        at = at + 1 if at + 1 < len(alive) else 0
        if left[alive[at]]:
            own = cost(prices, alive[at])
            if own < lowest or (own == lowest and at < found):
                lowest, found = own, at
                if own <= least:
                    break
    return found, lowest
