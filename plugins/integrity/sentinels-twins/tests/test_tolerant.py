"""Binomial tests: honest work exceeds what is tolerated at most at the level."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom_sentinels_twins.tolerant import (
    campaign_level,
    more_than,
    most_tolerated,
    worker_level,
)


def tail(most, pairs, rate):
    """Add up the probabilities of more than `most`: the oracle."""
    return sum(
        math.comb(pairs, k) * rate**k * (1 - rate) ** (pairs - k)
        for k in range(most + 1, pairs + 1)
    )


@settings(max_examples=60)
@given(
    pairs=st.integers(0, 80),
    error=st.floats(0, 0.6).map(lambda rate: round(rate, 4)),
    level=st.sampled_from([0.2, 0.01, 1e-4, 1e-8]),
)
def test_the_least_number_that_honest_work_exceeds_at_the_level(pairs, error, level):
    most = int(most_tolerated(pairs, error, level))
    assert 0 <= most <= pairs
    assert tail(most, pairs, error) <= level * (1 + 1e-9)
    if most:
        assert tail(most - 1, pairs, error) > level * (1 - 1e-9)


@given(pairs=st.integers(0, 60), most=st.integers(-1, 60), rate=st.floats(0, 1))
def test_the_tail_is_that_of_the_sum(pairs, most, rate):
    assert tail(most, pairs, rate) == pytest.approx(float(more_than(most, pairs, rate)), abs=1e-9)


def test_without_an_honest_error_nothing_is_tolerated():
    assert [0, 0, 0] == most_tolerated([0, 1, 10_000], 0.0, 0.01).tolist()


def test_the_tests_of_a_campaign_share_its_level():
    for workers in (1, 10, 300):
        whole = 2 * campaign_level(0.03) + workers * worker_level(workers, 0.03)
        assert whole == pytest.approx(0.03)
