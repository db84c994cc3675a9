"""A heat map: one shade per cell, from the page's ground to one strong colour."""

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
from markupsafe import Markup

from anonloom_page.charts import svg
from anonloom_page.wording import brief, figure, number, short

#: More rows or columns than this are not read any more.
MOST = 80

#: Beyond these a map takes a whole line of the page.
FEW_COLUMNS, FEW_ROWS = 12, 24

#: Room that the name of a leaning column may take.
_LEANING = 110


@attrs.frozen
class Layout:
    """Where the cells of a map lie.

    Attributes
    ----------
    room
        Width of the names of the rows.
    top
        Height of the names of the columns.
    cell, tall
        Width and height of a cell.
    leaning
        Whether the names of the columns lean to the right, for want of room.
    every
        One of so many columns is named.
    written
        Whether the cells are large enough for all their figures.
    """

    width: int
    room: float
    top: float
    cell: float
    tall: float
    leaning: bool
    every: int
    written: bool = False

    @classmethod
    def of(cls, names: Sequence[str], rows: Sequence[str]) -> "Layout":
        """Lay out a map with these columns and rows."""
        wide = len(names) > FEW_COLUMNS or len(rows) > FEW_ROWS
        width = svg.WIDE if wide else svg.WIDTH
        # Few columns leave more room for the names of the rows.
        widest = 280.0 if wide else 200.0 if len(names) <= 5 else 130.0
        room = min(widest, max(svg.width_of(brief(name)) for name in rows)) + 10
        tall = 22.0 if len(rows) <= 20 else 15.0
        longest = max(svg.width_of(name) for name in names)
        cell = (width - room - 6) / len(names)
        if longest <= cell - 4:
            return cls(width, room, 44.0, cell, tall, False, 1)
        if all(_is_number(name) for name in names):
            # Between two numbers a reader finds the others.
            return cls(width, room, 44.0, cell, tall, False, -(-int(longest + 8) // int(cell)))
        leaned = min(longest, _LEANING)
        cell = (width - room - leaned * 0.6) / len(names)
        return cls(width, room, 44 + leaned * 0.72, cell, tall, True, max(1, -(-13 // int(cell))))


def heat(chart: Mapping[str, Any]) -> svg.Drawing | None:
    """Draw the chart. A heat map has no series."""
    data = chart.get("data") or {}
    names = [short(name, 120) for name in data.get("x") or []][:MOST]
    rows = [short(name, 120) for name in data.get("y") or []][:MOST]
    grid = [[number(value) for value in list(row)[: len(names)]] for row in (data.get("z") or [])]
    grid = grid[: len(rows)]
    values = [value for row in grid for value in row if value is not None]
    if not names or not rows or not values:
        return None
    layout = Layout.of(names, rows)
    longest = max(svg.width_of(figure(value)) for value in values)
    layout = attrs.evolve(layout, written=longest <= layout.cell - 2 and layout.tall >= 18)
    ends = (min(values), max(values))
    more = len(data.get("y") or []) - len(rows)
    title = f"{_axes(chart)}, the first {len(rows)}; {more:,} more" if more else _axes(chart)
    parts = [svg.text(2, 13, svg.clip(title, layout.width - 10.0, "label"), "label")]
    parts += [
        _column(layout, place, name) for place, name in enumerate(names) if not place % layout.every
    ]
    for place, (name, row) in enumerate(zip(rows, grid, strict=False)):
        parts.append(_row(layout, place, name, row, names, ends))
    height = layout.top + layout.tall * len(rows) + 34
    parts.append(_key(layout.room, height - 22.0, *ends))
    return svg.Drawing(Markup("").join(parts), round(height), width=layout.width)


def _is_number(name: str) -> bool:
    try:
        float(name)
    except ValueError:
        return False
    return True


def _axes(chart: Mapping[str, Any]) -> str:
    messages = [short(chart.get(axis, "")) for axis in ("y", "x")]
    return " by ".join(name for name in messages if name)


def _column(at: Layout, place: int, name: str) -> Markup:
    x, y = at.room + at.cell * (place + 0.5), at.top - 6
    if not at.leaning:
        return svg.text(x, y, name, "tick", text_anchor="middle")
    message = svg.clip(name, _LEANING)
    title = svg.tag("title", name) if message != name else Markup("")
    turn = f"rotate(-45 {x:.1f} {y:.1f})"
    return svg.tag(
        "text", Markup("{}{}").format(title, message), x=x, y=y, class_="tick", transform=turn
    )


def _row(
    at: Layout,
    place: int,
    name: str,
    row: Sequence[float | None],
    names: Sequence[str],
    ends: tuple[float, float],
) -> Markup:
    y = at.top + at.tall * place
    message = svg.clip(brief(name), at.room - 8)
    title = svg.tag("title", name) if message != name else Markup("")
    label = svg.tag(
        "text",
        Markup("{}{}").format(title, message),
        x=at.room - 6,
        y=y + at.tall / 2 + 4,
        class_="tick name",
        text_anchor="end",
    )
    cells = []
    for across, value in enumerate(row):
        text = f"{short(brief(name), 60)}, {short(names[across], 60)}: {figure(value)}"
        cells.append(_cell(at, at.room + at.cell * across, y, value, ends, text))
    return label + Markup("").join(cells)


def _cell(
    at: Layout, x: float, y: float, value: float | None, ends: tuple[float, float], told: str
) -> Markup:
    lo, hi = ends
    share = 0.5 if value is None or hi <= lo else (value - lo) / (hi - lo)
    # Small cells touch: seams would be all that one sees.
    gap = 0.5 if at.cell >= 18 else 0.15
    box = svg.tag(
        "rect",
        svg.tag("title", told),
        x=x + gap,
        y=y + gap,
        width=at.cell - 2 * gap,
        height=at.tall - 2 * gap,
        class_="empty" if value is None else "heat",
        fill_opacity=None if value is None else 0.06 + 0.94 * share,
    )
    if value is None or not at.written:
        return box
    message = figure(value)
    tone = "tick on" if share > 0.5 else "tick off"
    return box + svg.text(x + at.cell / 2, y + at.tall / 2 + 4, message, tone, text_anchor="middle")


def _key(x: float, y: float, lo: float, hi: float) -> Markup:
    steps = 12
    parts = [svg.text(x, y + 9, figure(lo), "tick")]
    start = x + svg.width_of(figure(lo)) + 6
    for index in range(steps):
        opacity = 0.06 + 0.94 * index / (steps - 1)
        parts.append(
            svg.tag(
                "rect",
                x=start + index * 9.0,
                y=y,
                width=9.0,
                height=10.0,
                class_="heat",
                fill_opacity=opacity,
            )
        )
    parts.append(svg.text(start + steps * 9 + 6, y + 9, figure(hi), "tick"))
    return svg.group(parts)
