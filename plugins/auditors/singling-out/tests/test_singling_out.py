"""Singling out: a copy isolates everybody, strangers nobody, classes of k nobody."""

import attrs
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonloom import AuditInput, Classes, Column, Release, Schema, StageContext, Table
from anonloom.errors import ParameterError
from anonloom_singling_out.auditor import SinglingOut

SCHEMA = Schema(
    (
        Column(name="weight", role="quasi", type="number"),
        Column(name="town", role="quasi"),
        Column(name="job", role="quasi"),
        Column(name="illness", role="sensitive"),
    )
)


def people(rows, seed):
    """Weights of one decimal, of which the large ones are rare."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "weight": (60 + 12 * rng.standard_normal(rows) ** 2).round(1),
            "town": rng.choice(list("abcdefgh"), rows),
            "job": rng.choice([f"j{index}" for index in range(12)], rows),
            "illness": rng.choice(["flu", "gout"], rows),
        }
    )
    return Table.build(frame, SCHEMA)


def published(frame):
    return attrs.evolve(Release.as_it_is(Table.build(frame, SCHEMA)), origin=None)


def findings(original, frame, control=None, **parameters):
    case = AuditInput(published(frame), original=original, control=control)
    return SinglingOut(**parameters).audit(case, StageContext(seed=2))


def attacks(*given, **parameters):
    return {attack.name: attack for attack in findings(*given, **parameters).attacks}


def test_a_copy_singles_everybody_out_and_strangers_nobody():
    original, others, control = (people(800, seed) for seed in (1, 2, 3))

    of_copy = attacks(original, original.frame, control)
    of_others = attacks(original, others.frame, control)

    assert ["univariate", "multivariate"] == list(of_copy)
    assert {"singling out"} == {attack.question for attack in of_copy.values()}
    assert 1.0 == of_copy["multivariate"].success
    assert of_copy["multivariate"].risk > 0.95
    assert of_copy["univariate"].interval()[0] > 0
    for attack in of_others.values():
        low, high = attack.interval()
        assert "" == attack.reason
        assert low < 0.02 < high + 0.02


def test_the_weight_of_one_person_is_a_predicate_though_no_row_is_anybodys():
    """Columns are shuffled: conjunctions find nobody, rare weights are still those of people."""
    original, control = people(800, 1), people(800, 3)
    rng = np.random.default_rng(0)
    frame = original.frame.apply(lambda column: rng.permutation(column))

    result = attacks(original, frame, control)

    weights = original.frame["weight"]
    alone = (weights.map(weights.value_counts()) == 1).mean()
    assert alone == pytest.approx(result["univariate"].success, abs=0.01)
    assert result["univariate"].baseline < 0.01
    assert result["multivariate"].interval()[0] <= 0.02


def test_numbers_that_were_moved_a_little_are_found_by_intervals():
    original, control = people(800, 1), people(800, 3)
    noise = np.random.default_rng(0).normal(0, 0.3, 800)
    frame = original.frame.assign(weight=(original.frame["weight"] + noise).round(1))

    result = attacks(original, frame, control)

    assert result["multivariate"].interval()[0] > 0.4


def test_who_is_exposed_is_listed_with_the_attack():
    original, control = people(400, 1), people(400, 3)

    found = findings(original, original.frame, control)

    listed = {rows.name: rows.rows for rows in found.private}
    assert {"univariate_exposed", "multivariate_exposed"} == set(listed)
    weights = original.frame["weight"]
    unique = np.flatnonzero(weights.map(weights.value_counts()) == 1)
    assert set(listed["univariate_exposed"]) <= set(unique)


def in_classes(original, order, size=5):
    """Publish classes of consecutive people, each with the least cells that cover them."""
    labels = np.empty(len(original), np.int64)
    labels[order] = np.arange(len(original)) // size
    classes = Classes.from_labels(labels)
    lo, hi = classes.extents(original.codes)
    cells = [axis.publish(lo[:, at], hi[:, at]) for at, axis in enumerate(original.axes)]
    release = Release.from_cells(original, classes, cells, truthful=True)
    return attrs.evolve(release, origin=None)


def worst_in_classes(original, order):
    case = AuditInput(in_classes(original, order), original=original, control=people(300, 3))
    result = SinglingOut().assess(case, StageContext(seed=2)).attacks
    assert ["", ""] == [attack.reason for attack in result]
    return max(attack.interval()[0] for attack in result)


def test_classes_that_divide_the_people_single_nobody_out():
    original = people(300, 1)

    assert worst_in_classes(original, np.argsort(original.frame["weight"], kind="stable")) < 0.02


def test_intervals_that_overlap_and_end_at_people_single_some_of_them_out():
    """Whoever lies in one published interval and in no narrower one may be alone there."""
    original = people(300, 1)

    assert worst_in_classes(original, np.lexsort([original.frame["job"], original.frame["town"]])) > 0.02  # fmt: skip


def test_predicates_are_counted_as_anonymeter_counts_them():
    original, others, control = (people(800, seed) for seed in (1, 2, 3))

    of_copy = findings(original, original.frame, control, predicates=100)
    of_others = findings(original, others.frame, control)
    alone = findings(original, original.frame)

    for name in ("univariate", "multivariate"):
        assert 1.0 == of_copy[f"{name}_predicates"].value
        assert of_others[f"{name}_predicates"].value < 0.5
        assert of_copy[f"{name}_predicates_in_control"].value < 0.5
        assert "not assessable" == alone[f"{name}_predicates_in_control"].status
        assert ("there is no control",) == alone[f"{name}_predicates_in_control"].assumptions[:1]
    weights = original.frame["weight"]
    unique = int((weights.value_counts() == 1).sum())
    assert (f"{unique} predicates, each of which matches one row of the release",) == (
        of_copy["univariate_predicates"].assumptions
    )
    assert ("100 predicates, each of which matches one row of the release",) == (
        of_copy["multivariate_predicates"].assumptions
    )


def test_a_sensitive_column_is_no_part_of_a_predicate_unless_it_is_named():
    original, control = people(300, 1), people(300, 3)
    shuffled = original.frame.assign(illness=original.frame["illness"].to_numpy()[::-1])

    by_default = attacks(original, shuffled, control)
    named = attacks(original, shuffled, control, columns=("weight", "town", "job", "illness"))

    assert by_default["multivariate"].success > named["multivariate"].success


@given(st.integers(0, 100))
def test_every_score_and_answer_is_a_number(seed):
    rng = np.random.default_rng(seed)
    frame = people(40, seed).frame
    frame.loc[rng.random(40) < 0.2, "town"] = None
    schema = Schema(tuple(attrs.evolve(column, missing="own") for column in SCHEMA))
    table = Table.build(frame, schema)
    case = AuditInput(Release.as_it_is(table), original=table)

    for answers in SinglingOut().attack(case, table, StageContext(seed=seed)):
        assert set(answers.right.tolist()) <= {0.0, 1.0}
        assert not np.isnan(answers.score).any()


def test_without_a_shared_column_there_is_no_answer():
    original = people(200, 1)
    release = published(original.frame)
    release = attrs.evolve(release, frame=release.frame[["illness"]])

    found = SinglingOut().audit(AuditInput(release, original=original), StageContext(seed=1))

    assert ["not assessable"] * 2 == [found[f"{name}_risk"].status for name in ("univariate", "multivariate")]  # fmt: skip


def test_a_column_that_is_not_published_is_refused():
    assert (
        "column 'shoe' is not declared; published are: 'weight', 'town', 'job', 'illness'"
        == SinglingOut(columns=("shoe",)).problem(SCHEMA)
    )


def test_a_number_of_predicates_that_says_nothing_is_refused():
    with pytest.raises(ParameterError) as refused:
        SinglingOut(predicates=0)
    assert (
        "The 'predicates' parameter of SinglingOut must be an integer of at least 1. Got 0 instead."
        == str(refused.value)
    )
