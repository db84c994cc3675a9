"""The kernels, compiled and interpreted: every bit is the same."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom_fellegi_sunter.agreement import Stretches
from anonloom_fellegi_sunter.patterns import (
    TILE,
    Best,
    Sheet,
    Tile,
    Work,
    best_of_runs,
    count_runs,
)
from anonloom_kernels.comparison import assert_same
from anonloom_kernels.compiled import is_compiled

pytestmark = pytest.mark.skipif(
    not is_compiled("anonloom_fellegi_sunter"),
    reason="the C was not built: there is nothing to compare with",
)

LARGEST = 2**31 - 1


def numbers(rng, low, high, *shape):
    return rng.integers(low, high, shape).astype(np.int64)


def made_up(rng, records, rows, columns, layers, codes, owners):
    """Tables, stretches and runs; codes up to the largest if `codes` says so."""
    cells = numbers(rng, 1, 6, columns)
    column = np.r_[np.arange(columns), numbers(rng, 0, columns, layers)]
    sizes = cells[column]
    places = int(sizes.sum())
    first, last = (numbers(rng, 0, codes + 1, places).astype(np.int32) for _ in range(2))
    # Some hold a single code, some none at all.
    last = np.where(rng.random(places) < 0.3, first, last)
    last = np.where(rng.random(places) < 0.2, np.int32(-1), last)
    stretches = Stretches(column, np.cumsum([0, *sizes])[:-1].astype(np.int64), first, last)
    masks = int(rng.integers(1, 4))
    sheet = Sheet(
        numbers(rng, 0, codes + 1, records, columns).astype(np.int32),
        (rng.random((rows, columns)) * cells).astype(np.int32),
        (numbers(rng, 0, masks, rows) << columns).astype(np.int32),
        numbers(rng, 0, owners, records),
        numbers(rng, -1, owners, rows),
    )
    runs = int(rng.integers(0, 4))
    ends = (np.sort(numbers(rng, 0, size + 1, 2, runs), axis=0) for size in (records, rows))
    work = Work(
        rng.permutation(records).astype(np.int64),
        rng.permutation(rows).astype(np.int64),
        *(end for both in ends for end in both),
    )
    return work, sheet, stretches, masks << columns


def tile(stretches):
    room = Tile.of(stretches)
    for part in room:
        part[:] = 0
    return room


SIZES = (
    st.integers(1, 12),
    st.one_of(st.integers(1, 9), st.sampled_from([TILE - 1, TILE, TILE + 1, 2 * TILE + 7])),
    st.sampled_from([1, 2, 7, 20]),
    st.integers(0, 3),
    st.sampled_from([0, 3, LARGEST]),
    st.sampled_from([1, 5, 1 << 40]),
    st.integers(0, 10**6),
)


@settings(deadline=None, max_examples=60)
@given(*SIZES)
def test_counts_of_patterns(records, rows, columns, layers, codes, owners, seed):
    rng = np.random.default_rng(seed)
    work, sheet, stretches, size = made_up(rng, records, rows, columns, layers, codes, owners)
    counts = numbers(rng, 0, 9, size)
    assert_same(count_runs, work, sheet, stretches, counts, tile(stretches))


@settings(deadline=None, max_examples=60)
@given(*SIZES)
def test_best_candidates(records, rows, columns, layers, codes, owners, seed):
    rng = np.random.default_rng(seed)
    work, sheet, stretches, size = made_up(rng, records, rows, columns, layers, codes, owners)
    rank_of = numbers(rng, 0, rng.choice([1, 3, LARGEST]), size).astype(np.int32)
    truth = numbers(rng, -1, records, rows)
    nothing = np.zeros(records, np.int64)
    best = Best(np.full(records, -1, np.int32), nothing, nothing - 1, nothing.copy())
    # Twice: what is known from other blocks stays unless it is beaten.
    for _ in range(2):
        assert_same(best_of_runs, work, sheet, stretches, rank_of, truth, best, tile(stretches))
        rank_of = rank_of[::-1].copy()
