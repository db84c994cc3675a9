"""Small changes that leave no trace of having been made."""

import numpy as np
import pandas as pd
import pytest

from anonloom.errors import DataError, UsageError
from anonloom_sentinels_twins.disguise import disguise_rows


def test_only_the_rows_asked_for_are_changed_and_missing_cells_stay_missing():
    cells = pd.DataFrame({"x": [1.0, 2.0, np.nan, 4.0], "y": [1, 2, 3, 4]})
    where = np.array([False, True, True, False])
    result = disguise_rows(cells, where, {"x": 1}, np.random.default_rng(1))
    assert result.loc[[0, 3]].equals(cells.loc[[0, 3]])
    assert result["y"].equals(cells["y"])
    assert result["x"].isna().tolist() == [False, False, True, False]
    assert abs(result["x"][1] - 2.0) == 1.0


def test_integers_that_may_be_missing_stay_integers():
    cells = pd.DataFrame({"x": pd.array([5, None, 9, 8], dtype="Int64")})
    result = disguise_rows(cells, np.ones(4, dtype=bool), {"x": 1}, np.random.default_rng(1))
    assert str(result["x"].dtype) == "Int64"
    assert result["x"].isna().tolist() == [False, True, False, False]
    assert set((result["x"] - cells["x"]).abs().dropna()) == {1}


@pytest.mark.parametrize(
    ("values", "most", "step"),
    [
        (np.arange(10_000, 90_000, 500), 2000, 500),
        (np.arange(3, 300, 5), 12, 5),
        (np.arange(0, 40) / 4, 1, 0.25),
    ],
)
def test_changed_cells_are_as_far_apart_as_all_cells_are(values, most, step):
    """12,345 among incomes in steps of 500 is a control, as every single worker can see."""
    cells = pd.DataFrame({"x": values})
    where = np.arange(len(cells)) % 2 == 0
    result = disguise_rows(cells, where, {"x": most}, np.random.default_rng(1))["x"]
    change = (result - cells["x"])[where].abs()
    assert 0 < change.min() <= change.max() <= most
    assert {0.0} == set((result - values[0]) % step)


def test_a_rounded_cell_stays_rounded_among_others_that_are_not():
    cells = pd.DataFrame({"x": [1000, 2000, 3000, 1234, 2718, 5000, 60000]})
    where = np.array([True, True, True, True, False, False, False])
    result = disguise_rows(cells, where, {"x": 1500}, np.random.default_rng(1))["x"]
    assert [0, 0, 0] == (result[:3] % 1000).tolist()
    assert cells["x"][3] != result[3]


def test_a_continuous_cell_has_as_many_digits_as_others():
    cells = pd.DataFrame({"x": np.random.default_rng(2).normal(70, 9, 400)})
    where = np.arange(400) < 100
    result = disguise_rows(cells, where, {"x": 0.5}, np.random.default_rng(1))["x"]
    digits = result.map(repr).str.len()
    assert digits[:100].median() == digits[100:].median()
    assert 0 < (result - cells["x"])[where].abs().max() <= 0.5


def test_long_integers_of_other_rows_stay_as_they_are():
    cells = pd.DataFrame({"x": [2**60 + 1, 2**60 + 3, 2**60 + 4097]})
    where = np.array([False, True, False])
    result = disguise_rows(cells, where, {"x": 2048}, np.random.default_rng(1))["x"]
    assert [2**60 + 1, 2**60 + 4097] == result[~where].tolist()


def test_a_cell_that_has_nowhere_to_go_stays():
    cells = pd.DataFrame({"x": [3, 3]})
    result = disguise_rows(cells, np.ones(2, dtype=bool), {"x": 2}, np.random.default_rng(1))
    assert result["x"].tolist() == [3, 3]


def test_a_column_without_numbers_stays():
    cells = pd.DataFrame({"x": [np.nan, np.nan]})
    result = disguise_rows(cells, np.ones(2, dtype=bool), {"x": 2}, np.random.default_rng(1))
    assert result["x"].isna().all()


@pytest.mark.parametrize(
    ("disguise", "error", "message"),
    [
        ({"z": 1}, UsageError, "disguise: there is no column 'z'"),
        ({"town": 1}, DataError, "disguise: column 'town' holds something else than numbers"),
        ({"old": 1}, DataError, "disguise: column 'old' holds something else than numbers"),
        (
            {"age": 0.5},
            UsageError,
            "disguise: the cells of column 'age' are 1 apart or more; a change of at most 0.5 "
            "changes none",
        ),
    ],
)
def test_what_cannot_be_changed_is_refused(disguise, error, message):
    cells = pd.DataFrame({"age": [1, 2], "town": ["a", "b"], "old": [True, False]})
    with pytest.raises(error) as caught:
        disguise_rows(cells, np.ones(2, dtype=bool), disguise, np.random.default_rng(1))
    assert str(caught.value) == message
