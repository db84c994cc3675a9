"""The normal variables behind the columns, and how they are correlated.

Every column is a normal variable that was cut into levels. Cutting weakens correlations: two
variables with correlation .5, each cut in the middle, have .33. What is measured on the levels is
therefore led back to the correlation before the cut (as NORTA and polychoric correlations do);
otherwise the drawn columns, which are cut again, would have less in common than the original.
"""

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom.lazy import lazy_module
from anonloom.typing import FloatArray, IntArray

special = lazy_module("scipy.special")

#: Terms of the series. The rest is felt only beyond correlations of .97.
TERMS = 200

#: More levels than this are grouped before the series is computed: they are as good as uncut.
MOST_LEVELS = 1000

#: Least eigenvalue of a matrix that is used.
LEAST = 1e-8


@attrs.frozen(eq=False)
class Latent:
    """A normal variable, known by the levels that it was cut into.

    Attributes
    ----------
    scores
        Of every row the middle of its level, as a normal quantile; 0 where it is not present.
    present
        Which rows have a level.
    series
        Coefficients of the scores as a function of the variable, in normalized Hermite
        polynomials from the first on; for scores of variance 1.
    """

    scores: FloatArray = attrs.field(repr=False)
    present: NDArray[np.bool_] = attrs.field(repr=False)
    series: FloatArray = attrs.field(repr=False)

    @classmethod
    def of(cls, codes: IntArray) -> "Latent":
        """Return the variable behind levels 0, 1, ..., all of which occur; negative is absent."""
        present = codes >= 0
        counts = np.bincount(codes[present])
        return cls(normal_scores(codes), present, _series(counts, _middles(counts)))


def normal_scores(codes: IntArray) -> FloatArray:
    """Return the middle of every row's level as a normal quantile, and 0 for negative levels."""
    heights = _middles(np.bincount(codes[codes >= 0]))
    scores: FloatArray = np.append(heights, 0.0)[np.maximum(codes, -1)]
    return scores


def _middles(counts: IntArray) -> FloatArray:
    middles: FloatArray = special.ndtri(
        (np.cumsum(counts) - counts / 2) / max(int(counts.sum()), 1)
    )
    return middles


def _series(counts: IntArray, heights: FloatArray) -> FloatArray:
    """Expand the step function that has these heights on levels of this many rows."""
    if len(counts) > MOST_LEVELS:
        middle = (np.cumsum(counts) - counts / 2) / counts.sum()
        group = np.unique((middle * MOST_LEVELS).astype(np.int64), return_inverse=True)[1]
        grouped = np.bincount(group, counts)
        heights = np.bincount(group, counts * heights) / grouped
        counts = grouped.astype(np.int64)
    shares = counts / counts.sum()
    deviation = float(np.sqrt(shares @ (heights - shares @ heights) ** 2))
    if not deviation:
        return np.zeros(TERMS)
    cuts = special.ndtri(np.cumsum(shares)[:-1].clip(0.0, 1.0))
    # The integral of a Hermite polynomial under the normal density is the one before it; what is
    # left of the steps are their jumps.
    jumps = np.diff(heights) / deviation * np.exp(-(cuts**2) / 2) / np.sqrt(2 * np.pi)
    series = np.empty(TERMS)
    before, present = np.zeros(len(cuts)), np.ones(len(cuts))
    for term in range(1, TERMS + 1):
        series[term - 1] = jumps @ present / np.sqrt(term)
        following = (cuts * present - np.sqrt(term - 1) * before) / np.sqrt(term)
        before, present = present, following
    return series


def correlations(latents: list[Latent]) -> FloatArray:
    """Return the correlations of the variables, each pair from the rows that have both."""
    scores = np.stack([latent.scores for latent in latents], 1)
    present = np.stack([latent.present for latent in latents], 1).astype(float)
    rows = present.T @ present
    sums = scores.T @ present
    squares = (scores**2).T @ present
    # Entry (i, j) of sums and squares is of column i over the rows that have i and j.
    of_pairs = scores.T @ scores * rows - sums * sums.T
    spread = np.sqrt(np.maximum(squares * rows - sums**2, 0.0))
    scale = spread * spread.T
    usable = scale > 1e-9 * np.maximum(rows, 1.0) ** 2
    measured = np.divide(of_pairs, scale, out=np.zeros(scale.shape), where=usable).clip(-1.0, 1.0)
    result = uncut(measured, np.stack([latent.series for latent in latents]))
    np.fill_diagonal(result, 1.0)
    return result


def uncut(measured: FloatArray, series: FloatArray) -> FloatArray:
    """Return the correlations before the cuts, given those that were measured after them.

    After the cuts a correlation r has become the sum of a_k b_k r^k, the expansions of both
    columns: it rises with r, and is inverted by bisection, all pairs at once.
    """
    terms = series[:, None, :] * series[None, :, :]
    low, high = np.full(measured.shape, -1.0), np.full(measured.shape, 1.0)
    for _ in range(40):
        middle = (low + high) / 2
        reached = np.zeros(measured.shape)
        for term in range(TERMS - 1, -1, -1):
            reached = (reached + terms[:, :, term]) * middle
        below = reached < measured
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    # A column that was cut into a single level says nothing.
    varies = (np.abs(series).sum(axis=1) > 0)[:, None]
    return np.where((measured != 0.0) & varies & varies.T, (low + high) / 2, 0.0)


def shrink_correlations(matrix: FloatArray, share: float) -> FloatArray:
    """Return the correlations times a share, as the nearest matrix that normal variables can have.

    Correlations of pairs, each from other rows, need not fit together. The nearest matrix that
    does is found by alternating projections (Higham 2002).
    """
    wanted = matrix * share
    np.fill_diagonal(wanted, 1.0)
    wanted = (wanted + wanted.T) / 2
    if np.linalg.eigvalsh(wanted)[0] >= LEAST:
        return wanted
    result, correction = wanted, np.zeros(wanted.shape)
    for _ in range(200):
        shifted = result - correction
        values, vectors = np.linalg.eigh(shifted)
        nearest = (vectors * np.maximum(values, LEAST)) @ vectors.T
        correction = nearest - shifted
        result = nearest.copy()
        np.fill_diagonal(result, 1.0)
        if np.abs(result - nearest).max() < LEAST:
            break
    # What rounding leaves below zero.
    least = float(np.linalg.eigvalsh(result)[0])
    if least < LEAST:
        lift = (LEAST - least) / (1.0 - least)
        result = result * (1.0 - lift)
        np.fill_diagonal(result, 1.0)
    return result
