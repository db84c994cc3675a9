"""What is drawn from a column: its distribution, and nothing that few persons hold."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom import Column, Schema, Table
from anonloom_synthesis.margins import MISSING, NEW, margin_of, quantiles
from anonloom_synthesis.resemblance import copies


def margin(values, shared=2, persons=None, **more):
    columns = [Column(name="x", **({"role": "other"} | more))]
    frame = {"x": values}
    if persons is not None:
        columns.append(Column(name="who", role="person"))
        frame["who"] = persons
    return margin_of(Table.build(pd.DataFrame(frame), Schema(columns)), "x", shared)


def draw(margin, rows=1000):
    return margin.draw((np.arange(rows) + 0.5) / rows, np.zeros(rows, bool))


def slow_quantile(values, shared, at):
    """One place after the other, over the sorted rows."""
    rows = sorted(values)
    place = at * (len(rows) - 1)
    points = []
    for value in sorted(set(rows)):
        mine = [where for where, row in enumerate(rows) if row == value]
        if value in shared:
            points += [(where, value) for where in mine]
        elif value == rows[0]:
            points.append((mine[0], value))
        elif value == rows[-1]:
            points.append((mine[-1], value))
        else:
            points.append((sum(mine) / len(mine), value))
    for (left, low), (right, high) in pairwise(points):
        if left <= place <= right:
            if low in shared and high in shared:
                return low if place < (left + right) / 2 else high
            return low + (place - left) / (right - left) * (high - low)
    return points[0][1]


@given(
    values=st.lists(st.integers(0, 12).map(float), min_size=2, max_size=30),
    least=st.integers(1, 4),
    at=st.lists(st.floats(0.001, 0.999), min_size=1, max_size=10),
)
@settings(deadline=None, max_examples=300)
def test_quantiles_agree_with_a_slow_transcript(values, least, at):
    distinct, counts = np.unique(values, return_counts=True)
    if len(distinct) < 2 and counts[0] < least:
        return
    shared = counts >= least

    result = quantiles(distinct, counts, shared, np.array(at))

    expected = [slow_quantile(values, set(distinct[shared]), item) for item in at]
    assert expected == pytest.approx(result.tolist(), abs=1e-9)


def test_a_measured_number_is_never_drawn_itself():
    values = np.random.default_rng(1).lognormal(size=500)

    result = draw(margin(values, type="number"), 5000).cells

    assert set() == set(values) & set(result)
    assert values.min() < result.min()
    assert result.max() < values.max()
    assert np.median(values) == pytest.approx(result.median(), rel=0.02)


def test_numbers_that_several_hold_stay_and_keep_their_share():
    """Nine in ten have no gain at all; nothing is invented between 0 and 5."""
    values = [0.0] * 900 + [5.0] * 90 + [7.0] * 10

    result = draw(margin(values, type="number")).cells.value_counts()

    assert {0.0: 900, 5.0: 90, 7.0: 10} == pytest.approx(result.to_dict(), abs=1)


def test_a_rare_number_between_shared_ones_is_blurred():
    values = [0.0] * 50 + [41.0] + [100.0] * 50

    result = draw(margin(values, type="number"), 10_000).cells

    between = result[(result > 0) & (result < 100)]
    assert 0.02 == pytest.approx(len(between) / 10_000, abs=0.002)
    assert between.min() < 5
    assert between.max() > 95


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1.0, 4.0, 9.0], "number"),
        (["2020-01-01", "2020-05-05", "2021-02-02"], "date"),
        (["2020-01-01 10:00:00", "2020-01-01 11:00:00", "2020-01-03 12:00:00"], "time"),
    ],
)
def test_drawn_values_are_as_coarse_as_the_column(values, kind):
    cells = draw(margin(values, type=kind)).cells

    if kind == "number":
        assert set(range(1, 10)) == set(cells)
    else:
        step = "D" if kind == "date" else "h"
        assert (cells == cells.dt.floor(step)).all()
        assert len(set(cells)) > 3


def test_categories_that_few_hold_are_not_drawn():
    values = ["a"] * 30 + ["b"] * 10 + ["c"]

    result = draw(margin(values)).cells.value_counts()

    assert {"a": 750, "b": 250} == result.to_dict()
    assert {"a", "b", "c"} == set(draw(margin(values, shared=1)).cells)


def test_persons_are_counted_not_rows():
    """All rows with c are of one person."""
    values = ["a"] * 4 + ["c"] * 4
    persons = ["p", "p", "q", "q", "r", "r", "r", "r"]

    assert {"a"} == set(draw(margin(values, persons=persons)).cells)
    assert {"a", "c"} == set(draw(margin(values)).cells)


def test_free_text_is_left_empty():
    notes = margin([f"note {index}" for index in range(50)])

    drawn = draw(notes)

    assert (False, 50) == (notes.drawable, notes.withheld)
    assert drawn.cells.isna().all()
    assert {MISSING} == set(drawn.codes)


def test_unpublished_categories_leave_no_trace_in_the_columns_type():
    values = pd.Categorical(["a", "a", "b"])

    result = draw(margin(values)).cells

    assert ["a"] == list(result.cat.categories)


@pytest.mark.parametrize("values", [[1, 1, 0, 0], [True, False, True, False], list("abab")])
def test_categories_keep_their_type(values):
    result = draw(margin(values)).cells

    assert pd.Series(values).dtype == result.dtype
    assert set(values) == set(result)


def test_categories_are_in_the_order_of_their_text():
    assert [2, 0, 1, -1] == margin(["c", "a", "b", None]).codes.tolist()


def test_drawn_levels_are_told_from_new_values():
    drawn = draw(margin([1.0, 1.0, 3.0, 9.0], type="number"))

    level = {1.0: 0, 3.0: 1, 9.0: 2}
    assert [level.get(value, NEW) for value in drawn.cells] == drawn.codes.tolist()


@given(st.data())
@settings(deadline=None, max_examples=100)
def test_copies_agree_with_sets_of_rows(data):
    columns = data.draw(st.integers(1, 4))
    table = st.lists(st.tuples(*[st.integers(-1, 2)] * columns), min_size=1, max_size=20)
    with_new = st.lists(st.tuples(*[st.integers(-2, 2)] * columns), min_size=1, max_size=20)
    original, drawn = data.draw(table), data.draw(with_new)

    result = copies(
        [np.array(column) for column in zip(*original, strict=True)],
        [np.array(column) for column in zip(*drawn, strict=True)],
    )

    assert sum(row in set(original) for row in drawn) / len(drawn) == result
