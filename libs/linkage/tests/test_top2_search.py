"""The two best candidates: those of the whole matrix of scores."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom_linkage import top2_search
from anonloom_linkage.top2_search import Best, Blocks, search_top2


def vectors(count, width, seed, ties=False):
    """Small integers, whose dot products are exact in whatever order they are summed."""
    rng = np.random.default_rng(seed)
    values = rng.integers(-1 if ties else -20, 2 if ties else 21, (count, width))
    return values.astype(np.float32)


def full_matrix(records, candidates, together):
    scores = records.astype(float) @ candidates.astype(float).T
    return np.where(together, scores, -np.inf)


def check(best, scores):
    """Best, some candidate that has it, and second best, against a matrix of all scores."""
    padded = np.hstack([scores, np.full((len(scores), 2), -np.inf)])
    ranked = -np.sort(-padded, axis=1)
    assert ranked[:, 0].tolist() == best.score.tolist()
    assert ranked[:, 1].tolist() == best.second.tolist()
    for row, index in enumerate(best.candidate):
        if np.isneginf(ranked[row, 0]):
            assert -1 == index
        else:
            assert ranked[row, 0] == scores[row, index]


def labels(count, blocks, seed):
    return np.random.default_rng(seed).integers(blocks, size=count)


@settings(deadline=None, max_examples=50)
@given(
    st.integers(1, 400),
    st.integers(0, 700),
    st.integers(1, 30),
    st.sampled_from([1, 2, 5, 22]),
    st.booleans(),
    st.integers(0, 99),
)
def test_the_two_best_are_those_of_the_whole_matrix(n, m, blocks, width, ties, seed):
    records, candidates = vectors(n, width, seed, ties), vectors(m, width, seed + 1, ties)
    of_records, of_candidates = labels(n, blocks, seed), labels(m, blocks, seed + 1)
    best = Best.none(n)
    search_top2(records, candidates, Blocks.of(of_records, of_candidates, np.arange(m)), best)
    check(best, full_matrix(records, candidates, of_records[:, None] == of_candidates))


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 60), st.integers(1, 60), st.booleans(), st.integers(0, 99))
def test_candidates_seen_again_in_another_block_count_once(n, m, ties, seed):
    records, candidates = vectors(n, 3, seed, ties), vectors(m, 3, seed + 1, ties)
    best, together = Best.none(n), np.zeros((n, m), bool)
    for scheme in range(3):
        of_records, of_candidates = labels(n, 4, seed + scheme), labels(m, 4, seed - scheme + 50)
        blocks = Blocks.of(of_records, of_candidates, np.arange(m))
        search_top2(records, candidates, blocks, best)
        together |= of_records[:, None] == of_candidates
        check(best, full_matrix(records, candidates, together))


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("piece", [1, 1000, 1 << 24])
def test_threads_and_pieces_change_nothing(monkeypatch, workers, piece):
    rng = np.random.default_rng(0)
    records, candidates = (rng.normal(size=(700, 22)).astype(np.float32) for _ in range(2))
    blocks = Blocks.of(labels(700, 5, 1), labels(700, 5, 2), np.arange(700))
    want, result = Best.none(700), Best.none(700)
    search_top2(records, candidates, blocks, want)
    monkeypatch.setattr(top2_search, "PIECE", piece)
    done = []
    search_top2(records, candidates, blocks, result, workers=workers, done=done.append)
    assert want.candidate.tolist() == result.candidate.tolist()
    assert want.score.tolist() == result.score.tolist()
    assert want.second.tolist() == result.second.tolist()
    assert blocks.comparisons.sum() == sum(done)


def test_the_first_of_equal_candidates_is_the_best():
    records = np.ones((3, 2), np.float32)
    candidates = np.ones((600, 2), np.float32)
    best = Best.none(3)
    search_top2(
        records, candidates, Blocks.of(np.zeros(3, int), np.zeros(600, int), np.arange(600)), best
    )
    assert [0, 0, 0] == best.candidate.tolist()
    assert [2.0, 2.0, 2.0] == best.second.tolist()


def test_records_without_candidates_have_no_best():
    best = Best.none(3)
    blocks = Blocks.of(np.array([0, 1, 2]), np.array([1, 1, 7]), np.array([5, 6, 0]))
    candidates = vectors(7, 2, 0)
    search_top2(vectors(3, 2, 1), candidates, blocks, best)
    assert [-1, -1] == best.candidate[[0, 2]].tolist()
    assert np.isneginf(best.score[[0, 2]]).all()
    assert np.isneginf(best.second[[0, 2]]).all()
    assert best.candidate[1] in (5, 6)
    assert [0, 2, 0] == blocks.comparisons.tolist()


def test_one_candidate_has_no_second():
    best = Best.none(1)
    search_top2(
        vectors(1, 2, 0),
        vectors(1, 2, 1),
        Blocks.of(np.zeros(1, int), np.zeros(1, int), np.zeros(1, int)),
        best,
    )
    assert 0 == best.candidate[0]
    assert np.isneginf(best.second[0])


@pytest.mark.parametrize(("n", "m"), [(0, 3), (3, 0), (0, 0)])
def test_nobody_is_compared_with_nobody(n, m):
    best = Best.none(n)
    blocks = Blocks.of(np.zeros(n, np.int64), np.zeros(m, np.int64), np.arange(m))
    assert int(n > 0) == len(blocks)
    search_top2(vectors(n, 2, 0), vectors(m, 2, 0), blocks, best)
    assert [-1] * n == best.candidate.tolist()


def test_vectors_without_width_are_all_alike():
    best = Best.none(2)
    blocks = Blocks.of(np.zeros(2, np.int64), np.zeros(3, np.int64), np.arange(3))
    search_top2(np.empty((2, 0), np.float32), np.empty((3, 0), np.float32), blocks, best)
    assert [0.0, 0.0] == best.score.tolist()
    assert [0.0, 0.0] == best.second.tolist()


@settings(deadline=None, max_examples=50)
@given(
    st.lists(st.integers(0, 9), max_size=30),
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 5)), max_size=30),
    st.sampled_from([0, 1 << 40]),
)
def test_blocks_hold_every_pair_of_one_label_once(records, entries, far):
    of = np.array([label for label, _ in entries], np.int64) + far
    numbers = np.array([number for _, number in entries], np.int64)
    blocks = Blocks.of(np.array(records, np.int64) + far, of, numbers)
    results = []
    for index in range(len(blocks)):
        rows = blocks.records.members[slice(*blocks.records.starts[index : index + 2])]
        among = blocks.candidates.members[slice(*blocks.candidates.starts[index : index + 2])]
        results += [(row, item) for row in rows for item in among]
    want = [
        (row, number)
        for row, label in enumerate(records)
        for its, number in entries
        if its == label
    ]
    assert sorted(want) == sorted(results)
    assert len(want) == blocks.comparisons.sum()
    weights = np.arange(10, 16)
    assert [
        sum(weights[number] for its, number in entries if its == label) for label in records
    ] == blocks.candidates_of(weights, len(records)).tolist()
