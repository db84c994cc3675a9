"""`anonloom audit`: measure releases against their original, whoever made them."""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attrs
import pandas as pd

from anonloom import AuditInput, Findings, Guard, Registry, Release, Schema, Table, short_repr
from anonloom.data import Need, Role
from anonloom.errors import PrivacyError, UsageError, did_you_mean
from anonloom.spec import (
    Condition,
    MethodUse,
    PipelineSpec,
    load_pipeline,
    load_schema,
    parse_condition,
)
from anonloom_audit.auditors import able_auditors, all_auditors, auditors_named
from anonloom_audit.columns import Roles, assign_roles
from anonloom_audit.history import compare_releases, read_baseline
from anonloom_audit.output import file_digest, private_names, write_audit
from anonloom_audit.releases import ForeignRelease, read_releases
from anonloom_audit.renames import parse_renames, refuse_unmatched, rename_columns
from anonloom_audit.report import AuditedRelease, audit_report, audited_release
from anonloom_audit.tables import control_table
from anonloom_audit.terminal import column_lines, ranking_lines, release_lines
from anonloom_cli.interruption import interrupt_when_asked
from anonloom_cli.progress import show_progress
from anonloom_cli.summary import page_name, print_done, relative_path
from anonloom_columns import NotationReader
from anonloom_runner.auditing import run_auditors
from anonloom_runner.conditions import failures
from anonloom_runner.execute import group_codes
from anonloom_runner.external import (
    other_releases,
    read_cells,
    release_from,
    rows_in_original,
    with_known_rows,
)
from anonloom_runner.hand_over import LIMIT
from anonloom_runner.headline import headline_findings
from anonloom_runner.outputs import refuse_existing
from anonloom_runner.unread import unread_cells

#: What a condition can be set on besides auditors' figures: the worst attack.
HEADLINE = "headline"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("original", metavar="ORIGINAL", help="the original: CSV or Parquet")
    parser.add_argument(
        "releases",
        metavar="RELEASE",
        nargs="+",
        help="a release: CSV or Parquet; several are audited alike and ranked",
    )
    _configure_columns(parser.add_argument_group("what the columns are"))
    _configure_evidence(parser.add_argument_group("evidence and attacks"))
    _configure_result(parser.add_argument_group("what becomes of it"))


def _configure_columns(group: Any) -> None:
    for role, text in _ROLES.items():
        group.add_argument(
            f"--{role}",
            metavar="COLUMNS",
            action="append",
            default=[],
            help=f"{text}; separated by commas, repeatable",
        )
    group.add_argument(
        "--truth",
        metavar="COLUMN",
        help="a column of both tables that says whose a row is; it is not compared",
    )
    group.add_argument(
        "--schema", metavar="FILE", help="a YAML file with 'columns', as in 'data' of a pipeline"
    )
    group.add_argument(
        "--pipeline",
        metavar="FILE",
        help="a pipeline whose columns, audits and 'fail_if' are used",
    )
    group.add_argument(
        "--column",
        dest="renames",
        metavar="NAME=OTHER",
        action="append",
        default=[],
        help="the original's column NAME is called OTHER in a release; repeatable",
    )
    group.add_argument(
        "--ignore",
        metavar="COLUMN",
        action="append",
        default=[],
        help="a column of a release that is none of the original's; repeatable",
    )


#: Roles that a command line can declare.
_ROLES: dict[Role, str] = {
    "quasi": "columns that attackers may know",
    "sensitive": "columns that attackers want to learn",
    "identifier": "columns that name people, which no release may have",
}


def _configure_evidence(group: Any) -> None:
    group.add_argument(
        "--control", metavar="FILE", help="a raw table of people who are not in the release"
    )
    group.add_argument(
        "--also",
        dest="others",
        metavar="FILE",
        action="append",
        default=[],
        help="another release of the same people; repeatable",
    )
    group.add_argument(
        "--auditor",
        dest="auditors",
        metavar="NAME",
        action="append",
        default=[],
        help="an auditor to run with its defaults; repeatable; default: all that can run",
    )
    group.add_argument(
        "--people",
        metavar="N",
        help="how many people of the original are attacked, or 'all'; default: 5000",
    )
    group.add_argument(
        "--seed", type=int, metavar="N", help="the seed of attacks; default: the pipeline's, or 0"
    )
    group.add_argument(
        "--jobs", type=int, metavar="N", help="threads of an auditor; by default one per core"
    )


