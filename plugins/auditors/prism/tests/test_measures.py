"""Measures and tests of chance, against slow ones: least squares, scipy, all ways to deal."""

from collections.abc import Callable
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from anonloom_prism.exact_tail_bounds import chernoff
from anonloom_prism.measures import (
    Classifier,
    CramersV,
    Whole,
    corrected_v,
    pair_sums,
    summed_alone,
)
from anonloom_prism.pair_counts import Grams, joint
from anonloom_prism.permutation_test import by_dealing
from anonloom_prism.regression import Regressions
from anonloom_prism.significance import (
    ContingencyTable,
    Tests,
    by_cells,
    by_regression,
    contribution_p,
    form_moments,
    moments,
)

Make = Callable[[int, int, int], Grams]
Slow = Callable[[NDArray[np.integer], NDArray[np.bool_]], float]

SEEDS = st.integers(0, 10**6)
ROWS = st.integers(8, 60)


def cells_of(grams: Grams, chosen: tuple[int, ...]) -> NDArray[np.integer]:
    """Joint level of every row."""
    return joint(grams.encoded, chosen)


def slow_r2(grams: Grams, chosen: tuple[int, ...], true: NDArray[np.bool_]) -> float:
    """Least squares on dummy variables."""
    blocks = [
        grams.encoded.codes[index][:, None] == np.arange(grams.encoded.levels[index])
        for index in chosen
    ]
    design = np.concatenate([np.ones((len(true), 1)), *blocks], axis=1).astype(float)
    fitted = design @ np.linalg.lstsq(design, true.astype(float), rcond=None)[0]
    return float(1 - ((true - fitted) ** 2).sum() / ((true - true.mean()) ** 2).sum())


@given(seed=SEEDS, rows=ROWS)
def test_cell_measures_of_all_pairs_agree_with_slow_ones(
    random_grams: Make, slow: dict[str, Slow], seed: int, rows: int
) -> None:
    grams = random_grams(seed, rows, 3)
    whole = Whole.of(grams.members, grams.sizes)
    true = grams.members[:, grams.classes]
    assume((whole.hits < rows).all())
    for name, measure in (("cramers-v", CramersV()), ("classifier", Classifier())):
        args = (measure, grams.total_counts(), grams.encoded.starts, whole)
        pairs = measure.figure(pair_sums(*args), whole)
        alone = measure.figure(summed_alone(*args), whole)
        for target in range(3):
            for i, j in combinations(range(3), 2):
                expected = slow[name](cells_of(grams, (i, j)), true[target])
                assert pytest.approx(expected, abs=1e-7) == pairs[target, i, j]
            for i in range(3):
                expected = slow[name](cells_of(grams, (i,)), true[target])
                assert pytest.approx(expected, abs=1e-7) == alone[target, i]


@given(seed=SEEDS, rows=ROWS)
def test_multiple_correlation_agrees_with_least_squares(
    random_grams: Make, seed: int, rows: int
) -> None:
    grams = random_grams(seed, rows, 4)
    regressions = Regressions(grams)
    true = grams.members[:, grams.classes]
    assume(not true.all(axis=1).any())
    for size in (1, 2, 3):
        sets = np.array(list(combinations(range(4), size)))
        result = regressions.r_squared(sets)
        for index, chosen in enumerate(sets.tolist()):
            for target in range(3):
                expected = slow_r2(grams, tuple(chosen), true[target])
                assert pytest.approx(expected, abs=1e-5) == result[target, index]


@given(seed=SEEDS, rows=ROWS)
def test_uncorrected_measures_never_fall_as_a_set_grows(
    random_grams: Make, seed: int, rows: int
) -> None:
    grams = random_grams(seed, rows, 3)
    whole = Whole.of(grams.members, grams.sizes)
    assume((whole.hits < rows).all())
    measure, counts, starts = CramersV(), grams.total_counts(), grams.encoded.starts
    alone = measure.chi_squared_per_row(summed_alone(measure, counts, starts, whole), whole)
    pairs = measure.chi_squared_per_row(pair_sums(measure, counts, starts, whole), whole)
    regressions = Regressions(grams)
    for i, j in combinations(range(3), 2):
        assert (pairs[:, i, j] >= np.maximum(alone[:, i], alone[:, j]) - 1e-9).all()
        added = regressions.r_squared(np.array([[i, j]]))[:, 0]
        assert (added >= np.maximum(alone[:, i], alone[:, j]) - 1e-6).all()
        # A combination tells at least what its parts add up to.
        assert (pairs[:, i, j] >= added - 1e-6).all()


