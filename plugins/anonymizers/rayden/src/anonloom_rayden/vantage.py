"""Which point a node of the tree is cut around, and the random numbers that decide it.

Every node has a salt, and its random numbers are hashes of it: they do not depend on the order in
which nodes are cut, nor on the number of threads.
"""

import numpy as np
from numpy.typing import NDArray

from anonloom_kernels.compiled import kernel
from anonloom_rayden.gower import Space, from_one

RANDOM = 0
FARTHEST = 1
BEST_SPREAD = 2

#: How many points compete for the best spread, and how many others judge each of them.
CANDIDATES = 6
JUDGES = 1024

#: The numbers 0 and 1 of a salt are its children's; candidates have the next ones.
_FIRST_CANDIDATE = 2


@kernel
def salted_hash(salt: int, number: int) -> int:
    """The random number of a salt (63 bits) with this number: splitmix64's output function."""
    mixed = np.uint64(salt) + np.uint64(number + 1) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    # Signed before anything is reckoned with it: compiled code mixes the two kinds as floats.
    return int(np.int64((mixed ^ (mixed >> np.uint64(31))) >> np.uint64(1)))


@kernel
def point_of_row(weight: NDArray[np.int64], begin: int, row: int) -> int:
    """The point that holds the row with this number, counted from point `begin` on."""
    index = begin
    while row >= weight[index]:
        row -= weight[index]
        index += 1
    return index


@kernel
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
    distance: NDArray[np.float64],
) -> int:
    """Choose among `count` points, which hold `size` rows; another attempt, another choice."""
    if how == BEST_SPREAD:
        return _best_spread(space, attempt, codes, weight, begin, count, size, salt, distance)
    row = salted_hash(salt, _FIRST_CANDIDATE + attempt) % size
    chosen = point_of_row(weight, begin, row)
    if how == FARTHEST:
        from_one(space, codes, chosen, begin, count, 1, distance)
        chosen = begin + int(np.argmax(distance[:count]))
    return chosen


@kernel
def _best_spread(
    space: Space,
    attempt: int,
    codes: NDArray[np.int32],
    weight: NDArray[np.int64],
    begin: int,
    count: int,
    size: int,
    salt: int,
    distance: NDArray[np.float64],
) -> int:
    """The candidate whose distances from a sample of the points vary most.

    Each candidate comes from a stratum of its own in the order of the rows: neighbours in that
    order are alike, so that the candidates are not.
    """
    step = (count + JUDGES - 1) // JUDGES
    judges = (count + step - 1) // step
    best, most = begin, -1.0
    point, before = begin, 0
    for stratum in range(CANDIDATES):
        number = _FIRST_CANDIDATE + attempt * CANDIDATES + stratum
        row = (stratum * size + salted_hash(salt, number) % size) // CANDIDATES
        while row >= before + weight[point]:
            before += weight[point]
            point += 1
        from_one(space, codes, point, begin, judges, step, distance)
        spread = _variance(distance, weight, begin, judges, step)
        if spread > most:
            best, most = point, spread
    return best


@kernel
def _variance(
    distance: NDArray[np.float64], weight: NDArray[np.int64], begin: int, count: int, step: int
) -> float:
    """Variance of the distances of every `step`-th point, from `begin` on."""
    rows, total, squares = 0.0, 0.0, 0.0
    for index in range(count):
        apart, share = distance[index], weight[begin + index * step]
        rows += share
        total += share * apart
        squares += share * apart * apart
    return squares / rows - (total / rows) ** 2
