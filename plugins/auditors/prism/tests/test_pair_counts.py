"""Counts from Gram matrices, against counting row by row."""

from collections.abc import Callable

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from anonloom_prism.encoding import EncodedTable
from anonloom_prism.pair_counts import Counts, Grams, joint

Make = Callable[[int, int, int], Grams]


def counted(grams: Grams, rows: NDArray[np.bool_], i: int, j: int) -> NDArray[np.float64]:
    """(classes x levels x levels), one row after the other."""
    levels = grams.encoded.levels
    result = np.zeros((3, levels[i], levels[j]))
    for row in np.flatnonzero(rows):
        codes = grams.encoded.codes[:, row]
        result[grams.classes[row], codes[i], codes[j]] += 1
    return result


def assembled(grams: Grams, counts: Counts, i: int, j: int) -> NDArray[np.float64]:
    """Put the counts of two attributes together, last levels last."""
    starts, free = grams.encoded.starts, grams.encoded.levels - 1
    a, b = (slice(starts[index], starts[index] + free[index]) for index in (i, j))
    upper = np.concatenate([counts.both[:, a, b], counts.edge[:, j, a][:, :, None]], axis=2)
    lower = np.concatenate([counts.edge[:, i, b], counts.corner[:, i, j][:, None]], axis=1)
    return np.concatenate([upper, lower[:, None]], axis=1)


@given(seed=st.integers(0, 10**6), rows=st.integers(4, 60))
def test_every_pair_is_counted(random_grams: Make, seed: int, rows: int) -> None:
    grams = random_grams(seed, rows, 3)
    counts = grams.total_counts()
    assert np.bincount(grams.classes, minlength=3).tolist() == grams.sizes.tolist()
    everybody = np.ones(rows, bool)
    for i, j in ((0, 1), (0, 2), (1, 2)):
        expected = counted(grams, everybody, i, j)
        assert expected.tolist() == assembled(grams, counts, i, j).tolist()


@given(seed=st.integers(0, 10**6), rows=st.integers(4, 60))
def test_every_pair_is_counted_at_every_combination_of_others(
    random_grams: Make, seed: int, rows: int
) -> None:
    grams = random_grams(seed, rows, 4)
    for chosen in ((3,), (3, 2)):
        cells = joint(grams.encoded, chosen)
        expected = sorted(counted(grams, cells == cell, 0, 1).tolist() for cell in np.unique(cells))
        results = sorted(
            assembled(grams, counts, 0, 1).tolist() for counts in grams.conditional_counts(chosen)
        )
        assert expected == results


def test_joint_levels_that_need_large_numbers_are_told_apart() -> None:
    codes = np.zeros((3, 2), np.uint8)
    codes[0, 1] = 1
    encoded = EncodedTable(("a", "b", "c"), codes, np.array([200, 200, 200]), (None,) * 3)
    assert [0, 40000] == joint(encoded, (0, 1, 2)).tolist()