def _configure_result(group: Any) -> None:
    group.add_argument(
        "--to", metavar="FOLDER", help="write page, report and the list of exposed rows there"
    )
    group.add_argument("--replace", action="store_true", help="replace an existing output folder")
    group.add_argument(
        "--limit",
        type=float,
        metavar="RISK",
        help=f"the risk above which a release is not handed over; default: {LIMIT}",
    )
    group.add_argument(
        "--fail-if",
        dest="conditions",
        metavar="CONDITION",
        action="append",
        default=[],
        help="exit with 3 if a figure is so, 'headline.risk > 0.09' or 'AUDITOR.FIGURE > 0.1'; "
        "what cannot be assessed fails, too; repeatable",
    )
    group.add_argument(
        "--baseline", metavar="FILE", help="report.json of an earlier audit: say what got worse"
    )
    group.add_argument("--quiet", action="store_true", help="show no progress")
    group.add_argument("--all", action="store_true", help="print all findings")
    group.add_argument("--json", action="store_true", help="print the report as JSON")


@short_repr
@attrs.frozen(eq=False)
class _Configuration:
    """What is the same for all releases."""

    original: Table
    cells: pd.DataFrame
    roles: Roles
    source: str
    auditors: tuple[MethodUse, ...]
    skipped: dict[str, str]
    conditions: tuple[tuple[str, Condition], ...]
    control: Table | None
    others: tuple[Release, ...]
    demanded: int | None
    spec: PipelineSpec | None
    seed: int
    attacked: int | None
    limit: float
    workers: int | None
    named: tuple[str, ...]


def execute(arguments: argparse.Namespace) -> int:
    """Audit the releases."""
    _refuse_usage(arguments)
    interrupt_when_asked()
    conditions = tuple(map(parse_condition, arguments.conditions))
    baseline = read_baseline(Path(arguments.baseline)) if arguments.baseline else None
    if arguments.to:
        refuse_existing(Path(arguments.to), arguments.replace)
    registry = Registry.installed()
    cells = read_cells(Path(arguments.original))
    releases = read_releases(arguments.releases)
    configuration, releases = _configure(arguments, registry, cells, releases, conditions)
    with show_progress(registry, arguments.quiet):
        audited = [_audit(configuration, release, registry) for release in releases]
    report = audit_report(
        configuration.original,
        configuration.roles,
        configuration.control,
        configuration.attacked,
        audited,
    )
    if baseline is not None:
        compare_releases(report["configuration"], report["releases"], baseline)
    if arguments.to:
        private = _private_record(arguments, configuration)
        target = Path(arguments.to)
        write_audit(target, report, audited, private, registry, replace=arguments.replace)
    _print(arguments, configuration, report, audited)
    _refuse_failing(configuration, audited)
    return 0


def _refuse_usage(arguments: argparse.Namespace) -> None:
    """Refuse options that are wrong, or contradict each other, before anything is read."""
    if arguments.jobs is not None and arguments.jobs < 1:
        raise UsageError(f"--jobs must be at least 1. Got {arguments.jobs} instead.")
    if arguments.seed is not None and arguments.seed < 0:
        raise UsageError(f"--seed must be at least 0. Got {arguments.seed} instead.")
    if arguments.limit is not None and not 0 <= arguments.limit < 1:
        raise UsageError(f"--limit must be from 0 to below 1. Got {arguments.limit:g} instead.")
    if arguments.replace and not arguments.to:
        raise UsageError("--replace is for a folder that is written: give --to FOLDER")
    if arguments.pipeline and arguments.schema:
        raise UsageError("--pipeline and --schema both say what the columns are: give one of them")
    given = [f"--{role}" for role in (*_ROLES, "truth") if getattr(arguments, role)]
    if given and (arguments.pipeline or arguments.schema):
        raise UsageError(
            f"{given[0]} is for columns that no file declares",
            hint=f"Declare the column with the role '{given[0][2:]}' in the file.",
        )


