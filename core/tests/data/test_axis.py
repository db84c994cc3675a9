"""An axis: its loss is that of a slow reference, and its cells read back as what they cover."""

import datetime

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonloom import Column, Schema, Table
from anonloom.data import Axis
from anonloom.data._hierarchy_builders import Calendar
from anonloom.hierarchies import Breaks, Prefix, Tree, Widths

TREE = {"x": ["a", "b", "c"], "y": {"p": ["d", "e"], "f": None}, "g": None}
START = datetime.date(1969, 11, 1)

COLUMNS: dict[str, Column] = {
    "interval": Column(name="it", role="quasi", type="number"),
    "bins": Column(
        name="it", role="quasi", type="number", hierarchy=Widths(widths=(2, 6)), publish="nodes"
    ),
    "breaks": Column(
        name="it", role="quasi", type="number", hierarchy=Breaks(breaks=((0, 3), (3,)))
    ),
    "numbers": Column(name="it", role="quasi", type="number", publish="set"),
    "flat": Column(name="it", role="quasi"),
    "tree": Column(name="it", role="quasi", hierarchy=Tree(tree=TREE)),
    "prefix": Column(name="it", role="quasi", hierarchy=Prefix(keep=(2, 1))),
    "set": Column(name="it", role="quasi", publish="set"),
    "calendar": Column(name="it", role="quasi", type="date", hierarchy=Calendar()),
    "days": Column(name="it", role="quasi", type="date", publish="interval"),
    "hours": Column(name="it", role="quasi", type="time"),
    "times": Column(name="it", role="quasi", type="time", publish="interval"),
    "moments": Column(name="it", role="quasi", type="time", publish="set"),
}


def cells_for(kind: str) -> st.SearchStrategy[object]:
    column = COLUMNS[kind]
    if column.type == "number":
        return st.integers(-6, 12).map(lambda n: n / 2)
    if column.type == "date":
        return st.integers(0, 900).map(lambda day: str(START + datetime.timedelta(days=day)))
    if column.type == "time":
        start = datetime.datetime(1969, 11, 1)
        seconds = st.one_of(st.integers(0, 100_000), st.integers(0, 80_000_000))
        return seconds.map(lambda second: str(start + datetime.timedelta(seconds=second)))
    if kind == "tree":
        return st.sampled_from("abcdefg")
    if kind == "prefix":
        return st.text("012", min_size=1, max_size=4)
    return st.text(min_size=1, max_size=3).filter(lambda text: text != "*")


@st.composite
def axes(draw: st.DrawFn) -> Axis:
    kind = draw(st.sampled_from(sorted(COLUMNS)))
    values = draw(st.lists(cells_for(kind), max_size=15))
    missing = draw(st.booleans()) or not values
    frame = pd.DataFrame({"it": pd.Series([*values, None] if missing else values, dtype=object)})
    return Table.build(frame, Schema([COLUMNS[kind]])).axes[0]


@st.composite
def extents(draw: st.DrawFn) -> tuple[Axis, int, int]:
    axis = draw(axes())
    lo = draw(st.integers(0, axis.size - 1))
    return axis, lo, draw(st.integers(lo, axis.size - 1))


def paths(axis: Axis) -> list[list[str]]:
    """Labels from every value up to the root."""
    assert axis.hierarchy is not None
    above = axis.hierarchy.ancestors
    return [
        [axis.hierarchy.labels[node] for node in above[:, index]]
        for index in range(axis.value_count)
    ]


def under(axis: Axis, lo: int, hi: int) -> list[int]:
    """Codes under the lowest label that all values from lo to hi share."""
    of = paths(axis)
    label = next(label for label in of[lo] if all(label in of[code] for code in range(lo, hi + 1)))
    return [code for code in range(axis.value_count) if label in of[code]]


def spread(axis: Axis, codes: list[int]) -> float:
    own = axis.values[codes]
    if axis.type in ("date", "time"):
        return float((own.max() - own.min()).astype(int))
    return float(own.max() - own.min())


