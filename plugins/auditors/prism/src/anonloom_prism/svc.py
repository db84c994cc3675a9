"""PrismSVC: a linear support vector machine that needs no sensitive information (section 3)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from anonloom.typing import FloatArray
from anonloom_prism import hinge
from anonloom_prism.attribute_choice import (
    NODES,
    AttributeChooser,
    Sample,
    is_positive,
    is_whole,
    must,
    standardize,
)
from anonloom_prism.content_order import content_order
from anonloom_prism.selection import Solver


class PrismSVC(AttributeChooser):
    """A linear SVM over an admissible set of attributes.

    It reads no sensitive attribute, leaves out at least one attribute of every sensitive
    correlation and uses at most `max_attributes`. Among the sets that this allows it takes the one
    with the smallest regularized hinge loss, and is then fitted on all rows. Without sensitive
    attributes, correlations and `max_attributes` it is a plain linear SVM.

    Features are standardized within; of a frame, columns that are no numbers are categories with
    one feature per value. Several classes are told apart one against the rest, with the same
    attributes: who is asked for an attribute is asked once.

    Parameters
    ----------
    sensitive : names or numbers, default=()
        Attributes that are never read.
    correlations : iterable of iterables, default=()
        Sets of attributes that give a sensitive value away, as names, as numbers of columns, or as
        `discover` returns them. A name that X does not have is an error: a slip of the pen would
        leave a correlation whole.
    max_attributes : int or None, default=None
        Most attributes that are used; None for no limit.
    C : float, default=1.0
        Weight of the hinge losses of all rows against the size of the weights.
    solver : {'auto', 'exact', 'greedy'}, default='auto'
        How the attributes are chosen; 'auto' is exact up to 40 attributes.
    node_limit : int, default=1000
        Most nodes of the exact search where sets are too many to be tried one by one. It then ends
        with the best set that it has found, and a `ConvergenceWarning` says so.
    rows : int, default=400
        Most points of the exact problem: distinct rows, or a sample of the rows.
    groups : mapping or None, default=None
        Columns that encode one attribute together, by the attribute's name.
    max_iter, tol : int, float
        When the final fit ends.
    sample : {'content', 'random'}, default='content'
        How rows are sampled where there are more than `rows`. 'content': by a hash of what they
        hold, so that the same data give the same attributes, whatever the order of rows and columns
        is; 'random': by `random_state`, to see how much the choice depends on the sample.
    random_state : int, RandomState or None, default=None
        Draws the sample with `sample='random'`, and nothing otherwise.

    Attributes
    ----------
    attributes_in_ : ndarray
        Names (or numbers) of the attributes that the model needs, and nothing else: `predict` takes
        a frame with these alone.
    selection_ : Selection
        How the attributes were chosen.
    exact_ : bool
        Whether the choice is the best one on the points of the problem.
    gap_ : float
        How far its objective may be above the best one, as a part of it.
    coef_, intercept_ : ndarray
        (machines x features) and (machines): weights of the features of these attributes.
    coef_attributes_ : ndarray
        Attribute of every feature.
    n_iter_ : int
        Steps of the final fit.
    classes_, n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    References
    ----------
    M. Barbato, A. Ceselli, S. De Capitani di Vimercati, S. Foresti, P. Samarati: PriSM: A
    Privacy-friendly Support vector Machine. ESORICS 2025.

    Examples
    --------
    >>> import pandas as pd
    >>> from anonloom_prism.svc import PrismSVC
    >>> X = pd.DataFrame({"age": [20, 30, 60, 70] * 5, "zip": [1, 2, 1, 2] * 5})
    >>> model = PrismSVC(correlations=[("age", "zip")]).fit(X, ["no", "no", "yes", "yes"] * 5)
    >>> model.attributes_in_.tolist()
    ['age']
    >>> model.predict(pd.DataFrame({"age": [25, 65]})).tolist()
    ['no', 'yes']
    """

    def __init__(
        self,
        *,
        sensitive: Any = (),
        correlations: Any = (),
        max_attributes: int | None = None,
        C: float = 1.0,
        solver: Solver = "auto",
        node_limit: int = NODES,
        rows: int = 400,
        groups: Any = None,
        max_iter: int = 1000,
        tol: float = 1e-6,
        sample: Sample = "content",
        random_state: Any = None,
    ) -> None:
        self.sensitive = sensitive
        self.correlations = correlations
        self.max_attributes = max_attributes
        self.C = C
        self.solver = solver
        self.node_limit = node_limit
        self.rows = rows
        self.groups = groups
        self.max_iter = max_iter
        self.tol = tol
        self.sample = sample
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> "PrismSVC":
        """Choose the attributes, and fit on all rows."""
        must(is_whole(self.max_iter), "max_iter", "a whole number of 1 or more", self.max_iter)
        must(is_positive(self.tol), "tol", "a number above 0", self.tol)
        X, labels = self._taken_in(X, y)
        chosen = self._choose(X, labels)
        features = self._known.features(X, chosen)
        # Sums depend on the order of their terms in the last digits; machines must not.
        order = content_order(features, labels)
        labels = labels[order]
        features, means, spread = standardize(features[order])
        numbers = range(len(self.classes_)) if len(self.classes_) > 2 else (1,)
        machines = [
            hinge.fit(
                features,
                np.where(labels == number, 1.0, -1.0),
                C=self.C,
                max_iter=self.max_iter,
                tol=self.tol,
            )
            for number in numbers
        ]
        self.coef_ = np.array([machine.weights for machine in machines]) / spread
        self.intercept_ = np.array([machine.intercept for machine in machines]) - self.coef_ @ means
        widths = [self._known.all[index].width for index in chosen]
        self.coef_attributes_ = np.repeat(self.attributes_in_, widths)
        self.n_iter_ = max(machine.steps for machine in machines)
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Return the side and distance of every row: (rows), or (rows x classes) for several."""
        X = self._read(X)
        features = self._known.features(X, self.selection_.attributes)
        reached: FloatArray = features @ self.coef_.T + self.intercept_
        return reached[:, 0] if len(self.classes_) == 2 else reached

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of every row."""
        reached = self.decision_function(X)
        which = (reached > 0).astype(int) if reached.ndim == 1 else reached.argmax(axis=1)
        result: NDArray[Any] = self.classes_[which]
        return result
