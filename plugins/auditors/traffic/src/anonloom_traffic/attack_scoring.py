"""Scoring of attacks: the best view is chosen on one half, and judged on the other."""

from collections.abc import Iterable, Sequence

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom.typing import BoolArray, FloatArray
from anonloom_traffic.entropies import interval
from anonloom_traffic.guess_table import GuessTable
from anonloom_traffic.views import View

#: Fewer homes than this are split by messages, not by homes.
FEW_HOMES = 8
#: A set of candidates is taken for sound when chance would make it so with probability e^-12.
SOUND = -12.0
#: Blind guesses that a learnt distribution begins with.
PRIOR = 2.0
#: Share of a learnt distribution that stays blind: nobody is ever quite impossible.
BLIND = 0.005


@attrs.frozen(eq=False)
class Outcome:
    """What one view says about every message.

    Attributes
    ----------
    hit
        How often the best guess is right; ties by expectation.
    size
        How many clients tie for it.
    guess
        One of them.
    """

    hit: FloatArray
    size: NDArray[np.int64]
    guess: NDArray[np.int64]
    holds: BoolArray


def mask_candidates(scores: FloatArray, targets: GuessTable) -> FloatArray:
    """Nobody guesses a client that cannot have sent the message."""
    return np.where(targets.candidates, scores, -np.inf)


def outcome(scores: FloatArray, targets: GuessTable) -> Outcome:
    """Guess every message."""
    scores = mask_candidates(scores, targets)
    tied = scores == scores.max(axis=1, keepdims=True)
    tied &= targets.candidates
    size = tied.sum(axis=1)
    right = (tied & targets.truth).sum(axis=1)
    return Outcome(right / size, size, tied.argmax(axis=1), right > 0)


