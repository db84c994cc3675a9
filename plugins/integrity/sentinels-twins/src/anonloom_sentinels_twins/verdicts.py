"""What came back, and what to think of it: evidence per worker, and which results to distrust.

Completeness: every job has one answer, and no other is among them. Correctness: no more controls
failed than honest work may fail, which is none where honest results are always the same.

A worker is accused if answers are missing, or if its own sentinels failed beyond that. Nothing that
other workers say accuses it: twins show that somebody omits work, and those who omit it together
agree with each other and contradict whoever works, so that the more they are the worse an honest
worker would look.

To rely on a result takes a reason. In a campaign that failed there are two: its worker passed its
sentinels, and nobody contradicts it but workers who did not, or whom all sentinels together refute
(`disputes`); or two workers gave it who are of different camps. One of two such camps works, and if
the other one guessed, it guessed what the first one computed.
"""

from collections.abc import Sequence

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom.errors import UsageError
from anonloom.lazy import pd
from anonloom.typing import BoolArray, FloatArray, IntArray
from anonloom_sentinels_twins.disputes import Disputes, disputes
from anonloom_sentinels_twins.key import NONE, Key, spell
from anonloom_sentinels_twins.posterior import Counts, Prior, laziness, prior_of
from anonloom_sentinels_twins.tolerant import campaign_level, most_tolerated, own_level
from anonloom_sentinels_twins.work_check import (
    JOB,
    RESULT,
    Campaign,
    Judgement,
    OmittedWork,
    WorkerEvidence,
)

#: Where honest answers differ: the probability of laziness from which a worker's results are
#: distrusted in a failed campaign, whether or not anybody contradicts it beyond honest error.
DOUBTED = 0.5
# So many accused workers are named in a message; the judgement has all of them.
_NAMED = 10


@attrs.frozen(kw_only=True)
class Rules:
    """When evidence is enough; None is what the campaign makes of it.

    Attributes
    ----------
    accuse_at
        The probability of laziness that it takes, too, to accuse a worker whose sentinels failed.
    level
        The probability at which all tolerant tests together may fail honest work.
    prior
        The probability that a worker is lazy, before any evidence.
    """

    accuse_at: float | None
    level: float
    prior: float | None


def verify(key: Key, answers: "Sequence[pd.DataFrame | None]", rules: Rules) -> Judgement:
    """Return the evidence when no control failed and every job is answered.

    Raises
    ------
    OmittedWork
        Otherwise; it carries the evidence.
    UsageError
        When there are not as many answers as workers.
    """
    if len(answers) != key.campaign.workers:
        raise UsageError(
            f"there are {len(answers)} answers; the key is for {key.campaign.workers} workers, "
            "and a worker that sent nothing has an empty place"
        )
    answered = _read_answers(key, answers)
    outcome = _outcome(key, answered)
    prior = prior_of(key.campaign, rules.prior)
    silent = answered.missing > 0
    decision = decide(outcome.counts, key.campaign, rules, prior, silent=silent[None])
    judgement = _judgement(key, answered, outcome, decision, prior, rules)
    if decision.noticed[0] or silent.any() or answered.strange.any():
        raise OmittedWork(_what(answered, outcome), judgement, hint=_who(judgement))
    return judgement


@attrs.frozen(eq=False)
class Decision:
    """What follows from the controls of several campaigns; the first axis is the campaign.

    Attributes
    ----------
    noticed
        Whether more controls failed than honest work may fail.
    lazy, accused
        By worker: the probability of laziness, and whether the worker's own sentinels, or answers
        that are missing, accuse it.
    doubted
        By worker: whether its results are better not relied on.
    disputes
        By campaign: who contradicts whom beyond what is proved.
    """

    noticed: BoolArray
    lazy: FloatArray
    accused: BoolArray
    doubted: BoolArray
    disputes: tuple[Disputes, ...]


