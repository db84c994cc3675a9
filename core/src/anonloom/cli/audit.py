"""`anonloom audit`: measure a release against its original, whoever made it."""

import argparse
import json
from pathlib import Path
from typing import Any

from anonloom.data.case import Case
from anonloom.data.schema import Schema
from anonloom.data.table import Table
from anonloom.errors import UsageError
from anonloom.kinds.auditor import Auditor
from anonloom.kinds.context import Run
from anonloom.registry import Registry
from anonloom.run.external import guess_schema, read_cells, release_from, unread_cells
from anonloom.run.reporting import chart_data, finding_data
from anonloom.spec.pipeline import load_pipeline
from anonloom.spelling import listed


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("original", metavar="ORIGINAL", help="the original: CSV or Parquet")
    parser.add_argument("release", metavar="RELEASE", help="the release: CSV or Parquet")
    parser.add_argument(
        "--pipeline", metavar="FILE", help="a pipeline whose columns and audits are used"
    )
    parser.add_argument(
        "--auditor",
        dest="auditors",
        metavar="NAME",
        action="append",
        default=[],
        help="an auditor to run with its defaults; repeatable; default: all that can run",
    )
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")


def execute(arguments: argparse.Namespace) -> int:
    """Audit the release."""
    registry = Registry.installed()
    before, after = read_cells(Path(arguments.original)), read_cells(Path(arguments.release))
    if arguments.pipeline:
        spec = load_pipeline(arguments.pipeline, registry)
        schema = spec.data.schema
        auditors = {audit.id: audit.method for audit in spec.audit}
        source = f"columns of {arguments.pipeline}"
    else:
        schema = guess_schema(before, after)
        auditors = {}
        source = "columns guessed from what differs"
    if arguments.auditors or not auditors:
        auditors = _chosen(arguments.auditors, registry)
    case = Case(release=release_from(after, schema), original=Table.build(before, schema))
    results = {}
    for name, auditor in auditors.items():
        missing = sorted(need for need in auditor.needs if not case.has(need))
        if missing and name in arguments.auditors:
            raise UsageError(f"auditor '{name}' needs {listed(missing)}, which two tables lack")
        if not missing:
            results[name] = auditor.audit(case, Run(stage=name))
    if not results:
        raise UsageError("no installed auditor can judge two tables alone")
    assert case.original is not None
    unread = unread_cells(case.release, case.original)
    if arguments.json:
        data = {**_data(schema, results), "unread": unread}
        print(json.dumps(data, indent=2, allow_nan=False))
    else:
        _show(schema, source, unread, results)
    return 0


def _chosen(names: list[str], registry: Registry) -> dict[str, Auditor]:
    """Make the named auditors, or all that need no parameter."""
    if names:
        return {name: registry.load("auditor", name)() for name in names}
    chosen = {}
    for entry in registry.methods("auditor"):
        try:
            chosen[entry.name] = registry.load("auditor", entry.name)()
        except TypeError:
            # It has a parameter without a default; it can be used through a pipeline.
            continue
    return chosen


def _data(schema: Schema, results: dict[str, Any]) -> dict[str, Any]:
    return {
        "columns": {column.name: column.role for column in schema},
        "audits": [
            {
                "auditor": name,
                "findings": [finding_data(finding) for finding in findings],
                "charts": [chart_data(chart) for chart in findings.charts],
            }
            for name, findings in results.items()
        ],
    }


def _show(schema: Schema, source: str, unread: dict[str, int], results: dict[str, Any]) -> None:
    print(f"{source}: " + ", ".join(f"{c.name} ({c.role}, {c.type})" for c in schema))
    for name, count in unread.items():
        cells = "1 cell is" if count == 1 else f"{count} cells are"
        print(
            f"warning: column '{name}': {cells} neither a value of the original, nor in its "
            "hierarchy, nor '[a, b]', '{\"a\", \"b\"}' or '*', and counted as entirely lost"
        )
    for name, findings in results.items():
        print(f"\n{name}")
        for finding in findings:
            value = finding.value
            shown = f"{value:.6g}" if isinstance(value, float) else value
            shown = finding.status if value is None else shown
            print(f"  {finding.name}: {shown} {finding.unit}".rstrip())
            print(f"      {finding.meaning}")
