"""Which predicates an attacker draws up: about one column, about many, about few and coarsely."""

from collections.abc import Iterator, Sequence
from itertools import combinations, islice
from math import comb

import numpy as np

from anonloom_singling_out.parts import Grid, Parts
from anonloom_singling_out.predicates import Family

__all__ = ["CELLS", "GRIDS", "NEIGHBOURS", "coarse", "conjunctions", "univariate"]

#: Numbers of the ways to divide a column; what is no line of single values has only the first.
CELLS, NEIGHBOURS, FIRST_GRID = 0, 1, 2
#: Numbers may have been changed by little or by much. Every width comes twice, since a border may
#: lie between a value and what became of it.
GRIDS = tuple(Grid(width, shift) for width in (0.1, 0.4, 1.0) for shift in (0.0, 0.5))
#: Sets of columns that are tried with every way to divide them.
SUBSETS = 30
#: Columns of a coarse predicate, and families that are looked through for them.
FEW_COLUMNS, MOST_COARSE = (2, 3, 4), 200

Ways = Sequence[Sequence[Parts]]


def univariate(ways: Ways, way: int) -> list[Family]:
    """Return predicates about every column that can be divided in this way."""
    return [((column, way),) for column in range(len(ways)) if len(ways[column]) > way]


def conjunctions(ways: Ways, rng: np.random.Generator) -> list[Family]:
    """Return predicates about all columns, and about all but some, the most specific first.

    A published row in which some values were changed still shows the others.
    """
    result = []
    for way in (CELLS, *range(FIRST_GRID, FIRST_GRID + len(GRIDS))):
        for subset in _subsets(len(ways), SUBSETS, rng):
            family = _divide(ways, subset, way)
            if way == CELLS or any(own == way for _, own in family):
                result.append(family)
    return result


def coarse(ways: Ways) -> Iterator[Family]:
    """Yield predicates about few columns, numbers in the widest intervals.

    What few and coarse conditions single out is likely still alone when cells were changed.
    """
    widest = FIRST_GRID + len(GRIDS) - 1
    sizes = [size for size in FEW_COLUMNS if size <= len(ways)] or [len(ways)]
    subsets = (subset for size in sizes for subset in combinations(range(len(ways)), size))
    for subset in islice(subsets, MOST_COARSE):
        yield _divide(ways, subset, widest)


def _divide(ways: Ways, subset: Sequence[int], way: int) -> Family:
    return tuple((column, way if len(ways[column]) > way else CELLS) for column in subset)


def _subsets(size: int, most: int, rng: np.random.Generator) -> list[tuple[int, ...]]:
    """Return sets of so many columns: all, all but one, and so on; some of them where many.

    Every number of columns left out, up to a half, gets an equal part of what is left.
    """
    result = [tuple(range(size))]
    numbers = range(1, size // 2 + 1)
    for left_out in numbers:
        share = (most - len(result)) // (len(numbers) - left_out + 1)
        if comb(size, left_out) <= share:
            missing = list(combinations(range(size), left_out))
        else:
            missing = [
                tuple(rng.choice(size, left_out, replace=False).tolist()) for _ in range(share)
            ]
        result += [tuple(c for c in range(size) if c not in out) for out in missing]
    return result
