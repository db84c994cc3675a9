"""How rows near to a target vote for a value: the nearest alone, or all with weights."""

import numpy as np

from anonloom.typing import FloatArray
from anonloom_inference.secrets import Secret
from anonloom_risk.nearest_rows import NEAR

__all__ = ["most_supported"]


def most_supported(secret: Secret, values: FloatArray, distances: FloatArray) -> FloatArray:
    """Return for every target the value for which most votes count.

    A row at twice the distance has a sixteenth of the weight. A number is supported by all votes
    for which it would be right. Of values with equal support the nearest row's is taken.

    Parameters
    ----------
    values, distances
        (targets x rows), distances squared, the nearest first.
    """
    weights = 1 / (distances + NEAR) ** 2
    support = np.zeros(values.shape)
    for choice in range(values.shape[1]):
        for voter in range(values.shape[1]):
            agrees = secret.agree(values[:, choice], values[:, voter])
            support[:, choice] += np.where(agrees, weights[:, voter], 0.0)
    best = support.argmax(axis=1)
    return np.asarray(values[np.arange(len(values)), best])
