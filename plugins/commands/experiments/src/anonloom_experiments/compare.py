"""`anonloom compare`: two runs side by side."""

import argparse
from pathlib import Path
from typing import Any

from anonloom.errors import UsageError, on_one_line
from anonloom.files import read_json


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    for name in ("first", "second"):
        parser.add_argument(name, metavar=name.upper(), help="an output folder of `anonloom run`")


def execute(arguments: argparse.Namespace) -> int:
    """Print every figure of both runs and their difference, and what a swap of transports did."""
    # Imported late: `--help` needs none of it.
    from anonloom_experiments.transport_comparison import compare_transports

    reports = [_report(folder) for folder in (arguments.first, arguments.second)]
    first, second = (_figures(*result) for result in reports)
    names = list(dict.fromkeys([*first, *second]))
    rows: list[tuple[str, ...]] = [("", arguments.first, arguments.second, "difference")]
    for name in names:
        one, other = first.get(name), second.get(name)
        cells = (name, _format(one), _format(other), _difference(one, other))
        # Reports may come from others.
        rows.append(tuple(map(on_one_line, cells)))
    widths = [max(len(row[index]) for row in rows) for index in range(4)]
    for row in rows:
        aligned = [
            row[0].ljust(widths[0]),
            *(row[index].rjust(widths[index]) for index in (1, 2, 3)),
        ]
        print("  ".join(aligned).rstrip())
    sentence = compare_transports(*(report.get("collection") or {} for report, _ in reports))
    if sentence is not None:
        print(f"\n{on_one_line(sentence)}")
    return 0


def _report(folder: str) -> tuple[dict[str, Any], Path]:
    """Return the report of a run, and where it is."""
    path = Path(folder)
    for candidate in (path / "public" / "report.json", path / "report.json"):
        if candidate.is_file():
            break
    else:
        raise UsageError(f"'{folder}' holds no report.json; it must be the folder of a run")
    try:
        report = read_json(candidate)
    except ValueError:
        report = None
    if not isinstance(report, dict):
        raise UsageError(f"'{candidate}' is no report of a run")
    return report, candidate


def _figures(report: dict[str, Any], candidate: Path) -> dict[str, Any]:
    """Return the summary and all findings of a run by name."""
    try:
        figures = dict(report["summary"])
        # An earlier version kept no findings of the source and of the collection.
        before = [{"findings": [], **report.get(part, {})} for part in ("source", "collection")]
        for part in (*before, *report["stages"], *report["audits"]):
            for finding in part["findings"]:
                figures[f"{part['id']}.{finding['name']}"] = finding["value"]
    except (KeyError, TypeError, ValueError):
        raise UsageError(f"'{candidate}' is no report of a run") from None
    return figures


def _format(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _difference(one: Any, other: Any) -> str:
    numbers = isinstance(one, int | float) and isinstance(other, int | float)
    if not numbers or one == other:
        return ""
    share = f" ({(other - one) / abs(one):+.1%})" if one else ""
    return f"{other - one:+.6g}{share}"