def decide(
    counts: Counts,
    campaign: Campaign,
    rules: Rules,
    prior: Prior,
    particles: int | None = None,
    silent: BoolArray | None = None,
) -> Decision:
    """Return what follows from the controls alone.

    Parameters
    ----------
    particles
        See `laziness`; with 0 it is not estimated, and every worker has the probability of the
        prior. Whom sentinels accuse, and who is in a dispute, does not depend on it.
    silent
        By campaign and worker: who left answers out; nobody if not given.
    """

    def beyond(failed: FloatArray, passed: FloatArray, level: float) -> BoolArray:
        return np.asarray(failed > most_tolerated(failed + passed, campaign.error, level))

    # Every twin is on the side of two workers.
    differ, same = counts.different.sum(axis=2), counts.same.sum(axis=2)
    whole, each = campaign_level(rules.level), own_level(campaign.workers, rules.level)
    proved = beyond(counts.failed, counts.passed, each)
    noticed = (
        beyond(counts.failed.sum(axis=1), counts.passed.sum(axis=1), whole)
        | beyond(differ.sum(axis=1) / 2, same.sum(axis=1) / 2, whole)
        | (proved | beyond(counts.failed + differ, counts.passed + same, each)).any(axis=1)
    )
    lazy = (
        np.full(proved.shape, prior.lazy)
        if particles == 0
        else laziness(counts, prior, campaign, particles)
    )
    if campaign.error == 0:
        lazy = np.where(counts.failed > 0, 1.0, lazy)
    silent = np.zeros_like(proved) if silent is None else silent
    lazy = np.where(silent, 1.0, lazy)
    accused = silent | (proved & (lazy >= (rules.accuse_at or 0.0)))
    proved |= silent
    contradict = beyond(counts.different, counts.same, rules.level) & noticed[:, None, None]
    results = tuple(
        disputes(counts, index, contradict[index], proved[index], campaign.error)
        for index in range(len(proved))
    )
    weighed = np.array([item.lazy for item in results]).reshape(lazy.shape)
    doubted = proved | np.array([item.open for item in results], dtype=bool).reshape(lazy.shape)
    # Who passed no sentinel at all gave no reason to be believed.
    doubted |= counts.passed == 0
    if campaign.error > 0:
        # Two workers share too few jobs to tell laziness from honest error in all cases.
        doubted |= (counts.failed + differ > 0) & (lazy >= DOUBTED)
    # The probabilities take workers for independent of each other; whoever is in a dispute has
    # the one that needs no such assumption.
    lazy = np.where(np.isnan(weighed), lazy, weighed)
    return Decision(noticed, lazy, accused, doubted & (noticed[:, None] | silent), results)


@attrs.frozen(eq=False)
class _AnswerSheet:
    """What the workers said, one entry per job of the key, and what is wrong with it.

    Attributes
    ----------
    said
        The answer, as `spelled`; None where there is none.
    given
        The same as the worker gave it.
    missing, strange
        By worker: jobs without one answer, and answers that were not asked for or given twice.
    """

    said: NDArray[np.object_]
    given: NDArray[np.object_]
    missing: IntArray
    strange: IntArray


def _read_answers(key: Key, answers: "Sequence[pd.DataFrame | None]") -> _AnswerSheet:
    said = np.full(len(key.job), None, dtype=object)
    given = said.copy()
    missing, strange = np.zeros((2, len(answers)), dtype=np.int64)
    for worker, frame in enumerate(answers):
        own = key.jobs_of(worker)
        if frame is not None and all(
            list(frame.columns).count(item) == 1 for item in (JOB, RESULT)
        ):
            places = {name: place for place, name in enumerate(key.job[own].tolist())}
            # One by one: a worker may name what is no text, or none that could be encoded.
            named = [
                places.get(name, NONE) if isinstance(name, str) else NONE for name in frame[JOB]
            ]
            place = np.array(named, dtype=np.int64)
            asked = place != NONE
            texts, values = spell(frame[RESULT]), frame[RESULT].to_numpy(dtype=object)
            place, texts, values = place[asked], texts[asked], values[asked]
            repeated = pd.Series(place).duplicated().to_numpy()
            strange[worker] = (~asked).sum() + repeated.sum()
            said[own[place[~repeated]]] = texts[~repeated]
            given[own[place[~repeated]]] = values[~repeated]
            # Two answers that contradict each other are none.
            contradicted = own[place[repeated]][said[own[place[repeated]]] != texts[repeated]]
            said[contradicted] = None
        elif frame is not None:
            strange[worker] = len(frame)
        missing[worker] = _none(said[own]).sum()
    given[_none(said)] = None
    return _AnswerSheet(said, given, missing, strange)


