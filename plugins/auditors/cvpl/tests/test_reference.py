"""A projection that is fitted on a table of its own: neither of the two tables moves it."""

import attrs
import numpy as np
import pandas as pd

from anonloom import Column, Release, Schema, StageContext, Table
from anonloom.sources import Frame
from anonloom_cvpl.auditor import Cvpl
from anonloom_cvpl.projection import Linear

SCHEMA = Schema(
    [
        Column(name="age", role="quasi", type="number"),
        Column(name="town", role="quasi"),
        Column(name="income", role="other", type="number"),
    ]
)


def people(rows, seed):
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, rows)
    return pd.DataFrame(
        {
            "age": age,
            "town": rng.choice(["a", "b", "c"], rows),
            "income": age * 100 + rng.normal(0, 500, rows).round(),
        }
    )


def prepare(original, reference):
    method = Cvpl(fit="reference", reference=Frame.of(reference), blocking=())
    table = Table.build(original, SCHEMA)
    made = method.configuration.prepare(table, [Release.as_it_is(table)], StageContext())
    assert made is not None
    assert isinstance(made.projection, Linear)
    return made


def test_the_moments_are_those_of_the_reference():
    reference = people(300, seed=1)
    made = prepare(people(200, seed=2), reference)

    assert (2,) == made.fitted_on
    vectors = made.projection.vectors
    mean, covariance = vectors.moments(2)
    assert np.allclose(mean, made.projection.offset)
    assert np.trace(covariance) == made.projection.total
    assert 300 == vectors.rows(2)


def test_two_originals_share_one_projection():
    reference = people(300, seed=1)
    first, second = (prepare(people(200, seed=seed), reference) for seed in (2, 3))

    assert np.allclose(first.projection.matrix, second.projection.matrix)
    assert np.allclose(first.projection.variances, second.projection.variances)


def test_what_only_the_reference_has_does_not_matter_to_the_tables():
    reference = people(300, seed=1).assign(town=lambda frame: frame["town"] + "!")
    made = prepare(people(200, seed=2), reference)

    assert np.isfinite(made.projection.of(0)).all()
    assert np.isfinite(made.projection.of(1)).all()


def test_a_reference_and_its_source_go_together():
    message = "'fit: reference' and 'reference' go together: a table, and where it comes from"
    source = Frame.of(people(5, seed=1))
    assert message == Cvpl(fit="reference").problem(SCHEMA)
    assert message == Cvpl(reference=source).problem(SCHEMA)
    assert None is attrs.evolve(Cvpl(), fit="reference", reference=source).problem(SCHEMA)
