"""`python -m papers.cvpl EXPERIMENT`: the paper's tables beside those of an experiment."""

import argparse
import sys
from pathlib import Path
from typing import Any

import attrs

from anonloom import Chart
from anonloom.errors import AnonloomError, UsageError
from anonloom.files import read_json
from papers.cvpl.experiment import read_experiment
from papers.cvpl.reproduction import reproduction


def main(arguments: list[str] | None = None) -> int:
    """Print all tables as Markdown; with `--page` write the experiment's page with them, too."""
    parser = argparse.ArgumentParser(prog="python -m papers.cvpl", description=__doc__)
    parser.add_argument("experiment", type=Path, help="folder that an experiment was published to")
    parser.add_argument("--page", type=Path, metavar="FOLDER", help="write a page there, as well")
    given = parser.parse_args(arguments)
    try:
        charts = reproduction(read_experiment(given.experiment)).charts
        if not charts:
            raise UsageError(f"'{given.experiment}' has no run of the paper's protections")
        if given.page is not None:
            _write_page(given.experiment, charts, given.page)
    except AnonloomError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    print("\n\n".join(markdown(chart) for chart in charts))
    return 0


def markdown(chart: Chart) -> str:
    """Write a table."""
    rows = [chart.data["columns"], ["---"] * len(chart.data["columns"]), *chart.data["rows"]]
    lines = [f"| {' | '.join(_cell(cell) for cell in row)} |" for row in rows]
    return "\n".join([f"### {chart.title}", "", *lines, "", chart.meaning])


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
