"""The C of every kernel leaves the bits of its Python text, for random and for hostile arguments."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom_kernels.comparison import assert_same
from anonloom_kernels.compiled import is_compiled
from anonloom_rayden import scores, tree, vantage
from anonloom_rayden.gower import EQUAL, LINE, PAIRS, TREE, Space
from anonloom_rayden.scores import score_classes
from anonloom_rayden.tree import Nodes, Points, Rule, grow_nodes, most_leaves
from anonloom_rayden.tree_growth import _apart

pytestmark = pytest.mark.skipif(
    not is_compiled("anonloom_rayden"),
    reason="the C was not built: there is nothing to compare with",
)

KINDS = (LINE, EQUAL, PAIRS, TREE)
LARGEST_SALT = 2**63 - 1


def part_of(kind, size, rng, odd):
    """Values and ancestors of an axis; some values are no numbers if they are odd."""
    none = np.empty((0, size), np.int32)
    if kind == EQUAL:
        return np.empty(0), none
    if kind == TREE:
        # Two levels of groups over the codes, whose first nodes are themselves, and one root.
        leaves = np.arange(size)
        levels = [leaves, size + leaves // 3, 2 * size + leaves // 7, np.full(size, 3 * size)]
        values, above = rng.random(3 * size + 1), np.array(levels, np.int32)
        above[:, -1] = 0
    else:
        values, above = rng.random(size if kind == LINE else size * size), none
    if odd:
        some = rng.integers(len(values), size=len(values) // 8 + 1)
        values[some] = rng.choice([np.nan, np.inf, -np.inf], size=len(some))
    return values, above


def made_space(kinds, sizes, rng, euclidean=False, odd=False):
    """The last code of every axis stands for missing values; of one of size 1 none does."""
    parts = [part_of(kind, size, rng, odd) for kind, size in zip(kinds, sizes, strict=True)]
    weights = rng.integers(1, 4, len(kinds)).astype(float)
    values, above = [part[0].ravel() for part in parts], [part[1].ravel() for part in parts]
    starts = [np.cumsum([0, *map(len, own)], dtype=np.int64)[:-1] for own in (values, above)]
    return Space(
        np.array(kinds, np.int64),
        weights / max(weights.sum(), 1.0),
        np.array(sizes, np.int64),
        np.array([size - 1 if size > 1 else -1 for size in sizes], np.int64),
        starts[0],
        np.concatenate([np.empty(0), *values]),
        starts[1],
        np.concatenate([np.empty(0, np.int32), *above]).astype(np.int32),
        euclidean,
    )


def drawn_codes(sizes, rows, rng):
    codes = [rng.integers(size, size=rows) for size in sizes]
    return np.array(codes, np.int32).reshape(len(sizes), rows)


def as_points(codes):
    """Distinct columns in ascending order, how often each occurs, and the number of each column."""
    if not len(codes):
        return codes[:, :1], np.array([codes.shape[1]]), np.zeros(codes.shape[1], np.int64)
    found, number, weight = np.unique(codes, axis=1, return_inverse=True, return_counts=True)
    return np.ascontiguousarray(found), weight, number.ravel().astype(np.int64)


@st.composite
def spaces(draw):
    kinds = draw(st.lists(st.sampled_from(KINDS), max_size=4))
    sizes = [draw(st.sampled_from([1, 2, 3, 8, 40])) for _ in kinds]
    # A tree whose only code is the missing one has no nodes to go up to.
    sizes = [
        max(size, 2) if kind == TREE else size for kind, size in zip(kinds, sizes, strict=True)
    ]
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    space = made_space(kinds, sizes, rng, draw(st.booleans()), draw(st.integers(0, 4)) == 0)
    return space, sizes, rng


# --- the tree -------------------------------------------------------------------------------------


def grown(space, rule, codes_of_roots, salts, until, once):
    """Compare the growth of trees over some classes; return the leaves and their points."""
    points, starts, counts, rows = [], [], [], []
    for codes in codes_of_roots:
        own, weight, _ = as_points(codes)
        starts.append(sum(map(len, (weights for _, weights in points))))
        counts.append(len(weight))
        rows.append(codes.shape[1])
        points.append((own, weight))
    weight = np.concatenate([weights for _, weights in points]).astype(np.int64)
    codes = np.concatenate([own for own, _ in points], axis=1)
    roots = Nodes(*(np.array(part, np.int64) for part in (starts, counts, rows, salts)))
    spare = 1 if once else 0 if rule.cut == tree.PAPER else roots.size // rule.least
    held, roots = _apart(Points(codes, np.cumsum(weight) - weight, weight), roots, spare)
    leaves = Nodes(*(np.zeros(most_leaves(rule, roots, once), np.int64) for _ in range(4)))
    count = assert_same(grow_nodes, space, rule, held, roots, until, once, leaves)
    assert sum(rows) == leaves.size[:count].sum()
    return held, Nodes(*(part[:count] for part in leaves))


@given(
    made=spaces(),
    rows=st.lists(st.integers(1, 60), min_size=1, max_size=3),
    cut=st.sampled_from([tree.ALIGNED, tree.HALF, tree.PAPER]),
    how=st.sampled_from([vantage.RANDOM, vantage.FARTHEST, vantage.BEST_SPREAD]),
    least=st.integers(1, 9),
    attempt=st.integers(0, 3),
    wider=st.integers(1, 5),
    once=st.booleans(),
    salt=st.integers(0, LARGEST_SALT),
)
@settings(deadline=None, max_examples=300)
def test_trees_are_grown_alike(made, rows, cut, how, least, attempt, wider, once, salt):
    space, sizes, rng = made
    codes = [drawn_codes(sizes, count, rng) for count in rows]
    salts = [salt, 0, LARGEST_SALT][: len(rows)]
    # Where the least size decides, a node that is cut has twice that.
    grown(space, Rule(cut, how, least, attempt), codes, salts, 2 * least * wider, once)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("euclidean", [False, True])
@pytest.mark.parametrize("how", [vantage.RANDOM, vantage.FARTHEST, vantage.BEST_SPREAD])
def test_large_nodes_are_judged_by_a_sample_alike(kind, euclidean, how):
    """More points than judges, and more codes than fit into a byte."""
    rng = np.random.default_rng(kind)
    sizes = [300, 50, 2]
    space = made_space([kind, LINE, EQUAL], sizes, rng, euclidean)
    held, leaves = grown(
        space, Rule(tree.ALIGNED, how, 50, 0), [drawn_codes(sizes, 5000, rng)], [7], 100, False
    )
    assert (50 <= leaves.size).all()
    assert (leaves.size < 100).all()
    assert 5000 == held.weight[np.concatenate(list(map(np.arange, *ends(leaves))))].sum()


def ends(leaves):
    return leaves.start, leaves.start + leaves.points


@pytest.mark.parametrize("kind", [LINE, PAIRS, TREE])
@pytest.mark.parametrize("how", [vantage.RANDOM, vantage.FARTHEST, vantage.BEST_SPREAD])
def test_what_is_no_number_is_divided_alike(kind, how):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        space = made_space([kind, EQUAL], [20, 3], rng, odd=True)
        rule = Rule(tree.ALIGNED, how, 4, 0)
        grown(space, rule, [drawn_codes([20, 3], 50, rng)], [seed], 8, False)


def test_equal_rows_are_divided_alike():
    """One point, which every cut goes through."""
    space = made_space([LINE, EQUAL], [3, 3], np.random.default_rng(0))
    codes = np.ones((2, 37), np.int32)
    for cut in (tree.ALIGNED, tree.HALF, tree.PAPER):
        _, leaves = grown(space, Rule(cut, vantage.BEST_SPREAD, 5, 0), [codes], [1], 10, False)
        assert (len(leaves.size) == 1) == (cut == tree.PAPER)


def test_no_nodes_have_no_leaves():
    space = made_space([LINE], [3], np.random.default_rng(0))
    none = np.empty(0, np.int64)
    points = Points(np.empty((1, 0), np.int32), none, none)
    nodes = Nodes(none, none, none, none)
    assert 0 == assert_same(grow_nodes, space, Rule(0, 2, 5, 0), points, nodes, 10, False, nodes)


@given(salt=st.integers(0, LARGEST_SALT), number=st.integers(0, 1000))
def test_hashes_are_those_of_64_bit_words(salt, number):
    """In numpy's words, which wrap around as those of C do."""
    with np.errstate(over="ignore"):
        mixed = np.uint64(salt) + np.uint64(number + 1) * np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        expected = (mixed ^ (mixed >> np.uint64(31))) >> np.uint64(1)
    assert int(expected) == vantage.salted_hash(np.int64(salt), number)


