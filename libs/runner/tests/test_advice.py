"""What would help follows from facts."""

import pandas as pd
from runner_attack_results import attack

from anonloom import AuditInput, Column, Finding, Findings, Schema, Table
from anonloom_runner.advice import advice_of
from anonloom_runner.external import release_from
from anonloom_runner.headline import attack_data, question_headlines

SCHEMA = Schema((Column(name="id", role="quasi"), Column(name="town", role="quasi")))


def case(ids, control=True):
    frame = pd.DataFrame({"id": ids, "town": ["a", "b"] * (len(ids) // 2)})
    table = Table.build(frame, SCHEMA)
    return AuditInput(
        release=release_from(frame, SCHEMA), original=table, control=table if control else None
    )


def advice(evidence, attacks, findings=None, changes=()):
    questions = question_headlines(attacks, {})
    data = [attack_data(item, 0.95) for item in attacks]
    return advice_of(evidence, findings or {}, questions, data, changes, 0.09)


LOOK = "Look at the people who are found: the private folder lists them, surest first."


def test_columns_that_make_rows_stand_alone_are_named_with_what_would_be_left():
    assert [
        "Make 'id' coarser, or leave it out: 100 % of the rows look like fewer than 4 others, "
        "without it 0 %.",
        LOOK,
    ] == advice(case([str(index) for index in range(20)]), [attack()])


def test_what_an_attacker_says_of_columns_goes_first():
    found = Findings.of(
        Finding(name="ablation.town", value=0.3, interval=(0.2, 0.4), meaning="It falls."),
        Finding(name="ablation.id", value=0.1, interval=(-0.1, 0.4), meaning="It may fall."),
        Finding(name="ablation.x", value=0.01, interval=(0.005, 0.02), meaning="It hardly does."),
    )
    assert [
        "Make 'town' coarser, or leave it out: without it attackers find 30 % of the people less.",
        LOOK,
    ] == advice(case([str(index) for index in range(20)]), [attack()], {"cvpl": found})


def test_groups_that_are_large_already_can_be_larger():
    assert [
        "Ask for larger groups: the smallest group of rows that look alike has 10 members.",
        LOOK,
    ] == advice(case(["x"] * 20), [attack()])


def test_of_values_that_were_changed_those_are_named_that_were_changed_least():
    changes = [
        {"column": "id", "changed": 0.5, "at_least": False},
        {"column": "town", "changed": 0.02, "at_least": True},
    ]
    assert [
        LOOK,
        "Change more: least was changed of 'town' (at least 2 % of the cells) and 'id' (50 % of "
        "the cells).",
    ] == advice(case(["x"] * 20), [attack(exposed=20)], changes=changes)


def test_where_nobody_is_found_nothing_but_a_control_may_be_missing():
    nobody = [attack(success=0.1, exposed=0)]
    assert [] == advice(case(["x"] * 20), nobody)
    assert [
        "Audit it with people who are not in the release (--control FILE, or 'holdout' in a "
        "pipeline): 3 of 4 questions have no answer."
    ] == advice(case(["x"] * 20, control=False), nobody)


def test_where_intervals_are_wide_more_people_help():
    few = [attack(success=0.1, exposed=0, people=50, strangers=50)]
    assert [
        "Attack more people (--people all), and give a larger control: the intervals get narrower."
    ] == advice(case(["x"] * 20), few)
