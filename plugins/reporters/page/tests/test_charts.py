"""Scales end at ticks that people like; drawings stay inside their frame."""

import math
import re

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from anonloom_page.charts import draw
from anonloom_page.charts.scale import Scale, nice_step, tick_text
from anonloom_page.charts.svg import WIDTH
from anonloom_page.wording import figure, percent

sizes = st.floats(-1e9, 1e9, allow_nan=False).filter(lambda x: x == 0 or abs(x) > 1e-6)


@given(sizes, sizes, st.booleans())
def test_a_scale_covers_its_values_and_has_few_ticks(a: float, b: float, zero: bool) -> None:
    lo, hi = sorted((a, b))
    assume(hi == lo or hi - lo > 1e-6 * max(abs(hi), abs(lo)))
    scale = Scale.linear(lo, hi, 0, 100, zero=zero)
    slack = 1e-6 * (scale.hi - scale.lo)
    assert scale.lo - slack <= lo <= hi <= scale.hi + slack
    values = [value for value, _ in scale.ticks]
    assert values == sorted(set(values))
    assert 2 <= len(values) <= 14
    if zero:
        assert scale.lo <= 0 <= scale.hi
    assert 0 == pytest.approx(scale(scale.lo), abs=1e-6)
    assert 100 == pytest.approx(scale(scale.hi))


@given(st.lists(st.floats(1e-3, 1e6), min_size=1, max_size=30))
def test_a_varied_parameter_lies_inside_its_scale_and_ticks_do_not_touch(
    values: list[float],
) -> None:
    scale = Scale.through(values, 40, 390)
    for value in values:
        assert 39.9 <= scale(value) <= 390.1
    places = [scale(value) for value, _ in scale.ticks]
    assert places == sorted(places)


def test_the_values_of_a_parameter_are_its_ticks() -> None:
    scale = Scale.through([2, 5, 10, 20, 50], 40, 390)
    assert ["2", "5", "10", "20", "50"] == [label for _, label in scale.ticks]
    assert scale.logarithmic


def test_a_parameter_in_even_steps_is_drawn_in_even_steps() -> None:
    scale = Scale.through([5, 15, 25, 35, 45, 55, 65, 75], 40, 390)
    assert not scale.logarithmic
    assert 15 - 5 == pytest.approx((scale(15) - scale(5)) / (scale(75) - scale(5)) * 70)


@given(st.floats(1e-6, 1e9), st.integers(2, 8))
def test_steps_are_one_two_or_five(span: float, wanted: int) -> None:
    step = nice_step(span, wanted)
    mantissa = step / 10 ** math.floor(math.log10(step) + 1e-9)
    assert min(abs(mantissa - nice) for nice in (1, 2, 2.5, 5, 10)) < 1e-6


@pytest.mark.parametrize(
    ("value", "step", "expected"),
    [
        (0.25, 0.05, "0.25"),
        (0.5, 0.25, "0.50"),
        (1000, 500, "1,000"),
        (25_000, 5000, "25k"),
        (2_500_000, 500_000, "2.5M"),
        (0, 0.2, "0.0"),
    ],
)
def test_ticks_are_written_with_the_decimals_of_their_step(
    value: float, step: float, expected: str
) -> None:
    assert expected == tick_text(value, step)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (12345, "12,345"),
        (0.12345, "0.123"),
        (0.0000123, "1.23e-05"),
        (12.0, "12"),
        (100.0, "100"),
        (1234.5, "1,234"),
        (0.0, "0"),
        (True, "yes"),
        (None, "–"),  # noqa: RUF001
        (float("nan"), "–"),  # noqa: RUF001
        ("text", "text"),
    ],
)
def test_figures_are_written_for_people(value: object, expected: str) -> None:
    assert expected == figure(value)


@pytest.mark.parametrize(
    ("share", "expected"), [(0.5, "50 %"), (0.0075, "0.8 %"), (0.0001, "< 0.1 %"), (0, "0 %")]
)
def test_shares_are_written_as_percentages(share: float, expected: str) -> None:
    assert expected == percent(share)


names = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), max_size=40)
numbers = st.one_of(st.none(), st.floats(-1e6, 1e6), st.integers(-5, 5))


@given(st.lists(st.tuples(names, numbers, numbers), min_size=1, max_size=30))
def test_bars_of_any_labels_and_numbers_stay_inside_the_drawing(
    rows: list[tuple[str, float | None, float | None]],
) -> None:
    data = {
        "labels": [row[0] for row in rows],
        "first": [row[1] for row in rows],
        "second": [row[2] for row in rows],
    }
    drawn = draw({"kind": "bars", "title": "t", "data": data})
    for x, width in re.findall(r'<rect x="([-\d.]+)" y="[-\d.]+" width="([-\d.]+)"', drawn):
        assert -1 <= float(x)
        assert float(x) + float(width) <= WIDTH + 1


@given(
    st.sampled_from(["line", "scatter", "density"]),
    st.dictionaries(names, st.lists(st.tuples(numbers, numbers), max_size=20), max_size=12),
)
@example("line", {"": [(4.0, 0.0), (2.2250738585072014e-308, 0.0), (1, 0.0)]})
def test_points_stay_inside_the_drawing(
    kind: str, series: dict[str, list[tuple[float | None, float | None]]]
) -> None:
    data = {
        name: {"x": [x for x, _ in points], "y": [y for _, y in points]}
        for name, points in series.items()
    }
    drawn = draw({"kind": kind, "title": "t", "data": data})
    for places in re.findall(r'<polyline points="([^"]*)"', drawn):
        for place in places.split():
            x, y = map(float, place.split(","))
            assert -1 <= x <= WIDTH + 1
            assert -1 <= y <= 275


