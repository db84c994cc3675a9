"""A plot of CPU time against rows, one line per method; a method measured once is a mark."""

from collections.abc import Callable, Iterator, Mapping, Sequence

import attrs
import svg
from svg import INK, Box, Labels, Panel, line, mark, path, text

WIDTH = 1160
BOX = Box(70, 70, 820, 560)


@attrs.frozen
class Style:
    """How a method is drawn."""

    colour: str
    shape: str
    dashes: str = ""


def growth_plot(
    lines: Mapping[str, Sequence[tuple[int, float]]],
    title: str,
    style_of: Callable[[str], Style],
    factors: tuple[float, float],
) -> str:
    """Draw CPU seconds against rows.

    Parameters
    ----------
    lines
        Rows and CPU seconds of every method.
    factors
        What twice as many rows cost along the two guides, the flatter first.
    """
    sizes = [rows for points in lines.values() for rows, _ in points]
    times = [cpu for points in lines.values() for _, cpu in points]
    panel = Panel(BOX, (min(sizes) / 1.1, max(sizes)), (min(times) / 1.3, max(times) * 1.3))
    parts = [text((20, 30), title, "start", INK, bold=True, size=16)]
    parts += panel.frame(svg.ticks(*panel.xs, (1, 2, 5)), svg.ticks(*panel.ys, (1,)), "CPU seconds")
    parts.append(text((BOX.x + BOX.width, BOX.y + BOX.height + 32), "rows", "end"))
    parts += guides(panel, factors)
    ends = {}
    for name, points in lines.items():
        places = [panel.place(rows, cpu) for rows, cpu in points]
        style = style_of(name)
        parts.append(path(places, style.colour, dashes=style.dashes))
        size = 2.6 if len(places) > 1 else 4.5
        parts += [mark(index, style.shape, style.colour, size=size) for index in places]
        ends[name] = places[-1]
    parts += end_labels(ends, style_of)
    return svg.document(WIDTH, 690, parts, title)


def end_labels(
    ends: Mapping[str, svg.Point], style_of: Callable[[str], Style], box: svg.Box = BOX
) -> Iterator[str]:
    """Name the lines: those that reach the right edge beside it, the others at their end."""
    right = box.x + box.width
    reaching = sorted(
        (name for name, (x, _) in ends.items() if x > right - 1), key=lambda name: ends[name][1]
    )
    heights = svg.spread([ends[name][1] for name in reaching], svg.FONT + 4)
    for name, height in zip(reaching, heights, strict=True):
        colour = style_of(name).colour
        yield line((right + 4, ends[name][1]), (right + 24, height), colour, 0.6)
        yield text((right + 28, height + 4), name, "start", colour)
    labels = Labels.around(box, ends.values())
    for name in sorted(set(ends) - set(reaching)):
        yield from labels.put(ends[name], name, style_of(name).colour)


def guides(panel: Panel, factors: tuple[float, float]) -> Iterator[str]:
    """Draw what some factors per doubling look like."""
    high = panel.xs[1]
    for flat, factor, dashes in zip((True, False), factors, ("2 4", "7 4"), strict=True):
        points = [
            panel.place(high / 2**halvings, panel.ys[0] * 1.2 * factor ** (3 - halvings))
            for halvings in (3, 2, 1, 0)
        ]
        yield path(points, svg.GREY, 1, dashes)
        x, y = points[2]
        place, anchor = ((x + 4, y + 14), "start") if flat else ((x - 4, y - 6), "end")
        yield text(place, f"x {factor:g} per doubling", anchor, svg.GREY)
