"""Cells of other tools cover exactly the intended values, and where that is not clear, none."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonloom import Column, Schema, Table
from anonloom.data import Axis
from anonloom.hierarchies import Tree
from anonloom_columns import NotationReader, read_span
from anonloom_columns._notations.table import NOTATIONS, Vocabulary


def axis_of(values: list[object], **options: object) -> Axis:
    schema = Schema([Column(name="it", role="quasi", missing="own", **options)])
    table = Table.build(pd.DataFrame({"it": pd.Series(values, dtype=object)}), schema)
    return table.with_reader(NotationReader).axes[0]


def covered(axis: Axis, cell: str) -> list[str | None] | str | None:
    """Return the values that a cell covers, `anything`, or None when it cannot be read."""
    cover = axis.read(cell)
    if cover is None:
        return None
    return "anything" if cover.star else axis.texts(cover.codes)


# --- written by X of a random table ---------------------------------------------------------------

numbers = st.lists(st.integers(-50, 120), min_size=1, max_size=12, unique=True)
fractions = st.lists(st.integers(-200, 400).map(lambda n: n / 8), min_size=1, unique=True)
ends = st.tuples(st.integers(-60, 130), st.integers(0, 60)).map(lambda two: (two[0], sum(two)))

#: How tools write an interval, and whether its ends belong to it.
INTERVALS = {
    "({lo}.0, {hi}.0]": (False, True),
    "[{lo}.0, {hi}.0)": (True, False),
    "({lo},{hi}]": (False, True),
    "[{lo},{hi})": (True, False),
    "[{lo}, {hi}[": (True, False),
    "]{lo}, {hi}]": (False, True),
    "]{lo}, {hi}[": (False, False),
    "[{lo},{hi}]": (True, True),
    "[{lo}-{hi}]": (True, True),
    "{lo}-{hi}": (True, True),
    "{lo}.0-{hi}.0": (True, True),
    "{lo} - {hi}": (True, True),
    "{lo}\u2013{hi}": (True, True),
    "{lo}~{hi}": (True, True),
    "{lo} to {hi}": (True, True),
}


@given(st.sampled_from(sorted(INTERVALS)), numbers | fractions, ends)
def test_an_interval_of_numbers_covers_what_lies_in_it(
    notation: str, values: list[float], two: tuple[int, int]
) -> None:
    lo, hi = two
    with_lo, with_hi = INTERVALS[notation]
    inside = [
        value
        for value in sorted(values)
        if (lo <= value if with_lo else lo < value) and (value <= hi if with_hi else value < hi)
    ]
    axis = axis_of([*values], type="number")
    cover = axis.read(notation.format(lo=lo, hi=hi))
    if cover is None:
        # An interval in which no number of the column's kind can lie is none.
        assert [] == inside
        return
    assert inside == axis.values[cover.codes].tolist()


ONE_SIDED = {
    "(-inf, {end}.0]": lambda value, end: value <= end,
    "[-inf, {end}.0)": lambda value, end: value < end,
    "({end}.0, inf]": lambda value, end: value > end,
    "[{end}.0, inf)": lambda value, end: value >= end,
    "[{end},)": lambda value, end: value >= end,
    "(,{end})": lambda value, end: value < end,
    ">={end}": lambda value, end: value >= end,
    "> {end}": lambda value, end: value > end,
    "\u2265{end}": lambda value, end: value >= end,
    "<{end}": lambda value, end: value < end,
    "<= {end}": lambda value, end: value <= end,
    "\u2264 {end}": lambda value, end: value <= end,
    "{end}+": lambda value, end: value >= end,
    "{end} or more": lambda value, end: value >= end,
    "{end} and under": lambda value, end: value <= end,
    "over {end}": lambda value, end: value > end,
    "under {end}": lambda value, end: value < end,
    "at least {end}": lambda value, end: value >= end,
    "at most {end}": lambda value, end: value <= end,
}


@given(st.sampled_from(sorted(ONE_SIDED)), numbers | fractions, st.integers(-60, 130))
def test_a_top_or_bottom_code_covers_what_lies_beyond_it(
    notation: str, values: list[float], end: int
) -> None:
    axis = axis_of([*values], type="number")
    cover = axis.read(notation.format(end=end))
    assert cover is not None
    assert cover.ends is not None
    assert np.isfinite(cover.ends).all()
    expected = [value for value in sorted(values) if ONE_SIDED[notation](value, end)]
    assert expected == axis.values[cover.codes].tolist()


@given(numbers, st.integers(1, 9))
def test_tens_cover_ten_numbers(values: list[int], ten: int) -> None:
    axis = axis_of([*values], type="number")
    expected = [value for value in sorted(values) if value // 10 == ten]
    cover = axis.read(f"{ten}0s")
    assert cover is not None
    assert expected == axis.values[cover.codes].tolist()


words = st.text("abcdefg xyz'.()", min_size=1, max_size=4).filter(lambda text: text == text.strip())

LISTS = {
    "ARX": lambda names: "{" + ", ".join(names) + "}",
    "Python": lambda names: str(names),
    "Python's tuple": lambda names: str(tuple(names)),
    "numpy": lambda names: str(np.array(names, object)).replace("\n", ""),
    "anonypy": ",".join,
    "comma": ", ".join,
    "semicolon": ";".join,
    "bar": "|".join,
    "tilde": "~".join,
    "sdcApp": "_".join,
}


@given(st.sampled_from(sorted(LISTS)), st.lists(words, min_size=2, unique=True), st.data())
def test_a_set_covers_its_members(tool: str, values: list[str], data: st.DataObject) -> None:
    names = data.draw(st.lists(st.sampled_from(values), min_size=2, unique=True))
    assert sorted(names) == covered(axis_of([*values]), LISTS[tool](names))


@given(st.lists(st.text("ab,; ", min_size=1, max_size=5), min_size=1, unique=True), st.data())
def test_a_set_whose_members_hold_the_sign_between_them_has_one_reading_or_none(
    values: list[str], data: st.DataObject
) -> None:
    names = data.draw(st.lists(st.sampled_from(values), min_size=1, max_size=4, unique=True))
    cover = axis_of([*values]).read("{" + ", ".join(names) + "}")
    text = "{" + ", ".join(names) + "}"
    if text in values:
        return
    # Every way to cut at commas, tried one by one.
    readings = set()
    for joint in (", ", ","):
        pieces = text[1:-1].split(joint)
        for cuts in range(1 << (len(pieces) - 1)):
            members, member = [], pieces[0]
            for index, piece in enumerate(pieces[1:]):
                if cuts >> index & 1:
                    members.append(member)
                    member = piece
                else:
                    member += joint + piece
            members.append(member)
            if set(members) <= set(values):
                readings.add(tuple(members))
    axis = axis_of([*values])
    if len(readings) != 1:
        assert None is cover
    else:
        assert cover is not None
        assert sorted(set(*readings)) == axis.texts(cover.codes)


def fits(mask: str, value: str) -> bool:
    """Whether a mask is written of a value that is filled up on either side."""
    return any(
        all(sign in ("*", letter) for sign, letter in zip(mask, text, strict=True))
        for text in (value.ljust(len(mask)), value.rjust(len(mask)))
        if len(value) <= len(mask)
    )


@given(st.lists(st.text("12", min_size=4, max_size=4), min_size=1, unique=True), st.data())
def test_a_mask_covers_the_values_that_look_like_it(values: list[str], data: st.DataObject) -> None:
    value = data.draw(st.sampled_from(values))
    hidden = data.draw(st.sets(st.integers(0, 3), min_size=1, max_size=3))
    mask = "".join("*" if index in hidden else sign for index, sign in enumerate(value))
    assert [other for other in sorted(values) if fits(mask, other)] == covered(
        axis_of([*values]), mask
    )


@given(st.lists(st.text("12", min_size=1, max_size=4), min_size=1, unique=True), st.data())
def test_a_mask_of_values_of_many_lengths_covers_what_is_filled_up_with_stars(
    values: list[str], data: st.DataObject
) -> None:
    longest = max(map(len, values))
    value = data.draw(st.sampled_from(values)).ljust(longest)
    kept = data.draw(st.integers(1, longest))
    mask = value[:kept].rstrip() + "*" * (longest - len(value[:kept].rstrip()))
    if "*" not in mask:
        return
    assert [other for other in sorted(values) if fits(mask, other)] == covered(
        axis_of([*values]), mask
    )


days = st.dates().map(str)


@given(st.lists(days, min_size=1, max_size=10, unique=True), days, days)
def test_intervals_of_days_cover_what_lies_in_them(values: list[str], lo: str, hi: str) -> None:
    lo, hi = sorted((lo, hi))
    axis = axis_of([*values], type="date", publish="interval")
    inside = [value for value in sorted(values) if lo <= value <= hi]
    for cell in (f"{lo} to {hi}", f"{lo}/{hi}", f"{lo} - {hi}", f"[{lo},{hi}]"):
        assert inside == covered(axis, cell)
    if lo < hi:
        assert [value for value in inside if value > lo] == covered(axis, f"({lo}, {hi}]")
        assert [value for value in inside if value < hi] == covered(axis, f"[{lo},{hi})")
    assert [value for value in sorted(values) if value[:4] == lo[:4]] == covered(axis, lo[:4])


# --- what comes first, and what is not read -------------------------------------------------------


def test_a_value_of_the_original_is_itself_whatever_it_looks_like() -> None:
    values = ["60s", "a,b", "a", "b", "90+", "NA", "47**", "{a, b}", "1-2", "nan"]
    axis = axis_of([*values])
    assert [[value] for value in values] == [covered(axis, value) for value in values]


def test_a_node_of_the_hierarchy_is_that_node_whatever_it_looks_like() -> None:
    tree = Tree(tree={"60s": [58, 60], "90+": [5, 6], "x": [65]})
    axis = axis_of([60, 58, 65, 5, 6], type="number", hierarchy=tree)
    assert [["58", "60"], ["5", "6"]] == [covered(axis, cell) for cell in ("60s", "90+")]


def test_our_own_set_forgets_strangers_and_others_are_not_read_with_them() -> None:
    axis = axis_of(["a", "b", "c"])
    assert [["a", "b"], None, None, None] == [
        covered(axis, cell) for cell in ('{"a", "b", "z"}', "{a, b, z}", "['a', 'z']", "a,z")
    ]


def test_what_says_the_same_of_whole_numbers_has_the_same_ends() -> None:
    axis = axis_of([20, 25, 29, 30], type="number")
    cells = ("[20, 30)", "(19, 29]", "20-29", "20s", "[20, 30[", "(19.5, 29.9]", "[20,29]")
    covers = [axis.read(cell) for cell in cells]
    assert {(20.0, 29.0)} == {cover.ends for cover in covers if cover is not None}
    halves = axis_of([20, 29.5], type="number").read("[20, 29.5)")
    assert halves is not None
    assert [0] == halves.codes.tolist()


def test_a_mask_is_no_list_of_values() -> None:
    """What is only hinted at must not be named in a report."""
    cover = axis_of(["111", "121", "131", "222"]).read("1*1")
    assert cover is not None
    assert ("nodes", [0, 1, 2]) == (cover.form, cover.codes.tolist())


@pytest.mark.parametrize(
    "cell",
    [
        *("[30, 20]", "[20, 20)", "30-20", "[inf, 5]", "[5, -inf]", "(-inf, inf)", "[,]", "(,)"),
        *("1,000", "1.5", "20-30-40", "20 -", "-", "+", ">", ">=", "< x", "[20, x]", "1e999"),
        *("[20; 30; 40", "[20, 30}", "{20, 30]", "{}", "[]", "()", "['20'", "['20' '30", "[20 x]"),
        *("65s", "05s", "100s", "2000s", "20 to", "20~", "~20", "a*", "\u0665-\u0669", "٢+"),
    ],
)
def test_what_is_in_no_notation_is_not_read(cell: str) -> None:
    axis = axis_of([5, 20, 30, 1000, 1000000], type="number")
    if cell == "1.5":
        cover = axis.read(cell)
        assert cover is not None
        assert 0 == len(cover)
    else:
        assert None is axis.read(cell)


@pytest.mark.parametrize(
    ("type_", "cell"),
    [
        *(("number", cell) for cell in ("inf", "1_0", "", "x", "[9, 1]", "[a, b]", "[1, nan]")),
        *(("date", cell) for cell in ("NaT", "today", "now", "2020-13-01", "1")),
        *(("time", cell) for cell in ("NaT", "now", "1", "2019-05-01 25:00:00")),
        *(("time", cell) for cell in ("2019-05-01 10", "2019-05-01 10:00:00.5")),
        ("time", "[2019-05-02 00:00, 2019-05-01 00:00]"),
        *(("category", cell) for cell in ("c", "[a, b]")),
    ],
)
def test_what_is_no_cell_of_its_type_is_not_read(type_: str, cell: str) -> None:
    values: dict[str, list[object]] = {
        "number": [1, 10],
        "date": ["2019-05-01"],
        "time": ["2019-05-01 10:00:01"],
        "category": ["a", "b"],
    }
    assert None is axis_of(values[type_], type=type_).read(cell)


def test_two_numbers_with_a_dash_between_them_are_an_interval() -> None:
    axis = axis_of([20, 25, 30, 40], type="number")
    assert [["20", "25"], None] == [covered(axis, cell) for cell in ("20-25", "30-20")]


@pytest.mark.parametrize("type_", ["number", "date", "time", "category"])
@given(text=st.text("0123456789-/.,;|~_*[](){}<>=+ 'sQtoinf\n", max_size=14))
def test_any_text_is_read_or_not_without_an_error(type_: str, text: str) -> None:
    values = ["a", "b_c"] if type_ == "category" else ["2020-01-01", None]
    axis = axis_of([1, 2, 20] if type_ == "number" else [*values], type=type_)
    cover = axis.read(text)
    if cover is not None:
        assert set(cover.codes.tolist()) <= set(range(axis.size))
        assert 0 <= axis.cover_loss(cover) <= 1


@pytest.mark.parametrize(
    "cell",
    [
        "{" + "a, " * 50_000 + "b}",
        "[" * 100_000 + "]" * 100_000,
        "'" * 100_000,
        "[" + "'a', " * 50_000 + "'a]",
        "1" * 100_000 + "-" + "1" * 100_000,
        "1*" * 100_000,
        "a_" * 100_000 + "b",
        "\n" * 100_000,
        " to " * 50_000,
    ],
    ids=lambda cell: cell[:4],
)
def test_a_cell_as_long_as_a_book_is_not_read_and_takes_no_time(cell: str) -> None:
    axes = [axis_of(["a", "a_a", "a, a"]), axis_of([1], type="number")]
    axes.append(axis_of(["2020-01-01"], type="date"))
    # Work that grows with the square of the length would take minutes.
    assert [None] * 3 == [axis.read(cell) for axis in axes]


def test_every_notation_has_a_name_and_tools() -> None:
    assert len({notation.name for notation in NOTATIONS}) == len(NOTATIONS)
    assert all(notation.tools for notation in NOTATIONS)


def test_a_stretch_is_read_without_a_table() -> None:
    span = read_span("(60, 70]", "number")
    assert span is not None
    assert (60.0, 70.0, False, True) == tuple(span)
    assert (np.nextafter(60, 61), 70.0) == (span.first, span.last)
    assert [None, None] == [read_span("60-70", "category"), read_span("x", "number")]
    assert "Vocabulary(type='category')" == repr(Vocabulary("category", ("secret",)))
