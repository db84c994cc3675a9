"""What EM finds, what it refuses, and what a weight is."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom_fellegi_sunter.model import CLIP, Counts, Estimate, Evidence, Model, fit
from anonloom_linkage.top2_search import Best, Blocks, search_top2

NONE_OPEN = np.zeros(1, np.int64)


def patterns_of(m, u, prior, pairs):
    """Return the expected counts of all patterns, columns independent in both classes."""
    table = np.zeros(1 << len(m))
    for pattern in itertools.product([0, 1], repeat=len(m)):
        bits = np.array(pattern)
        match, other = (np.prod(np.where(bits, p, 1 - np.asarray(p))) for p in (m, u))
        table[int(bits @ (1 << np.arange(len(m))))] = prior * match + (1 - prior) * other
    return np.round(table * pairs).astype(np.int64)


def fitted(table, prior, null=None):
    columns = int(np.log2(len(table)))
    counts = Counts.of(table, NONE_OPEN, columns)
    return fit(counts, [0.1] * columns, prior, prior, null)


def test_em_finds_the_probabilities_that_made_the_patterns():
    m, u, prior = [0.9, 0.8, 0.95, 0.7], [0.1, 0.3, 0.2, 0.05], 0.01

    result = fitted(patterns_of(m, u, prior, 10_000_000), 0.012)

    assert "sound" == result.verdict
    assert m == pytest.approx(result.estimate.m.tolist(), abs=0.01)
    assert u == pytest.approx(result.estimate.u.tolist(), abs=0.001)
    assert prior == pytest.approx(result.estimate.prior, rel=0.02)


def dependent(pairs):
    """Return patterns of strangers in which the first two columns agree together."""
    return patterns_of([0.99, 0.99, 0.1, 0.1], [0.1, 0.1, 0.1, 0.1], 0.2, pairs)


def test_knowing_how_strangers_agree_em_finds_matches_where_columns_depend_on_each_other():
    m = [0.9, 0.9, 0.9, 0.9]
    null = dependent(1_000_000)
    table = null + patterns_of(m, m, 1.0, 2_000)

    known, free = fitted(table, 0.002, null), fitted(table, 0.002)

    assert ("sound", "null") == (known.verdict, known.others)
    assert m == pytest.approx(known.estimate.m.tolist(), abs=0.02)
    assert "independent" == free.others
    assert free.estimate.m[2:].max() < 0.6


def test_strangers_of_another_kind_are_no_model_of_others():
    """Where the release agrees otherwise with strangers, what EM found is not believed."""
    m, u = [0.9, 0.9, 0.9, 0.9], [0.1, 0.1, 0.1, 0.1]
    table = patterns_of(m, u, 0.002, 1_000_000)

    result = fitted(table, 0.002, patterns_of(m, [0.5, 0.5, 0.01, 0.01], 0.0, 1_000_000))

    assert ("sound", "independent") == (result.verdict, result.others)
    assert m == pytest.approx(result.estimate.m.tolist(), abs=0.02)


@pytest.mark.parametrize(
    ("m", "u", "prior", "flaw"),
    [
        ([0.1, 0.2, 0.9], [0.5, 0.5, 0.1], 0.1,
         "most columns agree no more often in its matching pairs than in others"),
        ([0.9, 0.9, 0.9], [0.1, 0.1, 0.1], 0.0001, "it expects less than one matching pair"),
        ([0.9, 0.9, 0.9], [0.1, 0.1, 0.1], 0.96,
         "it takes more than 95% of all pairs for matches"),
        ([0.4, 0.4, 0.4], [0.3, 0.3, 0.3], 0.1, "its two classes of pairs hardly differ"),
    ],
)  # fmt: skip
def test_flaws_are_named(m, u, prior, flaw):
    assert (flaw,) == Estimate(np.array(m), np.array(u), prior).flaws(1000)


def test_a_model_without_flaws_has_none():
    assert () == Estimate(np.array([0.9] * 3), np.array([0.1] * 3), 0.1).flaws(1000)


def test_a_degenerate_model_weighs_like_its_start():
    """Without any match to find, weights are those of m = 0.9 and what was observed."""
    u = [0.3, 0.3, 0.3]

    result = fitted(patterns_of(u, u, 0.0, 1_000_000), 0.001)

    assert "degenerate" == result.verdict
    assert ("a single class of pairs explains as well how they agree",) == result.flaws
    assert [0.93] * 3 == pytest.approx(result.estimate.m.tolist(), abs=1e-4)
    assert u == pytest.approx(result.estimate.u.tolist(), abs=1e-4)


def test_two_columns_are_too_few():
    result = fitted(patterns_of([0.9, 0.9], [0.1, 0.2], 0.01, 100_000), 0.01)

    assert ("EM needs 3 columns that tell pairs apart, and there are 2",) == result.flaws


def test_columns_that_never_or_always_agree_or_say_nothing_are_left_out_and_weigh_nothing():
    table = np.zeros(2 << 6, np.int64)
    small = patterns_of([0.9, 0.9, 0.9], [0.1, 0.1, 0.1], 0.01, 100_000)
    for pattern, count in enumerate(small):
        # Column 3 never agrees, column 4 always, column 5 is open in every row.
        table[(1 << 6) + pattern + 16] = count
    counts = Counts.of(table, np.array([0, 32]), 6)

    result = fit(counts, [0.1] * 6, 0.01, 0.01)

    assert {
        3: "agrees in no pair",
        4: "agrees in every pair",
        5: "is open in every row of the release",
    } == result.left_out
    assert [0.0] * 3 == result.estimate.agreement[3:].tolist()
    assert [0.0] * 3 == result.estimate.disagreement[3:].tolist()


@given(
    counts=st.lists(st.integers(0, 500), min_size=16, max_size=16).filter(lambda c: sum(c) > 50),
    prior=st.floats(0.001, 0.5),
    known=st.booleans(),
)
@settings(max_examples=40)
def test_the_likelihood_never_falls_and_probabilities_stay_inside(counts, prior, known):
    table = Counts.of(np.array(counts), NONE_OPEN, 4)
    agreeing = table.agreement_matrix()
    evidence = Evidence(agreeing, 1 - agreeing, table.count.astype(float), prior)
    if known:
        evidence = evidence.with_null(table.count[::-1], int(table.count.sum()))
    estimate = Estimate(np.full(4, 0.9), np.full(4, 0.2), prior)
    before = -np.inf
    for _ in range(30):
        estimate = evidence.run_em(estimate, 1)
        assert estimate.likelihood >= before - 1e-6
        assert CLIP <= min(estimate.m.min(), estimate.u.min())
        assert max(estimate.m.max(), estimate.u.max()) <= 1 - CLIP
        assert 0 < estimate.prior <= prior
        before = estimate.likelihood


@given(
    m=st.lists(st.floats(CLIP, 1 - CLIP), min_size=3, max_size=3),
    u=st.lists(st.floats(CLIP, 1 - CLIP), min_size=3, max_size=3),
    seed=st.integers(0, 5),
)
@settings(max_examples=25)
def test_weight_is_a_weighted_dot_product_of_agreements_and_a_constant(m, u, seed):
    """Proposition 4.1 of the CVPL paper.

    With indicators as vectors, no projection and a weighted dot product, the score of a pair and
    its Fellegi-Sunter weight differ by a constant; the search of CVPL finds the same candidates.
    """
    estimate = Estimate(np.array(m), np.array(u), 0.01)
    model = Model(estimate, np.arange(3), {})
    w, constant = estimate.agreement - estimate.disagreement, estimate.disagreement.sum()
    bits = (np.arange(8)[:, None] >> np.arange(3)) & 1
    assert (bits @ w + constant).tolist() == pytest.approx(
        model.weights(NONE_OPEN).tolist(), abs=1e-8
    )

    rng = np.random.default_rng(seed)
    values, cells = rng.integers(0, 4, (12, 3)), rng.integers(0, 4, (15, 3))
    indicators = np.eye(4)
    records = np.concatenate([w[k] * indicators[values[:, k]] for k in range(3)], axis=1)
    candidates = np.concatenate([indicators[cells[:, k]] for k in range(3)], axis=1)
    best = Best.none(12)
    everybody = Blocks.of(np.zeros(12, np.int64), np.zeros(15, np.int64), np.arange(15))
    search_top2(records.astype(np.float32), candidates.astype(np.float32), everybody, best)
    patterns = ((values[:, None] == cells[None]) << np.arange(3)).sum(axis=2)
    expected = model.weights(NONE_OPEN)[patterns].max(axis=1)
    assert expected.tolist() == pytest.approx((best.score + constant).tolist(), abs=1e-4)
