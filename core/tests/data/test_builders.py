"""Rules that build hierarchies: every group holds the values that its label says, and nests."""

import calendar
import datetime
import re
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from anonloom import Column, Schema, Table
from anonloom.data._hierarchy_builders import Calendar, HierarchySource, Quantiles
from anonloom.errors import DataError
from anonloom.hierarchies import Breaks, Hierarchy, Prefix, Tree, Widths


def levels_of(hierarchy: Hierarchy) -> list[list[str]]:
    """Return the labels of every leaf, level by level."""
    return [[hierarchy.labels[node] for node in row] for row in hierarchy.ancestors]


def over(source: HierarchySource, values: list[object]) -> list[list[str]]:
    """Build over values; levels without the leaves and the root, in the order of the values."""
    kind = float if isinstance(values[0], float | int) else object
    array = np.array(values, kind)
    if isinstance(values[0], datetime.date):
        unit = "s" if isinstance(values[0], datetime.datetime) else "D"
        array = np.array(values, f"datetime64[{unit}]")
    hierarchy, order = source.over(array, False)
    levels = levels_of(hierarchy)
    assert ["*"] * len(values) == levels[-1]
    back = np.argsort(order)
    return [[level[index] for index in back] for level in levels[1:-1]]


def refusal(source: HierarchySource, values: list[object]) -> str:
    with pytest.raises(DataError) as error:
        over(source, values)
    return str(error.value)


def holds(label: str, value: float) -> bool:
    """Whether a number lies in a bin, judged by its label alone."""
    if label.startswith("< "):
        return value < float(label[2:])
    if label.startswith(">= "):
        return value >= float(label[3:])
    assert label[0] == "["
    assert label[-1] == ")"
    lo, hi = label[1:-1].split(", ")
    return float(lo) <= value < float(hi)


def check_bins(values: list[float], levels: list[list[str]]) -> None:
    """Every value lies in its bins, no two bins of a level overlap, and levels nest."""
    for labels in levels:
        for value, label in zip(values, labels, strict=True):
            assert holds(label, value)
        for label in set(labels):
            inside = {value for value in values if holds(label, value)}
            assert inside == {v for v, own in zip(values, labels, strict=True) if own == label}
    for finer, coarser in pairwise(levels):
        parents: dict[str, set[str]] = {}
        for low, high in zip(finer, coarser, strict=True):
            parents.setdefault(low, set()).add(high)
        assert all(len(above) == 1 for above in parents.values())


# --- bins of equal width --------------------------------------------------------------------------

WIDTHS = [(1.0,), (0.1,), (0.1, 0.3, 1.5), (10.0, 50.0), (0.25, 1.0), (1e-12, 1e-11), (7.0, 700.0)]
ordinary = st.one_of(
    st.integers(-1000, 1000).map(float),
    st.integers(-1000, 1000).map(lambda n: n / 10),
    st.floats(-1000, 1000),
    st.integers(-100, 100).map(lambda n: float(np.nextafter(n / 10, 1e9))),
    st.integers(-100, 100).map(lambda n: float(np.nextafter(n / 10, -1e9))),
)


@given(
    st.lists(ordinary, min_size=1, max_size=20, unique=True).map(sorted),
    st.sampled_from(WIDTHS),
    st.sampled_from([0.0, 0.05, -3.0, 18.0]),
)
def test_every_number_lies_in_its_bin_of_equal_width(
    values: list[float], widths: tuple[float, ...], start: float
) -> None:
    if widths[0] < 1e-9:
        values, start = [value * 1e-12 for value in values], 0.0
        assume(len(set(values)) == len(values))
    levels = over(Widths(widths=widths, start=start), values)
    check_bins(values, levels)
    for width, labels in zip(widths, levels, strict=True):
        for label in labels:
            lo, hi = (Fraction(end) for end in label[1:-1].split(", "))
            assert float(width) == pytest.approx(float(hi - lo))


def test_bins_begin_at_the_start_and_go_below_zero() -> None:
    assert [
        ["[-12, -2)", "[-2, 8)", "[8, 18)", "[18, 28)"],
        ["[-22, -2)", "[-2, 18)", "[-2, 18)", "[18, 38)"],
    ] == over(Widths(widths=(10, 20), start=18), [-3.0, -2.0, 17.9, 18.0])


def test_tenths_are_tenths() -> None:
    assert [["[0.2, 0.3)", "[0.3, 0.4)", "[0.6, 0.7)", "[0.7, 0.8)"]] == over(
        Widths(widths=(0.1,)), [0.29999999999, 0.3, 0.6, 0.7]
    )