def _none(values: NDArray[np.object_]) -> BoolArray:
    return np.asarray(pd.isna(values), dtype=bool)


@attrs.frozen(eq=False)
class _Outcome:
    """What the controls say.

    Attributes
    ----------
    counts
        Of the controls that were answered.
    pairs
        The two jobs of each twin.
    differ, both
        By twin: whether the answers differ, and whether there are two.
    """

    counts: Counts
    pairs: IntArray
    differ: BoolArray
    both: BoolArray


def _outcome(key: Key, answered: _AnswerSheet) -> _Outcome:
    workers = key.campaign.workers
    none = _none(answered.said)
    sentinel = np.flatnonzero((key.expected != NONE) & ~none)
    expected = np.array([*key.results, None], dtype=object)[key.expected[sentinel]]
    failed = np.asarray(answered.said[sentinel] != expected, dtype=bool)
    by_worker = [
        np.bincount(key.worker[sentinel[chosen]], minlength=workers).astype(np.float64)[None]
        for chosen in (failed, ~failed)
    ]
    pairs = key.pairs()
    both = ~(none[pairs[:, 0]] | none[pairs[:, 1]])
    differ = both & np.asarray(answered.said[pairs[:, 0]] != answered.said[pairs[:, 1]], dtype=bool)
    by_pair = []
    for chosen in (differ, both & ~differ):
        table = np.zeros((workers, workers))
        one, other = key.worker[pairs[chosen]].T
        np.add.at(table, (one, other), 1.0)
        by_pair.append((table + table.T)[None])
    return _Outcome(Counts(*by_worker, *by_pair), pairs, differ, both)


def _judgement(
    key: Key,
    answered: _AnswerSheet,
    outcome: _Outcome,
    decision: Decision,
    prior: Prior,
    rules: Rules,
) -> Judgement:
    results, distrusted = _results(key, answered, outcome, decision)
    covers, does_not_cover = _coverage(key, rules)
    return Judgement(
        workers=tuple(
            _evidence(key, answered, outcome.counts, worker, decision)
            for worker in range(key.campaign.workers)
        ),
        results=results,
        distrusted=distrusted,
        prior=str(prior),
        disputes=decision.disputes[0].listed,
        covers=covers,
        does_not_cover=does_not_cover,
    )


def _evidence(
    key: Key, answered: _AnswerSheet, counts: Counts, worker: int, decision: Decision
) -> WorkerEvidence:
    jobs = len(key.jobs_of(worker))
    missing, strange = int(answered.missing[worker]), int(answered.strange[worker])
    controls = {
        "sentinels": _of(counts.failed[0, worker], counts.passed[0, worker]),
        "twins": _of(counts.different[0, worker].sum(), counts.same[0, worker].sum()),
    }
    reasons = []
    if missing:
        reasons.append(f"{missing} of {jobs} jobs have no answer")
    if strange:
        reasons.append(f"{strange} answers were not asked for, or given twice")
    for sort, words in (("sentinels", "failed"), ("twins", "differ from another worker's answer")):
        failed, of = controls[sort]
        if failed:
            reasons.append(f"{failed} of {of} {sort} {words}")
    disputed = bool(decision.disputes[0].open[worker])
    if disputed:
        reasons.append("no sentinel tells whether it or who contradicts it omits work")
    return WorkerEvidence(
        worker=worker,
        jobs=jobs,
        missing=missing,
        strange=strange,
        controls=controls,
        lazy=float(decision.lazy[0, worker]),
        accused=bool(decision.accused[0, worker]),
        disputed=disputed,
        reasons=tuple(reasons),
    )


def _of(failed: float, passed: float) -> tuple[int, int]:
    return int(failed), int(failed + passed)


