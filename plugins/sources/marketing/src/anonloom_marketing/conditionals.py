"""Conditional distributions as tables: tilted by their conditions, exact in their margins.

The paper gives margins and says what depends on what, but not how strongly. A table starts from
the margin, is tilted by effects of the conditions, and is fitted back to the margin.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from anonloom.typing import FloatArray

#: Rounds of fitting; a few dozen are enough for effects of the size used here.
_ROUNDS = 200
_CLOSE = 1e-13


def fit_conditionals(margin: Any, effects: FloatArray, weights: FloatArray) -> FloatArray:
    """Return P(outcome | condition) whose margin over the conditions is exact.

    Parameters
    ----------
    margin
        Shares of the outcomes.
    effects
        (conditions... x outcomes): by how much the logarithm of a share is raised.
    weights
        (conditions...): the probability of every condition.

    Returns
    -------
    array
        Of the shape of `effects`; the last axis sums to 1.
    """
    shares = np.asarray(margin, float) / np.sum(margin)
    table: FloatArray = shares * np.exp(effects)
    # Iterative proportional fitting: rows to 1, then columns to the margin, in turn.
    for _ in range(_ROUNDS):
        table /= table.sum(axis=-1, keepdims=True)
        result = np.tensordot(weights, table, axes=weights.ndim)
        if np.abs(result - shares).max() < _CLOSE:
            break
        table *= shares / result
    table /= table.sum(axis=-1, keepdims=True)
    return table


def draw(
    rng: np.random.Generator, table: FloatArray, *given: NDArray[np.integer]
) -> NDArray[np.int64]:
    """Draw an outcome for every row, given the conditions of the row.

    Parameters
    ----------
    table
        (conditions... x outcomes): P(outcome | conditions).
    given
        One array per condition, of a value per row.
    """
    outcomes = table.shape[-1]
    rows = table.reshape(-1, outcomes)
    condition = np.ravel_multi_index(given, table.shape[:-1])
    reach = np.cumsum(rows, axis=1)
    reach /= reach[:, -1:]
    # All distributions in one ascending line, each in a unit of its own: one search for all rows.
    line = (reach + np.arange(len(rows))[:, None]).ravel()
    result = np.searchsorted(line, condition + rng.random(len(condition)), side="right")
    # Rounding may carry a number just below 1 into the next distribution.
    last: NDArray[np.int64] = np.minimum(result - condition * outcomes, outcomes - 1)
    return last
