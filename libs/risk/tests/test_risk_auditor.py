"""A copy is found, strangers are not, and an attack that fails a self-test says nothing."""

import attrs
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from risk_people import SCHEMA, case, context, frame, published, table
from risk_toy_attacks import Cheat, Guess, Nearest, Presence, Silent, Talkative

from anonloom import Column, Finding, Findings, Schema, Table
from anonloom_risk.control import chance_to_be_less


def result_of(method, evidence, seed=5):
    findings = method().audit(evidence, context(seed))
    return findings.attacks[0], findings


COPY = frame(400, 1)


def evidence(release, control=2, **more):
    held = None if control is None else table(400, control)
    return case(table(400, 1), published(release), held, **more)


def test_a_copy_is_found_as_a_whole():
    result, findings = result_of(Nearest, evidence(COPY))

    assert (1.0, "control", "") == (result.risk, result.baseline_kind, result.reason)
    assert (400, 400) == (result.people, result.exposed)
    assert set(range(400)) == set(findings.private[0].rows.tolist())


def test_a_copy_is_found_without_a_control():
    result, _ = result_of(Nearest, evidence(COPY, control=None))

    assert ("leave-one-out", "") == (result.baseline_kind, result.reason)
    assert result.risk >= 0.95


def test_a_copy_is_found_where_half_of_the_people_have_twins():
    original = table(1000, 1, alike=0.5)
    release = published(frame(1000, 1, alike=0.5))

    result, _ = result_of(Nearest, case(original, release, table(1000, 2, alike=0.5)))

    assert result.success == 1.0
    assert 0.4 < result.baseline < 0.6
    assert result.risk == 1.0


@pytest.mark.parametrize("control", [2, None])
def test_strangers_are_not_blamed(control):
    result, findings = result_of(Nearest, evidence(frame(400, 3), control))

    low, high = result.interval()
    assert "" == result.reason
    assert low <= 0 <= high
    assert 0 == result.exposed
    assert () == findings.private


def test_strangers_are_not_blamed_in_19_of_20_draws():
    original, held = table(300, 1), table(300, 2)
    releases = [published(frame(300, 100 + seed)) for seed in range(20)]

    results = [result_of(Nearest, case(original, item, held), 7)[0] for item in releases]

    assert sum(result.interval()[0] <= 0 for result in results) >= 19


def test_a_leak_is_found_with_its_rows():
    own, release = frame(2000, 1), frame(2000, 3)
    release.iloc[:200] = own.iloc[:200].to_numpy()
    leaking = published(release.astype(own.dtypes.to_dict()))

    result, findings = result_of(Nearest, case(table(2000, 1), leaking, table(2000, 2)))

    found = set(findings.private[0].rows.tolist())
    assert result.interval()[0] > 0
    assert len(found & set(range(200))) >= 140
    # Found twice as often as outside: about half of them by chance.
    assert len(found - set(range(200))) <= 160


def test_noise_lowers_the_risk_step_by_step():
    rng = np.random.default_rng(4)
    noise = rng.normal(size=(400, 2)) * np.array([20.0, 500.0])
    risks = []
    for strength in (0.01, 0.1, 0.3, 2.0):
        release = COPY.astype({"age": float, "income": float})
        release[["age", "income"]] += strength * noise
        risks.append(result_of(Nearest, evidence(release))[0].risk)

    assert sorted(risks, reverse=True) == risks
    assert risks[0] > 0.9 > 0.5 > risks[-1]


def test_an_attack_that_finds_nobody_says_nothing():
    result, findings = result_of(Silent, evidence(COPY))

    expected = (
        "of a copy of the original the attack finds 0% of the people beyond chance, where 100% can "
        "be found: it is too weak, or people are too much alike"
    )
    assert expected == result.reason
    assert (None, "not assessable") == (
        findings["nearest_risk"].value,
        findings["nearest_risk"].status,
    )
    assert 0 == result.exposed


def test_an_attack_that_looks_up_who_is_inside_says_nothing():
    result, _ = result_of(Cheat, evidence(frame(400, 3)))

    expected = (
        "the attack claims to find 80% to 100% of people who are not in the table that it attacks"
    )
    assert expected == result.reason


def test_people_who_are_all_alike_cannot_be_assessed():
    rows = pd.concat([COPY.iloc[:1]] * 400, ignore_index=True)
    alike = Table.build(rows, SCHEMA)

    result, _ = result_of(Nearest, case(alike, published(rows), alike))

    assert result.reason == (
        "of a copy of the original the attack finds 0% of the people beyond chance, where 100% can "
        "be found: it is too weak, or people are too much alike"
    )


def test_a_column_that_cannot_be_read_is_named():
    unread = {"age": 5, "income": 4}

    result, _ = result_of(Nearest, evidence(COPY, unread=unread))

    assert "column 'age': 5 of 400 cells of the release cannot be read" == result.reason
    assert "" == result_of(Nearest, evidence(COPY, unread={"income": 4}))[0].reason


def test_membership_needs_people_who_are_not_in_the_release():
    result, _ = result_of(Presence, evidence(COPY, control=None))

    assert result.reason == (
        "not assessable without --control: membership is judged on people who are not in the "
        "release"
    )
    assert result_of(Presence, evidence(COPY))[0].risk > 0.95


def test_a_baseline_above_the_success_needs_a_control():
    release = COPY.assign(age=40.0, income=2000.0, town="t1")

    result, _ = result_of(Nearest, evidence(release, control=None))

    assert result.reason == (
        "not assessable without --control: the original's other people are found more often than "
        "these in the release, which therefore changes values or makes them up"
    )


