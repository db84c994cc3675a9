"""Workers, honest and not: what each answers, on abstract classes as well as on real batches.

A behaviour decides which jobs it omits and what it says instead. It sees `Jobs`: arrays of any
shape, so that one call answers for one batch or for thousands of simulated campaigns. `answers`
shows real batches to behaviours.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anonloom.errors import UsageError
from anonloom.typing import BoolArray
from anonloom_sentinels_twins.work_check import JOB, RESULT

#: What an honest worker does with rows: one result per row.
Work = Callable[[pd.DataFrame], Any]
#: A cheap model of that: one result per row, and how sure of each it is, from 0 to 1.
Model = Callable[[pd.DataFrame], tuple[Any, Any]]


@attrs.frozen(kw_only=True, eq=False)
class Jobs:
    """What a worker is given, and what it could know of it.

    Attributes
    ----------
    truth
        What honest work gives; an array of any shape. A worker looks only at what it works on.
    classes
        The results that there are, the most frequent one first.
    common
        Which jobs others of its group were given, too; None if it has no group.
    guess, sure
        What a cheap model says, and how sure it is; None if there is no model.
    """

    truth: NDArray[Any]
    classes: NDArray[Any]
    common: BoolArray | None = None
    guess: NDArray[Any] | None = None
    sure: NDArray[np.float64] | None = None


class Behaviour(ABC):
    """How a worker answers."""

    @abstractmethod
    def omits(self, jobs: Jobs, rng: np.random.Generator) -> BoolArray:
        """Which jobs are not worked on."""

    @abstractmethod
    def instead(self, jobs: Jobs, rng: np.random.Generator) -> NDArray[Any]:
        """What is said of each job if it is not worked on; broadcasts to the jobs."""

    def answer(self, jobs: Jobs, rng: np.random.Generator) -> NDArray[Any]:
        """One answer per job."""
        omitted = self.omits(jobs, rng)
        return np.where(omitted, self.instead(jobs, rng), jobs.truth)


@attrs.frozen
class Honest(Behaviour):
    """Does all of its work."""

    def omits(self, jobs: Jobs, rng: np.random.Generator) -> BoolArray:
        """Nothing."""
        return np.zeros(jobs.truth.shape, dtype=bool)

    def instead(self, jobs: Jobs, rng: np.random.Generator) -> NDArray[Any]:
        """Never needed."""
        return jobs.truth


def _share(instance: object, attribute: "attrs.Attribute[float]", value: float) -> None:
    if not 0 <= value <= 1:
        raise UsageError(f"{attribute.name} of a worker must lie between 0 and 1, not {value:g}")


@attrs.frozen
class Opportunistic(Behaviour):
    """Omits a share of its jobs, blindly, and answers the most frequent class.

    Attributes
    ----------
    share
        Of its jobs: each is omitted with this probability.
    exactly
        Omit this share of every batch (the last axis), rounded, instead of tossing coins.
    """

    share: float = attrs.field(default=0.2, validator=_share)
    exactly: bool = False

    def omits(self, jobs: Jobs, rng: np.random.Generator) -> BoolArray:
        """A random choice."""
        drawn = rng.random(jobs.truth.shape)
        if not self.exactly:
            return np.asarray(drawn < self.share)
        rank = drawn.argsort(axis=-1).argsort(axis=-1)
        return np.asarray(rank < round(self.share * jobs.truth.shape[-1]))

    def instead(self, jobs: Jobs, rng: np.random.Generator) -> NDArray[Any]:
        """The class that is right most often."""
        return np.asarray(jobs.classes[0])


@attrs.frozen
class Lazy(Opportunistic):
    """Omits a share of its jobs, blindly, and answers a random class."""

    def instead(self, jobs: Jobs, rng: np.random.Generator) -> NDArray[Any]:
        """Any class, each as often."""
        return np.asarray(jobs.classes[rng.integers(len(jobs.classes), size=jobs.truth.shape)])


@attrs.frozen
class Malicious(Opportunistic):
    """Does its work, and answers a share of its jobs wrongly on purpose."""

    def instead(self, jobs: Jobs, rng: np.random.Generator) -> NDArray[Any]:
        """Another class than the right one, each as often."""
        number = len(jobs.classes)
        flat = pd.Index(jobs.classes).get_indexer(jobs.truth.ravel())
        # A step of 1 to c - 1 never comes back; a result outside the classes stands before all.
        step = rng.integers(1, max(2, number), size=flat.shape)
        return np.asarray(jobs.classes[(flat + step) % number]).reshape(jobs.truth.shape)


@attrs.frozen
class Collusive(Opportunistic):
    """Compares its jobs with its group's: omits all that they have in common, and answers alike.

    Of its other jobs it omits `share`. All of the group answer the most frequent class, so jobs
    that only they hold never differ.
    """

    def omits(self, jobs: Jobs, rng: np.random.Generator) -> BoolArray:
        """What is common, and a random choice of the rest."""
        blind = Opportunistic.omits(self, jobs, rng)
        return blind if jobs.common is None else blind | jobs.common


@attrs.frozen
class Proxy(Behaviour):
    """Answers with a cheap model where that is sure, and works on the others.

    Its omission is not blind: what it omits is what it guesses well.

    Attributes
    ----------
    least
        How sure the model must be.
    """

    least: float = attrs.field(default=0.9, validator=_share)

    def omits(self, jobs: Jobs, rng: np.random.Generator) -> BoolArray:
        """What the model is sure of."""
        if jobs.sure is None:
            raise UsageError("a proxy worker needs a cheap model")
        return np.asarray(jobs.sure >= self.least)

    def instead(self, jobs: Jobs, rng: np.random.Generator) -> NDArray[Any]:
        """What the model says."""
        if jobs.guess is None:
            raise UsageError("a proxy worker needs a cheap model")
        return jobs.guess


#: The behaviours by the names that commands use.
BEHAVIOURS: dict[str, type[Behaviour]] = {
    "honest": Honest,
    "lazy": Lazy,
    "opportunistic": Opportunistic,
    "malicious": Malicious,
    "colluding": Collusive,
    "proxy": Proxy,
}


def answers(
    batches: Sequence[pd.DataFrame],
    behaviours: Sequence[Behaviour],
    work: Work,
    classes: Sequence[Any],
    rng: np.random.Generator,
    *,
    model: Model | None = None,
) -> tuple[pd.DataFrame, ...]:
    """What workers send back for real batches.

    All workers whose behaviour is `Collusive` are one group: a row that two of them have (equal
    in every column but the name of the job) is common.

    Parameters
    ----------
    batches
        One frame per worker, with the column `job`.
    behaviours
        One per worker.
    work
        What honest work gives for rows (without the column `job`).
    classes
        The results that there are, the most frequent one first.
    model
        What `Proxy` workers use.

    Returns
    -------
    tuple of DataFrame
        One per worker, with the columns `job` and `result`.
    """
    group = [i for i, item in enumerate(behaviours) if isinstance(item, Collusive)]
    common = _common([batches[i].drop(columns=JOB) for i in group])
    known = dict(zip(group, common, strict=True))
    labels = pd.Series(list(classes)).to_numpy()
    sent = []
    for index, (batch, behaviour) in enumerate(zip(batches, behaviours, strict=True)):
        rows = batch.drop(columns=JOB)
        guess, sure = (None, None) if model is None or rows.empty else model(rows)
        jobs = Jobs(
            truth=np.asarray(work(rows)) if len(rows) else labels[:0],
            classes=labels,
            common=known.get(index),
            guess=None if guess is None else np.asarray(guess),
            sure=None if sure is None else np.asarray(sure, dtype=np.float64),
        )
        results = behaviour.answer(jobs, rng) if len(rows) else jobs.truth
        sent.append(pd.DataFrame({JOB: batch[JOB].to_numpy(), RESULT: results}))
    return tuple(sent)


def _common(batches: Sequence[pd.DataFrame]) -> list[BoolArray]:
    """Which rows of each batch another batch has, too."""
    if not batches:
        return []
    rows = pd.concat(batches, ignore_index=True)
    owner = np.repeat(np.arange(len(batches)), [len(batch) for batch in batches])
    number = rows.groupby(list(rows.columns), dropna=False, sort=False).ngroup().to_numpy()
    # A row twice in one batch is no twin: what counts is how many workers have it.
    holders = pd.Series(owner).groupby(number).transform("nunique").to_numpy()
    return np.split(np.asarray(holders > 1), np.cumsum([len(batch) for batch in batches])[:-1])
