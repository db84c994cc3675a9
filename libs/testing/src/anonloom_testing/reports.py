"""Reports for reporters to draw: all that `report.json` can hold, and as little as it may."""

from typing import Any

#: Text that must never reach a page as markup.
MARKUP = "<script>alert('cell')</script>"

#: The interval around a line.
_BAND = {"low": [0.4, 0.1], "high": [0.6, None]}


def full_report() -> dict[str, Any]:
    """Return a report of a run in which every part has something to show."""
    return {
        "format": 1,
        "name": "clinic",
        "created": "2026-01-02T03:04:05Z",
        "anonloom": "0.1.0",
        "summary": {
            "rows_in": 90,
            "rows_out": 90,
            "suppressed": 2,
            "dropped": 0,
            "classes": 12,
            "published_classes": 11,
            "smallest_class": 5,
            "gcp": 0.31,
        },
        "columns": [
            _column("age", "quasi", "number", "interval", 0.2),
            _column("region", "quasi", "category", "nodes", 0.4),
            _column("illness", "sensitive", "category", None, None),
        ],
        "privacy": [
            {
                "model": "k-anonymity",
                "parameters": {"k": 5},
                "meaning": "Every published combination is shared by at least 5 persons.",
                "holds": True,
                "classes": 11,
                "rows": 88,
            }
        ],
        "privacy_none": False,
        "truthful": True,
        "verdict": {
            "tone": "amber",
            "reasons": ["The column 'note' is published as it is."],
            "covers": ["Every published combination is shared by at least 5 persons."],
            "does_not_cover": ["Other releases about the same persons."],
        },
        "warnings": [
            {"stage": "", "text": "The column 'note' is published as it is.", "privacy": True},
            {"stage": "partitioner", "text": "The search stopped at a limit.", "privacy": False},
        ],
        "suppression": {"at_most": 0.05, "rate": 0.0222, "rows": "star"},
        "stages": [_stage()],
        "class_sizes": {"edges": [5, 10, 20], "counts": [8, 3]},
        "audits": [_audit()],
        "collection": {
            "collector": "curator",
            "transport": None,
            "guarantees": None,
            "simulated": False,
        },
        "integrity": {"scheme": "digest", "files": ["digest.json"]},
        "manifest": {
            "spec": {"version": 1, "name": "clinic"},
            "versions": {"anonloom-core": "0.1.0"},
            "outputs": {"release.csv": "0" * 64},
            "seed_commitment": "1" * 64,
        },
    }


def _stage() -> dict[str, Any]:
    return {
        "id": "partitioner",
        "kind": "partitioner",
        "method": "median-cut",
        "parameters": {},
        "distribution": "anonloom-median-cut",
        "version": "0.1.0",
        "summary": "Cuts at the median.",
        "paper": "",
        "findings": [_finding("cuts", 11)],
        "charts": [],
    }


def _audit() -> dict[str, Any]:
    judged = _finding("prosecutor_risk", 0.125) | {"interval": [0.1, 0.15]}
    absent = _finding("excess", None) | {"status": "not assessable"}
    return {
        "id": "disclosure",
        "auditor": "disclosure",
        "measures": "risk",
        "summary": "Risk of being found.",
        "paper": "A. Author: A title. A venue, 2020.",
        "findings": [
            judged | {"condition": "> 0.2", "failed": False},
            absent | {"condition": None, "failed": False},
        ],
        "charts": [
            _chart("lines", "line", {"risk": {"x": [1, 2, 3], "y": [0.5, 0.2, 0.1]}}),
            _chart("band", "line", {"risk": {"x": [1, 2], "y": [0.5, 0.2], **_BAND}}),
            _chart("bars", "bars", {"labels": ["age", "region"], "loss": [0.2, 0.4]}),
            _chart("heat", "heat", {"x": ["a", "b"], "y": ["c"], "z": [[1.0, 2.0]]}),
            _chart("points", "scatter", {"rows": {"x": [1, 2], "y": [2, 1]}}),
            _chart("density", "density", {"rows": {"x": [0, 1], "y": [0.5, 0.5]}}),
            _chart(
                "tree", "tree", {"label": "all", "children": [{"label": "age", "children": []}]}
            ),
            _chart(
                "table",
                "table",
                {"columns": ["claim", "paper", "ours"], "rows": [["grows", 0.5, None], ["", 1, 2]]},
            ),
        ],
    }


