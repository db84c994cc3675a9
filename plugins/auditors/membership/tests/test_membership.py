"""A copy is found, strangers are not, a leak is; and what the figures say."""

import numpy as np
import pandas as pd
import pytest
from membership_population import (
    SCHEMA,
    context,
    evidence,
    frame,
    in_classes,
    published,
    table,
    twins,
)

from anonloom_membership.auditor import Membership
from anonloom_membership.roc import area_under_curve

FIGURES = (
    "density_ratio_auc",
    "density_ratio_tpr_1",
    "density_ratio_tpr_01",
    "density_ratio_epsilon",
    "density_ratio_worst_tenth_auc",
    "density_ratio_worst_tenth_tpr_1",
)


def audit(original, release, control, **parameters):
    findings = Membership(**parameters).audit(evidence(original, release, control), context())
    return findings.attacks[0], findings


def test_a_copy_is_found_as_a_whole():
    result, findings = audit(frame(1500, 1), published(frame(1500, 1)), frame(1500, 2))

    assert ("density_ratio", "membership", "") == (result.name, result.question, result.reason)
    assert result.risk > 0.98
    assert findings["density_ratio_auc"].value > 0.99
    assert findings["density_ratio_epsilon"].value > 3
    assert "bound" == findings["density_ratio_epsilon"].status


def test_a_copy_is_found_where_half_of_the_people_have_twins():
    result, _ = audit(twins(2000, 1), published(twins(2000, 1)), twins(2000, 2))

    assert 0.45 < result.baseline < 0.55
    assert result.risk > 0.98
    assert "" == result.reason


def test_strangers_are_not_blamed():
    result, findings = audit(frame(1500, 1), published(frame(1500, 3)), frame(1500, 2))

    low, high = result.interval()
    assert "" == result.reason
    assert low <= 0 <= high
    low, high = findings["density_ratio_auc"].interval
    assert low <= 0.5 <= high
    assert 0.0 == findings["density_ratio_epsilon"].value


def test_the_leak_of_a_twentieth_is_found_with_its_rows():
    own, release = frame(3000, 1), frame(3000, 3)
    release.iloc[:150] = own.iloc[:150].to_numpy()

    result, findings = audit(own, published(release.astype(own.dtypes.to_dict())), frame(3000, 2))

    assert result.interval()[0] > 0
    assert findings["density_ratio_tpr_1"].value > 0.03
    found = findings.private[0].rows[:100]
    assert np.mean(found < 150) > 0.7


def test_noise_is_found_the_less_the_more_there_is():
    own, rng = frame(2000, 1), np.random.default_rng(1)
    areas = []
    for strength in (0.02, 0.1, 0.5):
        moved = own.assign(
            age=(own["age"] + strength * rng.normal(0, 20, 2000)).round().astype(int),
            rent=(own["rent"] + strength * rng.normal(0, 180, 2000)).round().astype(int),
        )
        findings = audit(own, published(moved), frame(2000, 2))[1]
        areas.append(findings["density_ratio_auc"].value)

    assert areas == sorted(areas, reverse=True)
    assert areas[0] > 0.95
    assert areas[2] > 0.5


def test_what_is_unusual_is_found_best():
    own, rng = frame(3000, 1), np.random.default_rng(1)
    moved = own.assign(rent=(own["rent"] + rng.normal(0, 20, 3000)).round().astype(int))

    _, findings = audit(own, published(moved), frame(3000, 2))

    assert findings["density_ratio_worst_tenth_auc"].value > findings["density_ratio_auc"].value


@pytest.mark.parametrize("size", [5, 50])
def test_a_generalized_release_is_assessed_and_tells_little(size):
    result, findings = audit(frame(1500, 1), in_classes(frame(1500, 1), size), frame(1500, 2))

    assert "" == result.reason
    assert result.risk < 0.3
    assert 0.4 < findings["density_ratio_auc"].value < 0.9
    reason = "cells of the release stand for several values"
    assert (None, "not assessable") == (findings["values_auc"].value, findings["values_auc"].status)
    assert reason in findings["values_auc"].assumptions


def test_regions_of_few_people_tell_who_is_in_them():
    # Everybody in a class with her twin alone: who is covered is inside.
    pairs = pd.concat([frame(700, 1), frame(700, 1)], ignore_index=True)
    narrow = pairs.assign(rent=pairs["rent"] + np.repeat([0, 1], 700))

    result, _ = audit(narrow, in_classes(narrow, 2), frame(1400, 2))

    assert result.risk > 0.3


