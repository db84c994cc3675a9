"""AUC, shares of people found, bounds: each against a slow and obvious computation."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from anonloom_membership.roc import (
    area_under_curve,
    clopper_pearson,
    curve,
    epsilon_bound,
    found_at,
    threshold_at,
)

few_scores = st.lists(st.integers(-4, 4).map(float), min_size=1, max_size=25).map(np.array)


def wins(one, other):
    return 1.0 if one > other else 0.5 if one == other else 0.0


@given(few_scores, few_scores)
def test_the_area_is_the_share_of_pairs_that_are_in_order(inside, outside):
    pairs = [wins(one, other) for one in inside for other in outside]

    assert area_under_curve(inside, outside).value == pytest.approx(sum(pairs) / len(pairs))


@given(few_scores, few_scores)
def test_the_interval_of_the_area_is_that_of_delong(inside, outside):
    above = [np.mean([wins(one, other) for other in outside]) for one in inside]
    below = [np.mean([wins(one, other) for one in inside]) for other in outside]
    variance = sum(np.var(part, ddof=1) / len(part) for part in (above, below) if len(part) > 1)
    area = float(np.mean(above))
    spread = 1.959964 * math.sqrt(variance)
    if variance < 1e-12:
        spread = 3 / min(len(inside), len(outside))

    low, high = area_under_curve(inside, outside).interval

    assert (max(area - spread, 0), min(area + spread, 1)) == pytest.approx((low, high), abs=1e-6)


@given(few_scores, st.floats(0, 1))
def test_at_most_the_share_of_the_people_outside_is_claimed(outside, share):
    threshold = threshold_at(outside, share)

    assert sum(score > threshold for score in outside) <= share * len(outside) + 1e-6
    # One step lower claims more than the share.
    at_least = sum(score >= threshold for score in outside)
    assert threshold == -math.inf or at_least > share * len(outside) - 1e-6


def test_the_people_found_have_scores_above_the_threshold():
    found = found_at(np.array([1.0, 2.0, 3.0, 4.0]), 2.0)

    assert 0.5 == found.value
    assert (0.067586, 0.932414) == pytest.approx(found.interval, abs=1e-6)


@given(st.integers(0, 40), st.integers(1, 40), st.sampled_from([0.025, 0.05, 0.2]))
def test_bounds_of_shares_are_those_of_scipy(successes, trials, error):
    successes = min(successes, trials)
    expected = stats.binomtest(successes, trials).proportion_ci(1 - 2 * error, method="exact")

    low, high = clopper_pearson(np.array([successes]), trials, error)

    assert (expected.low, expected.high) == pytest.approx((low[0], high[0]))


def test_the_bound_of_epsilon_holds_for_randomized_answers():
    # Each is claimed with a chance that differs by e^1 between both sides.
    truth, bounds = 1.0, []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        claimed = math.e / (1 + math.e)
        inside, outside = rng.random(3000) < claimed, rng.random(3000) < 1 - claimed
        bounds.append(epsilon_bound(inside.astype(float), outside.astype(float), rng))

    assert sum(bound > truth for bound in bounds) <= 4
    assert np.mean(bounds) > 0.8


@given(st.integers(0, 10**6))
def test_the_bound_of_epsilon_is_0_where_scores_say_nothing(seed):
    rng = np.random.default_rng(seed)

    assert 0.0 == epsilon_bound(np.ones(50), np.ones(60), rng)
    assert 0.0 == epsilon_bound(np.ones(1), np.ones(1), rng)


@given(few_scores, few_scores)
def test_the_curve_never_falls_and_ends_with_everybody(inside, outside):
    drawn = curve(inside, outside)

    assert 1.0 == drawn["x"][-1] == drawn["y"][-1]
    assert drawn["y"] == sorted(drawn["y"])
