"""The closed formulas against enumeration of everything that can happen, and their limits."""

import itertools
from fractions import Fraction
from math import comb

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonloom.errors import UsageError
from anonloom_sentinels_twins import formulas
from anonloom_sentinels_twins.tolerant import (
    campaign_level,
    more_than,
    most_tolerated,
    worker_level,
)
from anonloom_sentinels_twins.twin_pairs import count_sharing, least_shared, sharing_pairs
from anonloom_sentinels_twins.work_check import Campaign

ZIPF = (12 / 25, 6 / 25, 4 / 25, 3 / 25)
CAMPAIGN = Campaign(jobs=1000, workers=10, lazy=4, omission=0.2, classes=ZIPF, budget=50)


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def passing_sentinel(lazy, p, guess):
    return 1 - p * (1 - guess) if lazy else Fraction(1)


def agreeing_twin(lazy, p, largest, colluding=False):
    """The probability that both answers to a twin are alike: coins of both, and the guess."""
    if colluding and all(lazy):
        return Fraction(1)
    total = Fraction(0)
    for omitted in itertools.product([False, True], repeat=2):
        chance = Fraction(1)
        for worker, out in zip(lazy, omitted, strict=True):
            chance *= (p if out else 1 - p) if worker else Fraction(not out)
        total += chance * (largest if omitted[0] != omitted[1] else 1)
    return total


def dealt_evenly(places, number):
    """All ways to deal controls evenly over places: whole rounds, and a choice of the rest."""
    rounds, rest = divmod(number, len(places))
    for some in itertools.combinations(places, rest):
        yield [*places * rounds, *some]


TINY = [
    (workers, z, p)
    for workers in (2, 3, 4)
    for z in range(workers + 1)
    for p in (Fraction(1, 5), Fraction(3, 4), Fraction(1))
]


@pytest.mark.parametrize(("workers", "z", "p"), TINY)
def test_sentinels_equal_the_enumeration_of_workers(workers, z, p):
    guess = Fraction(1, 3)
    for s in range(6):
        one_by_one = mean(
            np.prod([passing_sentinel(worker < z, p, guess) for worker in placed])
            for placed in itertools.product(range(workers), repeat=s)
        )
        even = mean(
            np.prod([passing_sentinel(worker < z, p, guess) for worker in placed])
            for placed in dealt_evenly(list(range(workers)), s)
        )
        arguments = (workers, z, float(p), float(guess), s)
        assert float(one_by_one) == pytest.approx(float(formulas.sentinels_at_random(*arguments)))
        assert float(even) == pytest.approx(float(formulas.sentinels_spread(*arguments)))
        assert even <= one_by_one


@pytest.mark.parametrize("colluding", [False, True])
@pytest.mark.parametrize(("workers", "z", "p"), TINY)
def test_twins_equal_the_enumeration_and_even_dealing_is_not_worse(workers, z, p, colluding):
    largest = Fraction(2, 5)
    pairs = list(itertools.combinations(range(workers), 2))
    alike = {pair: agreeing_twin([w < z for w in pair], p, largest, colluding) for pair in pairs}
    for t in range(4):
        one_by_one = mean(
            np.prod([alike[pair] for pair in placed])
            for placed in itertools.product(pairs, repeat=t)
        )
        even = mean(np.prod([alike[pair] for pair in placed]) for placed in dealt_evenly(pairs, t))
        stated = formulas.twins(workers, z, float(p), float(largest), t, colluding)
        assert float(one_by_one) == pytest.approx(float(stated))
        assert even <= one_by_one


@pytest.mark.parametrize(("workers", "z", "p"), TINY)
def test_replicas_equal_the_enumeration_of_workers_and_coins(workers, z, p):
    largest = Fraction(2, 5)
    for r in range(1, workers):
        total = []
        for placed in itertools.combinations(range(workers), r + 1):
            alike = Fraction(0)
            for omitted in itertools.product([False, True], repeat=r + 1):
                chance = Fraction(1)
                for worker, out in zip(placed, omitted, strict=True):
                    chance *= (p if out else 1 - p) if worker < z else Fraction(not out)
                alike += chance * (1 if len(set(omitted)) == 1 else largest)
            total.append(alike)
        assert float(mean(total)) == pytest.approx(
            float(formulas.replicas(workers, z, float(p), float(largest), r))
        )