def test_repeated_attributes_add_nothing(random_grams: Make) -> None:
    grams = random_grams(5, 50, 2)
    codes, levels = grams.encoded.codes, grams.encoded.levels
    twice = type(grams.encoded)(("a", "b"), codes[[0, 0]], levels[[0, 0]], (None, None))
    asked = type("Asked", (), {"classes": grams.classes, "members": grams.members})
    regressions = Regressions(Grams(twice, asked))  # type: ignore[arg-type]  # what it reads of it
    one, both = (regressions.r_squared(np.array([chosen])) for chosen in ([0], [0, 1]))
    np.testing.assert_allclose(one, both, atol=1e-6)


def test_a_table_of_one_row_per_cell_tells_nothing() -> None:
    explained, cells = np.array([[1.0]]), np.array([20.0])
    assert [[0.0]] == corrected_v(explained, cells, 20).tolist()


@pytest.mark.parametrize(
    "levels", [[2, 1], [1, 1], [1, 1, 1], [2, 2], [3, 1, 2], [1, 4, 2, 1], [1, 1, 1, 4], [5, 3]]
)
def test_moments_are_those_of_all_ways_to_deal(levels: list[int]) -> None:
    rows, of = np.array(levels, float), np.repeat(np.arange(len(levels)), levels)
    n = len(of)
    for hits in range(1, n):
        results = []
        for chosen in combinations(range(n), hits):
            count = np.bincount(of[list(chosen)], minlength=len(levels))
            results.append(n * n / (hits * (n - hits)) * ((count**2 / rows).sum() - hits**2 / n))
        mean, variance = moments(
            np.array([float(n)]),
            np.array([float(hits)]),
            np.array([len(levels)]),
            np.array([(1 / rows).sum()]),
        )
        assert pytest.approx((np.mean(results), np.var(results))) == (mean[0], variance[0])


@pytest.mark.parametrize("n", [4, 5, 6])
def test_moments_of_a_quadratic_form_are_those_of_all_orders(n: int) -> None:
    rng = np.random.default_rng(n)
    span = np.linalg.qr(np.c_[np.ones(n), rng.normal(size=(n, 2))])[0][:, 1:]
    form, numbers = span @ span.T, rng.normal(size=n) ** 3
    numbers -= numbers.mean()
    results = [
        numbers[list(order)] @ form @ numbers[list(order)] for order in permutations(range(n))
    ]
    expected = (np.mean(results), np.var(results))
    leverage = float((np.diag(form) ** 2).sum())
    sums = float((numbers**2).sum()), float((numbers**4).sum())
    assert pytest.approx(expected) == form_moments(n, *sums, 2, leverage)


def test_the_two_tests_agree_on_a_single_attribute(random_grams: Make) -> None:
    """One attribute alone is added up and combined at once: the same form, the same moments."""
    grams = random_grams(3, 200, 2)
    for target in range(3):
        table = ContingencyTable.of(grams, (0,), target)
        assert pytest.approx(by_cells(table, 0.0)) == by_regression(table)


def test_p_values_are_near_those_of_dealing_many_times() -> None:
    rng = np.random.default_rng(8)
    rows = np.array([[30.0, 12, 3], [8, 25, 22]])
    blocks = [np.repeat(np.arange(3), of.astype(int)) for of in rows]
    true = [rng.random(len(of)) < 0.2 + 0.15 * (of == 1) for of in blocks]

    def gain(dealt: list[NDArray[np.bool_]]) -> tuple[float, NDArray[np.float64]]:
        pairs = zip(blocks, dealt, strict=True)
        hits = np.array([np.bincount(of, item, 3) for of, item in pairs])
        return float((hits**2 / rows).sum()), hits

    seen, hits = gain(true)
    dealt = [gain([rng.permutation(item) for item in true])[0] for _ in range(4000)]
    expected = np.mean([item >= seen - 1e-9 for item in dealt])
    assert pytest.approx(expected, abs=0.03) == contribution_p(rows, hits, 0.0)