def _attacked(text: str | None) -> int | None:
    """Read `--people`."""
    if text is None:
        return attrs.fields(AuditInput).attacked.default
    if text == "all":
        return None
    if not text.isascii() or not text.isdecimal() or int(text) < 1:
        raise UsageError(f"--people must be a number from 1, or 'all'. Got {text!r} instead.")
    return int(text)


def _configure(
    arguments: argparse.Namespace,
    registry: Registry,
    cells: pd.DataFrame,
    releases: Sequence[ForeignRelease],
    conditions: tuple[tuple[str, Condition], ...],
) -> tuple[_Configuration, list[ForeignRelease]]:
    """Decide everything that is the same for all releases; these get the original's names."""
    attacked = _attacked(arguments.people)
    spec = (
        load_pipeline(arguments.pipeline, registry, evidence=_evidence_given(arguments))
        if arguments.pipeline
        else None
    )
    schema = spec.data.schema if spec else None
    if arguments.schema:
        schema = load_schema(arguments.schema, registry)
    declared = _declared_roles(arguments)
    releases = _matched(arguments, cells, releases, declared, schema)
    roles = assign_roles(cells, [release.frame for release in releases], declared, schema)
    original = Table.build(cells, roles.schema).with_reader(NotationReader)
    skipped: dict[str, str] = {}
    auditors: tuple[MethodUse, ...] = spec.audit if spec else ()
    if arguments.auditors:
        auditors = auditors_named(arguments.auditors, registry)
    elif not auditors:
        auditors, skipped = all_auditors(registry)
    if spec and not arguments.auditors:
        own = ((use.id, condition) for use in spec.audit for condition in use.fail_if)
        conditions = (*conditions, *own)
    _refuse_unknown(conditions, auditors)
    paths = (*(spec.data.other_releases if spec else ()), *map(Path, arguments.others))
    control = arguments.control and control_table(Path(arguments.control), roles.schema)
    guarded = Guard(tuple(use.method for use in spec.privacy)) if spec and spec.privacy else None
    configuration = _Configuration(
        original=original,
        cells=cells,
        roles=roles,
        source=f"of {arguments.pipeline or arguments.schema or 'the command line'}",
        auditors=auditors,
        skipped=skipped,
        conditions=conditions,
        control=control or None,
        others=other_releases(paths, original),
        demanded=guarded.demanded if guarded else None,
        spec=spec,
        seed=arguments.seed if arguments.seed is not None else (spec and spec.seed) or 0,
        attacked=attacked,
        limit=LIMIT if arguments.limit is None else arguments.limit,
        workers=arguments.jobs,
        named=tuple(arguments.auditors),
    )
    return configuration, releases


def _evidence_given(arguments: argparse.Namespace) -> set[Need]:
    """Return what the command line gives auditors, whatever the pipeline lacks."""
    given: dict[Need, object] = {
        "control": arguments.control,
        "other_releases": arguments.others,
    }
    return {need for need, value in given.items() if value}


def _declared_roles(arguments: argparse.Namespace) -> dict[str, Role]:
    declared: dict[str, Role] = {}
    given: list[tuple[Role, str]] = [
        (role, name.strip())
        for role in _ROLES
        for text in getattr(arguments, role)
        for name in text.split(",")
    ]
    given += [("truth", arguments.truth)] if arguments.truth else []
    for role, name in given:
        if not name:
            raise UsageError(f"--{role} must be names of columns, separated by commas")
        if declared.get(name, role) != role:
            raise UsageError(f"column '{name}' is declared as {declared[name]} and as {role}")
        declared[name] = role
    return declared


def _matched(
    arguments: argparse.Namespace,
    cells: pd.DataFrame,
    releases: Sequence[ForeignRelease],
    declared: dict[str, Role],
    schema: Schema | None,
) -> list[ForeignRelease]:
    """Give columns of releases the names of the original's; ask where that is not clear."""
    renames = parse_renames(arguments.renames)
    unpublished = {name for name, role in declared.items() if role in ("identifier", "truth")}
    unpublished |= {column.name for column in schema or () if not column.is_published}
    results = []
    for release in releases:
        named = f"the release '{release.name}'"
        frame = rename_columns(cells, release.frame, renames, named)
        refuse_unmatched(cells, frame, named, ignored=arguments.ignore, unpublished=unpublished)
        results.append(attrs.evolve(release, frame=frame))
    for name in renames.values():
        if not any(name in release.frame for release in releases):
            raise UsageError(f"--column: no release has a column '{name}'")
    return results


