"""Bars: upright for numbers and few short labels, lying for names."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
from markupsafe import Markup

from anonloom_page.charts import svg
from anonloom_page.charts.frame import Frame, horizontal_lines, left_for, titles
from anonloom_page.charts.scale import Scale
from anonloom_page.wording import brief, figure, number, short

HEIGHT = 270

#: More bars than this are not read any more.
MOST_BARS = 48

_COUNTED = re.compile(r"^[<>≥≤]?\s*[\d.,]+.*$")


@attrs.frozen
class Bars:
    """Labels and, per series, one number for each."""

    labels: tuple[str, ...]
    series: tuple[tuple[str, tuple[float | None, ...]], ...]
    left_out: int = 0

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> "Bars":
        """Read the bars of a chart."""
        labels = [short(label, 120) for label in data.get("labels") or []]
        series = [
            (str(name), tuple(number(value) for value in values[: len(labels)]))
            for name, values in data.items()
            if name != "labels" and isinstance(values, Sequence) and not isinstance(values, str)
        ]
        shown = tuple(labels[:MOST_BARS])
        whole = [
            (name, values[:MOST_BARS]) for name, values in series if len(values) == len(labels)
        ]
        return cls(shown, tuple(whole), len(labels) - len(shown))

    @property
    def numbers(self) -> list[float]:
        """All numbers."""
        return [value for _, values in self.series for value in values if value is not None]

    @property
    def upright(self) -> bool:
        """Whether the labels fit below upright bars."""
        room = (svg.WIDTH - 60) / max(len(self.labels), 1)
        short_enough = all(svg.width_of(label) <= room for label in self.labels)
        counted = all(_COUNTED.match(label) and len(label) < 14 for label in self.labels)
        return len(self.labels) <= 26 and (short_enough or counted)


def bars(chart: Mapping[str, Any]) -> svg.Drawing | None:
    """Draw the chart."""
    result = Bars.of(chart.get("data") or {})
    if not result.labels or not result.numbers:
        return None
    x, y = short(chart.get("x", "")), short(chart.get("y", ""))
    drawing, height = _vertical(result, x, y) if result.upright else _horizontal(result, x, y)
    return svg.Drawing(drawing, height, tuple(name for name, _ in result.series))


def _vertical(found: Bars, x: str, y: str) -> tuple[Markup, int]:
    band = (svg.WIDTH - 60) / len(found.labels)
    longest = max(svg.width_of(label) for label in found.labels)
    turned = longest > band - 3
    below = 34 + (longest * 0.72 if turned else 8)
    frame = Frame.of(HEIGHT, bottom=below)
    scale = _scale(found, frame.bottom, frame.top)
    frame = attrs.evolve(frame, left=left_for(scale.ticks))
    band = frame.width / len(found.labels)
    each = band * 0.76 / len(found.series)
    parts = [horizontal_lines(frame, scale)]
    for index, label in enumerate(found.labels):
        middle = frame.left + band * (index + 0.5)
        for which, (name, values) in enumerate(found.series):
            value = values[index]
            if value is None:
                continue
            left = middle - each * len(found.series) / 2 + each * which
            ends = sorted((scale(0.0), scale(value)))
            parts.append(
                _bar(
                    left,
                    ends[0],
                    each * 0.94,
                    ends[1] - ends[0],
                    which,
                    _tooltip(found, name, label, value),
                )
            )
        if turned:
            turn = f"rotate(-45 {middle:.1f} {frame.bottom + 12:.1f})"
            parts.append(
                svg.text(
                    middle + 3, frame.bottom + 13, label, "tick", text_anchor="end", transform=turn
                )
            )
        else:
            parts.append(svg.text(middle, frame.bottom + 16, label, "tick", text_anchor="middle"))
    parts.append(titles(frame, x, y, HEIGHT - 6.0))
    return Markup("").join(parts), HEIGHT


def _horizontal(found: Bars, x: str, y: str) -> tuple[Markup, int]:
    thick = 14.0 if len(found.series) == 1 else 12.0
    row = thick * len(found.series) + 10
    top, below = 24.0 if x else 8.0, 40.0
    height = round(top + row * len(found.labels) + below)
    room = min(165.0, max(svg.width_of(brief(label)) for label in found.labels)) + 10
    # Room for the figure at the end of the longest bar.
    frame = Frame(room, top, svg.WIDTH - 50, height - below)
    scale = _scale(found, frame.left, frame.right)
    parts = []
    for value, label in scale.ticks:
        px = scale(value)
        parts.append(svg.line(px, frame.top, px, frame.bottom, "rule"))
        parts.append(svg.text(px, frame.bottom + 15, label, "tick", text_anchor="middle"))
    for index, label in enumerate(found.labels):
        start = frame.top + row * index + 5
        clipped = svg.clip(brief(label), room - 8)
        full = svg.tag("title", label) if clipped != label else Markup("")
        parts.append(
            svg.tag(
                "text",
                Markup("{}{}").format(full, clipped),
                x=room - 7,
                y=start + (row - 10) / 2 + 4,
                class_="tick name",
                text_anchor="end",
            )
        )
        for which, (name, values) in enumerate(found.series):
            value_ = values[index]
            if value_ is None:
                continue
            ends = sorted((scale(0.0), scale(value_)))
            top_ = start + thick * which
            text = _tooltip(found, name, label, value_)
            parts.append(_bar(ends[0], top_, ends[1] - ends[0], thick * 0.94, which, text))
            parts.append(svg.text(ends[1] + 4, top_ + thick / 2 + 4, figure(value_), "tick"))
    zero = scale(0.0)
    parts.append(svg.line(zero, frame.top, zero, frame.bottom, "axis"))
    if y:
        clipped = svg.clip(y, frame.width, "label")
        parts.append(svg.text(frame.right, height - 6.0, clipped, "label", text_anchor="end"))
    if x:
        more = f", the first {len(found.labels)}; {found.left_out:,} more" if found.left_out else ""
        clipped = svg.clip(f"{x}{more}", svg.WIDTH - 10, "label")
        parts.append(svg.text(2, 13, clipped, "label"))
    return Markup("").join(parts), height


def _scale(found: Bars, start: float, stop: float) -> Scale:
    lo, hi = min(found.numbers), max(found.numbers)
    return Scale.linear(min(lo, 0.0), max(hi, 0.0), start, stop, wanted=4, zero=True)


def _tooltip(found: Bars, name: str, label: str, value: float) -> str:
    series = f" ({short(name, 60)})" if len(found.series) > 1 else ""
    return f"{short(label, 80)}{series}: {figure(value)}"


def _bar(x: float, y: float, width: float, height: float, at: int, title: str) -> Markup:
    return svg.tag(
        "rect",
        svg.tag("title", title),
        x=x,
        y=y,
        width=max(width, 0.5),
        height=max(height, 0.5),
        rx=1.5,
        class_=f"bar {svg.colour(at)}",
    )
