"""Likelihood ratio of every target in every release, from all the other releases.

The attack of Carlini et al. (2022): statistics of releases with a target, and of releases without,
are taken for normal, and a release is judged by how much likelier it is among the first. With few
releases the two share a covariance, which leans on that of all targets.
"""

import numpy as np

from anonloom.typing import BoolArray, FloatArray

__all__ = ["likelihood_ratios"]

#: Weight of the covariance of all targets, in releases.
PRIOR = 10.0
#: A statistic that never changes says nothing, and one that hardly does little.
LEAST_VARIANCE = 1e-6


def likelihood_ratios(statistics: FloatArray, inside: BoolArray) -> FloatArray:
    """Return (releases x targets): logarithms of likelihood ratios, each release left out.

    Parameters
    ----------
    statistics
        (releases x targets x statistics).
    inside
        (releases x targets): who is in which; at least two releases with everybody, and two
        without.
    """
    weight = np.stack([inside, ~inside]).astype(float)[..., None]
    sums = (weight * statistics).sum(axis=1)
    counts = weight.sum(axis=1)
    covariance = _covariances(statistics, inside, sums / counts)
    # Means of the other releases, (2 x releases x targets x statistics).
    means = (sums[:, None] - weight * statistics) / (counts[:, None] - weight)
    difference = means[0] - means[1]
    beyond = statistics - means.mean(axis=0)
    directions = np.linalg.solve(covariance[None], difference[..., None])[..., 0]
    return np.asarray((beyond * directions).sum(axis=2))


def _covariances(statistics: FloatArray, inside: BoolArray, means: FloatArray) -> FloatArray:
    """(targets x statistics x statistics): within releases with a target, and those without."""
    residual = statistics - np.where(inside[..., None], means[0], means[1])
    scatter = np.einsum("rtf,rtg->tfg", residual, residual)
    free = max(len(statistics) - 2, 1)
    shared = scatter.mean(axis=0) / free
    mixed = (scatter + PRIOR * shared) / (free + PRIOR)
    return np.asarray(mixed + LEAST_VARIANCE * np.eye(statistics.shape[2]))
