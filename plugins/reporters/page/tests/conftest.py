"""Reports as core writes them, of a fictitious clinic."""

import itertools
from typing import Any

import pytest


def finding(name: str, value: Any, meaning: str, **more: Any) -> dict[str, Any]:
    return {
        "name": name,
        "value": value,
        "unit": "",
        "interval": None,
        "better": "lower",
        "status": "measured",
        "meaning": meaning,
        "assumptions": ["the attacker knows every quasi-identifier of the person exactly"],
        "condition": None,
        "failed": False,
        **more,
    }


def charts() -> list[dict[str, Any]]:
    """One chart of every kind."""

    def chart(name: str, kind: str, data: Any, x: str = "x", y: str = "y") -> dict[str, Any]:
        return {
            "name": name,
            "kind": kind,
            "title": f"A chart of kind {kind}",
            "x": x,
            "y": y,
            "meaning": "What a reader should take from it.",
            "data": data,
        }

    ks = [2, 5, 10, 20, 50, 100]
    return [
        chart(
            "lines",
            "line",
            {
                "method = mondrian": {
                    "x": ks,
                    "y": [0.02, 0.05, 0.08, 0.12, 0.2, 0.27],
                    "low": [0.01, 0.04, 0.06, 0.1, 0.17, 0.22],
                    "high": [0.03, 0.06, 0.1, 0.14, 0.23, 0.32],
                },
                "method = vp-tree": {"x": ks, "y": [0.03, 0.06, 0.1, 0.15, 0.24, 0.31]},
                "method = full-domain": {"x": ks, "y": [0.21, 0.3, 0.36, 0.41, 0.52, None]},
            },
            "privacy.k-anonymity.k",
            "gcp",
        ),
        chart(
            "upright",
            "bars",
            {"labels": ["1", "2", "3-4", "5-9", "10-19"], "share": [0, 0, 0.1, 0.6, 0.3]},
            "members",
            "share of the records",
        ),
        chart(
            "lying",
            "bars",
            {
                "labels": ["age", "marital-status", "a column with a very long name indeed", "sex"],
                "before": [0.1, 0.5, 0.33, 0.02],
                "after": [0.2, 0.7, 0.35, 0.0],
            },
            "column",
            "loss",
        ),
        chart(
            "cells",
            "heat",
            {
                "x": ["age", "sex", "zip", "marital-status", "occupation"],
                "y": ["k = 5", "k = 10", "k = 20"],
                "z": [[0.1, 0, 0.2, 0.4, 0.3], [0.2, 0, 0.35, None, 0.5], [0.3, 0.1, 0.6, 0.8, 1]],
            },
            "column",
            "run",
        ),
        chart(
            "points",
            "scatter",
            {
                "low": {"x": [1, 2, 3, 4.5], "y": [10, 14, 13, 22]},
                "high": {"x": [1.5, 2.5, 4], "y": [30, 28, 41]},
            },
            "distance",
            "score",
        ),
        chart(
            "curve",
            "density",
            {
                "true pairs": {"x": [0, 1, 2, 3, 4, 5, 6], "y": [0, 0.1, 0.3, 0.7, 0.9, 0.4, 0.1]},
                "other pairs": {"x": [0, 1, 2, 3, 4, 5, 6], "y": [0.6, 0.9, 0.6, 0.3, 0.1, 0, 0]},
            },
            "similarity",
            "density",
        ),
        chart(
            "comparison",
            "table",
            {
                "columns": ["protection", "paper", "ours", "rows", "claim", "verdict"],
                "rows": [
                    [
                        "perturb-low",
                        0.86,
                        0.8123,
                        10_000,
                        "Falls as the noise grows.",
                        "reproduced",
                    ],
                    ["copula", 0.1, None, 12, "Is not above chance.", "contradicted"],
                ],
            },
        ),
        chart(
            "outline",
            "tree",
            {
                "label": "all 400",
                "children": [
                    {"label": "age ≤ 41: 190", "children": [{"label": "sex = f: 95"}]},
                    {"label": "age > 41: 210", "children": [{"label": "zip 10-13: 120"}]},
                ],
            },
        ),
    ]


