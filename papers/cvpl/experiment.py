"""The runs of an experiment, read back from the folder that it was published to."""

from pathlib import Path
from typing import Any, TypeVar

import attrs

from anonloom import Chart, Finding, Findings
from anonloom.errors import UsageError
from anonloom.files import read_json
from anonloom.kinds import GridRow

T = TypeVar("T", Finding, Chart)


def read_experiment(folder: Path) -> list[GridRow]:
    """Return the published runs, each with what all its auditors found.

    Raises
    ------
    UsageError
        If the folder holds no finished experiment.
    """
    try:
        runs = read_json(folder / "public" / "grid.json")["runs"]
        # Runs are numbered in the order of the table, those that published nothing included.
        return [
            _row(folder, number, run)
            for number, run in enumerate(runs, start=1)
            if run["status"] == "published"
        ]
    except (OSError, ValueError, KeyError, TypeError, StopIteration):
        raise UsageError(
            f"'{folder}' holds no finished experiment",
            hint="`anonloom run examples/cvpl-paper.yaml` makes one",
        ) from None


def _row(folder: Path, number: int, run: dict[str, Any]) -> GridRow:
    run_folder = next(path for path in (folder / "runs").glob(f"{number:03d}*"))
    report = read_json(run_folder / "public" / "report.json")
    others = {part["id"]: _findings(part) for part in report["audits"]}
    return GridRow(run["label"], run["parameters"], Findings(), others)


def _findings(part: dict[str, Any]) -> Findings:
    return Findings.of(
        [_from_data(Finding, data) for data in part["findings"]],
        [_from_data(Chart, data) for data in part["charts"]],
    )


def _from_data(cls: type[T], data: dict[str, Any]) -> T:
    """Make a finding or a chart; what a report adds to it is left out."""
    known = {field.name for field in attrs.fields(cls)}
    return cls(**{name: value for name, value in data.items() if name in known})
