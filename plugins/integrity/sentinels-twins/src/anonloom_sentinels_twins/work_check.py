"""Work checks: hidden controls among the jobs of workers whom nobody trusts."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from anonloom import IntegrityScheme, short_repr
from anonloom.errors import IntegrityError
from anonloom.lazy import pd
from anonloom.typing import BoolArray

#: Name of a job within one batch: a column of every batch, and of every worker's answers.
JOB = "job"
#: What a worker answers; in rows whose result the client knows, that result.
RESULT = "result"


def _tuple(values: Sequence[float]) -> tuple[float, ...]:
    return tuple(float(value) for value in values)


def _groups(groups: Sequence[Sequence[int]]) -> tuple[frozenset[int], ...]:
    return tuple(frozenset(group) for group in groups)


@attrs.frozen(kw_only=True)
class Campaign:
    """What is known, or assumed, before the first job is sent.

    Attributes
    ----------
    jobs, workers
        How many rows are to be worked on, by how many workers.
    lazy
        How many of the workers are expected to omit work.
    omission
        The share of its jobs that such a worker omits.
    classes
        How often each result is expected among the jobs, in the order of the results' names; sums
        to 1.
    budget
        How many extra jobs may be paid for; or else
    epsilon
        The probability at which an omission may go unnoticed. Exactly one of the two is given.
    error
        The share of honest answers that differ between two honest workers; 0 for a computation
        that always gives the same result.
    colluding
        Whether lazy workers may compare the jobs that they were given.
    groups
        Workers (counted from 0) that may collude: no job goes to two of one group.
    """

    jobs: int
    workers: int
    lazy: int
    omission: float
    classes: tuple[float, ...] = attrs.field(converter=_tuple)
    budget: int | None = None
    epsilon: float | None = None
    error: float = 0.0
    colluding: bool = False
    groups: tuple[frozenset[int], ...] = attrs.field(default=(), converter=_groups)


@short_repr
@attrs.frozen(kw_only=True)
class Sizing:
    """How many controls of which sort, and what they are good for.

    Attributes
    ----------
    controls
        Sort of control -> number.
    undetected
        The probability that what the campaign expects goes unnoticed.
    escape
        The probability that one worker who omits what the campaign expects fails none of the
        controls that would prove it, whatever the others do. 1 if nothing is promised.
    reasons
        Why these numbers, one sentence each.
    assumptions
        What must hold for the probability to mean that.
    """

    controls: Mapping[str, int]
    undetected: float
    escape: float = 1.0
    reasons: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()

    @property
    def extra(self) -> int:
        """Jobs that are paid for beyond the genuine ones."""
        return sum(self.controls.values())


@short_repr
@attrs.frozen(kw_only=True, eq=False)
class Assignment:
    """Who is to do what.

    Attributes
    ----------
    batches
        One frame per worker: the column `job`, and the columns of the rows.
    key
        What tells the controls from the others. Private: it never reaches a worker.
    warnings
        What the client should know before sending the batches.
    """

    batches: "tuple[pd.DataFrame, ...]"
    key: Any = attrs.field(repr=False)
    warnings: tuple[str, ...] = ()


@short_repr
@attrs.frozen(kw_only=True)
class WorkerEvidence:
    """What the controls say of one worker.

    Attributes
    ----------
    worker
        Counted from 0.
    jobs, missing, strange
        Jobs given, jobs not answered, and answers that were not asked for or given twice.
    controls
        Sort of control -> how many of it failed, of how many.
    lazy
        Probability that the worker omits work, given all evidence and the prior.
    accused
        Whether the evidence is strong enough to act on.
    disputed
        Whether other workers contradict this one, and nothing tells who of them is right.
    reasons
        What speaks against the worker, one sentence each.
    """

    worker: int
    jobs: int
    missing: int
    strange: int
    controls: Mapping[str, tuple[int, int]]
    lazy: float
    accused: bool
    disputed: bool = False
    reasons: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class Dispute:
    """Workers who contradict each other, though nothing is proved against any of them.

    Somebody among them omits work. That most of them agree says nothing: whoever compares jobs
    agrees.

    Attributes
    ----------
    camps
        The workers (counted from 0) in groups that contradict each other; within a camp nobody
        contradicts anybody. Largest first; a single one if they cannot be divided so.
    believed
        Those whose side the controls take; empty where the dispute is open.
    """

    camps: tuple[frozenset[int], ...]
    believed: frozenset[int] = frozenset()

    def __str__(self) -> str:
        """Say who contradicts whom; workers are counted from 1, as in files."""
        if len(self.camps) == 1:
            who = f"{_names_of(self.camps[0])} contradict each other"
        else:
            first, *others = (_names_of(camp) for camp in self.camps)
            who = f"{first} and {' and '.join(others)} contradict each other"
        if self.believed:
            return f"{who}; the controls speak for {_names_of(self.believed)}"
        return f"{who}, and no control tells who of them omits work: this accuses nobody"


#: So many workers of a camp are named.
_NAMED = 12


def _names_of(workers: frozenset[int]) -> str:
    numbers = [str(worker + 1) for worker in sorted(workers)]
    more = f" and {len(numbers) - _NAMED} more" if len(numbers) > _NAMED else ""
    return f"worker{'s' if len(numbers) > 1 else ''} {', '.join(numbers[:_NAMED])}{more}"


@short_repr
@attrs.frozen(kw_only=True, eq=False)
class Judgement:
    """What came back, and what to think of it.

    Attributes
    ----------
    workers
        The evidence, one per worker.
    results
        One result per genuine row, in the order of the rows; missing where there is none.
    distrusted
        Which of these results there is no reason to rely on.
    disputes
        Who contradicts whom, beyond what is proved.
    prior
        What was assumed of a worker before any evidence, in words.
    covers, does_not_cover
        What passing the controls would show, and what not.
    """

    workers: tuple[WorkerEvidence, ...]
    results: "pd.Series"
    distrusted: BoolArray
    prior: str
    disputes: tuple[Dispute, ...] = ()
    covers: tuple[str, ...] = ()
    does_not_cover: tuple[str, ...] = ()

    @property
    def accused_workers(self) -> tuple[int, ...]:
        """The workers against whom the evidence is strong enough."""
        return tuple(worker.worker for worker in self.workers if worker.accused)


class OmittedWork(IntegrityError):
    """Controls failed, or answers are missing: some work was not done as asked.

    Attributes
    ----------
    judgement
        The whole evidence.
    """

    def __init__(self, what: str, judgement: Judgement, hint: str = "") -> None:
        super().__init__(what, hint=hint)
        self.judgement = judgement


class WorkCheck(IntegrityScheme):
    """Integrity of computation: hidden controls among the jobs of untrusted workers.

    Promise: omitted work goes unnoticed at most with the probability that `size` states; honest
    workers are not accused more often than the scheme says, however many of the others collude.
    """

    #: What `anonloom plugins check` runs.
    conformance = "anonloom_sentinels_twins.testing:WorkCheckConformance"

    @abstractmethod
    def size(self, campaign: Campaign) -> Sizing:
        """Return how many controls to use, and the probability that omissions go unnoticed.

        Raises
        ------
        UsageError
            When the campaign makes no sense, or no number of controls reaches what it asks.
        """

    @abstractmethod
    def assign(
        self,
        jobs: "pd.DataFrame",
        known: "pd.DataFrame",
        campaign: Campaign,
        sizing: Sizing,
        rng: np.random.Generator,
    ) -> Assignment:
        """Return each worker's batch, and the key that tells the controls.

        Parameters
        ----------
        jobs
            The genuine rows.
        known
            Rows with the same columns, and in `result` what the client computed for them itself.
        rng
            From the system's randomness, unless it is a simulation.

        Raises
        ------
        DataError
            When there are too few known rows, or columns differ.
        """

    @abstractmethod
    def verify(self, key: Any, answers: "Sequence[pd.DataFrame | None]") -> Judgement:
        """Return the evidence per worker when every control passed and every job is answered.

        Parameters
        ----------
        answers
            One frame per worker with the columns `job` and `result`; None where nothing came back.

        Raises
        ------
        OmittedWork
            Otherwise; it carries the evidence.
        """
