"""Many simulated campaigns at once: the share of them in which nothing is noticed.

Written without the closed formulas, to be compared with them. Jobs are abstract: only the class
of a control matters, and of genuine jobs nothing does.
"""

import math
from typing import Literal

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom.typing import IntArray
from anonloom_sentinels_twins.twin_pairs import sharing_pairs
from anonloom_sentinels_twins.work_check import Campaign
from anonloom_sentinels_twins.workers import Behaviour, Collusive, Jobs, Opportunistic, Proxy

#: `even`: as the scheme does it. `random`: every control at random workers, on its own.
Placement = Literal["even", "random"]

# Cells of the arrays that are worked on at a time.
_AT_ONCE = 4_000_000


@attrs.frozen
class Share:
    """How often something happened, with what is believable of its probability.

    Attributes
    ----------
    count, runs
        How often, of how many.
    """

    count: int
    runs: int

    @property
    def share(self) -> float:
        """The share."""
        return self.count / self.runs

    def interval(self, deviations: float = 1.96) -> tuple[float, float]:
        """Wilson's interval: the probabilities from which the share deviates no more than that.

        Parameters
        ----------
        deviations
            In standard deviations of the share; 1.96 for 95 %.
        """
        n, square = self.runs, deviations**2
        centre = (self.count + square / 2) / (n + square)
        spread = self.count * (n - self.count) / n + square / 4
        half = deviations * math.sqrt(spread) / (n + square)
        # At the ends nothing but rounding separates the bound from 0 or 1.
        low = 0.0 if self.count == 0 else max(0.0, centre - half)
        return low, 1.0 if self.count == n else min(1.0, centre + half)


@attrs.frozen(kw_only=True)
class Setting:
    """What a simulation assumes beyond the campaign.

    Attributes
    ----------
    placement
        How controls are dealt.
    sentinel_classes
        The share of the sentinels that each class has; uniform if not given.
    behaviour
        Of the lazy workers; if not given, they omit the campaign's share and answer the most
        frequent class, and compare their jobs if the campaign says so.
    answered
        The class that lazy workers take for the most frequent; if not given, the one that is.
    certain, accuracy
        Of the cheap model of `Proxy` workers: the share of the jobs that it is certain of, and
        how often it is right on these.
    allowed
        How many sentinels may fail, and how many twins differ, before something is noticed.
    who
        The lazy workers; if not given, as many as the campaign says are drawn anew in every run.
    """

    placement: Placement = "even"
    sentinel_classes: tuple[float, ...] | None = None
    behaviour: Behaviour | None = None
    answered: int | None = None
    certain: float = 0.0
    accuracy: float = 1.0
    allowed: tuple[int, int] = (0, 0)
    who: tuple[int, ...] | None = None


