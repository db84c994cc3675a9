"""Scales end at ticks that people like; drawings stay inside their frame."""

import math
import re

import pytest
from hypothesis import assume, given
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


def test_a_tree_of_any_size_is_cut() -> None:
    tree = {"label": "root", "children": [{"label": f"leaf {n}"} for n in range(5000)]}
    drawn = draw({"kind": "tree", "title": "t", "data": tree})
    assert "… and 4,881 more" in drawn
    assert len(drawn) < 60_000


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
