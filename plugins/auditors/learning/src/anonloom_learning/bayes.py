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

from anonloom import short_repr
from anonloom.typing import BoolArray, Float32Array, IntArray

#: Least variance of a number within a label, as a part of its variance.
LEAST_VARIANCE = 1e-3


@short_repr
@attrs.define(eq=False)
class NaiveBayes:
    """Two models of independent features, whose likelihoods are multiplied.

    Attributes
    ----------
    shares
        Which features are shares; the others are numbers.
    """

    shares: BoolArray
    places: BoolArray = attrs.field(init=False)
    numbers: Any = attrs.field(init=False)
    values: Any = attrs.field(init=False)

    def fit(self, rows: Float32Array, labels: NDArray[np.integer]) -> "NaiveBayes":
        """Learn; numbers that never vary say nothing, and have no variance to divide by."""
        self.places = ~self.shares & (rows != rows[:1]).any(axis=0)
        self.numbers = make_pipeline(StandardScaler(), GaussianNB(var_smoothing=LEAST_VARIANCE))
        self.values = MultinomialNB()
        if self.places.any():
            self.numbers.fit(rows[:, self.places], labels)
        if self.shares.any():
            self.values.fit(rows[:, self.shares], labels)
        return self

    def predict(self, rows: Float32Array) -> IntArray:
        """Return the likeliest label of every row."""
        model = self.values if self.shares.any() else self.numbers[-1]
        joint = 0.0
        if self.shares.any():
            joint = joint + self.values.predict_joint_log_proba(rows[:, self.shares])
        if self.places.any():
            scaled = self.numbers[0].transform(rows[:, self.places])
            joint = joint + self.numbers[-1].predict_joint_log_proba(scaled)
        if self.shares.any() and self.places.any():
            # The prior is in both.
            joint = joint - self.values.class_log_prior_
        likeliest: IntArray = model.classes_[np.asarray(joint).argmax(axis=1)]
        return likeliest