def test_an_interval_is_a_band_around_its_line() -> None:
    line = {"x": [0, 1], "y": [0.5, 0.5], "low": [0.0, 0.25], "high": [1.0, None]}
    drawn = draw({"kind": "line", "title": "t", "data": {"a": line, "b": {"x": [0], "y": [1]}}})
    assert 1 == drawn.count("area band s0")
    assert "<td>a</td><td>0</td><td>0.5</td><td>0</td><td>1</td>" in drawn
    assert "<td>a</td><td>1</td><td>0.5</td><td></td><td></td>" in drawn


@given(
    st.lists(st.one_of(names, st.floats(0.7, 0.99).map(lambda x: f"{x:.2f}")), max_size=70),
    st.lists(names, max_size=90),
)
def test_heat_maps_of_any_size_stay_inside_the_drawing(xs: list[str], ys: list[str]) -> None:
    data = {"x": xs, "y": ys, "z": [[0.5] * len(xs)] * len(ys)}
    drawn = draw({"kind": "heat", "title": "t", "x": "x", "y": "y", "data": data})
    box = re.search(r'viewBox="0 0 (\d+) (\d+)"', drawn)
    if box is None:
        assert not xs or not ys
        return
    for x, y, width, height in re.findall(
        r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"', drawn
    ):
        assert float(x) + float(width) <= int(box[1]) + 0.1
        assert float(y) + float(height) <= int(box[2]) + 0.1


def test_a_risk_surface_takes_a_line_of_the_page_and_names_some_thresholds() -> None:
    xs = [f"{0.7 + index / 100:.2f}" for index in range(30)]
    ys = [f"case-{index}, data.with.outliers=0.05, seed=<private 2>" for index in range(90)]
    data = {"x": xs, "y": ys, "z": [[0.5] * 30] * 90}
    drawn = draw({"kind": "heat", "title": "t", "x": "threshold", "y": "run", "data": data})
    assert 'class="chart wide"' in drawn
    assert "run by threshold, the first 80; 10 more" in drawn
    assert "case-0, outliers=0.05, seed=#2</text>" in drawn
    shown = [name for name in xs if f">{name}</text>" in drawn]
    assert shown == xs[:: len(xs) // len(shown)]
    assert 10 <= len(shown) <= 15


def test_the_numbers_of_a_table_align_and_verdicts_stand_out() -> None:
    data = {
        "columns": ["name", "paper", "ours", "rows", "verdict"],
        "rows": [
            ["a", 0.86, 0.81234, 1000, "reproduced"],
            ["b", 0.1, None, 12, "contradicted"],
            ["<b>", 2, 0.5, None, "odd"],
        ],
    }
    drawn = draw({"kind": "table", "title": "t", "data": data})
    cells = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in drawn.split("<tr>")[2:]]
    assert [
        ["a", "0.86", "0.812", "1,000", '<span class="badge good">reproduced</span>'],
        ["b", "0.10", "–", "12", '<span class="badge bad">contradicted</span>'],  # noqa: RUF001
        ["&lt;b&gt;", "2.00", "0.500", "–", "odd"],  # noqa: RUF001
    ] == cells
    assert 3 == len(re.findall('<th scope="col" class="num">', drawn))
    assert 'class="chart wide"' in drawn


def test_a_table_of_any_size_is_cut() -> None:
    rows = [[index] for index in range(500)]
    drawn = draw({"kind": "table", "title": "t", "data": {"columns": ["n"], "rows": rows}})
    assert "300 more rows are in the data file." in drawn
    assert 201 == drawn.count("<tr>")


@given(st.lists(st.lists(st.one_of(names, numbers), max_size=4), max_size=8))
def test_tables_of_any_cells_are_drawn(rows: list[list[str | float | None]]) -> None:
    draw({"kind": "table", "title": "t", "data": {"columns": ["a", "b", "c"], "rows": rows}})


def test_a_tree_of_any_size_is_cut() -> None:
    tree = {"label": "root", "children": [{"label": f"leaf {n}"} for n in range(5000)]}
    drawn = draw({"kind": "tree", "title": "t", "data": tree})
    assert "… and 4,881 more" in drawn
    assert len(drawn) < 60_000


def test_a_tree_that_goes_deeper_says_so() -> None:
    tree: dict[str, object] = {"label": "node 20"}
    for depth in reversed(range(20)):
        tree = {"label": f"node {depth}", "children": [tree]}
    drawn = draw({"kind": "tree", "title": "t", "data": tree})
    assert [f"node {depth}" for depth in range(13)] == re.findall(r"node \d+", drawn)
    assert ">…</text>" in drawn


def test_every_picture_has_a_title_and_a_description() -> None:
    chart = {
        "kind": "bars",
        "title": "Sizes",
        "meaning": "What it says.",
        "data": {"labels": ["1"], "n": [2]},
    }
    drawn = draw(chart)
    assert "<title>Sizes</title><desc>What it says.</desc>" in drawn
    assert 'role="img" aria-label="Sizes"' in drawn


def test_the_figures_behind_a_chart_can_be_read_without_seeing_it() -> None:
    drawn = draw({"kind": "bars", "title": "t", "data": {"labels": ["one", "two"], "n": [1, 2.5]}})
    assert "<td>two</td><td>2.5</td>" in drawn