def utility() -> dict[str, Any]:
    columns = {"age": 0.084, "sex": 0.21, "zip": 0.317, "job": 0.55}
    whole = "a suppressed record has lost everything"
    findings = [
        finding("gcp", 0.29025, "Mean information loss over all records and quasi-identifiers: 0 "
                "means that nothing was lost, 1 that nothing is left.", assumptions=[whole],
                condition="> 0.4"),
        *(finding(f"ncp.{name}", loss, f"Mean information loss of the column '{name}'.",
                  assumptions=[whole]) for name, loss in columns.items()),
        finding("gcp_sets", None, "Mean loss as if categories were published as sets.",
                status="not assessable", assumptions=["rows cannot be traced to the original"]),
        finding("classes", 52, "Number of classes that the stages made.", better="higher",
                assumptions=[]),
        finding("dm_published", 31_236, "Discernibility: the sum of squared sizes of the classes "
                "of equal published cells, plus the number of all records for every suppressed "
                "one.", assumptions=[]),
        finding("suppression_rate", 0.0075, "Share of the records whose quasi-identifiers are all "
                "withheld."),
    ]  # fmt: skip
    sizes = {
        "name": "class_sizes",
        "kind": "bars",
        "title": "Sizes of the classes",
        "x": "records in a class",
        "y": "classes",
        "meaning": "Records of one class cannot be told apart by their quasi-identifiers.",
        "data": {
            "labels": [str(n) for n in range(5, 17)],
            "as partitioned": [9, 11, 8, 7, 6, 4, 3, 2, 1, 0, 0, 1],
            "as published": [7, 9, 8, 7, 5, 4, 3, 2, 1, 1, 0, 2],
        },
    }
    return {
        "id": "utility",
        "auditor": "utility",
        "measures": "utility",
        "summary": "How much of the original a release still tells: NCP, GCP, CAVG, DM.",
        "paper": "Xu et al., Utility-based anonymization using local recoding, KDD 2006",
        "parameters": {"k": None},
        "findings": findings,
        "charts": [sizes],
    }


def disclosure() -> dict[str, Any]:
    findings = [
        finding("k", 5, "Every combination of published quasi-identifiers belongs to this many "
                "records or more.", better="higher", unit="records"),
        finding("prosecutor_max", 0.2, "Chance to pick the right record for the most exposed "
                "person, knowing that they are in the release.", condition="> 0.2"),
        finding("journalist_max", 0.2, "Chance to pick the right person for the most exposed "
                "record, not knowing who is in the release.", status="bound"),
        finding("linkage_excess", 0.031, "Share of the records that can be linked beyond chance.",
                interval=[0.012, 0.05]),
        finding("certainty.diagnosis", 0.6, "Share of the most frequent value of 'diagnosis' in "
                "the class that gives most away."),
        finding("l.diagnosis", 3, "Every class holds at least this many different values of "
                "'diagnosis'.", better="higher"),
        finding("t.diagnosis", 0.4125, "Largest distance between the values of 'diagnosis' in a "
                "class and in the whole release."),
    ]  # fmt: skip
    return {
        "id": "disclosure",
        "auditor": "disclosure",
        "measures": "risk",
        "summary": "Who could be found in a release, and what could be inferred about them.",
        "paper": "El Emam, Guide to the De-Identification of Personal Health Information, 2013",
        "parameters": {"threshold": 0.2},
        "findings": findings,
        "charts": charts(),
    }


def stage(kind: str, method: str, summary: str, **parameters: Any) -> dict[str, Any]:
    return {
        "id": kind,
        "kind": kind,
        "method": method,
        "parameters": parameters,
        "distribution": f"anonloom-{method}",
        "version": "0.1.0",
        "summary": summary,
        "paper": "LeFevre et al., Mondrian multidimensional k-anonymity, ICDE 2006",
        "findings": [],
        "charts": [],
    }