def test_equally_many_sentinels_per_class_are_not_worse_than_classes_drawn_on_their_own():
    p, classes, workers = Fraction(3, 5), 3, 3
    for z, s in itertools.product(range(workers + 1), range(1, 6)):
        values = []
        for surplus in itertools.combinations(range(classes), s % classes):
            kinds = [*range(classes)] * (s // classes) + list(surplus)
            for order in set(itertools.permutations(kinds)):
                for placed in dealt_evenly(list(range(workers)), s):
                    missed = sum(w < z and kind != 0 for w, kind in zip(placed, order, strict=True))
                    # Surpluses and orders are not equally many: weigh each surplus the same.
                    weight = Fraction(1, len(set(itertools.permutations(kinds))))
                    values.append((weight, (1 - p) ** missed))
        exact = sum(w * v for w, v in values) / sum(w for w, _ in values)
        assert (
            float(exact) <= float(formulas.sentinels_spread(workers, z, float(p), 1 / 3, s)) + 1e-12
        )


def test_sentinels_dealt_in_the_order_of_classes_would_be_worse_than_stated():
    """Why the placement deals in random order: six sentinels, three classes, four workers."""
    kinds = "AABBCC"
    held = [{kinds[i] for i in range(6) if i % 4 == place} for place in range(4)]
    unnoticed = mean(Fraction(kind == {"B"}) for kind in held)
    assert Fraction(1, 2) == unnoticed
    assert 2 / 9 == pytest.approx(float(formulas.sentinels_spread(4, 1, 1.0, 1 / 3, 6)))


def test_equally_many_twins_per_worker_would_be_worse_than_stated():
    """Why twins are dealt over pairs of workers: a perfect matching of four, two lazy."""
    matchings = [((0, 1), (2, 3)), ((0, 2), (1, 3)), ((0, 3), (1, 2))]
    lazy = {0, 1}
    unnoticed = mean(
        Fraction(all(len(lazy & set(pair)) != 1 for pair in pairs)) for pairs in matchings
    )
    assert Fraction(1, 3) == unnoticed
    assert 1 / 9 == pytest.approx(float(formulas.twins(4, 2, 1.0, 0.0, 2)))


def without_replacement(jobs, m, k):
    """The patterns of omission over m of jobs jobs of which exactly k are omitted."""
    return {
        pattern: Fraction(comb(jobs - m, k - sum(pattern)), comb(jobs, k))
        for pattern in itertools.product([0, 1], repeat=m)
        if 0 <= k - sum(pattern) <= jobs - m
    }


@pytest.mark.parametrize(("jobs", "k"), [(4, 1), (5, 2), (6, 3), (8, 6), (10, 2)])
@pytest.mark.parametrize("m", [1, 2, 3, 4])
def test_an_exact_share_keeps_the_bound_where_a_lazy_worker_is_compared_with_an_honest_one(
    jobs, k, m
):
    wrong = Fraction(3, 4)
    exact = sum(
        chance * (1 - wrong) ** sum(pattern)
        for pattern, chance in without_replacement(jobs, m, k).items()
    )
    assert exact <= (1 - Fraction(k, jobs) * wrong) ** m


def test_an_exact_share_breaks_the_bound_for_twins_that_two_lazy_workers_share():
    patterns = without_replacement(2, 2, 1)
    exact = sum(chance**2 for chance in patterns.values())
    assert Fraction(1, 2) == exact
    assert 1 / 4 == pytest.approx(float(formulas.twins(2, 2, 0.5, 0.0, 2)))
    # The formula for colluding workers does not count these twins, and remains a bound.
    assert float(formulas.twins(2, 2, 0.5, 0.0, 2, colluding=True)) == 1


def test_both_together_are_the_product():
    expected = formulas.sentinels_spread(10, 4, 0.2, 0.25, 13) * formulas.twins(
        10, 4, 0.2, 0.48, 20
    )
    assert expected == formulas.together(10, 4, 0.2, 0.25, 0.48, 13, 20)
    assert expected == pytest.approx(float(formulas.undetected_probability(CAMPAIGN, 13, 20)))


def test_formulas_take_arrays_of_shapes_that_broadcast():
    workers = np.asarray([10, 20])[:, None]
    s = np.asarray([0, 7, 45])
    for formula in (formulas.sentinels_at_random, formulas.sentinels_spread, formulas.twins):
        table = formula(workers, 4, 0.2, 0.25, s)
        assert (2, 3) == table.shape
        for (i, w), (j, number) in itertools.product(enumerate((10, 20)), enumerate((0, 7, 45))):
            assert float(formula(w, 4, 0.2, 0.25, number)) == pytest.approx(table[i, j])
    assert (2, 3) == formulas.replicas(workers, 4, 0.2, 0.48, [1, 3, 9]).shape
    assert (2, 3) == formulas.undetected_probability(CAMPAIGN, np.arange(2)[:, None], s).shape


def test_between_whole_numbers_of_lazy_workers_a_campaign_has_the_one_or_the_other():
    for formula in (
        formulas.sentinels_at_random,
        formulas.sentinels_spread,
        formulas.twins,
        formulas.replicas,
    ):
        two, three = (formula(10, z, 0.3, 0.4, 7) for z in (2, 3))
        assert float(0.75 * two + 0.25 * three) == pytest.approx(
            float(formula(10, 2.25, 0.3, 0.4, 7))
        )
    assert float(formulas.twin_differs(10, 0.5, 0.3)) == pytest.approx(
        float(formulas.twin_differs(10, 1, 0.3)) / 2
    )
    both = [formulas.together(10, z, 0.3, 0.25, 0.4, 7, 7) for z in (2, 3, 2.5)]
    assert float(both[0] + both[1]) / 2 == pytest.approx(float(both[2]))


def test_a_large_number_of_workers_gives_the_binomial_limit():
    q = 0.4 * 0.2
    assert 2 * q * (1 - q) == pytest.approx(
        float(formulas.twin_differs(10**7, 4 * 10**6, 0.2)), rel=1e-5
    )


@given(
    st.integers(2, 40).flatmap(
        lambda workers: st.tuples(st.just(workers), st.integers(1, workers))
    ),
    st.floats(0.01, 1),
    st.integers(2, 20),
    st.floats(0.01, 0.99),
)
def test_the_threshold_says_which_control_notices_more(numbers, p, c, largest):
    workers, z = numbers
    sentinel = float(formulas.sentinel_fails(workers, z, p, 1 / c))
    twin = float(formulas.twin_differs(workers, z, p)) * (1 - largest)
    if abs(sentinel - twin) > 1e-12:
        assert (sentinel > twin) == (largest > float(formulas.threshold(workers, z, p, c)))


def test_where_twins_notice_nothing_the_threshold_is_below_everything():
    assert [-np.inf] * 3 == formulas.threshold([1, 10, 10], [1, 10, 0], [0.2, 1.0, 0.2], 4).tolist()


def test_uniform_sentinels_leave_the_smallest_best_guess():
    rng = np.random.default_rng(5)
    for shares in rng.dirichlet(np.ones(5), size=50):
        for spread in ("data", "inverse", "reversed"):
            drawn = formulas.sentinel_classes(shares, spread)
            assert 1 == pytest.approx(drawn.sum())
            assert drawn.max() >= formulas.sentinel_classes(shares).max()


@pytest.mark.parametrize("colluding", [False, True])
@pytest.mark.parametrize("error", [0.0, 0.05])
def test_groups_are_sized_for_the_lazy_workers_that_twins_watch_least(error, colluding):
    """Enumerates who is lazy: exact for disjoint groups, a bound for groups that overlap."""
    rng = np.random.default_rng(11)
    seen = {True: 0, False: 0}
    for _ in range(60):
        workers = int(rng.integers(2, 8))
        z, p = int(rng.integers(1, workers + 1)), float(rng.uniform(0.05, 1))
        side = rng.integers(0, 5, workers)
        groups = [np.flatnonzero(side == g).tolist() for g in range(int(rng.integers(0, 4)))]
        groups += [[0, workers - 1]] * int(rng.integers(2))
        campaign = Campaign(
            jobs=9, workers=workers, lazy=z, omission=p, classes=(0.6, 0.4), budget=3, error=error,
            colluding=colluding, groups=groups,
        )  # fmt: skip
        pairs = sharing_pairs(workers, campaign.groups)
        assert len(pairs) == count_sharing(workers, campaign.groups)
        if len(pairs) == 0:
            continue
        shared = 0 if colluding else (1 - p) ** 2 * error + 2 * p * (1 - p) * 0.4
        rates = np.asarray([error, (1 - p) * error + p * 0.4, shared])
        least = min(
            rates[np.isin(pairs, lazy).sum(axis=1)].mean()
            for lazy in itertools.combinations(range(workers), z)
        )
        disjoint = sum(map(len, campaign.groups)) == len(frozenset().union(*campaign.groups))
        stated = formulas.mismatch_rates(campaign)[1]
        assert stated <= least + 1e-12
        if disjoint:
            assert least == pytest.approx(stated)
        seen[disjoint] += 1
    assert min(seen.values()) > 5


def test_pairs_that_may_share_a_job():
    expected = [[0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]
    assert expected == sharing_pairs(4, [frozenset({0, 1})]).tolist()
    assert [] == sharing_pairs(3, [frozenset({0, 1, 2})]).tolist()
    assert [] == sharing_pairs(1).tolist()
    assert (4 * 9.0, 6.0) == least_shared(10, 4, (), 0.4)


def test_without_pairs_there_are_no_twins():
    campaign = attrs.evolve(CAMPAIGN, workers=2, lazy=1, groups=[[0, 1]])
    assert 1.0 > float(formulas.undetected_probability(campaign, 5, 0))
    with pytest.raises(UsageError) as refused:
        formulas.undetected_probability(campaign, 5, 1)
    expected = "twins need two workers that may share a job\n    Use more workers or smaller groups, or sentinels only."
    assert expected == str(refused.value)


def test_tolerated_is_the_least_number_that_honest_workers_seldom_exceed():
    def exceeds(k, n, e):
        return sum(comb(n, i) * e**i * (1 - e) ** (n - i) for i in range(k + 1, n + 1))

    for n, e, level in itertools.product((0, 1, 7, 40), (0.01, 0.2, 0.6), (0.1, 0.001)):
        expected = next(k for k in range(n + 1) if exceeds(k, n, e) <= level)
        assert expected == int(most_tolerated(n, e, level))
        for k in range(-1, n + 1):
            assert exceeds(max(k, -1), n, e) == pytest.approx(float(more_than(k, n, e)), abs=1e-12)
    assert [0, 0] == most_tolerated([5, 5000], 0.0, 0.01).tolist()


def test_all_tests_of_a_campaign_share_its_level():
    assert 0.01 == pytest.approx(2 * campaign_level(0.01) + 7 * worker_level(7, 0.01))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.integers(0, 11))
def test_different_chances_are_no_likelier_to_stay_low_than_their_mean(chances, k):
    """Hoeffding's inequality of 1956, on which the bound for tolerant tests stands."""
    n, average = len(chances), float(np.mean(chances))
    if k > n * average - 1:
        return
    exact = np.ones(1)
    for chance in chances:
        exact = np.convolve(exact, [1 - chance, chance])
    assert exact[: k + 1].sum() <= 1 - float(more_than(k, n, average)) + 1e-9


def test_too_few_tolerant_controls_promise_nothing():
    campaign = attrs.evolve(CAMPAIGN, error=0.02)
    assert [1.0, 1.0] == formulas.undetected_probability(campaign, 0, [0, 40]).tolist()
    assert 0.01 > float(formulas.undetected_probability(campaign, 8, 222))


def test_if_everybody_omits_everything_only_sentinels_say_so():
    everybody = attrs.evolve(CAMPAIGN, lazy=10, omission=1.0)
    assert 1.0 == float(formulas.undetected_probability(everybody, 0, 500))
    assert 0.25**5 == pytest.approx(float(formulas.undetected_probability(everybody, 5, 500)))
    assert 0.25**5 == pytest.approx(float(formulas.unnoticed_extreme(CAMPAIGN, 5)))
    # 10 sentinels of which 2 may fail: at most 2 of 10 guesses are wrong.
    tolerant = attrs.evolve(CAMPAIGN, error=0.02)
    expected = sum(comb(10, i) * 0.75**i * 0.25 ** (10 - i) for i in range(3))
    assert expected == pytest.approx(float(formulas.unnoticed_extreme(tolerant, 10)))
