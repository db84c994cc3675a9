"""What is computed for all targets at once is what plain Python says of each."""

import math

import attrs
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonloom import AuditInput, Column, Release, Schema, Table
from anonloom_inference.neighbours import VOTERS, Neighbours
from anonloom_inference.secrets import Secret
from anonloom_inference.votes import most_supported
from anonloom_linkage.features import Encoding
from anonloom_linkage.vectors import Vectors
from anonloom_risk import align_evidence
from anonloom_risk.nearest_rows import NEAR, ORIGINAL, RELEASE, TARGETS

NUMBER = Schema((Column(name="income", role="sensitive", type="number", missing="own"),))
CATEGORY = Schema((Column(name="illness", role="sensitive"),))
VALUES = st.one_of(st.none(), st.integers(-50, 50).map(float), st.floats(0.1, 0.2))


def secret(schema, original, cells, tolerance=0.05):
    name = schema.names_with_role("sensitive")[0]
    table = Table.build(pd.DataFrame({name: original}), schema)
    release = attrs.evolve(
        Release.as_it_is(table).take(np.arange(len(table)) < len(cells)),
        frame=pd.DataFrame({name: cells}),
        origin=None,
    )
    case = AuditInput(release, original=table)
    return Secret.of(align_evidence(case, table, [name])[0], tolerance)


def counts(named, true, tolerance):
    """Whether a number counts as another, as the parameter's help says."""
    if math.isinf(named) or math.isinf(true):
        return named == true
    return named == true or abs(named - true) <= tolerance * abs(true)


@given(st.lists(VALUES, min_size=2, max_size=8), st.sampled_from([0.0, 0.05, 0.5]))
def test_numbers_agree_within_the_tolerance(values, tolerance):
    if all(value is None for value in values):
        return
    known = secret(NUMBER, values, values, tolerance)
    numbers = [math.inf if value is None else value for value in values]

    assert numbers == known.of_rows(RELEASE).tolist()
    for named in numbers:
        expected = [counts(named, true, tolerance) for true in numbers]
        assert expected == known.agree(np.full(len(numbers), named), np.array(numbers)).tolist()


def test_an_interval_names_its_middle_and_a_set_its_most_frequent_value():
    income = secret(NUMBER, [10.0, 20.0, 30.0, 40.0], ["[10, 20]", "30", "*", "40"])
    illness = secret(CATEGORY, ["flu", "flu", "gout", "cold"], ["{cold, flu}", "flu", "gout", "*"])

    assert [15.0, 30.0, 30.0, 40.0] == income.of_rows(RELEASE).tolist()
    labels = [*illness.column.axis.values]
    assert ["flu", "flu", "gout", "flu"] == [
        str(labels[int(leaf)]) for leaf in illness.of_rows(RELEASE)
    ]


@given(
    st.lists(
        st.lists(st.tuples(st.integers(1, 4), st.integers(0, 3)), min_size=4, max_size=4),
        min_size=1,
        max_size=5,
    )
)
def test_the_value_with_most_votes_is_named(targets):
    known = secret(NUMBER, [1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0])
    near = [sorted(rows, key=lambda row: row[1]) for rows in targets]
    values = np.array([[float(value) for value, _ in rows] for rows in near])
    distances = np.array([[float(distance) for _, distance in rows] for rows in near])

    result = most_supported(known, values, distances)

    for rows, named in zip(near, result, strict=True):
        votes: dict[int, float] = {}
        for value, distance in rows:
            votes[value] = votes.get(value, 0.0) + 1 / (distance + NEAR) ** 2
        assert max(votes.values()) == pytest.approx(votes[int(named)])


@given(st.integers(0, 50), st.integers(1, 40))
def test_the_nearest_of_all_rows_is_the_first_neighbour(seed, rows):
    rng = np.random.default_rng(seed)
    schema = Schema((Column(name="x", role="quasi", type="number"), Column(name="y", role="quasi")))

    def table(size):
        frame = pd.DataFrame({"x": rng.normal(size=size).round(2), "y": rng.choice([*"ab"], size)})
        return Table.build(frame, schema)

    original, targets = table(30), table(12)
    case = AuditInput(Release.as_it_is(table(rows)), original=original, control=table(20))
    vectors = Vectors.of(align_evidence(case, targets), Encoding(), (ORIGINAL, RELEASE))

    near = Neighbours.of(vectors, np.arange(rows), rng)

    asking, asked = vectors.dense(TARGETS), vectors.dense(RELEASE)
    distances = ((asking[:, None, :] - asked[None, :, :]) ** 2).sum(axis=2)
    others = ((asking[:, None, :] - vectors.dense(3)[None, :, :]) ** 2).sum(axis=2)
    assert distances.min(axis=1) == pytest.approx(near.distances[:, 0], abs=1e-4)
    assert others.min(axis=1) == pytest.approx(near.reference, abs=1e-4)
    named = np.take_along_axis(distances, near.rows, axis=1)
    assert named == pytest.approx(near.distances, abs=1e-4)
    assert min(VOTERS, rows) == near.rows.shape[1]
    assert all(len(set(own)) == len(own) for own in near.rows.tolist())