def _finding(name: str, value: float | None) -> dict[str, Any]:
    return {
        "name": name,
        "value": value,
        "unit": "",
        "interval": None,
        "better": "lower",
        "status": "measured",
        "meaning": "Share of rows that an attacker who knows a person finds.",
        "assumptions": ["The attacker knows every quasi-identifier."],
    }


def bare_report() -> dict[str, Any]:
    """Return a report of a run with nothing but a table in it: no model, audit or integrity."""
    report = full_report()
    report["summary"] |= {"classes": 0, "published_classes": 0, "smallest_class": 0, "gcp": None}
    return report | {
        "privacy": [],
        "privacy_none": True,
        "truthful": False,
        "warnings": [],
        "verdict": {"tone": "amber", "reasons": [], "covers": [], "does_not_cover": []},
        "stages": [],
        "audits": [],
        "class_sizes": {"edges": [], "counts": []},
        "integrity": None,
    }


def hostile_report() -> dict[str, Any]:
    """Return a report whose texts contain markup, as a file name or a label might."""
    report = full_report()
    report["name"] = MARKUP
    report["warnings"] = [{"stage": MARKUP, "text": MARKUP, "privacy": True}]
    report["verdict"] |= {"reasons": [MARKUP], "covers": [MARKUP], "does_not_cover": [MARKUP]}
    report["columns"][0]["name"] = MARKUP
    report["audits"][0]["findings"][0]["meaning"] = MARKUP
    charts = {chart["kind"]: chart["data"] for chart in report["audits"][0]["charts"]}
    charts["bars"]["labels"][0] = MARKUP
    charts["heat"]["y"][0] = MARKUP
    charts["tree"]["label"] = MARKUP
    charts["table"]["columns"][0] = charts["table"]["rows"][0][0] = MARKUP
    report["manifest"]["spec"]["name"] = MARKUP
    return report


def grid_report() -> dict[str, Any]:
    """Return a report of an experiment with a published, a refused and a failed run."""
    key = "disclosure.prosecutor_risk"
    runs = [
        _run("k=5", 5, "published", "", {key: 0.125}),
        _run("k=10", 10, "published", "", {key: 0.0625}),
        _run("k=500", 500, "refused", "the table has fewer rows", {}),
        _run("k=-1", -1, "failed", "k must be at least 1", {}),
    ]
    return {
        "format": 1,
        "kind": "grid",
        "name": "clinic-k",
        "created": "2026-01-02T03:04:05Z",
        "anonloom": "0.1.0",
        "varied": ["privacy.k-anonymity.k"],
        "runs": runs,
        "figures": [{"key": key, "better": "lower", "meaning": "Risk of being found.", "unit": ""}],
        "summaries": [{"auditor": "disclosure", "findings": [], "charts": []}],
    }


def audit_report() -> dict[str, Any]:
    """Return a report of an audit: a release that is risky, one that is not, one unknown."""
    risky = _release("noise.csv", "no", "Do not hand this over: 61 % can be found again.", 0.614)
    unknown = _release("other.csv", "not yet", "Do not hand this over yet: nothing is known.", None)
    good = _release("copula.csv", "nothing against it", "Nothing found speaks against it.", 0.0)
    releases = [{"rank": at, **one} for at, one in enumerate((risky, unknown, good), start=1)]
    return {
        "format": 1,
        "kind": "audit",
        "name": "audit of noise.csv, other.csv, copula.csv",
        "created": "2026-01-02T03:04:05Z",
        "anonloom": "0.1.0",
        "headline": {**risky["headline"], "release": "noise.csv"},
        "decision": risky["decision"],
        "rule": risky["rule"],
        "configuration": {
            "rows": 5000,
            "columns": {
                "age": {"role": "quasi", "type": "number", "guessed": False},
                "illness": {"role": "sensitive", "type": "category", "guessed": True},
            },
            "control": 2500,
            "attacked": 5000,
            "auditors": {"cvpl": {}},
        },
        "releases": releases,
    }