def test_nothing_can_be_dealt_where_all_agree() -> None:
    rows = np.array([[3.0, 0.0], [0.0, 4.0]])
    assert 1.0 == contribution_p(rows, np.array([[3.0, 0.0], [0.0, 0.0]]), 0.05)


def all_deals(rows: NDArray[np.integer], hits: int) -> dict[tuple[int, ...], float]:
    """How likely every way is to deal hits among the rows of some levels."""
    of = np.repeat(np.arange(len(rows)), rows)
    dealt = [
        tuple(np.bincount(of[list(chosen)], minlength=len(rows)).tolist())
        for chosen in combinations(range(len(of)), hits)
    ]
    return {item: dealt.count(item) / len(dealt) for item in set(dealt)}


@pytest.mark.parametrize(
    ("first", "second"),
    [(([6, 3, 2], 3), ([2, 2], 2)), (([1, 1, 9], 2), ([5, 4], 7)), (([8, 4], 1), ([3, 1, 1], 4))],
)
def test_the_bound_is_never_below_the_chance_over_all_ways_to_deal(
    first: tuple[list[int], int], second: tuple[list[int], int]
) -> None:
    """Two blocks, each dealt on its own; hits may be the more frequent outcome."""
    width = max(len(first[0]), len(second[0]))
    rows = np.zeros((2, width))
    rows[0, : len(first[0])], rows[1, : len(second[0])] = first[0], second[0]
    ways = []
    for key, of_one in all_deals(np.array(first[0]), first[1]).items():
        for other, of_other in all_deals(np.array(second[0]), second[1]).items():
            hits = np.zeros((2, width))
            hits[0, : len(key)], hits[1, : len(other)] = key, other
            gain = (hits**2 / np.where(rows > 0, rows, 1.0)).sum()
            ways.append((gain, of_one * of_other, hits))
    for gain, _, hits in ways:
        chance = sum(of for other, of, _ in ways if other >= gain - 1e-9)
        assert chance - 1e-9 <= chernoff(rows, hits) <= 1.0


def test_dealing_gives_the_chance_over_all_ways_to_deal() -> None:
    rows = np.array([[6.0, 3, 2], [2, 2, 0]])
    ways = [
        (np.array([key, (*other, 0)]), of_one * of_other)
        for key, of_one in all_deals(np.array([6, 3, 2]), 3).items()
        for other, of_other in all_deals(np.array([2, 2]), 2).items()
    ]
    gains = [float((hits**2 / np.where(rows > 0, rows, 1.0)).sum()) for hits, _ in ways]
    for (hits, _), gain in zip(ways, gains, strict=True):
        chance = sum(of for (_, of), other in zip(ways, gains, strict=True) if other >= gain - 1e-9)
        result = by_dealing(rows, hits.astype(float), 0.0005)
        assert result is not None
        # Below the level all deals are made; above it, it ends as soon as that is sure.
        assert pytest.approx(chance, abs=0.02) == result


def test_more_deals_than_can_be_made_are_not_begun() -> None:
    assert by_dealing(np.full((10, 10), 5.0), np.full((10, 10), 1.0), 1e-6) is None


def test_the_bound_decides_where_a_few_hits_meet_in_rare_levels() -> None:
    """Four hits in 400 rows, two of them in a level of four: 0.0006 of all deals gain as much."""
    rows, rng = np.array([[240.0, 80, 40, 16, 12, 4, 4, 4]]), np.random.default_rng(0)
    hits = np.array([[2.0, 0, 0, 0, 0, 2, 0, 0]])
    dealt = rng.multivariate_hypergeometric(rows[0].astype(int), 4, 200_000)
    chance = ((dealt**2 / rows).sum(axis=1) >= (hits**2 / rows).sum() - 1e-9).mean()
    assert contribution_p(rows, hits, 0.0) < chance / 3
    assert contribution_p(rows, hits, 0.05) > chance


def test_every_size_has_an_equal_part_of_the_false_alarms() -> None:
    tests = Tests(attributes=5, targets=2, size=3, hidden=0)
    assert [30, 60, 60] == [tests.of_size(size) for size in (1, 2, 3)]


def test_attributes_that_are_tested_value_by_value_are_tested_twice() -> None:
    tests = Tests(attributes=5, targets=2, size=3, hidden=4)
    assert [54, 60, 60] == [tests.of_size(size) for size in (1, 2, 3)]
