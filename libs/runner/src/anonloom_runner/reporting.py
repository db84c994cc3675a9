"""The report as data: what was done, under which guarantee, and what was found."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd

from anonloom import AuditInput, Chart, Finding, Findings, Release, Schema, Table
from anonloom.findings import Notice
from anonloom.kinds import ModelVerdict
from anonloom.spec import Audit, MethodUse, PipelineSpec, Suppression, Unit
from anonloom_loss import changed_columns, column_losses, mean_of_columns
from anonloom_runner import collection, suppression
from anonloom_runner import verdict as release_verdict
from anonloom_runner.attack_report import report_attacks
from anonloom_runner.exposure import Exposure
from anonloom_runner.findings_text import finding_sections, record_lines
from anonloom_runner.key_findings import mark_key_findings
from anonloom_runner.stage_log import StageLog
from anonloom_runner.unit import notice_for_unit, plural, wording_for

__all__ = [
    "NO_PRIVACY",
    "NO_SENSITIVE",
    "chart_data",
    "finding_data",
    "in_words_of",
    "record_text",
    "report_outline",
    "report_parts",
    "suppression_data",
    "terminal_text",
    "utc_now",
]

#: Version of the layout of report.json.
FORMAT = 1

NO_SENSITIVE = "no column is declared as sensitive"
NO_PRIVACY = Notice("No privacy model was declared ('privacy: none').", privacy=True)


def utc_now() -> str:
    """Return the time in the one form that outputs use."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def report_of(
    spec: PipelineSpec,
    journal: StageLog,
    case: AuditInput,
    verdicts: tuple[ModelVerdict, ...],
    findings: dict[str, Findings],
    *,
    exposures: Iterable[Exposure] = (),
    notices: Iterable[Notice] = (),
) -> dict[str, Any]:
    """Collect what `report.json` says; the manifest is added when the outputs are written."""
    collector, unit = spec.collect.method, spec.data.unit
    original, release = case.original, case.release
    assert original is not None
    attacks = _attacks(spec, journal, case, findings)
    own_notices = (*_notices(spec, original, release), *notices, *_attack_notices(attacks))
    all_notices = [
        *(("", notice) for notice in own_notices),
        *((where, notice) for where, result in findings.items() for notice in result.notices),
    ]
    report = {
        **report_outline(
            spec.name,
            spec.data.schema,
            original,
            release,
            verdicts,
            journal.parameters,
            all_notices,
            exposures,
            unit,
        ),
        **in_words_of(attacks, unit),
        "privacy_none": not spec.privacy,
        "suppression": suppression_data(spec.suppression, release),
        "source": {
            "id": spec.data.source.id,
            "method": spec.data.source.name,
            **_findings_and_charts(findings.get(spec.data.source.id, Findings())),
        },
        "stages": [_step(use, journal, findings) for use in spec.stages],
        "audits": [_audit(audit, journal, findings) for audit in (*spec.audit, *spec.sections)],
        "collection": {
            "collector": spec.collect.name,
            "transport": _transport(journal.parameters(collector)),
            "parameters": journal.parameters(collector),
            **in_words_of(collection.guarantee_facts(collector), unit),
            **_findings_and_charts(findings.get(spec.collect.id, Findings())),
            "id": spec.collect.id,
        },
    }
    mark_key_findings(report_parts(report))
    return report


def _attacks(
    spec: PipelineSpec, journal: StageLog, case: AuditInput, findings: dict[str, Findings]
) -> dict[str, Any]:
    """Return what attacks say of the release; steps other than audits try none."""
    audits = {audit.id: findings[audit.id] for audit in spec.audit}
    settled = {} if spec.data.schema.names_with_role("sensitive") else {"inference": NO_SENSITIVE}
    changed = not case.release.truthful
    return report_attacks(case, audits, journal.seed, settled=settled, changed=changed).data


def _attack_notices(attacks: dict[str, Any]) -> Iterable[Notice]:
    """Say what an attack finds beyond chance: the models hold, and people are found."""
    headline = attacks["headline"]
    if headline["status"] == "measured" and headline["interval"][0] > 0:
        yield Notice(attacks["decision"]["sentence"], privacy=True)


