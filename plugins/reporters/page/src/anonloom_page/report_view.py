"""From the data of one run to what its page shows, in the order in which it is read."""

from collections.abc import Iterable
from typing import Any

from anonloom_page.attack_view import attack_view
from anonloom_page.limits import Limits
from anonloom_page.verdict import verdict_view
from anonloom_page.wording import figure, guarantee_texts, json_text, number, percent, short, words

#: Charts that belong to the release as a whole, wherever they were made.
HOISTED = ("class_sizes", "column_losses")

_FORMS = {"interval": "ranges", "nodes": "groups of a hierarchy", "set": "sets of values"}


def report_view(report: dict[str, Any], limits: Limits) -> dict[str, Any]:
    """Return what the template shows."""
    columns = report.get("columns") or []
    key = _key_findings(report)
    return {
        "report": report,
        "verdict": verdict_view(report),
        "attacks": attack_view(report, limits),
        "notes": _notes(report),
        "tiles": _tiles(report),
        "key": key,
        # Without key findings nothing leads, and nothing may be folded behind it.
        "folds": bool(key),
        "steps": [_step(stage, limits) for stage in report.get("stages") or []],
        "charts": _release_charts(report),
        "columns": [_column(column) for column in columns[: limits.columns]],
        "more_columns": max(0, len(columns) - limits.columns),
        "normalized": _normalized_cells(columns[: limits.columns]),
        "audits": [
            audit_card(audit, limits) for audit in (report.get("audits") or [])[: limits.audits]
        ],
        "source": found_view((report.get("source") or {}).get("findings") or [], limits),
        "collection": _collection(report.get("collection") or {}, limits),
        "integrity": report.get("integrity"),
        "manifest": json_text(report["manifest"], limits.manifest)
        if report.get("manifest")
        else "",
    }


def found_view(
    findings: Iterable[dict[str, Any]], limits: Limits, *, key: bool = False
) -> dict[str, Any]:
    """Divide findings into groups; many are shown in brief, and more than that not at all.

    What is named `figure.column` is about a column, and is grouped by it.

    Parameters
    ----------
    key
        Whether key findings are among them; where they lead the page, they are left out.
    """
    listed = [finding for finding in findings if key or not finding.get("key")]
    groups: dict[str, list[dict[str, Any]]] = {"": []}
    for finding in listed[: limits.full]:
        _, _, column = str(finding.get("name")).partition(".")
        groups.setdefault(column, []).append(finding)
    # One figure per column makes no group worth a heading.
    for column in [name for name, members in groups.items() if name and len(members) == 1]:
        groups[""] += groups.pop(column)
    rest = listed[limits.full :]
    return {
        "count": len(listed),
        "groups": [{"title": name, "findings": of} for name, of in groups.items() if of],
        "brief": rest[: limits.brief],
        "left_out": max(0, len(rest) - limits.brief),
    }


