"""Evidence, accusations, and which results to rely on."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom.errors import UsageError
from anonloom_sentinels_twins.assignment import assign
from anonloom_sentinels_twins.key import NONE
from anonloom_sentinels_twins.verdicts import Rules, verify
from anonloom_sentinels_twins.work_check import Campaign, Dispute, OmittedWork, Sizing

NAMES = np.array(["a", "b", "c"], dtype=object)
RULES = Rules(accuse_at=None, level=0.01, prior=None)


def rows(count, start=0):
    return pd.DataFrame({"x": np.arange(start, start + count)})


def result_of(frame):
    return NAMES[frame["x"].to_numpy() % 3]


class Sent:
    """A campaign that was sent, and honest answers to it."""

    def __init__(
        self, jobs=60, workers=4, sentinels=12, twins=24, seed=1, disguise=None, error=0.0
    ):
        known = rows(90, 100_000)
        known["result"] = result_of(known)
        campaign = Campaign(
            jobs=jobs,
            workers=workers,
            lazy=1,
            omission=0.2,
            classes=(1 / 3, 1 / 3, 1 / 3),
            budget=sentinels + twins,
            error=error,
        )
        sizing = Sizing(controls={"sentinels": sentinels, "twins": twins}, undetected=0.123)
        given = assign(
            rows(jobs), known, campaign, sizing, np.random.default_rng(seed), disguise or {}
        )
        self.key, self.jobs = given.key, rows(jobs)
        self.answers = [
            pd.DataFrame({"job": batch["job"], "result": result_of(batch)})
            for batch in given.batches
        ]

    def change(self, places, result="wrong"):
        """Change the answers to these jobs of the key."""
        for place in np.atleast_1d(places):
            answers = self.answers[self.key.worker[place]]
            answers.loc[answers["job"] == self.key.job[place], "result"] = result

    def judged(self, rules=RULES):
        """Return the judgement, whether or not it was raised."""
        try:
            return verify(self.key, self.answers, rules)
        except OmittedWork as error:
            return error.judgement

    def raised(self, rules=RULES):
        with pytest.raises(OmittedWork) as caught:
            verify(self.key, self.answers, rules)
        return caught.value


def test_honest_work_is_returned_in_the_rows_order():
    sent = Sent()
    judgement = verify(
        sent.key, [answer.sample(frac=1, random_state=1) for answer in sent.answers], RULES
    )
    assert list(judgement.results) == list(result_of(sent.jobs))
    assert not judgement.distrusted.any()
    assert () == judgement.accused_workers
    for worker, item in enumerate(judgement.workers):
        own = sent.key.jobs_of(worker)
        assert (worker, len(own), 0, 0, False, ()) == (
            item.worker,
            item.jobs,
            item.missing,
            item.strange,
            item.accused,
            item.reasons,
        )
        assert {"sentinels": (0, 3), "twins": (0, 12)} == item.controls
        assert item.lazy < 0.25
    assert judgement.prior == (
        "every worker on its own omits work with probability 0.25; whoever does omits one of the "
        "shares 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 1 of its jobs, each as probable"
    )


def test_what_passing_covers_is_said_and_what_not():
    judgement = Sent().judged()
    assert judgement.covers == (
        "completeness: every job has one answer, and there are no others",
        "correctness: if 1 of 4 workers omit 20.0% of their jobs, blindly, this goes unnoticed "
        "with a probability of at most 0.123; honest work fails no control",
        "freshness: the answers name jobs of this campaign, so they are no old file",
    )
    assert judgement.does_not_cover == (
        "workers who omit what they can guess well, such as with a cheap model of their own: the "
        "probabilities are for blind omission",
        "who of two workers is to blame for a twin that differs: sentinels alone accuse, and where "
        "they leave it open both are distrusted",
        "whether an old computation was used again: only sentinels that no worker has seen before "
        "show that anything was computed now",
        "workers who compare their jobs, unless they are declared as one group: what two of them "
        "share and answer alike is not noticed",
    )
    disguised = Sent(disguise={"x": 3}).judged()
    assert disguised.does_not_cover[-1] == (
        "whether the small changes of disguised twins leave their results as they are: the client "
        "says so"
    )
    tolerant = Sent(error=0.1).judged()
    assert tolerant.covers[1].endswith(
        "honest work fails the tests with a probability of at most 0.01"
    )


def test_a_failed_sentinel_is_proof():
    sent = Sent()
    place = np.flatnonzero(sent.key.row == NONE)[0]
    worker = int(sent.key.worker[place])
    sent.change(place)
    error = sent.raised()
    judgement = error.judgement
    assert (worker,) == judgement.accused_workers
    assert 1.0 == judgement.workers[worker].lazy
    assert (1, 3) == judgement.workers[worker].controls["sentinels"]
    distrusted = int(judgement.distrusted.sum())
    assert str(error) == (
        "some work was not done as asked: 1 of 12 sentinels failed\n"
        f"    worker {worker + 1} is accused: 1 of 3 sentinels failed\n"
        f"    distrust {distrusted} of 60 results"
    )
    # All that this worker alone answered is distrusted; what another confirms is not.
    key = sent.key
    alone = key.row[(key.worker == worker) & (key.row != NONE)]
    alone = alone[~np.isin(alone, key.row[key.copy])]
    assert sorted(alone) == list(np.flatnonzero(judgement.distrusted))


def test_a_lone_twin_that_differs_accuses_nobody():
    sent = Sent()
    first, second = sent.key.pairs()[0]
    sent.change(second)
    error = sent.raised()
    row = sent.key.row[first]
    assert () == error.judgement.accused_workers
    workers = [error.judgement.workers[sent.key.worker[place]] for place in (first, second)]
    assert workers[0].lazy == pytest.approx(workers[1].lazy)
    assert workers[0].lazy >= 0.5
    # One of the two omits work: what only one of them says is not relied on; what both say alike,
    # who contradict each other elsewhere, is.
    key = sent.key
    others = ~np.isin(key.worker, key.worker[[first, second]])
    shared = [set(key.row[key.worker == key.worker[place]]) for place in (first, second)]
    both = (shared[0] & shared[1]) - {row, NONE}
    expected = sorted((set(range(60)) - set(key.row[others]) | {row}) - both)
    assert expected == list(np.flatnonzero(error.judgement.distrusted))
    assert [
        (
            "1 of 12 twins differ from another worker's answer",
            "no sentinel tells whether it or who contradicts it omits work",
        )
    ] * 2 == [worker.reasons for worker in workers]
    assert [True, True] == [worker.disputed for worker in workers]
    one, other = sorted(key.worker[[first, second]] + 1)
    assert str(error) == (
        "some work was not done as asked: 1 of 24 twins differ\n"
        "    the evidence is not enough to accuse any one worker\n"
        f"    worker {one} and worker {other} contradict each other, and no control tells who of "
        "them omits work: this accuses nobody\n"
        f"    distrust {len(expected)} of 60 results"
    )


@pytest.mark.parametrize("seed", range(20))
def test_of_two_workers_who_differ_at_least_one_is_not_relied_on(seed):
    """Whoever is to blame: what such a worker alone says is distrusted, accused or not."""
    rng = np.random.default_rng(seed)
    sent = Sent(sentinels=3, twins=int(rng.integers(1, 40)), seed=seed)
    key, pairs = sent.key, sent.key.pairs()
    sent.change(rng.choice(pairs.ravel(), int(rng.integers(1, 4)), replace=False))
    judgement = sent.raised().judgement
    results = pd.concat(sent.answers).set_index("job")["result"]
    twinned = np.isin(key.row, key.row[key.copy])
    for first, second in pairs:
        if results[key.job[first]] != results[key.job[second]]:
            alone = [
                key.row[(key.worker == key.worker[place]) & (key.row != NONE) & ~twinned]
                for place in (first, second)
            ]
            assert judgement.distrusted[key.row[first]]
            assert any(judgement.distrusted[rows].all() for rows in alone)


def test_of_twins_that_differ_the_less_suspect_worker_is_believed():
    sent = Sent()
    pairs = sent.key.pairs()
    culprit = 2
    for first, second in pairs:
        for place in (first, second):
            if sent.key.worker[place] == culprit:
                sent.change(place)
    judgement = sent.raised().judgement
    assert () == judgement.accused_workers
    assert judgement.workers[culprit].reasons == (
        "12 of 12 twins differ from another worker's answer",
        "no sentinel tells whether it or who contradicts it omits work",
    )
    # Four twins with each of three others, all differing: 13 in 14, and three sentinels passed;
    # by the other explanation nine sentinels were passed with the same share.
    assert (
        Dispute(camps=(frozenset({0, 1, 3}), frozenset({culprit})), believed=frozenset({0, 1, 3})),
    ) == judgement.disputes
    assert judgement.workers[culprit].lazy > 0.99
    both = sent.key.row[pairs[:, 0]]
    assert list(judgement.results[both]) == list(result_of(sent.jobs.iloc[both]))
    differ = both[(sent.key.worker[pairs] == culprit).any(axis=1)]
    assert judgement.distrusted[differ].all()


@settings(max_examples=60)
@given(st.data())
def test_whatever_the_others_answer_an_honest_worker_is_never_accused(data):
    """However many they are, whatever they compare, and whomever they contradict."""
    workers = data.draw(st.integers(2, 6), label="workers")
    sent = Sent(workers=workers, sentinels=2 * workers, twins=data.draw(st.integers(0, 60)))
    others = data.draw(st.sets(st.integers(0, workers - 1), max_size=workers - 1), label="others")
    alike = data.draw(st.booleans(), label="alike")
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    for place in np.flatnonzero(np.isin(sent.key.worker, list(others))):
        # Rows that several of them have are answered alike, if they compare their jobs.
        row = int(sent.key.row[place])
        drawn = np.random.default_rng(row) if alike and row != NONE else rng
        if drawn.random() < 0.5:
            sent.change(place, NAMES[drawn.integers(3)])
    assert set(sent.judged().accused_workers) <= others


def test_a_worker_that_sends_nothing_is_accused_and_twins_stand_in():
    sent = Sent()
    sent.answers[1] = None
    error = sent.raised()
    judgement, key = error.judgement, sent.key
    jobs = len(key.jobs_of(1))
    assert (1,) == judgement.accused_workers
    assert (jobs, jobs, 1.0) == (
        judgement.workers[1].jobs,
        judgement.workers[1].missing,
        judgement.workers[1].lazy,
    )
    held = set(key.row[(key.worker == 1) & (key.row != NONE)])
    twinned = set(key.row[key.copy])
    gone = sorted(held - twinned)
    assert list(np.flatnonzero(judgement.results.isna())) == gone
    assert list(np.flatnonzero(judgement.distrusted)) == gone
    kept = sorted(set(range(60)) - set(gone))
    assert list(judgement.results[kept]) == list(result_of(sent.jobs.iloc[kept]))
    assert error.what == f"some work was not done as asked: {jobs} of 96 answers are missing"


def test_the_answer_to_a_disguised_copy_alone_is_distrusted():
    sent = Sent(disguise={"x": 3})
    first, _ = sent.key.pairs()[0]
    answers = sent.answers[sent.key.worker[first]]
    sent.answers[sent.key.worker[first]] = answers[answers["job"] != sent.key.job[first]]
    judgement = sent.judged()
    assert judgement.distrusted[sent.key.row[first]]
    assert judgement.results[sent.key.row[first]] is not None


@pytest.mark.parametrize("nothing", [None, np.nan, "", pd.NA])
def test_an_empty_result_is_a_missing_answer(nothing):
    sent = Sent()
    place = sent.key.jobs_of(0)[0]
    sent.answers[0]["result"] = sent.answers[0]["result"].astype(object)
    sent.change(place, nothing)
    judgement = sent.raised().judgement
    assert (1, True, ("1 of 24 jobs have no answer",)) == (
        judgement.workers[0].missing,
        judgement.workers[0].accused,
        judgement.workers[0].reasons,
    )


def test_answers_given_twice_or_to_no_job_are_strange_and_accuse_nobody():
    sent = Sent()
    first = sent.answers[0]
    sent.answers[0] = pd.concat(
        [first, first.iloc[:2], pd.DataFrame({"job": ["x", None], "result": ["a", "a"]})]
    )
    error = sent.raised()
    assert error.what == (
        "some work was not done as asked: 4 answers were not asked for, or given twice"
    )
    assert (4, 0, ()) == (
        error.judgement.workers[0].strange,
        error.judgement.workers[0].missing,
        error.judgement.accused_workers,
    )
    assert not error.judgement.distrusted.any()


def test_two_answers_that_contradict_each_other_are_none():
    sent = Sent()
    first = sent.answers[0]
    sent.answers[0] = pd.concat([first, first.iloc[:1].assign(result="other")])
    one = sent.raised().judgement.workers[0]
    assert (1, 1, True) == (one.strange, one.missing, one.accused)


def test_an_old_file_answers_no_job_of_this_campaign():
    old, sent = Sent(seed=1), Sent(seed=2)
    sent.answers[0] = old.answers[0]
    one = sent.raised().judgement.workers[0]
    assert (24, 24) == (one.missing, one.strange)


def test_another_worker_s_answers_are_strange():
    sent = Sent()
    sent.answers[0], sent.answers[1] = sent.answers[1], sent.answers[0]
    judgement = sent.raised().judgement
    assert (0, 1) == judgement.accused_workers


@pytest.mark.parametrize(
    "broken",
    [
        pd.DataFrame({"job": ["x"], "answer": [1]}),
        pd.DataFrame([["x", "y", "z"]], columns=["job", "job", "result"]),
        pd.DataFrame(),
    ],
)
def test_a_broken_table_is_the_worker_s_fault(broken):
    sent = Sent()
    sent.answers[0] = broken
    one = sent.raised().judgement.workers[0]
    assert (24, len(broken), True) == (one.missing, one.strange, one.accused)


@pytest.mark.parametrize("name", ["\ud800", None, 5, 1.5, ["a"], "", "\0"], ids=repr)
def test_whatever_a_worker_calls_a_job_is_strange(name):
    sent = Sent()
    answers = sent.answers[0].astype(object)
    answers.at[0, "job"] = name
    sent.answers[0] = answers
    one = sent.raised().judgement.workers[0]
    assert (1, 1) == (one.missing, one.strange)


@pytest.mark.parametrize(
    "result", ["\ud800", ["a"], {"a": 1}, 10**5000, float("inf"), b"a", pd.Timestamp(0)], ids=type
)
def test_whatever_a_worker_answers_is_a_wrong_answer(result):
    """To a sentinel; the other answers are what they were."""
    sent = Sent()
    place = np.flatnonzero(sent.key.row == NONE)[0]
    worker = sent.key.worker[place]
    answers = sent.answers[worker].astype(object)
    answers.at[answers.index[answers["job"] == sent.key.job[place]][0], "result"] = result
    sent.answers[worker] = answers
    error = sent.raised()
    assert error.what == "some work was not done as asked: 1 of 12 sentinels failed"
    assert (worker,) == error.judgement.accused_workers


def test_spaces_around_an_answer_are_no_difference():
    sent = Sent()
    sent.answers = [
        answer.assign(result=[f" {message}\t" for message in answer["result"]])
        for answer in sent.answers
    ]
    assert () == verify(sent.key, sent.answers, RULES).accused_workers


def test_numbers_and_texts_that_mean_the_same_are_the_same():
    sent = Sent()
    number = {"a": 1, "b": 2, "c": 3}
    # The client's own results are numbers, one worker's file has texts, another's floats.
    object.__setattr__(sent.key, "results", ("1", "2", "3"))
    casts = [int, float, str, lambda value: f"{value}.0"]
    for worker, cast in enumerate(casts):
        column = sent.answers[worker]["result"].map(number).map(cast)
        sent.answers[worker]["result"] = column
    assert not sent.judged().distrusted.any()
    assert () == verify(sent.key, sent.answers, RULES).accused_workers


def test_as_many_answers_as_workers_are_needed():
    sent = Sent()
    with pytest.raises(UsageError) as caught:
        verify(sent.key, sent.answers[:3], RULES)
    assert str(caught.value) == (
        "there are 3 answers; the key is for 4 workers, and a worker that sent nothing has an "
        "empty place"
    )


def test_many_accused_are_not_all_named():
    sent = Sent(jobs=60, workers=12, sentinels=12, twins=0)
    sent.change(np.flatnonzero(sent.key.row == NONE))
    error = sent.raised()
    assert tuple(range(12)) == error.judgement.accused_workers
    assert error.hint.splitlines()[-2:] == ["and 2 others", "distrust 60 of 60 results"]


def test_many_disputes_are_not_all_told():
    """Twelve pairs of workers, and each pair differs in one twin of theirs."""
    sent = Sent(jobs=240, workers=24, sentinels=24, twins=240)
    busy = set()
    for first, second in sent.key.pairs():
        both = {int(sent.key.worker[first]), int(sent.key.worker[second])}
        if not both & busy:
            busy |= both
            sent.change(second)
    error = sent.raised()
    assert 12 == len(error.judgement.disputes)
    told = [str(dispute) for dispute in error.judgement.disputes[:10]]
    assert [
        "the evidence is not enough to accuse any one worker",
        *told,
        "and 2 further disputes",
    ] == error.hint.splitlines()[:-1]


def test_honest_errors_are_tolerated_and_more_is_not():
    """At an honest error of 5 % one of twelve sentinels may fail, and half of them may not."""
    sent = Sent(error=0.05)
    sentinels = np.flatnonzero(sent.key.row == NONE)
    sent.change(sentinels[0])
    judgement = verify(sent.key, sent.answers, RULES)
    assert () == judgement.accused_workers
    assert (1, 12) == tuple(
        sum(worker.controls["sentinels"][index] for worker in judgement.workers) for index in (0, 1)
    )
    sent.change(sentinels[:6])
    assert sent.raised().what == "some work was not done as asked: 6 of 12 sentinels failed"


def test_tolerant_twins_that_differ_are_distrusted_though_nobody_is_accused():
    sent = Sent(error=0.05)
    first, second = sent.key.pairs()[0]
    sent.change(second)
    judgement = verify(sent.key, sent.answers, RULES)
    assert [sent.key.row[first]] == list(np.flatnonzero(judgement.distrusted))


def test_one_hundred_thousand_jobs_are_judged():
    sent = Sent(jobs=100_000, workers=10, sentinels=60, twins=500)
    judgement = verify(sent.key, sent.answers, RULES)
    assert (judgement.results.to_numpy() == result_of(sent.jobs)).all()