def suppression_data(rule: Suppression, release: Release) -> dict[str, Any]:
    """Return what was allowed, and what share of the rows suppression took."""
    return {
        "at_most": rule.at_most,
        "rate": suppression.rate(release),
        "rows": rule.rows,
        "keep": list(rule.keep),
    }


def report_outline(
    name: str,
    schema: Schema,
    original: Table,
    release: Release,
    verdicts: tuple[ModelVerdict, ...],
    parameters: Callable[[Any], dict[str, Any]],
    notices: Iterable[tuple[str, Notice]],
    exposures: Iterable[Exposure] = (),
    unit: Unit = "person",
) -> dict[str, Any]:
    """Return what every report says, however the release was made.

    Parameters
    ----------
    notices
        What readers must know, each with the id of the stage that says it.
    exposures
        What columns that nothing generalizes give away.
    unit
        What is counted: all that is said is said of that.
    """
    notices = [(stage, notice_for_unit(notice, unit)) for stage, notice in notices]
    losses = column_losses(original, release)
    sizes = published_sizes(release)
    return {
        "format": FORMAT,
        "name": name,
        "created": utc_now(),
        "anonloom": version("anonloom-core"),
        "unit": plural(unit),
        "verdict": _verdict(verdicts, release, (notice for _, notice in notices), unit),
        "warnings": [
            {"stage": stage, "text": notice.text, "privacy": notice.privacy}
            for stage, notice in notices
        ],
        "summary": _summary(original, release, sizes, losses),
        "columns": _columns(schema, original, release, losses, exposures),
        "privacy": [_model_data(verdict, parameters, unit) for verdict in verdicts],
        "truthful": release.truthful,
        "class_sizes": _histogram(sizes),
    }


def _verdict(
    verdicts: tuple[ModelVerdict, ...], release: Release, notices: Iterable[Notice], unit: Unit
) -> dict[str, Any]:
    """Return the verdict on the whole release, in words for what is counted."""
    models = [verdict.model for verdict in verdicts]
    verdict = release_verdict.of_release(models, release.schema, notices, plural(unit))
    data: dict[str, Any] = in_words_of(verdict.data(), unit)
    return data


def _summary(
    original: Table,
    release: Release,
    sizes: np.ndarray[Any, np.dtype[np.int64]],
    losses: dict[str, float | None],
) -> dict[str, Any]:
    return {
        "rows_in": len(original),
        "rows_out": release.rows_published,
        "suppressed": int(release.suppressed_rows.sum()),
        "dropped": release.dropped,
        "classes": _count(release),
        "published_classes": len(sizes),
        "smallest_class": int(sizes.min()) if len(sizes) else None,
        "gcp": mean_of_columns(original, losses) if original.axes else None,
    }


def _model_data(
    verdict: ModelVerdict, parameters: Callable[[Any], dict[str, Any]], unit: Unit
) -> dict[str, Any]:
    """Return a privacy model, what it means, and where it holds."""
    return {
        "model": verdict.name,
        "parameters": parameters(verdict.model),
        "meaning": wording_for(verdict.model.meaning(plural(unit)), unit),
        "holds": verdict.holds,
        "classes": verdict.classes,
        "rows": verdict.rows,
    }


def in_words_of(value: Any, unit: Unit) -> Any:
    """Return plain data with every text in words for what is counted."""
    if isinstance(value, str):
        return wording_for(value, unit)
    if isinstance(value, dict):
        return {name: in_words_of(item, unit) for name, item in value.items()}
    return [in_words_of(item, unit) for item in value] if isinstance(value, tuple | list) else value


def _transport(parameters: dict[str, Any]) -> str | None:
    """Name of the transport that a collector uses, if it sends anything."""
    used = parameters.get("transport")
    return str(used["transport"]) if isinstance(used, dict) else None


