"""A chart or a table with its caption, legend and the figures behind it."""

import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from markupsafe import Markup

from anonloom_page.charts.bars import Bars, bars
from anonloom_page.charts.heat import heat
from anonloom_page.charts.plots import plot, series_of
from anonloom_page.charts.svg import WIDTH, Drawing, swatch, tag
from anonloom_page.charts.table import is_wide
from anonloom_page.charts.table import table as html_table
from anonloom_page.charts.tree import tree
from anonloom_page.wording import figure, short

#: Rows of the table of figures behind a chart.
MOST_ROWS = 60

#: Names in a legend; the rest is in the table of figures.
MOST_NAMES = 16

_DRAW: dict[str, Callable[[Mapping[str, Any]], Drawing | None]] = {
    "line": lambda chart: plot(chart, "line"),
    "scatter": lambda chart: plot(chart, "scatter"),
    "density": lambda chart: plot(chart, "density"),
    "bars": bars,
    "heat": heat,
    "tree": tree,
}


def draw(chart: Mapping[str, Any], *, table: bool = True) -> Markup:
    """Return a chart as a `figure` element; nothing to show gives a note that says so.

    Parameters
    ----------
    table
        Whether the figures behind the chart are listed below it, for those who cannot see it.
    """
    kind = str(chart.get("kind"))
    title, meaning = short(chart.get("title") or chart.get("name")), short(chart.get("meaning", ""))
    caption = tag(
        "figcaption",
        Markup("{}{}").format(tag("strong", title), tag("span", meaning) if meaning else ""),
    )
    if kind == "table":
        data = chart.get("data") or {}
        cells = html_table(data)
        if cells is not None:
            return tag("figure", caption + cells, class_=_class(is_wide(data)))
    drawn = _DRAW[kind](chart) if kind in _DRAW else None
    if drawn is None:
        note = tag("p", "There is nothing to draw.", class_="muted")
        return tag("figure", caption + note, class_="chart")
    picture = tag(
        "svg",
        Markup("{}{}{}").format(
            tag("title", title), tag("desc", meaning) if meaning else "", drawn.content
        ),
        viewBox=f"0 0 {drawn.width} {drawn.height}",
        role="img",
        aria_label=title,
    )
    wide = drawn.width > WIDTH
    if wide:
        picture = tag("div", picture, class_="scroll", tabindex="0")
    rows = list(itertools.islice(_rows(kind, chart), MOST_ROWS + 1)) if table else []
    below = _legend(kind, drawn.names) + (_table(rows) if rows else Markup(""))
    return tag("figure", caption + picture + below, class_=_class(wide))


def _class(wide: bool) -> str:
    return "chart wide" if wide else "chart"


def _legend(kind: str, names: tuple[str, ...]) -> Markup:
    if len(names) < 2:
        return Markup("")
    items = [
        tag("li", swatch(index, kind) + tag("span", short(name, 80)))
        for index, name in enumerate(names[:MOST_NAMES])
    ]
    if len(names) > MOST_NAMES:
        items.append(tag("li", f"and {len(names) - MOST_NAMES} more"))
    return tag("ul", Markup("").join(items), class_="legend")


def _rows(kind: str, chart: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Yield a heading and the figures behind a chart."""
    data = chart.get("data") or {}
    if kind == "bars":
        result = Bars.of(data)
        yield (str(chart.get("x") or ""), *(name for name, _ in result.series))
        for index, label in enumerate(result.labels):
            yield (label, *(figure(values[index]) for _, values in result.series))
    elif kind in ("line", "scatter"):
        series = series_of(data)
        banded = any(item.band for item in series)
        ends = ("from", "to") if banded else ()
        yield ("series", str(chart.get("x") or "x"), str(chart.get("y") or "y"), *ends)
        for item in series:
            between = {x: (figure(lo), figure(hi)) for x, lo, hi in item.band}
            for (x, y), label in zip(item.points, item.labels, strict=True):
                around = between.get(x, ("", "")) if banded else ()
                yield (label or item.name, figure(x), figure(y), *around)


def _table(rows: list[tuple[str, ...]]) -> Markup:
    head = Markup("").join(tag("th", short(cell, 80), scope="col") for cell in rows[0])
    body = Markup("").join(
        tag("tr", Markup("").join(tag("td", short(cell, 80)) for cell in row))
        for row in rows[1:MOST_ROWS]
    )
    table = tag("table", tag("thead", tag("tr", head)) + tag("tbody", body))
    more = tag("p", "The rest is in report.json.", class_="muted") if len(rows) > MOST_ROWS else ""
    inside = tag("summary", "Figures") + tag("div", table, class_="scroll") + more
    return tag("details", inside, class_="figures")