def _results(
    key: Key, answered: _AnswerSheet, outcome: _Outcome, decision: Decision
) -> "tuple[pd.Series, BoolArray]":
    """Return the result of each genuine row, and which of them not to rely on."""
    lazy, doubted = decision.lazy[0], decision.doubted[0]
    first = np.empty(key.rows, dtype=np.int64)
    original = np.flatnonzero((key.row != NONE) & ~key.copy)
    first[key.row[original]] = original
    none = _none(answered.said)
    results = answered.given[first]
    distrusted = doubted[key.worker[first]] | none[first]

    one, other = outcome.pairs.T
    row, blamed = key.row[one], doubted[key.worker]
    # The second answer stands where the first is missing, or differs and is the more suspect one.
    second = none[one] & ~none[other]
    second |= outcome.differ & (lazy[key.worker[other]] < lazy[key.worker[one]])
    results[row[second]] = answered.given[other[second]]
    alone = np.where(none[one], blamed[other] | none[other] | key.disguised, blamed[one])
    # What a worker confirms who is not doubted may be relied on, whoever else said it; and what
    # two camps say alike that contradict each other elsewhere.
    opposed = decision.disputes[0].opposed[key.worker[one], key.worker[other]]
    together = outcome.differ | (blamed[one] & blamed[other] & ~opposed)
    distrusted[row] = np.where(outcome.both, together, alone)
    return pd.Series(results, dtype=object, name=RESULT), distrusted


def _what(answered: _AnswerSheet, outcome: _Outcome) -> str:
    counts, parts = outcome.counts, []
    failed, of = _of(counts.failed.sum(), counts.passed.sum())
    if failed:
        parts.append(f"{failed} of {of} sentinels failed")
    if outcome.differ.any():
        parts.append(f"{outcome.differ.sum()} of {outcome.both.sum()} twins differ")
    if answered.missing.any():
        parts.append(f"{answered.missing.sum()} of {len(answered.said)} answers are missing")
    if answered.strange.any():
        parts.append(f"{answered.strange.sum()} answers were not asked for, or given twice")
    return f"some work was not done as asked: {'; '.join(parts)}"


def _who(judgement: Judgement) -> str:
    lines = [
        f"worker {worker + 1} is accused: {'; '.join(judgement.workers[worker].reasons)}"
        for worker in judgement.accused_workers[:_NAMED]
    ]
    if len(judgement.accused_workers) > _NAMED:
        lines.append(f"and {len(judgement.accused_workers) - _NAMED} others")
    if not lines:
        lines.append("the evidence is not enough to accuse any one worker")
    lines += [str(dispute) for dispute in judgement.disputes[:_NAMED]]
    if len(judgement.disputes) > _NAMED:
        lines.append(f"and {len(judgement.disputes) - _NAMED} further disputes")
    lines.append(f"distrust {judgement.distrusted.sum()} of {len(judgement.distrusted)} results")
    return "\n".join(lines)


def _coverage(key: Key, rules: Rules) -> tuple[tuple[str, ...], tuple[str, ...]]:
    campaign, sizing = key.campaign, key.sizing
    honest = (
        "honest work fails no control"
        if campaign.error == 0
        else f"honest work fails the tests with a probability of at most {rules.level:g}"
    )
    covers = [
        "completeness: every job has one answer, and there are no others",
        f"correctness: if {campaign.lazy:g} of {campaign.workers} workers omit "
        f"{campaign.omission:.1%} of their jobs, blindly, this goes unnoticed with a probability "
        f"of at most {sizing.undetected:.3g}; {honest}",
        *_naming_power(key),
        "freshness: the answers name jobs of this campaign, so they are no old file",
    ]
    does_not = [
        "workers who omit what they can guess well, such as with a cheap model of their own: the "
        "probabilities are for blind omission",
        "who of two workers is to blame for a twin that differs: sentinels alone accuse, and where "
        "they leave it open both are distrusted",
        "whether an old computation was used again: only sentinels that no worker has seen before "
        "show that anything was computed now",
    ]
    if sizing.controls.get("twins", 0):
        does_not.append(
            "whether the small changes of disguised twins leave their results as they are: the "
            "client says so"
            if key.disguised
            else "workers who compare their jobs, unless they are declared as one group: what two "
            "of them share and answer alike is not noticed"
        )
    return tuple(covers), tuple(does_not)


def _naming_power(key: Key) -> list[str]:
    """Say what a worker's own sentinels are good for, if anything was promised."""
    if key.sizing.escape == 1:
        return []
    return [
        f"naming: a worker who omits {key.campaign.omission:.1%} of its jobs, blindly, is accused "
        f"by its own sentinels with a probability of at least {1 - key.sizing.escape:.3g}, "
        "whomever it colludes with"
    ]