def halves(targets: GuessTable, rng: np.random.Generator) -> BoolArray:
    """Split the messages in two halves, whole rounds or series at a time where there are enough."""
    homes, which, number = np.unique(targets.home, return_inverse=True, return_counts=True)
    values, unit = np.unique(targets.value, return_inverse=True)
    units = len(values)
    # Equal messages stay on one side: what is learnt of one is learnt of all.
    recurring = units < len(targets)
    if not recurring and len(homes) >= FEW_HOMES and number.max() <= len(targets) / 4:
        unit, units = which, len(homes)
    side = np.zeros(units, np.bool_)
    side[rng.permutation(units)[: units // 2]] = True
    split: BoolArray = side[unit]
    return split


@attrs.frozen(eq=False)
class ScoredView:
    """A view with what it says when it learns from either half.

    Attributes
    ----------
    of
        For the messages of half 0 and of half 1, learnt from the other.
    """

    view: View
    honest: int
    of: tuple[Outcome, Outcome]

    def training_gain(self, targets: GuessTable, train: BoolArray, half: int) -> float:
        """How much better than chance it was on the messages that it was learnt from."""
        if not train.any():
            return 0.0
        hit = self.of[half].hit[train]
        better = float((hit - targets.chance[train]).mean())
        # What was made of other views knows the half that it is judged by: it has to be clearly
        # better than they are.
        return better - float(hit.std() / np.sqrt(len(hit))) if self.view.likely else better


def score_views(
    views: Iterable[View], targets: GuessTable, side: BoolArray, honest: int
) -> list[ScoredView]:
    """Let every view guess."""
    scored = []
    for view in views:
        first = outcome(view.score(side), targets)
        second = outcome(view.score(~side), targets) if view.learns else first
        scored.append(ScoredView(view, honest, (first, second)))
    return scored


@attrs.frozen
class Share:
    """How often guesses were right, beside chance.

    Attributes
    ----------
    trials
        Guesses that have nothing to do with each other: the same guess of the same bytes in
        several rounds is one.
    """

    value: float
    interval: tuple[float, float]
    chance: float
    trials: int

    @property
    def excess(self) -> float:
        """What is surely above chance, as a part of what is possible."""
        room = 1 - self.chance
        return max(0.0, (self.interval[0] - self.chance) / room) if room > 0 else 0.0


def share(
    hit: FloatArray, guess: NDArray[np.int64], targets: GuessTable, confidence: float
) -> Share:
    """Return how often the guesses were right."""
    chance = targets.chance
    pairs = targets.value * targets.candidates.shape[1] + guess
    _, which, number = np.unique(pairs, return_inverse=True, return_counts=True)
    hits = np.bincount(which, weights=hit) / number
    chances = np.bincount(which, weights=chance) / number
    trials = len(number)
    value = float(hits.mean())
    return Share(
        value, interval(float(hits.sum()), trials, confidence), float(chances.mean()), trials
    )


@attrs.frozen(eq=False)
class BestViews:
    """The views that were best on the other half, and what they guessed."""

    views: tuple[ScoredView, ScoredView]
    hit: FloatArray
    guess: NDArray[np.int64]


def choose(scored: Sequence[ScoredView], targets: GuessTable, side: BoolArray) -> BestViews:
    """For each half take the view that was best on the other; the first of equal ones."""
    hit, guess = np.zeros(len(targets)), np.zeros(len(targets), np.int64)
    best = []
    for half, test in enumerate((~side, side)):
        train = ~test
        chosen = max(scored, key=lambda one: one.training_gain(targets, train, half))
        hit[test], guess[test] = chosen.of[half].hit[test], chosen.of[half].guess[test]
        best.append(chosen)
    return BestViews((best[0], best[1]), hit, guess)


def smallest_set(scored: Sequence[ScoredView], targets: GuessTable, side: BoolArray) -> int:
    """Return the smallest set of candidates that can be relied on.

    A view's sets of about one size are relied on when none of the other half missed the sender and
    chance would hardly make that so.
    """
    whole = targets.candidates.sum(axis=1)
    least = int(whole.min())
    for item in scored:
        for half, test in enumerate((~side, side)):
            of = item.of[half]
            smaller = of.size < whole
            scale = np.log2(of.size).astype(np.int64)
            for level in np.unique(scale[smaller]):
                group = smaller & (scale == level)
                known = group & ~test
                luck = np.log(of.size[known] / whole[known]).sum()
                if of.holds[known].all() and luck < SOUND and (group & test).any():
                    least = min(least, int(of.size[group & test].min()))
    return least


def posterior(view: View, targets: GuessTable, train: BoolArray) -> FloatArray:
    """Return how likely each client is to have sent each message."""
    scores = mask_candidates(view.score(train), targets)
    if view.likely:
        likely = np.exp(scores - scores.max(axis=1, keepdims=True))
        likely /= likely.sum(axis=1, keepdims=True)
    else:
        likely = _rank_likelihood(scores, targets, train)
    blind = targets.candidates / targets.candidates.sum(axis=1, keepdims=True)
    mixed: FloatArray = (1 - BLIND) * likely + BLIND * blind
    return mixed


def _rank_likelihood(scores: FloatArray, targets: GuessTable, train: BoolArray) -> FloatArray:
    """Return how likely each client is, as learnt from how high true senders were ranked.

    Messages are told apart by how many clients tie for the best guess: one that is followed to a
    single client is another matter than one of which nothing is known.
    """
    order = np.argsort(-scores, axis=1, kind="stable")
    ordered = np.take_along_axis(scores, order, axis=1)
    ties = (ordered == ordered[:, :1]) & np.isfinite(ordered)
    scale = np.log2(ties.sum(axis=1)).astype(np.int64)
    number = targets.candidates.sum(axis=1)
    # Where each group of ties begins and ends, to share what falls on it.
    new = np.ones(ordered.shape, np.bool_)
    new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    group = np.cumsum(new.ravel()) - 1
    sizes = np.bincount(group)
    truth = np.take_along_axis(targets.truth, order, axis=1)
    truth = truth / truth.sum(axis=1, keepdims=True)
    truth = (np.bincount(group, weights=truth.ravel()) / sizes)[group].reshape(ordered.shape)
    result = np.zeros(ordered.shape)
    for level in np.unique(scale):
        rows = scale == level
        known = truth[rows & train].sum(axis=0)
        blind = number[rows].mean()
        weights = _isotonic(known + PRIOR / blind)
        result[rows] = np.where(np.isfinite(ordered[rows]), weights, 0.0)
    result = (np.bincount(group, weights=result.ravel()) / sizes)[group].reshape(ordered.shape)
    result /= result.sum(axis=1, keepdims=True)
    likely: FloatArray = np.empty_like(result)
    np.put_along_axis(likely, order, result, axis=1)
    return likely


def _isotonic(values: FloatArray) -> FloatArray:
    """Return the nearest sequence that never rises: a higher rank is never less likely."""
    blocks: list[tuple[float, int]] = []
    for value in values.tolist():
        total, number = value, 1
        while blocks and blocks[-1][0] / blocks[-1][1] < total / number:
            before, count = blocks.pop()
            total, number = total + before, number + count
        blocks.append((total, number))
    falling: FloatArray = np.repeat([total / n for total, n in blocks], [n for _, n in blocks])
    return falling
