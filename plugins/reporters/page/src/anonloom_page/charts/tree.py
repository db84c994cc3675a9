"""A tree drawn as an outline, one node per line: it stays readable at any depth and width."""

from collections.abc import Iterator, Mapping
from typing import Any

from markupsafe import Markup

from anonloom_page.charts import svg
from anonloom_page.wording import short

#: Lines that are drawn, and levels that are entered.
MOST_LINES = 120
DEEPEST = 12

_ROW = 19.0
_INDENT = 18.0


def tree(chart: Mapping[str, Any]) -> svg.Drawing | None:
    """Draw the chart. A tree has no series."""
    data = chart.get("data") or {}
    if not isinstance(data, Mapping) or "label" not in data:
        return None
    lines = list(_walk(data, 0))
    shown = lines[:MOST_LINES]
    parts = []
    parents: list[int] = []
    for index, (depth, label) in enumerate(shown):
        y = 14 + _ROW * index
        x = 8 + _INDENT * depth
        del parents[depth:]
        if parents:
            above = 14 + _ROW * parents[-1]
            stem = x - _INDENT + 3
            elbow = [(stem, above + 6), (stem, y - 4), (x - 3, y - 4)]
            parts.append(svg.polyline(elbow, "branch"))
        parents.append(index)
        message = svg.clip(label, svg.WIDTH - x - 10)
        title = svg.tag("title", label) if message != label else Markup("")
        parts.append(svg.tag("circle", cx=x + 3, cy=y - 4, r=2.6, class_="mark s0"))
        parts.append(
            svg.tag(
                "text", Markup("{}{}").format(title, message), x=x + 10, y=y, class_="tick name"
            )
        )
    height = round(14 + _ROW * len(shown))
    if len(lines) > len(shown):
        more = f"… and {len(lines) - len(shown):,} more"
        parts.append(svg.text(8, height + 4, more, "label"))
        height += 14
    return svg.Drawing(Markup("").join(parts), height)


def _walk(node: Mapping[str, Any], depth: int) -> Iterator[tuple[int, str]]:
    yield depth, short(node.get("label", ""), 120)
    listed = node.get("children")
    children = listed if isinstance(listed, list | tuple) else ()
    below = [child for child in children if isinstance(child, Mapping)]
    if below and depth >= DEEPEST:
        # What is left out must not look like a leaf.
        yield depth + 1, "…"
        return
    for child in below:
        yield from _walk(child, depth + 1)
