"""From the data of an audit to what its page shows: the first release in full, others folded."""

from collections.abc import Mapping
from typing import Any

from anonloom_page.attack_view import attack_view
from anonloom_page.limits import Limits
from anonloom_page.report_view import audit_card
from anonloom_page.wording import figure, number, percent, short


def audit_view(report: dict[str, Any], limits: Limits) -> dict[str, Any]:
    """Return what the template shows."""
    releases = [_release(item, limits) for item in (report.get("releases") or [])[: limits.runs]]
    return {
        "report": report,
        "releases": releases,
        "several": len(releases) > 1,
        "summary": _summary(releases),
        "configuration": _configuration(report.get("configuration") or {}, limits),
        "rule": ((report.get("rule") or {}).get("texts")) or [],
    }


def _release(item: Mapping[str, Any], limits: Limits) -> dict[str, Any]:
    name = short(item.get("name"), 160)
    return {
        "name": name,
        "rank": item.get("rank"),
        "rows": figure(item.get("rows")),
        "attacks": attack_view(item, limits),
        "columns": [_column(column) for column in (item.get("columns") or [])[: limits.columns]],
        "facts": _facts(item),
        "since": _since(item.get("since") or {}),
        "audits": [
            audit_card(part, limits) for part in (item.get("audits") or [])[: limits.audits]
        ],
        "skipped": [
            (short(name, 80), short(why)) for name, why in (item.get("skipped") or {}).items()
        ],
    }


def _summary(releases: list[dict[str, Any]]) -> str:
    """Say in one sentence how many of several releases can be handed over."""
    tones = [release["attacks"]["tone"]["name"] for release in releases if release["attacks"]]
    bad, good = tones.count("bad"), tones.count("good")
    rest = len(releases) - bad - good
    parts = []
    if bad:
        parts.append(f"do not hand over {bad}")
    if rest:
        parts.append(f"{rest} not yet")
    if good:
        parts.append(f"nothing found speaks against {good}")
    return f"Of {len(releases)} releases: {'; '.join(parts)}."


def _facts(item: Mapping[str, Any]) -> list[str]:
    """Return what was noticed about the release besides attacks."""
    facts = [f"{figure(item.get('rows'))} rows."]
    as_it_was = number(item.get("rows_as_they_were"))
    if as_it_was is not None:
        facts.append(
            f"{percent(as_it_was)} of the rows stand in the original, cell for cell. Where columns "
            "are few, that happens by chance as well."
        )
    facts += [
        f"Column '{short(name, 80)}': {figure(count)} cells could not be read."
        for name, count in (item.get("unread") or {}).items()
    ]
    facts += [
        f"Column '{short(name, 80)}': {figure(count)} cells were read without characters that "
        "nobody sees."
        for name, count in (item.get("normalized_cells") or {}).items()
    ]
    return facts + [short(text) for text in item.get("notices") or []]


def _column(column: Mapping[str, Any]) -> dict[str, Any]:
    loss = number(column.get("loss"))
    return {
        "name": short(column.get("name"), 80),
        "role": short(column.get("role"), 40),
        "published": bool(column.get("published")),
        "loss": None if loss is None else percent(loss),
        "width": f"{min(max(loss or 0.0, 0.0), 1.0) * 100:.0f}",
    }


def _since(since: Mapping[str, Any]) -> dict[str, Any] | None:
    if not since:
        return None
    worse = since.get("worse") or 0
    return {
        "created": since.get("created"),
        "worse": worse,
        "tone": "bad" if worse else "good",
        "sentence": f"{figure(worse)} {'attack' if worse == 1 else 'attacks'} got worse."
        if worse
        else "No attack got worse.",
        "differs": ", ".join(short(name, 40) for name in since.get("configuration_differs") or []),
        "attacks": [
            {
                "name": short(attack.get("attack"), 120),
                "change": short(attack.get("change"), 40),
                "then": percent(attack.get("then")),
                "now": percent(attack.get("now")),
                "tone": {"worse": "bad", "no longer assessable": "bad", "better": "good"}.get(
                    str(attack.get("change")), ""
                ),
            }
            for attack in since.get("attacks") or []
        ],
    }


def _configuration(data: Mapping[str, Any], limits: Limits) -> dict[str, Any]:
    attacked = data.get("attacked")
    columns = list((data.get("columns") or {}).items())[: limits.columns]
    return {
        "rows": figure(data.get("rows")),
        "control": "none" if data.get("control") is None else f"{figure(data['control'])} people",
        "attacked": "all" if attacked is None else f"at most {figure(attacked)}",
        "columns": [
            {
                "name": short(name, 80),
                "role": short(column.get("role"), 40),
                "type": short(column.get("type"), 40),
                "guessed": bool(column.get("guessed")),
            }
            for name, column in columns
        ],
        "guessed": sum(bool(column.get("guessed")) for _, column in columns),
    }
