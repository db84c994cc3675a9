"""What the paper's sections 7.1 to 7.3 and appendix C say of the data holds for a large table."""

import numpy as np
import pytest

from anonloom_marketing import population as facts
from anonloom_marketing.anomalies import ANOMALIES, HOLIDAYS, RARE_CHANNELS
from anonloom_marketing.conditionals import draw, fit_conditionals
from anonloom_marketing.population import Population
from anonloom_marketing.touchpoints import simulate

ROWS = 60_000


@pytest.fixture(scope="module")
def rows():
    return simulate(ROWS, 50, 0.0, np.random.default_rng(42))


@pytest.fixture(scope="module")
def spoilt():
    return simulate(ROWS, 50, 0.05, np.random.default_rng(42))


def shares(codes, count):
    return np.bincount(codes, minlength=count) / len(codes)


def information(a, b):
    """Mutual information of two columns of codes, in nats."""
    joint = np.zeros((a.max() + 1, b.max() + 1))
    np.add.at(joint, (a, b), 1 / len(a))
    product = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
    some = joint > 0
    return float((joint[some] * np.log(joint[some] / product[some])).sum())


def assert_dependent(a, b):
    """Hold more information than any of ten shuffled copies, by a margin."""
    rng = np.random.default_rng(1)
    chance = max(information(a, rng.permutation(b)) for _ in range(10))
    assert information(a, b) > 1.5 * chance


# --- margins (appendix C) -------------------------------------------------------------------------


def test_ages_are_truncated_normal(rows):
    density = np.exp(-(((np.arange(18, 81) - 42) / 15) ** 2) / 2)
    assert np.abs(shares(rows.age - 18, 63) - density / density.sum()).max() < 0.003


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("channel", [0.3, 0.25, 0.2, 0.15, 0.1]),
        ("gender", facts.GENDER_SHARES),
        ("region", np.ravel(facts.REGION_SHARES)),
        ("place", facts.PLACE_SHARES),
        ("product", np.arange(1.0, 51) ** -1.5 / (np.arange(1.0, 51) ** -1.5).sum()),
    ],
)
def test_margins_are_those_that_are_documented(rows, name, expected):
    result = shares(getattr(rows, name), len(expected))
    # About four standard errors of the most frequent.
    assert np.abs(result - expected).max() < 0.008


def test_margins_are_exact_in_expectation():
    about = Population.of(50)
    people = about.region * (about.age[:, None] * about.gender)[:, :, None]
    np.testing.assert_allclose(
        np.einsum("agr,agrc->c", people, about.channel), facts.CHANNEL_SHARES, atol=1e-12
    )
    np.testing.assert_allclose(people.sum(axis=(0, 1)), np.ravel(facts.REGION_SHARES), atol=1e-12)
    np.testing.assert_allclose(people.sum(axis=(1, 2)), about.age, atol=1e-12)


# --- dependencies (section 7.2) -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other"),
    [
        # Step 1.
        ("decade", "gender"),
        ("decade", "region"),
        ("gender", "region"),
        # Step 2.
        ("region", "channel"),
        ("decade", "channel"),
        ("gender", "channel"),
        # Step 3.
        ("channel", "slow"),
        ("decade", "slow"),
        # Step 4.
        ("channel", "product"),
        ("decade", "product"),
        ("gender", "product"),
        ("region", "product"),
        ("channel", "place"),
        ("product", "place"),
        # Step 5.
        ("weekend", "hour"),
    ],
)
def test_what_should_depend_depends(rows, one, other):
    day = rows.seconds // 86_400
    columns = {
        "decade": rows.age // 10,
        "slow": np.minimum(rows.lag, 20).astype(int),
        "weekend": (day % 7 >= 5).astype(int),
        "hour": rows.seconds // 3600 % 24,
    }
    a, b = (columns[name] if name in columns else getattr(rows, name) for name in (one, other))
    assert_dependent(a, b)


def test_lags_follow_channel_and_age(rows):
    medians = [np.median(rows.lag[rows.channel == channel]) for channel in range(5)]
    assert sorted(facts.LAG_MEDIANS) == [facts.LAG_MEDIANS[index] for index in np.argsort(medians)]
    search = rows.channel == 0
    old = np.median(rows.lag[search & (rows.age >= 60)])
    assert old > 1.2 * np.median(rows.lag[search & (rows.age <= 30)])


