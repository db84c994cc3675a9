"""Nearest neighbours against all distances written out, whatever the table."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom import Column, Release, Schema, Table
from anonloom.typing import FloatArray
from anonloom_distance import search
from anonloom_distance.pair_distances import pair_distances
from anonloom_distance.search import nearest
from anonloom_distance.space import Space
from anonloom_linkage.aligned_columns import align_columns
from anonloom_linkage.features import Encoding
from anonloom_linkage.vectors import Vectors
from anonloom_testing.auditor import in_classes
from anonloom_testing.random_tables import mixed_table

ENCODING = Encoding(most_values=10**6)


def written_out(table: Table, release: Release) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return squared distances original-original, published-original and original-published."""
    columns = align_columns(table, [release], table.schema.names)
    vectors = Vectors.of(columns, ENCODING, fit="source")
    x, y = vectors.dense(0), vectors.dense(1)
    # What is to be expected of the values under a cell, one published row after the other.
    inner = np.zeros(len(y))
    for column in columns:
        part = next((part for part in vectors.parts if part.name == column.name), None)
        if part is None:
            continue
        span = vectors.spans[vectors.parts.index(part)]
        for row in range(len(y)):
            cell = int(column.sides[1][row])
            covered = [
                index
                for index in range(len(x))
                if _covers(column, cell, int(column.sides[0][index]))
            ]
            if covered:
                mean = x[covered, span].mean(axis=0)
                assert np.allclose(mean, y[row, span])
                inner[row] += ((x[covered, span] - mean) ** 2).sum(axis=1).mean()
    own = ((x[:, None] - x[None]) ** 2).sum(axis=2)
    across = ((y[:, None] - x[None]) ** 2).sum(axis=2) + inner[:, None]
    return own, across, across.T


def _covers(column: object, cell: int, value: int) -> bool:
    open_, missing = column.open, column.missing  # type: ignore[attr-defined]  # an aligned column
    if open_[cell]:
        return True
    if missing[cell] or missing[value]:
        return bool(missing[cell] and missing[value])
    if column.is_ordered:  # type: ignore[attr-defined]  # an aligned column
        lo, hi = column.lo, column.hi  # type: ignore[attr-defined]  # an aligned column
        return bool(lo[cell] <= lo[value] <= hi[cell])
    return bool(column.covers[[cell], [value]][0])  # type: ignore[attr-defined]  # an aligned column


def expected(squares: FloatArray, others: bool) -> tuple[FloatArray, FloatArray, list[int]]:
    squares = squares.copy()
    if others:
        np.fill_diagonal(squares, np.inf)
    first = np.sort(squares, axis=1)[:, 0] if squares.shape[1] else np.full(len(squares), np.inf)
    ordered = np.c_[np.sort(squares, axis=1), np.full(len(squares), np.inf)]
    near = (squares <= first[:, None] * (1 + 1e-7) + 1e-12) & np.isfinite(squares)
    return np.sqrt(first), np.sqrt(ordered[:, 1]), near.sum(axis=1).tolist()


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 40), st.integers(1, 5), st.integers(0, 999), st.booleans(), st.booleans(),
    st.sampled_from(["as it is", "classes", "strangers"]),
)  # fmt: skip
def test_all_directions_agree_with_all_distances_written_out(
    rows: int, columns: int, seed: int, missing: bool, constant: bool, how: str
) -> None:
    table = mixed_table(rows, columns, seed, missing, constant)
    if how == "classes":
        release = in_classes(table, 3)
    else:
        drawn = mixed_table(rows + 7, columns, seed + 1, missing) if how == "strangers" else table
        release = Release.as_it_is(drawn)
    space = Space.of(align_columns(table, [release], table.schema.names), ENCODING)
    if not space.names:
        return
    own, published, original = written_out(table, release)
    x, y = space.points(0), space.points(1)
    for asking, asked, others, squares in (
        (x, x, True, own),
        (y, x, False, published),
        (x, y, False, original),
    ):
        result = nearest(space, asking, asked, others=others)
        first, second, ties = expected(squares, others)
        assert first == pytest.approx(result.distance, abs=1e-6)
        assert second == pytest.approx(result.second, abs=1e-6)
        assert ties == result.ties.tolist()
    index = np.arange(min(len(table), len(release)))
    pairs = pair_distances(space.cells, y, x, (index, index))
    assert np.sqrt(published[index, index]) == pytest.approx(pairs, abs=1e-6)


def numbers(values: FloatArray) -> Table:
    schema = Schema([Column(name=f"x{index}", role="quasi", type="number") for index in range(2)])
    return Table.build(pd.DataFrame({"x0": values[:, 0], "x1": values[:, 1]}), schema)


def spaced(table: Table) -> Space:
    return Space.of(align_columns(table, [Release.as_it_is(table)], table.schema.names), ENCODING)


def test_neighbours_far_closer_than_single_precision_tells_apart_are_found() -> None:
    rng = np.random.default_rng(3)
    values = rng.normal(size=(700, 2)).round(3)
    values = np.vstack([values, values + 1e-6])
    # One record far away must not make all others one.
    values[0] = 1e3
    space = spaced(numbers(values))
    points = space.points(0)
    result = nearest(space, points, points, others=True)
    partner = pair_distances(space.cells, points, points, (np.arange(1, 700), np.arange(701, 1400)))
    assert (result.distance[1:700] <= partner * (1 + 1e-6)).all()
    assert (result.distance[1:700] > 0).all()


def test_pieces_threads_and_features_shown_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    table = mixed_table(700, 6, 5, missing=True)
    space = spaced(table)
    points = space.points(0)
    whole = nearest(space, points, points, others=True)
    monkeypatch.setattr(search, "PIECE", 1000)
    done: list[int] = []
    pieces = nearest(space, points, points, others=True, workers=3, done=done.append)
    monkeypatch.setattr("anonloom_distance.space.MOST_SHOWN", 2)
    few = spaced(table)
    shown = nearest(few, points, points, others=True)
    assert 2 == few.cells.width < space.cells.width
    for result in (pieces, shown):
        assert whole.distance.tolist() == result.distance.tolist()
        assert whole.second.tolist() == result.second.tolist()
        assert whole.ties.tolist() == result.ties.tolist()
    assert len(done) > 3
    assert len(points) ** 2 == sum(done)


def test_equal_rows_are_one_point_with_their_number() -> None:
    table = mixed_table(200, 2, 1)
    points = spaced(table).points(0)
    distinct = pd.DataFrame(table.codes.T).drop_duplicates()
    assert len(distinct) == len(points)
    assert 200 == points.weights.sum() == points.rows
    assert (table.codes[0] == points.codes[0][points.of]).all()
