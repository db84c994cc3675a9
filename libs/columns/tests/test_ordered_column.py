"""Numbers, dates and times as places on a line, and back."""

import numpy as np
import pandas as pd
import pytest

from anonloom import Column
from anonloom.hierarchies import Tree
from anonloom_columns import OrderedColumn
from anonloom_columns.ordered_column import nearest


def number(values, **more):
    column = Column(name="x", role="other", type="number", **more)
    return OrderedColumn.of(pd.Series(values, dtype=float), column)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1000.0, 4000.0], 0.0),
        ([10.0, 4000.0], 120.0),
        ([1.0, 2.0], 123.0),
        ([1.0, 2.5], 123.5),
        ([1.0, 2.25], 123.46),
        ([1.0, 1 / 3], 123.456),
        ([np.nan, np.nan], 0.0),
    ],
)
def test_numbers_keep_the_decimals_of_their_column(values, expected):
    assert expected == number(values).round_places(np.array([123.456]))[0]


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        (["2020-01-01T00:00:01"], 86_400 * 2 + 3_600 * 5 + 60 * 7 + 9),
        (["2020-01-01T00:01:00"], 86_400 * 2 + 3_600 * 5 + 60 * 7),
        (["2020-01-01T01:00:00"], 86_400 * 2 + 3_600 * 5),
        (["2020-01-01T00:00:00"], 86_400 * 2),
    ],
)
def test_times_stay_on_whole_minutes_hours_or_days(times, expected):
    column = Column(name="x", role="other", type="time")
    line = OrderedColumn.of(pd.Series(times, dtype="datetime64[s]"), column)

    assert expected == line.round_places(np.array([86_400 * 2 + 3_600 * 5 + 60 * 7 + 9.0]))[0]


def test_the_nearest_of_two_is_the_lower():
    assert [0, 0, 1, 1, 1] == nearest(np.array([1.0, 3.0]), np.array([0, 2, 2.1, 3, 9.0])).tolist()


@pytest.mark.parametrize("kind", ["date", "time"])
def test_moments_become_places_and_cells_again(kind):
    days = pd.Series(["1969-12-31", None, "2020-02-29"], dtype="datetime64[s]")
    line = OrderedColumn.of(days, Column(name="x", role="other", type=kind))

    assert [True, False, True] == line.present.tolist()
    assert days.equals(line.series(line.places))


def test_a_place_that_the_hierarchy_lacks_becomes_the_nearest_that_the_column_has():
    tree = Tree(tree={"young": ["10", "21"], "old": ["60"]})
    line = number([10, 21, 60, np.nan], hierarchy=tree)

    assert [21.0, 60.0, 10.0] == line.series(np.array([17.0, 100.0, -3.0])).tolist()


def test_places_end_where_cells_can_no_longer_be_written():
    assert (-1e300, 1e300) == number([1.0]).limits
    days = OrderedColumn.of(
        pd.Series(["2020-01-01"], dtype="datetime64[s]"),
        Column(name="x", role="other", type="date"),
    )
    assert ["0001-01-01", "9999-12-31"] == [
        str(day.date()) for day in days.series(np.array(days.limits))
    ]