def test_many_narrow_bins_are_told_apart() -> None:
    values = [float(index) for index in range(3000)]
    assert [[f"[{index}, {index + 1})" for index in range(3000)]] == over(
        Widths(widths=(1,)), values
    )


@pytest.mark.parametrize("value", [1e17, -1e300])
def test_numbers_too_large_for_their_bins_are_refused(value: float) -> None:
    expected = "bins of width 0.5 are too narrow for such large numbers"
    assert expected == refusal(Widths(widths=(0.5,)), [value])


def test_a_start_that_swallows_the_width_is_refused() -> None:
    expected = "bins of width 1 are too narrow for such large numbers"
    assert expected == refusal(Widths(widths=(1,), start=1e17), [1e17])


@pytest.mark.parametrize(
    ("widths", "message"),
    [
        ((0.0,), "a width must be greater than 0"),
        ((5, -10), "a width must be greater than 0"),
        ((5, 5), "each width must be a multiple of the one before"),
        ((10, 5), "each width must be a multiple of the one before"),
        ((10, 25), "each width must be a multiple of the one before"),
        ((0.1, 0.25), "each width must be a multiple of the one before"),
        ((1 / 3, 1), "each width must be a multiple of the one before"),
    ],
)
def test_widths_must_nest(widths: tuple[float, ...], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        Widths(widths=widths)


# --- breaks and quantiles -------------------------------------------------------------------------

BREAKS = [((10.0, 20.0, 30.0), (10.0, 30.0), (30.0,)), ((-1.5, 0.0),), ((0.1, 0.2, 0.3), (0.2,))]


@given(
    st.lists(ordinary, min_size=1, max_size=20, unique=True).map(sorted), st.sampled_from(BREAKS)
)
def test_every_number_lies_between_its_breaks(
    values: list[float], breaks: tuple[tuple[float, ...], ...]
) -> None:
    check_bins(values, over(Breaks(breaks=breaks), values))


@pytest.mark.parametrize(
    ("breaks", "message"),
    [
        (((),), "the breaks of a level must be ascending and not repeated"),
        (((2.0, 1.0),), "the breaks of a level must be ascending and not repeated"),
        (((1.0, 1.0),), "the breaks of a level must be ascending and not repeated"),
        (((1.0,), (2.0,)), "each level may use only breaks of the level before, and fewer"),
        (((1.0,), (1.0,)), "each level may use only breaks of the level before, and fewer"),
    ],
)
def test_breaks_must_nest(breaks: tuple[tuple[float, ...], ...], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        Breaks(breaks=breaks)


@given(
    st.lists(ordinary, min_size=1, max_size=30, unique=True).map(sorted),
    st.sampled_from([(2,), (16, 4, 2), (6, 3), (12, 6, 3), (4, 2)]),
)
def test_quantiles_are_nested_bins_of_about_equally_many_values(
    values: list[float], groups: tuple[int, ...]
) -> None:
    levels = over(Quantiles(groups=groups), values)
    check_bins(values, levels)
    finest = pd.Series(levels[0]).value_counts()
    assert len(finest) <= groups[0]
    assert finest.max() <= -(-len(values) // groups[0]) + 1
    fitted = Quantiles(groups=groups).breaks_over(np.array(values))
    assert levels == over(fitted, values)


def test_quantiles_of_eight_values() -> None:
    assert [
        ["< 2.75"] * 2 + ["[2.75, 4.5)"] * 2 + ["[4.5, 6.25)"] * 2 + [">= 6.25"] * 2,
        ["< 4.5"] * 4 + [">= 4.5"] * 4,
    ] == over(Quantiles(groups=(4, 2)), [float(index) for index in range(1, 9)])


def test_quantiles_of_a_constant_and_of_nothing_are_breaks_too() -> None:
    assert [[">= 5"]] == over(Quantiles(groups=(4, 2)), [5.0])
    assert Breaks(breaks=((0.0,),)) == Quantiles(groups=(4, 2)).breaks_over(np.empty(0))


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ((1,), "a level needs 2 to 100000 bins"),
        ((100_001,), "a level needs 2 to 100000 bins"),
        ((10**18, 2), "a level needs 2 to 100000 bins"),
        ((4, 3), "each number of bins must divide the one before"),
        ((4, 4), "each number of bins must divide the one before"),
        ((2, 4), "each number of bins must divide the one before"),
    ],
)
def test_numbers_of_quantiles_must_nest(groups: tuple[int, ...], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        Quantiles(groups=groups)


# --- prefixes -------------------------------------------------------------------------------------


@given(
    st.lists(st.text("01aß\U0001f600", max_size=5), min_size=1, max_size=15, unique=True),
    st.sampled_from([(1,), (3, 2, 1), (4, 2)]),
    st.sampled_from(["*", "X", "?"]),
)
def test_codes_share_a_group_exactly_when_they_share_length_and_prefix(
    codes: list[str], keep: tuple[int, ...], mask: str
) -> None:
    codes = sorted(codes)
    levels = over(Prefix(keep=keep, mask=mask), codes)
    for kept, labels in zip(keep, levels, strict=True):
        for code, label in zip(codes, labels, strict=True):
            assert code[:kept] == label[:kept]
            assert len(code) == len(label)
            alike = {c for c in codes if len(c) == len(code) and c[:kept] == code[:kept]}
            assert alike == {c for c, own in zip(codes, labels, strict=True) if own == label}


def test_leading_zeros_and_short_codes_stay() -> None:
    assert [
        ["0", "01", "01**", "01**", "9***"],
        ["0", "0*", "0***", "0***", "9***"],
    ] == [
        [label.replace("99**", "9***") for label in level]
        for level in over(Prefix(keep=(2, 1)), ["0", "01", "0123", "0145", "9911"])
    ]


def test_a_code_that_holds_the_mask_is_refused_and_not_shown() -> None:
    """W1X could be a district of London, or all that begin with W1."""
    expected = (
        "1 of 2 codes holds the mask 'X' where it stands for what is cut; choose another 'mask'"
    )
    assert expected == refusal(Prefix(keep=(2, 1), mask="X"), ["W1A", "W1X"])
    expected = (
        "2 of 2 codes hold the mask '*' where it stands for what is cut; choose another 'mask'"
    )
    assert expected == refusal(Prefix(keep=(2, 1)), ["1*5", "123*"])
    assert [["X1?", "X2?"]] == over(Prefix(keep=(2,), mask="?"), ["X1A", "X2A"])
    assert [["X1X", "X2X"]] == over(Prefix(keep=(2,), mask="X"), ["X1A", "X2A"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"keep": (1, 2)}, "'keep' must fall from level to level and stay at least 1"),
        ({"keep": (2, 2)}, "'keep' must fall from level to level and stay at least 1"),
        ({"keep": (2, 0)}, "'keep' must fall from level to level and stay at least 1"),
        ({"keep": (2,), "mask": ""}, "'mask' must be one character"),
        ({"keep": (2,), "mask": "**"}, "'mask' must be one character"),
    ],
)
def test_prefixes_must_shrink(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        Prefix(**options)


# --- calendar -------------------------------------------------------------------------------------


@given(st.lists(st.dates(), min_size=1, max_size=15, unique=True).map(sorted))
def test_days_lie_in_their_units_of_the_calendar(days: list[datetime.date]) -> None:
    expected = [
        [f"{day.year:04d}-{day.month:02d}" for day in days],
        [f"{day.year:04d}-Q{(day.month + 2) // 3}" for day in days],
        [f"{day.year:04d}" for day in days],
        [f"{day.year - day.year % 10:04d}s" for day in days],
    ]
    assert expected == over(Calendar(), days)
    assert [expected[1], expected[3]] == over(Calendar(units=("quarter", "decade")), days)


def test_a_leap_day_and_the_last_days_before_1970() -> None:
    days = [datetime.date(1969, 12, 31), datetime.date(1970, 1, 1), datetime.date(2024, 2, 29)]
    assert calendar.isleap(2024)
    assert [["1969-12", "1970-01", "2024-02"], ["1960s", "1970s", "2020s"]] == over(
        Calendar(units=("month", "decade")), days
    )


moments = st.datetimes(datetime.datetime(1, 1, 1), datetime.datetime(9999, 12, 31)).map(
    lambda moment: moment.replace(microsecond=0)
)


@given(st.lists(moments, min_size=1, max_size=15, unique=True).map(sorted))
def test_times_lie_in_their_units_of_the_calendar(times: list[datetime.datetime]) -> None:
    starts = [time.hour // 6 * 6 for time in times]
    expected = [
        [f"{time.date()} {time.hour:02d}h" for time in times],
        [
            f"{time.date()} {index:02d}-{index + 6:02d}h"
            for time, index in zip(times, starts, strict=True)
        ],
        [str(time.date()) for time in times],
        [f"{time.year:04d}-{time.month:02d}" for time in times],
        [f"{time.year:04d}-Q{(time.month + 2) // 3}" for time in times],
        [f"{time.year:04d}" for time in times],
        [f"{time.year - time.year % 10:04d}s" for time in times],
    ]
    assert expected == over(Calendar(), times)
    assert [expected[0], expected[2]] == over(Calendar(units=("hour", "day")), times)


@given(st.lists(moments, min_size=1, max_size=15, unique=True).map(sorted))
def test_units_over_times_nest_and_no_two_have_one_label(times: list[datetime.datetime]) -> None:
    values = np.array(times, "datetime64[s]")
    hierarchy, order = Calendar().over(values, False)
    assert list(range(len(times))) == order.tolist()
    assert len(set(hierarchy.labels)) == len(hierarchy.labels)
    for finer, coarser in pairwise(hierarchy.ancestors):
        assert all(len(set(coarser[finer == node].tolist())) == 1 for node in finer)


@pytest.mark.parametrize("units", [("year", "month"), ("year", "year"), ("day", "hour")])
def test_units_must_grow(units: tuple[str, ...]) -> None:
    message = (
        "units must go from fine to coarse: hour, quarter-day, day, month, quarter, year, decade"
    )
    with pytest.raises(ValueError, match=f"^{message}$"):
        Calendar(units=units)


# --- in a column ----------------------------------------------------------------------------------


def build(values: object, **options: object) -> Table:
    schema = Schema([Column(name="zip", role="quasi", **options)])
    return Table.build(pd.DataFrame({"zip": values}), schema)


def test_a_value_that_is_missing_from_its_hierarchy_is_counted_and_not_shown() -> None:
    tree = Tree(tree={"x": ["a", "b"]})
    with pytest.raises(DataError) as error:
        build(["a", "b", "secret", "secret", None], hierarchy=tree)
    expected = "column 'zip': 1 of 3 values (in 2 rows) is missing from the hierarchy; complete the hierarchy, or write 'unknown: own-leaf'"
    assert expected == str(error.value)
    with pytest.raises(DataError) as error:
        build(["secret"], hierarchy=tree)
    expected = "column 'zip': 1 of 1 values (in 1 row) is missing from the hierarchy; complete the hierarchy, or write 'unknown: own-leaf'"
    assert expected == str(error.value)


def test_an_unknown_value_may_be_a_leaf_of_its_own() -> None:
    table = build(["a", "new", "b"], hierarchy=Tree(tree={"x": ["b", "a"]}), unknown="own-leaf")
    axis = table.axes[0]
    assert ["b", "a", "new"] == axis.values.tolist()
    assert [1, 2, 0] == table.codes[0].tolist()
    assert ["x", "*"] == axis.publish(np.array([0, 1]), np.array([1, 2])).tolist()


def test_a_message_about_a_hierarchy_names_the_column_and_no_cell() -> None:
    with pytest.raises(DataError) as error:
        build(["123", "12*"], hierarchy=Prefix(keep=(2,)))
    expected = "column 'zip': 1 of 2 codes holds the mask '*' where it stands for what is cut; choose another 'mask'"
    assert expected == str(error.value)
    with pytest.raises(DataError) as error:
        build(["a", "x"], hierarchy=Tree(tree={"x": ["a", "b"]}), unknown="own-leaf")
    expected = "column 'zip': 1 of the values that the hierarchy lacks is written like a group of it; rename them, or add them to the hierarchy"
    assert expected == str(error.value)


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        (Widths(widths=(1,)), "category"),
        (Breaks(breaks=((1,),)), "date"),
        (Quantiles(groups=(2,)), "category"),
        (Prefix(keep=(1,)), "number"),
    ],
)
def test_a_hierarchy_suits_its_types_only(source: HierarchySource, kind: str) -> None:
    (suits,) = source.suits
    message = f"this hierarchy is for a {suits}; the column's type is '{kind}'"
    with pytest.raises(ValueError, match=f"^{message}$"):
        Column(name="zip", role="quasi", type=kind, hierarchy=source)


