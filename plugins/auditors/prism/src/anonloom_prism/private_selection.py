"""PrivateSelection: any classifier of scikit-learn, over an admissible set of attributes."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from anonloom_prism.attribute_choice import NODES, AttributeChooser, Sample
from anonloom_prism.selection import Solver


def _has(method: str) -> Any:
    """Whether the wrapped classifier has a method."""

    def check(self: "PrivateSelection") -> bool:
        getattr(getattr(self, "estimator_", self.estimator), method)
        return True

    return available_if(check)


class PrivateSelection(MetaEstimatorMixin, AttributeChooser):  # type: ignore[misc]  # scikit-learn has no types
    """A classifier that sees nothing but an admissible set of attributes.

    The set is the one that a linear SVM would use best, see `PrismSVC`: section 3 notes that the
    correlations do not depend on the classifier. For a classifier that is not linear the set is
    admissible all the same, and a good guess.

    Parameters
    ----------
    estimator : classifier
        What learns; it is cloned.
    sensitive, correlations, max_attributes, C, solver, node_limit, rows, groups
        As for `PrismSVC`; `C` is that of the linear SVM by which attributes are chosen.
    sample, random_state
        As for `PrismSVC`.
    encode : bool, default=True
        Whether categories of a frame reach the classifier as one feature per value; otherwise it is
        given the columns of the frame as they are. Numbers always reach it as they are.

    Attributes
    ----------
    estimator_ : classifier
        The one that has learned.
    attributes_in_, selection_, exact_, gap_, classes_, n_features_in_, feature_names_in_
        As for `PrismSVC`.
    """

    def __init__(
        self,
        estimator: Any,
        *,
        sensitive: Any = (),
        correlations: Any = (),
        max_attributes: int | None = None,
        C: float = 1.0,
        solver: Solver = "auto",
        node_limit: int = NODES,
        rows: int = 400,
        groups: Any = None,
        encode: bool = True,
        sample: Sample = "content",
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.sensitive = sensitive
        self.correlations = correlations
        self.max_attributes = max_attributes
        self.C = C
        self.solver = solver
        self.node_limit = node_limit
        self.rows = rows
        self.groups = groups
        self.encode = encode
        self.sample = sample
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        wrapped = get_tags(self.estimator)
        if wrapped.classifier_tags is not None:
            tags.classifier_tags.poor_score = wrapped.classifier_tags.poor_score
            tags.classifier_tags.multi_class = wrapped.classifier_tags.multi_class
        tags.non_deterministic = wrapped.non_deterministic
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimator_")

    def fit(self, X: Any, y: Any) -> "PrivateSelection":
        """Choose the attributes, and let the classifier learn from them."""
        X, labels = self._taken_in(X, y)
        self._choose(X, labels)
        self.estimator_ = clone(self.estimator).fit(
            self._selected_columns(X), self.classes_[labels]
        )
        return self

    def _selected_columns(self, X: Any) -> Any:
        """What the classifier sees of X."""
        chosen = self.selection_.attributes
        if self.encode or not isinstance(X, pd.DataFrame):
            return self._known.features(X, chosen)
        needed = self._known.columns_of(chosen)
        names = self._known.names
        return X.iloc[:, needed] if names is None else X[[names[index] for index in needed]]

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of every row."""
        return self._answer("predict", X)

    @_has("predict_proba")  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return (rows x classes): how likely every class is."""
        return self._answer("predict_proba", X)

    @_has("decision_function")  # type: ignore[untyped-decorator]  # as above
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return what the classifier decides by."""
        return self._answer("decision_function", X)

    def _answer(self, method: str, X: Any) -> NDArray[Any]:
        check_is_fitted(self)
        result: NDArray[Any] = getattr(self.estimator_, method)(
            self._selected_columns(self._read(X))
        )
        return result
