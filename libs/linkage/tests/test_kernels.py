"""The kernels, compiled and interpreted: every bit is the same."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom_kernels.comparison import assert_same
from anonloom_kernels.compiled import is_compiled
from anonloom_linkage.top2_search import Best, keep_best, merge_rows
from anonloom_linkage.vectors import add_stretches

pytestmark = pytest.mark.skipif(
    not is_compiled("anonloom_linkage"),
    reason="the C was not built: there is nothing to compare with",
)

#: Scores among which many are equal, and some are none.
SCORES = np.array([-np.inf, -1.5, -0.0, 0.0, 1e-40, 0.5, 3.0, 3.4e38, np.inf, np.nan], np.float32)


def scores(rng, hostile, *shape):
    if hostile:
        return rng.choice(SCORES, shape)
    return rng.standard_normal(shape).astype(np.float32)


@settings(deadline=None, max_examples=60)
@given(
    st.one_of(st.integers(0, 20), st.sampled_from([255, 256, 257, 600])),
    st.one_of(st.integers(0, 40), st.sampled_from([255, 256, 257, 515])),
    st.booleans(),
    st.booleans(),
    st.integers(0, 10**6),
)
def test_the_two_best_of_a_tile(candidates, records, hostile, known, seed):
    rng = np.random.default_rng(seed)
    best, place = Best.none(records), np.full(records, -1, np.int32)
    if known:
        best.score[:], best.second[:] = (scores(rng, hostile, records) for _ in range(2))
        place[:] = rng.integers(-1, 9, records)
    products = scores(rng, hostile, candidates, records)
    low = int(rng.integers(0, 2**31 - 1 - candidates))
    assert_same(keep_best, products, low, best.score, place, best.second)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 60), st.integers(0, 60), st.booleans(), st.integers(0, 10**6))
def test_candidates_merged_into_the_best_known(records, some, hostile, seed):
    rng = np.random.default_rng(seed)
    rows = rng.permutation(records)[: min(some, records)].astype(np.int64)
    known, new = (
        (scores(rng, hostile, size), rng.integers(-1, 4, size), scores(rng, hostile, size))
        for size in (records, len(rows))
    )
    assert_same(merge_rows, *known, rows, *new)


@settings(deadline=None, max_examples=60)
@given(
    st.integers(0, 70),
    st.one_of(st.integers(0, 9), st.sampled_from([22, 63, 64, 65, 130])),
    st.integers(0, 4),
    st.integers(0, 4),
    st.sampled_from([1.0, 1e30, np.inf]),
    st.integers(0, 10**6),
)
def test_vectors_as_sums_of_stretches(rows, width, coarse, fine, largest, seed):
    rng = np.random.default_rng(seed)

    def singles(*shape):
        drawn = rng.standard_normal(shape).astype(np.float32)
        return np.where(rng.random(shape) < 0.1, np.float32(largest), drawn)

    cells = rng.integers(1, 6, coarse + fine)
    codes = (rng.random((coarse + fine, rows)) * cells[:, np.newaxis]).astype(np.int32)
    parts = rng.permutation(coarse + fine).astype(np.int64)
    of_stretches, of_features = parts[:coarse], parts[coarse:]
    starts, begins = (
        np.cumsum([0, *cells[of]])[:-1].astype(np.int64) for of in (of_stretches, of_features)
    )
    start, stop = sorted(int(end) for end in rng.integers(0, rows + 1, 2))
    assert_same(
        add_stretches,
        singles(width),
        singles(int(cells[of_stretches].sum()), width),
        of_stretches,
        starts,
        singles(int(cells[of_features].sum())),
        singles(fine, width),
        of_features,
        begins,
        codes,
        start,
        stop,
        np.zeros((rows, width), np.float32),
    )
