"""The eight classifiers of section 6.2.3, in scikit-learn's usual settings."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from anonloom.typing import BoolArray
from anonloom_learning.bayes import NaiveBayes
from anonloom_learning.encoding import Features

NEIGHBOURS = 5
#: Most steps of the models that are fitted step by step; with scaled features a few dozen suffice.
STEPS = 500


def _behind_scaler(model: Any) -> Any:
    """Put a model behind features of one scale, learned from the learning part alone."""
    return make_pipeline(StandardScaler(), model)


def _model(name: str, seed: int, rows: int, shares: BoolArray) -> Any:
    """Return the model before it has learned."""
    makers: dict[str, Callable[[], Any]] = {
        "decision-tree": lambda: DecisionTreeClassifier(random_state=seed),
        "naive-bayes": lambda: NaiveBayes(shares),
        # Not a tree: with twenty features and many equal rows all distances are computed faster.
        "k-nearest-neighbours": lambda: _behind_scaler(
            KNeighborsClassifier(min(NEIGHBOURS, rows), algorithm="brute")
        ),
        "svm": lambda: _behind_scaler(LinearSVC(dual=False, max_iter=STEPS, random_state=seed)),
        "random-forest": lambda: RandomForestClassifier(random_state=seed),
        "logistic-regression": lambda: _behind_scaler(
            LogisticRegression(max_iter=STEPS, random_state=seed)
        ),
        "adaboost": lambda: AdaBoostClassifier(random_state=seed),
        "bagging": lambda: BaggingClassifier(random_state=seed),
    }
    return makers[name]()


def fit_model(
    name: str,
    seed: int,
    rows: Features,
    labels: NDArray[np.integer],
    shares: BoolArray,
) -> Any:
    """Return the model after it has learned.

    Parameters
    ----------
    shares
        Which features are shares of values of a category.
    """
    if not (rows != rows[:1]).any():
        # Nothing can be told apart, and variances of 0 make no model.
        return _most_frequent(rows, labels)
    try:
        return _model(name, seed, len(rows), shares).fit(rows, labels)
    except ValueError:
        if name != "adaboost":
            raise
        # Its first tree guesses no better than chance, which leaves it nothing to build on.
        return _most_frequent(rows, labels)


def _most_frequent(rows: Features, labels: NDArray[np.integer]) -> Any:
    return DummyClassifier(strategy="most_frequent").fit(rows, labels)


def has_converged(model: Any) -> bool:
    """Whether an iterative model came to rest; others always have."""
    last = model[-1] if hasattr(model, "steps") else model
    taken, most = getattr(last, "n_iter_", None), getattr(last, "max_iter", None)
    return taken is None or most is None or bool(np.max(taken) < most)
