"""What the audits' measurements say: goals, ratios to peers, agreement, and when to approximate."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from audit_peers import PEERS
from goal import Goal
from growth import Style, growth_plot

Record = dict[str, Any]
Key = tuple[str, int]

MILLION = 1_000_000
#: Rows of the matrices that are multiplied.
SGEMM = 2_048
#: Least share of a core's rate of multiplication that the similarities reach; 0.3 is aimed at.
LEAST_SHARE = 0.25
SHARE_AT = 100_000
#: Most CPU of everything but the similarities, in fits of scikit-learn.
MOST_FITS = 6.0
FITS_AT = (10_000, 100_000)
#: Wall seconds on two cores, and the peak of the largest audit.
MOST_WALL = {10_000: 0.5, 100_000: 4.0, MILLION: 60.0}
MOST_MB = 2_000.0

WHOLE = "cvpl"
COLOURS = {
    "cvpl": "#c8102e",
    "cvpl + attribution": "#c8102e",
    "fellegi-sunter": "#2f6db5",
    "distance": "#2e8540",
}
PEER = "#555555"
#: What splink calls a column that our audit names otherwise.
NAMES = {"seconds": "purchase_time"}


def key(record: Record) -> Key:
    """Tell which measurement a record is of."""
    return record["name"], record["rows"]


class Results:
    """The records of a run, found by what was asked."""

    def __init__(self, records: Iterable[Record]) -> None:
        self.records = {key(record): record for record in records}

    def get(self, name: str, rows: int) -> Record | None:
        """Return a record, or None if it was not measured or left out."""
        record = self.records.get((name, rows))
        return None if record is None or "left_out" in record else record

    def of(self, name: str) -> list[Record]:
        """Every size at which something was measured."""
        results = [self.get(name, rows) for other, rows in self.records if other == name]
        return sorted((r for r in results if r is not None), key=lambda record: record["rows"])


def goals(results: Results) -> list[Goal]:
    """Judge everything that was measured."""
    return [*_similarity(results), *_everything_else(results), *_whole(results)]


def _similarity(results: Results) -> Iterator[Goal]:
    ours, unit = results.get(WHOLE, SHARE_AT), results.get("sgemm", SGEMM)
    if ours and unit:
        name = f"similarities, share of sgemm's rate per core, {SHARE_AT:,} rows"
        share = ours["gflops"] / unit["gflops"]
        yield Goal.at_least(name, share, LEAST_SHARE, (key(ours), key(unit)))


def _everything_else(results: Results) -> Iterator[Goal]:
    for rows in FITS_AT:
        ours, unit = results.get(WHOLE, rows), results.get("scikit-learn", rows)
        if ours and unit:
            name = f"CPU of all but similarities over a fit of scikit-learn, {rows:,} rows"
            figure = (ours["cpu"] - ours["stages"]["similarity"]) / unit["cpu"]
            yield Goal.at_most(name, figure, MOST_FITS, times=(key(ours), key(unit)))


def _whole(results: Results) -> Iterator[Goal]:
    for rows, limit in MOST_WALL.items():
        ours = results.get(WHOLE, rows)
        if ours:
            name = f"wall seconds of a whole audit, {rows:,} rows"
            yield Goal.at_most(name, ours["wall"], limit, times=(key(ours),))
        if ours and rows == MILLION:
            yield Goal.at_most(f"peak MB of it, {rows:,} rows", ours["peak_mb"], MOST_MB)


def stages(results: Results) -> Iterator[str]:
    """Write where the time goes, as a Markdown table."""
    unit = results.get("sgemm", SGEMM)
    yield "| Audit | rows | CPU s | wall s | MB | prepare | similarity | rest | of sgemm |"
    yield "| --- " + "| ---: " * 8 + "|"
    for name in COLOURS:
        for record in results.of(name):
            cells = [name, f"{record['rows']:,}", f"{record['cpu']:.2f}", f"{record['wall']:.2f}"]
            cells.append(f"{record['peak_mb']:.0f}")
            parts = record.get("stages", {})
            walls = record.get("walls", {})
            cells += [
                f"{parts[part]:.2f} ({walls[part]:.2f})" if part in parts else ""
                for part in ("prepare", "similarity", "rest")
            ]
            rate = record.get("gflops")
            cells.append(f"{rate / unit['gflops']:.0%}" if rate and unit else "")
            yield f"| {' | '.join(cells)} |"


def ratios(results: Results) -> Iterator[str]:
    """Write what peers cost beside ours, as a Markdown table."""
    yield "| Peer | rows | CPU s | MB | " + " | ".join(f"over {name}" for name in COLOURS) + " |"
    yield "| --- " + "| ---: " * (3 + len(COLOURS)) + "|"
    for name in PEERS:
        for record in results.of(name):
            rows = record["rows"]
            cells = [name, f"{rows:,}", f"{record['cpu']:.2f}", f"{record['peak_mb']:.0f}"]
            for ours in (results.get(other, rows) for other in COLOURS):
                cells.append(f"{record['cpu'] / ours['cpu']:.1f}" if ours else "")
            yield f"| {' | '.join(cells)} |"


def agreement(results: Results) -> Iterator[str]:
    """Write what record linkage found, ours and theirs, as a Markdown table."""
    theirs = [r for name in ("splink", "recordlinkage") for r in results.of(name)]
    if not theirs:
        return
    ours = results.get("fellegi-sunter", theirs[0]["rows"])
    result = [] if ours is None else [(ours, ours["findings"], "linkage_rate_posterior")]
    result += [(record, record, "linked") for record in theirs]
    yield "| Record linkage | posterior > 0.5 | P@1 | m and u by column |"
    yield "| --- | ---: | ---: | --- |"
    for record, figures, linked in result:
        chances = ", ".join(
            f"{NAMES.get(name, name)} {m:.2f} {u:.2f}"
            for name, (m, u) in sorted(record.get("chances", {}).items())
            if m is not None and u is not None
        )
        rates = f"{figures[linked]:.3f} | {figures['precision_at_1']:.3f}"
        yield f"| {record['name']} | {rates} | {chances} |"
    if ours is not None and "true_chances" in ours:
        true = ", ".join(f"{name} {m:.2f}" for name, m in sorted(ours["true_chances"].items()))
        yield f"| the truth | | | {true} |"


def crossover(results: Results) -> Iterator[str]:
    """Write what exact and approximate searches cost, as a Markdown table, and where they meet."""
    yield "| Candidates | exact, CPU s | faiss flat | faiss HNSW | it finds | hnswlib |"
    yield "| ---: " * 6 + "|"
    ratios = []
    for exact in results.of("exact search"):
        rows = exact["rows"]
        graph: Record = results.get("faiss HNSW", rows) or {}
        other: Record = results.get("hnswlib", rows) or {}
        cells = [f"{rows:,}", f"{exact['cpu']:.2f}"]
        cells += [f"{graph[part]:.2f}" if part in graph else "" for part in ("flat_cpu", "cpu")]
        cells.append(f"{graph['found']:.1%}" if "found" in graph else "")
        cells.append(f"{other['cpu']:.2f}" if other else "")
        yield f"| {' | '.join(cells)} |"
        approximate = [result["cpu"] for result in (graph, other) if result]
        if approximate:
            ratios.append((rows, exact["cpu"] / min(approximate)))
    if len(ratios) > 1:
        yield f"both cost the same at about {_meeting(ratios):,.0f} candidates"


def _meeting(ratios: list[tuple[int, float]]) -> float:
    """Where a ratio reaches 1, along the line through the two sizes nearest to it."""
    sizes, result = np.log([rows for rows, _ in ratios]), np.log([ratio for _, ratio in ratios])
    last = int(np.clip(np.searchsorted(result, 0.0), 1, len(result) - 1))
    slope = (result[last] - result[last - 1]) / (sizes[last] - sizes[last - 1])
    return float(np.exp(sizes[last] - result[last] / slope))


def draw(results: Results, file: Path) -> None:
    """Plot CPU seconds against rows, ours and peers'; nothing if there is one size only."""
    lines = {
        name: [(record["rows"], record["cpu"]) for record in results.of(name)]
        for name in (*COLOURS, "scikit-learn", *PEERS)
    }
    lines = {name: points for name, points in lines.items() if points}
    if len({rows for points in lines.values() for rows, _ in points}) > 1:
        title = "CPU time of an audit against rows: simulated touchpoints, perturbed"
        file.write_text(growth_plot(lines, title, style_of, (2.0, 4.0)), encoding="utf-8")


def style_of(name: str) -> Style:
    """Return how an audit or a peer is drawn."""
    if name not in COLOURS:
        return Style(PEER, "ring", "5 3")
    return Style(COLOURS[name], "diamond" if "+" in name else "disc")