def _refuse_unknown(
    conditions: Sequence[tuple[str, Condition]], auditors: Sequence[MethodUse]
) -> None:
    """Refuse a condition on an auditor that is not there."""
    known = [HEADLINE, *(use.id for use in auditors)]
    for auditor, condition in conditions:
        if auditor not in known:
            raise UsageError(
                f"--fail-if '{auditor}.{condition}': no auditor '{auditor}' is run",
                hint=did_you_mean(auditor, known),
            )


def _audit(
    configuration: _Configuration, release: ForeignRelease, registry: Registry
) -> AuditedRelease:
    """Run all auditors that can judge one release."""
    case = _case(configuration, release)
    auditors, unable = able_auditors(
        configuration.auditors, configuration.roles.schema, case, configuration.named
    )
    spec = configuration.spec
    unit = spec.data.unit if spec else "person"
    findings = run_auditors(
        auditors, case, registry, seed=configuration.seed, workers=configuration.workers, unit=unit
    )
    return audited_release(
        release,
        case,
        configuration.roles,
        configuration.cells,
        auditors,
        {**configuration.skipped, **unable},
        findings,
        registry,
        seed=configuration.seed,
        limit=configuration.limit,
        unit=unit,
    )


def _case(configuration: _Configuration, read: ForeignRelease) -> AuditInput:
    original = configuration.original
    release = release_from(read.frame, configuration.roles.schema)
    rows = rows_in_original(read.frame, original)
    return AuditInput(
        release=with_known_rows(release, rows, original),
        original=original,
        truth=rows,
        control=configuration.control,
        other_releases=configuration.others,
        groups=group_codes(original),
        demanded=configuration.demanded,
        unread=unread_cells(release, original),
        attacked=configuration.attacked,
    )


def _print(
    arguments: argparse.Namespace,
    configuration: _Configuration,
    report: dict[str, Any],
    audited: Sequence[AuditedRelease],
) -> None:
    """Print what was found, and where it was written."""
    if arguments.json:
        text = json.dumps(report, indent=2, allow_nan=False, ensure_ascii=False)
    else:
        lines = list(column_lines(configuration.roles, configuration.source))
        if len(audited) > 1:
            lines += ranking_lines(report["releases"])
        for release in report["releases"]:
            lines += release_lines(release, everything=arguments.all)
        text = "\n".join(lines)
    if not arguments.to:
        print(text)
        return
    folder = Path(arguments.to)
    names = ", ".join(relative_path(folder, "private", rows) for rows, _ in private_names(audited))
    if not arguments.json:
        text += (
            f"\n\nreport: {relative_path(folder, 'public', *page_name(folder))}\n"
            f"exposed rows, for you only: {names}"
        )
    print_done(text, f"the audit is written in '{relative_path(folder)}'")


def _private_record(arguments: argparse.Namespace, configuration: _Configuration) -> dict[str, Any]:
    """Return what only the steward may see."""
    files = [arguments.original, *arguments.releases, *arguments.others]
    files += [arguments.control] if arguments.control else []
    return {
        "seed": configuration.seed,
        "files": {str(Path(name).absolute()): file_digest(Path(name)) for name in files},
    }


def _refuse_failing(configuration: _Configuration, audited: Sequence[AuditedRelease]) -> None:
    """Fail when a condition is met by any release.

    Raises
    ------
    PrivacyError
        Naming every release and condition, and what was found.
    """
    met = []
    for release in audited:
        for auditor, condition in configuration.conditions:
            if auditor == HEADLINE:
                found = headline_findings(release.data["headline"])
            else:
                found = release.findings.get(auditor, Findings())
            name = f"{release.read.name}: " if len(audited) > 1 else ""
            met += [f"{name}{failure}" for failure in failures(auditor, [condition], found)]
    if met:
        raise PrivacyError("the audit fails: " + "; ".join(met))
