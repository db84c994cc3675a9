"""From cells to codes: every type of pandas column, and every mistake with its whole text."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonloom import Column
from anonloom.data import EncodedColumn, coerce, encode
from anonloom.errors import DataError
from anonloom.hierarchies import Prefix, Tree


def coded(series: object, **options: object) -> EncodedColumn:
    column = Column(name="it", role=options.pop("role", "quasi"), **options)
    series = series if isinstance(series, pd.Series) else pd.Series(series, dtype=object)
    return encode(coerce(series, column), column)


def texts(series: object, **options: object) -> list[str | None]:
    """Return what every row is read as."""
    result = coded(series, **options)
    return result.axis.texts(result.codes)


def refusal(series: object, **options: object) -> str:
    with pytest.raises(DataError) as error:
        coded(series, **options)
    return str(error.value)


# --- categories -----------------------------------------------------------------------------------

arrow_text = pd.ArrowDtype(pa.string())


@pytest.mark.parametrize(
    "series",
    [
        pd.Series(["b", None, "a", "b"], dtype=object),
        pd.Series(["b", np.nan, "a", "b"], dtype=object),
        pd.Series(["b", pd.NA, "a", "b"], dtype=object),
        pd.Series(["b", None, "a", "b"], dtype="str"),
        pd.Series(["b", None, "a", "b"], dtype="string"),
        pd.Series(["b", None, "a", "b"], dtype=arrow_text),
        pd.Series(["b", None, "a", "b"], dtype="category"),
        pd.Series(pd.Categorical(["b", None, "a", "b"], categories=["z", "b", "y", "a"])),
        pd.Series(pd.Categorical(["b", None, "a", "b"], categories=["b", "a"], ordered=True)),
        pd.Series(["b", None, "a", "b"], index=[7, 7, 3, 1]),
    ],
    ids=str,
)
def test_text_of_every_dtype_has_the_same_codes(series: pd.Series) -> None:
    result = coded(series)
    assert ["a", "b"] == result.axis.values.tolist()
    assert [1, 2, 0, 1] == result.codes.tolist()
    assert np.int32 == result.codes.dtype
    assert 2 == result.axis.missing


@pytest.mark.parametrize(
    ("series", "expected"),
    [
        (pd.Series([10, 9, 10]), ["10", "9", "10"]),
        (pd.Series([10, 9, None]), ["10", "9", None]),
        (pd.Series([10, 9, None], dtype="Int64"), ["10", "9", None]),
        (pd.Series([1.5, 2.0, None], dtype="float32"), ["1.5", "2", None]),
        (pd.Series([True, False]), ["True", "False"]),
        (pd.Series([True, None], dtype="boolean"), ["True", None]),
        (pd.Series([1, "1", 1.0, "1.0"], dtype=object), ["1", "1", "1", "1.0"]),
        (pd.Series(pd.Categorical([1, 2, None])), ["1", "2", None]),
        (pd.Series(["", None, " "], dtype=object), ["", None, " "]),
        (pd.Series(["nan", "None", None], dtype=object), ["nan", "None", None]),
        (pd.Series([None, None], dtype=object), [None, None]),
        (pd.Series([np.nan, np.nan]), [None, None]),
        (pd.Series(["\ud800"], dtype=object), ["\ud800"]),
    ],
)
def test_cells_that_read_alike_are_one_category(
    series: pd.Series, expected: list[str | None]
) -> None:
    assert expected == texts(series)


@given(st.lists(st.one_of(st.none(), st.text("ab{\n*", max_size=3)), min_size=1, max_size=20))
def test_codes_are_ranks_among_the_values_that_occur(cells: list[str | None]) -> None:
    result = coded(cells, role="label")
    order = sorted({cell for cell in cells if cell is not None})
    rank = {cell: index for index, cell in enumerate(order)}
    assert [rank.get(cell, len(order)) if cell is not None else len(order) for cell in cells] == (
        result.codes.tolist()
    )
    assert (len(order) if None in cells else -1) == result.axis.missing


def test_categories_with_a_hierarchy_have_its_order() -> None:
    result = coded(["a", "c", None, "b"], hierarchy=Tree(tree={"x": ["c", "a"], "y": ["b", "z"]}))
    assert ["c", "a", "b"] == result.axis.values.tolist()
    assert [1, 0, 3, 2] == result.codes.tolist()


def test_codes_are_written_where_they_are_wanted() -> None:
    column = Column(name="it", role="quasi")
    out = np.full((2, 3), -7, np.int32)
    result = encode(pd.Series(["b", "a", "b"]), column, out=out[1])
    assert [[-7, -7, -7], [1, 0, 1]] == out.tolist()
    assert np.shares_memory(out, result.codes)


def test_more_categories_than_small_codes_can_number() -> None:
    names = [f"{index:05d}" for index in range(40_000)]
    for some in (names[:130], names):
        result = coded(pd.Series(pd.Categorical(some[::-1], categories=some)))
        assert list(range(len(some)))[::-1] == result.codes.tolist()


def test_a_raw_cell_that_reads_like_a_form_is_refused_and_not_shown() -> None:
    forms = "('*', '[a, b]' or '{\"a\", \"b\"}'); rename these values before publishing"
    assert f"column 'it': 1 cell reads like a published form {forms}" == refusal(["*", "a"])
    cells = ["[1, 2]", "[1, 2]", '{"a"}', "a", None, "[1, 2)"]
    assert f"column 'it': 4 cells read like a published form {forms}" == refusal(cells)
    bins = pd.cut(pd.Series([1, 5]), [0, 2, 6], right=False)
    assert f"column 'it': 2 cells read like a published form {forms}" == refusal(bins)
    unused = pd.Series(pd.Categorical(["a"], categories=["*", "a"]))
    assert ["a"] == texts(unused)
    # What is published as it is may be anything.
    assert ["*", "a"] == texts(["*", "a"], role="sensitive")


# --- numbers --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("series", "expected"),
    [
        (pd.Series([2, 1]), ["2", "1"]),
        (pd.Series([2.5, None]), ["2.5", None]),
        (pd.Series([2, None], dtype="Int64"), ["2", None]),
        (pd.Series([2, None], dtype="Float64"), ["2", None]),
        (pd.Series([2, None], dtype=pd.ArrowDtype(pa.int64())), ["2", None]),
        (pd.Series([2, 1], dtype="uint8"), ["2", "1"]),
        (pd.Series(["2", " 1.50 ", None], dtype=object), ["2", "1.5", None]),
        (pd.Series(["2", "-1e3", None], dtype="str"), ["2", "-1000", None]),
        (pd.Series(["2", "nan", None], dtype=arrow_text), ["2", None, None]),
        (pd.Series(["2", None, "1"], dtype="category"), ["2", None, "1"]),
        (pd.Series(pd.Categorical(["1"], categories=["x", "1"])), ["1"]),
        (pd.Series(pd.Categorical([2, 1, None])), ["2", "1", None]),
        (pd.Series([Decimal("1.5"), 2, None], dtype=object), ["1.5", "2", None]),
        (pd.Series([0.0, -0.0]), ["0", "0"]),
        (pd.Series([2**53 - 1]), ["9007199254740991"]),
        (pd.Series([None, None], dtype=object), [None, None]),
    ],
    ids=str,
)
def test_numbers_of_every_dtype_are_read(series: pd.Series, expected: list[str | None]) -> None:
    assert expected == texts(series, type="number")


ADVICE = "; correct the data, or declare the column as 'type: category'"


@pytest.mark.parametrize(
    ("series", "message"),
    [
        (["1", "x"], "1 cell is not a number (row 2)" + ADVICE),
        (["x", "1", None, "y", ""], "3 cells are not a number (rows 1, 4, 5)" + ADVICE),
        (
            ["1", *("secret" for _ in range(9))],
            "9 cells are not a number (rows 2, 3, 4, 5, 6, ...)" + ADVICE,
        ),
        (
            pd.Series(["1", "x", "x", None], dtype="category"),
            "2 cells are not a number (rows 2, 3)" + ADVICE,
        ),
        (["0x10", "1_000", "nan"], "2 cells are not a number (rows 1, 2)" + ADVICE),
        (
            ["1,5", "x", "2"],
            "2 cells are not a number (rows 1, 2)"
            + ADVICE
            + "\n    some have a decimal comma: with 'source: csv', write \"decimal: ','\"",
        ),
        ([True, 1], "1 cell is not a number (row 1)" + ADVICE),
        (pd.Series([1 + 2j]), "1 cell is not a number (row 1)" + ADVICE),
        (pd.Series([True, False]), "true and false are not numbers"),
        (pd.Series([True, None], dtype="boolean"), "true and false are not numbers"),
        (pd.Series([1.0, np.inf, -np.inf]), "2 cells are infinite (rows 2, 3)" + ADVICE),
        (["1e400", "1"], "1 cell is infinite (row 1)" + ADVICE),
        (pd.Series([1e301, -1e301]), "2 cells are too large for a number (rows 1, 2)" + ADVICE),
        (pd.Series([1, 2**53 + 1]), "1 cell is too large for a number (row 2)" + ADVICE),
    ],
    ids=str,
)
def test_what_is_no_number_is_counted_and_not_shown(series: object, message: str) -> None:
    assert f"column 'it': {message}" == refusal(series, type="number")


@given(
    st.lists(
        st.one_of(st.none(), st.integers(-9, 9).map(float), st.floats(-1e300, 1e300)),
        min_size=1,
        max_size=20,
    )
)
def test_codes_of_numbers_are_their_ranks(numbers: list[float | None]) -> None:
    order = sorted({number for number in numbers if number is not None})
    expected = [len(order) if number is None else order.index(number) for number in numbers]
    for series in (
        pd.Series(numbers, dtype=float),
        pd.Series([None if n is None else repr(n) for n in numbers], dtype=object),
    ):
        result = coded(series, type="number")
        assert order == result.axis.values.tolist()
        assert expected == result.codes.tolist()


# --- dates ----------------------------------------------------------------------------------------

DAY = datetime.date(2020, 1, 5)
LATE = datetime.datetime(2020, 1, 5, 23, 30)


@pytest.mark.parametrize(
    "series",
    [
        pd.Series(["2020-01-05", None], dtype=object),
        pd.Series(["2020-01-05", None], dtype="str"),
        pd.Series(["2020-01-05", None], dtype="category"),
        pd.Series([DAY, None], dtype=object),
        pd.Series([LATE, None], dtype=object),
        pd.Series([pd.Timestamp(LATE), pd.NaT], dtype=object),
        pd.Series([LATE, None], dtype="datetime64[ns]"),
        pd.Series([LATE, None], dtype="datetime64[s]"),
        pd.Series([LATE, None]).dt.tz_localize("America/New_York"),
        pd.Series([pd.Timestamp(LATE, tz="Asia/Tokyo"), None], dtype=object),
        pd.Series([DAY, None], dtype=pd.ArrowDtype(pa.date32())),
        pd.Series([LATE, None], dtype=pd.ArrowDtype(pa.timestamp("us"))),
        pd.Series([LATE, None], dtype=pd.ArrowDtype(pa.timestamp("us", tz="UTC"))),
        pd.Series(pd.Categorical([pd.Timestamp(LATE), None])),
    ],
    ids=lambda series: str(series.dtype),
)
def test_dates_of_every_dtype_are_days(series: pd.Series) -> None:
    assert ["2020-01-05", None] == texts(series, type="date")


@pytest.mark.parametrize(
    ("cells", "form"),
    [
        (["05.01.2020", None], "%d.%m.%Y"),
        ([20200105, None], "%Y%m%d"),
        ([20200105.0, np.nan], "%Y%m%d"),
        (["2020-01-05 23:30+0100", None], "%Y-%m-%d %H:%M%z"),
        # A date is a date, whatever the form of those that are text.
        ([DAY, None], "%d.%m.%Y"),
    ],
)
def test_dates_have_the_form_that_the_column_says(cells: list[object], form: str) -> None:
    assert ["2020-01-05", None] == texts(pd.Series(cells), type="date", format=form)


def test_offsets_may_differ_from_row_to_row_and_move_no_day() -> None:
    cells = ["2020-01-05 23:30+0100", "2020-01-05 00:30+0900"]
    assert ["2020-01-05"] * 2 == texts(cells, type="date", format="%Y-%m-%d %H:%M%z")


def test_days_long_ago_and_far_ahead() -> None:
    cells = ["9999-12-31", "0001-01-01", "1600-02-29", "1969-12-31"]
    assert cells == texts(cells, type="date")
    assert [3, 0, 1, 2] == coded(cells, type="date").codes.tolist()


@pytest.mark.parametrize(
    ("cells", "options", "message"),
    [
        (["2020-02-30", "2020-02-29"], {}, "1 cell is not a date of the form %Y-%m-%d (row 1)"),
        (["x", None, ""], {}, "2 cells are not a date of the form %Y-%m-%d (rows 1, 3)"),
        (
            ["2020-01-05"],
            {"format": "%d.%m.%Y"},
            "1 cell is not a date of the form %d.%m.%Y (row 1)",
        ),
        (["x"], {"format": "%Y%z"}, "1 cell is not a date of the form %Y%z (row 1)"),
    ],
)
def test_what_is_no_date_is_counted_and_not_shown(
    cells: list[object], options: dict[str, str], message: str
) -> None:
    expected = f"column 'it': {message}; correct the data, or give the column's 'format'"
    assert expected == refusal(cells, type="date", **options)


@given(st.lists(st.one_of(st.none(), st.dates()), min_size=1, max_size=20))
def test_codes_of_dates_are_their_ranks(days: list[datetime.date | None]) -> None:
    order = sorted({day for day in days if day is not None})
    result = coded(days, type="date")
    assert order == result.axis.values.tolist()
    assert [len(order) if day is None else order.index(day) for day in days] == (
        result.codes.tolist()
    )


# --- times ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "series",
    [
        pd.Series(["2020-01-05 23:30:00", None], dtype=object),
        pd.Series(["2020-01-05T23:30", None], dtype="str"),
        pd.Series(["2020-01-05 23:30:00.999", None], dtype="category"),
        pd.Series(["2020-01-05T23:30:00Z", None]),
        pd.Series(["2020-01-05T23:30:00.5+09:00", None]),
        pd.Series([LATE, None], dtype=object),
        pd.Series([pd.Timestamp(LATE), pd.NaT], dtype=object),
        pd.Series([LATE, None], dtype="datetime64[ns]"),
        pd.Series([LATE, None], dtype="datetime64[s]"),
        pd.Series([LATE, None]).dt.tz_localize("America/New_York"),
        pd.Series([pd.Timestamp(LATE, tz="Asia/Tokyo"), None], dtype=object),
        pd.Series([LATE, None], dtype=pd.ArrowDtype(pa.timestamp("us"))),
        pd.Series([LATE, None], dtype=pd.ArrowDtype(pa.timestamp("us", tz="UTC"))),
        pd.Series(pd.Categorical([pd.Timestamp(LATE), None])),
    ],
    ids=lambda series: str(series.dtype),
)
def test_times_of_every_dtype_are_moments(series: pd.Series) -> None:
    assert ["2020-01-05 23:30:00", None] == texts(series, type="time")


@pytest.mark.parametrize(
    "series",
    [
        pd.Series(["1969-12-31 23:59:59.5"]),
        pd.Series([datetime.datetime(1969, 12, 31, 23, 59, 59, 500_000)]),
        pd.Series(
            [datetime.datetime(1969, 12, 31, 23, 59, 59, 500_000)],
            dtype=pd.ArrowDtype(pa.timestamp("us")),
        ),
    ],
)
def test_fractions_of_a_second_are_cut_off(series: pd.Series) -> None:
    assert ["1969-12-31 23:59:59"] == texts(series, type="time")


def test_a_day_alone_is_its_midnight() -> None:
    assert ["2020-01-05 00:00:00"] * 2 == texts(["2020-01-05", DAY], type="time")


@pytest.mark.parametrize("type_", ["date", "time"])
def test_offsets_of_iso_texts_may_differ_and_move_nothing(type_: str) -> None:
    cells = ["2020-01-05 23:30+01:00", "2020-01-05T00:30:00+0900", "2020-01-05 12:00Z"]
    expected = ["2020-01-05 23:30:00", "2020-01-05 00:30:00", "2020-01-05 12:00:00"]
    length = 19 if type_ == "time" else 10
    assert [text[:length] for text in expected] == texts(cells, type=type_, format="ISO8601")


def test_times_have_the_form_that_the_column_says() -> None:
    cells = ["05.01.2020 7:30 PM", None]
    assert ["2020-01-05 19:30:00", None] == texts(cells, type="time", format="%d.%m.%Y %I:%M %p")
    cells = ["2020-01-05 23:30+0100", "2020-01-05 00:30+0900"]
    assert ["2020-01-05 23:30:00", "2020-01-05 00:30:00"] == texts(
        cells, type="time", format="%Y-%m-%d %H:%M%z"
    )


@pytest.mark.parametrize(
    ("cells", "options", "message"),
    [
        (["2020-02-30 10:00"], {}, "1 cell is not a time of the form ISO8601 (row 1)"),
        (["x", None, ""], {}, "2 cells are not a time of the form ISO8601 (rows 1, 3)"),
        # A month is no moment.
        (["2020", "2020-01"], {}, "2 cells are not a time of the form ISO8601 (rows 1, 2)"),
        (["2020-01-05 24:30"], {}, "1 cell is not a time of the form ISO8601 (row 1)"),
        (
            ["2020-01-05"],
            {"format": "%Y-%m-%d %H:%M"},
            "1 cell is not a time of the form %Y-%m-%d %H:%M (row 1)",
        ),
    ],
)
def test_what_is_no_time_is_counted_and_not_shown(
    cells: list[object], options: dict[str, str], message: str
) -> None:
    expected = f"column 'it': {message}; correct the data, or give the column's 'format'"
    assert expected == refusal(cells, type="time", **options)


@given(st.lists(st.one_of(st.none(), st.datetimes()), min_size=1, max_size=20))
def test_codes_of_times_are_their_ranks(times: list[datetime.datetime | None]) -> None:
    whole = [None if time is None else time.replace(microsecond=0) for time in times]
    order = sorted({time for time in whole if time is not None})
    result = coded(pd.Series(times, dtype=object), type="time")
    assert order == result.axis.values.tolist()
    assert [len(order) if time is None else order.index(time) for time in whole] == (
        result.codes.tolist()
    )
    written = [None if time is None else time.isoformat(" ") for time in whole]
    assert written == result.axis.texts(result.codes)
    # Written and read again, they are the same times.
    assert (
        result.codes.tolist() == coded(pd.Series(written, dtype=object), type="time").codes.tolist()
    )


def test_each_distinct_time_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read = []
    parse = pd.to_datetime

    def noted(texts: pd.Series, **options: object) -> pd.Series:
        read.append(len(texts))
        return parse(texts, **options)

    monkeypatch.setattr(pd, "to_datetime", noted)
    coded(["2020-01-05 10:00", "2020-01-05 11:00"] * 50, type="time")
    assert [2] == read


# --- missing --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "options"),
    [
        ([1, None, None], {"type": "number"}),
        (["2020-01-05", None, None], {"type": "date"}),
        (["a", None, None], {}),
    ],
)
def test_missing_cells_may_be_refused(cells: list[object], options: dict[str, str]) -> None:
    expected = "column 'it': 2 cells are missing (rows 2, 3); complete them, or choose 'missing: own' or 'missing: suppress'"
    assert expected == refusal(cells, missing="refuse", **options)
    assert expected == refusal(pd.Series(cells), missing="refuse", **options)


def test_complete_columns_pass_where_missing_is_refused() -> None:
    assert ["a"] == texts(["a"], missing="refuse")


def test_an_error_of_the_hierarchy_names_the_column() -> None:
    expected = "column 'it': 1 of 1 codes holds the mask '*' where it stands for what is cut; choose another 'mask'"
    assert expected == refusal(["12*"], hierarchy=Prefix(keep=(2,)))


@pytest.mark.parametrize("role", ["sensitive", "person", "quasi"])
def test_sensitive_values_that_read_alike_are_one_value_and_blanks_are_none(role):
    """Counted as different, they would make a class of one illness look diverse."""
    cells = ["flu", "Flu", "flu ", "\uff46lu", "cafe\u0301", "caf\u00e9", "", "  ", None]
    coded = encode(pd.Series(cells), Column(name="illness", role=role))
    if role != "quasi":
        assert ["caf\u00e9", "flu"] == coded.axis.values.tolist()
        assert [1, 1, 1, 1, 0, 0, 2, 2, 2] == coded.codes.tolist()
        assert 2 == coded.axis.missing
    else:
        # What a reader can tell apart stays apart: each must have its own k.
        assert 8 == len(coded.axis.values)
