"""What each sort of worker answers, on arrays and on real batches."""

import numpy as np
import pandas as pd
import pytest

from anonloom.errors import UsageError
from anonloom_sentinels_twins.assignment import assign
from anonloom_sentinels_twins.sizing import size
from anonloom_sentinels_twins.work_check import JOB, RESULT, Campaign
from anonloom_sentinels_twins.workers import (
    BEHAVIOURS,
    Collusive,
    Honest,
    Jobs,
    Lazy,
    Malicious,
    Opportunistic,
    Proxy,
    answers,
)

CLASSES = np.asarray(["red", "green", "blue"], dtype=object)


def jobs(shape, seed=0, **known):
    truth = np.random.default_rng(seed).choice(CLASSES, size=shape, p=[0.6, 0.3, 0.1])
    return Jobs(truth=truth, classes=CLASSES, **known)


def test_an_honest_worker_answers_the_truth():
    given = jobs((4, 50))
    assert given.truth.tolist() == Honest().answer(given, np.random.default_rng(1)).tolist()


@pytest.mark.parametrize("kind", [Opportunistic, Lazy, Malicious, Collusive])
@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_exactly_the_share_of_every_batch_is_omitted(kind, share):
    given = jobs((7, 40))
    omitted = kind(share, exactly=True).omits(given, np.random.default_rng(2))
    assert [round(share * 40)] * 7 == omitted.sum(axis=1).tolist()


@pytest.mark.parametrize("kind", [Opportunistic, Lazy, Malicious, Collusive])
def test_each_job_is_omitted_with_the_share(kind):
    omitted = kind(0.3).omits(jobs(40_000), np.random.default_rng(3))
    # Five standard deviations.
    assert 0.3 == pytest.approx(omitted.mean(), abs=5 * np.sqrt(0.21 / 40_000))


def test_omission_is_blind():
    """The share omitted is the same in every class."""
    given = jobs(60_000)
    omitted = Opportunistic(0.3).omits(given, np.random.default_rng(4))
    for item in CLASSES:
        of = given.truth == item
        assert 0.3 == pytest.approx(omitted[of].mean(), abs=5 * np.sqrt(0.21 / of.sum()))


def test_opportunistic_workers_answer_the_most_frequent_class():
    answers = Opportunistic(1.0).answer(jobs(30), np.random.default_rng(5))
    assert ["red"] * 30 == answers.tolist()


def test_lazy_workers_answer_every_class_as_often():
    answers = Lazy(1.0).answer(jobs(30_000), np.random.default_rng(6))
    counts = pd.Series(answers).value_counts()
    assert {"red", "green", "blue"} == set(counts.index)
    assert all(abs(count - 10_000) < 5 * np.sqrt(30_000 * 2 / 9) for count in counts)


def test_malicious_workers_are_wrong_whenever_they_mean_to_be():
    given = jobs((20, 30))
    answers = Malicious(1.0).answer(given, np.random.default_rng(7))
    assert not (answers == given.truth).any()
    assert set(answers.ravel()) <= set(CLASSES)


def test_a_malicious_worker_has_an_answer_to_results_nobody_expected():
    given = Jobs(truth=np.asarray(["grey"] * 9, dtype=object), classes=CLASSES)
    assert set(Malicious(1.0).answer(given, np.random.default_rng(8))) <= set(CLASSES)


def test_colluding_workers_omit_what_they_have_in_common_and_answer_it_alike():
    common = np.arange(50) % 5 == 0
    given = jobs(50, common=common)
    answers = Collusive(0.0).answer(given, np.random.default_rng(9))
    assert ["red"] * 10 == answers[common].tolist()
    assert given.truth[~common].tolist() == answers[~common].tolist()


def test_proxy_workers_answer_with_the_model_where_it_is_sure():
    guess = np.asarray(["blue"] * 6, dtype=object)
    sure = np.asarray([0.95, 0.9, 0.89, 0.0, 1.0, 0.5])
    given = jobs(6, guess=guess, sure=sure)
    answers = Proxy(0.9).answer(given, np.random.default_rng(10))
    assert np.where(sure >= 0.9, guess, given.truth).tolist() == answers.tolist()


def test_a_proxy_without_a_model_is_refused():
    with pytest.raises(UsageError) as refused:
        Proxy().answer(jobs(3), np.random.default_rng(0))
    assert "a proxy worker needs a cheap model" == str(refused.value)
    # How sure the model is does not say what it guesses.
    with pytest.raises(UsageError) as refused:
        Proxy().answer(jobs(3, sure=np.ones(3)), np.random.default_rng(0))
    assert "a proxy worker needs a cheap model" == str(refused.value)


def test_a_share_outside_0_and_1_is_refused():
    with pytest.raises(UsageError) as refused:
        Lazy(1.5)
    assert "share of a worker must lie between 0 and 1, not 1.5" == str(refused.value)
    with pytest.raises(UsageError) as refused:
        Proxy(-0.5)
    assert "least of a worker must lie between 0 and 1, not -0.5" == str(refused.value)


