"""Tolerant controls: how many mismatches honest workers may show where honest answers can differ.

A campaign whose honest answers differ with the rate `error` is judged by binomial tests instead
of by the first mismatch. Honest work fails one of them at most with the probability `LEVEL`, which
is divided among the tests:

- one test over all sentinels and one over all twins, each at `campaign_level`. They decide whether
  something was omitted at all, and `formulas.undetected_probability` states theirs;
- two tests per worker, each at `own_level`: one of its sentinels, which alone say who, and one of
  all its controls.

Sentinels and twins are tested apart: where everybody omits everything, all twins agree, and the
sentinels that fail would drown in the mismatches that so many twins are allowed.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anonloom.lazy import lazy_module

special = lazy_module("scipy.special")

#: The probability at which all tests of a campaign together may accuse honest work.
LEVEL = 0.01


def campaign_level(level: float = LEVEL) -> float:
    """The level of each of the two tests over the whole campaign: together half of `level`."""
    return level / 4


def worker_level(workers: int, level: float = LEVEL) -> float:
    """The level of one worker's two tests: all workers together have the other half of `level`."""
    return level / (2 * workers)


def own_level(workers: int, level: float = LEVEL) -> float:
    """The level of each of a worker's two tests: of its sentinels, and of all its controls."""
    return worker_level(workers, level) / 2


def more_than(mismatches: ArrayLike, pairs: ArrayLike, rate: ArrayLike) -> NDArray[np.float64]:
    """The probability of more than so many mismatches among `pairs` independent ones.

    Parameters
    ----------
    mismatches, pairs
        Whole numbers.
    rate
        The probability that one pair does not match.
    """
    k, n, p = (np.asarray(a, dtype=np.float64) for a in (mismatches, pairs, rate))
    # P(Bin(n, p) > k) = I_p(k + 1, n - k): no sum, and no digit lost in a small tail.
    tail = special.betainc(np.maximum(k, 0) + 1, np.maximum(n - k, 1), p)
    return np.asarray(np.where(k < 0, 1.0, np.where(k >= n, 0.0, tail)))


def most_tolerated(pairs: ArrayLike, error: float, level: float) -> NDArray[np.int64]:
    """The most mismatches that honest workers are believed to show.

    The least number that honest workers exceed with a probability of at most `level`.

    Parameters
    ----------
    pairs
        How many answers are compared: one number or an array of them.
    error
        The share of honest answers that differ; with 0 nothing is tolerated.
    level
        The probability at which honest workers may exceed the number.

    Examples
    --------
    >>> int(most_tolerated(100, 0.02, 0.001))
    7
    >>> int(most_tolerated(100, 0.0, 0.001))
    0
    """
    n: NDArray[Any] = np.asarray(pairs, dtype=np.int64)
    low = np.full(n.shape, -1, dtype=np.int64)
    high = n.copy()
    # `low` is always too small a number, `high` always large enough.
    while np.any(high - low > 1):
        middle = (low + high) // 2
        enough = more_than(middle, n, error) <= level
        high = np.where(enough, middle, high)
        low = np.where(enough, low, middle)
    return np.asarray(np.maximum(high, 0))
