"""Approximate search: never better than the exact one, and nearly always as good."""

import builtins

import numpy as np
import pytest

from anonloom.errors import UsageError
from anonloom_linkage.approximate_search import approximate_top2, split
from anonloom_linkage.top2_search import Best, Blocks, search_top2


def unit_vectors(rng, rows, width=12):
    vectors = rng.normal(size=(rows, width)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1)[:, None]


def searched(search, records, candidates, blocks):
    best = Best.none(len(records))
    search(records, candidates, blocks, best)
    return best


def test_what_is_found_is_a_bound_from_below_and_nearly_exact():
    rng = np.random.default_rng(5)
    records, candidates = unit_vectors(rng, 500), unit_vectors(rng, 3000)
    labels = rng.integers(2, size=3000)
    blocks = Blocks.of(rng.integers(2, size=500), labels, np.arange(3000))
    exact = searched(search_top2, records, candidates, blocks)
    rough = searched(approximate_top2, records, candidates, blocks)
    assert (rough.score <= exact.score + 1e-6).all()
    assert (rough.second <= exact.second + 1e-6).all()
    assert np.mean(rough.candidate == exact.candidate) > 0.95
    dots = np.einsum("ij,ij->i", records, candidates[rough.candidate])
    assert np.abs(dots - rough.score).max() < 1e-5


def test_few_candidates_and_blocks_without_any():
    rng = np.random.default_rng(6)
    records, candidates = unit_vectors(rng, 4), unit_vectors(rng, 1)
    blocks = Blocks.of(np.array([0, 0, 1, 2]), np.array([1]), np.array([0]))
    rough = searched(approximate_top2, records, candidates, blocks)
    assert [-1, -1, 0, -1] == rough.candidate.tolist()
    assert np.isneginf(rough.second).all()


def test_blocks_are_divided_by_their_candidates():
    rng = np.random.default_rng(7)
    records, labels = rng.integers(5, size=40), rng.integers(5, size=60)
    blocks = Blocks.of(records, labels, np.arange(60))
    small, large = split(blocks, 11)
    assert all(size <= 11 for size in np.diff(small.candidates.starts))
    assert all(size > 11 for size in np.diff(large.candidates.starts))
    assert blocks.comparisons.sum() == small.comparisons.sum() + large.comparisons.sum()
    assert sorted(blocks.records.members) == sorted(
        [*small.records.members, *large.records.members]
    )


def test_the_missing_package_is_named(monkeypatch):
    whole = builtins.__import__

    def without(name, *rest, **more):
        if name == "faiss":
            raise ImportError(name)
        return whole(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    blocks = Blocks.of(np.array([0]), np.array([0]), np.array([0]))
    vectors = np.ones((1, 3), np.float32)
    with pytest.raises(UsageError) as refused:
        approximate_top2(vectors, vectors, blocks, Best.none(1))
    assert (
        "approximate search needs the package faiss-cpu\n"
        "    pip install 'anonloom-linkage[approximate]'" == str(refused.value)
    )