def slow_loss(axis: Axis, lo: int, hi: int) -> float:
    """NCP as it is defined, one class at a time."""
    if hi == axis.missing:
        return 0.0 if lo == hi else 1.0
    everything = list(range(axis.value_count))
    if axis.form == "interval":
        whole = spread(axis, everything)
        return spread(axis, list(range(lo, hi + 1))) / whole if whole else 0.0
    codes = list(range(lo, hi + 1)) if axis.form == "set" else under(axis, lo, hi)
    if axis.form == "set" or axis.type == "category":
        return len(codes) / axis.value_count if len(codes) > 1 else 0.0
    whole = spread(axis, everything)
    return spread(axis, codes) / whole if whole else 0.0


@given(extents())
def test_the_loss_is_that_of_the_definition(extent: tuple[Axis, int, int]) -> None:
    axis, lo, hi = extent
    assert slow_loss(axis, lo, hi) == pytest.approx(axis.loss(np.array([lo]), np.array([hi]))[0])


@given(axes())
def test_the_loss_lies_between_0_and_1_and_grows_with_what_is_covered(axis: Axis) -> None:
    lo, hi = np.triu_indices(axis.size)
    table = np.full((axis.size, axis.size), np.nan)
    table[lo, hi] = axis.loss(lo, hi)
    result = table[lo, hi]
    assert ((result >= 0) & (result <= 1)).all()
    assert np.zeros(axis.size).tolist() == np.diag(table).tolist()
    for a, b in zip(lo.tolist(), hi.tolist(), strict=True):
        if b + 1 < axis.size:
            assert table[a, b + 1] >= table[a, b]
        # A class of nothing but missing values loses nothing, a mixed one everything.
        if a > 0:
            assert table[a - 1, b] >= table[a, b]


@given(extents())
def test_a_published_cell_covers_what_it_was_made_of(extent: tuple[Axis, int, int]) -> None:
    axis, lo, hi = extent
    (cell,) = axis.publish(np.array([lo]), np.array([hi]))
    cover = axis.read(cell)
    assert cover is not None
    inside = list(range(lo, hi + 1))
    mixed = lo < hi == axis.missing
    if mixed:
        expected = list(range(axis.size))
    elif axis.form == "nodes" and lo < axis.value_count:
        expected = under(axis, lo, hi)
    else:
        expected = inside
    assert expected == sorted(cover.codes.tolist()) or (cell == "*" and not mixed)
    assert set(inside) <= set(cover.codes.tolist())
    if cell == "*":
        assert 1.0 == axis.cover_loss(cover)
    else:
        assert slow_loss(axis, lo, hi) == pytest.approx(axis.cover_loss(cover))


@given(axes())
def test_equal_extents_publish_equal_cells(axis: Axis) -> None:
    lo, hi = np.triu_indices(axis.size)
    alone = [
        axis.publish(lo[index : index + 1], hi[index : index + 1])[0] for index in range(len(lo))
    ]
    assert alone == axis.publish(lo, hi).tolist()
    assert alone * 2 == axis.publish(np.tile(lo, 2), np.tile(hi, 2)).tolist()
    assert [] == axis.publish(lo[:0], hi[:0]).tolist()


@given(axes(), st.data())
def test_a_set_reads_back_as_its_members(axis: Axis, data: st.DataObject) -> None:
    codes = data.draw(st.sets(st.integers(0, axis.size - 1), min_size=1).map(sorted))
    (cell,) = axis.publish_sets([np.array(codes)])
    cover = axis.read(cell)
    assert cover is not None
    if axis.missing in codes and len(codes) > 1:
        assert cover.star
    else:
        assert codes == cover.codes.tolist()
        assert (0.0 if len(codes) == 1 else len(codes) / axis.value_count) == axis.cover_loss(cover)


