"""Lines, scatters and densities: series of points over two numeric axes."""

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
from markupsafe import Markup

from anonloom import short_repr
from anonloom_page.charts import svg
from anonloom_page.charts.frame import Frame, horizontal_lines, left_for, titles, vertical_ticks
from anonloom_page.charts.scale import Scale
from anonloom_page.wording import figure, number, short

HEIGHT = 270

#: Points of one series that are drawn; a longer line would only fill the page.
MOST_POINTS = 600

#: A line with more points is marked at a few of them.
MOST_MARKS = 16


@short_repr
@attrs.frozen
class Series:
    """Points of one series, with their interval where there is one."""

    name: str
    points: tuple[tuple[float, float], ...]
    band: tuple[tuple[float, float, float], ...] = ()
    labels: tuple[str, ...] = ()


def series_of(data: Mapping[str, Any]) -> list[Series]:
    """Read the series of a chart; what is no number is left out."""
    results = []
    for name, of in data.items():
        if not isinstance(of, Mapping):
            continue
        xs, ys = of.get("x"), of.get("y")
        if not isinstance(xs, Sequence) or not isinstance(ys, Sequence):
            continue
        step = max(1, -(-len(xs) // MOST_POINTS))
        labels = of.get("labels") or [""] * len(xs)
        rows = [
            (number(x), number(y), str(label))
            for x, y, label in list(zip(xs, ys, labels, strict=False))[::step]
        ]
        kept = [(x, y, label) for x, y, label in rows if x is not None and y is not None]
        ends = zip(xs, of.get("low") or (), of.get("high") or (), strict=False)
        band = [(number(x), number(lo), number(hi)) for x, lo, hi in list(ends)[::step]]
        whole = [(x, a, b) for x, a, b in band if x is not None and a is not None and b is not None]
        if kept:
            points = tuple((x, y) for x, y, _ in kept)
            texts = tuple(label for *_, label in kept)
            results.append(Series(short(name, 120), points, tuple(whole), texts))
    return results


def plot(chart: Mapping[str, Any], kind: str) -> svg.Drawing | None:
    """Draw the chart."""
    series = series_of(chart.get("data") or {})
    if not series:
        return None
    xs = [x for item in series for x, _ in item.points]
    ys = [y for item in series for _, y in item.points]
    ys += [end for item in series for _, lo, hi in item.band for end in (lo, hi)]
    frame = Frame.of(HEIGHT)
    y_scale = Scale.linear(min(ys), max(ys), frame.bottom, frame.top, zero=kind == "density")
    frame = attrs.evolve(frame, left=left_for(y_scale.ticks))
    spread = Scale.linear if kind in ("scatter", "density") else None
    x_scale = (
        spread(min(xs), max(xs), frame.left, frame.right).with_fewer_ticks()
        if spread
        else Scale.through(xs, frame.left, frame.right)
    )
    marks = [_mark(index, item, kind, x_scale, y_scale, frame) for index, item in enumerate(series)]
    drawing = Markup("").join(
        [
            horizontal_lines(frame, y_scale),
            vertical_ticks(frame, x_scale, lines=kind == "scatter"),
            *marks,
            titles(frame, short(chart.get("x", "")), short(chart.get("y", "")), HEIGHT - 6.0),
        ]
    )
    return svg.Drawing(drawing, HEIGHT, tuple(item.name for item in series))


def _mark(at: int, one: Series, kind: str, x: Scale, y: Scale, frame: Frame) -> Markup:
    places = [(x(a), y(b)) for a, b in one.points]
    parts: list[Markup] = []
    if kind == "density":
        ground = [(places[0][0], frame.bottom), *places, (places[-1][0], frame.bottom)]
        parts.append(svg.polygon(ground, f"area {svg.colour(at)}"))
    if one.band and kind != "scatter":
        upper = [(x(a), y(hi)) for a, _, hi in one.band]
        lower = [(x(a), y(lo)) for a, lo, _ in reversed(one.band)]
        parts.append(svg.polygon([*upper, *lower], f"area band {svg.colour(at)}"))
    if kind != "scatter":
        parts.append(svg.polyline(places, f"line {svg.colour(at)}"))
    if kind != "density":
        # Of a long line a few points: they tell the series apart without colours.
        many = kind == "line" and len(places) > MOST_MARKS
        step = -(-len(places) // 6) if many else 1
        marked = list(zip(one.points, places, one.labels, strict=True))
        for (a, b), (px, py), label in marked[(2 * at) % step :: step]:
            message = short(label or one.name, 120)
            parts.append(svg.marker(at, px, py, f"{message}: {figure(a)}, {figure(b)}"))
    return svg.group(parts)
