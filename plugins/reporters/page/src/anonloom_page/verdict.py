"""The verdict as core made it, in the order in which it is read: tone, reasons, models, limits."""

from typing import Any

from anonloom_page.wording import figure, settings, short

#: Every tone has its word beside its colour: class of the box, word.
_TONES = {"green": ("good", "Green"), "amber": ("warn", "Amber"), "refused": ("bad", "Refused")}

#: What is drawn of a tone that this version does not know: nothing is praised unasked.
_UNKNOWN = ("warn", "No verdict")


def tone_of(verdict: dict[str, Any] | None) -> dict[str, str]:
    """Return the class and the word of a verdict's tone."""
    name, word = _TONES.get(str((verdict or {}).get("tone")), _UNKNOWN)
    return {"name": name, "word": word}


def verdict_view(report: dict[str, Any]) -> dict[str, Any]:
    """Return what the box shows."""
    verdict = report.get("verdict") or {}
    models = [_model(model) for model in report.get("privacy") or []]
    return {
        "tone": tone_of(verdict),
        "title": _title(str(verdict.get("tone")), models),
        "text": _text(report, models),
        "reasons": [short(reason) for reason in verdict.get("reasons") or []],
        "models": models,
        "does_not_cover": [short(text) for text in verdict.get("does_not_cover") or []],
    }


def _model(model: dict[str, Any]) -> dict[str, Any]:
    listed = settings(model.get("parameters") or {})
    title = short(model.get("model", "privacy model"), 80)
    return {
        "title": f"{title} ({', '.join(listed)})" if listed else title,
        "holds": bool(model.get("holds")),
        "meaning": short(model.get("meaning") or ""),
        "counted": f"Checked on the published table: {figure(model.get('classes'))} classes, "
        f"{figure(model.get('rows'))} records.",
    }


def _title(tone: str, models: list[dict[str, Any]]) -> str:
    if tone == "refused":
        return "Not to be published"
    if not models:
        return "No privacy model was declared"
    titles = [model["title"] for model in models]
    if len(titles) == 1:
        held = f"{titles[0]} holds"
    elif len(titles) <= 3:
        held = f"{', '.join(titles[:-1])} and {titles[-1]} hold"
    else:
        held = f"All {len(titles)} declared privacy models hold"
    return held if tone == "green" else f"{held}, but read this first"


def _text(report: dict[str, Any], models: list[dict[str, Any]]) -> str:
    if not models:
        text = "This release carries no formal guarantee: whatever protects it is not checked here."
    else:
        text = "They were" if len(models) > 1 else "It was"
        text += " recomputed from the published table alone, after everything else was done."
    smallest = (report.get("summary") or {}).get("smallest_class")
    if smallest is not None:
        text += (
            f" The smallest group of records that look alike has {figure(smallest)} "
            f"{'member' if smallest == 1 else 'members'}."
        )
    return text