# --- scores ---------------------------------------------------------------------------------------


def scored(space, codes_of_classes, neighbours, chain):
    """Compare the scores of some classes; return them."""
    codes = np.concatenate(codes_of_classes, axis=1)
    keys = as_points(codes)[2]
    bounds = np.cumsum([0, *(own.shape[1] for own in codes_of_classes)])
    result = np.full(len(keys), -1.0)
    assert_same(score_classes, space, codes, keys, bounds, neighbours, chain, result)
    assert not np.isnan(result).any()
    assert (result >= 0).all()
    return result


CHAINS = (scores.PAPER, scores.SBN, scores.PYOD)


@given(
    made=spaces(),
    rows=st.lists(st.integers(0, 70), min_size=1, max_size=4),
    neighbours=st.integers(1, 80),
    chain=st.sampled_from(CHAINS),
)
@settings(deadline=None, max_examples=300)
def test_classes_are_scored_alike(made, rows, neighbours, chain):
    space, sizes, rng = made
    scored(space, [drawn_codes(sizes, count, rng) for count in rows], neighbours, chain)


@pytest.mark.parametrize("chain", CHAINS)
@pytest.mark.parametrize("kind", KINDS)
def test_large_classes_are_scored_alike(kind, chain):
    """Sorted in runs that are merged; the second class needs more room than the first."""
    rng = np.random.default_rng(kind)
    sizes = [300, 9]
    space = made_space([kind, LINE], sizes, rng)
    scored(space, [drawn_codes(sizes, count, rng) for count in (20, 250, 1)], 12, chain)


