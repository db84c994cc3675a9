"""The runs of an experiment: read back from the folder that it was published to, or kept as means.

Kept are the figures that the tables need, means over the seeds, in one small file: so that a test
can hold the documents to the runs that they are of.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

import attrs

from anonloom import Chart, Finding, Findings
from anonloom.errors import UsageError
from anonloom.files import read_json
from anonloom.kinds import GridRow
from papers.cvpl.paper_runs import Runs, case_of, is_used, outliers_of

T = TypeVar("T", Finding, Chart)

#: The means over the seeds of the runs that docs/cvpl-reproduced.md shows.
MEASURED = Path(__file__).parent / "measured.json"
#: Digits that are kept after the point.
DIGITS = 5


def read_runs(place: Path) -> list[GridRow]:
    """Return runs, of the folder of an experiment or of a file of kept means.

    Raises
    ------
    UsageError
        If there are none.
    """
    try:
        if place.is_file():
            return [_kept_row(run) for run in read_json(place)["runs"]]
        runs = read_json(place / "public" / "grid.json")["runs"]
        # Runs are numbered in the order of the table, those that published nothing included.
        return [
            _row(place, number, run)
            for number, run in enumerate(runs, start=1)
            if run["status"] == "published"
        ]
    except (OSError, ValueError, KeyError, TypeError, StopIteration):
        raise UsageError(
            f"'{place}' holds no finished experiment",
            hint="`anonloom run examples/cvpl-paper.yaml` makes one",
        ) from None


def kept_runs(grid: Iterable[GridRow]) -> dict[str, Any]:
    """Return what `read_runs` reads from a file: the means that tables and claims use."""
    runs = Runs.of(list(grid))
    groups = dict.fromkeys((case_of(row), outliers_of(row)) for row in runs.rows)
    kept = []
    for case, outliers in groups:
        rows = [row for row in runs.rows if (case_of(row), outliers_of(row)) == (case, outliers)]
        names = dict.fromkeys(
            f"{auditor}:{finding.name}"
            for row in rows
            for auditor, findings in row.others.items()
            for finding in findings
            if is_used(case, f"{auditor}:{finding.name}")
        )
        means = {name: runs.mean(name, case, outliers) for name in names}
        figures = {name: round(mean, DIGITS) for name, mean in means.items() if mean is not None}
        kept.append({"case": case, "outliers": outliers, "runs": len(rows), "figures": figures})
    return {"runs": kept}


def _kept_row(run: dict[str, Any]) -> GridRow:
    findings: dict[str, list[Finding]] = {}
    for name, value in run["figures"].items():
        auditor, _, finding = name.partition(":")
        of_auditor = findings.setdefault(auditor, [])
        of_auditor.append(Finding(name=finding, value=value, meaning="A mean over seeds."))
    others = {auditor: Findings.of(items) for auditor, items in findings.items()}
    parameters = {"case": run["case"], "outliers": run["outliers"]}
    return GridRow(run["case"], parameters, Findings(), others)


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
