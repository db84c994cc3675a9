"""Who is accused: the controls of many campaigns are drawn, and all are judged at once."""

import attrs
import numpy as np

from anonloom import Finding
from anonloom.typing import BoolArray, IntArray
from anonloom_sentinels_twins.comparison import Plan
from anonloom_sentinels_twins.figures import Figure
from anonloom_sentinels_twins.finding_texts import APART, BLIND, TOO_FEW, say, unknown
from anonloom_sentinels_twins.posterior import Counts, prior_of
from anonloom_sentinels_twins.simulation import Share, simulate
from anonloom_sentinels_twins.sizing import size
from anonloom_sentinels_twins.tolerant import LEVEL
from anonloom_sentinels_twins.twin_pairs import sharing_pairs
from anonloom_sentinels_twins.verdicts import Rules, decide
from anonloom_sentinels_twins.work_check import Campaign
from anonloom_sentinels_twins.workers import Jobs, Opportunistic

# Whom sentinels accuse does not depend on the probabilities of laziness.
_PARTICLES = 0


@attrs.frozen
class AccusationCounts:
    """Who was accused in judged campaigns.

    Attributes
    ----------
    wronged
        Campaigns in which any honest worker was.
    named
        Lazy workers who were, of all lazy workers.
    """

    wronged: Share
    named: Share


def accusations(
    campaign: Campaign, sentinels: int, twins: int, lazy: BoolArray, rng: np.random.Generator
) -> AccusationCounts:
    """Judge campaigns whose lazy workers omit what the campaign expects.

    Parameters
    ----------
    lazy
        Campaigns x workers: who is.
    """
    drawn = counts(campaign, sentinels, twins, lazy, rng)
    rules = Rules(accuse_at=None, level=LEVEL, prior=None)
    accused = decide(drawn, campaign, rules, prior_of(campaign), _PARTICLES).accused
    return AccusationCounts(
        wronged=Share(int((accused & ~lazy).any(axis=1).sum()), len(lazy)),
        named=Share(int((accused & lazy).sum()), max(1, int(lazy.sum()))),
    )


def counts(
    campaign: Campaign,
    sentinels: int,
    twins: int,
    lazy: BoolArray,
    rng: np.random.Generator,
    *,
    colluding: bool = False,
) -> Counts:
    """Draw what the controls say, dealt evenly over workers and pairs of workers.

    Parameters
    ----------
    colluding
        Whether lazy workers answer alike what two of them share.
    """
    runs, workers = lazy.shape
    number = len(campaign.classes)
    index = np.arange(runs)[:, None]
    worker = _deal_in_turn(workers, sentinels, runs, rng)
    truth = rng.integers(number, size=worker.shape)
    wrong = _answers(campaign, truth, lazy[index, worker], rng) != truth
    failed, passed = np.zeros((2, runs, workers))
    np.add.at(failed, (np.broadcast_to(index, worker.shape), worker), wrong)
    np.add.at(passed, (np.broadcast_to(index, worker.shape), worker), ~wrong)
    different, same = np.zeros((2, runs, workers, workers))
    if twins:
        pairs = sharing_pairs(workers, campaign.groups)
        holders = pairs[_deal_in_turn(len(pairs), twins, runs, rng)]
        truth = rng.choice(number, size=(runs, twins), p=campaign.classes)
        both = np.repeat(truth[..., None], 2, axis=2)
        answers = _answers(campaign, both, lazy[index[..., None], holders], rng)
        differs = answers[..., 0] != answers[..., 1]
        if colluding:
            differs &= ~lazy[index[..., None], holders].all(axis=2)
        one, other = holders[..., 0], holders[..., 1]
        for first, second in ((one, other), (other, one)):
            where = (np.broadcast_to(index, one.shape), first, second)
            np.add.at(different, where, differs)
            np.add.at(same, where, ~differs)
    return Counts(failed, passed, different, same)


