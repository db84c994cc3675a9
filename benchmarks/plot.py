#!/usr/bin/env python3
"""Two plots of a run: loss against CPU time for every k, and CPU time against rows.

python benchmarks/plot.py benchmarks/results/anonymizers.json
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import svg
from adult_table import ALL_ROWS
from goals import (
    ARX_LOCAL,
    ARX_LOCAL_CPU,
    DOUBLING,
    GROWING,
    KS,
    Record,
    Results,
    seconds,
)
from growth import WIDTH, Style, growth_plot
from svg import INK, Box, Labels, Panel, line, mark, text

#: Families of methods: a word of the name, the colour, the words of the legend.
FAMILIES = (
    ("level-order", "#c8102e", "level-order (ours)"),
    ("mondrian", "#2f6db5", "mondrian"),
    ("rayden", "#8e3b9b", "vp-tree, rayden, canon"),
    ("vp-tree", "#8e3b9b", ""),
    ("canon", "#8e3b9b", ""),
    ("cof", "#8e3b9b", ""),
    ("kmeans", "#2e8540", "one-pass-kmeans, k-member"),
    ("k-member", "#2e8540", ""),
    ("full-domain", "#b36b00", "full-domain, local-recoding"),
    ("local-recoding", "#b36b00", ""),
    ("regroup", "#c8102e", ""),
)
PEER = "#555555"
#: A second reading of a chain that is drawn already.
LEFT_OUT = "mondrian widest, by label"
ARX = "ARX, local (elsewhere)"

MAIN = Box(70, 96, 1060, 560)
SMALL = (490.0, 300.0)
ACROSS = 2


def draw(outcome: dict[str, Any], stem: Path) -> None:
    """Write both plots beside the results."""
    results = Results(outcome["records"])
    stem.with_suffix(".svg").write_text(loss_plot(outcome, results), encoding="utf-8")
    sizes = [rows for rows in results.rows() if rows <= 1_000_000]
    if len(sizes) > 2:
        file = stem.with_name(f"{stem.name}-rows.svg")
        file.write_text(rows_plot(results, sizes), encoding="utf-8")


def colour_of(name: str) -> str:
    """Return the colour of a method's family, or of peers."""
    if name.startswith(("anonypy", "anjana", "pyod", "ARX")):
        return PEER
    return next((colour for word, colour, _ in FAMILIES if word in name), INK)


def shape_of(name: str) -> str:
    """Return the mark: rings for peers, diamonds after regroup."""
    if colour_of(name) == PEER:
        return "ring"
    return "diamond" if "regroup" in name else "disc"


