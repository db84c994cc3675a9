"""The report of an audit as data: every release with its headline, the most worrying first."""

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

import attrs
import numpy as np

from anonloom import AuditInput, Findings, Registry, Table, short_repr
from anonloom.data import MOST_UNREAD
from anonloom.params import as_values
from anonloom.spec import MethodUse, Unit
from anonloom_audit.columns import Roles, identifiers_published
from anonloom_audit.releases import ForeignRelease
from anonloom_loss import column_losses
from anonloom_runner.attack_report import AttackReport, report_attacks
from anonloom_runner.changes import rows_as_they_were
from anonloom_runner.key_findings import mark_key_findings
from anonloom_runner.reporting import NO_SENSITIVE, chart_data, finding_data, in_words_of, utc_now

#: Version of the layout of an audit's report.json.
FORMAT = 1
#: Answers in the order in which they worry; what is not known stands at the limit.
_WORRY = {"no": 0, "not yet": 1, "nothing against it": 2}


@short_repr
@attrs.frozen(eq=False)
class AuditedRelease:
    """One release, the evidence about it, and what auditors found."""

    read: ForeignRelease
    case: AuditInput
    auditors: tuple[MethodUse, ...]
    findings: Mapping[str, Findings]
    attacks: AttackReport
    data: dict[str, Any]


def audited_release(
    read: ForeignRelease,
    case: AuditInput,
    roles: Roles,
    before: Any,
    auditors: tuple[MethodUse, ...],
    skipped: Mapping[str, str],
    findings: Mapping[str, Findings],
    registry: Registry,
    *,
    seed: int,
    limit: float,
    unit: Unit = "person",
) -> AuditedRelease:
    """Put together what is said of one release.

    Parameters
    ----------
    before
        The cells of the original as they were read.
    """
    original = case.original
    assert original is not None
    as_it_was = rows_as_they_were(original, case.release)
    raw = not _is_generalized(original, case)
    attacks = report_attacks(
        case,
        {use.id: findings[use.id] for use in auditors},
        seed,
        settled={} if roles.guessed else _settled(original),
        objections=_objections(read, case, roles, before, as_it_was),
        doubts=_doubts(case, roles),
        changed=raw and as_it_was < 1,
        limit=limit,
    )
    parts = [_part(use, findings[use.id], registry) for use in auditors]
    mark_key_findings(parts)
    data = {
        "name": read.name,
        "rows": len(case.release),
        **attacks.data,
        "rows_as_they_were": as_it_was if raw else None,
        "generalized": not raw,
        "columns": _columns(original, case),
        "unread": dict(case.unread),
        "normalized_cells": read.hidden,
        "skipped": dict(skipped),
        "notices": [notice.text for found in findings.values() for notice in found.notices],
        "audits": parts,
    }
    words: dict[str, Any] = in_words_of(data, unit)
    return AuditedRelease(read, case, auditors, findings, attacks, words)


def audit_report(
    original: Table,
    roles: Roles,
    control: Table | None,
    attacked: int | None,
    releases: Sequence[AuditedRelease],
) -> dict[str, Any]:
    """Return the report of all releases, ranked; its headline is that of the first."""
    ranked = rank([release.data for release in releases])
    first = ranked[0]
    auditors = {
        part["auditor"]: part["parameters"] for release in ranked for part in release["audits"]
    }
    return {
        "format": FORMAT,
        "kind": "audit",
        "name": "audit of " + ", ".join(release["name"] for release in ranked),
        "created": utc_now(),
        "anonloom": version("anonloom-core"),
        "headline": {**first["headline"], "release": first["name"]},
        "decision": first["decision"],
        "rule": first["rule"],
        "configuration": {
            "rows": len(original),
            "columns": {
                column.name: {
                    "role": column.role,
                    "type": column.type,
                    "guessed": column.name in roles.guessed,
                }
                for column in roles.schema
            },
            "control": None if control is None else len(control),
            "attacked": attacked,
            "auditors": auditors,
        },
        "releases": ranked,
    }


def rank(releases: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Order releases, the most worrying first, and number them.

    By answer, and by the risk of the headline; a release of which nothing is known stands before
    those that may be handed over, whose risk is known to be low.
    """

    def key(data: Mapping[str, Any]) -> tuple[int, bool, float]:
        risk = data["headline"]["risk"]
        worry = _WORRY[data["decision"]["answer"]]
        # Nothing is known: before whatever is known to be below the limit.
        return worry, worry == 1 and risk is not None, -(risk or 0.0)

    ordered = sorted(releases, key=key)
    return [{"rank": number, **data} for number, data in enumerate(ordered, start=1)]


def _settled(original: Table) -> dict[str, str]:
    sensitive = original.schema.names_with_role("sensitive")
    return {} if sensitive else {"inference": NO_SENSITIVE}


def _objections(
    read: ForeignRelease, case: AuditInput, roles: Roles, before: Any, as_it_was: float
) -> list[str]:
    """Return facts that speak against handing the release over, whatever attacks find."""
    results = []
    names = [*roles.schema.names_with_role("identifier"), *roles.naming]
    for name, count in identifiers_published(before, read.frame, names).items():
        why = roles.naming.get(name)
        named = f"the identifier '{name}'" if why is None else f"column '{name}', of which {why}"
        results.append(
            f"The release has {named}: {count:,} of {len(read.frame):,} cells are the original's"
        )
    published = [column.name for column in roles.schema if column.is_published]
    if as_it_was == 1 and all(name in case.release.frame for name in published):
        results.append(
            "The release is a copy: every row of it is a row of the original, cell for cell"
        )
    return results


def _doubts(case: AuditInput, roles: Roles) -> list[str]:
    """Return what keeps the audit from saying that nothing speaks against the release."""
    rows = len(case.release)
    results = [
        f"Column '{name}' was hardly read: {count:,} of {rows:,} cells are in no form that is known"
        for name, count in case.unread.items()
        if count > MOST_UNREAD * rows
    ]
    if roles.guessed:
        results.append(
            "Roles of columns were guessed: nobody said what is sensitive, and what attackers know"
        )
    return results


def _is_generalized(original: Table, case: AuditInput) -> bool:
    """Whether cells of the release stand for several values of the original."""
    for axis in original.axes:
        if axis.name not in case.release.frame:
            continue
        for cell in case.release.frame[axis.name].dropna().unique():
            cover = axis.read(str(cell))
            if cover is not None and (cover.star or cover.form is not None):
                return True
    return False


def _columns(original: Table, case: AuditInput) -> list[dict[str, Any]]:
    """Return how every column was published, and what it lost where cells were generalized."""
    losses = column_losses(original, case.release)
    return [
        {
            "name": column.name,
            "role": column.role,
            "published": column.name in case.release.frame,
            "loss": _plain(losses.get(column.name)),
        }
        for column in original.schema
    ]


def _plain(value: float | None) -> float | None:
    return None if value is None or not np.isfinite(value) else float(value)


def _part(use: MethodUse, findings: Findings, registry: Registry) -> dict[str, Any]:
    """Return what one auditor found as a part of a report."""
    return {
        "id": use.id,
        "auditor": use.name,
        "measures": use.method.measures,
        "names_cells": use.method.names_cells,
        "summary": use.entry.method.summary,
        "paper": use.entry.method.paper,
        "parameters": as_values(use.method, registry.name_of, redact=True),
        "findings": [finding_data(finding) for finding in findings],
        "charts": [chart_data(chart) for chart in findings.charts],
    }
