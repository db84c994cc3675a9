"""Judging: which view is best is found out on one half, and how good it is on the other."""

from collections.abc import Iterable, Sequence

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom.typing import BoolArray, FloatArray
from anonloom_traffic.entropies import interval
from anonloom_traffic.guessed import Guessed
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


def masked(scores: FloatArray, guessed: Guessed) -> FloatArray:
    """Nobody guesses a client that cannot have sent the message."""
    return np.where(guessed.candidates, scores, -np.inf)


def outcome(scores: FloatArray, guessed: Guessed) -> Outcome:
    """Guess every message."""
    scores = masked(scores, guessed)
    tied = scores == scores.max(axis=1, keepdims=True)
    tied &= guessed.candidates
    size = tied.sum(axis=1)
    right = (tied & guessed.truth).sum(axis=1)
    return Outcome(right / size, size, tied.argmax(axis=1), right > 0)


def halves(guessed: Guessed, rng: np.random.Generator) -> BoolArray:
    """Split the messages in two halves, whole rounds or series at a time where there are enough."""
    homes, which, number = np.unique(guessed.home, return_inverse=True, return_counts=True)
    values, unit = np.unique(guessed.value, return_inverse=True)
    units = len(values)
    # Equal messages stay on one side: what is learnt of one is learnt of all.
    recurring = units < len(guessed)
    if not recurring and len(homes) >= FEW_HOMES and number.max() <= len(guessed) / 4:
        unit, units = which, len(homes)
    side = np.zeros(units, np.bool_)
    side[rng.permutation(units)[: units // 2]] = True
    split: BoolArray = side[unit]
    return split


@attrs.frozen(eq=False)
class Judged:
    """A view with what it says when it learns from either half.

    Attributes
    ----------
    of
        For the messages of half 0 and of half 1, learnt from the other.
    """

    view: View
    honest: int
    of: tuple[Outcome, Outcome]

    def calibrated(self, guessed: Guessed, train: BoolArray, half: int) -> float:
        """How much better than chance it was on the messages that it was learnt from."""
        if not train.any():
            return 0.0
        hit = self.of[half].hit[train]
        better = float((hit - guessed.chance[train]).mean())
        # What was made of other views knows the half that it is judged by: it has to be clearly
        # better than they are.
        return better - float(hit.std() / np.sqrt(len(hit))) if self.view.likely else better


def judge(views: Iterable[View], guessed: Guessed, side: BoolArray, honest: int) -> list[Judged]:
    """Let every view guess."""
    judged = []
    for view in views:
        first = outcome(view.score(side), guessed)
        second = outcome(view.score(~side), guessed) if view.learns else first
        judged.append(Judged(view, honest, (first, second)))
    return judged


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


def share(hit: FloatArray, guess: NDArray[np.int64], guessed: Guessed, confidence: float) -> Share:
    """Return how often the guesses were right."""
    chance = guessed.chance
    pairs = guessed.value * guessed.candidates.shape[1] + guess
    _, which, number = np.unique(pairs, return_inverse=True, return_counts=True)
    hits = np.bincount(which, weights=hit) / number
    chances = np.bincount(which, weights=chance) / number
    trials = len(number)
    value = float(hits.mean())
    return Share(
        value, interval(float(hits.sum()), trials, confidence), float(chances.mean()), trials
    )


@attrs.frozen(eq=False)
class Chosen:
    """The views that were best on the other half, and what they guessed."""

    views: tuple[Judged, Judged]
    hit: FloatArray
    guess: NDArray[np.int64]


def choose(judged: Sequence[Judged], guessed: Guessed, side: BoolArray) -> Chosen:
    """For each half take the view that was best on the other; the first of equal ones."""
    hit, guess = np.zeros(len(guessed)), np.zeros(len(guessed), np.int64)
    best = []
    for half, test in enumerate((~side, side)):
        train = ~test
        chosen = max(judged, key=lambda one: one.calibrated(guessed, train, half))
        hit[test], guess[test] = chosen.of[half].hit[test], chosen.of[half].guess[test]
        best.append(chosen)
    return Chosen((best[0], best[1]), hit, guess)


def smallest_set(judged: Sequence[Judged], guessed: Guessed, side: BoolArray) -> int:
    """Return the smallest set of candidates that can be relied on.

    A view's sets of about one size are relied on when none of the other half missed the sender and
    chance would hardly make that so.
    """
    whole = guessed.candidates.sum(axis=1)
    least = int(whole.min())
    for item in judged:
        for half, test in enumerate((~side, side)):
            of = item.of[half]
            text = of.size < whole
            scale = np.log2(of.size).astype(np.int64)
            for level in np.unique(scale[text]):
                group = text & (scale == level)
                known = group & ~test
                luck = np.log(of.size[known] / whole[known]).sum()
                if of.holds[known].all() and luck < SOUND and (group & test).any():
                    least = min(least, int(of.size[group & test].min()))
    return least


def posterior(view: View, guessed: Guessed, train: BoolArray) -> FloatArray:
    """Return how likely each client is to have sent each message."""
    scores = masked(view.score(train), guessed)
    if view.likely:
        likely = np.exp(scores - scores.max(axis=1, keepdims=True))
        likely /= likely.sum(axis=1, keepdims=True)
    else:
        likely = _ranked(scores, guessed, train)
    blind = guessed.candidates / guessed.candidates.sum(axis=1, keepdims=True)
    mixed: FloatArray = (1 - BLIND) * likely + BLIND * blind
    return mixed


def _ranked(scores: FloatArray, guessed: Guessed, train: BoolArray) -> FloatArray:
    """Return how likely each client is, as learnt from how high true senders were ranked.

    Messages are told apart by how many clients tie for the best guess: one that is followed to a
    single client is another matter than one of which nothing is known.
    """
    order = np.argsort(-scores, axis=1, kind="stable")
    ordered = np.take_along_axis(scores, order, axis=1)
    ties = (ordered == ordered[:, :1]) & np.isfinite(ordered)
    scale = np.log2(ties.sum(axis=1)).astype(np.int64)
    number = guessed.candidates.sum(axis=1)
    # Where each group of ties begins and ends, to share what falls on it.
    new = np.ones(ordered.shape, np.bool_)
    new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    group = np.cumsum(new.ravel()) - 1
    sizes = np.bincount(group)
    truth = np.take_along_axis(guessed.truth, order, axis=1)
    truth = truth / truth.sum(axis=1, keepdims=True)
    truth = (np.bincount(group, weights=truth.ravel()) / sizes)[group].reshape(ordered.shape)
    result = np.zeros(ordered.shape)
    for level in np.unique(scale):
        rows = scale == level
        known = truth[rows & train].sum(axis=0)
        blind = number[rows].mean()
        weights = _falling(known + PRIOR / blind)
        result[rows] = np.where(np.isfinite(ordered[rows]), weights, 0.0)
    result = (np.bincount(group, weights=result.ravel()) / sizes)[group].reshape(ordered.shape)
    result /= result.sum(axis=1, keepdims=True)
    likely: FloatArray = np.empty_like(result)
    np.put_along_axis(likely, order, result, axis=1)
    return likely


def _falling(values: FloatArray) -> FloatArray:
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
