"""What the auditor says where it cannot say much, and what its figures mean, on tables of one page."""

import attrs
import numpy as np
import pandas as pd
import pytest

from anonloom import AuditInput, Column, Release, Schema, StageContext, Table
from anonloom_intersection.auditor import NO_SENSITIVE, Intersection
from anonloom_intersection.candidates import Attack

SCHEMA = Schema(
    (
        Column(name="age", role="quasi", type="number"),
        Column(name="illness", role="sensitive"),
    )
)
PEOPLE = pd.DataFrame(
    {
        "age": [30, 31, 32, 33, 34, 35, 36, 37],
        "illness": ["flu", "gout", "asthma", "flu", "angina", "asthma", "gout", "gout"],
    }
)


def people():
    return Table.build(PEOPLE, SCHEMA)


def published(table, *bounds, members=None):
    """Publish ages in intervals from each bound to before the next."""
    members = np.arange(len(table)) if members is None else np.array(members)
    rows = table.frame.iloc[members]
    intervals = pd.IntervalIndex.from_breaks(bounds, closed="left")
    found = intervals[intervals.get_indexer(rows["age"])]
    cells = [f"[{int(cell.left)}, {int(cell.right) - 1}]" for cell in found]
    frame = pd.DataFrame({"age": pd.Categorical(cells), "illness": rows["illness"].to_list()})
    return Release(schema=table.schema, frame=frame, origin=table.origin[members])


def case_of(*releases, **evidence):
    return AuditInput(
        release=releases[0],
        original=people(),
        other_releases=releases[1:],
        **evidence,
    )


def audit(case, **parameters):
    return Intersection(**parameters).audit(case, StageContext())


def values(findings, *names):
    return [findings[name].value for name in names]


def reason(findings, name):
    finding = findings[name]
    assert (None, "not assessable") == (finding.value, finding.status)
    return finding.assumptions[0]


@pytest.fixture
def two():
    """Classes of four, and of three, two and three: both 2-diverse, 33 and 34 are left with one."""
    table = people()
    return published(table, 30, 34, 38), published(table, 30, 33, 35, 38)


def test_two_diverse_releases_disclose_who_is_in_the_overlap_of_two_classes(two):
    findings = audit(case_of(*two))
    assert [8, 0.25, 0] == values(findings, "people_attacked", "disclosed", "disclosed_single")
    assert [2, 0] == values(findings, "people_disclosed.illness", "people_disclosed_single.illness")
    assert [2, 0] == values(findings, "people_below_l.illness", "people_below_l_single.illness")
    assert "2 of 8 people attacked" in findings["disclosed"].assumptions
    (rows,) = [rows for rows in findings.private if rows.name == "below_l.illness"]
    assert ([3, 4], [1.0, 1.0]) == (rows.rows.tolist(), rows.scores.tolist())


def test_whoever_publishes_is_warned(two):
    context = StageContext()
    Intersection().audit(case_of(*two), context)
    Intersection().audit(case_of(two[0], two[0]), context)
    assert [
        "the releases together leave fewer than 2 values of 'illness' for 2 people, which none of "
        "them does by itself"
    ] == [notice.text for notice in context.found if notice.privacy]


def test_a_value_counts_as_often_as_both_releases_have_it():
    table = people()
    attack = Attack.prepare(table, [published(table, 30, 38), published(table, 30, 34, 38)])
    # All eight rows, and those of the first four: flu twice, gout and asthma once.
    assert [4] * 4 == attack.candidates("illness").rows[:4].tolist()
    assert [3] * 4 == attack.candidates("illness").values[:4].tolist()


def test_the_chart_counts_the_people_by_the_values_that_are_left(two):
    (chart,) = audit(case_of(*two)).charts
    assert {
        "labels": ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10 or more"],
        "one release": [0.0, 0.625, 0.375, *[0.0] * 7],
        "all releases": [0.25, 0.375, 0.375, *[0.0] * 7],
    } == dict(chart.data)


@pytest.mark.parametrize(
    ("declared", "parameters", "least", "rows"),
    [(None, {}, 2, 2), (3, {}, 2, 3), (3, {"l": 4, "k": 5}, 4, 5)],
)
def test_l_and_k_are_what_the_releases_keep_unless_they_are_declared(
    two, declared, parameters, least, rows
):
    findings = audit(case_of(*two, demanded=declared), **parameters)
    assert [
        f"Number of people for whom fewer than {least} values of 'illness' are left when all "
        "releases are put together.",
        f"Number of people for whom fewer than {rows} rows with a possible value of 'illness' are left "
        "when all releases are put together.",
    ] == [findings[f"people_below_{name}.illness"].meaning for name in "lk"]


