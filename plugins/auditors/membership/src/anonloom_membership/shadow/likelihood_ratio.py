"""Likelihood ratio of every target in every release, learned from other releases.

The attack of Carlini et al. (2022): statistics of releases with a target, and of releases without,
are taken for normal, and a release is judged by how much likelier it is among the first. With few
releases the two share a covariance, which leans on that of all targets. What is learned from is not
judged, nor the other way round: of a mechanism that tells nothing, scores are then independent of
who is in which release, and intervals of their figures hold.
"""

import numpy as np

from anonloom.typing import BoolArray, FloatArray

__all__ = ["likelihood_ratios"]

#: Weight of the covariance of all targets, in releases.
PRIOR = 10.0
#: A statistic that never changes says nothing, and one that hardly does little.
LEAST_VARIANCE = 1e-6


def likelihood_ratios(statistics: FloatArray, inside: BoolArray, learned: BoolArray) -> FloatArray:
    """Return logarithms of likelihood ratios, (releases that are not learned from x targets).

    Parameters
    ----------
    statistics
        (releases x targets x statistics).
    inside
        (releases x targets): who is in which.
    learned
        Releases that are learned from; everybody is in some of them, and not in others.
    """
    means = _means(statistics[learned], inside[learned])
    covariance = _covariances(statistics[learned], inside[learned], means)
    directions = np.linalg.solve(covariance, (means[0] - means[1])[..., None])[..., 0]
    return np.asarray(((statistics[~learned] - means.mean(axis=0)) * directions).sum(axis=2))


def _means(statistics: FloatArray, inside: BoolArray) -> FloatArray:
    """(2 x targets x statistics): of releases with a target, and of those without."""
    weight = np.stack([inside, ~inside]).astype(float)[..., None]
    return np.asarray((weight * statistics).sum(axis=1) / weight.sum(axis=1))


def _covariances(statistics: FloatArray, inside: BoolArray, means: FloatArray) -> FloatArray:
    """(targets x statistics x statistics): within releases with a target, and those without."""
    residual = statistics - np.where(inside[..., None], means[0], means[1])
    scatter = np.einsum("rtf,rtg->tfg", residual, residual)
    free = max(len(statistics) - 2, 1)
    shared = scatter.mean(axis=0) / free
    mixed = (scatter + PRIOR * shared) / (free + PRIOR)
    return np.asarray(mixed + LEAST_VARIANCE * np.eye(statistics.shape[2]))
