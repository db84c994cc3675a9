"""The kit of work checks: schemes that keep their promises, and those that break one."""

import sys
import types

import attrs
import numpy as np
import pandas as pd
import pytest

from anonloom import Registry, param
from anonloom.api import Method, hookimpl
from anonloom_sentinels_twins.testing import (
    CAMPAIGN,
    WorkCheckConformance,
    check_all_work_is_assigned,
    check_honest_work_passes,
    check_missing_answers_are_noticed,
    rows_of,
)
from anonloom_sentinels_twins.work_check import (
    JOB,
    RESULT,
    Assignment,
    Judgement,
    OmittedWork,
    Sizing,
    WorkCheck,
    WorkerEvidence,
)
from anonloom_testing import run_checks


@attrs.frozen(kw_only=True)
class Controls(WorkCheck):
    """Mixes rows of known result among the others, the same number for every worker."""

    controls: int = param(help="How many per worker.", default=5)

    def size(self, campaign):
        passes = 1 - campaign.omission * (1 - max(campaign.classes))
        return Sizing(
            controls={"known": self.controls * campaign.workers},
            undetected=passes ** (self.controls * campaign.lazy),
        )

    def assign(self, jobs, known, campaign, sizing, rng):
        worker = rng.permutation(len(jobs)) % campaign.workers
        drawn = known.sample(sizing.extra, random_state=rng)
        batches, key = [], {"rows": {}, "controls": {}, "asked": [], "count": len(jobs)}
        for index in range(campaign.workers):
            rows = np.flatnonzero(worker == index)
            controls = drawn.iloc[index :: campaign.workers]
            names = [rng.bytes(8).hex() for _ in range(len(rows) + len(controls))]
            key["rows"] |= dict(zip(names, rows.tolist(), strict=False))
            key["controls"] |= dict(zip(names[len(rows) :], controls[RESULT], strict=True))
            key["asked"].append(set(names))
            batch = pd.concat([jobs.iloc[rows], controls[list(jobs.columns)]])
            batches.append(batch.assign(**{JOB: names})[[JOB, *jobs.columns]])
        return Assignment(batches=tuple(batches), key=key)

    def verify(self, key, answers):
        workers, results = [], [None] * key["count"]
        for worker, (answer, asked) in enumerate(zip(answers, key["asked"], strict=True)):
            found = [] if answer is None else list(zip(answer[JOB], answer[RESULT], strict=True))
            wrong = sum(job in key["controls"] and key["controls"][job] != r for job, r in found)
            for job, result in found:
                if job in key["rows"]:
                    results[key["rows"][job]] = result
            names = [job for job, _ in found]
            workers.append(
                WorkerEvidence(
                    worker=worker,
                    jobs=len(asked),
                    missing=len(asked - set(names)),
                    strange=len(names) - len(asked & set(names)),
                    controls={"known": (wrong, self.controls)},
                    lazy=float(wrong > 0),
                    accused=wrong > 0,
                )
            )
        return self.judged(tuple(workers), results)

    def judged(self, workers, results):
        judgement = Judgement(
            workers=workers,
            results=pd.Series(results),
            distrusted=np.zeros(len(results), bool),
            prior="none",
        )
        if judgement.accused_workers or any(worker.missing or worker.strange for worker in workers):
            raise OmittedWork("some work was not done", judgement)
        return judgement


class Boasts(Controls):
    def size(self, campaign):
        return attrs.evolve(super().size(campaign), undetected=0.0001)


class Forgets(Controls):
    """Sends a row less than it was given."""

    def assign(self, jobs, known, campaign, sizing, rng):
        given = super().assign(jobs.iloc[1:], known, campaign, sizing, rng)
        return attrs.evolve(given, key=given.key | {"count": len(jobs)})


class Overlooks(Controls):
    """Does not count the answers."""

    def judged(self, workers, results):
        workers = tuple(attrs.evolve(worker, missing=0, strange=0) for worker in workers)
        return super().judged(workers, results)


class Frames(Controls):
    """Accuses the first worker, whatever he did."""

    def judged(self, workers, results):
        return super().judged((attrs.evolve(workers[0], accused=True), *workers[1:]), results)


class Votes(Controls):
    """Takes the side of the many: where most workers failed a control, accuses the others."""

    def judged(self, workers, results):
        failed = [worker.accused for worker in workers]
        if 2 * sum(failed) > len(workers):
            workers = tuple(attrs.evolve(worker, accused=not worker.accused) for worker in workers)
        return super().judged(workers, results)


