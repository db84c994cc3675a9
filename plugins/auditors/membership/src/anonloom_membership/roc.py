"""How well scores tell people inside from people outside: AUC, rare false claims, epsilon.

A mean over everybody hides who is exposed: an attack that is right about one person in a hundred,
and knows it, has an AUC of nearly one half. Hence the share of people inside who are found while
almost nobody outside is claimed (Carlini et al. 2022), and the least epsilon with which such claims
could come from a differentially private release (Kairouz, Oh and Viswanath 2015).
"""

import math
from typing import Any, NamedTuple

import numpy as np

from anonloom.lazy import lazy_module
from anonloom.typing import FloatArray, IntArray

special = lazy_module("scipy.special")
stats = lazy_module("scipy.stats")

__all__ = [
    "Estimate",
    "area_under_curve",
    "clopper_pearson",
    "curve",
    "epsilon_bound",
    "found_at",
    "threshold_at",
]

LEVEL = 0.95
#: Thresholds among which that of the bound of epsilon is chosen.
THRESHOLDS = 200


class Estimate(NamedTuple):
    """A share with its interval of 95 %."""

    value: float
    interval: tuple[float, float]


def area_under_curve(inside: FloatArray, outside: FloatArray) -> Estimate:
    """Return the chance that somebody inside has a higher score than somebody outside.

    Ties count one half. The interval is that of DeLong, DeLong and Clarke-Pearson (1988), from
    ranks as Sun and Xu (2014) do; where no score varies beyond the other side's, by the rule of
    three.
    """
    n, m = len(inside), len(outside)
    ranks = stats.rankdata(np.concatenate([inside, outside]))
    # Share of the other side below everybody.
    above = (ranks[:n] - stats.rankdata(inside)) / m
    below = 1 - (ranks[n:] - stats.rankdata(outside)) / n
    area = float(above.mean())
    variance = sum(float(part.var(ddof=1)) / len(part) for part in (above, below) if len(part) > 1)
    if variance <= 0:
        few = 3 / min(n, m)
        return Estimate(area, (max(area - few, 0.0), min(area + few, 1.0)))
    spread = float(special.ndtri(0.5 + LEVEL / 2)) * math.sqrt(variance)
    return Estimate(area, (max(area - spread, 0.0), min(area + spread, 1.0)))


def threshold_at(outside: FloatArray, share: float) -> float:
    """Return the score above which at most this share of the people outside lies."""
    allowed = math.floor(share * len(outside) + 1e-9)
    return float(np.sort(outside)[::-1][allowed]) if allowed < len(outside) else -math.inf


def found_at(inside: FloatArray, threshold: float) -> Estimate:
    """Return the share of the people inside with higher scores; the threshold is taken as given."""
    found = int((inside > threshold).sum())
    low, high = clopper_pearson(np.array(found), len(inside), (1 - LEVEL) / 2)
    return Estimate(found / len(inside), (float(low), float(high)))


def clopper_pearson(
    successes: IntArray, trials: int, error: float
) -> tuple[FloatArray, FloatArray]:
    """Return bounds of shares; below the one, and above the other, with this chance each."""
    hits, misses = successes, trials - successes
    low = np.where(hits > 0, special.betaincinv(np.maximum(hits, 1), misses + 1, error), 0.0)
    high = np.where(misses > 0, special.betaincinv(hits + 1, np.maximum(misses, 1), 1 - error), 1.0)
    return low, high


def epsilon_bound(inside: FloatArray, outside: FloatArray, rng: np.random.Generator) -> float:
    """Return a lower bound of epsilon that holds with 95 %.

    Of an epsilon-differentially private release, P(claimed | inside) is at most e^epsilon times
    P(claimed | outside), and the same for those who are not claimed. Both shares are bounded by
    Clopper and Pearson at a threshold, and in a direction, that are chosen on one half of the
    people; the bound is of the other half.
    """
    inside_half, outside_half = (
        rng.permutation(len(scores)) % 2 == 0 for scores in (inside, outside)
    )
    chosen_on = inside[inside_half], outside[outside_half]
    used_on = inside[~inside_half], outside[~outside_half]
    if not all(map(len, (*chosen_on, *used_on))):
        return 0.0
    cuts = np.unique(np.concatenate(chosen_on))
    if len(cuts) > THRESHOLDS:
        # The fewest false claims are among the highest scores, of either side.
        shares = np.concatenate([np.linspace(0, 1, THRESHOLDS // 2), _fine(THRESHOLDS // 4)])
        cuts = np.unique(np.quantile(cuts, shares, method="nearest"))
    bounds = _epsilons(chosen_on[0], chosen_on[1], cuts)
    direction, index = np.unravel_index(int(np.argmax(bounds)), bounds.shape)
    used = _epsilons(used_on[0], used_on[1], cuts[index : index + 1])
    return max(float(used[direction, 0]), 0.0)


def _fine(number: int) -> FloatArray:
    few = np.geomspace(1e-4, 1e-2, number)
    return np.concatenate([few, 1 - few])


def _epsilons(inside: FloatArray, outside: FloatArray, cuts: FloatArray) -> FloatArray:
    """(2 x cuts): bounds by those who are claimed, and by those who are not."""
    # Two shares share the error, so that both bounds hold with 95 %.
    error = (1 - LEVEL) / 2
    claimed_in, claimed_out = (
        len(scores) - np.searchsorted(np.sort(scores), cuts) for scores in (inside, outside)
    )
    low_in, _ = clopper_pearson(claimed_in, len(inside), error)
    _, high_out = clopper_pearson(claimed_out, len(outside), error)
    with np.errstate(divide="ignore"):
        return np.stack([np.log(low_in / high_out), np.log((1 - high_out) / (1 - low_in))])


def curve(inside: FloatArray, outside: FloatArray, points: int = 50) -> dict[str, list[Any]]:
    """Return the curve from one person outside who is claimed to all of them."""
    shares = np.unique(np.geomspace(1 / len(outside), 1, points))
    found = [found_at(inside, threshold_at(outside, share)) for share in shares.tolist()]
    return {
        "x": shares.tolist(),
        "y": [one.value for one in found],
        "low": [one.interval[0] for one in found],
        "high": [one.interval[1] for one in found],
    }
