"""Weighted points stand for their rows, in the order of their combinations, however many bits."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from anonloom_columns import collapse, combined_key


@st.composite
def code_arrays(draw: st.DrawFn) -> np.ndarray:
    axes = draw(st.one_of(st.integers(0, 4), st.just(30)))
    rows = draw(st.integers(0, 15))
    # Large codes on many axes need far more than 63 bits.
    largest = draw(st.sampled_from([2, 1000, 2**31 - 1]))
    few = draw(st.lists(st.integers(0, largest), min_size=1, max_size=3))
    cells = draw(st.lists(st.sampled_from(few), min_size=axes * rows, max_size=axes * rows))
    return np.array(cells, np.int32).reshape(axes, rows)


@given(code_arrays())
def test_points_are_the_distinct_combinations_with_their_weights(codes: np.ndarray) -> None:
    points = collapse(codes)
    rows = [tuple(row) for row in codes.T.tolist()]
    distinct = sorted(set(rows))
    assert distinct == [tuple(point) for point in points.codes.T.tolist()]
    assert [rows.count(combination) for combination in distinct] == points.weights.tolist()
    assert len(distinct) == len(points)
    assert rows == [distinct[index] for index in points.point]
    assert codes.tolist() == points.codes[:, points.point].tolist()
    assert (np.int32, np.int64, np.int64) == (
        points.codes.dtype,
        points.weights.dtype,
        points.point.dtype,
    )


@given(code_arrays())
def test_rows_by_point_stand_side_by_side(codes: np.ndarray) -> None:
    points = collapse(codes)
    order = points.rows_by_point()
    expected = [
        row for index in range(len(points)) for row in np.flatnonzero(points.point == index)
    ]
    assert expected == order.tolist()


@given(code_arrays())
def test_keys_order_rows_as_their_combinations_do(codes: np.ndarray) -> None:
    key = combined_key(codes)
    rows = [tuple(row) for row in codes.T.tolist()]
    assert codes.shape[1] == len(key)
    for a, item in enumerate(rows):
        for b, other in enumerate(rows):
            assert (item < other) == (key[a] < key[b])
            assert (item == other) == (key[a] == key[b])


def test_thirty_axes_of_many_values_are_told_apart() -> None:
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 2**31 - 1, (30, 500), dtype=np.int32)
    # Rows that differ on the last axis only.
    codes[:29, 250:] = codes[:29, :250]
    codes[29, 250:] = codes[29, :250] ^ 1
    points = collapse(codes)
    assert 500 == len(points)
    order = np.lexsort(codes[::-1])
    assert order.tolist() == points.rows_by_point().tolist()
