"""Entropies: how uncertain a guess is, and intervals of how often it was right."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv

Floats = NDArray[np.float64]


def shannon(distribution: ArrayLike) -> float:
    """Return H = -sum p log2 p, in bits (Serjantov and Danezis).

    Parameters
    ----------
    distribution
        Weights that are not negative; they need not sum to one.
    """
    p = _normalized(distribution)
    p = p[p > 0]
    return max(0.0, float(-(p * np.log2(p)).sum()))


def min_entropy(distribution: ArrayLike) -> float:
    """Return -log2 max p, in bits: how hard the best single guess is."""
    return max(0.0, float(-np.log2(_normalized(distribution).max())))


def degree(bits: float, senders: float) -> float:
    """Return d = H / log2 U (Diaz et al.): 1 when every sender is as likely, 0 when one is known.

    Of a single sender there is nothing to hide: 0.
    """
    return min(1.0, bits / math.log2(senders)) if senders > 1 else 0.0


def _normalized(distribution: ArrayLike) -> Floats:
    weights = np.asarray(distribution, dtype=np.float64)
    total = float(weights.sum())
    if not total > 0 or (weights < 0).any():
        raise ValueError("weights must not be negative, and not all zero")
    normalized: Floats = weights / total
    return normalized


def interval(right: float, trials: int, confidence: float) -> tuple[float, float]:
    """Return the interval of Clopper and Pearson of a share: it covers at least as promised.

    Ties are counted by expectation, so that `right` may be a fraction: such counts vary less than
    binomial ones, and the interval is then wider than it need be.
    """
    if trials < 1:
        return 0.0, 1.0
    tail = (1 - confidence) / 2
    low = float(betaincinv(right, trials - right + 1, tail)) if right > 0 else 0.0
    high = float(betaincinv(right + 1, trials - right, 1 - tail)) if right < trials else 1.0
    return low, high
