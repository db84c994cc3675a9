"""What nobody can read is no sign of safety: figures that may use it are not assessable."""

import attrs
import pandas as pd
import pytest

from anonloom import AuditInput, Chart, Column, Finding, Findings, Schema, Table
from anonloom.data import MOST_UNREAD
from anonloom.findings import AttackResult, Notice
from anonloom_columns import NotationReader
from anonloom_runner.external import release_from
from anonloom_runner.unread import Unreadable, unread_cells, withhold_figures

SCHEMA = Schema(
    [
        Column(name="age", role="quasi", type="number"),
        Column(name="zip", role="quasi"),
        Column(name="bill", role="other", type="number"),
        Column(name="illness", role="sensitive"),
    ]
)


def table(**columns):
    rows = {"age": [20, 30] * 50, "zip": ["024", "033"] * 50, "bill": [1, 2] * 50}
    frame = pd.DataFrame({**rows, "illness": ["flu"] * 100, **columns})
    return Table.build(frame, SCHEMA).with_reader(NotationReader)


def release(**columns):
    cells = {"age": ["[20, 30]"] * 100, "zip": ["0**"] * 100, "bill": ["1", "2"] * 50}
    return release_from(pd.DataFrame({**cells, "illness": ["flu"] * 100, **columns}), SCHEMA)


def test_cells_in_no_notation_are_counted_and_stars_and_missing_ones_are_read():
    ages = ["x", "*", None, "20-30", "NA", "20", "25"] + ["20s"] * 93
    bills = ["1", "about 2", "1-2", "NA"] + ["1"] * 96
    found = unread_cells(release(age=ages, bill=bills), table())
    assert {"age": 1, "bill": 1} == found


def test_a_number_that_another_tool_calls_missing_is_missing():
    assert [True, False] == release(bill=["NA", "2"] * 50).frame["bill"].isna()[:2].tolist()


@pytest.mark.parametrize(("count", "unreadable"), [(1, False), (2, True)])
def test_more_than_one_cell_of_a_hundred_makes_a_column_unreadable(count, unreadable):
    assert 0.01 == MOST_UNREAD
    made = release(age=["x"] * count + ["20"] * (100 - count))
    original = table()
    case = AuditInput(release=made, original=original, unread=unread_cells(made, original))
    why = {"age": f"column 'age': {count} of 100 cells of the release cannot be read"}
    assert Unreadable(why if unreadable else {}) == Unreadable.of(case)


def test_other_releases_and_the_control_are_looked_at_too():
    other = release(zip=["x"] * 10 + ["0**"] * 90)
    control = table(zip=["02*"] * 5 + ["999"] * 95)
    case = AuditInput(release=release(), original=table(), other_releases=(other,), control=control)
    assert {"zip": "column 'zip': 5 of 100 cells of the control cannot be read"} == dict(
        Unreadable.of(case).others
    )
    without = attrs.evolve(case, control=None)
    assert {"zip": "column 'zip': 10 of 100 cells of another release cannot be read"} == dict(
        Unreadable.of(without).others
    )


def finding(name, **options):
    return Finding(name=name, value=0.5, interval=(0.4, 0.6), meaning="A share.", **options)


def attack(**options):
    given = {
        "name": "nearest",
        "question": "linkability",
        "meaning": "Links.",
        "success": 0.5,
        "people": 100,
        "baseline": 0.1,
        "strangers": 100,
        "baseline_kind": "control",
        "copy": 1.0,
        "of_strangers": (0.0, 0.01),
        "exposed": 3,
    }
    return AttackResult(**{**given, **options})


def test_figures_are_withheld_with_the_column_and_the_number():
    why = "column 'age': 9 of 10 cells of the release cannot be read"
    notice, chart = Notice(text="Read."), Chart(name="c", kind="line", title="C", data={})
    findings = Findings.of(
        finding("rate", assumptions=("one",)),
        finding("ncp.age", columns=("age",)),
        finding("ncp.zip", columns=("zip",)),
        finding("configuration", columns=()),
        chart,
        notice,
    )
    kept = withhold_figures(findings, Unreadable({"age": why}))
    assert [
        ("rate", None, None, "not assessable", (why, "one")),
        ("ncp.age", None, None, "not assessable", (why,)),
        ("ncp.zip", 0.5, (0.4, 0.6), "measured", ()),
        ("configuration", 0.5, (0.4, 0.6), "measured", ()),
    ] == [(one.name, one.value, one.interval, one.status, one.assumptions) for one in kept]
    assert ((), (notice,)) == (kept.charts, kept.notices)
    assert findings == withhold_figures(findings, Unreadable())


def test_a_risk_auditors_attack_judges_the_columns_of_the_release_itself():
    """It knows which columns it uses; what else its auditor finds may use any."""
    result = attack()
    findings = Findings.of(result, result.findings(), finding("detail"))
    kept = withhold_figures(findings, Unreadable({"age": "why"}))
    assert (result,) == kept.attacks
    assert list(result.findings()) == list(kept)[:-1]
    assert "not assessable" == kept["detail"].status


def test_an_attack_that_may_use_unread_people_outside_says_nothing():
    result = attack()
    findings = Findings.of(result, result.findings())
    kept = withhold_figures(findings, Unreadable(others={"age": "why"}))
    assert [("why", 0)] == [(one.reason, one.exposed) for one in kept.attacks]
    assert {"not assessable"} == {one.status for one in kept}
