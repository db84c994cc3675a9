"""A dry run: made-up campaigns from plan to verdict, by the code that real ones go through."""

from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anonloom_sentinels_twins.scheme import SentinelsTwins
from anonloom_sentinels_twins.simulation import Setting, Share
from anonloom_sentinels_twins.work_check import RESULT, Campaign, Judgement, OmittedWork, Sizing
from anonloom_sentinels_twins.workers import Behaviour, Honest, Opportunistic, Proxy, answers

_NUMBER = "number"


@attrs.frozen(kw_only=True)
class DryRun:
    """What came of them.

    Attributes
    ----------
    unnoticed
        Campaigns in which every control passed.
    named
        How many lazy workers were accused, on average.
    wronged
        Campaigns in which any honest worker was accused.
    disputed
        Campaigns in which workers contradict each other, and sentinels do not settle it.
    believed
        Wrong results that are not distrusted, of all wrong results.
    relied
        Right results that are not distrusted, of all right results.
    """

    unnoticed: Share
    named: float
    wronged: Share
    disputed: Share
    believed: Share
    relied: Share


def dry_run(
    campaign: Campaign,
    sizing: Sizing,
    setting: Setting,
    runs: int,
    rng: np.random.Generator,
    lazy: int | None = None,
) -> DryRun:
    """Play campaigns in which the lazy workers are drawn anew each time.

    Rows are numbers; the class of each is drawn with the shares that the campaign expects.

    Parameters
    ----------
    lazy
        How many workers are; as many as the campaign expects if not given.
    """
    scheme = SentinelsTwins(likeness=False)
    many = campaign.lazy if lazy is None else lazy
    unnoticed = named = wronged = disputed = 0
    # Results: right or wrong, and relied on or not.
    tally = np.zeros((2, 2), dtype=np.int64)
    for _ in range(runs):
        idle = np.zeros(campaign.workers, dtype=bool)
        idle[rng.permutation(campaign.workers)[:many]] = True
        judgement, failed, truth = _play_campaign(scheme, campaign, sizing, setting, idle, rng)
        wrong = judgement.results.to_numpy() != truth
        np.add.at(tally, (wrong.astype(int), judgement.distrusted.astype(int)), 1)
        disputed += any(worker.disputed for worker in judgement.workers)
        accused = np.isin(np.arange(campaign.workers), judgement.accused_workers)
        unnoticed += not failed
        named += int((accused & idle).sum())
        wronged += bool((accused & ~idle).any())
    relied, believed = (Share(int(item[0]), max(1, int(item.sum()))) for item in tally)
    return DryRun(
        unnoticed=Share(unnoticed, runs),
        named=named / runs,
        wronged=Share(wronged, runs),
        disputed=Share(disputed, runs),
        believed=believed,
        relied=relied,
    )


def _play_campaign(
    scheme: SentinelsTwins,
    campaign: Campaign,
    sizing: Sizing,
    setting: Setting,
    lazy: NDArray[np.bool_],
    rng: np.random.Generator,
) -> tuple[Judgement, bool, NDArray[Any]]:
    classes = len(campaign.classes)
    known = np.repeat(np.arange(classes), max(1, sizing.controls.get("sentinels", 0)))
    truth = np.concatenate([rng.choice(classes, size=campaign.jobs, p=campaign.classes), known])
    numbers = np.arange(len(truth))
    rows = pd.DataFrame({_NUMBER: numbers[: campaign.jobs]})
    mine = pd.DataFrame({_NUMBER: numbers[campaign.jobs :], RESULT: known})
    made = scheme.assign(rows, mine, campaign, sizing, rng)
    sent = answers(
        made.batches,
        _staff(campaign, setting, lazy),
        _Work(truth, classes, campaign.error, rng),
        np.argsort(-np.asarray(campaign.classes), kind="stable").tolist(),
        rng,
        model=_Model(truth, classes, setting, rng)
        if isinstance(setting.behaviour, Proxy)
        else None,
    )
    try:
        return scheme.verify(made.key, sent), False, truth[: campaign.jobs]
    except OmittedWork as result:
        return result.judgement, True, truth[: campaign.jobs]


def _staff(campaign: Campaign, setting: Setting, lazy: NDArray[np.bool_]) -> list[Behaviour]:
    behaviour = setting.behaviour or Opportunistic(campaign.omission)
    return [behaviour if item else Honest() for item in lazy.tolist()]


@attrs.frozen(eq=False)
class _Work:
    """Honest work; two honest answers differ at the rate that the campaign accepts."""

    truth: NDArray[Any]
    classes: int
    error: float
    rng: np.random.Generator

    def __call__(self, rows: pd.DataFrame) -> NDArray[Any]:
        right = self.truth[rows[_NUMBER].to_numpy()]
        # Either of two answers may be the one that is off: half the rate each.
        off = self.rng.random(len(right)) < self.error / 2
        step = self.rng.integers(1, self.classes, size=len(right))
        return np.asarray(np.where(off, (right + step) % self.classes, right))


@attrs.frozen(eq=False)
class _Model:
    """A cheap model; it says the same of a row whoever asks."""

    truth: NDArray[Any]
    classes: int
    setting: Setting
    rng: np.random.Generator
    guess: NDArray[Any] = attrs.field(init=False)
    sure: NDArray[np.float64] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        rows, rng = len(self.truth), self.rng
        wrong = (self.truth + rng.integers(1, self.classes, size=rows)) % self.classes
        right = rng.random(rows) < self.setting.accuracy
        object.__setattr__(self, "guess", np.where(right, self.truth, wrong))
        sure = np.where(rng.random(rows) < self.setting.certain, 1.0, 0.0)
        object.__setattr__(self, "sure", sure)

    def __call__(self, rows: pd.DataFrame) -> tuple[NDArray[Any], NDArray[np.float64]]:
        places = rows[_NUMBER].to_numpy()
        return self.guess[places], self.sure[places]
