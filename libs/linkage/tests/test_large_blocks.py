"""Blocks that are made smaller: never a pair more, and as small as was asked for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonloom_linkage.large_blocks import reduce_blocks
from anonloom_linkage.top2_search import Blocks


def drawn(seed, records=40, candidates=60, blocks=4):
    rng = np.random.default_rng(seed)
    return Blocks.of(
        rng.integers(blocks, size=records),
        rng.integers(blocks, size=candidates),
        np.arange(candidates),
    )


def pairs_of(blocks):
    results = []
    for index in range(len(blocks)):
        records, candidates = (
            group.members[group.starts[index] : group.starts[index + 1]].tolist()
            for group in (blocks.records, blocks.candidates)
        )
        results += [(record, candidate) for record in records for candidate in candidates]
    return results


@given(st.integers(0, 10**6), st.integers(1, 30), st.sampled_from(["cutoff", "sample", "divide"]))
def test_smaller_blocks_have_some_of_the_pairs_each_once(seed, most, how):
    blocks, rng = drawn(seed), np.random.default_rng(seed)
    numbers = rng.random(40), rng.random(60)

    result = reduce_blocks(blocks, most, how, rng, *numbers)

    pairs = pairs_of(result)
    assert len(set(pairs)) == len(pairs)
    assert set(pairs) <= set(pairs_of(blocks))
    assert most >= np.diff(result.candidates.starts).max(initial=0)
    # Small blocks stay as they are.
    for index in np.flatnonzero(np.diff(blocks.candidates.starts) <= most):
        block = slice(*blocks.records.starts[index : index + 2])
        for record in blocks.records.members[block].tolist():
            own = {candidate for one, candidate in pairs_of(blocks) if one == record}
            assert own == {candidate for one, candidate in pairs if one == record}


def test_a_cut_off_block_keeps_its_first_candidates():
    blocks = Blocks.of(np.zeros(2, np.int64), np.zeros(5, np.int64), np.arange(5))

    result = reduce_blocks(blocks, 3, "cutoff", np.random.default_rng(1), np.zeros(2), np.zeros(5))

    assert [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)] == sorted(pairs_of(result))


def test_a_divided_block_keeps_together_what_is_near():
    blocks = Blocks.of(np.zeros(3, np.int64), np.zeros(4, np.int64), np.arange(4))
    records, candidates = np.array([0.1, 0.9, 0.2]), np.array([0.0, 1.0, 0.3, 0.8])

    result = reduce_blocks(blocks, 2, "divide", np.random.default_rng(1), records, candidates)

    assert [(0, 0), (0, 2), (1, 1), (1, 3), (2, 0), (2, 2)] == sorted(pairs_of(result))


@pytest.mark.parametrize("how", ["cutoff", "sample", "divide"])
def test_blocks_that_are_small_enough_are_the_same(how):
    blocks = drawn(3)

    assert blocks is reduce_blocks(
        blocks, 60, how, np.random.default_rng(1), np.zeros(40), np.zeros(60)
    )