def published_sizes(release: Release) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Sizes of the published classes; suppressed rows belong to none."""
    sizes = np.bincount(release.groups()[~release.suppressed_rows])
    return sizes[sizes > 0].astype(np.int64)


def _count(release: Release) -> int | None:
    if release.classes is None:
        return None
    return len(pd.unique(release.classes[release.classes >= 0]))


def _columns(
    schema: Schema,
    original: Table,
    release: Release,
    losses: dict[str, float | None],
    exposures: Iterable[Exposure],
) -> list[dict[str, Any]]:
    exposed = {exposure.column.name: exposure for exposure in exposures}
    coded = {axis.name for axis in original.axes}
    # A mechanism may have dropped a column that was declared.
    published = set(release.schema.published_names)
    return [
        {
            "name": column.name,
            "role": column.role,
            "type": column.type,
            "form": column.form if column.name in coded else None,
            "published": column.name in published,
            "normalized_cells": original.normalized.get(column.name, 0),
            "loss": losses.get(column.name),
            # Where nothing generalizes it: the share of rows whose value nobody else has.
            "alone": exposed[column.name].share if column.name in exposed else None,
            "exposure": exposed[column.name].outcome if column.name in exposed else None,
        }
        for column in schema
    ]


def _notices(spec: PipelineSpec, original: Table, release: Release) -> list[Notice]:
    """Return what the runner itself knows of a release that readers must know, too."""
    results = []
    if not spec.privacy:
        results.append(NO_PRIVACY)
    if not release.truthful:
        results.append(Notice("Published cells do not cover the originals: values were changed."))
        results += _no_loss_notice(original, release)
    if not spec.publish.shuffle:
        text = "Rows are in the order of the input ('shuffle: false')."
        results.append(Notice(text, privacy=True))
    open_ = [name for name in spec.data.schema.quasi if name not in original.schema.quasi]
    if open_:
        text = (
            "No privacy model speaks of these quasi-identifiers, which are published as they are: "
            + ", ".join(open_)
        )
        results.append(Notice(text, privacy=True))
    results += collection.notices(spec.collect.method)
    if spec.local_code:
        results.append(Notice("A method came from unpackaged local code.", privacy=True))
    # It is not written where cells do not cover the originals.
    if spec.publish.transformation and release.truthful:
        text = "The transformation is public: others can replay the regions."
        results.append(Notice(text, privacy=True))
    return results


def _no_loss_notice(original: Table, release: Release) -> list[Notice]:
    """Say for which columns a loss of 0 would be a lie."""
    changed = changed_columns(original, release)
    if not changed:
        return []
    names = ", ".join(f"'{name}'" for name in changed)
    text = (
        "The information loss (GCP) is not measured: it says how wide published cells are, not how "
        f"far they are from the originals, and these columns were changed: {names}."
    )
    return [Notice(text)]


def _histogram(sizes: np.ndarray[Any, np.dtype[np.int64]]) -> dict[str, list[int]]:
    """Class sizes in at most 24 bins of whole numbers."""
    if not len(sizes):
        return {"edges": [], "counts": []}
    lowest, highest = int(sizes.min()), int(sizes.max())
    # The few largest classes would squeeze all others into one bar.
    highest = min(highest, max(lowest + 23, int(np.quantile(sizes, 0.99))))
    step = max(1, -(-(highest - lowest + 1) // 24))
    edges = list(range(lowest, highest + step, step))
    counts = np.histogram(sizes, bins=[*edges, np.inf])[0]
    return {"edges": edges, "counts": [int(count) for count in counts]}


def _step(use: MethodUse, journal: StageLog, findings: dict[str, Findings]) -> dict[str, Any]:
    result = findings.get(use.id, Findings())
    return {
        "id": use.id,
        "kind": use.kind,
        "method": use.name,
        "parameters": journal.parameters(use.method),
        "distribution": use.entry.distribution,
        "version": use.entry.version,
        "summary": wording_for(use.entry.method.summary, journal.unit),
        "paper": use.entry.method.paper,
        **_findings_and_charts(result),
    }


def _findings_and_charts(findings: Findings) -> dict[str, Any]:
    """Return what a method found, as plain data."""
    return {
        "findings": [finding_data(finding) for finding in findings],
        "charts": [chart_data(chart) for chart in findings.charts],
    }


def report_parts(report: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the parts of a report that hold findings, in the order in which they ran.

    The source and the collection of a report that was written by an earlier version have none.
    """
    before = [report.get("source", {}), report["collection"]]
    results = [part for part in before if part.get("findings")]
    return [*results, *report["stages"], *report["audits"]]


def _audit(audit: Audit, journal: StageLog, findings: dict[str, Findings]) -> dict[str, Any]:
    data = _step(audit, journal, findings)
    limits = {condition.finding: str(condition) for condition in audit.fail_if}
    for finding in data["findings"]:
        finding["condition"] = limits.get(finding["name"])
        finding["failed"] = False
    return {**data, "auditor": audit.name, "measures": audit.method.measures}