def test_newcomers_are_what_a_release_has_more_than_an_earlier_one():
    table = people()
    earlier = published(table, 30, 33, 38, members=[0, 1, 2, 4, 5, 6])
    later = published(table, 30, 34, 38)
    findings = audit(case_of(later, earlier))
    # Row 3 joins three people whose values are known as a set; row 7 joins three others.
    assert [2, 0] == values(
        findings, "newcomers_disclosed.illness", "newcomers_disclosed_single.illness"
    )
    (rows,) = [rows for rows in findings.private if rows.name == "newcomers_below_l.illness"]
    assert [3, 7] == rows.rows.tolist()
    assert (
        "2 people are in one release and not in another"
        in findings["newcomers_disclosed.illness"].assumptions
    )


def test_without_origins_everybody_is_attacked_and_nobody_is_new(two):
    release, other = two
    findings = audit(case_of(release, attrs.evolve(other, origin=None)))
    assert (
        "nobody says who is in 1 of the 2 releases: everybody of the original whom they cover is "
        "taken for a member"
    ) in findings["disclosed"].assumptions
    assert "nobody says who is in two of the releases" == reason(
        findings, "newcomers_below_l.illness"
    )


def test_where_all_are_in_both_releases_nobody_is_new(two):
    assert "nobody is known to be in one release and not in another" == reason(
        audit(case_of(*two)), "newcomers_below_l.illness"
    )


def test_an_attacker_who_does_not_know_the_members_attacks_everybody():
    table = people()
    releases = published(table, 30, 34, 38, members=range(6)), published(table, 30, 33, 35, 38)
    assert [6, 8] == [
        audit(case_of(*releases), known_members=known)["people_attacked"].value
        for known in (True, False)
    ]


def test_people_outside_are_the_baseline(two):
    control = PEOPLE.assign(illness="flu").iloc[[3, 3, 4, 0]]
    findings = audit(case_of(*two, control=Table.build(control, SCHEMA)))
    # Those of 33 whose one candidate is flu happen to have it; at 34 the one candidate is angina.
    assert 0.5 == findings["disclosed_control"].value
    assert "2 of 4 people outside the releases" in findings["disclosed"].assumptions


def test_suppressed_rows_say_nothing(two):
    release, other = two
    frame = pd.concat(
        [other.frame.astype(object), pd.DataFrame({"age": ["*"] * 3, "illness": [None] * 3})]
    )
    frame = frame.reset_index(drop=True).astype({"age": "category"})
    longer = attrs.evolve(other, frame=frame, origin=None)
    assert 0.25 == audit(case_of(release, longer))["disclosed"].value


def test_releases_that_change_values_are_not_assessable(two):
    release, other = two
    findings = audit(case_of(release, attrs.evolve(other, truthful=False)))
    expected = "other release 1 changes values or makes them up: nothing follows from it"
    assert {expected} == {reason(findings, finding.name) for finding in findings}
    assert ((), ()) == (findings.charts, findings.private)


def test_a_release_that_does_not_cover_its_people_is_not_assessable(two):
    release, other = two
    moved = other.frame.assign(age=pd.Categorical(["[50, 60]"] * 8))
    unknown = attrs.evolve(other, frame=moved, origin=None)
    expected = (
        "other release 1 has 8 people of the original, and only 0 of the original's people lie in "
        "its rows: values are changed, or the rows are others'"
    )
    for foreign in (unknown, attrs.evolve(other, frame=moved)):
        assert expected == reason(audit(case_of(release, foreign)), "disclosed")


def test_a_release_that_swaps_sensitive_values_is_not_assessable(two):
    release, other = two
    swapped = attrs.evolve(other, frame=other.frame.assign(illness="flu"))
    assert (
        "other release 1 lacks the sensitive value of 6 of its 8 people where their "
        "quasi-identifiers are: values are changed"
    ) == reason(audit(case_of(release, swapped)), "disclosed")


def test_cells_that_nobody_can_read_make_every_figure_not_assessable(two):
    release, other = two
    cells = other.frame["age"].astype(str).to_list()
    unread = other.frame.assign(age=pd.Categorical([*cells[:-1], "##"]))
    findings = audit(case_of(release, attrs.evolve(other, frame=unread)))
    expected = "column 'age': 1 of 8 cells of other release 1 cannot be read"
    assert expected == reason(findings, "people_below_l.illness")


def test_a_table_without_sensitive_columns_has_nothing_to_disclose(two):
    assert NO_SENSITIVE == Intersection().problem(Schema(SCHEMA.columns[:1]))
    lacking = attrs.evolve(two[1], frame=two[1].frame[["age"]])
    findings = audit(case_of(two[0], lacking))
    expected = "no two of the releases show the same sensitive column"
    assert expected == reason(findings, "disclosed")


def test_a_release_without_some_quasi_identifier_is_intersected_by_what_it_shows(two):
    release, other = two
    silent = attrs.evolve(other, frame=other.frame[["illness"]])
    assert 0 == audit(case_of(release, silent))["disclosed"].value
