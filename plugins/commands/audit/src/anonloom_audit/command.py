"""`anonloom audit`: measure a release against its original, whoever made it."""

import argparse
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import attrs
import pandas as pd

from anonloom import AuditInput, Findings, Guard, Registry, Schema, Table
from anonloom.data import Need
from anonloom.errors import FaultyPluginError, PluginError, UsageError, comma_list
from anonloom.registry import Entry
from anonloom.spec import MethodUse, Unit, load_pipeline
from anonloom_audit.columns import guess_schema, unique_columns
from anonloom_audit.tables import control_table
from anonloom_cli.progress import show_progress
from anonloom_columns import NotationReader
from anonloom_runner.auditing import run_auditors
from anonloom_runner.execute import group_codes
from anonloom_runner.external import (
    other_releases,
    read_cells,
    read_foreign_table,
    release_from,
    rows_in_original,
    with_known_rows,
)
from anonloom_runner.findings_text import finding_sections
from anonloom_runner.key_findings import mark_key_findings
from anonloom_runner.reporting import chart_data, finding_data
from anonloom_runner.unread import unread_cells

#: How evidence is given that two tables lack.
_GIVEN = {
    "control": "give it with --control FILE",
    "other_releases": "give them with --also FILE",
    "truth": "say which column tells whose a row is: --truth COLUMN",
    "groups": "declare a column with the role 'group' in a pipeline: --pipeline FILE",
}


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
    parser.add_argument(
        "--truth",
        metavar="COLUMN",
        help="a column of both tables that says whose a row is; it is not compared",
    )
    parser.add_argument(
        "--control", metavar="FILE", help="a raw table of people who are not in the release"
    )
    parser.add_argument(
        "--also",
        dest="others",
        metavar="FILE",
        action="append",
        default=[],
        help="another release of the same people; repeatable",
    )
    parser.add_argument(
        "--jobs", type=int, metavar="N", help="threads of an auditor; by default one per core"
    )
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    parser.add_argument("--all", action="store_true", help="print all findings, not only key ones")
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")


@attrs.frozen
class _Plan:
    """What the columns are, who judges, and where that comes from."""

    schema: Schema
    auditors: tuple[MethodUse, ...]
    source: str
    skipped: dict[str, str] = attrs.field(factory=dict)
    seed: int = 0
    demanded: int | None = None
    others: tuple[Path, ...] = ()
    names_everybody: tuple[str, ...] = ()
    unit: Unit = "person"


def execute(arguments: argparse.Namespace) -> int:
    """Audit the release."""
    if arguments.jobs is not None and arguments.jobs < 1:
        raise UsageError(f"--jobs must be at least 1. Got {arguments.jobs} instead.")
    registry = Registry.installed()
    before = read_cells(Path(arguments.original))
    after, hidden = read_foreign_table(Path(arguments.release))
    plan = _plan(arguments, registry, before, after)
    case = _case(arguments, plan, before, after)
    auditors, skipped = _able(plan, case, arguments.auditors)
    with show_progress(registry, arguments.quiet):
        results = run_auditors(
            auditors, case, registry, seed=plan.seed, workers=arguments.jobs, unit=plan.unit
        )
    parts = _parts(auditors, results)
    if arguments.json:
        unread = dict(case.unread)
        data = {**_data(plan.schema, parts), "unread": unread, "normalized_cells": hidden}
        print(json.dumps(data, indent=2, allow_nan=False))
        return 0
    _print_warnings(plan, case.unread, hidden)
    for line in finding_sections(parts, everything=arguments.all):
        print(line)
    for name, why in skipped.items():
        print(f"\n{name} was not run: {why}")
    return 0


def _plan(
    arguments: argparse.Namespace, registry: Registry, before: pd.DataFrame, after: pd.DataFrame
) -> _Plan:
    if arguments.pipeline and arguments.truth:
        raise UsageError(
            "--truth is for columns that are guessed",
            hint="Declare the column with the role 'truth' in the pipeline.",
        )
    spec = (
        load_pipeline(arguments.pipeline, registry, evidence=_evidence_given(arguments))
        if arguments.pipeline
        else None
    )
    skipped: dict[str, str] = {}
    auditors: tuple[MethodUse, ...] = spec.audit if spec else ()
    if arguments.auditors:
        auditors = _auditors_named(arguments.auditors, registry)
    elif not auditors:
        auditors, skipped = _all_auditors(registry)
    if spec is None:
        schema = guess_schema(before, after, arguments.truth)
        names = unique_columns(before, schema)
        return _Plan(
            schema, auditors, "columns guessed from what differs", skipped, names_everybody=names
        )
    return _Plan(
        spec.data.schema,
        auditors,
        f"columns of {arguments.pipeline}",
        skipped,
        spec.seed or 0,
        Guard(tuple(use.method for use in spec.privacy)).demanded if spec.privacy else None,
        spec.data.other_releases,
        unit=spec.data.unit,
    )


def _evidence_given(arguments: argparse.Namespace) -> set[Need]:
    """Return what the command line gives auditors, whatever the pipeline lacks."""
    given: dict[Need, object] = {
        "control": arguments.control,
        "other_releases": arguments.others,
    }
    return {need for need, value in given.items() if value}


