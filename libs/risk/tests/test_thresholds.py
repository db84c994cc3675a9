"""Thresholds gain nothing by luck, and find a small leak."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonloom.findings import excess_interval, normalized_excess
from anonloom_risk.answers import alike_by_value
from anonloom_risk.thresholds import Side, exposed, found_rates

shares = st.floats(0, 1)
numbers = st.integers(1, 10_000)


@given(shares, shares)
def test_excess_is_a_share_of_what_was_left_to_find(success, baseline):
    result = normalized_excess(success, baseline)

    assert result <= 1.0
    if baseline < 1:
        assert result == (success - baseline) / (1 - baseline)
    else:
        assert result == 0.0


@given(shares, numbers, shares.filter(lambda share: share < 0.99), numbers)
def test_the_interval_holds_the_estimate_and_grows_with_its_level(success, people, base, strangers):
    low, high = excess_interval(success, people, base, strangers)
    wide_low, wide_high = excess_interval(success, people, base, strangers, 0.999)

    assert low - 1e-9 <= normalized_excess(success, base) <= high + 1e-9
    assert wide_low <= low
    assert high <= wide_high


def test_the_interval_covers_the_truth_as_often_as_it_says():
    rng = np.random.default_rng(3)
    inside, outside = rng.binomial(200, 0.3, 4000) / 200, rng.binomial(150, 0.2, 4000) / 150
    pairs = [excess_interval(a, 200, b, 150) for a, b in zip(inside, outside, strict=True)]

    covered = np.mean([low <= 0.125 <= high for low, high in pairs])

    assert 0.94 <= covered <= 0.985


def test_nothing_is_known_of_nobody():
    assert (-np.inf, np.inf) == excess_interval(0.5, 0, 0.5, 10)


def side(right, score, unsure=0.0):
    """Return answers about people on one side."""
    return Side(right, score, np.full(len(right), unsure), np.ones(len(right)))


def test_lucky_thresholds_gain_nothing():
    rng = np.random.default_rng(1)
    gains = []
    for _ in range(200):
        inside, outside = (rng.random(300) < 0.3).astype(float), (rng.random(300) < 0.3) * 1.0
        rates = found_rates(side(inside, rng.random(300)), side(outside, rng.random(300)), rng)
        gains.append(rates.success - rates.baseline)

    assert abs(np.mean(gains)) < 3 * np.std(gains) / np.sqrt(200)


def test_an_attacker_answers_where_that_pays():
    rng = np.random.default_rng(2)
    leaked = np.arange(1000) < 50
    inside = np.where(leaked, 1.0, rng.random(1000) < 0.5)
    score = np.where(leaked, 10.0, rng.random(1000))

    outside = side((rng.random(1000) < 0.5) * 1.0, rng.random(1000))
    rates = found_rates(side(inside, score), outside, rng)

    assert rates.success == pytest.approx(0.05, abs=0.005)
    assert rates.baseline < 0.005


def test_the_rows_of_a_leak_are_exposed_and_few_others():
    rng = np.random.default_rng(2)
    leaked = np.arange(1000) < 50
    inside = np.where(leaked, 1.0, rng.random(1000) < 0.5)
    score = np.where(leaked, 10.0, rng.random(1000))

    outside = side((rng.random(1000) < 0.5) * 1.0, rng.random(1000))
    result = exposed(side(inside, score), outside)

    assert result[leaked].all()
    assert result[~leaked].sum() <= 50


def test_nobody_is_exposed_by_chance_alone():
    rng = np.random.default_rng(5)
    inside, outside = (rng.random(500) < 0.3) * 1.0, (rng.random(500) < 0.3) * 1.0

    assert not exposed(side(inside, rng.random(500)), side(outside, rng.random(500))).any()


def test_nobody_is_pointed_at_in_a_class_of_ten():
    inside, outside = np.full(500, 0.1), np.zeros(500)

    assert not exposed(side(inside, np.ones(500)), side(outside, np.ones(500))).any()


def test_to_be_unsure_about_strangers_infers_nothing():
    """Whoever is linked gets the usual value named, and so would everybody."""
    rng = np.random.default_rng(5)
    inside, outside = (rng.random(3000) < 0.75) * 1.0, (rng.random(3000) < 0.75) * 1.0
    linked, not_linked = rng.random(3000) + 1.0, rng.random(3000)

    by_links = found_rates(side(inside, linked), side(outside, not_linked), rng)
    alike = np.ones(3000)
    usual = [Side(inside, linked, inside, alike), Side(outside, not_linked, outside, alike)]
    by_value = found_rates(*usual, rng)

    assert by_links.success - by_links.baseline > 0.6
    assert abs(by_value.success - by_value.baseline) < 0.05
    assert not exposed(*usual).any()


@given(st.lists(st.integers(0, 3), min_size=1, max_size=60))
def test_every_value_counts_as_much_as_any_other(values):
    weights = alike_by_value(np.array(values))

    shares = [weights[np.array(values) == value].sum() for value in set(values)]
    assert pytest.approx([len(values) / len(shares)] * len(shares)) == shares
    everybody = Side(np.ones(len(values)), np.ones(len(values)), np.zeros(len(values)), weights)
    assert 1 - 1e-9 <= everybody.number <= len(values) + 1e-9
    assert pytest.approx(1.0) == everybody.mean(np.ones(len(values)))


def test_to_name_what_most_people_have_finds_one_value_of_two():
    values = np.array([0] * 95 + [1] * 5)
    usual = (values == 0).astype(float)
    side_ = Side(usual, np.zeros(100), usual, alike_by_value(values))

    rates = found_rates(side_, side_, np.random.default_rng(1))

    assert pytest.approx(0.5) == rates.success == rates.baseline
    assert side_.number < 20
