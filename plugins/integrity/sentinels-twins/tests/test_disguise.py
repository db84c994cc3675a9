"""Small changes that leave no trace of having been made."""

import numpy as np
import pandas as pd
import pytest

from anonloom.errors import DataError, UsageError
from anonloom_sentinels_twins.disguise import disguised


def test_only_the_rows_asked_for_are_changed_and_missing_cells_stay_missing():
    cells = pd.DataFrame({"x": [1.0, 2.0, np.nan, 4.0], "y": [1, 2, 3, 4]})
    where = np.array([False, True, True, False])
    found = disguised(cells, where, {"x": 1}, np.random.default_rng(1))
    assert found.loc[[0, 3]].equals(cells.loc[[0, 3]])
    assert found["y"].equals(cells["y"])
    assert found["x"].isna().tolist() == [False, False, True, False]
    assert abs(found["x"][1] - 2.0) == 1.0


def test_integers_that_may_be_missing_stay_integers():
    cells = pd.DataFrame({"x": pd.array([5, None, 9, 7], dtype="Int64")})
    found = disguised(cells, np.ones(4, dtype=bool), {"x": 1}, np.random.default_rng(1))
    assert str(found["x"].dtype) == "Int64"
    assert found["x"].isna().tolist() == [False, True, False, False]
    assert set((found["x"] - cells["x"]).abs().dropna()) == {1}


def test_a_cell_that_has_nowhere_to_go_stays():
    cells = pd.DataFrame({"x": [3, 3]})
    found = disguised(cells, np.ones(2, dtype=bool), {"x": 2}, np.random.default_rng(1))
    assert found["x"].tolist() == [3, 3]


def test_a_column_without_numbers_stays():
    cells = pd.DataFrame({"x": [np.nan, np.nan]})
    found = disguised(cells, np.ones(2, dtype=bool), {"x": 2}, np.random.default_rng(1))
    assert found["x"].isna().all()


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
        disguised(cells, np.ones(2, dtype=bool), disguise, np.random.default_rng(1))
    assert str(caught.value) == message