def _key_findings(report: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the findings that lead the page, each with the method that found it."""
    parts = [report.get("source") or {}, report.get("collection") or {}]
    parts += [*(report.get("stages") or []), *(report.get("audits") or [])]
    return [
        {"finding": finding, "by": part.get("auditor") or part.get("method") or part.get("id")}
        for part in parts
        for finding in part.get("findings") or []
        if finding.get("key")
    ]


def _notes(report: dict[str, Any]) -> list[str]:
    """Return the warnings that are no reason of the verdict, which has its own in its box."""
    others = [item for item in report.get("warnings") or [] if not item.get("privacy")]
    notes = [
        f"{other['stage']}: {other['text']}" if other.get("stage") else other["text"]
        for other in others
    ]
    return notes[:50]


def _tiles(report: dict[str, Any]) -> list[dict[str, str]]:
    summary = report.get("summary") or {}
    lost = (summary.get("suppressed") or 0) + (summary.get("dropped") or 0)
    rate = (report.get("suppression") or {}).get("rate")
    limit = number((report.get("suppression") or {}).get("at_most"))
    allowed = f", {percent(limit)} allowed" if limit is not None else ""
    tiles = [
        ("Records published", figure(summary.get("rows_out")),
         f"of {figure(summary.get('rows_in'))}"),
        ("Suppressed", figure(lost), f"{percent(rate)}{allowed}"),
    ]  # fmt: skip
    classes, published = summary.get("classes"), summary.get("published_classes")
    if published is not None:
        under = f"made from {figure(classes)} classes" if classes not in (None, published) else ""
        tiles.append(("Groups that look alike", figure(published), under))
    if summary.get("smallest_class") is not None:
        tiles.append(("Smallest group", figure(summary["smallest_class"]), "records"))
    if number(summary.get("gcp")) is not None:
        tiles.append(("Information lost", percent(summary["gcp"]), "mean over cells (GCP)"))
    elif report.get("truthful") is False:
        # A changed value is as narrow as the original one: a loss of 0 % would not be true.
        tiles.append(_changed_cells(report.get("changes") or []))
    return [{"name": name, "value": value, "under": under} for name, value, under in tiles]


def _changed_cells(changes: Iterable[dict[str, Any]]) -> tuple[str, str, str]:
    """Return the tile of a release whose values were changed: how many were."""
    shares = [share for change in changes if (share := number(change.get("changed"))) is not None]
    if not shares:
        return "Information lost", "not measured", "values were changed (no GCP)"
    least = "at least " if any(change.get("at_least") for change in changes) else ""
    return "Cells changed", f"{least}{percent(sum(shares) / len(shares))}", "mean over columns"


def _step(stage: dict[str, Any], limits: Limits) -> dict[str, Any]:
    package = " ".join(str(stage.get(key) or "") for key in ("distribution", "version")).strip()
    return {
        "title": stage.get("method") or stage.get("id") or "stage",
        "kind": stage.get("kind") or "",
        "text": stage.get("summary") or "",
        "parameters": stage.get("parameters") or {},
        "paper": stage.get("paper") or "",
        "package": package,
        "found": found_view(stage.get("findings") or [], limits),
        "charts": (stage.get("charts") or [])[: limits.charts],
    }


def audit_card(audit: dict[str, Any], limits: Limits) -> dict[str, Any]:
    """Return what one auditor's card shows."""
    charts = [chart for chart in audit.get("charts") or [] if chart.get("name") not in HOISTED]
    return {
        "title": audit.get("auditor") or audit.get("id") or "auditor",
        "measures": audit.get("measures") or "",
        "summary": audit.get("summary") or "",
        "paper": audit.get("paper") or "",
        "parameters": audit.get("parameters") or {},
        "found": found_view(audit.get("findings") or [], limits),
        "withheld": bool(audit.get("withheld")),
        "all": found_view(audit.get("findings") or [], limits, key=True),
        "charts": charts[: limits.charts],
    }


def _release_charts(report: dict[str, Any]) -> list[dict[str, Any]]:
    """Class sizes and losses: an auditor's chart where there is one, else from the report."""
    made = {
        chart.get("name"): chart
        for audit in reversed(report.get("audits") or [])
        for chart in audit.get("charts") or []
    }
    own = {"class_sizes": _size_chart(report), "column_losses": _loss_chart(report)}
    charts = [made.get(name) or own[name] for name in HOISTED]
    return [chart for chart in charts if chart is not None]


def _size_chart(report: dict[str, Any]) -> dict[str, Any] | None:
    sizes = report.get("class_sizes") or {}
    edges, counts = sizes.get("edges") or [], sizes.get("counts") or []
    if not counts or len(edges) < len(counts):
        return None
    ends = [*edges[1:], None][: len(counts)]
    labels = [_bin(lo, hi) for lo, hi in zip(edges, ends, strict=False)]
    return {
        "name": "class_sizes",
        "kind": "bars",
        "title": "Sizes of the groups",
        "x": "records in a group",
        "y": "groups",
        "meaning": "Records of one group cannot be told apart by their quasi-identifiers.",
        "data": {"labels": labels, "groups": counts},
    }


def _bin(lo: Any, hi: Any) -> str:
    if number(lo) is None:
        return short(lo, 20)
    if number(hi) is None:
        return f"≥ {lo:g}"
    return f"{lo:g}" if hi - lo <= 1 else f"{lo:g}-{hi - 1:g}"


def _loss_chart(report: dict[str, Any]) -> dict[str, Any] | None:
    lost = [c for c in report.get("columns") or [] if number(c.get("loss")) is not None]
    if not lost:
        return None
    return {
        "name": "column_losses",
        "kind": "bars",
        "title": "Loss per column",
        "x": "column",
        "y": "mean loss (NCP)",
        "meaning": "0: every value is published as it was; 1: nothing is left of the column.",
        "data": {"labels": [c["name"] for c in lost], "loss": [c["loss"] for c in lost]},
    }


def _column(column: dict[str, Any]) -> dict[str, Any]:
    form, published = column.get("form"), column.get("published")
    loss = number(column.get("loss"))
    shown = _FORMS.get(str(form), short(form, 40)) if form else "as it is"
    return {
        "name": column.get("name", ""),
        "role": column.get("role", ""),
        "form": shown if published else "not published",
        "loss": loss,
        "width": f"{min(max(loss or 0.0, 0.0), 1.0) * 100:.0f}",
    }


def _normalized_cells(columns: Iterable[dict[str, Any]]) -> str:
    """Name the columns whose texts were changed when they were read, with counts."""
    counts = [(column.get("name"), number(column.get("normalized_cells"))) for column in columns]
    return ", ".join(f"{short(name, 80)} {figure(count)}" for name, count in counts if count)


_PLAYED = (
    "One process played all senders and servers and saw every record: this protects nobody from "
    "whoever ran it. With each party on a machine of its own, it would guarantee:"
)


def _collection(collection: dict[str, Any], limits: Limits) -> dict[str, Any]:
    collector = collection.get("collector")
    transport = collection.get("transport") or (collection.get("parameters") or {}).get("transport")
    if isinstance(transport, dict):
        transport = transport.get("transport")
    played = collection.get("parties") == "one-process"
    if transport:
        text = (
            f"Records came through the transport '{short(transport, 60)}' to the collector "
            f"'{short(collector, 60)}'. {_PLAYED if played else 'It guarantees:'}"
        )
    elif collector in (None, "curator"):
        text = "A trusted curator held the whole table; no transport hid who sent which record."
    else:
        text = f"The collector '{short(collector, 60)}' gathered the records."
    guarantees = collection.get("guarantees_if_deployed" if played else "guarantees") or {}
    return {
        "text": text,
        "guarantees": [(words(name), guarantee_texts(value)) for name, value in guarantees.items()],
        "found": found_view(collection.get("findings") or [], limits),
        "charts": (collection.get("charts") or [])[: limits.charts],
    }
