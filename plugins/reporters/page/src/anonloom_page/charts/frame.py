"""Axes, grid lines and axis titles around the drawing of a chart."""

import attrs
from markupsafe import Markup

from anonloom_page.charts.scale import Scale
from anonloom_page.charts.svg import WIDTH, clip, group, line, text, width_of


@attrs.frozen
class Frame:
    """The rectangle in which data are drawn."""

    left: float
    top: float
    right: float
    bottom: float

    @classmethod
    def of(cls, height: float, left: float = 46, bottom: float = 42, top: float = 26) -> "Frame":
        """Return the rectangle inside a chart of this height."""
        return cls(left, top, WIDTH - 14, height - bottom)

    @property
    def width(self) -> float:
        """Its width."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """Its height."""
        return self.bottom - self.top


def left_for(ticks: tuple[tuple[float, str], ...]) -> float:
    """Room that the texts of a vertical axis need."""
    return max((width_of(label) for _, label in ticks), default=0.0) + 14


def horizontal_lines(frame: Frame, scale: Scale) -> Markup:
    """Return grid lines and texts of the vertical axis."""
    parts = []
    for value, label in scale.ticks:
        y = scale(value)
        parts.append(line(frame.left, y, frame.right, y, "rule"))
        parts.append(text(frame.left - 6, y + 4, label, "tick", text_anchor="end"))
    return group(parts)


def vertical_ticks(frame: Frame, scale: Scale, *, lines: bool = False) -> Markup:
    """Return ticks and texts of the horizontal axis."""
    parts = []
    for value, label in scale.ticks:
        x = scale(value)
        if lines:
            parts.append(line(x, frame.top, x, frame.bottom, "rule"))
        else:
            parts.append(line(x, frame.bottom, x, frame.bottom + 4, "axis"))
        # The last one stays inside the picture.
        middle = min(x, WIDTH - 1 - width_of(label) / 2)
        parts.append(text(middle, frame.bottom + 16, label, "tick", text_anchor="middle"))
    return group(parts)


def titles(frame: Frame, x: str, y: str, x_at: float) -> Markup:
    """Return the axis titles: of the vertical axis above it, where it can be read."""
    parts = [line(frame.left, frame.bottom, frame.right, frame.bottom, "axis")]
    if y:
        parts.append(text(2, 13, clip(y, WIDTH - 10, "label"), "label"))
    if x:
        clipped = clip(x, frame.width, "label")
        parts.append(text(frame.right, x_at, clipped, "label", text_anchor="end"))
    return group(parts)
