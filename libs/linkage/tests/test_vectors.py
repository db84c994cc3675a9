"""Vectors that are never written out: the same figures as if they were."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom import Column, Release, Schema, Table
from anonloom_linkage import vectors
from anonloom_linkage.aligned_columns import align_columns
from anonloom_linkage.features import Encoding, column_features
from anonloom_linkage.vectors import Vectors
from anonloom_testing.auditor import in_classes, publish_suppressed
from anonloom_testing.random_tables import mixed_table
from anonloom_testing.strategies import samples

PUBLISHED = st.sampled_from([Release.as_it_is, publish_suppressed, in_classes])
TABLES = st.one_of(
    samples(max_rows=15).map(lambda sample: sample.table()),
    st.builds(mixed_table, st.integers(1, 20), st.just(4), st.integers(0, 99), st.booleans()),
)


def vectors_of(table, release, **how):
    return Vectors.of(align_columns(table, [release], table.schema.quasi), **how)


def mixed_vectors(rows=300, workers=1):
    """Numbers with many values and with few, categories, missing values."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(
        {
            "price": rng.normal(50, 20, rows),
            "size": rng.exponential(3, rows),
            "age": rng.integers(0, 9, rows).astype(float),
            "town": rng.choice(list("abcdefgh"), rows),
            "sex": rng.choice(list("fm"), rows),
        }
    )
    frame.loc[::7, ["price", "town"]] = None
    kinds = ["number"] * 3 + ["category"] * 2
    schema = Schema(
        [
            Column(name=name, role="quasi", type=kind)
            for name, kind in zip(frame, kinds, strict=True)
        ]
    )
    table = Table.build(frame, schema)
    return vectors_of(table, in_classes(table, 3), workers=workers)


@pytest.fixture
def many_cells(monkeypatch):
    """Take a column of fifty values for one of very many."""
    monkeypatch.setattr(vectors, "MANY_CELLS", 50)


def check_against_dense(found):
    for sides in [(0,), (1,), (0, 1)]:
        rows = np.concatenate([found.dense(side) for side in sides])
        mean, covariance = found.moments(*sides)
        np.testing.assert_allclose(mean, rows.mean(axis=0), atol=1e-9)
        want = np.cov(rows, rowvar=False, bias=True).reshape(covariance.shape)
        np.testing.assert_allclose(covariance, want, atol=1e-9)
    matrix = np.random.default_rng(1).normal(size=(found.width, 3))
    offset = found.moments(0)[0]
    for side in (0, 1):
        want = (found.dense(side) - offset) @ matrix
        projected = found.project(side, matrix, offset)
        assert np.float32 == projected.dtype
        np.testing.assert_allclose(projected, want, atol=1e-4, rtol=1e-4)
        some = np.arange(found.rows(side))[::-2]
        assert projected[some].tolist() == found.project(side, matrix, offset, some).tolist()
        assert found.dense(side)[some].tolist() == found.dense(side, some).tolist()


@settings(deadline=None, max_examples=40)
@given(TABLES, PUBLISHED)
def test_moments_and_projections_are_those_of_the_vectors(table, publish):
    check_against_dense(vectors_of(table, publish(table)))


@pytest.mark.parametrize("most_pairs", [0, 1 << 22])
@pytest.mark.usefixtures("many_cells")
def test_columns_of_many_values_are_no_different(monkeypatch, most_pairs):
    monkeypatch.setattr(vectors, "MOST_PAIRS", most_pairs)
    result = mixed_vectors()
    assert [True, True, False, False, False] == [part.many for part in result.parts]
    check_against_dense(result)


def test_vectors_are_the_features_of_the_columns_side_by_side():
    table = mixed_table(30, 4, seed=1, missing=True)
    columns = align_columns(table, [in_classes(table)], table.schema.quasi)
    result = Vectors.of(columns, Encoding(categories="hierarchical"), "source")
    for side in (0, 1):
        dense = result.dense(side)
        for column, span in zip(columns, result.spans, strict=True):
            features, cells = column_features(column, Encoding(categories="hierarchical"), (0,))
            features = features if isinstance(features, np.ndarray) else features.toarray()
            np.testing.assert_array_equal(dense[:, span], features[cells[side]])


@pytest.mark.usefixtures("many_cells")
def test_threads_and_chunks_change_nothing(monkeypatch):
    one, two = mixed_vectors(), mixed_vectors(workers=2)
    matrix = np.random.default_rng(1).normal(size=(one.width, 5))
    whole = one.project(0, matrix, np.zeros(one.width))
    monkeypatch.setattr(vectors, "CHUNK", 7)
    for result in (one, two):
        assert whole.tolist() == result.project(0, matrix, np.zeros(one.width)).tolist()


@pytest.mark.usefixtures("many_cells")
def test_equal_rows_have_equal_projections_to_the_last_bit():
    result = mixed_vectors()
    matrix = np.random.default_rng(1).normal(size=(result.width, 22))
    again = np.tile(np.arange(60), 5)
    projected = result.project(0, matrix, np.zeros(result.width), again)
    for copy in projected.reshape(5, 60, 22)[1:]:
        assert projected[:60].tobytes() == copy.tobytes()


def test_without_a_column_its_features_are_gone():
    result = mixed_vectors()
    less = result.without("town")
    assert [part.name for part in result.parts if part.name != "town"] == [
        part.name for part in less.parts
    ]
    span = result.spans[[part.name for part in result.parts].index("town")]
    np.testing.assert_array_equal(np.delete(result.dense(1), np.r_[span], axis=1), less.dense(1))
    assert result.width == less.width + span.stop - span.start


@pytest.mark.parametrize("columns", [0, 4])
def test_a_table_without_features_has_vectors_without_width(columns):
    table = mixed_table(6, columns, seed=0, constant=True) if columns else mixed_table(6, 1, seed=0)
    release = Release.as_it_is(table)
    result = vectors_of(table, release)
    for part in result.parts if not columns else ():
        result = result.without(part.name)
    assert 0 == result.width
    assert () == result.spans
    assert (6, 6) == (result.rows(0), result.rows(1))
    assert (0, 6) == result.codes(0).shape
    assert (6, 0) == result.dense(0).shape
    mean, covariance = result.moments(0, 1)
    assert ((0,), (0, 0)) == (mean.shape, covariance.shape)
    assert np.zeros((6, 3)).tolist() == result.project(0, np.empty((0, 3)), mean).tolist()


@pytest.mark.parametrize("fit", ["joint", "source", "target"])
def test_an_empty_release_is_projected_to_nothing(fit):
    table = mixed_table(12, 4, seed=2)
    release = in_classes(table).take(np.empty(0, np.int64))
    result = vectors_of(table, release, fit=fit)
    mean, covariance = result.moments(1)
    assert not mean.any()
    assert not covariance.any()
    assert (0, 2) == result.project(1, np.ones((result.width, 2)), mean).shape
    assert np.isfinite(result.dense(0)).all()


def test_fit_says_whose_scale_counts():
    table = mixed_table(40, 1, seed=2)
    release = in_classes(table)
    for fit, sides in [("source", (0,)), ("target", (1,)), ("joint", (0, 1))]:
        rows = np.concatenate([vectors_of(table, release, fit=fit).dense(side) for side in sides])
        np.testing.assert_allclose([rows.mean(), rows.std()], [0, 1], atol=1e-12)
