"""Intervals of shares: what a plain loop over resampled blocks gives."""

import numpy as np
import pytest

from anonloom_linkage import bootstrap
from anonloom_linkage.bootstrap import block_bootstrap


def by_loop(blocks, hits, counted, times, seed):
    """Draw whole blocks, put their records together, divide."""
    rng = np.random.default_rng(seed)
    members = [np.flatnonzero(blocks == block) for block in np.unique(blocks)]
    shares = []
    for _ in range(times):
        drawn = [members[index] for index in rng.integers(len(members), size=len(members))]
        rows = np.concatenate(drawn)
        shares.append(hits[rows].sum() / counted[rows].sum())
    return np.array(shares)


def clustered(records=2000, blocks=40, seed=3):
    """Records of which whole blocks are hit, and as many scattered ones."""
    rng = np.random.default_rng(seed)
    block = rng.integers(blocks, size=records)
    together = (block % 4 == 0).astype(float)
    return block, together, rng.permutation(together)


@pytest.mark.parametrize("weighted", [False, True])
def test_intervals_are_those_of_a_loop_over_blocks(weighted):
    blocks, hits, _ = clustered(600, 25)
    counted = 1.0 + (blocks % 3) * weighted
    result = block_bootstrap(blocks, hits, np.random.default_rng(0), counted=counted)
    assert "blocks" == result.unit
    assert (bootstrap.TIMES, 1) == result.shares.shape
    want = by_loop(blocks, hits, counted, 2000, 1)
    np.testing.assert_allclose(result.shares.mean(), want.mean(), atol=0.01)
    np.testing.assert_allclose(result.interval()[0], np.quantile(want, [0.025, 0.975]), atol=0.03)
    np.testing.assert_allclose(result.interval(0.5)[0], np.quantile(want, [0.25, 0.75]), atol=0.02)


def test_hits_that_come_together_are_less_certain():
    blocks, together, scattered = clustered()
    result = block_bootstrap(
        blocks, np.stack([together, scattered], axis=1) > 0, np.random.default_rng(0)
    )
    wide, narrow = (hi - lo for lo, hi in result.interval())
    assert wide > 3 * narrow


def test_with_few_blocks_records_are_drawn():
    blocks, together, _ = clustered(blocks=bootstrap.LEAST_BLOCKS - 1)
    result = block_bootstrap(blocks, together, np.random.default_rng(0))
    assert "records" == result.unit
    want = by_loop(np.arange(len(blocks)), together, np.ones(len(blocks)), 500, 1)
    np.testing.assert_allclose(result.interval()[0], np.quantile(want, [0.025, 0.975]), atol=0.01)


def test_very_many_blocks_are_drawn_in_groups(monkeypatch):
    blocks, together, _ = clustered(4000, 800)
    whole = block_bootstrap(blocks, together, np.random.default_rng(0)).interval()[0]
    monkeypatch.setattr(bootstrap, "MOST_UNITS", 200)
    grouped = block_bootstrap(blocks, together, np.random.default_rng(0)).interval()[0]
    np.testing.assert_allclose(grouped, whole, atol=0.02)


def test_one_denominator_serves_all_figures():
    blocks, together, scattered = clustered()
    hits = np.stack([together, scattered], axis=1)
    counted = 1.0 + blocks % 2
    one = block_bootstrap(blocks, hits, np.random.default_rng(0), counted=counted)
    two = block_bootstrap(
        blocks, hits, np.random.default_rng(0), counted=np.stack([counted] * 2, axis=1)
    )
    np.testing.assert_array_equal(one.shares, two.shares)


def test_resamples_in_which_nothing_counts_do_not_pull_a_share_down():
    blocks = np.repeat(np.arange(20), 5)
    counted = blocks == 7
    result = block_bootstrap(blocks, counted, np.random.default_rng(0), counted=counted)
    # About a third of the resamples lack the only block that counts.
    assert [(1.0, 1.0)] == result.interval()
    nothing = block_bootstrap(blocks, counted, np.random.default_rng(0), counted=counted & False)
    assert [(0.0, 0.0)] == nothing.interval()


def test_no_records_give_no_share():
    nobody = np.empty(0, np.int64)
    result = block_bootstrap(nobody, np.empty((0, 3)), np.random.default_rng(0), times=10)
    assert np.zeros((10, 3)).tolist() == result.shares.tolist()


def test_one_seed_gives_one_interval():
    blocks, together, _ = clustered()
    one, two = (
        block_bootstrap(blocks, together, np.random.default_rng(4)).interval() for _ in range(2)
    )
    assert one == two