def test_every_behaviour_has_a_name_for_commands():
    expected = ["honest", "lazy", "opportunistic", "malicious", "colluding", "proxy"]
    assert expected == list(BEHAVIOURS)


def work(rows):
    return np.where(rows["x"] + rows["y"] > 1, "high", "low")


def frames(*batches):
    return tuple(
        pd.DataFrame({JOB: [f"{w}-{i}" for i in range(len(rows))], "x": rows, "y": 0.5})
        for w, rows in enumerate(batches)
    )


def test_real_batches_are_answered_job_by_job():
    batches = frames([0.1, 0.9], [0.2, 0.8, 0.6])
    sent = answers(
        batches, [Honest(), Opportunistic(1.0)], work, ["low", "high"], np.random.default_rng(0)
    )
    assert [{JOB: "0-0", RESULT: "low"}, {JOB: "0-1", RESULT: "high"}] == sent[0].to_dict("records")
    assert ["low"] * 3 == sent[1][RESULT].tolist()
    assert batches[1][JOB].tolist() == sent[1][JOB].tolist()


def test_only_rows_that_another_of_the_group_has_are_common():
    batches = frames([0.7, 0.8, 0.9, 0.9], [0.8, 0.95], [0.7, 0.99])
    group = [Collusive(0.0), Collusive(0.0), Honest()]
    sent = answers(batches, group, work, ["low", "high"], np.random.default_rng(0))
    # 0.7 is shared with an honest worker, and 0.9 is twice in one batch: neither is recognised.
    assert ["high", "low", "high", "high"] == sent[0][RESULT].tolist()
    assert ["low", "high"] == sent[1][RESULT].tolist()
    assert ["high", "high"] == sent[2][RESULT].tolist()


def test_equal_rows_are_recognised_with_missing_cells_and_text():
    one = pd.DataFrame({JOB: ["a"], "x": [np.nan], "y": ["é"]})
    sent = answers(
        (one, one.assign(**{JOB: ["b"]})),
        [Collusive(0.0)] * 2,
        lambda rows: ["high"] * len(rows),
        ["low", "high"],
        np.random.default_rng(0),
    )
    assert ["low", "low"] == [frame[RESULT].item() for frame in sent]


def test_an_empty_batch_has_no_answers():
    sent = answers(
        frames([], [0.3]), [Proxy(), Lazy()], work, ["low", "high"], np.random.default_rng(0)
    )
    assert [0, 1] == [len(frame) for frame in sent]
    assert [JOB, RESULT] == list(sent[0].columns)


def test_the_cheap_model_is_asked_for_rows_without_the_name_of_the_job():
    asked = []

    def model(rows):
        asked.append(list(rows.columns))
        return ["low"] * len(rows), np.where(rows["x"] > 0.5, 1.0, 0.0)

    batches = frames([0.4, 0.6], [0.7])
    sent = answers(
        batches,
        [Proxy(0.9), Honest()],
        work,
        ["low", "high"],
        np.random.default_rng(0),
        model=model,
    )
    assert [["x", "y"]] * 2 == asked
    assert [["low", "low"], ["high"]] == [frame[RESULT].tolist() for frame in sent]


@pytest.mark.parametrize("lazy", [Opportunistic(0.2), Opportunistic(0.2, exactly=True)])
def test_the_stated_probability_holds_for_batches_as_the_scheme_places_them(lazy):
    """Real placements, real answers: the controls are compared here, apart from the scheme."""
    rng = np.random.default_rng(21)
    campaign = Campaign(jobs=120, workers=6, lazy=2, omission=0.2, classes=(0.6, 0.4), budget=18)
    sizing = size(campaign)
    runs, missed = 150, 0
    for _ in range(runs):
        rows = pd.DataFrame({"x": rng.random(220), "y": rng.random(220) * 0.9})
        known = rows[120:].assign(**{RESULT: work(rows[120:])})
        made = assign(rows[:120], known, campaign, sizing, rng, {})
        behaviours = [lazy if w < 2 else Honest() for w in range(6)]
        sent = pd.concat(answers(made.batches, behaviours, work, ["low", "high"], rng))
        cells = pd.concat(made.batches)
        results = sent[RESULT].to_numpy()
        # Sentinels and twins are checked with the truth and with each other.
        held = cells.assign(said=results, right=work(cells))
        genuine = held["x"].isin(rows["x"][:120])
        failed = (held["said"] != held["right"])[~genuine].any()
        differ = (held[genuine].groupby("x")["said"].nunique() > 1).any()
        missed += not (failed or differ)
    # Three standard deviations above what is stated.
    limit = sizing.undetected + 3 * np.sqrt(sizing.undetected * (1 - sizing.undetected) / runs)
    assert 0.1 < sizing.undetected < 0.9
    assert missed / runs <= limit
