"""Attack: the best guess of who sent what, for whoever holds all lines and all servers but one."""

import math
from collections.abc import Sequence
from statistics import NormalDist

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom.typing import BoolArray, FloatArray
from anonloom_traffic.attack_scoring import (
    BestViews,
    ScoredView,
    Share,
    choose,
    halves,
    posterior,
    score_views,
    share,
    smallest_set,
)
from anonloom_traffic.entropies import degree
from anonloom_traffic.guess_table import GuessTable, guess_table, series_of
from anonloom_traffic.observation import Observation, observe
from anonloom_traffic.tracing import Follower, followers, paths
from anonloom_traffic.views import FAMILIES, View, network_views, path_views
from anonloom_transport import Rounds

#: How many standard errors above chance a view must be to be joined with others.
JOINED = 3.0


@attrs.frozen
class Guess:
    """How well senders can be guessed.

    Attributes
    ----------
    top1
        How often the first guess is right.
    view, family, honest
        The view that was best, its family, and the server that told nothing.
    shannon, shannon_interval
        Bits that the adversary lacks, on average: -log2 of the probability that it gave to the true
        sender; at most log2 of the number of candidates.
    smallest
        Smallest set of candidates that can be relied on.
    senders
        Number of candidates, on average (geometric mean).
    families
        The same share, when only views of one family are looked at.
    """

    top1: Share
    view: str
    family: str
    honest: int
    shannon: float
    shannon_interval: tuple[float, float]
    smallest: int
    senders: float
    messages: int
    families: dict[str, Share]

    @property
    def min_entropy(self) -> float:
        """-log2 of how often the first guess is right, at most that of chance."""
        return abs(math.log2(max(self.top1.value, self.top1.chance)))

    @property
    def min_entropy_interval(self) -> tuple[float, float]:
        """Interval of the min-entropy."""
        most = -math.log2(self.top1.chance)
        low, high = self.top1.interval
        return min(most, -math.log2(high)), most if low <= 0 else min(most, -math.log2(low))

    @property
    def degree(self) -> float:
        """Shannon entropy as a part of what is possible."""
        return degree(self.shannon, self.senders)


class NothingToGuess(Exception):
    """The trace holds no published message of a known sender who could hide among others."""


@attrs.define(eq=False)
class Attack:
    """All that is needed to guess, prepared once.

    Parameters
    ----------
    rounds
        The traces.
    blank
        Bytes that stand for 'no answer' in a deposit, if any.
    trials
        At most so many messages are guessed; all by default.
    confidence
        Of the intervals.
    """

    rounds: Rounds
    rng: np.random.Generator
    blank: bytes | None = None
    trials: int | None = None
    confidence: float = 0.99
    observed: Observation = attrs.field(init=False)
    prepared: list[Follower] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.observed = observe(self.rounds)
        self.prepared = followers(self.observed)

    def guess(self, honest: int | None = None, repeated: bool = True) -> Guess:
        """Guess who sent what.

        Parameters
        ----------
        honest
            The server that tells nothing; by default the one whose honesty helps least.
        repeated
            Whether rounds are compared with each other.

        Raises
        ------
        NothingToGuess
            When there is nothing to guess.
        """
        observed = self.observed
        targets = guess_table(observed, repeated).sample(self.trials, self.rng)
        if not len(targets) or not (targets.candidates.sum(axis=1) > 1).any():
            raise NothingToGuess
        series = series_of(self.rounds.traces, repeated)
        side = halves(targets, self.rng)
        choices = range(self.rounds.servers) if honest is None else (honest,)
        general = list(network_views(observed, targets, series, repeated, self.blank))
        general.append(View("none", "", lambda _: np.zeros(targets.candidates.shape)))
        seen = score_views(general, targets, side, choices[0])
        scored: list[ScoredView] = []
        for choice in choices:
            followed = paths(observed, self.prepared, choice)
            along_paths = score_views(
                path_views(observed, targets, followed), targets, side, choice
            )
            joined = score_views(
                _together([*along_paths, *seen], targets, side), targets, side, choice
            )
            scored += [*along_paths, *joined]
        scored = _in_order([*seen, *scored])
        return self._summary(scored, targets, side)

    def _summary(self, scored: list[ScoredView], targets: GuessTable, side: BoolArray) -> Guess:
        chosen = choose(scored, targets, side)
        top1 = share(chosen.hit, chosen.guess, targets, self.confidence)
        families = {}
        for family in FAMILIES:
            of = [item for item in scored if item.view.family == family]
            if of:
                best = choose(of, targets, side)
                families[family] = share(best.hit, best.guess, targets, self.confidence)
        senders = float(np.exp2(np.log2(targets.candidates.sum(axis=1)).mean()))
        bits, between = _missing_bits(chosen, targets, side, math.log2(senders), self.confidence)
        first = chosen.views[0]
        return Guess(
            top1=top1,
            view=first.view.name,
            family=first.view.family,
            honest=first.honest,
            shannon=bits,
            shannon_interval=between,
            smallest=smallest_set(scored, targets, side),
            senders=senders,
            messages=len(targets),
            families=families,
        )