def test_an_attack_is_measured_by_what_can_be_attained():
    result, _ = result_of(Guess, evidence(COPY))

    assert "" == result.reason
    assert result.copy == pytest.approx(0.5, abs=0.02)


def test_the_same_people_are_attacked_by_every_auditor():
    whole = table(700, 1)
    limited = case(whole, published(frame(700, 1)), table(700, 2), attacked=100)

    first = Nearest().audit(limited, context())
    second = Talkative().audit(limited, attrs.evolve(context(), stage="another"))

    assert 100 == first.attacks[0].people
    people = set(limited.people_attacked(context().seed).tolist())
    assert set(first.private[0].rows.tolist()) <= people
    assert set(second.private[0].rows.tolist()) <= people


def test_details_stand_beside_the_attacks():
    _, findings = result_of(Talkative, evidence(COPY))

    assert 1 == findings["more"].value


def test_a_table_of_few_people_is_not_attacked():
    few = table(19, 1)

    assert () == Nearest().audit(case(few, published(frame(19, 1))), context()).items


def test_truth_decides_whose_a_row_is():
    original = table(400, 1)
    release = published(COPY)
    # Everybody is published under the values of the next person.
    swapped = case(original, release, table(400, 2), truth=np.roll(np.arange(400), 1))

    result, _ = result_of(Nearest, swapped)

    assert "" == result.reason
    assert result.success < 0.05


def test_figures_say_who_was_attacked_and_what_they_are_compared_with():
    result, findings = result_of(Nearest, evidence(COPY, control=None))
    risk = findings["nearest_risk"]

    assert risk.key
    assert (
        "1 of 400 people attacked are found",
        f"{result.baseline:.4g} of 40 people of the original who are left out of the release, a "
        "weaker baseline than people who never were in it",
    ) == risk.assumptions
    assert (
        "Linkability: share of the people who are found because of the release, of those whom "
        "chance would not find. An attacker names the nearest row."
    ) == risk.meaning


def test_where_chance_is_always_right_there_is_nothing_to_find():
    original = table(400, 1)
    known = case(original, published(COPY), table(400, 2))

    class Knows(Guess):
        def attack(self, case, targets, context):
            answers = super().attack(case, targets, context)[0]
            sure = np.full(len(targets), 0.8)
            return [attrs.evolve(answers, right=sure, score=0 * sure, attainable=sure)]

    expected = "chance alone is right as often as an attacker can be: there is nothing to find"
    assert expected == result_of(Knows, known)[0].reason


# --- a control that is none ----------------------------------------------------------------------


def test_a_control_of_the_original_s_own_people_says_nothing():
    mixed = pd.concat([frame(400, 2).iloc[:360], COPY.iloc[:40]], ignore_index=True)
    evidence_ = case(table(400, 1), published(COPY), Table.build(mixed, SCHEMA))

    result, _ = result_of(Nearest, evidence_)

    assert result.reason == (
        "40 of 400 rows of the control equal rows of the original, more than twins explain"
    )


def test_twins_of_the_original_may_be_in_the_control():
    original = table(1000, 1, alike=0.5)
    held = table(1000, 2, alike=0.5)

    result, _ = result_of(Nearest, case(original, published(frame(1000, 1, alike=0.5)), held))

    assert "" == result.reason


def test_a_control_of_changed_copies_of_the_original_says_nothing():
    copies = frame(400, 1).astype({"income": float})
    copies["income"] += 1.5

    result, _ = result_of(
        Nearest, case(table(400, 1), published(COPY), Table.build(copies, SCHEMA))
    )

    assert result.reason == (
        "people of the control are nearer to people of the original than these are to each other "
        "(chance 1.00 to be nearer): they are copies of them, perhaps changed ones"
    )


def test_a_control_of_another_population_says_nothing():
    others = frame(400, 2).assign(age=lambda people: people["age"] + 60)

    result, _ = result_of(
        Nearest, case(table(400, 1), published(COPY), Table.build(others, SCHEMA))
    )

    assert result.reason == (
        "people of the control are farther from people of the original than these are to each other "
        "(chance 0.14 to be nearer): they are of another population"
    )


@given(st.lists(st.integers(0, 5), min_size=1), st.lists(st.integers(0, 5), min_size=1))
def test_the_chance_to_be_less_is_that_of_all_pairs(first, second):
    pairs = [(a < b) + (a == b) / 2 for a in first for b in second]

    result = chance_to_be_less(np.array(first, float), np.array(second, float))

    assert sum(pairs) / len(pairs) == pytest.approx(result)


def test_persons_of_the_original_are_not_in_the_control():
    schema = Schema((*SCHEMA, Column(name="number", role="person")))
    first = frame(300, 1).assign(number=np.arange(300))
    second = frame(300, 2).assign(number=np.arange(300) + 290)
    original, held = Table.build(first, schema), Table.build(second, schema)

    result, _ = result_of(Nearest, case(original, published(frame(300, 3)), held))

    assert "10 rows of the control are of persons of the original" == result.reason


class Examined(Nearest):
    """Says what it was told of its answers."""

    def examine(self, result, inside, outside, context):
        count = (len(inside.score), len(outside.score), len(inside.isolation))
        return Findings.of(Finding(name=f"{result.name}_seen", value=str(count), meaning="Seen."))

    def attack(self, case, targets, context):
        answers = super().attack(case, targets, context)
        return [attrs.evolve(one, isolation=np.arange(len(targets)) * 1.0) for one in answers]


def test_answers_about_the_release_are_examined_where_there_is_a_control():
    _, findings = result_of(Examined, evidence(COPY))
    _, without = result_of(Examined, evidence(COPY, control=None))

    assert "(400, 200, 400)" == findings["nearest_seen"].value
    assert "nearest_seen" not in without
