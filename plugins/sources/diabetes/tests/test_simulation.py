"""Simulated persons have the declared margins and dependencies, within sampling error."""

import numpy as np
import pytest

from anonloom_diabetes import population as facts
from anonloom_diabetes.simulation import simulate

ROWS = 100_000


@pytest.fixture(scope="module")
def persons():
    return simulate(ROWS, np.random.default_rng(42))


def within_error(expected, found, rows):
    """Whether shares agree within five standard errors."""
    expected = np.asarray(expected)
    return bool((abs(found - expected) <= 5 * np.sqrt(expected * (1 - expected) / rows)).all())


def shares(codes, count):
    return np.bincount(codes, minlength=count) / len(codes)


def test_declared_shares_are_shares():
    assert 1.0 == pytest.approx(facts.AGE_SHARES.sum())
    assert np.allclose(1, facts.SMOKING_SHARES.sum(axis=2))
    assert np.allclose(1, np.sum(facts.SMOKING_BY_AGE, axis=0), atol=0.001)
    assert facts.AGE_SHARES.min() > 0
    assert facts.SMOKING_SHARES.min() >= 0


def test_ages_have_their_shares(persons):
    place = np.searchsorted(facts.AGES, persons.age)
    assert within_error(facts.AGE_SHARES, shares(place, len(facts.AGES)), ROWS)
    assert (0.08, 80.0, 102) == (facts.AGES[0], facts.AGES[-1], len(facts.AGES))


def test_gender_and_smoking_have_the_shares_of_their_age(persons):
    place = np.searchsorted(facts.AGES, persons.age)
    weights = shares(place, len(facts.AGES))
    female = (weights * facts.FEMALE).sum()
    male = 1 - female - facts.OTHER
    assert within_error([female, male, facts.OTHER], shares(persons.gender, 3), ROWS)
    expected = facts.SMOKING_SHARES[place, persons.gender].mean(axis=0)
    assert within_error(expected, shares(persons.smoking, 6), ROWS)
    child = persons.age < 15
    expected = facts.SMOKING_SHARES[place, persons.gender][child].mean(axis=0)
    assert within_error(expected, shares(persons.smoking[child], 6), child.sum())
    assert expected[facts.SMOKING.index("No Info")] > 0.78


@pytest.mark.parametrize(
    ("name", "expected"),
    [("diabetes", 0.085), ("hypertension", 0.0748), ("heart_disease", 0.0394)],
)
def test_illnesses_are_as_frequent_as_in_the_real_table(persons, name, expected):
    # The coefficients are rounded: a twentieth of the share is allowed for that.
    assert expected == pytest.approx(getattr(persons, name).mean(), rel=0.05)


@pytest.mark.parametrize("name", ["diabetes", "hypertension", "heart_disease"])
def test_illnesses_grow_with_age(persons, name):
    ill = getattr(persons, name)
    decades = [
        ill[(persons.age >= age) & (persons.age < age + 20)].mean() for age in range(0, 80, 20)
    ]
    assert sorted(decades) == decades
    assert decades[3] > 30 * decades[0]


def test_illnesses_come_together_and_with_weight(persons):
    old = persons.age >= 40
    assert persons.diabetes[old & persons.hypertension].mean() > 1.5 * persons.diabetes[old].mean()
    assert persons.diabetes[old & persons.heart_disease].mean() > 1.5 * persons.diabetes[old].mean()
    heavy = old & (persons.bmi > 35)
    assert persons.diabetes[heavy].mean() > 1.5 * persons.diabetes[old].mean()


def test_a_quarter_of_the_indices_is_one_number(persons):
    unknown = persons.bmi == facts.BMI_UNKNOWN
    assert 0.255 == pytest.approx(unknown.mean(), abs=0.006)
    no_info = persons.smoking == facts.SMOKING.index("No Info")
    assert unknown[no_info].mean() > 1.8 * unknown[~no_info].mean()


def test_indices_have_two_decimals_and_stay_within_their_ends(persons):
    assert persons.bmi.min() >= facts.THINNEST
    assert persons.bmi.max() <= facts.FATTEST
    assert np.allclose(persons.bmi * 100, np.round(persons.bmi * 100))
    assert 27.3 == pytest.approx(persons.bmi.mean(), abs=0.2)
    assert 6.6 == pytest.approx(persons.bmi.std(), abs=0.2)


@pytest.mark.parametrize(
    ("name", "with_it", "without_it"),
    [
        ("hba1c", facts.HBA1C_WITH, facts.HBA1C_WITHOUT),
        ("glucose", facts.GLUCOSE_WITH, facts.GLUCOSE_WITHOUT),
    ],
)
def test_levels_are_equally_frequent_given_diabetes(persons, name, with_it, without_it):
    levels = getattr(persons, name)
    for ill, allowed in ((True, with_it), (False, without_it)):
        of_them = levels[persons.diabetes == ill]
        place = np.searchsorted(allowed, of_them)
        assert np.array_equal(np.array(allowed)[place], of_them)
        expected = np.full(len(allowed), 1 / len(allowed))
        assert within_error(expected, shares(place, len(allowed)), len(of_them))
    assert 18 == len({*with_it, *without_it}) == len(np.unique(levels))


def test_two_thresholds_tell_most_of_the_ill_and_nobody_else(persons):
    beyond = (persons.hba1c > 6.6) | (persons.glucose > 200)
    assert persons.diabetes[beyond].all()
    assert 0.97 == pytest.approx((beyond == persons.diabetes).mean(), abs=0.01)