def test_the_calendar_suits_dates_and_times() -> None:
    message = "this hierarchy is for a date or a time; the column's type is 'number'"
    with pytest.raises(ValueError, match=f"^{message}$"):
        Column(name="zip", role="quasi", type="number", hierarchy=Calendar())


@pytest.mark.parametrize("unit", ["hour", "quarter-day", "day"])
def test_a_date_has_no_unit_below_the_month(unit: str) -> None:
    units = Calendar(units=(unit, "year"))
    message = (
        f"'{unit}' is a unit of 'type: time'; those of a date are month, quarter, year, decade"
    )
    with pytest.raises(ValueError, match=f"^{message}$"):
        Column(name="zip", role="quasi", type="date", hierarchy=units)
    assert units == Column(name="zip", role="quasi", type="time", hierarchy=units).generalization


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        (Widths(widths=(1,)), "number"),
        (Quantiles(groups=(2,)), "number"),
        (Prefix(keep=(1,)), "category"),
        (Calendar(), "date"),
        (Calendar(), "time"),
        (Tree(tree={"x": ["a"]}), "category"),
    ],
)
def test_a_column_without_any_value_needs_no_hierarchy(source: HierarchySource, kind: str) -> None:
    table = build(pd.Series([None, None], dtype=object), type=kind, hierarchy=source)
    assert (0, 0) == (table.axes[0].value_count, table.axes[0].missing)