def test_values_tell_where_a_release_repeats_them_and_rows_do_not():
    own, rng = frame(1500, 1), np.random.default_rng(1)
    own["rent"] = rng.integers(0, 10**6, 1500)
    others = [frame(1500, seed).assign(rent=rng.integers(0, 10**6, 1500)) for seed in (2, 3)]
    drawn = pd.DataFrame({name: rng.permutation(own[name]) for name in own})

    result, findings = audit(own, published(drawn), others[0])
    independent = audit(own, published(others[1]), others[0])[1]

    assert result.interval()[0] <= 0
    assert findings["values_auc"].value > 0.95
    low, high = independent["values_auc"].interval
    assert low <= 0.5 <= high


def test_of_strangers_two_fifths_are_never_claimed():
    case = evidence(frame(600, 1), published(frame(600, 3)), frame(600, 2))

    answers = Membership().attack(case, table(frame(600, 4)), context())[0]

    assert 0.5 < answers.right.mean() < 0.7
    assert answers.score[answers.right == 1].min() > answers.score[answers.right == 0].max()


def test_without_a_control_nothing_is_said():
    result, findings = audit(frame(400, 1), published(frame(400, 1)), None)

    assert (
        "not assessable without --control: membership is judged on people who are not in the "
        "release"
    ) == result.reason
    assert not any(name in findings for name in FIGURES)
    assert ("not assessable without --control",) == findings["values_auc"].assumptions


def test_figures_are_those_of_the_people_attacked():
    _, findings = audit(frame(400, 1), published(frame(400, 1)), frame(400, 2))

    assert all(name in findings for name in FIGURES)
    assert "400 people inside, 200 outside" in findings["density_ratio_auc"].assumptions
    assert (
        "it takes at least 1,000 people outside; there are 200"
        in findings["density_ratio_tpr_01"].assumptions
    )
    assert ["density_ratio_roc"] == [chart.name for chart in findings.charts]


def test_where_the_attack_is_unfit_its_figures_are_not_assessable():
    # Only a few kinds of people: everybody equals somebody.
    alike = frame(600, 1).assign(age=40, rent=500, area="north", illness="flu")

    result, findings = audit(alike, published(alike), alike)

    assert result.reason
    assert {"not assessable"} == {findings[name].status for name in FIGURES}


def test_the_attacker_may_know_some_columns_only():
    result, findings = audit(
        frame(600, 1), published(frame(600, 1)), frame(600, 2), columns=("age", "area")
    )

    assert findings.attacks[0].baseline > 0.5
    whole = audit(frame(600, 1), published(frame(600, 1)), frame(600, 2))[1]
    assert whole["density_ratio_auc"].value > findings["density_ratio_auc"].value
    assert result.name == "density_ratio"


def test_columns_that_are_not_published_are_refused():
    assert (
        "column 'height' is not declared; published are: 'age', 'rent', 'area', 'illness'"
    ) == Membership(columns=("height",)).problem(SCHEMA)


def test_few_people_are_compared_by_distance_alone():
    result, _ = audit(frame(200, 1), published(frame(200, 1)), frame(200, 2))

    assert "" == result.reason
    assert result.copy > 0.9


def test_a_release_of_one_row_finds_nobody():
    result, _ = audit(frame(400, 1), published(frame(1, 3)), frame(400, 2))

    assert result.risk < 0.1


def test_scores_tell_people_apart_better_than_the_distance_alone():
    own, rng = frame(3000, 1), np.random.default_rng(1)
    moved = own.assign(
        age=(own["age"] + rng.normal(0, 2, 3000)).round().astype(int),
        rent=(own["rent"] + rng.normal(0, 18, 3000)).round().astype(int),
    )
    case = evidence(own, published(moved), frame(1500, 2))
    targets = table(pd.concat([own, frame(3000, 4)], ignore_index=True))

    scores = Membership().attack(case, targets, context())[0].score

    def points(people):
        numbers = people[["age", "rent"]].to_numpy(float)
        areas = pd.get_dummies(people[["area", "illness"]]).to_numpy(float)
        return np.column_stack([(numbers - numbers.mean(0)) / numbers.std(0), areas])

    asking, asked = points(targets.frame), points(moved)
    nearest = np.array([((asked - one) ** 2).sum(axis=1).min() for one in asking])
    ours = area_under_curve(scores[:3000], scores[3000:]).value
    assert ours > area_under_curve(-nearest[:3000], -nearest[3000:]).value
