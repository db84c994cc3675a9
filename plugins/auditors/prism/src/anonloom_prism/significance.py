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
from scipy import special

from anonloom.typing import FloatArray
from anonloom_prism.exact_tail_bounds import chernoff
from anonloom_prism.pair_counts import Grams, joint
from anonloom_prism.permutation_test import by_dealing

#: With more hits to deal the bound takes long. A figure that counts, such as 0.3, then is out of
#: reach for the few hits that go astray.
BOUNDED = 500


@attrs.frozen
class Tests:
    """How many tests share the allowed chance of a false alarm.

    Every size gets an equal part of it, and within a size every set and target does (Bonferroni
    with weights fixed beforehand). This holds however the tests depend on each other, and they do,
    as sets overlap; and it counts the sets that are skipped, so that what is skipped cannot depend
    on luck.

    Attributes
    ----------
    hidden
        How many attributes are also tested value by value, alone.
    """

    __test__ = False  # for pytest: not a class of tests

    attributes: int
    targets: int
    size: int
    hidden: int

    def of_size(self, size: int) -> int:
        """Return the number that a p-value of this size is multiplied by."""
        sets = comb(self.attributes, size) + (self.hidden if size == 1 else 0)
        return sets * self.targets * self.size


@attrs.frozen(eq=False)
class ContingencyTable:
    """A set and a target as a contingency table with an axis per attribute.

    Attributes
    ----------
    rows, hits
        Rows of every combination of levels, and those of them that the target is true of.
    """

    rows: FloatArray
    hits: FloatArray

    @classmethod
    def of(cls, grams: Grams, chosen: Sequence[int], target: int) -> "ContingencyTable":
        """Count the rows."""
        shape = tuple(int(grams.encoded.levels[index]) for index in chosen)
        cells = joint(grams.encoded, chosen)
        true = cells[grams.members[target][grams.classes]]
        size = int(np.prod(shape))
        rows, hits = (np.bincount(item, minlength=size).astype(float) for item in (cells, true))
        return cls(rows.reshape(shape), hits.reshape(shape))


def by_cells(table: ContingencyTable, level: float) -> float:
    """Return the p-value of a set: the largest over its attributes, values in combination.

    Parameters
    ----------
    level
        A p-value up to this one would be believed, and is therefore looked at more closely.
    """
    axes = [
        tuple(np.moveaxis(item, axis, -1).reshape(-1, levels) for item in (table.rows, table.hits))
        for axis, levels in enumerate(table.rows.shape)
    ]
    fitted = max(contribution_p(rows, hits, 0.0) for rows, hits in axes)
    if fitted > level:
        return fitted
    return max(contribution_p(rows, hits, level) for rows, hits in axes)


