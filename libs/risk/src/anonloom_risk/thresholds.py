"""Which answers an attacker gives: those that are surer than a threshold that pays."""

import math
from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from anonloom.typing import BoolArray, FloatArray

#: A baseline above this leaves nothing that could be told apart.
MOST_BASELINE = 0.9
#: With fewer people on either side, no threshold is chosen: everybody gets an answer.
FEWEST_FOR_A_CHOICE = 60
#: Parts of the people in turn, of which each gets the threshold of the others.
FOLDS = 5
#: Thresholds that are tried.
CUTS = 64
#: Standard errors by which an attacker discounts what a threshold seems to gain.
CAUTION = 2.0
#: Rows are called exposed where people inside are found so many times as often as outside; the
#: smaller factor serves where many people have twins, who are found outside as well.
FACTORS = (2.0, 1.25)
#: Nobody is called exposed whose answer is less likely right: in a class of ten rows of ten people
#: each of them is found with a tenth, and none is pointed at.
LIKELY = 0.5
#: And by so many standard errors more often.
BEYOND_CHANCE = 3.0


class Rates(NamedTuple):
    """How often people inside and outside are found, once unsure answers are kept back."""

    success: float
    baseline: float


def found_rates(
    inside: FloatArray,
    inside_score: FloatArray,
    outside: FloatArray,
    outside_score: FloatArray,
    rng: np.random.Generator,
) -> Rates:
    """Return success and baseline of an attacker who answers only where that pays.

    The score from which on answers are given is chosen on some of the people and used on the
    others, in turn, so that a lucky threshold gains nothing. Who gets no answer counts as not
    found.

    Parameters
    ----------
    inside, outside
        Chance that the answer is right, for people in the release and outside it.
    """
    if min(len(inside), len(outside)) < FEWEST_FOR_A_CHOICE:
        return Rates(_mean(inside), _mean(outside))
    folds = [rng.permutation(len(answers)) % FOLDS for answers in (inside, outside)]
    kept_inside, kept_outside = np.zeros(len(inside)), np.zeros(len(outside))
    for fold in range(FOLDS):
        (used_in, used_out), (chosen_in, chosen_out) = zip(
            *((of == fold, of != fold) for of in folds), strict=True
        )
        cut = _best_cut(
            inside[chosen_in],
            inside_score[chosen_in],
            outside[chosen_out],
            outside_score[chosen_out],
        )
        kept_inside[used_in] = _kept(inside, inside_score, cut)[used_in]
        kept_outside[used_out] = _kept(outside, outside_score, cut)[used_out]
    return Rates(_mean(kept_inside), _mean(kept_outside))


def exposed(
    inside: FloatArray, inside_score: FloatArray, outside: FloatArray, outside_score: FloatArray
) -> BoolArray:
    """Return who is likely found because of the release, and not by chance.

    As many as possible of those with the surest answers, as long as people inside are found more
    often than people outside by a factor, and beyond what chance does.
    """
    nobody = np.zeros(len(inside), bool)
    if not len(inside) or not len(outside):
        return nobody
    cuts = _cuts(np.concatenate([inside_score, outside_score]))
    for factor, cut in product(FACTORS, cuts):
        found, chance = _kept(inside, inside_score, cut), _kept(outside, outside_score, cut)
        rates = Rates(_mean(found), _mean(chance))
        beyond = BEYOND_CHANCE * _error(rates, len(inside), len(outside))
        enough = rates.success >= factor * rates.baseline
        if enough and rates.success - rates.baseline > beyond:
            return found >= LIKELY
    return nobody


def _best_cut(
    inside: FloatArray, inside_score: FloatArray, outside: FloatArray, outside_score: FloatArray
) -> float:
    best, best_value = -math.inf, -math.inf
    for cut in _cuts(np.concatenate([inside_score, outside_score])):
        rates = Rates(
            _mean(_kept(inside, inside_score, cut)), _mean(_kept(outside, outside_score, cut))
        )
        if rates.baseline > MOST_BASELINE:
            continue
        error = _error(rates, len(inside), len(outside))
        value = (rates.success - rates.baseline - CAUTION * error) / (1 - rates.baseline)
        if value > best_value:
            best, best_value = cut, value
    return best


def _cuts(scores: FloatArray) -> Sequence[float]:
    """Thresholds from none at all to the highest score."""
    known = scores[np.isfinite(scores)]
    if not len(known):
        return [-math.inf]
    shares = np.linspace(0, 1, CUTS + 1)[1:]
    # The surest answers are few: where a leak is small, the threshold lies among them.
    fine = 1 - np.geomspace(1 / len(known), 1 / CUTS, CUTS // 2)
    cuts = np.unique(np.quantile(known, np.concatenate([shares, fine]), method="higher"))
    return [-math.inf, *cuts.tolist()]


def _kept(right: FloatArray, score: FloatArray, cut: float) -> FloatArray:
    return np.where(score >= cut, right, 0.0)


def _error(rates: Rates, people: int, strangers: int) -> float:
    """Return the standard error of a difference; at least one person on either side is unsure."""
    first = max(rates.success * (1 - rates.success), 1 / people)
    second = max(rates.baseline * (1 - rates.baseline), 1 / strangers)
    return math.sqrt(first / people + second / strangers)


def _mean(values: FloatArray) -> float:
    return float(values.mean()) if len(values) else 0.0
