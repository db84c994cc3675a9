"""Conformance of work checks: all is assigned, omissions are noticed, nobody is framed.

Needs `anonloom-testing`, which nothing else in this package does.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from anonloom import StageContext
from anonloom.errors import IntegrityError
from anonloom_sentinels_twins.work_check import (
    JOB,
    RESULT,
    Assignment,
    Campaign,
    OmittedWork,
    Sizing,
    WorkCheck,
)
from anonloom_testing import IntegrityConformance

#: What the kit has done: three results of unequal frequency, and some workers who omit work.
CAMPAIGN = Campaign(
    jobs=300, workers=5, lazy=2, omission=0.3, classes=(0.1, 0.6, 0.3), epsilon=0.05
)
#: How many honest campaigns are judged.
_HONEST = 10
#: How many campaigns of colluding workers are judged, and how many of the five collude.
_COLLUDING, _COLLUDERS = 10, 3


def rows_of(count: int, seed: int) -> pd.DataFrame:
    """Make rows to be worked on; no two are equal."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"height": rng.random(count).round(6), "weight": rng.random(count)})


def result_of(rows: pd.DataFrame) -> pd.Series:
    """Work on rows as an honest worker does."""
    classes = np.searchsorted([0.6, 0.9], rows["height"].to_numpy(), side="right")
    return pd.Series(np.array(["low", "middle", "high"], object)[classes], index=rows.index)


def answer_batches(
    batches: Sequence[pd.DataFrame], lazy: int, omission: float, rng: np.random.Generator
) -> list[pd.DataFrame | None]:
    """Answer all batches; the lazy workers, whoever they are, guess a share of theirs."""
    idle = set(rng.choice(len(batches), lazy, replace=False))
    answers: list[pd.DataFrame | None] = []
    for worker, batch in enumerate(batches):
        result = result_of(batch)
        if worker in idle:
            result = result.mask(rng.random(len(batch)) < omission, "low")
        answers.append(pd.DataFrame({JOB: batch[JOB], RESULT: result}))
    return answers


class WorkCheckConformance(IntegrityConformance):
    """Checks of a work check.

    Attributes
    ----------
    trials
        How often an omission is tried.

    Examples
    --------
    In ``tests/test_conformance.py``::

        class TestMyControls(WorkCheckConformance):
            method = MyControls
    """

    trials: ClassVar[int] = 200

    def work_check(self) -> WorkCheck:
        """Return the scheme."""
        scheme: WorkCheck = self.build_method()
        return scheme

    def inputs(self) -> dict[str, Any]:
        """Return the rows of an honest campaign."""
        return dict(given_rows())

    def call_method(self, method: Any, inputs: Mapping[str, Any], context: StageContext) -> Any:
        """Plan, assign and verify honest work."""
        rng = np.random.default_rng(1)
        _, given = assign_campaign(method, rng, inputs)
        return method.verify(given.key, answer_batches(given.batches, 0, 0.0, rng))


def _refuse_problems(problems: Sequence[str], promise: str) -> None:
    """Raise with the first few problems, if there are any."""
    if problems:
        more = f"\n... and {len(problems) - 5} more" if len(problems) > 5 else ""
        raise AssertionError(promise + ":\n" + "\n".join(problems[:5]) + more)


def given_rows() -> dict[str, pd.DataFrame]:
    """Make the jobs, and the rows whose results the client computed itself."""
    known = rows_of(900, seed=2)
    return {
        "jobs": rows_of(CAMPAIGN.jobs, seed=1),
        "known": known.assign(**{RESULT: result_of(known)}),
    }


def assign_campaign(
    scheme: WorkCheck, rng: np.random.Generator, given: Mapping[str, pd.DataFrame] | None = None
) -> tuple[Sizing, Assignment]:
    """Plan the kit's campaign and hand out its jobs."""
    rows, sizing = given or given_rows(), scheme.size(CAMPAIGN)
    return sizing, scheme.assign(rows["jobs"], rows["known"], CAMPAIGN, sizing, rng)


def check_all_work_is_assigned(subject: "WorkCheckConformance") -> None:
    """Every row is given to somebody, beside as many controls as were stated; names are unique."""
    sizing, given = assign_campaign(subject.work_check(), np.random.default_rng(3))
    rows = rows_of(CAMPAIGN.jobs, 1)
    problems = []
    if len(given.batches) != CAMPAIGN.workers:
        problems.append(f"{len(given.batches)} batches for {CAMPAIGN.workers} workers")
    for worker, batch in enumerate(given.batches):
        if list(batch.columns) != [JOB, *rows.columns]:
            problems.append(f"worker {worker}: the columns are {', '.join(batch.columns)}")
    everything = pd.concat(given.batches)
    if len(everything) != len(rows) + sizing.extra:
        problems.append(f"{len(everything)} jobs; {len(rows)} rows + {sizing.extra} are stated")
    if everything[JOB].duplicated().any():
        problems.append("two jobs have one name")
    sent = set(everything["height"])
    if not set(rows["height"]) <= sent:
        problems.append(f"{len(set(rows['height']) - sent)} rows were given to nobody")
    _refuse_problems(problems, "the batches are not what was planned")


