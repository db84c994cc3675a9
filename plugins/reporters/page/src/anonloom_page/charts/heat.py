"""A heat map: one shade per cell, from the page's ground to one strong colour."""

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from anonloom_page.charts import svg
from anonloom_page.wording import brief, figure, number, short

#: More rows or columns than this are not read any more.
MOST = 40


def heat(chart: Mapping[str, Any]) -> tuple[Markup, int, list[str]] | None:
    """Draw the chart; also its height. A heat map has no series."""
    data = chart.get("data") or {}
    names = [short(name, 120) for name in data.get("x") or []][:MOST]
    rows = [short(name, 120) for name in data.get("y") or []][:MOST]
    grid = [[number(value) for value in list(row)[: len(names)]] for row in (data.get("z") or [])]
    grid = grid[: len(rows)]
    values = [value for row in grid for value in row if value is not None]
    if not names or not rows or not values:
        return None
    # Few columns leave more room for the names of the rows.
    widest = 200.0 if len(names) <= 5 else 130.0
    room = min(widest, max(svg.width_of(brief(name)) for name in rows)) + 10
    cell = (svg.WIDTH - room - 6) / len(names)
    tall = 22.0 if len(rows) <= 20 else 15.0
    longest = max(svg.width_of(name) for name in names)
    turned = longest > cell - 4
    if turned:
        # Names that lean to the right need room beside the last column.
        cell = (svg.WIDTH - room - min(longest, 110) * 0.6) / len(names)
    top = 30.0 if not turned else 26 + min(longest, 110) * 0.72
    lo, hi = min(values), max(values)
    parts = [svg.text(2, 13, svg.clipped(_axes(chart), room + 60, "label"), "label")]
    for at, name in enumerate(names):
        parts.append(_column(room + cell * (at + 0.5), top - 6, name, cell, turned))
    for at, (name, row) in enumerate(zip(rows, grid, strict=False)):
        y = top + tall * at
        said = svg.clipped(brief(name), room - 8)
        title = svg.tag("title", name) if said != name else Markup("")
        parts.append(
            svg.tag(
                "text",
                Markup("{}{}").format(title, said),
                x=room - 6,
                y=y + tall / 2 + 4,
                class_="tick name",
                text_anchor="end",
            )
        )
        for across, value in enumerate(row):
            label = f"{short(name, 60)}, {short(names[across], 60)}: {figure(value)}"
            parts.append(_cell(room + cell * across, y, cell, tall, value, (lo, hi), label))
    height = round(top + tall * len(rows) + 34)
    parts.append(_key(room, height - 22.0, lo, hi))
    return Markup("").join(parts), height, []


def _axes(chart: Mapping[str, Any]) -> str:
    said = [short(chart.get(axis, "")) for axis in ("y", "x")]
    return " by ".join(name for name in said if name)


def _column(x: float, y: float, name: str, cell: float, turned: bool) -> Markup:
    if not turned:
        return svg.text(x, y, name, "tick", text_anchor="middle")
    said = svg.clipped(name, 110)
    title = svg.tag("title", name) if said != name else Markup("")
    turn = f"rotate(-45 {x:.1f} {y:.1f})"
    return svg.tag(
        "text", Markup("{}{}").format(title, said), x=x, y=y, class_="tick", transform=turn
    )


def _cell(
    x: float,
    y: float,
    width: float,
    tall: float,
    value: float | None,
    ends: tuple[float, float],
    label: str,
) -> Markup:
    if value is None:
        return svg.tag(
            "rect",
            svg.tag("title", label),
            x=x + 0.5,
            y=y + 0.5,
            width=width - 1,
            height=tall - 1,
            class_="empty",
        )
    lo, hi = ends
    share = (value - lo) / (hi - lo) if hi > lo else 0.5
    box = svg.tag(
        "rect",
        svg.tag("title", label),
        x=x + 0.5,
        y=y + 0.5,
        width=width - 1,
        height=tall - 1,
        class_="heat",
        fill_opacity=0.06 + 0.94 * share,
    )
    said = figure(value)
    if svg.width_of(said) > width - 4 or tall < 18:
        return box
    tone = "tick on" if share > 0.5 else "tick off"
    return box + svg.text(x + width / 2, y + tall / 2 + 4, said, tone, text_anchor="middle")


def _key(x: float, y: float, lo: float, hi: float) -> Markup:
    steps = 12
    parts = [svg.text(x, y + 9, figure(lo), "tick")]
    start = x + svg.width_of(figure(lo)) + 6
    for at in range(steps):
        opacity = 0.06 + 0.94 * at / (steps - 1)
        parts.append(
            svg.tag(
                "rect",
                x=start + at * 9.0,
                y=y,
                width=9.0,
                height=10.0,
                class_="heat",
                fill_opacity=opacity,
            )
        )
    parts.append(svg.text(start + steps * 9 + 6, y + 9, figure(hi), "tick"))
    return svg.group(parts)