@given(extents(), st.integers(-1, 9))
def test_a_level_asks_for_at_least_that_node(extent: tuple[Axis, int, int], level: int) -> None:
    axis, lo, hi = extent
    if axis.hierarchy is None or hi >= axis.value_count:
        return
    level = min(level, axis.hierarchy.depth - 1)
    (cell,) = axis.publish(np.array([lo]), np.array([hi]), np.array([level]), form="nodes")
    of = paths(axis)
    shared = [
        index
        for index in range(max(level, 0), axis.hierarchy.depth)
        if len({of[code][index] for code in range(lo, hi + 1)}) == 1
    ]
    assert of[lo][shared[0]] == cell
    result = axis.node_loss(np.array([lo]), np.array([hi]), np.array([level]))[0]
    cover = axis.read(cell)
    assert cover is not None
    if cell != "*":
        assert axis.cover_loss(cover) == pytest.approx(result)


def axis_of(values: list[object], **options: object) -> Axis:
    schema = Schema([Column(name="it", role="quasi", **options)])
    return Table.build(pd.DataFrame({"it": pd.Series(values, dtype=object)}), schema).axes[0]


def publish(axis: Axis, lo: int, hi: int, **options: object) -> object:
    return axis.publish(np.array([lo]), np.array([hi]), **options)[0]


def test_what_is_published_of_numbers_and_days() -> None:
    ages = axis_of([54, 75.5, -3, None], type="number")
    assert ["-3", "[-3, 54]", "[-3, 75.5]", "*", None] == [
        publish(ages, *ends) for ends in ((0, 0), (0, 1), (0, 2), (2, 3), (3, 3))
    ]
    days = axis_of(["2020-02-29", "1969-12-31"], type="date", publish="interval")
    assert "[1969-12-31, 2020-02-29]" == publish(days, 0, 1)


def test_what_is_published_of_times() -> None:
    cells = ["2024-03-01 14:05:00", "2024-03-01T14:59", "2024-03-01 17:00", "2024-03-02"]
    times = axis_of([*cells, None], type="time", publish="interval")
    first, last = "2024-03-01 14:05:00", "2024-03-02 00:00:00"
    assert [first, f"[{first}, {last}]", "*", None] == [
        publish(times, *ends) for ends in ((0, 0), (0, 3), (3, 4), (4, 4))
    ]
    nodes = axis_of(cells, type="time")
    assert ["2024-03-01 14h", "2024-03-01 12-18h", "2024-03"] == [
        publish(nodes, 0, last) for last in (1, 2, 3)
    ]
    assert "2024-03-01" == publish(nodes, 0, 0, level=np.array([3]))
    sets = axis_of(cells[:2], type="time", publish="set")
    assert '{"2024-03-01 14:05:00", "2024-03-01 14:59:00"}' == publish(sets, 0, 1)


@pytest.mark.parametrize(
    ("cell", "codes", "ends"),
    [
        ("[1970-01-01 00:00:00, 1970-01-01 00:01:40]", [0, 1], (0.0, 100.0)),
        ("[1969-12-31T23:59, 1970-01-01 00:00:59]", [0], (-60.0, 59.0)),
        ("1970-01-01T00:01", [1], (60.0, 60.0)),
        ("1970-01-01 00:00:30", [], (30.0, 30.0)),
    ],
)
def test_intervals_and_single_times_are_read(
    cell: str, codes: list[int], ends: tuple[float, float]
) -> None:
    cells = ["1970-01-01 00:00:10", "1970-01-01 00:01:00", "1970-01-01 00:03:00"]
    cover = axis_of(cells, type="time", publish="interval").read(cell)
    assert cover is not None
    assert (codes, ends) == (cover.codes.tolist(), cover.ends)


