"""Searches among the points of a cell by what they would cost the cluster that is being built."""

import numpy as np
from numpy.typing import NDArray

from anonloom_kernels.compiled import kernel
from anonloom_kernels.merge_cost import Prices


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
    most, result = -1.0, 0
    for index in range(len(alive)):
        own = cost(prices, alive[index])
        if own > most:
            most, result = own, index
    return result


@kernel
def densest(prices: Prices, alive: NDArray[np.int64], left: NDArray[np.int64]) -> int:
    """Place of the point with the most rows left; of several the cheapest, then the first."""
    most, least, result = 0, np.inf, 0
    for index in range(len(alive)):
        rows = left[alive[index]]
        if rows >= most:
            own = cost(prices, alive[index])
            if rows > most or own < least:
                most, least, result = rows, own, index
    return result


@kernel
def cheapest(
    prices: Prices, alive: NDArray[np.int64], left: NDArray[np.int64], start: int, least: float
) -> tuple[int, float]:
    """Place and cost of the point that would cost the least; the first of several.

    None costs less than `least`, and those before `start` are known to cost more than that: they
    are looked at only if no other one costs just as little.
    """
    lowest, result, index = np.inf, len(alive), start - 1
    for _ in range(len(alive)):
        index = index + 1 if index + 1 < len(alive) else 0
        if left[alive[index]]:
            own = cost(prices, alive[index])
            if own < lowest or (own == lowest and index < result):
                lowest, result = own, index
                if own <= least:
                    break
    return result, lowest