def contribution_p(rows: FloatArray, hits: FloatArray, level: float) -> float:
    """Return the p-value of one attribute.

    The distribution is taken for a gamma distribution with the exact mean and variance (Dawson,
    1954), which needs no large counts to be right in the middle. Far out it is not: a few hits of a
    rare value in a rare level are up to thirty times as frequent. So where it matters, a bound that
    holds for every table has the last word, or where that is too wide, dealing many times.

    Parameters
    ----------
    rows, hits
        (blocks x levels): within a block all other attributes agree.
    level
        As in `by_cells`; 0 where nothing depends on it.
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
    result = ((hits**2 * inverse).sum(axis=1) - hit**2 / of_block).sum()
    mean, variance = moments(of_block, hit, occupied.sum(axis=1), inverse.sum(axis=1))
    expected, spread = (mean * scale).sum(), (variance * scale**2).sum()
    fitted = _beyond(float(result), float(expected), float(spread))
    # Far out the fit is 0, which is above no level.
    if level == 0 or fitted > level or np.minimum(hit, of_block - hit).sum() > BOUNDED:
        return fitted
    bound = chernoff(rows, hits)
    exact = by_dealing(rows, hits, level) if bound > level else None
    return max(fitted, bound if exact is None else exact)


def _beyond(found: float, expected: float, spread: float) -> float:
    """Chance that a gamma distribution with this mean and variance goes as far."""
    if spread <= 1e-12 * expected**2:
        return 1.0
    return float(special.gammaincc(expected**2 / spread, max(found, 0.0) * expected / spread))


def moments(
    rows: FloatArray, hits: FloatArray, levels: NDArray[np.integer], inverse: FloatArray
) -> tuple[FloatArray, FloatArray]:
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


def by_regression(table: ContingencyTable) -> float:
    """Return the p-value of a set: the largest over its attributes, which are added up.

    What an attribute explains of what the others leave is a quadratic form of the residuals; its
    mean and variance when these are dealt anew among the rows (Freedman and Lane, 1983) are exact.
    The F-test takes the residuals for normal, which those of a rare value are not: on small
    independent tables it blames one in four.
    """
    rows, hits = table.rows.ravel(), table.hits.ravel()
    occupied = rows > 0
    places = np.stack(np.unravel_index(np.flatnonzero(occupied), table.rows.shape))
    rows, hits = rows[occupied], hits[occupied]
    blocks = [_levels(of, count) for of, count in zip(places, table.rows.shape, strict=True)]
    root = np.sqrt(rows)
    span = _span(blocks, root)
    worst = 0.0
    for index in range(len(blocks)):
        rest = _span([*blocks[:index], *blocks[index + 1 :]], root)
        # Leverage of every row of a cell, and what the smaller set leaves of it.
        leverage = ((span**2).sum(axis=1) - (rest**2).sum(axis=1)) / rows
        fitted = rest @ (rest.T @ (hits / root)) / root
        explained = ((span.T @ (hits / root)) ** 2).sum() - (fitted**2 * rows).sum()
        second = (hits * (1 - fitted) ** 2 + (rows - hits) * fitted**2).sum()
        fourth = (hits * (1 - fitted) ** 4 + (rows - hits) * fitted**4).sum()
        expected, spread = form_moments(
            rows.sum(), second, fourth, span.shape[1] - rest.shape[1], (rows * leverage**2).sum()
        )
        worst = max(worst, _beyond(float(explained), expected, spread))
    return worst


def form_moments(
    rows: float, second: float, fourth: float, rank: int, leverage: float
) -> tuple[float, float]:
    """Return mean and variance of e' D e when the numbers e, which add up to 0, are dealt anew.

    Parameters
    ----------
    rows
        How many numbers.
    second, fourth
        Sums of their squares and fourth powers.
    rank, leverage
        Of the projection D, whose rows add up to 0: its rank, and the sum of the squares on its
        diagonal.
    """
    if rank == 0 or rows < 4:
        return 1.0, 0.0
    n, square, m4 = rows, second / rows, fourth / rows
    mean = rank * square * n / (n - 1)
    # Expected products of four numbers, by which of the four places are the same row.
    paired = (n * square**2 - m4) / (n - 1)
    one_pair = (2 * m4 - n * square**2) / ((n - 1) * (n - 2))
    apart = (3 * n * square**2 - 6 * m4) / ((n - 1) * (n - 2) * (n - 3))
    product = leverage * (m4 + 4 * m4 / (n - 1))
    product += (rank**2 + 2 * rank - 3 * leverage) * paired
    product += (12 * leverage - 2 * rank**2 - 4 * rank) * one_pair
    product += (rank**2 + 2 * rank - 6 * leverage) * apart
    return float(mean), float(max(product - mean**2, 0.0))


def _levels(of: NDArray[np.integer], count: int) -> FloatArray:
    return np.asarray(of[:, None] == np.arange(count), np.float64)


def _span(blocks: Sequence[FloatArray], root: FloatArray) -> FloatArray:
    """Return orthonormal columns that span the constant and these ones, over weighted cells."""
    columns = np.concatenate([np.ones((len(root), 1)), *blocks], axis=1) * root[:, None]
    left, sizes, _ = np.linalg.svd(columns, full_matrices=False)
    return np.asarray(left[:, sizes > 1e-9 * sizes[0]], np.float64)
