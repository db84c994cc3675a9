"""Entropies: how uncertain a guess is, and intervals of how often it was right."""

import math

import numpy as np
from numpy.typing import ArrayLike

from anonloom.lazy import lazy_module
from anonloom.typing import FloatArray

special = lazy_module("scipy.special")


def shannon(distributions: ArrayLike) -> FloatArray:
    """Return H = -sum p log2 p of every row, in bits (Serjantov and Danezis).

    Parameters
    ----------
    distributions
        Weights that are not negative; they need not sum to one.
    """
    p = _normalize(distributions)
    logs = np.log2(p, out=np.zeros_like(p), where=p > 0)
    bits: FloatArray = np.abs((p * logs).sum(axis=-1))
    return bits


def min_entropy(distributions: ArrayLike) -> FloatArray:
    """Return -log2 max p of every row, in bits: how hard the best single guess is."""
    bits: FloatArray = np.abs(np.log2(_normalize(distributions).max(axis=-1)))
    return bits


def degree(bits: float, senders: float) -> float:
    """Return d = H / log2 U (Diaz et al.): 1 when every sender is as likely, 0 when one is known.

    Of a single sender there is nothing to hide: 0.
    """
    return min(1.0, bits / math.log2(senders)) if senders > 1 else 0.0


def _normalize(distributions: ArrayLike) -> FloatArray:
    weights = np.asarray(distributions, dtype=np.float64)
    totals = weights.sum(axis=-1, keepdims=True)
    if not (totals > 0).all() or (weights < 0).any():
        raise ValueError("weights must not be negative, and not all zero")
    normalized: FloatArray = weights / totals
    return normalized


def interval(right: float, trials: int, confidence: float) -> tuple[float, float]:
    """Return the interval of Clopper and Pearson of a share: it covers at least as promised.

    Ties are counted by expectation, so that `right` may be a fraction: such counts vary less than
    binomial ones, and the interval is then wider than it need be.
    """
    if trials < 1:
        return 0.0, 1.0
    tail = (1 - confidence) / 2
    low = float(special.betaincinv(right, trials - right + 1, tail)) if right > 0 else 0.0
    high = float(special.betaincinv(right + 1, trials - right, 1 - tail)) if right < trials else 1.0
    return low, high
