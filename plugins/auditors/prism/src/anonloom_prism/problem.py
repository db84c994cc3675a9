"""The linear programme of a support vector machine: hinge loss and weights, on a few points.

For classes k (one against the rest; one of two), points i with weights v_i that add up to 1 and
signs y_ik:

    minimize    sum_k ( penalty * |w_k|_1 + sum_i v_i * slack_ik )
    subject to  y_ik (x_i . w_k + b_k) + slack_ik >= 1,   slack_ik >= 0

The penalty is linear (the sum of absolute weights), as everything must be for a mixed-integer
linear programme; intercepts are free. Divided by the number of rows, C is what it is elsewhere:
penalty = 1 / (C * rows).
"""

from collections.abc import Iterable
from typing import Any

import attrs
import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from anonloom.typing import FloatArray, IntArray


@attrs.frozen(eq=False)
class Fit:
    """The best weights with some attributes.

    Attributes
    ----------
    value
        Of the objective.
    weights
        (classes x features); 0 for the features of other attributes.
    intercepts
        One per class.
    """

    value: float
    weights: FloatArray = attrs.field(repr=False)
    intercepts: FloatArray = attrs.field(repr=False)


@attrs.frozen(eq=False)
class Problem:
    """Weighted points whose classes are to be told apart.

    Attributes
    ----------
    points
        (points x features), standardized.
    signs
        (classes x points): 1 for members of the class, -1 for others. One row for two classes.
    shares
        Weight of every point; they add up to 1.
    block
        Attribute of every feature.
    penalty
        Price of one unit of absolute weight.
    rows
        How many rows there were.
    sampled
        Whether points are a sample of the rows.
    """

    points: FloatArray = attrs.field(repr=False)
    signs: FloatArray = attrs.field(repr=False)
    shares: FloatArray = attrs.field(repr=False)
    block: IntArray = attrs.field(repr=False)
    penalty: float
    rows: int
    sampled: bool = False

    @property
    def classes(self) -> int:
        """How many machines share the attributes."""
        return len(self.signs)

    @property
    def unit(self) -> float:
        """What a solver is to count prices in: the smaller of the two.

        HiGHS takes prices below 1e-7 for nothing, and a penalty soon is below that where C or the
        number of rows is large.
        """
        return min(self.penalty, 1 / len(self.points))

    def fit(self, chosen: Iterable[int], *, free: bool = False) -> Fit:
        """Return the optimum with these attributes.

        Parameters
        ----------
        free
            Whether weights cost nothing: the least hinge loss that there is.
        """
        used = np.flatnonzero(np.isin(self.block, list(chosen)))
        weights = np.zeros((self.classes, self.points.shape[1]))
        intercepts = np.zeros(self.classes)
        value = 0.0
        # Without a common choice to make, the classes are problems of their own.
        for index in range(self.classes):
            result = self._linear(index, used, 0.0 if free else self.penalty)
            weights[index, used], intercepts[index] = result[0], result[1]
            value += result[2]
        return Fit(value, weights, intercepts)

    def _linear(self, at: int, used: IntArray, penalty: float) -> tuple[FloatArray, float, float]:
        margins = margins_of(self.points[:, used], self.signs[at])
        count, width = len(self.points), len(used)
        costs = np.concatenate([np.full(2 * width, penalty), [0.0], self.shares]) / self.unit
        bounds = np.zeros((len(costs), 2))
        bounds[:, 1] = np.inf
        bounds[2 * width, 0] = -np.inf
        result: Any = linprog(costs, -margins, -np.ones(count), bounds=bounds, method="highs")
        if result.x is None:
            raise RuntimeError(f"the linear programme was not solved: {result.message}")
        weights = result.x[:width] - result.x[width : 2 * width]
        return weights, float(result.x[2 * width]), float(result.fun) * self.unit

    def harm(self, fit: Fit) -> dict[int, float]:
        """By how much the loss grows when an attribute's weights become 0 and nothing else."""
        reached = self.points @ fit.weights.T + fit.intercepts
        before = self._hinge(reached)
        harms: dict[int, float] = {}
        for attribute in np.unique(self.block).tolist():
            of = self.block == attribute
            own = fit.weights[:, of]
            without = self._hinge(reached - self.points[:, of] @ own.T)
            harms[attribute] = float(without - before - self.penalty * np.abs(own).sum())
        return harms

    def _hinge(self, reached: FloatArray) -> float:
        return float((self.shares @ np.maximum(0, 1 - self.signs.T * reached)).sum())


def margins_of(points: FloatArray, signs: FloatArray) -> Any:
    """Rows of the constraints: positive and negative weights, intercept, slacks; sparse."""
    signed = sparse.csr_array(signs[:, None] * points)
    column = sparse.csr_array(signs[:, None])
    return sparse.hstack([signed, -signed, column, sparse.eye_array(len(points))]).tocsr()


def pose(
    features: FloatArray,
    block: IntArray,
    labels: IntArray,
    classes: int,
    *,
    C: float,
    rows: int,
) -> Problem:
    """Collapse equal rows to weighted points, and sample where there are too many.

    Parameters
    ----------
    features
        Rows in an order in which the first ones are a fair sample, see `content_order`.
    labels
        Number of every row's class.
    rows
        Most points. Where there are more distinct rows, the first of every class are taken, as many
        as its share and at least one; each stands for as many as its class has rows for one taken.
    """
    count = len(features)
    table = np.column_stack([features, labels.astype(float)])
    first, weight = _distinct_rows(table, np.ones(count))
    sampled = len(first) > rows
    if sampled:
        drawn, weight = _sample_rows(labels, classes, rows)
        kept, weight = _distinct_rows(table[drawn], weight)
        first = drawn[kept]
    of = labels[first]
    numbers = np.arange(classes) if classes > 2 else np.array([1])
    signs = np.where(of == numbers[:, None], 1.0, -1.0)
    penalty = 1 / (C * count)
    return Problem(features[first], signs, weight / count, block, penalty, count, sampled)


def _distinct_rows(table: FloatArray, weight: FloatArray) -> tuple[IntArray, FloatArray]:
    """First row of every distinct one, and the weight of all that equal it."""
    # -0.0 and 0.0 are one number and two patterns of bits.
    whole = np.ascontiguousarray(table + 0.0)
    rows = whole.view(np.dtype((np.void, whole.dtype.itemsize * whole.shape[1]))).ravel()
    _, first, number = np.unique(rows, return_index=True, return_inverse=True)
    summed: FloatArray = np.bincount(number, weight).astype(float)
    return first.astype(np.int64), summed


def _sample_rows(labels: IntArray, classes: int, rows: int) -> tuple[IntArray, FloatArray]:
    drawn, weight = [], []
    sizes = np.bincount(labels, minlength=classes)
    for number, size in enumerate(sizes.tolist()):
        take = min(size, max(1, round(rows * size / len(labels))))
        drawn.append(np.flatnonzero(labels == number)[:take])
        weight.append(np.full(take, size / max(take, 1)))
    return np.concatenate(drawn).astype(np.int64), np.concatenate(weight)
