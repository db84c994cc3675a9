"""Likeness: alike rows are called alike at the stated rate, planted differences are found."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from anonloom.errors import UsageError
from anonloom_sentinels_twins import sentinel_indistinguishability
from anonloom_sentinels_twins.sentinel_indistinguishability import ClassLikeness, Likeness, measure
from anonloom_sentinels_twins.work_check import RESULT

SHARES = (0.7, 0.3)


def people(rows, rng, shares=SHARES):
    """Return rows as a file shows them, and the class of each, which the cells say a lot about."""
    group = rng.choice(len(shares), rows, p=shares)
    frame = pd.DataFrame(
        {
            "age": np.clip(rng.normal(40 + 15 * group, 10), 18, 90).astype(int).astype(str),
            "weight": np.round(rng.normal(70 + 8 * group, 9), 1).astype(str),
            "smoker": np.where(rng.random(rows) < 0.3 + 0.2 * group, "yes", "no"),
        }
    )
    return frame, np.array(["well", "ill"])[group]


def compared(seed, change=None, known=700, jobs=1500, shares=SHARES, **options):
    rng = np.random.default_rng(seed)
    genuine, answers = people(jobs, rng)
    mine, results = people(known, rng, shares)
    if change is not None:
        mine = mine.assign(**change(mine))
    if options.pop("answers", False):
        options["answered"] = answers
    return measure(genuine, mine.assign(**{RESULT: results}), rng, **options)


@pytest.mark.long
@pytest.mark.parametrize(
    "options",
    [
        {},
        # Known rows as many of each class, as one would choose for sentinels: thinned to the mix.
        {"shares": (0.5, 0.5), "mix": (0.3, 0.7)},
        {"shares": (0.5, 0.5), "answers": True},
    ],
    ids=["as-the-jobs", "other-mix", "answered"],
)
def test_rows_that_are_alike_are_told_apart_at_the_stated_rate(options, monkeypatch):
    monkeypatch.setattr(sentinel_indistinguishability, "EXCHANGES", 99)
    monkeypatch.setattr(sentinel_indistinguishability, "_TREES", 5)
    seeds, rate = 50, 0.2
    alarms = sum(
        any(
            item.distinguishable
            for item in compared(seed, known=250, jobs=400, rate=rate, **options).classes
        )
        for seed in range(seeds)
    )
    low, high = stats.binom.ppf([0.001, 0.999], seeds, rate)
    assert low <= alarms <= high, alarms


def test_rows_that_are_alike_give_no_warning():
    result = compared(1)
    assert () == result.warnings
    assert [1, 2] == [item.number for item in result.classes]
    assert all(0.4 < item.auc < 0.6 for item in result.classes)


def test_texts_that_hardly_ever_occur_twice_give_no_warning():
    """Dates, names, codes: which of them the known rows have says nothing of how they look."""
    rng = np.random.default_rng(9)
    genuine, _ = people(500, rng)
    known, results = people(400, rng)
    for rows in (genuine, known):
        rows["day"] = [
            f"20{n // 360:02}-{n // 30 % 12 + 1:02}" for n in rng.integers(9000, size=len(rows))
        ]
        rows["name"] = [
            "".join(letters) for letters in rng.choice([*"aeioklmnrst"], (len(rows), 6))
        ]
    assert () == measure(genuine, known.assign(**{RESULT: results}), rng).warnings


@pytest.mark.parametrize(
    "change",
    [
        lambda rows: {"weight": np.round(rows["weight"].astype(float) + 8, 1).astype(str)},
        lambda rows: {"age": (rows["age"].astype(int) // 5 * 5).astype(str)},
        lambda rows: {"age": rows["age"] + ".0"},
        lambda rows: {"smoker": rows["smoker"].str.upper()},
        lambda rows: {"smoker": rows["smoker"] + " "},
        lambda rows: {"smoker": rows["smoker"].where(np.arange(len(rows)) % 4 > 0, None)},
    ],
    ids=["shifted", "rounded", "decimals", "case", "blank", "missing"],
)
@pytest.mark.parametrize("answers", [False, True], ids=["before", "after"])
def test_a_planted_difference_is_found(change, answers):
    result = compared(2, change, answers=answers)
    assert any(item.distinguishable for item in result.classes)
    assert answers == result.answered


def test_a_difference_in_no_single_column_is_found():
    def exchange(rows):
        heavy = rows["weight"].astype(float) > rows["weight"].astype(float).median()
        smokes = np.sort(rows["smoker"].to_numpy())
        order = np.argsort(heavy.to_numpy(), kind="stable")
        result = np.empty(len(rows), dtype=object)
        result[order] = smokes
        return {"smoker": result}

    assert any(item.distinguishable for item in compared(3, exchange).classes)


def test_numbers_are_compared_as_the_batches_hold_them():
    """A column of integers here and of floats there is one of floats in every batch."""
    rng = np.random.default_rng(4)
    genuine = pd.DataFrame({"age": rng.integers(20, 60, 300)})
    known = pd.DataFrame({"age": rng.integers(20, 60, 300).astype(float), RESULT: "a"})
    assert () == measure(genuine, known, rng).warnings


def test_small_pools_say_that_they_are():
    result = compared(5, known=60, jobs=400)
    assert (
        "too few rows to tell whether sentinels of class 1 look like genuine rows: at least 40 "
        "known and as many genuine rows of a class are needed",
    ) == result.warnings
    assert str(result.classes[0]).startswith("class 1: too few to tell (")
    for known, jobs in ((20, 400), (400, 20), (0, 400), (400, 0)):
        result = compared(6, known=known, jobs=jobs)
        assert (
            "too few rows to tell whether sentinels look like genuine rows: at least 40 known and "
            "as many genuine rows of a class are needed",
        ) == result.warnings


@pytest.mark.parametrize("number", [400, 60])
def test_results_that_are_no_classes_are_compared_together(number):
    rng = np.random.default_rng(7)
    genuine, _ = people(400, rng)
    known, _ = people(number, rng)
    known[RESULT] = rng.random(number)
    result = measure(genuine, known, rng)
    assert (0,) == tuple(item.number for item in result.classes)
    assert () == result.warnings


def test_a_warning_says_class_and_auc_and_no_cell():
    result = Likeness(
        classes=(
            ClassLikeness(number=1, known=90, genuine=80, auc=0.51, chance=0.6),
            ClassLikeness(number=2, known=90, genuine=80, auc=0.912, chance=0.6),
            ClassLikeness(number=3, known=9, genuine=80, auc=None, chance=None),
        ),
        rate=0.01,
        answered=False,
    )
    assert (
        "sentinels of class 2 can be told from genuine rows: AUC 0.91, by chance at most 0.60 (a "
        "false alarm in 1% of all plans); a worker that looks closely can compute the sentinels only",
        "too few rows to tell whether sentinels of class 3 look like genuine rows: at least 40 "
        "known and as many genuine rows of a class are needed",
    ) == result.warnings
    assert [
        "class 1: AUC 0.510, within chance (up to 0.600; 90 known, 80 genuine rows)",
        "class 2: AUC 0.912, above chance (up to 0.600; 90 known, 80 genuine rows)",
        "class 3: too few to tell (9 known, 80 genuine rows)",
    ] == [str(item) for item in result.classes]


def test_a_mix_of_other_classes_is_refused():
    with pytest.raises(UsageError) as caught:
        compared(8, mix=(0.5, 0.3, 0.2))
    assert "the known rows have 2 different results; the campaign expects 3" == str(caught.value)
