"""Dask: each batch at its own worker, dead and lying workers survived, lazy ones named."""

import os
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import cloudpickle
import distributed
import numpy as np
import pandas as pd
import pytest

from anonloom.errors import PluginError, UsageError
from anonloom_sentinels_twins import dask_executor
from anonloom_sentinels_twins.dask_executor import BehaviourWork, execute
from anonloom_sentinels_twins.scheme import SentinelsTwins
from anonloom_sentinels_twins.work_check import JOB, RESULT, Campaign, OmittedWork
from anonloom_sentinels_twins.workers import Opportunistic

CLASSES = ("low", "middle", "high")


def classified(rows):
    score = rows["age"].to_numpy() + rows["weight"].to_numpy()
    return np.array(CLASSES)[np.searchsorted([110, 150], score)]


def people(number, rng):
    return pd.DataFrame(
        {"age": rng.integers(18, 90, number), "weight": np.round(rng.normal(70, 12, number), 1)}
    )


@contextmanager
def cluster(workers):
    with (
        # Port 0: whoever tests beside us has a dashboard's port already.
        distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=False, dashboard_address=":0"
        ) as result,
        distributed.Client(result, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def client():
    with cluster(4) as result:
        yield result


def batches(number=4, rows=30):
    rng = np.random.default_rng(1)
    return [
        people(rows, rng).assign(**{JOB: [f"{n}-{index}" for index in range(rows)]})
        for n in range(number)
    ]


def where(rows):
    """Return where it runs."""
    return [distributed.get_worker().address] * len(rows)


def test_answers_are_those_of_the_work_in_whatever_pieces(client):
    made = batches()
    for piece in (7, 30, 1000):
        result = execute(made, classified, client, piece=piece)
        for batch, answers in zip(made, result, strict=True):
            expected = dict(zip(batch[JOB], classified(batch), strict=True))
            assert expected == dict(zip(answers[JOB], answers[RESULT], strict=True))


def test_every_batch_is_done_by_its_own_worker_and_by_no_other(client):
    addresses = sorted(client.scheduler_info(n_workers=-1)["workers"])
    result = execute(batches(), where, client, piece=4)
    assert [{address} for address in addresses] == [set(item[RESULT]) for item in result]
    result = execute(batches(), where, client, addresses=addresses[::-1])
    assert [{address} for address in addresses[::-1]] == [set(item[RESULT]) for item in result]


def test_the_same_rows_are_computed_again_each_time(client):
    """Dask remembers results of equal calls: a twin must not be answered from memory."""
    batch = batches(1)[0]
    first, second = (execute([batch], noise, client)[0] for _ in range(2))
    assert first[RESULT].tolist() != second[RESULT].tolist()


def noise(rows):
    return np.random.default_rng().random(len(rows))


def test_types_of_results_survive(client):
    batch = batches(1, rows=3)[0]
    (result,) = execute([batch], lambda rows: pd.Series([1.5, None, 2.0]), client)
    assert [1.5, None, 2.0] == result[RESULT].tolist()
    (result,) = execute([batch], lambda rows: np.array([True, False, True]), client)
    assert [True, False, True] == result[RESULT].tolist()
    (result,) = execute([batch], lambda rows: ["a", None, "ü"], client)
    assert ["a", None, "ü"] == result[RESULT].tolist()


def broken(rows):
    raise ValueError("a cell of the rows")


def half(rows):
    if rows["age"].sum() % 2:
        raise ValueError("a cell of the rows")
    return classified(rows)


def test_a_worker_that_fails_gives_no_answers_and_its_words_are_not_passed_on(client):
    texts = []
    made = batches()
    result = execute(
        made, [classified, broken, classified, half], client, piece=3, tell=texts.append
    )
    assert [True, False, True] == [item is not None for item in result[:3]]
    assert 0 < len(result[3]) < len(made[3])
    assert {"worker 2 failed on 3 rows or fewer", "worker 4 failed on 3 rows or fewer"} == set(
        texts
    )


class Lying:
    """Says something else than it was asked for: replaces what runs at the worker."""

    def __init__(self, said):
        self.said = said

    def __call__(self, work, jobs):
        return self.said


@pytest.mark.parametrize(
    "said",
    [
        None,
        7,
        b"",
        b"\xff",
        b"[]",
        b"3",
        b'{"job": []}',
        b'{"job": ["a"], "result": []}',
        b"[" * 10**5,
    ],
    ids=["none", "number", "empty", "bytes", "list", "scalar", "half", "uneven", "deep"],
)
def test_whatever_a_worker_sends_is_survived(said, client, monkeypatch):
    monkeypatch.setattr(dask_executor, "answer", Lying(said))
    texts = []
    assert (None,) == execute(batches(1), classified, client, tell=texts.append)
    assert ["worker 1 sent something else than answers"] == texts


class Unpacked:
    """Cannot be taken out of its package."""

    status = "finished"

    def result(self, timeout):
        raise TypeError("a cell of the rows")


def test_what_cannot_be_unpacked_is_no_answer():
    future = Unpacked()
    line = dask_executor._Line(number=0, address="", work=classified, pieces=[], open={future: 0.0})
    assert "worker 1 sent something else than answers" == line.take(future)
    assert line.answers() is None


def test_answers_that_were_not_asked_for_are_left_to_the_judge(client, monkeypatch):
    monkeypatch.setattr(dask_executor, "answer", Lying(b'{"job": [1, "x"], "result": [{}, null]}'))
    (result,) = execute(batches(1), classified, client)
    assert {JOB: ["1", "x"], RESULT: ["{}", None]} == result.to_dict("list")


def slow(rows):
    time.sleep(1.5)
    return classified(rows)


def test_a_worker_that_keeps_others_waiting_is_given_up(client):
    texts = []
    result = execute(batches(2), [classified, slow], client, patience=0.2, tell=texts.append)
    assert [True, False] == [item is not None for item in result]
    assert ["worker 2 did not answer within 0.2 seconds"] == texts


def dying(rows):
    worker = distributed.get_worker()
    worker.loop.add_callback(worker.close, nanny=False, executor_wait=False)
    time.sleep(0.5)
    return classified(rows)


def test_a_worker_that_dies_gives_no_answers_and_the_others_go_on():
    texts = []
    with cluster(3) as client:
        addresses = sorted(client.scheduler_info(n_workers=-1)["workers"])
        works = [classified, dying, classified]
        result = execute(batches(3), works, client, addresses=addresses, tell=texts.append)
        assert [True, False, True] == [item is not None for item in result]
        assert ["worker 2 is gone"] == texts
        # It is gone already before anything is sent.
        result = execute(batches(3), classified, client, addresses=addresses)
        assert [True, False, True] == [item is not None for item in result]


def killed(rows):
    os._exit(1)


class Packed:
    """An answer that runs a command where it is unpacked."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


class Packing:
    """Makes such an answer at the worker: on the way there it would run the command, too."""

    def __init__(self, path):
        self.path = path

    def __call__(self, work, jobs):
        return Packed(self.path)


class ByValue:
    """A function that travels as its code: processes of workers cannot import this module."""

    def __init__(self, function):
        self.code = cloudpickle.dumps(function)

    def __reduce__(self):
        return cloudpickle.loads, (self.code,)

    def __call__(self, *arguments):
        raise AssertionError("it is called by workers only")


def test_workers_in_processes_of_their_own_die_and_attack_and_the_others_go_on(
    tmp_path, monkeypatch
):
    """As the README says: `deserializers` keep the client from unpacking what an answer is."""
    text, mark = [], tmp_path / "unpacked"
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    try:
        with (
            distributed.LocalCluster(
                n_workers=3, threads_per_worker=1, dashboard_address=":0"
            ) as result,
            distributed.Client(
                result, set_as_default=False, deserializers=["dask", "msgpack"]
            ) as client,
        ):
            made, working = batches(3), ByValue(classified)
            works = [working, ByValue(killed), working]
            answers = execute(made, works, client, tell=text.append)
            assert [30, None, 30] == [None if answer is None else len(answer) for answer in answers]
            assert ["worker 2 is gone"] == text
            monkeypatch.setattr(dask_executor, "answer", ByValue(Packing(mark)))
            assert (None,) == execute(made[:1], working, client, tell=text.append)
            assert "worker 1 sent something else than answers" == text[-1]
    finally:
        cloudpickle.unregister_pickle_by_value(sys.modules[__name__])
    assert not mark.exists()


def test_only_rows_and_names_of_jobs_leave(client, monkeypatch):
    sent = []
    original = type(client).submit

    def submit(self, function, *arguments, **options):
        sent.append((function, arguments, options))
        return original(self, function, *arguments, **options)

    monkeypatch.setattr(type(client), "submit", submit)
    made = assigned(200)
    execute(made.batches, classified, client)
    assert 4 == len(sent)
    for function, (work, jobs), options in sent:
        assert (dask_executor.answer, classified) == (function, work)
        assert [JOB, "age", "weight"] == list(jobs.columns)
        assert {"workers", "allow_other_workers", "pure", "retries"} == set(options)
        assert (False, False) == (options["allow_other_workers"], options["pure"])


def assigned(rows, budget=60):
    rng = np.random.default_rng(3)
    jobs, known = people(rows, rng), people(2000, rng)
    known[RESULT] = classified(known)
    shares = known[RESULT].value_counts(normalize=True).sort_index()
    campaign = Campaign(
        jobs=rows, workers=4, lazy=1, omission=0.3, classes=shares.tolist(), budget=budget
    )
    scheme = SentinelsTwins(likeness=False)
    return scheme.assign(jobs, known, campaign, scheme.size(campaign), rng)


def test_100_000_rows_are_classified_and_the_lazy_worker_is_named(client):
    made = assigned(100_000, budget=400)
    scheme = SentinelsTwins(likeness=False)
    honest = scheme.verify(made.key, execute(made.batches, classified, client, piece=10_000))
    rows = people(100_000, np.random.default_rng(3))
    assert classified(rows).tolist() == honest.results.tolist()
    assert not honest.distrusted.any()
    lazy = BehaviourWork(classified, Opportunistic(0.3), ("middle", "high", "low"))
    answers = execute(
        made.batches, [classified, classified, lazy, classified], client, piece=10_000
    )
    with pytest.raises(OmittedWork) as caught:
        scheme.verify(made.key, answers)
    judgement = caught.value.judgement
    assert (2,) == judgement.accused_workers
    trusted = ~judgement.distrusted
    assert classified(rows)[trusted].tolist() == judgement.results[trusted].tolist()
    assert trusted.sum() > 70_000


def test_fewer_workers_than_batches_are_refused(client):
    for more, message in (
        ({"batches": batches(5)}, "there are 5 batches and 4 dask workers"),
        (
            {"batches": batches(2), "addresses": ["a", "a"]},
            "2 batches need as many addresses, each another one",
        ),
        ({"batches": batches(2), "work": [classified]}, "there are 2 batches and 1 functions"),
        ({"batches": batches(2), "piece": 0}, "piece must be at least 1. Got 0 instead."),
    ):
        with pytest.raises(UsageError) as caught:
            execute(**{"work": classified, "client": client, **more})
        assert message == str(caught.value)


def test_without_dask_it_is_said_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(PluginError) as caught:
        execute(batches(1), classified, None)
    assert (
        "dask is not installed\n    Install it: pip install 'anonloom-sentinels-twins[dask]'"
    ) == str(caught.value)
