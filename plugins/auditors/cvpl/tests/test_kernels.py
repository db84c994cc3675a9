"""The kernels, compiled and interpreted: every bit is the same."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom_cvpl.evidence import count_reaching
from anonloom_kernels.comparison import assert_same
from anonloom_kernels.compiled import is_compiled

pytestmark = pytest.mark.skipif(
    not is_compiled("anonloom_cvpl"),
    reason="the C was not built: there is nothing to compare with",
)


@settings(deadline=None, max_examples=80)
@given(
    st.integers(0, 9),
    st.integers(1, 12),
    st.sampled_from([0, 1, 2, 5, 22, 65]),
    st.integers(0, 4),
    st.sampled_from(["fractions", "equal", "huge"]),
    st.integers(0, 10**6),
)
def test_candidates_that_reach_a_score(records, candidates, width, blocks, how, seed):
    rng = np.random.default_rng(seed)

    def vectors(count):
        if how == "equal":
            return rng.integers(0, 2, (count, width)).astype(np.float32)
        scale = 1e25 if how == "huge" else 1.0
        return (scale * rng.standard_normal((count, width))).astype(np.float32)

    asking, asked = vectors(records), vectors(candidates)
    sizes = rng.integers(0, 20, blocks)
    starts = np.cumsum([0, *sizes]).astype(np.int64)
    points = rng.integers(0, candidates, int(starts[-1]))
    # Limits are scores of candidates, so that the last bit decides; and what nothing reaches.
    with np.errstate(all="ignore"):
        limit = np.array([score @ asked[rng.integers(candidates)] for score in asking], np.float32)
    limit[rng.random(records) < 0.2] = rng.choice([np.inf, -np.inf, np.nan])
    assert_same(
        count_reaching,
        asking,
        asked,
        rng.integers(-1, blocks, records),
        starts,
        points,
        rng.integers(1, 1 << 40, len(points)),
        limit,
        rng.integers(0, 9, records),
    )