def best_guess(
    rounds: Rounds,
    honest: int | None = None,
    *,
    repeated: bool = True,
    rng: np.random.Generator | None = None,
    blank: bytes | None = None,
    trials: int | None = None,
    confidence: float = 0.99,
) -> Guess:
    """Return how well the network and all servers but one guess who sent what.

    Parameters
    ----------
    rounds
        Traces of one round or of several with one cohort.
    honest
        The server that tells nothing; by default the one whose honesty helps least.
    repeated
        Whether rounds are compared with each other.
    rng
        Splits the messages; what was learnt on one half is judged on the other.
    blank
        Bytes that stand for 'no answer' in a deposit, if any.
    trials
        At most so many messages are guessed; all by default.
    confidence
        Of the intervals.

    Raises
    ------
    NothingToGuess
        When no message was published whose sender is known and could hide among others.
    """
    attack = Attack(
        rounds, rng or np.random.default_rng(0), blank, trials=trials, confidence=confidence
    )
    return attack.guess(honest, repeated)


def _in_order(scored: list[ScoredView]) -> list[ScoredView]:
    """Sort by family, so that of equally good views the plainest is named; 'none' comes first."""
    return sorted(
        scored, key=lambda one: FAMILIES.index(one.view.family) if one.view.family else -1
    )


def _together(scored: Sequence[ScoredView], targets: GuessTable, side: BoolArray) -> list[View]:
    """Return the view that joins all that are better than chance: probabilities multiplied."""
    used: list[list[ScoredView]] = []
    for half, train in enumerate((side, ~side)):
        hits = max(1, int(train.sum()))
        chance = float(targets.chance.mean())
        error = math.sqrt(chance * (1 - chance) / hits)
        used.append(
            [item for item in scored if item.training_gain(targets, train, half) > JOINED * error]
        )
    if max(len(of) for of in used) < 2:
        return []

    def score(train: BoolArray) -> FloatArray:
        half = 0 if np.array_equal(train, side) else 1
        total = np.zeros(targets.candidates.shape)
        for item in used[half]:
            likely = posterior(item.view, targets, train)
            total += np.log(np.maximum(likely, 1e-300))
        return np.round(total, 9)

    return [View("several views together", "together", score, learns=True, likely=True)]


def _missing_bits(
    chosen: BestViews, targets: GuessTable, side: BoolArray, most: float, confidence: float
) -> tuple[float, tuple[float, float]]:
    """Return the bits that lack to know the sender, as judged on the half not learnt from."""
    bits: NDArray[np.float64] = np.zeros(len(targets))
    for view, test in zip(chosen.views, (~side, side), strict=True):
        if test.any():
            likely = posterior(view.view, targets, ~test)
            of_truth = (likely * targets.truth).sum(axis=1) / targets.truth.sum(axis=1)
            bits[test] = -np.log2(np.maximum(of_truth[test], 1e-300))
    mean = float(bits.mean())
    error = float(bits.std() / math.sqrt(len(bits)))
    # The normal quantile of the confidence asked for.
    reach = NormalDist().inv_cdf((1 + confidence) / 2) * error
    low, high = (min(most, max(0.0, mean + sign * reach)) for sign in (-1, 1))
    return min(most, max(0.0, mean)), (low, high)
