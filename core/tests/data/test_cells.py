"""A published cell is read back as what was written, whatever text it holds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonloom import cells

texts = st.text(max_size=12) | st.text('"{}[], *\\\n\u2028', max_size=12)
numbers = st.floats(allow_nan=False, allow_infinity=False)
days = st.integers(-800_000, 2_000_000).map(lambda day: np.datetime64(day, "D"))
times = st.integers(-60_000_000_000, 250_000_000_000).map(lambda at: np.datetime64(at, "s"))


@given(st.lists(texts, min_size=1, max_size=5))
def test_a_set_of_any_texts_is_read_back(members: list[str]) -> None:
    assert tuple(members) == cells.read_set(cells.set_text(members))
    assert cells.reads_like_a_form(cells.set_text(members))


@given(numbers, numbers)
def test_an_interval_of_numbers_is_read_back(lo: float, hi: float) -> None:
    cell = cells.interval_text(cells.number_text(lo), cells.number_text(hi))
    ends = cells.read_interval(cell)
    assert ends is not None
    assert (lo, hi) == (float(ends[0]), float(ends[1]))
    assert cells.reads_like_a_form(cell)
    assert None is cells.read_set(cell)


@given(days, days)
def test_an_interval_of_dates_is_read_back(lo: np.datetime64, hi: np.datetime64) -> None:
    cell = cells.interval_text(cells.date_text(lo), cells.date_text(hi))
    ends = cells.read_interval(cell)
    assert ends is not None
    assert (lo, hi) == (np.datetime64(ends[0]), np.datetime64(ends[1]))


@given(times, times)
def test_an_interval_of_times_is_read_back(lo: np.datetime64, hi: np.datetime64) -> None:
    cell = cells.interval_text(cells.time_text(lo), cells.time_text(hi))
    ends = cells.read_interval(cell)
    assert ends is not None
    assert (lo, hi) == (np.datetime64(ends[0]), np.datetime64(ends[1]))
    assert cells.reads_like_a_form(cell)


@given(st.lists(times))
def test_moments_are_written_together_as_one_by_one(moments: list[np.datetime64]) -> None:
    values = np.array(moments, "datetime64[s]")
    assert [cells.time_text(value) for value in values] == cells.moment_texts(values, "s")
    assert [cells.date_text(value) for value in values] == cells.moment_texts(values, "D")


@given(texts)
def test_a_text_is_at_most_one_form(text: str) -> None:
    forms = [
        text == "*",
        cells.read_interval(text) is not None,
        cells.read_set(text) is not None,
    ]
    assert sum(forms) <= 1
    if any(forms):
        assert cells.reads_like_a_form(text)


@pytest.mark.parametrize(
    "text",
    [
        "*",
        "[1, 2]",
        "[1, 2)",
        "[-5, -1.5]",
        "[a, b]",
        '{"a"}',
        '{"a", "b"}',
        '{"a","b"}',
        '{"", "\\""}',
    ],
)
def test_forms_are_known(text: str) -> None:
    assert cells.reads_like_a_form(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "**",
        " *",
        "[1,2]",
        "[1]",
        "[1, 2, 3]",
        "(1, 2]",
        "x[1, 2]",
        "[1, 2]\n",
        '{"a"}\n',
        "{}",
        "{a, b}",
        '{"a": "b"}',
        '{"a", 1, "b"}',
        '{"a" "b"}',
        "< 10",
        ">= 10",
        "12**",
        '{"a", ' + "[" * 200_000 + '"}',
    ],
    ids=lambda text: text[:12],
)
def test_other_texts_are_no_forms(text: str) -> None:
    assert not cells.reads_like_a_form(text)
    assert None is cells.read_set(text)
    assert None is cells.read_interval(text)


@pytest.mark.parametrize(
    ("cell", "closed"), [("[1, 2]", True), ("[1, 2)", False), ("[1, 2[", False)]
)
def test_an_interval_says_whether_its_last_value_belongs_to_it(cell: str, closed: bool) -> None:
    assert cells.Ends("1", "2", closed) == cells.read_interval(cell)


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1.0, "1"),
        (-0.0, "0"),
        (-3.0, "-3"),
        (0.1, "0.1"),
        (2.5, "2.5"),
        (1e15, "1000000000000000"),
        (-(2.0**53), "-9007199254740992"),
        (1e16, "1e+16"),
        (1e300, "1e+300"),
        (np.float64(7), "7"),
        (12, "12"),
    ],
)
def test_numbers_are_written_as_a_person_would(number: float, text: str) -> None:
    assert text == cells.number_text(number)


@given(numbers)
def test_a_number_is_read_back_exactly(number: float) -> None:
    assert number == float(cells.number_text(number))


def test_a_raw_cell_reads_the_same_when_a_missing_one_beside_it_made_it_a_float() -> None:
    assert ["1", "1", "1", "True", "1.5"] == [
        cells.cell_text(value) for value in (1, 1.0, "1", True, 1.5)
    ]
