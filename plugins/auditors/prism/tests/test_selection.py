"""The choice of attributes: admissible always, optimal where it says so."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom_prism.admissible import Rule
from anonloom_prism.exact import solve
from anonloom_prism.greedy import leave_out
from anonloom_prism.problem import pose
from anonloom_prism.selection import select

#: More nodes than any search here needs.
ENOUGH = 100_000


def brute_force(problem, rule):
    """The smallest objective over all admissible subsets, and the subset."""
    subsets = itertools.chain.from_iterable(
        itertools.combinations(sorted(rule.candidates), size) for size in range(rule.most + 1)
    )
    return min((problem.fit(subset).value, subset) for subset in subsets if rule.admits(subset))


def posed(seed, rows=24, attributes=5, classes=2, width=2, most=100, C=1.0):
    """Random numbers and a label that depends on some of them."""
    rng = np.random.default_rng(seed)
    block = np.repeat(np.arange(attributes), width)
    features = rng.integers(-2, 3, (rows, len(block))).astype(float)
    reached = features @ rng.normal(size=len(block)) + rng.normal(size=rows)
    labels = np.argsort(np.argsort(reached)) * classes // rows
    return pose(features, block, labels, classes, C=C, rows=most)


@st.composite
def rules(draw):
    sets = st.frozensets(st.integers(0, 4), min_size=1, max_size=3)
    return Rule.of(
        range(5),
        draw(st.frozensets(st.integers(0, 4), max_size=1)),
        draw(st.lists(sets, max_size=4)),
        draw(st.none() | st.integers(1, 4)),
    )


@settings(max_examples=40)
@given(
    st.integers(0, 50),
    rules(),
    st.sampled_from([2, 3]),
    st.sampled_from([0.05, 1.0, 100.0]),
    st.sampled_from([0, 100]),
)
def test_an_exact_choice_is_what_trying_all_admissible_subsets_finds(seed, rule, classes, C, few):
    """By the programme alone, and by trying the sets to which nothing can be added."""
    problem = posed(seed, classes=classes, C=C)

    result = select(problem, rule, solver="exact", node_limit=ENOUGH, few=few)

    assert rule.admits(result.attributes)
    assert result.exact
    if result.by == "exact":
        assert brute_force(problem, rule)[0] == pytest.approx(result.objective, abs=1e-6)
        assert result.bound <= brute_force(problem, rule)[0] + 1e-6


@pytest.mark.parametrize("C", [1e-6, 1e6])
@pytest.mark.parametrize("classes", [2, 3])
def test_prices_far_apart_are_told_apart(C, classes):
    """HiGHS takes prices below 1e-7 for nothing, and called such programmes unbounded."""
    problem, rule = posed(11, classes=classes, C=C), Rule.of(range(5), (), [(0, 1), (1, 2)], 3)

    result = select(problem, rule, solver="exact", node_limit=ENOUGH, few=0)

    best, _ = brute_force(problem, rule)
    assert rule.admits(result.attributes)
    assert best == pytest.approx(result.objective, rel=1e-4)
    assert result.bound <= best * (1 + 1e-6)


@settings(max_examples=25)
@given(st.integers(0, 50), rules())
def test_the_greedy_set_is_admissible_and_cannot_be_added_to(seed, rule):
    problem = posed(seed)

    chosen = leave_out(problem, rule, problem.fit(rule.candidates))

    assert rule.admits(chosen)
    assert [] == [
        candidate for candidate in rule.candidates - chosen if rule.admits(chosen | {candidate})
    ]


def test_the_programme_does_not_need_the_greedy_set_to_be_good():
    """With a poor limit, here that of the worst subset, it still finds the best one."""
    problem, rule = posed(3), Rule.of(range(5), (), [(0, 1), (1, 2), (3, 4)], 3)
    nothing = problem.fit(()).value

    proof = solve(problem, rule, problem.fit(rule.candidates), nothing, node_limit=ENOUGH)

    best, _ = brute_force(problem, rule)
    assert best == pytest.approx(problem.fit(proof.chosen).value, abs=1e-6)
    assert best == pytest.approx(proof.bound, abs=1e-5)


def test_when_the_nodes_are_used_up_an_admissible_set_remains_and_the_gap_says_so():
    problem, rule = posed(4, 60, 12, width=1), Rule.of(range(12), (), [(0, 1)], 6)

    result = select(problem, rule, solver="exact", node_limit=1)
    greedy = select(problem, rule, solver="greedy", node_limit=1)
    proved = select(problem, rule, solver="exact", node_limit=ENOUGH)

    assert rule.admits(result.attributes)
    assert ("exact", False) == (result.by, result.exact)
    assert result.bound <= proved.objective <= result.objective <= greedy.objective
    assert proved.exact


@settings(max_examples=60)
@given(rules())
def test_the_sets_to_which_nothing_can_be_added(rule):
    every = [
        frozenset(some)
        for size in range(rule.most + 1)
        for some in itertools.combinations(sorted(rule.candidates), size)
        if rule.admits(some)
    ]
    expected = [item for item in every if not any(item < other for other in every)]

    assert sorted(expected, key=sorted) == rule.maximal(1000)
    assert rule.maximal(0) is None


@pytest.mark.parametrize("few", [0, 100])
def test_of_equally_good_sets_the_one_with_the_lowest_numbers_is_taken(few):
    """Two twins, of which one must go: rounding must not choose between them."""
    features = np.random.default_rng(1).normal(size=(40, 3))[:, [0, 1, 0, 2]]
    labels = (features[:, 0] + features[:, 1] > 0).astype(np.int64)
    problem = pose(features, np.arange(4), labels, 2, C=1.0, rows=100)

    result = select(
        problem, Rule.of(range(4), (), [(0, 2)]), solver="exact", node_limit=ENOUGH, few=few
    )

    assert (0, 1, 3) == result.attributes


def test_more_attributes_never_make_the_loss_larger():
    problem = posed(5)

    values = [problem.fit(range(count)).value for count in range(6)]

    assert sorted(values, reverse=True) == pytest.approx(values)


def test_nothing_is_solved_where_everything_can_be_used():
    rule = Rule.of(range(5), [1], [(1, 2), (3,)])

    result = select(posed(6), rule, solver="exact", node_limit=1)

    assert ((0, 2, 4), "settled", None, 0.0) == (
        result.attributes,
        result.by,
        result.objective,
        result.gap,
    )
    assert result.exact


def test_wide_tables_are_for_the_greedy_way():
    problem = posed(7, attributes=50, width=1)

    result = select(problem, Rule.of(range(50), (), [(0, 1)], 10), solver="auto", node_limit=10)

    assert ("greedy", 10) == (result.by, len(result.attributes))


def test_a_rule_keeps_what_is_left_to_decide():
    rule = Rule.of(range(6), [0], [(1,), (1, 2), (0, 3), (3, 4, 5), (3, 4)], 9)

    assert frozenset({2, 3, 4, 5}) == rule.candidates
    assert (frozenset({3, 4}),) == rule.correlations
    assert 4 == rule.most


def test_equal_rows_are_one_point_of_their_number():
    features = np.array([[0.0], [-0.0], [1.0], [1.0], [1.0]])
    labels = np.array([0, 0, 0, 1, 1])

    problem = pose(features, np.array([0]), labels, 2, C=2.0, rows=3)

    assert not problem.sampled
    assert [[0.0, -1.0, 0.4], [1.0, -1.0, 0.2], [1.0, 1.0, 0.4]] == sorted(
        [point, sign, share]
        for point, sign, share in zip(
            problem.points[:, 0].tolist(), problem.signs[0].tolist(), problem.shares, strict=True
        )
    )
    assert 0.1 == pytest.approx(problem.penalty)


def test_a_sample_keeps_the_shares_of_the_classes():
    problem = posed(8, rows=100, most=10)

    assert problem.sampled
    assert len(problem.points) <= 10
    assert 1.0 == pytest.approx(problem.shares.sum())
    assert 0.5 == pytest.approx(problem.shares[problem.signs[0] > 0].sum())
