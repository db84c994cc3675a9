"""The kernels, compiled and interpreted: every bit is the same."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom_distance.pair_distances import Features, of_pairs
from anonloom_distance.search import Answering, Asking, Found, compare_tile, write_points
from anonloom_kernels.comparison import assert_same
from anonloom_kernels.compiled import is_compiled

pytestmark = pytest.mark.skipif(
    not is_compiled("anonloom_distance"),
    reason="the C was not built: there is nothing to compare with",
)

#: How features are drawn: many equal ones, fractions, the largest that there are, tiny ones.
KINDS = st.sampled_from(["equal", "fractions", "largest", "tiny"])


def made_up(rng: np.random.Generator, columns: int, kind: str) -> tuple[Features, Any, int]:
    """Features of made-up cells, the number of cells of every column, and of all features."""
    cells = rng.integers(1, 6, columns)
    widths = rng.integers(1, 4, columns)
    begins = np.cumsum([0, *widths])
    indptr, indices, data = [0], [], []
    for column in range(columns):
        for _ in range(cells[column]):
            kept = np.flatnonzero(rng.random(widths[column]) < 0.7) + begins[column]
            indices += kept.tolist()
            indptr.append(len(indices))
    draw: dict[str, Any] = {
        "equal": lambda size: rng.integers(1, 3, size).astype(float),
        "fractions": rng.standard_normal,
        "largest": lambda size: rng.choice([-1e6, 1e6, 999_999.9, 1.0], size),
        "tiny": lambda size: rng.choice([1e-10, 2e-10, -1e-9, 1e-160], size),
    }
    data = draw[kind](len(indices))
    features = Features(
        np.cumsum([0, *cells])[:-1].astype(np.int64),
        np.array(indptr, np.int64),
        np.array(indices, np.int64),
        data,
    )
    return features, cells, int(begins[-1])


def codes_of(rng: np.random.Generator, cells: Any, points: int) -> Any:
    return (rng.random((len(cells), points)) * cells[:, np.newaxis]).astype(np.int32)


def spread_of(rng: np.random.Generator, points: int) -> Any:
    return np.where(rng.random(points) < 0.5, 0.0, rng.random(points))


@settings(deadline=None, max_examples=60)
@given(
    st.integers(0, 6), st.integers(1, 9), st.integers(1, 9), st.integers(0, 20), KINDS,
    st.integers(0, 10**6),
)  # fmt: skip
def test_distances_of_pairs(columns: int, a: int, b: int, pairs: int, kind: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    features, cells, _ = made_up(rng, columns, kind)
    assert_same(
        of_pairs,
        codes_of(rng, cells, a),
        spread_of(rng, a),
        codes_of(rng, cells, b),
        spread_of(rng, b),
        rng.integers(0, a, pairs),
        rng.integers(0, b, pairs),
        features,
        np.empty(pairs),
    )


@settings(deadline=None, max_examples=80)
@given(
    st.integers(0, 6), st.integers(1, 40), st.integers(1, 300), KINDS, st.booleans(),
    st.sampled_from([0, 2, 99]), st.integers(0, 10**6),
)  # fmt: skip
def test_points_and_what_lies_near_them(
    columns: int, asking: int, asked: int, kind: str, same: bool, most: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    features, cells, total = made_up(rng, columns, kind)
    shown = np.full(total, -1, np.int64)
    kept = np.sort(rng.permutation(total)[:most])
    shown[kept] = np.arange(len(kept))
    width = len(kept)
    codes_r, spread_r = codes_of(rng, cells, asked), spread_of(rng, asked)
    codes, spread = codes_of(rng, cells, asking), spread_of(rng, asking)
    own = np.full(asking, -1, np.int64)
    if same:
        own = rng.integers(0, asked, asking)
        codes, spread = np.ascontiguousarray(codes_r[:, own]), spread_r[own]
    x, lengths = np.full((asking, width + 1), 7, np.float32), np.full(asking, 7.0)
    assert_same(write_points, codes, 0, features, shown, x, lengths)
    x[:, width] = 1
    found = Found(np.full(asking, np.inf), np.full(asking, np.inf), np.zeros(asking, np.int64))
    asked_points = Answering(codes_r, spread_r, rng.integers(1, 4, asked))
    asking_points = Asking(codes, spread, own, lengths)
    # Two tiles one after the other, and of those that ask only some.
    first = int(rng.integers(0, asking))
    middle = int(rng.integers(0, asked))
    for low, high in ((0, middle), (middle, asked)):
        y, squares = np.full((high - low, width + 1), 7, np.float32), np.full(high - low, 7.0)
        assert_same(write_points, codes_r, low, features, shown, y, squares)
        squares += spread_r[low:high]
        y[:, width] = -squares / 2
        longest = float(squares.max(initial=0.0))
        scores = x[first:] @ y.T
        assert_same(
            compare_tile, scores, first, low, longest, width,
            asking_points, asked_points, features, found,
        )  # fmt: skip


@pytest.mark.parametrize("score", [np.nan, np.inf, -np.inf, 0.0])
def test_products_that_are_no_numbers(score: float) -> None:
    rng = np.random.default_rng(1)
    features, cells, _ = made_up(rng, 3, "fractions")
    codes = codes_of(rng, cells, 5)
    zeros, none = np.zeros(5), np.full(5, -1, np.int64)
    assert_same(
        compare_tile, np.full((5, 5), score, np.float32), 0, 0, 1.0, 2,
        Asking(codes, zeros, none, zeros), Answering(codes, zeros, np.ones(5, np.int64)), features,
        Found(np.full(5, np.inf), np.full(5, np.inf), np.zeros(5, np.int64)),
    )  # fmt: skip
