"""Inference: a person's own row gives her secret away, the population's rows do not."""

import attrs
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonloom import AuditInput, Column, Release, Schema, StageContext, Table
from anonloom.errors import ParameterError
from anonloom_inference.auditor import Inference
from anonloom_inference.secrets import hard_to_guess

SCHEMA = Schema(
    (
        Column(name="age", role="quasi", type="number"),
        Column(name="height", role="quasi", type="number"),
        Column(name="town", role="quasi"),
        Column(name="illness", role="sensitive"),
    )
)


def people(rows, seed, tied=0.0):
    """Illness is drawn at random or, for a share of the people, follows from the town."""
    rng = np.random.default_rng(seed)
    town = rng.choice(list("abc"), rows)
    illness = rng.choice(["flu", "gout", "cold"], rows)
    follows = np.where(town == "a", "gout", np.where(town == "b", "flu", "cold"))
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 90, rows),
            "height": rng.normal(170, 10, rows).round(1),
            "town": town,
            "illness": np.where(rng.random(rows) < tied, follows, illness),
        }
    )
    return Table.build(frame, SCHEMA)


def published(frame, schema=SCHEMA):
    return attrs.evolve(Release.as_it_is(Table.build(frame, schema)), origin=None)


def attacks(original, release, control=None, **parameters):
    case = AuditInput(release, original=original, control=control)
    result = Inference(**parameters).audit(case, StageContext(seed=4))
    return {attack.name: attack for attack in result.attacks}


def test_a_copy_gives_everybodys_secret_away():
    original, control = people(600, 1), people(600, 3)

    result = attacks(original, published(original.frame), control)

    assert ["nearest_illness", "vote_illness"] == list(result)
    for attack in result.values():
        assert ("inference", "") == (attack.question, attack.reason)
        assert attack.success > 0.95
        assert attack.risk > 0.95


@pytest.mark.parametrize("tied", [0.0, 0.9])
def test_what_is_true_of_the_population_is_no_risk_of_the_release(tied):
    """Where illness follows from the town, strangers' rows tell it of everybody alike."""
    original, others, control = (people(600, seed, tied) for seed in (1, 2, 3))

    result = attacks(original, published(others.frame), control)

    for attack in result.values():
        low, high = attack.interval()
        assert "" == attack.reason
        assert low < 0 < high
        assert 0 == attack.exposed


def test_numbers_that_were_moved_still_lead_to_the_row():
    original, control = people(600, 1), people(600, 3)
    rng = np.random.default_rng(0)
    frame = original.frame.assign(
        height=(original.frame["height"] + rng.normal(0, 0.5, 600)).round(1)
    )

    result = attacks(original, published(frame), control)

    assert min(attack.interval()[0] for attack in result.values()) > 0.7


def test_a_number_counts_as_inferred_within_the_tolerance():
    original, control = people(600, 1), people(600, 3)
    moved = original.frame.assign(height=(original.frame["height"] * 1.04).round(1))
    release = published(moved)

    wide = attacks(original, release, control, secrets=("height",))
    narrow = attacks(original, release, control, secrets=("height",), tolerance=0.01)

    assert wide["nearest_height"].success > 0.5
    assert narrow["nearest_height"].success < 0.3


def test_without_sensitive_columns_the_hardest_to_guess_are_secrets():
    schema = Schema(tuple(attrs.evolve(column, role="quasi") for column in SCHEMA))
    original = Table.build(people(400, 1).frame, schema)

    result = attacks(original, published(original.frame, schema))

    assert ("age", "height", "illness") == hard_to_guess(original, schema.quasi, 3)
    assert {"age", "height", "illness"} == {name.partition("_")[2] for name in result}


@pytest.mark.parametrize("shown", [["age", "height", "town"], ["illness"]])
def test_a_release_without_a_secret_or_without_anything_else_is_not_assessable(shown):
    original = people(200, 1)
    release = published(original.frame)
    release = attrs.evolve(release, frame=release.frame[shown])

    found = Inference().audit(AuditInput(release, original=original), StageContext(seed=4))

    assert (None, ("the release shows no column to infer from others",)) == (
        found["secrets"].value,
        found["secrets"].assumptions,
    )


@given(st.integers(0, 100))
def test_every_score_and_answer_is_a_number(seed):
    rng = np.random.default_rng(seed)
    frame = people(40, seed).frame.astype({"age": float})
    frame.loc[rng.random(40) < 0.2, "age"] = np.nan
    frame.loc[rng.random(40) < 0.2, "illness"] = None
    schema = Schema(tuple(attrs.evolve(column, missing="own") for column in SCHEMA))
    table = Table.build(frame, schema)
    case = AuditInput(Release.as_it_is(table), original=table)
    method = Inference(secrets=("age", "illness"))

    answers = method.attack(case, table, StageContext(seed=seed))

    assert 4 == len(answers)
    for one in answers:
        assert set(one.right.tolist()) <= {0.0, 1.0}
        assert not np.isnan(one.score).any()
        assert ((one.attainable > 0) & (one.attainable <= 1)).all()


def test_a_column_that_is_not_published_is_refused():
    assert (
        "column 'shoe' is not declared; published are: 'age', 'height', 'town', 'illness'"
        == Inference(secrets=("shoe",)).problem(SCHEMA)
    )


def test_a_tolerance_of_more_than_everything_is_refused():
    with pytest.raises(ParameterError) as refused:
        Inference(tolerance=1.5)
    assert (
        "The 'tolerance' parameter of Inference must be a number from 0 to 1. Got 1.5 instead."
        == str(refused.value)
    )
