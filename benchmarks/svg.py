"""Panels with logarithmic axes, written as SVG text; labels find a place where nothing else is."""

import math
from collections.abc import Iterable, Iterator, Sequence
from html import escape

import attrs

FONT = 11
#: Mean width of a character of a label, of its size.
CHARACTER = 0.56
GREY = "#8a8a8a"
PALE = "#e6e6e6"
INK = "#222222"

Point = tuple[float, float]


@attrs.frozen
class Box:
    """A rectangle of the drawing."""

    x: float
    y: float
    width: float
    height: float

    def meets(self, other: "Box") -> bool:
        """Whether both share any area."""
        return (
            self.x < other.x + other.width
            and other.x < self.x + self.width
            and self.y < other.y + other.height
            and other.y < self.y + self.height
        )

    def inside(self, other: "Box") -> bool:
        """Whether this lies in the other."""
        return (
            other.x <= self.x
            and other.y <= self.y
            and self.x + self.width <= other.x + other.width
            and self.y + self.height <= other.y + other.height
        )


@attrs.frozen
class Panel:
    """Two logarithmic axes in a rectangle."""

    box: Box
    xs: tuple[float, float]
    ys: tuple[float, float]

    def place(self, x: float, y: float) -> Point:
        """Return where a pair of values is drawn."""
        across = math.log(x / self.xs[0]) / math.log(self.xs[1] / self.xs[0])
        up = math.log(y / self.ys[0]) / math.log(self.ys[1] / self.ys[0])
        return (
            self.box.x + across * self.box.width,
            self.box.y + (1 - up) * self.box.height,
        )

    def frame(
        self, x_ticks: Sequence[float], y_ticks: Sequence[float], title: str
    ) -> Iterator[str]:
        """Draw grid, ticks and title."""
        box = self.box
        for tick in x_ticks:
            x, _ = self.place(tick, self.ys[0])
            yield line((x, box.y), (x, box.y + box.height), PALE)
            yield text((x, box.y + box.height + 15), short(tick), "middle", GREY)
        for tick in y_ticks:
            _, y = self.place(self.xs[0], tick)
            yield line((box.x, y), (box.x + box.width, y), PALE)
            yield text((box.x - 6, y + 4), short(tick), "end", GREY)
        yield line((box.x, box.y + box.height), (box.x + box.width, box.y + box.height), GREY)
        yield line((box.x, box.y), (box.x, box.y + box.height), GREY)
        yield text((box.x, box.y - 8), title, "start", INK, bold=True)