NUMBERS = st.lists(st.floats(-1e4, 1e4, allow_nan=False), min_size=1, max_size=8, unique=True).map(
    sorted
)
MOMENTS = st.lists(
    st.datetimes(datetime.datetime(1000, 1, 1), datetime.datetime(2900, 1, 1)).map(
        lambda moment: moment.replace(microsecond=0)
    ),
    min_size=1,
    max_size=6,
    unique=True,
).map(sorted)
CODES = st.lists(
    st.text("0123456789ab", min_size=1, max_size=6), min_size=1, max_size=8, unique=True
)
TOWNS = {"north": {"coast": ["a", "b"], "hills": ["c"]}, "south": ["d", "e"]}


@given(
    st.one_of(
        st.tuples(st.just(Breaks(breaks=((-5, 0.5, 20, 300), (0.5, 20), (20,)))), NUMBERS),
        st.tuples(st.just(Widths(widths=(0.1, 2.5, 100), start=0.3)), NUMBERS),
        NUMBERS.map(lambda some: (Quantiles(groups=(4, 2)).breaks_over(np.array(some)), some)),
        st.tuples(st.just(Prefix(keep=(3, 2))), CODES),
        st.tuples(st.just(Prefix(keep=(4, 1), mask="#")), CODES),
        st.tuples(st.just(Calendar()), MOMENTS),
        st.tuples(
            st.just(Calendar()),
            MOMENTS.map(lambda some: sorted({moment.date() for moment in some})),
        ),
        st.tuples(st.just(Tree(tree=TOWNS)), st.just(list("abcde"))),
    )
)
def test_a_stand_in_lies_in_the_group_whose_label_told_it(made):
    source, values = made
    moments = isinstance(values[0], datetime.date)
    for level in over(source, values):
        for label in set(level) - set(map(str, values)):
            value = source.stand_in(label)
            assert value is not None
            if moments:
                # A date for units of days; within a day there is a time.
                value = datetime.datetime.fromisoformat(value)
                value = value if isinstance(values[0], datetime.datetime) else value.date()
            assert label in {result for again in over(source, [value]) for result in again}