def loss_plot(outcome: dict[str, Any], results: Results) -> str:
    """Draw GCP against CPU seconds, one large panel and one small for every other k."""
    drawn: dict[int, dict[str, Record]] = {}
    for (chain, rows, k, whole), record in results.records.items():
        if rows == ALL_ROWS and not whole and "gcp" in record and chain != LEFT_OUT:
            drawn.setdefault(k, {})[chain] = record
    if outcome["publish"] == "nodes" and not outcome["own_hierarchies"]:
        for k, loss, cpu in zip(KS, ARX_LOCAL, ARX_LOCAL_CPU, strict=True):
            drawn.get(k, {})[ARX] = {"gcp": loss, "cpu": cpu}
    if not drawn:
        return svg.document(WIDTH, 60, [], "nothing was measured on all rows")
    main = 10 if 10 in drawn else min(drawn)
    form = "age as an interval" if outcome["publish"] == "interval" else "every column as nodes"
    title = f"Loss against CPU time: Adult, 30,162 rows, 8 quasi-identifiers, {form}"
    parts = [text((20, 30), title, "start", INK, bold=True, size=16), *legend()]
    parts += loss_panel(MAIN, drawn[main], f"k = {main}", main=True)
    parts += [
        text((MAIN.x + MAIN.width, MAIN.y + MAIN.height + 32), "CPU seconds", "end"),
        text((20, MAIN.y - 8), "GCP", "start"),
    ]
    others = [k for k in sorted(drawn) if k != main]
    below = MAIN.y + MAIN.height + 75
    for index, k in enumerate(others):
        down, across = divmod(index, ACROSS)
        box = Box(MAIN.x + across * 570, below + down * (SMALL[1] + 60), *SMALL)
        parts += loss_panel(box, drawn[k], f"k = {k}", main=False)
    height = below + -(-len(others) // ACROSS) * (SMALL[1] + 60) - 20
    return svg.document(WIDTH, int(height), parts, title)


def legend() -> Iterator[str]:
    """Explain colours and marks."""
    x = 20.0
    words = [(colour, "disc", message) for _, colour, message in FAMILIES if message]
    words += [(INK, "diamond", "with regroup"), (PEER, "ring", "other packages")]
    for colour, shape, message in words:
        yield mark((x + 5, 54), shape, colour)
        yield text((x + 15, 58), message, "start")
        x += 34 + len(message) * 6.1


def loss_panel(box: Box, records: dict[str, Record], title: str, main: bool) -> Iterator[str]:
    """Draw one k; methods that nothing beats in both have a bold label."""
    times = [record["cpu"] for record in records.values()]
    losses = [record["gcp"] for record in records.values()]
    panel = Panel(
        box,
        (min(times) / 1.6, max(times) * (2.4 if main else 4)),
        (min(losses) / (1.15 if main else 1.4), max(losses) * 1.12),
    )
    yield from panel.frame(
        svg.ticks(*panel.xs, (1, 2, 5) if main else (1,)),
        svg.ticks(*panel.ys, (1, 1.5, 2, 3, 5, 7)),
        title,
    )
    places = {name: panel.place(r["cpu"], r["gcp"]) for name, r in records.items()}
    for name, place in places.items():
        before = name.removesuffix(" + regroup")
        if before != name and before in places:
            yield line(places[before], place, colour_of(name), 0.8, "3 3")
    labels = Labels.around(box, places.values())
    for name in sorted(places, key=lambda name: places[name][1]):
        best = unbeaten(name, records)
        yield from labels.put(places[name], name, colour_of(name), bold=best)
    for name, place in places.items():
        message = f"{name}: GCP {records[name]['gcp']:.4f}, {records[name]['cpu']:.3g} CPU s"
        yield mark(place, shape_of(name), colour_of(name), message, 5 if main else 4)


def unbeaten(name: str, records: dict[str, Record]) -> bool:
    """Whether no other method of ours or theirs is both faster and loses less."""
    cpu, loss = records[name]["cpu"], records[name]["gcp"]
    return not any(r["cpu"] < cpu and r["gcp"] < loss for r in records.values())


def series(results: Results, sizes: list[int]) -> dict[str, list[tuple[int, float]]]:
    """CPU seconds of every stage and peer by rows, at k = 10."""
    result: dict[str, list[tuple[int, float]]] = {}
    chains = {**GROWING, **{chain: chain for chain, _, _, _ in results.records}}
    for stage, chain in chains.items():
        if stage not in GROWING and colour_of(stage) != PEER:
            continue
        records = [(rows, results.get(chain, rows=rows)) for rows in sizes]
        line_of = [(rows, seconds(record, stage)) for rows, record in records if record]
        if len(line_of) > 1:
            result[stage] = line_of
    return result


def rows_plot(results: Results, sizes: list[int]) -> str:
    """Draw CPU seconds against rows."""
    title = "CPU time against rows, k = 10, Adult and rows drawn from it"
    return growth_plot(series(results, sizes), title, style_of, (2.0, DOUBLING))


def style_of(name: str) -> Style:
    """Return how a line is drawn: peers dashed."""
    colour = colour_of(name)
    return Style(colour, shape_of(name), "5 3" if colour == PEER else "")


if __name__ == "__main__":
    source = Path(sys.argv[1])
    draw(json.loads(source.read_text()), source.with_suffix(""))
