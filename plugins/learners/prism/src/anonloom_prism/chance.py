"""Could chance alone have done it? Tests that every attribute of a set contributes.

An attribute contributes if the set tells more with it than without it. The test deals the target
anew among rows that agree on all other attributes of the set (the permutation distribution given
what the smaller set tells), and a set passes when every one of its attributes does.
"""

from collections.abc import Sequence
from math import comb

import attrs
import numpy as np
from numpy.typing import NDArray
from scipy import stats

from anonloom_prism.gram import Floats, Grams, joint
from anonloom_prism.regression import Regressions, without


@attrs.frozen
class Tests:
    """How many tests share the allowed chance of a false alarm.

    Every size gets an equal part of it, and within a size every set and target does (Bonferroni
    with weights fixed beforehand). This holds however the tests depend on each other, and they do,
    as sets overlap; and it counts the sets that are skipped, so that what is skipped cannot depend
    on luck.
    """

    __test__ = False  # for pytest: not a class of tests

    attributes: int
    targets: int
    size: int

    def of_size(self, size: int) -> int:
        """Return the number that a p-value of this size is multiplied by."""
        return comb(self.attributes, size) * self.targets * self.size


def by_cells(grams: Grams, chosen: Sequence[int], target: int) -> float:
    """Return the p-value of a set: the largest over its attributes, from counts of joint levels.

    The distribution is taken for a gamma distribution with the exact mean and variance (Dawson,
    1954), as Mielke and Berry (1988) do; unlike the chi-squared distribution it needs no large
    counts in the cells.
    """
    shape = tuple(int(grams.encoded.levels[at]) for at in chosen)
    cells = joint(grams.encoded, chosen)
    size = int(np.prod(shape))
    rows = np.bincount(cells, minlength=size).reshape(shape).astype(float)
    true = grams.members[target][grams.classes]
    hits = np.bincount(cells[true], minlength=size).reshape(shape).astype(float)
    worst = 0.0
    for axis in range(len(shape)):
        flat = [np.moveaxis(one, axis, -1).reshape(-1, shape[axis]) for one in (rows, hits)]
        worst = max(worst, contribution_p(*flat))
    return worst


def contribution_p(rows: Floats, hits: Floats) -> float:
    """Return the p-value of one attribute.

    Parameters
    ----------
    rows, hits
        (blocks x levels): within a block all other attributes agree.
    """
    occupied = rows > 0
    of_block, hit = rows.sum(axis=1), hits.sum(axis=1)
    # Where there is one level, or one outcome, nothing can be dealt.
    kept = (occupied.sum(axis=1) > 1) & (hit > 0) & (hit < of_block)
    if not kept.any():
        return 1.0
    rows, hits, occupied = rows[kept], hits[kept], occupied[kept]
    of_block, hit = of_block[kept], hit[kept]
    inverse = np.where(occupied, 1 / np.where(occupied, rows, 1.0), 0.0)
    scale = hit * (of_block - hit) / of_block**2
    found = ((hits**2 * inverse).sum(axis=1) - hit**2 / of_block).sum()
    mean, variance = moments(of_block, hit, occupied.sum(axis=1), inverse.sum(axis=1))
    expected, spread = (mean * scale).sum(), (variance * scale**2).sum()
    if spread <= 1e-12 * expected**2:
        return 1.0
    return float(stats.gamma.sf(found, expected**2 / spread, scale=spread / expected))


def moments(
    rows: Floats, hits: Floats, levels: NDArray[np.integer], inverse: Floats
) -> tuple[Floats, Floats]:
    """Return mean and variance of chi-squared of 2 x levels tables when the hits are dealt anew.

    Parameters
    ----------
    rows, hits
        Of every table.
    levels
        How many levels occur.
    inverse
        Sum of 1 / rows over the levels.
    """
    mean = rows * (levels - 1) / (rows - 1)
    large = np.maximum(rows, 4.0)
    first, second = [
        (count - 1) * (large - count) / (large - 1) for count in (2.0, levels.astype(float))
    ]
    spread = [
        (large * total - count**2) / (large - 2)
        for total, count in ((1 / hits + 1 / (large - hits), 2.0), (inverse, levels.astype(float)))
    ]
    variance = 2 * large / (large - 3) * (first - spread[0]) * (second - spread[1])
    variance += large**2 / (large - 1) * spread[0] * spread[1]
    # The formula begins at 4 rows. Of 3 rows in 2 levels the pair is split or it is not; all
    # others of 2 or 3 rows look the same however they are dealt.
    return mean, np.where(rows > 3, variance, np.where((rows == 3) & (levels == 2), 1.125, 0.0))


def by_regression(regressions: Regressions, chosen: Sequence[int], target: int) -> float:
    """Return the p-value of a set: the largest over its attributes, by partial F-tests."""
    sets = np.array([chosen], np.int64)
    explained = float(regressions.explained(sets)[target, 0])
    left = regressions.rows - 1 - int(regressions.degrees(sets)[0])
    if left <= 0:
        return 1.0
    worst = 0.0
    for place, at in enumerate(chosen):
        rest = float(regressions.explained(without(sets, place))[target, 0])
        free = int(regressions.free[at])
        ratio = (explained - rest) / free / (max(1 - explained, 1e-12) / left)
        worst = max(worst, float(stats.f.sf(ratio, free, left)))
    return worst