def test_a_purchase_follows_the_ad_after_the_lag(rows):
    noise = rows.seconds / 86_400 - rows.exposed - rows.lag
    assert noise.min() > -1
    assert noise.max() < 1 + facts.LONGEST_WAIT


def test_weekdays_and_hours_have_their_likings(rows):
    by_day = shares(rows.seconds // 86_400 % 7, 7)
    assert 5 == by_day.argmax()
    assert by_day[5] > 1.2 * by_day[1]
    by_hour = shares(rows.seconds // 3600 % 24, 24)
    assert by_hour[2:5].sum() < 0.01
    assert by_hour[18:21].sum() > 0.2


# --- anomalies (section 7.3) ----------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.0, 0.01, 0.05, 1.0])
@pytest.mark.parametrize("count", [1, 7, 1000])
def test_anomalies_have_exactly_their_share_and_kinds_take_turns(share, count):
    result = simulate(count, 50, share, np.random.default_rng(3)).hit.kind
    of_kinds = np.bincount(result[result >= 0], minlength=len(ANOMALIES))
    assert round(count * share) == of_kinds.sum()
    assert of_kinds.max() - of_kinds.min() <= 1


def test_rare_channels_are_for_their_anomalies_alone(rows, spoilt):
    assert rows.channel.max() < len(facts.CHANNELS)
    rare = spoilt.channel >= len(facts.CHANNELS)
    assert spoilt.hit.of("rare channel").tolist() == np.flatnonzero(rare).tolist()
    assert len(RARE_CHANNELS) == len(np.unique(spoilt.channel[rare]))


def test_long_tail_products_are_the_least_popular_fifth(spoilt):
    tail = spoilt.product[spoilt.hit.of("long-tail product")]
    assert (40, 49) == (tail.min(), tail.max())
    assert np.abs(shares(tail - 40, 10) - 0.1).max() < 0.05


def test_odd_times_are_at_night_or_on_holidays(spoilt):
    at_night, on_holiday = spoilt.hit.halves("odd time")
    assert abs(len(at_night) - len(on_holiday)) <= 1
    assert {2, 3, 4} == set((spoilt.seconds[at_night] // 3600 % 24).tolist())
    assert set(HOLIDAYS) == set((spoilt.seconds[on_holiday] // 86_400).tolist())
    days = [str(facts.FIRST_DAY + np.timedelta64(day, "D")) for day in HOLIDAYS]
    assert ["2024-02-14", "2024-03-08", "2024-03-31"] == days


def test_lag_outliers_come_at_once_or_very_late(spoilt):
    at_once, late = spoilt.hit.halves("lag outlier")
    assert {0.0} == set(spoilt.lag[at_once].tolist())
    minutes = (spoilt.seconds[at_once] - spoilt.exposed[at_once] * 86_400) / 60
    assert (minutes.min() > 0, minutes.max() < 11) == (True, True)
    assert (spoilt.lag[late].min() >= 90, spoilt.lag[late].max() <= 365) == (True, True)
    others = np.setdiff1d(np.arange(ROWS), [*at_once, *late])
    assert (spoilt.lag[others].min() >= 0.1, spoilt.lag[others].max() <= 45) == (True, True)


# --- tables ---------------------------------------------------------------------------------------


def test_a_fitted_table_has_its_margin_and_keeps_its_odds_ratios():
    effects = np.array([[1.0, 0.0, -1.0], [0.0, 0.0, 0.5]])
    weights, margin = np.array([0.3, 0.7]), np.array([0.5, 0.3, 0.2])
    table = fit_conditionals(margin, effects, weights)
    np.testing.assert_allclose(table.sum(axis=1), 1)
    np.testing.assert_allclose(weights @ table, margin)
    odds = np.log(table[0] / table[1])
    np.testing.assert_allclose(np.diff(odds), np.diff(effects[0] - effects[1]))


def test_outcomes_are_drawn_from_the_row_of_their_condition():
    table = np.array([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], [[0.0, 0.0, 1.0], [0.5, 0.0, 0.5]]])
    first, second = np.repeat([0, 0, 1, 1], 1000), np.repeat([0, 1, 0, 1], 1000)
    result = draw(np.random.default_rng(1), table, first, second).reshape(4, 1000)
    assert [{0}, {1}, {2}, {0, 2}] == [set(row.tolist()) for row in result]
    assert abs((result[3] == 0).mean() - 0.5) < 0.06
