"""What got worse since an earlier audit."""

import json

import pytest

from anonloom.errors import DataError
from anonloom_audit.history import compare_releases, read_baseline

CONFIGURATION = {"columns": {}, "attacked": 5000, "auditors": {}, "control": 10}


def attack(name, risk, spread=0.05):
    interval = None if risk is None else [risk - spread, risk + spread]
    return {"attack": name, "risk": risk, "interval": interval}


def release(name, *attacks):
    return {"name": name, "attacks": list(attacks)}


def report(*releases, **more):
    return {
        "kind": "audit", "created": "2026-01-01T00:00:00Z", "configuration": CONFIGURATION,
        "releases": list(releases), **more,
    }  # fmt: skip


def since(now, then):
    now = [now]
    compare_releases(CONFIGURATION, now, report(then))
    return now[0]["since"]


@pytest.mark.parametrize(
    ("then", "now", "change", "worse"),
    [
        (0.1, 0.3, "worse", 1),
        (0.1, 0.15, "same", 0),
        (0.3, 0.1, "better", 0),
        (0.1, None, "no longer assessable", 1),
        (None, 0.1, "now assessable", 0),
        (None, None, "not assessable", 0),
    ],
)
def test_a_difference_counts_where_it_is_larger_than_its_uncertainty(then, now, change, worse):
    result = since(release("r", attack("a.b", now)), release("r", attack("a.b", then)))
    expected = [{"attack": "a.b", "change": change, "now": now, "then": then}]
    assert (expected, worse) == (result["attacks"], result["worse"])


def test_attacks_that_came_and_went_are_named():
    result = since(release("r", attack("new", 0.1)), release("r", attack("old", 0.2)))
    assert [("new", "new"), ("old", "gone")] == [
        (item["attack"], item["change"]) for item in result["attacks"]
    ]


def test_releases_are_compared_by_name_and_single_ones_whatever_they_are_called():
    assert "r1" == since(release("r2"), release("r1"))["name"]
    now = [release("a"), release("b")]
    compare_releases(CONFIGURATION, now, report(release("b"), release("c")))
    assert [False, True] == ["since" in item for item in now]


def test_another_configuration_is_named():
    now = [release("r")]
    compare_releases({**CONFIGURATION, "attacked": 10}, now, report(release("r")))
    assert ["attacked"] == now[0]["since"]["configuration_differs"]


def test_the_report_of_an_audit_is_read(tmp_path):
    path = tmp_path / "report.json"
    whole = report(release("r", attack("a.b", 0.1)))
    path.write_text(json.dumps(whole))
    assert whole == read_baseline(path)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (None, "No such file or directory"),
        ("{", "this is no JSON"),
        ('{"kind": "grid"}', "this is not the report of an audit\n    Give report.json of a folder "
                             "that 'anonloom audit --to' wrote."),
        ('{"kind": "audit"}', "this report is damaged"),
        (json.dumps(report(release("r", {"attack": "x", "risk": 1, "interval": 3}))),
         "this report is damaged"),
    ],
)  # fmt: skip
def test_what_is_no_such_report_is_refused(tmp_path, text, expected):
    path = tmp_path / "report.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(DataError) as caught:
        read_baseline(path)
    assert f"{path}: {expected}" == str(caught.value)
