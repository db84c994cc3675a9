"""`python -m papers.cvpl [EXPERIMENT ...]`: the paper's tables beside those of experiments."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import attrs

from anonloom import Chart
from anonloom.errors import AnonloomError, UsageError
from anonloom.files import read_json
from papers.cvpl.experiment import MEASURED, kept_runs, read_runs
from papers.cvpl.reproduction import reproduction


def main(arguments: list[str] | None = None) -> int:
    """Print all tables and figures as Markdown; with `--page` write a page with them, too."""
    parser = argparse.ArgumentParser(prog="python -m papers.cvpl", description=__doc__)
    parser.add_argument(
        "experiments", type=Path, nargs="*", default=[MEASURED], metavar="experiment",
        help="folders that experiments were published to, or files of kept means; without any the "
        "means of the runs that docs/cvpl-reproduced.md shows",
    )  # fmt: skip
    parser.add_argument(
        "--page", type=Path, metavar="FOLDER",
        help="write the page of the first experiment there, with tables and figures",
    )  # fmt: skip
    parser.add_argument("--keep", type=Path, metavar="FILE", help="keep the means in this file")
    given = parser.parse_args(arguments)
    try:
        grid = [row for place in given.experiments for row in read_runs(place)]
        charts = reproduction(grid).charts
        if not charts:
            listed = ", ".join(f"'{place}'" for place in given.experiments)
            raise UsageError(f"{listed} has no run of the paper's protections")
        if given.page is not None:
            _write_page(given.experiments[0], charts, given.page)
        if given.keep is not None:
            kept = json.dumps(kept_runs(grid), indent=1, sort_keys=True)
            given.keep.write_text(kept + "\n", encoding="utf-8")
    except AnonloomError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    print("\n\n".join(markdown(chart) for chart in charts))
    return 0


def markdown(chart: Chart) -> str:
    """Write a table, or the figures behind a chart."""
    columns, rows = _columns_and_rows(chart)
    lines = [f"| {' | '.join(map(_cell, row))} |" for row in (columns, ["---"] * len(columns))]
    lines += [f"| {' | '.join(map(_cell, row))} |" for row in rows]
    return "\n".join([f"### {chart.title}", "", *lines, "", chart.meaning])


def _columns_and_rows(chart: Chart) -> tuple[list[Any], list[list[Any]]]:
    if chart.kind == "table":
        return chart.data["columns"], chart.data["rows"]
    if chart.kind == "bars":
        names = [name for name in chart.data if name != "labels"]
        values = [chart.data[name] for name in names]
        return [chart.x, *names], _transposed([chart.data["labels"], *values])
    # Lines over one and the same places.
    lines = list(chart.data.values())
    return [chart.x, *chart.data], _transposed([lines[0]["x"], *(line["y"] for line in lines)])


def _transposed(columns: list[list[Any]]) -> list[list[Any]]:
    return [list(row) for row in zip(*columns, strict=True)]


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def _write_page(experiment: Path, charts: tuple[Chart, ...], folder: Path) -> None:
    from anonloom_page.reporter import Page

    report = read_json(experiment / "public" / "grid.json")
    tables = [attrs.asdict(chart) for chart in charts]
    report["summaries"].append({"auditor": "cvpl-variants", "findings": [], "charts": tables})
    folder.mkdir(parents=True, exist_ok=True)
    Page().write_grid(report, folder)


if __name__ == "__main__":
    sys.exit(main())