def _deal_in_turn(places: int, number: int, runs: int, rng: np.random.Generator) -> IntArray:
    order = rng.permuted(np.tile(np.arange(places), (runs, 1)), axis=1)
    return np.asarray(order[:, np.arange(number) % places])


def _answers(
    campaign: Campaign, truth: IntArray, lazy: BoolArray, rng: np.random.Generator
) -> IntArray:
    classes = np.argsort(-np.asarray(campaign.classes), kind="stable")
    answer = Opportunistic(campaign.omission).answer(Jobs(truth=truth, classes=classes), rng)
    return np.where(lazy, answer, truth)


def declared_campaign(plan: Plan, judged: int, rng: np.random.Generator) -> Figure:
    """Return what the scheme states of the declared campaign, and what came of it."""
    campaign = plan.campaign()
    sizing = size(campaign)
    sentinels, twins = sizing.controls["sentinels"], sizing.controls["twins"]
    missed = simulate(campaign, sentinels, twins, plan.runs, rng)
    low, high = missed.interval()
    marked = np.tile(np.arange(plan.workers) < plan.lazy, (judged, 1))
    accused = accusations(campaign, sentinels, twins, rng.permuted(marked, axis=1), rng)
    nobody = np.zeros((max(1, judged // 4), plan.workers), dtype=bool)
    honest = accusations(campaign, sentinels, twins, nobody, rng)
    message = f"{plan.lazy} of {plan.workers} workers omit {plan.omission:.3g} of their jobs."
    assumed = (BLIND, APART)
    results: list[Finding] = [
        say("sentinels", sentinels),
        say("twins", twins),
        say(
            "detection_stated",
            1 - sizing.undetected,
            status="bound",
            assumptions=sizing.assumptions,
            more=f"{message} It is at least as probable as that.",
        ),
        say(
            "detection_simulated", 1 - missed.share, interval=(1 - high, 1 - low),
            assumptions=assumed,
        ),
    ]  # fmt: skip
    if plan.lazy < plan.workers:
        results.append(_share("honest_accused", accused.wronged, assumed))
    results.append(_share("lazy_accused", accused.named, assumed))
    results.append(
        _share(
            "honest_campaign_accused",
            honest.wronged,
            ("Honest answers to the same job never differ.",),
        )
    )
    return Figure(tuple(results))


def majority(plan: Plan, judged: int, rng: np.random.Generator) -> tuple[Finding, ...]:
    """Return what becomes of honest workers whom most of the others, who collude, contradict."""
    many = plan.workers // 2 + 1
    if many == plan.workers or plan.budget < plan.workers:
        why = "a majority of the workers is all of them" if many == plan.workers else TOO_FEW
        return tuple(
            item for item in unknown(["collusion"], why) if item.name.startswith("majority")
        )
    campaign = plan.campaign()
    controls = size(campaign).controls
    marked = np.tile(np.arange(plan.workers) < many, (judged, 1))
    lazy = rng.permuted(marked, axis=1)
    drawn = counts(campaign, controls["sentinels"], controls["twins"], lazy, rng, colluding=True)
    rules = Rules(accuse_at=None, level=LEVEL, prior=None)
    decision = decide(drawn, campaign, rules, prior_of(campaign), _PARTICLES)
    wronged = Share(int((decision.accused & ~lazy).any(axis=1).sum()), judged)
    disputed = Share(sum(bool(dispute.open.any()) for dispute in decision.disputes), judged)
    more = f"{many} of {plan.workers} workers collude; the plan expects {plan.lazy} who do not."
    return tuple(
        say(name, share.share, interval=share.interval(), assumptions=(BLIND,), more=more)
        for name, share in (("majority_honest_accused", wronged), ("majority_disputed", disputed))
    )


def _share(name: str, share: Share, assumptions: tuple[str, ...]) -> Finding:
    return say(name, share.share, interval=share.interval(), assumptions=assumptions)
