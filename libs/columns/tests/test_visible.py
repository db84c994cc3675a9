"""What a release shows of a column: values, groups and bounds that stand in its cells."""

import numpy as np
import pandas as pd
import pytest

from anonloom import Column, Schema, Table
from anonloom.hierarchies import Tree
from anonloom_columns import NotationReader, Visible, place_texts


def axis_of(cells, **column):
    frame = pd.DataFrame({"x": cells})
    table = Table.build(frame, Schema([Column(name="x", role="quasi", **column)]))
    return table.with_reader(NotationReader).axes[0]


def visible(axis, cells, dtype="category"):
    return Visible.of(axis, pd.Series(cells, dtype=dtype))


@pytest.mark.parametrize(
    ("cells", "bounds"),
    [
        (["*"], []),
        (["[20, 35]", "41"], ["20", "35", "41"]),
        (["[20, 40)", "[40, 60)"], ["20", "40", "60"]),
        (["20-35"], ["20", "35"]),
        (['{"20", "41"}'], ["20", "41"]),
        (["37.5"], ["37.5"]),
        (["(20, 35]", "41+"], ["20", "35", "41"]),
        (["(-inf, 35.0]", "40s"], ["35", "40", "50"]),
        (["5*"], []),
        (["nonsense", None], []),
    ],
)
def test_numbers_are_bounded_by_what_is_written(cells, bounds):
    axis = axis_of([20, 35, 41, 52], type="number")
    assert bounds == place_texts(axis, visible(axis, cells).bounds)


def test_numbers_that_are_published_as_they_are_bound_themselves():
    axis = axis_of([20, 35, 41, 52], type="number")
    assert [20.0, 41.0] == visible(axis, [20, 41, 41], "float").bounds.tolist()


@pytest.mark.parametrize(
    ("cell", "bounds"),
    [
        ("1970s", ["1970-01-01", "1980-01-01"]),
        ("1974", ["1974-01-01", "1975-01-01"]),
        ("1974-Q4", ["1974-10-01", "1975-01-01"]),
        ("1974-12", ["1974-12-01", "1975-01-01"]),
        ("1974-12-24", ["1974-12-24"]),
        ("[1974-03-05, 1974-12-24]", ["1974-03-05", "1974-12-24"]),
        ("*", []),
    ],
)
def test_dates_are_bounded_by_units_of_the_calendar(cell, bounds):
    axis = axis_of(["1974-03-05", "1974-12-24"], type="date")
    result = place_texts(axis, visible(axis, [cell]).bounds)
    # A day is a unit, too, whose end is the next one.
    assert bounds == (result[:1] if cell == "1974-12-24" else result)


@pytest.mark.parametrize(
    ("cell", "bounds"),
    [
        ("2024-03-01", ["2024-03-01 00:00:00", "2024-03-02 00:00:00"]),
        ("2024-03-01 14h", ["2024-03-01 14:00:00", "2024-03-01 15:00:00"]),
        ("2024-03-01 18-24h", ["2024-03-01 18:00:00", "2024-03-02 00:00:00"]),
    ],
)
def test_times_are_bounded_by_parts_of_days(cell, bounds):
    axis = axis_of(["2024-03-01 14:05:00", "2024-03-01 19:00:00"], type="time")
    assert bounds == place_texts(axis, visible(axis, [cell]).bounds)


def test_categories_are_named_as_the_release_names_them():
    axis = axis_of(["a", "b", "c", "d"], hierarchy=Tree(tree={"ab": ["a", "b"], "cd": ["c", "d"]}))
    shown = visible(axis, ["ab", "c", "*"])
    assert "c" == shown.label_of(axis, 2, 2)
    assert "ab" == shown.label_of(axis, 0, 1)
    assert [None, None] == [shown.label_of(axis, 0, 0), shown.label_of(axis, 2, 3)]
    assert ["ab", None] == [shown.group_of(1), shown.group_of(3)]


def test_values_that_a_mask_hides_are_not_named():
    axis = axis_of(["024", "025", "033"])
    shown = visible(axis, ["02*"])
    assert (frozenset(), ()) == (shown.values, shown.groups)
    assert {0, 2} == visible(axis, ["024,033"]).values


def test_a_place_is_moved_to_the_bound_next_to_it():
    axis = axis_of([20, 35, 41, 52], type="number")
    shown = visible(axis, ["[20, 35]", "[41, 52]"])
    assert [20.0, 35.0, 41.0, 52.0] == shown.nearest(np.array([3.0, 37.0, 39.0, 99.0])).tolist()
    assert [] == visible(axis, ["*"]).nearest(np.array([3.0])).tolist()
    assert 41.0 == shown.between(35, 41)
    assert shown.between(35, 40) is None
    assert shown.between(52, 99) is None