@pytest.mark.parametrize("chain", CHAINS)
@pytest.mark.parametrize("kind", [LINE, PAIRS, TREE])
def test_what_is_no_number_is_scored_alike(kind, chain):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        space = made_space([kind, EQUAL], [20, 3], rng, odd=True)
        scored(space, [drawn_codes([20, 3], 30, rng)], 6, chain)


@pytest.mark.parametrize("chain", CHAINS)
def test_equal_rows_are_scored_alike(chain):
    """All equal; one apart from equal ones, which is infinitely far; fewer rows than neighbours."""
    space = made_space([LINE, EQUAL], [3, 3], np.random.default_rng(0))
    equal = np.zeros((2, 9), np.int32)
    one_apart = equal.copy()
    one_apart[:, 4] = 1
    result = scored(space, [equal, one_apart, equal[:, :1], one_apart[:, 3:5]], 5, chain)
    assert [1.0] * 9 == result[:9].tolist()
    assert np.isinf(result[9 + 4])


def test_no_classes_have_no_scores():
    space = made_space([EQUAL], [3], np.random.default_rng(0))
    result = np.full(2, 7.0)
    codes, keys = np.zeros((1, 2), np.int32), np.zeros(2, np.int64)
    assert_same(score_classes, space, codes, keys, np.array([1]), 3, scores.PAPER, result)
    assert [7.0, 7.0] == result.tolist()