def short(value: float) -> str:
    """Write a tick: no digits that say nothing."""
    for size, unit in ((1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:g}{unit}"
    return f"{value:g}"


def ticks(low: float, high: float, of_decade: Sequence[float]) -> list[float]:
    """Multiples of powers of ten between two values."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    results = [part * 10.0**power for power in powers for part in of_decade]
    return [tick for tick in results if low <= tick * (1 + 1e-9) and tick <= high * (1 + 1e-9)]


def line(start: Point, end: Point, colour: str, width: float = 1, dashes: str = "") -> str:
    """Draw a straight line."""
    dash = f' stroke-dasharray="{dashes}"' if dashes else ""
    return (
        f'<line x1="{start[0]:.1f}" y1="{start[1]:.1f}" x2="{end[0]:.1f}" y2="{end[1]:.1f}" '
        f'stroke="{colour}" stroke-width="{width}"{dash}/>'
    )


def path(points: Iterable[Point], colour: str, width: float = 1.6, dashes: str = "") -> str:
    """Draw a line through points."""
    through = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dash = f' stroke-dasharray="{dashes}"' if dashes else ""
    return (
        f'<polyline points="{through}" fill="none" stroke="{colour}" stroke-width="{width}"{dash}/>'
    )


def text(
    at: Point, said: str, anchor: str, colour: str = INK, bold: bool = False, size: int = FONT
) -> str:
    """Write a line of text, with a white rim where it crosses a line."""
    weight = ' font-weight="600"' if bold else ""
    weight += ' stroke="#ffffff" stroke-width="3" paint-order="stroke"'
    return (
        f'<text x="{at[0]:.1f}" y="{at[1]:.1f}" text-anchor="{anchor}" fill="{colour}" '
        f'font-size="{size}"{weight}>{escape(said)}</text>'
    )


def mark(at: Point, shape: str, colour: str, said: str = "", size: float = 5) -> str:
    """Draw a mark: a disc, a diamond or a ring, with a title for whoever points at it."""
    x, y = at
    title = f"<title>{escape(said)}</title>" if said else ""
    if shape == "diamond":
        reach = size * 1.3
        corners = f"{x:.1f},{y - reach:.1f} {x + reach:.1f},{y:.1f} {x:.1f},{y + reach:.1f} "
        corners += f"{x - reach:.1f},{y:.1f}"
        drawn = f'<polygon points="{corners}" fill="{colour}" stroke="#fff">'
        return f"{drawn}{title}</polygon>"
    fill = "#ffffff" if shape == "ring" else colour
    edge = colour if shape == "ring" else "#ffffff"
    wide = 2 if shape == "ring" else 1
    return (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size}" fill="{fill}" stroke="{edge}" '
        f'stroke-width="{wide}">{title}</circle>'
    )


def document(width: int, height: int, parts: Iterable[str], title: str) -> str:
    """Put the parts into an SVG document on a white ground."""
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        f'font-family="Helvetica, Arial, sans-serif">\n<title>{escape(title)}</title>\n'
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>\n{body}\n</svg>\n'
    )


def spread(wanted: Sequence[float], gap: float) -> list[float]:
    """Move ascending heights apart until they are a gap apart, each as little as possible."""
    groups: list[list[float]] = []
    for height in wanted:
        groups.append([height])
        while len(groups) > 1 and _start(groups[-2], gap) + len(groups[-2]) * gap > _start(
            groups[-1], gap
        ):
            groups[-2:] = [groups[-2] + groups[-1]]
    return [_start(group, gap) + index * gap for group in groups for index in range(len(group))]


def _start(group: Sequence[float], gap: float) -> float:
    return sum(group) / len(group) - (len(group) - 1) * gap / 2


@attrs.define
class Labels:
    """Places labels beside their points so that none covers a label or a point."""

    within: Box
    taken: list[Box]

    @classmethod
    def around(cls, within: Box, points: Iterable[Point]) -> "Labels":
        """Start with points that must stay visible."""
        return cls(within, [Box(x - 6, y - 6, 12, 12) for x, y in points])

    def put(self, at: Point, said: str, colour: str, bold: bool = False) -> Iterator[str]:
        """Write one label at the nearest free place, with a line to its point if that is far."""
        width = len(said) * FONT * CHARACTER * (1.06 if bold else 1)
        for reach in range(9, 150, 4):
            for turn in (0, 180, 335, 25, 205, 155, 300, 60, 240, 120, 270, 90):
                box = self._box(at, width, reach, math.radians(turn))
                if box.inside(self.within) and not any(box.meets(other) for other in self.taken):
                    self.taken.append(box)
                    if reach > 17:
                        near = min(max(at[0], box.x), box.x + box.width)
                        yield line(at, (near, box.y + box.height / 2), colour, 0.6)
                    yield text((box.x + 1, box.y + FONT - 1.5), said, "start", colour, bold)
                    return

    @staticmethod
    def _box(at: Point, width: float, reach: float, turn: float) -> Box:
        x, y = at[0] + reach * math.cos(turn), at[1] + reach * math.sin(turn)
        # The text begins at the side that looks at the point.
        share = (1 - math.cos(turn)) / 2
        height = FONT + 2
        return Box(x - share * width, y - height / 2, width + 2, height)