@pytest.fixture
def report() -> dict[str, Any]:
    return {
        "format": 1,
        "name": "clinic",
        "created": "2026-11-16T10:00:00Z",
        "anonloom": "0.1.0",
        "summary": {
            "rows_in": 400,
            "rows_out": 400,
            "suppressed": 3,
            "dropped": 0,
            "classes": 52,
            "published_classes": 49,
            "smallest_class": 5,
            "gcp": 0.29025,
        },
        "columns": [
            {"name": "age", "role": "quasi", "type": "number", "form": "interval",
             "published": True, "loss": 0.084},
            {"name": "sex", "role": "quasi", "type": "category", "form": "nodes",
             "published": True, "loss": 0.21},
            {"name": "zip", "role": "quasi", "type": "category", "form": "nodes",
             "published": True, "loss": 0.317},
            {"name": "job", "role": "quasi", "type": "category", "form": "set",
             "published": True, "loss": 0.55},
            {"name": "diagnosis", "role": "sensitive", "type": "category", "form": None,
             "published": True, "loss": None},
            {"name": "patient", "role": "person", "type": "category", "form": None,
             "published": False, "loss": None},
        ],
        "privacy": [
            {"model": "k-anonymity", "parameters": {"k": 5, "on": None}, "holds": True,
             "meaning": "Every published combination of quasi-identifiers is shared by at least 5 "
             "persons, so that nobody can be singled out by them.", "classes": 49, "rows": 397},
            {"model": "l-diversity", "parameters": {"l": 3, "of": "diagnosis"}, "holds": True,
             "classes": 49, "rows": 397},
        ],
        "privacy_none": False,
        "truthful": True,
        "verdict": {
            "tone": "amber",
            "reasons": ["Rows are in the order of the input ('shuffle: false')."],
            "covers": ["Every published combination of quasi-identifiers is shared by 5 persons."],
            "does_not_cover": ["Other releases about the same persons: they can be intersected."],
        },
        "warnings": [
            {"stage": "", "text": "Rows are in the order of the input ('shuffle: false').",
             "privacy": True},
            {"stage": "partitioner", "text": "The search stopped after 1,000 nodes.",
             "privacy": False},
        ],
        "suppression": {"at_most": 0.02, "rate": 0.0075, "rows": "star"},
        "stages": [
            stage("partitioner", "mondrian", "Top-down median cuts of the widest attribute.",
                  strict=True),
            stage("outliers", "suppress", "Suppresses classes that lose too much.", above=0.9),
            stage("generalizer", "hierarchy", "Publishes ranges and nodes of hierarchies."),
        ],
        "class_sizes": {"edges": [5, 6, 7, 8, 9], "counts": [7, 9, 8, 7, 18]},
        "audits": [utility(), disclosure()],
        "collection": {
            "collector": "anonify",
            "transport": "direct",
            "guarantees": {
                "honest_senders_min": 1000,
                "colluding_servers": 0,
                "server_behaviour": "honest but curious",
                "post_quantum": False,
                "delivery": "exactly once",
                "not_covered": ["traffic analysis", "a server that lies"],
            },
            "simulated": True,
        },
        "integrity": {"scheme": "digest", "files": ["release.csv", "report.json"]},
        "manifest": {
            "spec": {"privacy": [{"k-anonymity": {"k": 5}}]},
            "versions": {"anonloom-core": "0.1.0"},
            "outputs": {"release.csv": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"},
            "seed_commitment": "60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752",
        },
    }  # fmt: skip


def run_of(k: int, method: str, seed: int) -> dict[str, Any]:
    worse = 1.0 if method == "mondrian" else 1.2
    gcp = min(1.0, worse * 0.028 * k**0.55)
    return {
        "label": f"k={k} partitioner={method}",
        "parameters": {"privacy.k-anonymity.k": k, "stages.partitioner": method},
        "status": "published",
        "message": "",
        "verdict": {"tone": "green" if k > 2 else "amber", "reasons": []},
        "findings": {
            "rows_out": 400,
            "gcp": gcp,
            "utility.gcp": gcp,
            "utility.cavg": 1.3 + 0.01 * ((k + seed) % 7),
            "utility.ncp.age": gcp / 2,
            "disclosure.prosecutor_average": 0.62 / k,
            "disclosure.k": k,
            "disclosure.certainty.diagnosis": min(1.0, 0.4 + 2.2 / k),
            "disclosure.recursive_c.diagnosis": None,
        },
    }


FIGURES = [
    ("rows_out", "higher", "Rows in the release."),
    ("gcp", "lower", "Mean loss over rows and quasi-identifiers."),
    ("utility.gcp", "lower", "Mean information loss over all records and quasi-identifiers."),
    ("utility.cavg", "lower", "Average size of the classes, as a multiple of k."),
    ("utility.ncp.age", "lower", "Mean information loss of the column 'age'."),
    ("disclosure.prosecutor_average", "lower", "Chance to pick the right record."),
    ("disclosure.k", "higher", "Every combination belongs to this many records or more."),
    ("disclosure.certainty.diagnosis", "lower", "Share of the most frequent value."),
    ("disclosure.recursive_c.diagnosis", "lower", "How dominant the most frequent value is."),
]


MEASURES = {
    key: {"utility": "utility", "disclosure": "risk"}.get(key.partition(".")[0])
    for key, _, _ in FIGURES
}


@pytest.fixture
def grid() -> dict[str, Any]:
    cases = itertools.product([2, 5, 10, 20, 50], ["mondrian", "vp-tree"])
    runs = [run_of(k, method, seed) for seed, (k, method) in enumerate(cases)]
    runs.append(
        {
            "label": "k=500 partitioner=mondrian",
            "parameters": {"privacy.k-anonymity.k": 500, "stages.partitioner": "mondrian"},
            "status": "refused",
            "message": "k-anonymity cannot hold: the table has 400 rows, k is 500; k: 400 would pass",
            "verdict": {"tone": "refused", "reasons": []},
            "findings": {},
        }
    )
    heat = {
        "name": "column_losses",
        "kind": "heat",
        "title": "Loss per column and run",
        "x": "column",
        "y": "run",
        "meaning": "0: every value is published as it was; 1: nothing is left of the column.",
        "data": {
            "x": ["age", "sex", "zip", "job"],
            "y": [run["label"] for run in runs[:10]],
            "z": [[0.1 * i, 0.02 * i, 0.05 * i, 0.08 * i] for i in range(1, 11)],
        },
    }
    return {
        "format": 1,
        "kind": "grid",
        "name": "clinic, k and partitioner",
        "created": "2026-11-16T10:00:00Z",
        "anonloom": "0.1.0",
        "varied": ["privacy.k-anonymity.k", "stages.partitioner"],
        "runs": runs,
        "figures": [
            {
                "key": key,
                "better": better,
                "meaning": meaning,
                "unit": "",
                "measures": MEASURES[key],
            }
            for key, better, meaning in FIGURES
        ],
        "summaries": [{"auditor": "utility", "findings": [], "charts": [heat]}],
    }
