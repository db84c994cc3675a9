"""Ordering along an axis: both ways to sort agree, however large the numbers are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonloom_mondrian.fragments import in_order


@pytest.mark.parametrize("shift", [0, 2**61])
@given(keys=st.lists(st.integers(0, 5), min_size=1, max_size=30))
def test_keys_are_sorted_stably(shift, keys):
    """Numbers too large to hold an index as well are sorted the slower way."""
    key = np.array(keys, np.int64) + shift

    order, ordered = in_order(key)

    assert sorted(range(len(keys)), key=lambda at: keys[at]) == order.tolist()
    assert sorted(keys) == (ordered - shift).tolist()
