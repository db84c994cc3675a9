"""Batches in which nothing tells a control from a genuine row."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom.errors import DataError, UsageError
from anonloom_sentinels_twins.assignment import assign
from anonloom_sentinels_twins.key import NONE
from anonloom_sentinels_twins.work_check import Campaign, Sizing

NAMES = ("high", "low", "middle")


def rows(count, start=0):
    """Rows of which no two are equal."""
    index = np.arange(start, start + count)
    return pd.DataFrame(
        {"age": index % 90, "income": index * 10.5, "town": [f"t{item}" for item in index]}
    )


def known_rows(count, start=1_000_000):
    result = rows(count, start)
    return result.assign(result=[NAMES[indice % 3] for indice in range(count)])


def campaign(jobs, workers, groups=()):
    return Campaign(
        jobs=jobs,
        workers=workers,
        lazy=1,
        omission=0.2,
        classes=(0.2, 0.5, 0.3),
        budget=10,
        groups=groups,
    )


def sized(sentinels, twins):
    return Sizing(controls={"sentinels": sentinels, "twins": twins}, undetected=0.1)


def placed(jobs, known, workers, sentinels, twins, groups=(), seed=1, disguise=None):
    return assign(
        jobs,
        known,
        campaign(len(jobs), workers, groups),
        sized(sentinels, twins),
        np.random.default_rng(seed),
        disguise or {},
    )


def by_job(assignment):
    """Return all batches in one frame, with what the key says of each job."""
    key = assignment.key
    what = pd.DataFrame(
        {
            "job": key.job,
            "worker": key.worker,
            "row": key.row,
            "expected": key.expected,
            "copy": key.copy,
        }
    )
    return pd.concat(assignment.batches).merge(what, on="job", validate="one_to_one")


@settings(max_examples=40)
@given(
    jobs=st.integers(4, 60),
    workers=st.integers(2, 9),
    sentinels=st.integers(0, 30),
    share=st.floats(0, 1),
    grouped=st.booleans(),
    seed=st.integers(0, 100),
)
def test_every_row_is_somebody_s_job_beside_the_controls(
    jobs, workers, sentinels, share, grouped, seed
):
    genuine, known, twins = rows(jobs), known_rows(60), int(jobs * share)
    groups = ({0, 1},) if grouped and workers > 2 else ()
    made = placed(genuine, known, workers, sentinels, twins, groups, seed)
    everything, key = by_job(made), made.key
    assert len(everything) == jobs + sentinels + twins
    assert everything["job"].is_unique
    assert everything["job"].str.fullmatch("[0-9a-f]{32}").all()
    first = everything[(everything["row"] != NONE) & ~everything["copy"]].sort_values("row")
    assert list(first["row"]) == list(range(jobs))
    assert list(first["town"]) == list(genuine["town"])
    copies = everything[everything["copy"]]
    assert copies["row"].is_unique
    both = copies.merge(first, on="row", suffixes=("", "_first"))
    assert (both["town"] == both["town_first"]).all()
    assert (both["worker"] != both["worker_first"]).all()
    for item, other in zip(both["worker"], both["worker_first"], strict=True):
        assert not any({item, other} <= set(group) for group in groups)
    sentinel = everything[everything["row"] == NONE]
    expected = dict(zip(known["town"], known["result"], strict=True))
    assert sentinel["town"].is_unique
    assert [expected[town] for town in sentinel["town"]] == [
        key.results[index] for index in sentinel["expected"]
    ]
    for values, most in ((sentinel["expected"], 3), (sentinel["worker"], workers)):
        count = np.bincount(values, minlength=most)
        assert count.max() - count.min() <= 1
    if not groups:
        loads = [len(batch) for batch in made.batches]
        assert max(loads) - min(loads) <= max(1, max_over(key, jobs, workers))


def max_over(key, jobs, workers):
    """Return by how much controls alone make loads differ; genuine rows even that out."""
    controls = key.row == NONE
    twinned = np.isin(key.row, key.row[key.copy]) & ~controls
    load = np.bincount(key.worker[controls | twinned], minlength=workers)
    single = jobs - int(key.copy.sum())
    gaps = int((load.max() - load).sum())
    return 1 if gaps <= single else int(load.max() - load.min())


def test_controls_are_even_over_classes_workers_and_pairs_of_workers():
    made = placed(rows(400), known_rows(90), 5, 30, 60)
    key = made.key
    assert [10, 10, 10] == np.bincount(key.expected[key.row == NONE]).tolist()
    assert [6] * 5 == np.bincount(key.worker[key.row == NONE]).tolist()
    pairs = np.sort(key.worker[key.pairs()], axis=1)
    assert {6} == set(pd.Series(map(tuple, pairs)).value_counts())
    assert [98] * 5 == [len(batch) for batch in made.batches]


def test_two_of_one_group_share_no_job_and_loads_are_even_all_the_same():
    groups = ({0, 1, 2}, {3, 4})
    made = placed(rows(400), known_rows(90), 6, 9, 100, groups)
    pairs = {tuple(pair) for pair in np.sort(made.key.worker[made.key.pairs()], axis=1).tolist()}
    assert pairs == {(0, 3), (0, 4), (0, 5), (1, 3), (1, 4), (1, 5)} | {
        (2, 3),
        (2, 4),
        (2, 5),
        (3, 5),
        (4, 5),
    }
    loads = [len(batch) for batch in made.batches]
    assert max(loads) - min(loads) <= 1


def test_names_and_order_are_new_in_every_campaign_and_say_nothing():
    one, other = (placed(rows(50), known_rows(30), 3, 6, 10, seed=seed) for seed in (1, 2))
    assert not set(one.key.job) & set(other.key.job)
    sentinel = one.key.row == NONE
    places = np.concatenate([np.arange(len(batch)) for batch in one.batches])[sentinel]
    assert sorted(places) != list(places)
    assert [list(batch.columns) for batch in one.batches] == [["job", "age", "income", "town"]] * 3
    assert all(list(batch.index) == list(range(len(batch))) for batch in one.batches)


def test_places_of_sentinels_are_uniform():
    """Over many campaigns a sentinel stands in the first half as often as in the second."""
    halves = []
    for seed in range(200):
        made = placed(rows(40), known_rows(30), 2, 6, 4, seed=seed)
        start = 0
        for batch in made.batches:
            own = made.key.row[start : start + len(batch)] == NONE
            halves += list(np.flatnonzero(own) < len(batch) / 2)
            start += len(batch)
    assert abs(np.mean(halves) - 0.5) < 4 * 0.5 / np.sqrt(len(halves))


def test_a_sentinel_never_stands_beside_the_row_that_equals_it():
    jobs = rows(60)
    known = jobs.iloc[:30].assign(result=[NAMES[indice % 3] for indice in range(30)])
    for seed in range(20):
        made = placed(jobs, known, 3, 24, 20, seed=seed)
        assert () == made.warnings
        for batch in made.batches:
            assert batch["town"].is_unique


def test_equal_known_rows_are_drawn_in_need_only_and_kept_apart():
    distinct = known_rows(12)
    known = pd.concat([distinct, distinct, distinct], ignore_index=True)
    few = placed(rows(30), known, 3, 12, 0)
    assert 12 == by_job(few).query("row == -1")["town"].nunique()
    many = placed(rows(30), known, 3, 36, 0)
    assert () == many.warnings
    assert all(batch["town"].is_unique for batch in many.batches)


def test_rows_that_are_common_may_be_sentinels_as_they_are():
    """Where genuine rows repeat, to avoid repetitions would leave only unusual rows."""
    jobs = pd.DataFrame({"sex": ["f", "m"] * 50})
    known = pd.DataFrame({"sex": ["f", "m"] * 20 + ["x"], "result": ["a", "b"] * 20 + ["a"]})
    asked = Campaign(jobs=100, workers=2, lazy=1, omission=0.5, classes=(0.5, 0.5), budget=10)
    drawn = []
    for seed in range(60):
        made = assign(jobs, known, asked, sized(10, 0), np.random.default_rng(seed), {})
        assert () == made.warnings
        drawn += list(by_job(made).query("row == -1")["sex"])
    assert abs(drawn.count("x") - 60 * 5 / 21) < 4 * np.sqrt(60 * 5 / 21)


def test_what_gives_controls_away_is_warned_of():
    jobs = rows(1)
    known = pd.concat([rows(1), known_rows(2)]).assign(result=NAMES)
    made = placed(jobs, known, 1, 3, 0)
    assert made.warnings == (
        "1 sentinels stand beside a row with the same cells, which gives them away: there are too "
        "few known rows, or too few workers",
    )
    made = placed(rows(20), known_rows(30), 5, 3, 0)
    assert made.warnings == (
        "2 of 5 workers have no sentinel: whatever they omit, nothing proves it",
    )


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        (
            {"known": known_rows(7)},
            DataError,
            "the known rows are too few for 12 sentinels, as many of each class\n"
            "    class 1 of 3 lacks 1 of 4 rows\n"
            "    class 2 of 3 lacks 2 of 4 rows\n"
            "    class 3 of 3 lacks 2 of 4 rows\n"
            "    classes are counted in the order of their names",
        ),
        (
            # Which class has one more is chance: for 13 sentinels every class needs five rows.
            {"known": known_rows(14), "sentinels": 13},
            DataError,
            "the known rows are too few for 13 sentinels, as many of each class\n"
            "    class 3 of 3 lacks 1 of 5 rows\n"
            "    classes are counted in the order of their names",
        ),
        (
            {"known": known_rows(40).assign(result="low")},
            DataError,
            "the known rows have 1 different results; the campaign expects 3",
        ),
        (
            {"known": known_rows(40).assign(result=[None, *["low"] * 39])},
            DataError,
            "1 known rows have no result",
        ),
        (
            {"known": known_rows(40).drop(columns="age")},
            DataError,
            "the known rows must have the columns of the rows and 'result', and no others",
        ),
        (
            {"known": known_rows(40).astype({"age": str})},
            DataError,
            "column 'age' holds numbers in the rows and something else in the known rows, or the "
            "other way round",
        ),
        (
            {"jobs": rows(30).assign(job=1)},
            DataError,
            "the rows have a column 'job': the batches need that name",
        ),
        ({"jobs": rows(30)[[]]}, DataError, "the rows have no columns"),
        (
            {"twins": 31},
            UsageError,
            "31 twins are more than the 30 jobs: a job has one twin at most",
        ),
        (
            {"groups": ({0, 1, 2},)},
            UsageError,
            "twins need two workers who may share a job",
        ),
    ],
)
def test_what_cannot_be_placed_is_refused(changed, error, message):
    asked = {"jobs": rows(30), "known": known_rows(40), "sentinels": 12, "twins": 5} | changed
    with pytest.raises(error) as caught:
        placed(workers=3, **asked)
    assert str(caught.value) == message


def test_numbers_that_do_not_fit_are_refused():
    with pytest.raises(UsageError) as caught:
        assign(rows(30), known_rows(9), campaign(31, 3), sized(3, 3), np.random.default_rng(1), {})
    assert str(caught.value) == "the campaign has 31 jobs; there are 30 rows"
    strange = Sizing(controls={"sentinels": 1, "spies": 1}, undetected=0.1)
    with pytest.raises(UsageError) as caught:
        assign(rows(30), known_rows(9), campaign(30, 3), strange, np.random.default_rng(1), {})
    assert str(caught.value) == "no such sort of control: spies"


def test_cells_keep_their_types_and_their_missing_ones():
    jobs = pd.DataFrame({"a": [1, 2, 3, 4], "b": [1.5, None, 2.5, 3.5], "c": ["x", None, "y", "z"]})
    known = pd.DataFrame({"a": [9, 8, 7], "b": [0.5] * 3, "c": ["u", "v", "w"], "result": NAMES})
    made = placed(jobs, known, 2, 3, 2)
    assert all(batch["a"].dtype == np.int64 for batch in made.batches)
    everything = by_job(made).query("row != -1 and not copy").sort_values("row")
    pd.testing.assert_frame_equal(
        everything[["a", "b", "c"]].reset_index(drop=True), jobs, check_dtype=False
    )


def test_a_disguised_copy_differs_a_little_from_its_first_job():
    genuine, known = rows(200), known_rows(30)
    made = placed(genuine, known, 4, 6, 80, disguise={"age": 2, "income": 30})
    everything = by_job(made)
    assert made.key.disguised
    assert everything["age"].dtype == np.int64
    first = everything[~everything["copy"] & (everything["row"] != NONE)].set_index("row")
    pd.testing.assert_frame_equal(
        first.sort_index()[["age", "income", "town"]].reset_index(drop=True), genuine
    )
    copies = everything[everything["copy"]].set_index("row")
    change = (copies["age"] - first.loc[copies.index, "age"]).abs()
    assert set(change) == {1, 2}
    change = (copies["income"] - first.loc[copies.index, "income"]).abs().round(9)
    assert 0 < change.min() <= change.max() <= 30
    # As many decimals as the column has, and nothing beyond its range.
    assert (copies["income"].round(1) == copies["income"]).all()
    assert copies["age"].between(0, 89).all()
