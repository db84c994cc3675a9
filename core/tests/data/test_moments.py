"""Only what has the column's format is a date or a time."""

import re
from datetime import datetime

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from anonloom import Column
from anonloom.data import coerce
from anonloom.errors import DataError

#: What pandas, numpy or dateutil take for a moment although it has no format of a date.
WORDS = [
    *("now", "today", "Today", "NOW", "now ", "tomorrow", "epoch", "noon"),
    *("nat", "NaT", "NAT", "nan", "None", "null", "NULL", "<NA>", "N/A", "-", "", " "),
    *("0", "1", "1700000000", "1700000000000", "1e9", "44927", "-62135596800", "inf"),
    *("-0001-01-01", "+2024-01-01", "0000-01-01", "10000-01-01", "-2024-01-01 10:00"),
    *("2024-02-30", "2024-13-01", "2024-W05-1", "2024-060", "202403", "2024-03-05Z"),
    *("2024-03-05T25:00", "2024-03-05T10:00+99:99", "2024-03-05T10:00+9999"),
    *("2024-03-05T10:00+99", "2024-03-05T10:00-16:00", "2024-03-05T10:00+01:60"),
    *("\u0662\u0660\u0662\u0664-01-01", "\uff12\uff10\uff12\uff14-01-01", "2024-01-01\n"),
    *("Tuesday", "March 2024", "1st", "2024-03-05 10:00 CET"),
]

FORMATS = {
    "%Y-%m-%d": "date",
    "%d.%m.%Y": "date",
    "%Y%m%d": "date",
    "%d. %B %Y": "date",
    "%x": "date",
    "ISO8601": "date",
    "%Y-%m-%d %H:%M": "time",
    "%d/%m/%y %I:%M %p": "time",
    "%Y-%m-%dT%H:%M:%S%z": "time",
}


def read(text: str, form: str, type_: str | None = None) -> str | None:
    """Return the moment that a column of this format reads in a text, or None."""
    column = Column(name="seen", role="other", type=type_ or FORMATS[form], format=form)
    try:
        return str(coerce(pd.Series([text], dtype=object), column)[0])
    except DataError:
        return None


@pytest.mark.parametrize("form", FORMATS)
def test_words_and_numbers_that_are_no_date_are_refused_in_every_format(form: str) -> None:
    # An eight-digit number is a date of the format that says so; none of these is.
    assert {} == {text: result for text in WORDS if (result := read(text, form)) is not None}


def test_words_and_numbers_that_are_no_time_are_refused() -> None:
    assert {} == {text: result for text in WORDS if (result := read(text, "ISO8601", "time"))}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-03-05", "2024-03-05 00:00:00"),
        ("20240305", "2024-03-05 00:00:00"),
        ("2024-03-05T10", "2024-03-05 10:00:00"),
        ("2024-03-05 10:07", "2024-03-05 10:07:00"),
        ("20240305T100709", "2024-03-05 10:07:09"),
        ("2024-03-05T23:30:00.999Z", "2024-03-05 23:30:00"),
        ("2024-03-05T23:30+14:00", "2024-03-05 23:30:00"),
        ("1844-12-30T23:30:00 -15:56", "1844-12-30 23:30:00"),
        ("0001-01-01", "0001-01-01 00:00:00"),
        ("9999-12-31T23:59:59", "9999-12-31 23:59:59"),
    ],
)
def test_iso_times_are_read_as_the_clock_showed_them(text: str, expected: str) -> None:
    assert expected == read(text, "ISO8601", "time")


def independent(text: str, form: str) -> datetime | None:
    """Read a text by Python alone, which takes nothing but the format."""
    try:
        return datetime.strptime(text, form)
    except ValueError:
        return None


_PIECES = st.sampled_from(
    [*"0123456789-.:/ +TZ", "2024", "1970", "03", "31", "now", "today", "May", "AM", "+01:00"]
)


@given(
    st.one_of(
        st.lists(_PIECES, max_size=12).map("".join),
        st.datetimes().flatmap(
            lambda moment: st.sampled_from(sorted(set(FORMATS) - {"ISO8601"})).map(moment.strftime)
        ),
        st.text(max_size=12),
    ),
    st.sampled_from(sorted(set(FORMATS) - {"ISO8601"})),
)
@example("now", "%Y-%m-%d")
@example("today", "%d.%m.%Y")
@example("-0001-01-01", "%Y-%m-%d")
def test_what_is_read_is_what_the_format_says_whatever_the_text(text: str, form: str) -> None:
    result, expected = read(text, form), independent(text, form)
    if result is not None:
        assert expected is not None
        clock = "%Y-%m-%d 00:00:00" if FORMATS[form] == "date" else "%Y-%m-%d %H:%M:%S"
        # Python writes the year 1 with one digit.
        assert re.sub(r"^0+", "", result) == re.sub(r"^0+", "", expected.strftime(clock))


@given(
    st.datetimes(), st.sampled_from(sorted(set(FORMATS) - {"ISO8601", "%x", "%d/%m/%y %I:%M %p"}))
)
def test_what_a_format_writes_is_read(moment: datetime, form: str) -> None:
    text = moment.strftime(form)
    year = f"{moment.year:04}"
    if "%Y" in form and year not in text:
        # Python writes the year 1 with one digit, and would not read it again.
        return
    text += "+01:00" if "%z" in form else ""
    clock = moment.isoformat(" ", "seconds" if form.endswith("%S%z") else "minutes")
    expected = moment.date().isoformat() if FORMATS[form] == "date" else clock
    assert (read(text, form) or "").startswith(expected)


@pytest.mark.parametrize("year", ["-0005", "0000", "20000"])
@pytest.mark.parametrize(("type_", "noun"), [("date", "date"), ("time", "time")])
def test_moments_that_no_year_of_four_digits_has_are_refused(
    year: str, type_: str, noun: str
) -> None:
    cells = pd.Series(np.array(["2024-03-05", f"{year}-03-05"], "datetime64[s]"))
    with pytest.raises(DataError) as caught:
        coerce(cells, Column(name="born", role="quasi", type=type_))
    assert (
        f"column 'born': 1 cell is not a {noun} of the years 1 to 9999 (row 2); correct the data"
    ) == str(caught.value)
    assert 4 == caught.value.exit_code


@pytest.mark.parametrize(
    ("text", "type_", "form"),
    [
        ("now", "date", "%Y-%m-%d"),
        ("today", "date", "%Y-%m-%d"),
        ("-0001-01-01", "date", "%Y-%m-%d"),
        ("2024-03-05T10:00+99:99", "time", "ISO8601"),
    ],
)
def test_one_message_says_where_and_what_must_be(text: str, type_: str, form: str) -> None:
    with pytest.raises(DataError) as caught:
        coerce(pd.Series(["2024-03-05", text]), Column(name="seen", role="quasi", type=type_))
    assert (
        f"column 'seen': 1 cell is not a {type_} of the form {form} (row 2); correct the data, or "
        "give the column's 'format'"
    ) == str(caught.value)
    assert 4 == caught.value.exit_code