@pytest.mark.parametrize(
    ("source", "labels"),
    [
        (Breaks(breaks=((0, 20), (20,))), ["[0, 30)", "20", "old"]),
        (Widths(widths=(10, 50)), ["[0, 10]", "[0, 20)", "[five, 10)", "10", "old"]),
        (Prefix(keep=(3, 1)), ["1234", "12*4", "1#", "*"]),
        (Calendar(), ["soon", "2024-Q5", "2024-3", "the 2020s"]),
        (Tree(tree=TOWNS), ["west", "a"]),
        (Quantiles(groups=(2,)), ["<20"]),
    ],
)
def test_a_label_of_no_group_tells_no_value(source, labels):
    assert [None] * len(labels) == [source.stand_in(label) for label in labels]


@given(NUMBERS, st.data())
def test_bins_without_breaks_that_are_not_shown_are_unions_of_bins(values, data):
    whole = Quantiles(groups=(8, 4, 2)).breaks_over(np.array(values))
    shown = data.draw(st.sets(st.sampled_from(whole.breaks[0])))
    kept = whole.only(shown)

    assert {end for level in kept.breaks for end in level} <= (shown or {0.0})
    labels = {label for level in over(whole, values) for label in level}
    ends = {label: set(re.findall(r"-?\d[\d.e+-]*", label)) for label in labels}
    texts = {text for some in ends.values() for text in some if float(text) in shown}
    # A bin whose ends are all shown is a bin still.
    still = {label for label in labels if ends[label] <= texts}
    assert still <= {label for level in over(kept, values) for label in level} | set(
        map(str, values)
    )