def test_a_single_value_of_a_set_is_published_as_it_is_on_any_level() -> None:
    axis = axis_of(["a", "b"], publish="set")
    assert "a" == publish(axis, 0, 0, level=np.array([1]))
    assert "*" == publish(axis, 0, 0, level=np.array([1]), form="nodes")
    assert '{"a", "b"}' == publish(axis, 0, 1)


def test_missing_mixed_with_values_is_a_star_and_alone_nothing_is_lost() -> None:
    for form in ("nodes", "set"):
        axis = axis_of(["a", None, "b"], publish=form)
        assert [1.0, 1.0, 0.0] == axis.loss(np.array([0, 1, 2]), np.array([2, 2, 2])).tolist()
        assert "*" == publish(axis, 1, 2)
        assert None is publish(axis, 2, 2)
    empty = axis_of([None, None])
    assert (1, 0) == (empty.size, empty.value_count)
    assert [0.0] == empty.loss(np.array([0]), np.array([0])).tolist()
    assert None is publish(empty, 0, 0)
    cover = empty.read(None)
    assert cover is not None
    assert [0] == cover.codes.tolist()


def test_a_constant_column_loses_nothing() -> None:
    for options in ({"type": "number"}, {}, {"publish": "set"}):
        axis = axis_of([5, 5], **options)
        assert 0.0 == axis.range
        assert [0.0] == axis.loss(np.array([0]), np.array([0])).tolist()
        assert "5" == publish(axis, 0, 0)


def test_places_are_numbers_days_and_ranks_and_missing_lies_far_away() -> None:
    assert [-2.0, 3.0, 8.0] == axis_of([3, -2, None], type="number").places.tolist()
    assert [0.0, 1.0, 2.0] == axis_of(["b", None, "a"]).places.tolist()
    assert [-1.0, 1.0] == axis_of(["1970-01-02", "1969-12-31"], type="date").places.tolist()
    assert [7.0, 8.0] == axis_of([7, None], type="number").places.tolist()
    times = axis_of(["1970-01-01 00:01", "1969-12-31 23:59:59", None], type="time")
    assert ([-1.0, 60.0, 121.0], 61.0) == (times.places.tolist(), times.range)


def test_single_values_are_written_as_they_were() -> None:
    axis = axis_of([2.0, 1.5, None], type="number")
    assert ["1.5", "2", None, "1.5"] == axis.texts(np.array([0, 1, 2, 0]))


def test_a_group_called_like_an_interval_is_a_group() -> None:
    tree = Tree(tree={"[20, 29]": [21, 22], "[30, 39]": [35]})
    axis = axis_of([21, 22, 35], type="number", hierarchy=tree)
    assert "[20, 29]" == publish(axis, 0, 1)
    cover = axis.read("[20, 29]")
    assert cover is not None
    assert ("nodes", [0, 1]) == (cover.form, cover.codes.tolist())
    assert 1 / 14 == axis.cover_loss(cover)


@pytest.mark.parametrize("cell", ["nan", "inf", "1_0", "", "x", "[9, 1]", "[a, b]", "[1, nan]"])
def test_what_is_no_cell_of_a_number_cannot_be_read(cell: str) -> None:
    assert None is axis_of([1, 10], type="number").read(cell)


@pytest.mark.parametrize("cell", ["2020", "2020-05", "NaT", "today", "now", "2020-13-01", "1"])
def test_what_is_no_cell_of_a_date_cannot_be_read(cell: str) -> None:
    assert None is axis_of(["2019-05-01"], type="date").read(cell)


@pytest.mark.parametrize(
    "cell",
    [
        *("2020", "2020-05", "2020-05-02", "NaT", "now", "1"),
        *("2019-05-01 25:00:00", "2019-05-01 10", "2019-05-01 10:00:00.5"),
        *("[2019-05-01, 2019-05-02]", "[2019-05-02 00:00, 2019-05-01 00:00]"),
    ],
)
def test_what_is_no_cell_of_a_time_cannot_be_read(cell: str) -> None:
    assert None is axis_of(["2019-05-01 10:00:01"], type="time").read(cell)


