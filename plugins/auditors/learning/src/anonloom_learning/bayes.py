"""Naive Bayes over numbers and over shares of values: each kind of feature by its own likelihood.

A normal distribution of the share of a rare value has a variance of 0 among people who never have
it, and then decides everything alone. Shares are counts of values, in parts; the multinomial
likelihood takes them as they are.
"""

from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

#: Least variance of a number within a label, as a part of its variance.
LEAST_VARIANCE = 1e-3


@attrs.define(eq=False)
class NaiveBayes:
    """Two models of independent features, whose likelihoods are multiplied.

    Attributes
    ----------
    shares
        Which features are shares; the others are numbers.
    """

    shares: NDArray[np.bool_]
    numbers: Any = None
    values: Any = None

    def fit(self, rows: NDArray[np.float32], labels: NDArray[np.integer]) -> "NaiveBayes":
        """Learn."""
        self.numbers = make_pipeline(StandardScaler(), GaussianNB(var_smoothing=LEAST_VARIANCE))
        self.values = MultinomialNB()
        if not self.shares.all():
            self.numbers.fit(rows[:, ~self.shares], labels)
        if self.shares.any():
            self.values.fit(rows[:, self.shares], labels)
        return self

    def predict(self, rows: NDArray[np.float32]) -> NDArray[np.int64]:
        """Return the likeliest label of every row."""
        if not self.shares.any():
            found: NDArray[np.int64] = self.numbers.predict(rows)
            return found
        joint = self.values.predict_joint_log_proba(rows[:, self.shares])
        if not self.shares.all():
            scaler, model = self.numbers[0], self.numbers[-1]
            joint = joint + model.predict_joint_log_proba(scaler.transform(rows[:, ~self.shares]))
            # The prior is in both.
            joint = joint - self.values.class_log_prior_
        likeliest: NDArray[np.int64] = self.values.classes_[joint.argmax(axis=1)]
        return likeliest
