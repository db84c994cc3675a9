"""The ends of every form of a cell, and rows in the order of each."""

from datetime import date, datetime
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonloom.errors import UsageError
from anonloom_seals.encoding import EncodedColumn, decode_cell, encode_cell
from anonloom_seals.ordering import ABOVE, BELOW, ends, read_bound, sorted_rows

MISSING = (3, 0)


def read(text, kind):
    return ends(decode_cell(encode_cell(text, kind), kind), kind)


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        ("30", "number", (Decimal(30), Decimal(30))),
        ("3e1", "number", (Decimal(30), Decimal(30))),
        ("-0.0", "number", (Decimal(0), Decimal(0))),
        ("[20, 30]", "number", (Decimal(20), Decimal(30))),
        ("[30, 30]", "number", (Decimal(30), Decimal(30))),
        ("[30, 20]", "number", (Decimal(20), Decimal(30))),
        ("[-inf, 1.5]", "number", (Decimal("-inf"), Decimal("1.5"))),
        ('{"3", "10", "2"}', "number", (Decimal(2), Decimal(10))),
        ("2024-02-29", "date", (date(2024, 2, 29), date(2024, 2, 29))),
        ("[2024-01-01, 2024-02-29]", "date", (date(2024, 1, 1), date(2024, 2, 29))),
        (
            "[2024-01-01 00:00:00, 2024-01-01 23:59:59]",
            "time",
            (datetime(2024, 1, 1), datetime(2024, 1, 1, 23, 59, 59)),
        ),
        ("[20, 30]", "category", ("[20, 30]", "[20, 30]")),
        ("*", "category", ("*", "*")),
        ("e\u0301", "category", ("\u00e9", "\u00e9")),
        ("", "category", ("", "")),
    ],
)
def test_ends_of_a_cell(text, kind, expected):
    low, high = expected
    assert ((1, low), (1, high)) == read(text, kind)


@pytest.mark.parametrize("kind", ["number", "date", "time"])
def test_a_star_lies_in_every_range_and_a_missing_cell_in_none(kind):
    assert (BELOW, ABOVE) == read("*", kind)
    assert (MISSING, MISSING) == read(None, kind)
    assert BELOW < (1, Decimal("-inf")) < (1, Decimal("inf")) < ABOVE < MISSING


@pytest.mark.parametrize(
    "text",
    ["young", "[20, 30)", "[20, 30[", "[a, b]", '{"a"}', '{"1", "a"}', "", "nan", "[nan, 1]", "{}"],
)
def test_of_a_group_nobody_knows_the_ends(text):
    assert None is read(text, "number")


def test_a_bound_is_read_by_the_type():
    assert (1, Decimal("30")) == read_bound("30.0", "number", BELOW)
    assert (1, date(2024, 1, 31)) == read_bound("2024-01-31", "date", BELOW)
    assert (1, "\u00e9") == read_bound("e\u0301", "category", BELOW)
    assert (1, "30") == read_bound("30", "category", BELOW)
    assert BELOW == read_bound(None, "number", BELOW)
    assert ABOVE == read_bound(None, "category", ABOVE)


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("thirty", "number", "the bound 'thirty' is no number\n    Write it as 30 or 1.5."),
        ("*", "number", "the bound '*' is no number\n    Write it as 30 or 1.5."),
        ("nan", "number", "the bound 'nan' is no number\n    Write it as 30 or 1.5."),
        ("[1, 2]", "number", "the bound '[1, 2]' is no number\n    Write it as 30 or 1.5."),
        (
            "2024-02-30",
            "date",
            "the bound '2024-02-30' is no date\n    Write it as 2026-01-31.",
        ),
        (
            "2024-02-01",
            "time",
            "the bound '2024-02-01' is no time\n    Write it as '2026-01-31 14:05:00'.",
        ),
        ("\ud800", "category", r"the bound '\ud800' is no text"),
    ],
)
def test_what_is_no_bound(text, kind, message):
    with pytest.raises(UsageError) as caught:
        read_bound(text, kind, BELOW)
    assert message == str(caught.value)


def column(texts, kind):
    return EncodedColumn.of(texts, np.arange(len(texts)), kind)


def test_single_values_have_one_order_and_ties_stay_as_in_the_file():
    orders = sorted_rows(column(["3", None, "1", "3.0", "2", "1"], "number"), "number")
    assert {"low": [2, 5, 4, 0, 3, 1]} == {end: rows.tolist() for end, rows in orders.items()}


def test_intervals_have_two():
    cells = ["[20, 29]", "[1, 99]", "*", None, "[30, 40]", "25"]
    orders = sorted_rows(column(cells, "number"), "number")
    assert {"low": [2, 1, 0, 5, 4, 3], "high": [5, 0, 4, 1, 2, 3]} == {
        end: rows.tolist() for end, rows in orders.items()
    }


def test_no_rows():
    for kind in ("number", "category"):
        orders = sorted_rows(column([], kind), kind)
        assert {"low": []} == {end: rows.tolist() for end, rows in orders.items()}


def test_a_group_cannot_be_sorted():
    assert None is sorted_rows(column(["1", "young"], "number"), "number")


def test_cells_that_no_row_has_change_no_order():
    """A Parquet file may list values that do not occur; the CSV of the same release cannot."""
    listed = EncodedColumn.of(["2", "young", "*", "1", None], np.array([0, 3, 0]), "number")
    orders = sorted_rows(listed, "number")
    assert {"low": [1, 0, 2]} == {end: rows.tolist() for end, rows in orders.items()}


@given(st.lists(st.text(max_size=3), max_size=8))
def test_categories_are_sorted_by_code_points(texts):
    normal = [decode_cell(encode_cell(text, "category"), "category") for text in texts]
    expected = sorted(range(len(texts)), key=lambda at: [ord(c) for c in normal[at]])
    assert expected == sorted_rows(column(texts, "category"), "category")["low"].tolist()


def test_numbers_that_are_one_float_are_still_told_apart():
    """Sorting by floats is a shortcut: beyond 2^53 neighbours are the same one."""
    texts = [str(2**60 + index) for index in (3, 1, 2, 0)] + ["inf", "-inf", "0.1"]
    column = EncodedColumn.of(texts, np.arange(len(texts)), "number")
    assert [5, 6, 3, 1, 2, 0, 4] == sorted_rows(column, "number")["low"].tolist()