def attack_blocks(answer: str, sentence: str, risk: float | None) -> dict[str, Any]:
    """Return what a report says of attacks, of a release with some risk."""
    worst = _attack("cvpl.linkage", "linkability", risk)
    asked = [_attack(f"cvpl.{name}", name, risk and risk / 2) for name in _QUESTIONS[2:]]
    questions = [
        {**worst, "question": _QUESTIONS[0], "status": "not asked", "risk": None,
         "interval": None, "reasons": ["no auditor tries such an attack"], "settled": False},
        {**worst, "settled": False},
        *({**one, "settled": False} for one in asked),
    ]  # fmt: skip
    groups = [
        {"group": "lowest quarter", "people": 1200, "exposed": None},
        {"group": "highest quarter", "people": 1200, "exposed": 900},
    ]
    found = bool(risk)
    return {
        "headline": worst,
        "decision": {
            "answer": answer,
            "tone": {"no": "refused", "not yet": "amber"}.get(answer, "green"),
            "sentence": sentence,
            "reasons": ["The release has the identifier 'name'"] if answer == "no" else [],
        },
        "rule": {"limit": 0.09, "texts": ["Do not hand over: the risk is above 9 %."]},
        "questions": questions,
        "attacks": [worst, *asked],
        "exposed": {
            "groups": [{"column": "age", "groups": groups}] if found else [],
            "stand_out": [{"column": "age", **groups[1], "share": 0.75}] if found else [],
        },
        "changes": [
            {"column": "age", "changed": 0.93, "at_least": True, "shift": 0.02},
            {"column": "illness", "changed": 0.1, "at_least": False, "shift": None},
        ],
        "advice": ["Make 'age' coarser, or leave it out."] if found else [],
    }


_QUESTIONS = ("singling out", "linkability", "inference", "membership")


def _attack(name: str, question: str, risk: float | None) -> dict[str, Any]:
    fits = risk is not None
    return {
        "status": "measured" if fits else "not assessable",
        "attack": name,
        "question": question,
        "meaning": "An attacker names the row that is nearest.",
        "risk": risk,
        "interval": [max((risk or 0) - 0.04, 0), (risk or 0) + 0.04] if fits else None,
        "people": 5000,
        "exposed": (3804 if risk else 0) if fits else None,
        "success": 0.761,
        "chance": 0.381,
        "outside": 2500,
        "baseline": "people of the control, who are not in the release",
        "baseline_kind": "control",
        "copy": 1.0,
        "strangers": [-0.02, 0.02],
        "reason": "" if fits else "the attack finds 40% of the people in a copy",
        "tried": 3,
        "level": 0.983,
        "reasons": [] if fits else [f"{name}: the attack finds 40% of the people in a copy"],
    }


def _release(name: str, answer: str, sentence: str, risk: float | None) -> dict[str, Any]:
    return {
        "name": name,
        "rows": 5000,
        **attack_blocks(answer, sentence, risk),
        "rows_as_they_were": 0.04,
        "generalized": False,
        "columns": [{"name": "age", "role": "quasi", "published": True, "loss": 0.0}],
        "unread": {"age": 3},
        "normalized_cells": {"illness": 1},
        "skipped": {"traffic": "it needs trace, which two tables lack"},
        "notices": ["The search stopped at a limit."],
        "audits": [_audit(), {**_audit(), "findings": [], "charts": [], "withheld": True}],
        "since": {
            "created": "2026-01-01T00:00:00Z",
            "name": name,
            "configuration_differs": ["attacked"],
            "worse": 1,
            "attacks": [{"attack": "cvpl.linkage", "change": "worse", "now": risk, "then": 0.1}],
        },
    }


def _chart(name: str, kind: str, data: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": name,
        "kind": kind,
        "title": name.capitalize(),
        "x": "x",
        "y": "y",
        "meaning": f"What {name} show.",
        "data": data,
    }


def _column(
    name: str, role: str, type_: str, form: str | None, loss: float | None
) -> dict[str, Any]:
    return {
        "name": name,
        "role": role,
        "type": type_,
        "form": form,
        "published": True,
        "normalized_cells": 2,
        "loss": loss,
    }


def _run(label: str, k: int, status: str, message: str, found: dict[str, float]) -> dict[str, Any]:
    return {
        "label": label,
        "parameters": {"privacy.k-anonymity.k": k},
        "status": status,
        "message": message,
        "verdict": {"tone": "green" if status == "published" else "refused", "reasons": []},
        "findings": found,
    }