def check_honest_work_passes(subject: "WorkCheckConformance") -> None:
    """Honest work verifies, nobody is accused, and the results come back in the rows' order."""
    scheme, problems = subject.work_check(), []
    expected = list(result_of(rows_of(CAMPAIGN.jobs, 1)))
    for seed in range(_HONEST):
        rng = np.random.default_rng(seed)
        _, given = assign_campaign(scheme, rng)
        try:
            judgement = scheme.verify(given.key, answer_batches(given.batches, 0, 0.0, rng))
        except IntegrityError as error:
            problems.append(f"campaign {seed}: {error}")
            continue
        if judgement.accused_workers:
            problems.append(f"campaign {seed}: workers {judgement.accused_workers} are accused")
        if list(judgement.results) != expected or judgement.distrusted.any():
            problems.append(f"campaign {seed}: the results are others, or distrusted")
    _refuse_problems(problems, "honest work was not accepted as it is")


def check_a_colluding_majority_frames_nobody(subject: "WorkCheckConformance") -> None:
    """Most workers omit work and answer what they share alike; no honest worker is accused."""
    scheme, problems, rows = subject.work_check(), [], given_rows()
    for seed in range(_COLLUDING):
        rng = np.random.default_rng(seed)
        _, given = assign_campaign(scheme, rng, rows)
        idle = sorted(rng.permutation(len(given.batches))[:_COLLUDERS].tolist())
        held_by = pd.concat([given.batches[worker] for worker in idle])["height"]
        common = set(held_by[held_by.duplicated()])
        answers = answer_batches(given.batches, 0, 0.0, rng)
        for worker in idle:
            batch, honest = given.batches[worker], answers[worker]
            assert honest is not None
            omits = batch["height"].isin(common) | (rng.random(len(batch)) < CAMPAIGN.omission)
            honest[RESULT] = honest[RESULT].mask(omits, "low")
        try:
            judgement = scheme.verify(given.key, answers)
        except OmittedWork as error:
            judgement = error.judgement
        framed = sorted(set(judgement.accused_workers) - set(idle))
        if framed:
            problems.append(f"campaign {seed}: workers {framed} are accused, {idle} collude")
    _refuse_problems(problems, "honest workers are accused because most of the others agree")


def check_missing_answers_are_noticed(subject: "WorkCheckConformance") -> None:
    """An answer that is missing, repeated or to no job, and a silent worker, are noticed."""
    scheme, rng = subject.work_check(), np.random.default_rng(5)
    _, given = assign_campaign(scheme, rng)
    honest = answer_batches(given.batches, 0, 0.0, rng)
    first = honest[0]
    assert first is not None
    changes = {
        "an answer is missing": first.iloc[1:],
        "an answer is repeated": pd.concat([first, first.iloc[:1]]),
        "an answer to no job": pd.concat(
            [first, pd.DataFrame({JOB: ["unknown"], RESULT: ["low"]})]
        ),
        "nothing came back": None,
    }
    problems = []
    for name, changed in changes.items():
        try:
            scheme.verify(given.key, [changed, *honest[1:]])
        except OmittedWork:
            continue
        except Exception as error:
            problems.append(f"{name}: {type(error).__name__}: {error}")
        else:
            problems.append(f"{name}: verified")
    _refuse_problems(problems, "a hole in the answers was not noticed, or not with an OmittedWork")


def check_omitted_work_is_noticed(subject: "WorkCheckConformance") -> None:
    """Omitted work is noticed at least as often as `size` states, within chance."""
    scheme, caught, rows = subject.work_check(), 0, given_rows()
    stated = 1 - scheme.size(CAMPAIGN).undetected
    for seed in range(subject.trials):
        rng = np.random.default_rng(seed)
        _, given = assign_campaign(scheme, rng, rows)
        answers = answer_batches(given.batches, CAMPAIGN.lazy, CAMPAIGN.omission, rng)
        try:
            scheme.verify(given.key, answers)
        except OmittedWork:
            caught += 1
    slack = 4 * (subject.trials * stated * (1 - stated)) ** 0.5
    assert caught >= subject.trials * stated - slack, (
        f"noticed {caught} of {subject.trials} omissions; {stated} is stated"
    )


_CHECKS: tuple[Callable[[Any], None], ...] = (
    check_all_work_is_assigned,
    check_honest_work_passes,
    check_a_colluding_majority_frames_nobody,
    check_missing_answers_are_noticed,
    check_omitted_work_is_noticed,
)
WorkCheckConformance.checks = (*IntegrityConformance.common_checks, *_CHECKS)