def test_what_is_no_cell_of_a_category_cannot_be_read() -> None:
    axis = axis_of(["a", "b"])
    assert [None, None, None] == [axis.read(cell) for cell in ("c", "[a, b]", None)]


def test_numbers_in_another_spelling_and_centroids_are_single_values() -> None:
    axis = axis_of([1, 10], type="number")
    for cell, codes in (("1.0", [0]), ("1e1", [1]), ("5.5", [])):
        cover = axis.read(cell)
        assert cover is not None
        assert (codes, 0.0) == (cover.codes.tolist(), axis.cover_loss(cover))


def test_an_interval_of_another_table_covers_what_lies_inside() -> None:
    axis = axis_of([1, 5, 10], type="number")
    cover = axis.read("[2, 100]")
    assert cover is not None
    assert ([1, 2], (2.0, 100.0), 1.0) == (
        cover.codes.tolist(),
        cover.ends,
        axis.cover_loss(cover),
    )


def test_a_set_counts_a_member_once_and_forgets_strangers() -> None:
    axis = axis_of(["a", "b", "c"], publish="set")
    cover = axis.read('{"a", "a", "b", "z"}')
    assert cover is not None
    assert [0, 1] == cover.codes.tolist()
    assert 2 / 3 == axis.cover_loss(cover)


def test_a_number_without_a_hierarchy_has_no_nodes() -> None:
    axis = axis_of([1, 2], type="number")
    with pytest.raises(ValueError, match=r"^column 'it' has no hierarchy$"):
        axis.node(np.array([0]), np.array([1]))


def test_a_weight_is_kept_and_no_value_is_shown() -> None:
    axis = axis_of(["secret"], weight=2.5)
    expected = "Axis(name='it', type='category', form='nodes', weight=2.5, missing=-1)"
    assert expected == repr(axis)


def test_numbers_at_the_edge_of_what_is_allowed_have_finite_losses() -> None:
    axis = axis_of([-1e300, 0.0, 1e300], type="number")
    assert [0.5, 1.0] == axis.loss(np.array([0, 0]), np.array([1, 2])).tolist()


@pytest.mark.parametrize(
    ("cell", "covered"),
    [
        ("[20, 30]", [20, 25, 30]),
        ("[20, 30)", [20, 25]),
        ("[20, 30[", [20, 25]),
        ("20-25", None),
        ("[30, 30)", None),
    ],
)
def test_an_interval_without_its_last_value_is_read(cell: str, covered: list[int] | None) -> None:
    axis = axis_of([20, 25, 30, 40], type="number")
    cover = axis.read(cell)
    assert covered == (None if cover is None else [axis.values[code] for code in cover.codes])


@pytest.mark.parametrize(
    ("values", "lo", "hi", "covered", "ends"),
    [
        ([20, 25, 30], 19.5, 29.9, [20, 25], (20, 29)),
        ([20, 25, 30], 25, np.inf, [25, 30], (25, 30)),
        ([20, 25, 30], 40, np.inf, [], (40, 40)),
        ([20, 25, 30], -np.inf, 10, [], (10, 10)),
        ([20, 25.5], -np.inf, 25.4, [20], (20, 25.4)),
        ([None], -np.inf, 5, [], (5, 5)),
    ],
)
def test_what_has_no_end_reaches_to_the_last_value(
    values: list[float | None],
    lo: float,
    hi: float,
    covered: list[float],
    ends: tuple[float, float],
) -> None:
    axis = axis_of(values, type="number")
    cover = axis.cover_between(lo, hi)
    assert cover is not None
    assert (covered, ends) == ([axis.values[code] for code in cover.codes], cover.ends)


def test_between_two_whole_numbers_lies_none() -> None:
    axis = axis_of([20, 30], type="number")
    assert [None, None] == [axis.cover_between(20.1, 20.9), axis.cover_between(30, 20)]
