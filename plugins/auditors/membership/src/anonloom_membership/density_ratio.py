"""Density ratio learned from people who are not in the table (Elkan and Noto 2008).

An attacker does not know who of his targets is in a table. He knows people who are not. A model
that tells the targets from those tells, up to a rising function, how much likelier it is to see
somebody where she is when she is in the table: everything else is alike on both sides.
"""

from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from anonloom.lazy import lazy_module
from anonloom.typing import BoolArray, FloatArray

optimize = lazy_module("scipy.optimize")

__all__ = ["learn_density_ratio", "quadratic"]

#: Weight of the squared coefficients: as if about so many people spoke for no difference.
RIDGE = 10.0


def learn_density_ratio(evidence: FloatArray, unlabelled: BoolArray) -> FloatArray:
    """Return log p(evidence | unlabelled) - log p(evidence | known strangers).

    A logistic regression, which is what the ratio of two distributions of one exponential family
    is; its features are standardized.

    Parameters
    ----------
    evidence
        (people x features).
    unlabelled
        People who may be in the table; the others are known not to be.
    """
    spread = evidence.std(axis=0)
    varying = spread > 1e-9
    features = (evidence[:, varying] - evidence[:, varying].mean(axis=0)) / spread[varying]
    features = np.column_stack([np.ones(len(evidence)), features])
    signs = np.where(unlabelled, 1.0, -1.0)

    def loss(weights: FloatArray) -> tuple[float, FloatArray]:
        margins = signs * (features @ weights)
        slopes = -signs * np.exp(-np.logaddexp(0, margins))
        penalized = np.append(0.0, weights[1:])
        value = np.logaddexp(0, -margins).sum() + RIDGE / 2 * penalized @ penalized
        return float(value), features.T @ slopes + RIDGE * penalized

    start = np.zeros(features.shape[1])
    fitted: Any = optimize.minimize(loss, start, jac=True, method="L-BFGS-B")
    # The model's odds count people; the ratio compares shares.
    return np.asarray(features @ fitted.x - np.log(unlabelled.sum() / (~unlabelled).sum()), float)


def quadratic(features: FloatArray) -> FloatArray:
    """Return features, their squares and their products."""
    pairs = combinations_with_replacement(range(features.shape[1]), 2)
    products = [features[:, first] * features[:, second] for first, second in pairs]
    return np.column_stack([features, *products])