class Muddles(Controls):
    """Leaves the last worker out, numbers jobs by batch, and tells the first one its own column."""

    def assign(self, jobs, known, campaign, sizing, rng):
        given = super().assign(jobs, known, campaign, sizing, rng)
        batches = [batch.assign(**{JOB: range(len(batch))}) for batch in given.batches[:-1]]
        batches[0] = batches[0].assign(worker=1)
        return attrs.evolve(given, batches=tuple(batches))


class Stumbles(Controls):
    """Verifies in silence what it suspects, and fails where a worker sent nothing."""

    def verify(self, key, answers):
        if answers[0] is None:
            raise KeyError("answers")
        return super().verify(key, answers)

    def judged(self, workers, results):
        return Judgement(
            workers=(attrs.evolve(workers[0], accused=True), *workers[1:]),
            results=pd.Series(results),
            distrusted=np.zeros(len(results), bool),
            prior="none",
        )


class FewTrials(WorkCheckConformance):
    trials = 60


def failed_checks(cls):
    """Return the names of the checks that a class fails."""
    # The folder's name cannot be part of a module's name.
    cls.__module__ = "work_check_toys"
    sys.modules["work_check_toys"] = sys.modules[__name__]
    target = f"work_check_toys:{cls.__name__}"
    method = Method(name="toy", target=target, summary="A toy.", reads=())
    plugin = types.SimpleNamespace(
        ANONLOOM_API=2, anonloom_register_integrity_schemes=hookimpl(lambda: [method])
    )
    registry = Registry.empty()
    assert registry.register(plugin, distribution="toys"), registry.broken
    attributes = {
        "method": cls,
        "registry": registry,
        "hook_module": "anonloom_sentinels_twins.plugin",
    }
    results = type("Subject", (FewTrials,), attributes)().results()
    return [result.check for result in results if not result.good]


@pytest.mark.parametrize(
    ("method", "failed"),
    [
        (Controls, []),
        (Boasts, ["check_omitted_work_is_noticed"]),
        (Forgets, ["check_all_work_is_assigned", "check_honest_work_passes"]),
        (Overlooks, ["check_missing_answers_are_noticed"]),
        (
            Frames,
            [
                "check_copes_with_every_table",
                "check_honest_work_passes",
                "check_a_colluding_majority_frames_nobody",
            ],
        ),
        (Votes, ["check_a_colluding_majority_frames_nobody"]),
    ],
)
def test_a_work_check_keeps_its_promises(method, failed):
    assert failed == failed_checks(method)


def problems_of(check, cls):
    """Return the text with which a check fails."""
    with pytest.raises(AssertionError) as caught:
        check(type("Subject", (FewTrials,), {"method": cls})())
    return str(caught.value).splitlines()


def test_what_is_wrong_with_batches_is_said():
    promise, *problems = problems_of(check_all_work_is_assigned, Muddles)
    assert "the batches are not what was planned:" == promise
    assert [
        f"{CAMPAIGN.workers - 1} batches for {CAMPAIGN.workers} workers",
        f"worker 0: the columns are job, {', '.join(rows_of(1, 1).columns)}, worker",
    ] == problems[:2]
    assert "two jobs have one name" == problems[3]


def test_who_is_accused_though_honest_is_said_also_where_the_work_verifies():
    assert [
        "honest work was not accepted as it is:",
        "campaign 0: workers (0,) are accused",
        "campaign 1: workers (0,) are accused",
    ] == problems_of(check_honest_work_passes, Stumbles)[:3]


def test_another_error_than_omitted_work_is_said():
    assert [
        "a hole in the answers was not noticed, or not with an OmittedWork:",
        "an answer is missing: verified",
        "an answer is repeated: verified",
        "an answer to no job: verified",
        "nothing came back: KeyError: 'answers'",
    ] == problems_of(check_missing_answers_are_noticed, Stumbles)


@pytest.mark.long
def test_the_command_that_checks_plugins_uses_these_checks():
    parameters = {"likeness": False}
    results = run_checks("integrity", "sentinels-twins", params=parameters)
    assert "check_omitted_work_is_noticed" in [result.check for result in results]
    assert [] == [result for result in results if not result.good]
