"""Which point a node of the tree is cut around, and the random numbers that decide it.

Every node has a salt, and its random numbers are hashes of it: they do not depend on the order in
which nodes are cut, nor on the number of threads.
"""

import numpy as np
from numpy.typing import NDArray

from anonloom_rayden.gower import Space, from_one

RANDOM = 0
FARTHEST = 1
BEST_SPREAD = 2

#: How many points compete for the best spread, and how many others judge each of them.
CANDIDATES = 6
JUDGES = 1024

#: The numbers 0 and 1 of a salt are its children's; candidates have the next ones.
_FIRST_CANDIDATE = 2

_ALL_BITS = 2**64 - 1


def salted_hash(salt: int, number: int) -> int:
    """The random number of a salt (63 bits) with this number: splitmix64's output function."""
    mixed = (int(salt) + (number + 1) * 0x9E3779B97F4A7C15) & _ALL_BITS
    mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & _ALL_BITS
    mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _ALL_BITS
    return (mixed ^ (mixed >> 31)) >> 1


def point_of_row(reach: NDArray[np.int64], row: int) -> int:
    """The point that holds the row with this number; `reach`: rows up to and with each point."""
    return int(np.searchsorted(reach, row, side="right"))


def vantage_point(
    space: Space,
    how: int,
    attempt: int,
    codes: NDArray[np.int32],
    weight: NDArray[np.int64],
    begin: int,
    count: int,
    size: int,
    salt: int,
) -> int:
    """Choose among `count` points, which hold `size` rows; another attempt, another choice."""
    if how == BEST_SPREAD:
        return best_spread(space, attempt, codes, weight, begin, count, size, salt)
    row = salted_hash(salt, _FIRST_CANDIDATE + attempt) % size
    chosen = begin + point_of_row(np.cumsum(weight[begin : begin + count]), row)
    if how == FARTHEST:
        distance = np.empty(count)
        from_one(space, codes, chosen, begin, count, 1, distance)
        chosen = begin + int(np.argmax(distance))
    return chosen


def best_spread(
    space: Space,
    attempt: int,
    codes: NDArray[np.int32],
    weight: NDArray[np.int64],
    begin: int,
    count: int,
    size: int,
    salt: int,
) -> int:
    """The candidate whose distances from a sample of the points vary most.

    Each candidate comes from a stratum of its own in the order of the rows: neighbours in that
    order are alike, so that the candidates are not.
    """
    step = (count + JUDGES - 1) // JUDGES
    judges = (count + step - 1) // step
    distance = np.empty(judges)
    held = weight[begin : begin + count]
    reach, sampled = np.cumsum(held), held[::step].tolist()
    best, most = begin, -1.0
    for stratum in range(CANDIDATES):
        number = _FIRST_CANDIDATE + attempt * CANDIDATES + stratum
        row = (stratum * size + salted_hash(salt, number) % size) // CANDIDATES
        point = begin + point_of_row(reach, row)
        from_one(space, codes, point, begin, judges, step, distance)
        spread = variance(distance.tolist(), sampled)
        if spread > most:
            best, most = point, spread
    return best


def variance(distance: list[float], weight: list[int]) -> float:
    """Variance of the distances of points that stand for so many rows each."""
    rows, total, squares = 0.0, 0.0, 0.0
    # One after the other: a sum in another order is another number.
    for apart, share in zip(distance, weight, strict=True):
        rows += share
        total += share * apart
        squares += share * apart * apart
    mean = total / rows
    return squares / rows - mean * mean
