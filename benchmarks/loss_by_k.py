#!/usr/bin/env python3
"""The loss of every chain at every k, age as an interval and every column as nodes side by side.

python benchmarks/loss_by_k.py interval.json nodes.json docs/images/chains.svg

Reads two results of benchmarks/anonymizers.py.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import svg
from goals import ARX_LOCAL, KS, Results
from growth import end_labels
from plot import ARX, LEFT_OUT, colour_of, legend, style_of
from svg import INK, Box, Panel, mark, path, text

WIDTH = 1160
HEIGHT = 760
TITLE = "Loss of every chain at every k: Adult, 30,162 rows, 8 quasi-identifiers"
WORDS = {"interval": "age as an interval", "nodes": "every column as nodes"}


def lines_of(outcome: dict[str, Any]) -> dict[str, list[tuple[int, float]]]:
    """GCP by k of every chain of ours that was measured at every k."""
    losses = Results(outcome["records"]).losses()
    results = {}
    for chain in dict.fromkeys(chain for chain, _ in losses):
        points = [(k, losses[chain, k]) for k in KS if (chain, k) in losses]
        if len(points) == len(KS) and chain != LEFT_OUT:
            results[chain] = points
    if outcome["publish"] == "nodes" and not outcome["own_hierarchies"]:
        results[ARX] = list(zip(KS, ARX_LOCAL, strict=True))
    return results


def panel_of(box: Box, outcome: dict[str, Any], ys: tuple[float, float]) -> Iterator[str]:
    """Draw one form of publishing."""
    panel = Panel(box, (KS[0], KS[-1]), ys)
    ticks = svg.ticks(*ys, (1, 1.5, 2, 3, 5, 7))
    yield from panel.frame(list(KS), ticks, f"GCP, {WORDS[outcome['publish']]}")
    yield text((box.x + box.width, box.y + box.height + 32), "k", "end")
    ends = {}
    for name, points in lines_of(outcome).items():
        places = [panel.place(k, loss) for k, loss in points]
        dashes = "5 3" if name == ARX else ""
        yield path(places, colour_of(name), 1.8 if "regroup" in name else 1.2, dashes)
        for place, (k, loss) in zip(places, points, strict=True):
            shape = "diamond" if "regroup" in name else "disc"
            yield mark(place, shape, colour_of(name), f"{name}, k = {k}: {loss:.4f}", 3)
        ends[name] = places[-1]
    yield from end_labels(ends, style_of, box)


def main() -> int:
    """Write the figure."""
    *sources, target = (Path(argument) for argument in sys.argv[1:])
    outcomes = [json.loads(source.read_text(encoding="utf-8")) for source in sources]
    losses = [loss for o in outcomes for points in lines_of(o).values() for _, loss in points]
    ys = (min(losses) / 1.08, max(losses) * 1.05)
    parts = [text((20, 30), TITLE, "start", INK, bold=True, size=16), *legend()]
    for index, outcome in enumerate(outcomes):
        parts += panel_of(Box(60 + index * 570, 100, 330, HEIGHT - 160), outcome, ys)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(svg.document(WIDTH, HEIGHT, parts, TITLE), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
