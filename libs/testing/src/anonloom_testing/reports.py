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