def simulate(
    campaign: Campaign,
    sentinels: int,
    twins: int,
    runs: int,
    rng: np.random.Generator,
    setting: Setting | None = None,
) -> Share:
    """The share of `runs` campaigns in which no control notices anything.

    In every run the lazy workers are drawn anew (unless the setting names them), and all controls
    are placed anew.

    Parameters
    ----------
    campaign
        Its numbers of workers and of lazy ones, omission, classes, error, and groups are used.
    """
    chosen = setting or Setting()
    pairs = sharing_pairs(campaign.workers, campaign.groups)
    width = campaign.workers + sentinels + 2 * twins + (len(pairs) if twins else 0)
    unnoticed = 0
    for start in range(0, runs, max(1, _AT_ONCE // width)):
        some = min(runs - start, max(1, _AT_ONCE // width))
        lazy = _lazy(campaign, some, rng, chosen.who)
        failed = _count_failed(campaign, lazy, sentinels, chosen, rng)
        differed = _count_differing(campaign, lazy, pairs, twins, chosen, rng)
        passes = (failed <= chosen.allowed[0]) & (differed <= chosen.allowed[1])
        unnoticed += int(passes.sum())
    return Share(unnoticed, runs)


def simulate_replicas(
    campaign: Campaign, copies: int, runs: int, rng: np.random.Generator
) -> Share:
    """The share of campaigns in which `copies` extra copies of one job notice nothing."""
    lazy = _lazy(campaign, runs, rng)
    # Workers are drawn at random, and so are the lazy ones: the first are as good as any.
    held = lazy[:, : copies + 1]
    classes = np.arange(len(campaign.classes))
    truth = rng.choice(classes, size=(runs, 1), p=campaign.classes)
    truth = np.broadcast_to(truth, held.shape)
    answers = _answers(campaign, truth, held, None, Setting(), rng)
    return Share(int((answers == answers[:, :1]).all(axis=1).sum()), runs)


def _lazy(
    campaign: Campaign, runs: int, rng: np.random.Generator, who: tuple[int, ...] | None = None
) -> NDArray[np.bool_]:
    if who is not None:
        return np.tile(np.isin(np.arange(campaign.workers), who), (runs, 1))
    marked = np.arange(campaign.workers) < campaign.lazy
    return rng.permuted(np.broadcast_to(marked, (runs, campaign.workers)), axis=1)


def _deal(
    places: int, number: int, runs: int, placement: Placement, rng: np.random.Generator
) -> IntArray:
    """The place of each control: all places in turn, in an order that is new in every run."""
    if placement == "random":
        return rng.integers(places, size=(runs, number))
    order = rng.permuted(np.broadcast_to(np.arange(places), (runs, places)), axis=1)
    return order[:, np.arange(number) % places]


def _count_failed(
    campaign: Campaign,
    lazy: NDArray[np.bool_],
    sentinels: int,
    setting: Setting,
    rng: np.random.Generator,
) -> IntArray:
    """How many sentinels fail in each run."""
    runs = len(lazy)
    number = len(campaign.classes)
    shares = np.asarray(setting.sentinel_classes or [1 / number] * number)
    worker = _deal(campaign.workers, sentinels, runs, setting.placement, rng)
    known = rng.choice(number, size=(runs, sentinels), p=shares)
    truth = _again(known, shares, campaign.error, rng)
    answers = _answers(campaign, truth, np.take_along_axis(lazy, worker, 1), None, setting, rng)
    return np.asarray((answers != known).sum(axis=1))


def _count_differing(
    campaign: Campaign,
    lazy: NDArray[np.bool_],
    pairs: IntArray,
    twins: int,
    setting: Setting,
    rng: np.random.Generator,
) -> IntArray:
    """How many twins differ in each run."""
    runs = len(lazy)
    if twins == 0:
        return np.zeros(runs, dtype=np.int64)
    shares = np.asarray(campaign.classes)
    pair = _deal(len(pairs), twins, runs, setting.placement, rng)
    first = rng.choice(len(shares), size=(runs, twins), p=shares)
    truth = np.stack([first, _again(first, shares, campaign.error, rng)], axis=2)
    held = lazy[np.arange(runs)[:, None, None], pairs[pair]]
    common = np.broadcast_to(held.all(axis=2, keepdims=True), held.shape)
    answers = _answers(campaign, truth, held, common, setting, rng)
    return np.asarray((answers[:, :, 0] != answers[:, :, 1]).sum(axis=1))


def _again(
    first: IntArray, shares: NDArray[np.float64], error: float, rng: np.random.Generator
) -> IntArray:
    """Honest results for the same jobs: they differ with the rate `error`.

    Some are drawn anew, from the same shares, so that the results as a whole keep these.
    """
    if error == 0:
        return first
    anew = rng.random(first.shape) < error / (1 - float((shares**2).sum()))
    return np.where(anew, rng.choice(len(shares), size=first.shape, p=shares), first)


def _answers(
    campaign: Campaign,
    truth: IntArray,
    lazy: NDArray[np.bool_],
    common: NDArray[np.bool_] | None,
    setting: Setting,
    rng: np.random.Generator,
) -> IntArray:
    """What the holders of jobs answer: lazy ones by their behaviour, the others the truth."""
    behaviour = setting.behaviour
    if behaviour is None:
        kind = Collusive if campaign.colluding else Opportunistic
        behaviour = kind(campaign.omission)
    classes = np.argsort(-np.asarray(campaign.classes), kind="stable")
    if setting.answered is not None:
        classes = np.append(setting.answered, classes[classes != setting.answered])
    jobs = Jobs(truth=truth, classes=classes, common=common)
    if isinstance(behaviour, Proxy):
        # One model for all: it says the same of both copies of a job.
        one = truth if common is None else truth[..., :1]
        wrong = (one + rng.integers(1, len(classes), size=one.shape)) % len(classes)
        guess = np.where(rng.random(one.shape) < setting.accuracy, one, wrong)
        sure = np.where(rng.random(one.shape) < setting.certain, 1.0, 0.0)
        jobs = attrs.evolve(
            jobs,
            guess=np.broadcast_to(guess, truth.shape),
            sure=np.broadcast_to(sure, truth.shape),
        )
    return np.where(lazy, behaviour.answer(jobs, rng), truth)
