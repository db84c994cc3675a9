"""Rounding: every cell names the unit that its value lies in, and nothing finer."""

import datetime as dt

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonloom import Column, Release, Schema, StageContext, Table
from anonloom.errors import UsageError
from anonloom.hierarchies import Widths
from anonloom_linkage.aligned_columns import align_columns
from anonloom_recoding.rounding import Round

COLUMNS = (
    Column(name="age", role="quasi", type="number"),
    Column(name="seen", role="other", type="time"),
    Column(name="born", role="other", type="date", hierarchy=None),
    Column(name="bill", role="other", type="number"),
    Column(name="town", role="other"),
    Column(name="ill", role="sensitive", type="number"),
)


def table_of(seen, born, bill, ill=None):
    frame = pd.DataFrame(
        {
            "age": range(len(seen)),
            "seen": seen,
            "born": born,
            "bill": bill,
            "town": "a",
            "ill": range(len(seen)) if ill is None else ill,
        }
    )
    return Table.build(frame, Schema(COLUMNS), origin=np.arange(len(seen)) + 5)


@pytest.fixture
def table():
    return table_of(
        ["2024-02-29 13:45:10", None, "2024-03-01 00:00:00"],
        ["1980-12-31", "1979-01-01", None],
        [12.5, 10.0, None],
    )


def rounded(table, **to):
    return Round(to=to).protect(table, StageContext())


def cells(table, name):
    return [None if pd.isna(cell) else cell for cell in Release.as_it_is(table).frame[name]]


@pytest.mark.parametrize(
    ("name", "to", "expected"),
    [
        ("seen", "hour", ["2024-02-29 13h", None, "2024-03-01 00h"]),
        ("seen", "quarter-day", ["2024-02-29 12-18h", None, "2024-03-01 00-06h"]),
        ("seen", "day", ["2024-02-29", None, "2024-03-01"]),
        ("seen", "month", ["2024-02", None, "2024-03"]),
        ("born", "quarter", ["1980-Q4", "1979-Q1", None]),
        ("born", "decade", ["1980s", "1970s", None]),
        ("bill", 10, ["[10, 20)", "[10, 20)", None]),
        ("bill", 2.5, ["[12.5, 15)", "[10, 12.5)", None]),
    ],
)
def test_a_cell_names_its_unit_and_missing_stays_missing(table, name, to, expected):
    assert expected == cells(rounded(table, **{name: to}), name)


def test_all_else_stays_as_it_was(table):
    result = rounded(table, seen="day")

    assert "category" == result.schema["seen"].type
    assert [column for column in COLUMNS if column.name != "seen"] == [
        column for column in result.schema if column.name != "seen"
    ]
    assert table.codes.tolist() == result.codes.tolist()
    assert [5, 6, 7] == result.origin.tolist()
    kept = ["age", "born", "bill", "town", "ill"]
    assert table.frame[kept].equals(result.frame[kept])
    assert "time" == table.schema["seen"].type
    assert "datetime64" in str(table.frame["seen"].dtype)


MOMENTS = st.datetimes(dt.datetime(1900, 1, 1), dt.datetime(2099, 12, 31)).map(
    lambda moment: moment.replace(microsecond=0)
)


@given(st.lists(MOMENTS, min_size=1, max_size=20), st.sampled_from([1, 6, 24]))
def test_an_auditor_reads_a_unit_as_what_lies_in_it(moments, hours):
    """Not as a moment of its own: an attacker knows what a rounded cell stands for."""
    unit = {1: "hour", 6: "quarter-day", 24: "day"}[hours]
    table = table_of(moments, "1980-12-31", 1.0)
    release = Release.as_it_is(rounded(table, seen=unit))

    (column,) = align_columns(table, [release], ["seen"])

    def unit_of(moment):
        return moment.date(), moment.hour // hours

    for moment, cell in zip(moments, column.sides[1], strict=True):
        within = [other for other in moments if unit_of(other) == unit_of(moment)]
        ends = [
            (end - dt.datetime(1970, 1, 1)).total_seconds() for end in (min(within), max(within))
        ]
        assert ends == [column.lo[cell], column.hi[cell]]
    assert (0, 0) == column.unread


@pytest.mark.parametrize(
    ("to", "expected"),
    [
        (
            {"zip": "day"},
            "column 'zip' is not declared; "
            "published are: 'age', 'seen', 'born', 'bill', 'town', 'ill'",
        ),
        ({"age": 5}, "column 'age' is a quasi-identifier, which its hierarchy generalizes"),
        (
            {"ill": 5},
            "column 'ill' has role 'sensitive'; only columns with the role 'other' are rounded",
        ),
        ({"town": 1}, "column 'town' is a category, which has nothing to round"),
        ({"seen": 3600}, "column 'seen' is a time: name a unit of the calendar, such as 'month'"),
        ({"born": "hour"}, "column 'born' is a date: 'hour' is a unit of 'type: time'"),
        ({"bill": "day"}, "column 'bill' is a number: give the width of the bins"),
        ({"bill": 0}, "column 'bill' needs bins wider than 0. Got 0 instead."),
    ],
)
def test_what_cannot_be_rounded_is_refused(table, to, expected):
    with pytest.raises(UsageError) as caught:
        rounded(table, **to)
    assert f"round: {expected}" == str(caught.value)


def test_a_hierarchy_of_its_own_does_not_matter(table):
    columns = [
        Column(name="bill", role="other", type="number", hierarchy=Widths(widths=(3,)))
        if column.name == "bill"
        else column
        for column in COLUMNS
    ]
    own = Table.build(table.frame, Schema(columns))
    assert cells(rounded(table, bill=10), "bill") == cells(rounded(own, bill=10), "bill")
    assert rounded(own, bill=10).schema["bill"].hierarchy is None