def finding_data(finding: Finding) -> dict[str, Any]:
    """Return a finding as plain data."""
    value = finding.value
    if isinstance(value, float) and not np.isfinite(value):
        value = None
    return {
        "name": finding.name,
        "value": value,
        "unit": finding.unit,
        "interval": list(finding.interval) if finding.interval else None,
        "better": finding.better,
        "status": finding.status,
        "meaning": finding.meaning,
        "assumptions": list(finding.assumptions),
        "key": finding.key,
    }


def chart_data(chart: Chart) -> dict[str, Any]:
    """Return a chart as plain data."""
    return {
        "name": chart.name,
        "kind": chart.kind,
        "title": chart.title,
        "x": chart.x,
        "y": chart.y,
        "meaning": chart.meaning,
        "data": _plain(chart.data),
    }


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(child) for key, child in value.items()}
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain(child) for child in value]
    if isinstance(value, np.generic):
        return _plain(value.item())
    # JSON has no infinity and no NaN.
    return None if isinstance(value, float) and not np.isfinite(value) else value


def record_text(report: dict[str, Any]) -> str:
    """Write report.txt: what was done, and a line for every finding."""
    return "\n".join([*_outline_lines(report), *record_lines(report_parts(report))]) + "\n"


def terminal_text(report: dict[str, Any], *, everything: bool = False, beside: str = "") -> str:
    """Write the report for a terminal: what was done, and key findings.

    Parameters
    ----------
    everything
        Whether findings that are not key are shown, too.
    beside
        Where else all findings are: how the line that counts the others ends.
    """
    findings = [*finding_sections(report_parts(report), everything=everything, beside=beside)]
    ending = [""] if findings else []
    return "\n".join([*_outline_lines(report), *findings, *ending]) + "\n"


def _outline_lines(report: dict[str, Any]) -> list[str]:
    """Say what was published, under which promise, and what it cost."""
    summary = report["summary"]
    lines = [f"{report['name']}: {summary['rows_out']} of {summary['rows_in']} rows published"]
    lines.append(f"  verdict: {report['verdict']['tone']}")
    for model in report["privacy"]:
        parameters = ", ".join(f"{k}: {v}" for k, v in model["parameters"].items() if v is not None)
        classes = f"{model['classes']} class{'' if model['classes'] == 1 else 'es'}"
        lines.append(f"  {model['model']} ({parameters}) holds in {classes}")
    lines += [f"  warning: {_warning_text(warning)}" for warning in report["warnings"]]
    lines += [f"  not covered: {text}" for text in report["verdict"]["does_not_cover"]]
    lines += _normalization_lines(report["columns"])
    lost = summary["suppressed"] + summary["dropped"]
    lines.append(
        f"  suppressed {lost} row{'' if lost == 1 else 's'} ({report['suppression']['rate']:.2%})"
        + (f": {summary['suppressed']} starred, {summary['dropped']} dropped" if lost else "")
    )
    if "replay" in report:
        lines += _replay_lines(report["replay"])
    if summary["gcp"] is not None:
        lines.append(f"  loss (GCP) {summary['gcp']:.4f}")
    elif not report["truthful"]:
        lines.append("  loss (GCP) not measured: values were changed")
    return lines


def _normalization_lines(columns: list[dict[str, Any]]) -> list[str]:
    """Say in which columns texts were changed when they were read."""
    counts = [(column["name"], column["normalized_cells"]) for column in columns]
    listed = ", ".join(f"{name} {count}" for name, count in counts if count)
    return [f"  cells read without invisible characters, in NFC: {listed}"] if listed else []


def _warning_text(warning: dict[str, Any]) -> str:
    return f"{warning['stage']}: {warning['text']}" if warning["stage"] else str(warning["text"])


def _replay_lines(replay: dict[str, int]) -> list[str]:
    """Say which regions of the earlier release new rows met."""
    outside, reached = replay["rows_outside"], replay["regions_reached"]
    return [
        f"  new rows reached {reached} of {replay['regions']} regions, which gave "
        f"{replay['classes']} class{'' if replay['classes'] == 1 else 'es'}",
        f"  outside every region: {outside} row{'' if outside == 1 else 's'}"
        + (", published in the nearest class" if outside else ""),
    ]
