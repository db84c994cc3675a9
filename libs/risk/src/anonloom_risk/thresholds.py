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


class Side(NamedTuple):
    """Answers about people on one side, inside the release or outside.

    Attributes
    ----------
    right
        Chance that the answer about each is right.
    score
        How sure it is.
    unsure
        Chance to be right where no answer is given.
    weight
        How much each counts.
    """

    right: FloatArray
    score: FloatArray
    unsure: FloatArray
    weight: FloatArray

    def of(self, people: BoolArray) -> "Side":
        """Return some of the people."""
        return Side(*(values[people] for values in self))

    def mean(self, values: FloatArray) -> float:
        """Return a mean over the people, each as far as she counts."""
        total = float(self.weight.sum())
        return float(self.weight @ values) / total if total else 0.0

    @property
    def number(self) -> float:
        """How many people who count alike would tell as much (Kish's effective sample size)."""
        squares = float(self.weight @ self.weight)
        return float(self.weight.sum()) ** 2 / squares if squares else 0.0

    def found(self, cut: float) -> FloatArray:
        """Return the chance that each is found when answers are given from this score on."""
        return np.where(self.score >= cut, self.right, self.unsure)

    def learned(self, cut: float) -> FloatArray:
        """Return the chance that each is found, and would not have been without the release."""
        return np.where(self.score >= cut, self.right * (1 - self.unsure), 0.0)


def found_rates(inside: Side, outside: Side, rng: np.random.Generator) -> Rates:
    """Return success and baseline of an attacker who answers only where that pays.

    The score from which on answers are given is chosen on some of the people and used on the
    others, in turn, so that a lucky threshold gains nothing. Who gets no answer counts as not
    found, unless what is known of the population is right about her.
    """
    if min(len(inside.right), len(outside.right)) < FEWEST_FOR_A_CHOICE:
        return Rates(inside.mean(inside.right), outside.mean(outside.right))
    folds = [rng.permutation(len(side.right)) % FOLDS for side in (inside, outside)]
    found_inside, found_outside = np.zeros(len(inside.right)), np.zeros(len(outside.right))
    for fold in range(FOLDS):
        used_in, used_out = (of == fold for of in folds)
        cut = _best_cut(inside.of(~used_in), outside.of(~used_out))
        found_inside[used_in] = inside.found(cut)[used_in]
        found_outside[used_out] = outside.found(cut)[used_out]
    return Rates(inside.mean(found_inside), outside.mean(found_outside))


def exposed(inside: Side, outside: Side) -> BoolArray:
    """Return who is likely found because of the release, and not by chance.

    As many as possible of those with the surest answers, as long as people inside are found more
    often than people outside by a factor, and beyond what chance does.
    """
    nobody = np.zeros(len(inside.right), bool)
    if not len(inside.right) or not len(outside.right):
        return nobody
    cuts = _cuts(np.concatenate([inside.score, outside.score]))
    for factor, cut in product(FACTORS, cuts):
        found, chance = inside.learned(cut), outside.learned(cut)
        rates = Rates(inside.mean(found), outside.mean(chance))
        beyond = BEYOND_CHANCE * _error(rates, inside.number, outside.number)
        enough = rates.success >= factor * rates.baseline
        if enough and rates.success - rates.baseline > beyond:
            return found >= LIKELY
    return nobody


def _best_cut(inside: Side, outside: Side) -> float:
    # To give no answer at all is a choice, too.
    best, best_value = math.inf, -math.inf
    for cut in _cuts(np.concatenate([inside.score, outside.score])):
        rates = Rates(inside.mean(inside.found(cut)), outside.mean(outside.found(cut)))
        if rates.baseline > MOST_BASELINE:
            continue
        error = _error(rates, inside.number, outside.number)
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


def _error(rates: Rates, people: float, strangers: float) -> float:
    """Return the standard error of a difference; at least one person on either side is unsure."""
    first = max(rates.success * (1 - rates.success), 1 / people)
    second = max(rates.baseline * (1 - rates.baseline), 1 / strangers)
    return math.sqrt(first / people + second / strangers)
