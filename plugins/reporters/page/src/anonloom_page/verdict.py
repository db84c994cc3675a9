"""The verdict in plain words: which guarantee holds, and where it was checked."""

from typing import Any

from anonloom_page.wording import figure, plain, settings, short

#: What well-known models promise to a reader who has never heard of them. A model that brings its
#: own `meaning` in the report needs no entry here.
_PROMISES = {
    "k-anonymity": "Every published combination of quasi-identifiers is shared by at least {k} "
    "persons, so that nobody can be singled out by them.",
    "l-diversity": "Among those who share a combination there are at least {l} {kind} values of "
    "'{of}', so that finding the group does not tell the value.",
    "t-closeness": "Among those who share a combination, '{of}' is spread nearly as in the whole "
    "release (distance at most {t}), so that finding the group tells little.",
}


def model_words(model: dict[str, Any]) -> dict[str, Any]:
    """Return one model's title, promise and count."""
    parameters = model.get("parameters") or {}
    listed = settings(parameters)
    title = short(model.get("model", "privacy model"), 80)
    return {
        "title": f"{title} ({', '.join(listed)})" if listed else title,
        "holds": bool(model.get("holds")),
        "meaning": _promise(model, parameters),
        "counted": f"Checked on the published table: {figure(model.get('classes'))} classes, "
        f"{figure(model.get('rows'))} records.",
    }


def _promise(model: dict[str, Any], parameters: dict[str, Any]) -> str:
    if model.get("meaning"):
        return short(model["meaning"])
    promise = _PROMISES.get(str(model.get("model")), "")
    words = {name: plain(value) for name, value in parameters.items()}
    words["kind"] = "different" if words.get("kind") == "distinct" else "well-represented"
    try:
        return promise.format_map(words)
    except KeyError:
        # Other parameters than expected: say nothing rather than something half right.
        return ""


def _listed(names: list[str]) -> str:
    return ", ".join(names[:-1]) + " and " + names[-1]


def verdict_of(report: dict[str, Any]) -> dict[str, Any]:
    """Return the tone, title and text of the verdict, and its models."""
    models = [model_words(model) for model in report.get("privacy") or []]
    failed = [
        finding
        for audit in report.get("audits") or []
        for finding in audit.get("findings") or []
        if finding.get("failed")
    ]
    smallest = (report.get("summary") or {}).get("smallest_class")
    least = (
        f" The smallest group of records that look alike has {figure(smallest)} "
        f"{'member' if smallest == 1 else 'members'}."
        if smallest is not None
        else ""
    )
    if not models:
        return {
            "tone": "warn",
            "title": "No privacy model was declared",
            "text": "This release carries no formal guarantee: whatever protects it is not "
            "checked here." + least,
            "models": [],
        }
    broken = [model for model in models if not model["holds"]]
    if broken:
        title = f"{broken[0]['title']} does not hold"
    elif len(models) == 1:
        title = f"{models[0]['title']} holds"
    elif len(models) <= 3:
        title = f"{_listed([model['title'] for model in models])} hold"
    else:
        title = f"All {len(models)} declared privacy models hold"
    text = "They were" if len(models) > 1 else "It was"
    text += " recomputed from the published table alone, after everything else was done." + least
    tone = "bad" if broken else "good"
    if failed:
        tone, names = "bad", ", ".join(short(finding["name"], 60) for finding in failed[:5])
        text += f" But {len(failed)} measured figure(s) broke their limit: {names}."
    return {"tone": tone, "title": title, "text": text, "models": models}