def _case(
    arguments: argparse.Namespace, plan: _Plan, before: pd.DataFrame, after: pd.DataFrame
) -> AuditInput:
    release = release_from(after, plan.schema)
    original = Table.build(before, plan.schema).with_reader(NotationReader)
    rows = rows_in_original(after, original)
    other_paths = (*plan.others, *map(Path, arguments.others))
    control = arguments.control and control_table(Path(arguments.control), plan.schema)
    return AuditInput(
        release=with_known_rows(release, rows, original),
        original=original,
        truth=rows,
        control=control or None,
        other_releases=other_releases(other_paths, original),
        groups=group_codes(original),
        demanded=plan.demanded,
        unread=unread_cells(release, original),
    )


def _auditors_named(names: list[str], registry: Registry) -> tuple[MethodUse, ...]:
    """Make the named auditors."""
    uses = []
    for name in dict.fromkeys(names):
        entry = registry.find("auditor", name)
        use = _with_defaults(entry, registry)
        if use is None:
            raise UsageError(
                f"auditor '{name}' has a parameter without a default",
                hint="Say what it is in a pipeline: --pipeline FILE.",
            )
        uses.append(use)
    return tuple(uses)


def _all_auditors(registry: Registry) -> tuple[tuple[MethodUse, ...], dict[str, str]]:
    """Make all auditors that need no parameter; a broken one must not keep others from judging."""
    uses, skipped = [], {}
    for entry in registry.methods("auditor"):
        try:
            use = _with_defaults(entry, registry)
        except FaultyPluginError:
            raise
        except PluginError as error:
            skipped[entry.name] = error.what
            continue
        if use is not None and use.method.measures == "cost":
            skipped[entry.name] = (
                f"it measures what something costs, not the release; --auditor {entry.name} runs it"
            )
        # One that needs parameters can be used through a pipeline.
        elif use is not None:
            uses.append(use)
    return tuple(uses), skipped


def _with_defaults(entry: Entry, registry: Registry) -> MethodUse | None:
    cls = registry.load_entry(entry)
    try:
        return MethodUse(entry.name, "auditor", entry, cls())
    except TypeError:
        return None


def _able(
    plan: _Plan, case: AuditInput, named: Iterable[str]
) -> tuple[tuple[MethodUse, ...], dict[str, str]]:
    """Divide auditors into those that can judge the case, and the others with the reason.

    Raises
    ------
    UsageError
        When one that was named is not able to, or none is.
    """
    able, skipped = [], dict(plan.skipped)
    for use in plan.auditors:
        missing = sorted(need for need in use.method.needs if not case.has(need))
        hint = "; ".join(_GIVEN[need] for need in missing if need in _GIVEN)
        wrong = use.method.problem(plan.schema)
        if missing:
            wrong = f"it needs {comma_list(missing)}, which two tables lack"
        if wrong and use.name in named:
            raise UsageError(f"auditor '{use.name}' cannot be used: {wrong}", hint=hint)
        if wrong:
            skipped[use.id] = f"{wrong}; {hint}" if hint else wrong
        else:
            able.append(use)
    if not able:
        raise UsageError("no installed auditor can judge two tables alone")
    return tuple(able), skipped


def _parts(auditors: tuple[MethodUse, ...], results: dict[str, Findings]) -> list[dict[str, Any]]:
    """Return what every auditor found as a part of a report, with key findings marked."""
    parts = [
        {
            "id": use.id,
            "measures": use.method.measures,
            "summary": use.entry.method.summary,
            "findings": [finding_data(finding) for finding in results[use.id]],
            "charts": [chart_data(chart) for chart in results[use.id].charts],
        }
        for use in auditors
    ]
    mark_key_findings(parts)
    return parts


def _data(schema: Schema, parts: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "columns": {column.name: column.role for column in schema},
        "audits": [
            {"auditor": part["id"], "findings": part["findings"], "charts": part["charts"]}
            for part in parts
        ],
    }


def _print_warnings(plan: _Plan, unread: Mapping[str, int], hidden: dict[str, int]) -> None:
    """Say what the columns were taken for, and what may make figures wrong."""
    columns = (f"{item.name} ({item.role}, {item.type})" for item in plan.schema)
    print(f"{plan.source}: " + ", ".join(columns))
    for name, count in unread.items():
        cells = "1 cell is" if count == 1 else f"{count} cells are"
        print(
            f"warning: column '{name}': {cells} neither a value of the original, nor in its "
            "hierarchy, nor in a notation that is known (docs/notations.md), and counted as "
            "entirely lost; declare what they mean as the column's hierarchy in a pipeline"
        )
    for name, count in hidden.items():
        cells = (
            "1 cell of the release holds" if count == 1 else f"{count} cells of the release hold"
        )
        print(
            f"warning: column '{name}': {cells} characters that nobody sees, or text that is not "
            "in Unicode's form NFC; the audit reads them without, and a machine tells them apart: "
            "classes may be smaller than they seem here"
        )
    for name in plan.names_everybody:
        print(
            f"warning: column '{name}': every row has a value of its own, published as it is, "
            "which names everybody; if it only says whose a row is, give --truth"
        )
