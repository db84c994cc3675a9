"""The few SVG elements that charts are made of; every text and attribute is escaped."""

from collections.abc import Iterable, Sequence
from typing import Any

import attrs
from markupsafe import Markup, escape

from anonloom import short_repr

#: Width of every chart in its own units: close to its width on a phone, so that text stays
#: readable there, and two fit side by side on a desk.
WIDTH = 400

#: Width of a chart that needs a whole line of the page; on a phone it is scrolled.
WIDE = 840

#: How many colours the style sheet has; more series also differ in dash and marker.
COLOURS = 8

_SIZE = {"tick": 7.1, "label": 7.2}


@short_repr
@attrs.frozen
class Drawing:
    """What is inside a picture, how large it is, and the names of its series."""

    content: Markup
    height: float
    names: tuple[str, ...] = ()
    width: int = WIDTH


def tag(name: str, content: Any = "", /, **attributes: Any) -> Markup:
    """Return an element; `class_` stands for `class`, `_` for `-` in names."""
    written = Markup("").join(
        Markup(' {}="{}"').format(key.rstrip("_").replace("_", "-"), _plain(value))
        for key, value in attributes.items()
        if value is not None
    )
    return Markup("<{0}{1}>{2}</{0}>").format(Markup(name), written, escape(content))


def _plain(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".")
    return str(value)


def group(parts: Iterable[Markup], **attributes: Any) -> Markup:
    """Return elements in one group."""
    return tag("g", Markup("").join(parts), **attributes)


def text(x: float, y: float, content: str, class_: str, **attributes: Any) -> Markup:
    """Return a text."""
    return tag("text", content, x=x, y=y, class_=class_, **attributes)


def clip(content: str, room: float, class_: str = "tick") -> str:
    """Cut a text so that it fits into so many units, as far as that can be told."""
    fits = max(1, int(room / _SIZE[class_]))
    return content if len(content) <= fits else content[: max(1, fits - 1)] + "…"


def width_of(content: str, class_: str = "tick") -> float:
    """About how wide a text is."""
    return len(content) * _SIZE[class_]


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> Markup:
    """Return a straight line."""
    return tag("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def polyline(points: Sequence[tuple[float, float]], class_: str) -> Markup:
    """Return a line through points."""
    return tag("polyline", points=_points(points), class_=class_)


def polygon(points: Sequence[tuple[float, float]], class_: str) -> Markup:
    """Return a closed shape."""
    return tag("polygon", points=_points(points), class_=class_)


def _points(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{_plain(float(x))},{_plain(float(y))}" for x, y in points)


def colour(at: int) -> str:
    """Class that gives a series its colour and dash."""
    return f"s{at % COLOURS}" + (" dashed" if at >= COLOURS else "")


def marker(at: int, x: float, y: float, title: str = "") -> Markup:
    """Return the mark of a point; series differ in shape as well as in colour."""
    message = tag("title", title) if title else Markup("")
    class_ = f"mark {colour(at)}"
    shape = at % 4
    if shape == 0:
        return tag("circle", message, cx=x, cy=y, r=3.6, class_=class_)
    if shape == 1:
        return tag("rect", message, x=x - 3.2, y=y - 3.2, width=6.4, height=6.4, class_=class_)
    if shape == 2:
        corners = [(x, y - 4.4), (x + 4.2, y + 3.2), (x - 4.2, y + 3.2)]
    else:
        corners = [(x, y - 4.6), (x + 4.6, y), (x, y + 4.6), (x - 4.6, y)]
    return tag("polygon", message, points=_points(corners), class_=class_)


def swatch(at: int, kind: str) -> Markup:
    """Return the sign of a series in a legend."""
    if kind in ("bars", "density"):
        sign = tag("rect", x=1.0, y=2.0, width=14.0, height=10.0, rx=2, class_=f"bar {colour(at)}")
    elif kind == "scatter":
        sign = marker(at, 8.0, 7.0)
    else:
        sign = Markup("").join(
            [line(0.0, 7.0, 16.0, 7.0, f"line {colour(at)}"), marker(at, 8.0, 7.0)]
        )
    return tag("svg", sign, viewBox="0 0 16 14", width=16, height=14, aria_hidden="true")
