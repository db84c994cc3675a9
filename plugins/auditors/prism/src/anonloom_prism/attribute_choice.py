"""What PrismSVC and PrivateSelection share: checked parameters, the choice, the columns to read."""

import warnings
from collections.abc import Iterable
from typing import Any, Literal, get_args

import attrs
import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_consistent_length, check_random_state, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from anonloom.typing import FloatArray, IntArray
from anonloom_prism.admissible import Rule
from anonloom_prism.columns import Attributes, Name
from anonloom_prism.content_order import content_order
from anonloom_prism.problem import pose
from anonloom_prism.selection import Selection, Solver, select, select_all

Sample = Literal["content", "random"]

#: Nodes of the search by mixed-integer programming.
NODES = 1000


class AttributeChooser(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A classifier that first chooses which attributes it will ever read.

    Parameters of all of them are described where they are constructed, see `PrismSVC`.
    """

    sensitive: Any
    correlations: Any
    max_attributes: int | None
    C: float
    solver: Solver
    node_limit: int
    rows: int
    groups: Any
    sample: Sample
    random_state: Any

    def _taken_in(self, X: Any, y: Any) -> tuple[Any, IntArray]:
        """Check X and y, remember names and classes; return X and the class of every row."""
        self._check_parameters()
        if isinstance(X, pd.DataFrame):
            # Columns are checked when they are read: those that are never read may hold anything.
            X, y = validate_data(self, X, y, skip_check_array=True)
            y = column_or_1d(y, warn=True)
            check_consistent_length(X, y)
            if not len(X):
                raise ValueError("X must have rows. Got none instead.")
        else:
            X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_, labels = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"{type(self).__name__} must see two or more classes. Got one class instead."
            )
        return X, labels.astype(np.int64)

    def _choose(self, X: Any, labels: IntArray) -> tuple[int, ...]:
        """Choose the attributes, and remember all that is known about the choice."""
        names = getattr(self, "feature_names_in_", None)
        sensitive, correlations = _as_list(self.sensitive), _as_list(self.correlations)
        if sensitive or correlations or self.groups:
            _check_numbered(X, names)
        known = Attributes.of(X, names, self.groups)
        self._known = known
        rule = Rule.of(
            range(len(known)),
            known.numbers(sensitive, "sensitive"),
            [known.numbers(_members(correlation), "correlations") for correlation in correlations],
            self.max_attributes,
        )
        if not rule.candidates:
            raise ValueError(
                "X must have an attribute that may be used. Got only sensitive ones instead."
            )
        selection = self._select(X, labels, rule)
        self.selection_: Selection = selection
        self.exact_, self.gap_ = selection.exact, selection.gap
        if selection.by == "exact" and not selection.exact:
            warnings.warn(
                f"The best attributes were not proved within {self.node_limit} nodes: the loss of "
                f"those that were chosen may be up to {selection.gap:.2g} of it above the least "
                "one; increase node_limit.",
                ConvergenceWarning,
                stacklevel=3,
            )
        chosen = selection.attributes
        self.attributes_in_ = np.array([known.all[index].name for index in chosen], object)
        if names is None and self.groups is None:
            self.attributes_in_ = self.attributes_in_.astype(np.int64)
        return chosen

    def _select(self, X: Any, labels: IntArray, rule: Rule) -> Selection:
        """Choose among the candidates, numbered by name; their places in X decide nothing."""
        named = sorted(rule.candidates, key=lambda at: _by_name(self._known.all[at].name))
        features = self._known.features(X, named)
        widths = [self._known.all[index].width for index in named]
        block = np.repeat(np.arange(len(named)), widths).astype(np.int64)
        order = content_order(features, labels)
        if self.sample == "random":
            order = order[check_random_state(self.random_state).permutation(len(order))]
        scaled = standardize(features[order])[0]
        varying = frozenset(block[scaled.any(axis=0)].tolist())
        number = {index: place for place, index in enumerate(named)}
        correlations = [
            [number[index] for index in correlation] for correlation in rule.correlations
        ]
        # An attribute that never varies helps nobody, and must not be asked for.
        rule = Rule.of(varying or range(len(named)), (), correlations, rule.most)
        if rule.is_unconstrained:
            result = select_all(rule, len(labels))
        else:
            problem = pose(
                scaled, block, labels[order], len(self.classes_), C=self.C, rows=self.rows
            )
            result = select(problem, rule, solver=self.solver, node_limit=self.node_limit)
        return attrs.evolve(
            result, attributes=tuple(sorted(named[index] for index in result.attributes))
        )

    def _read(self, X: Any) -> Any:
        """Check X before a prediction; a frame may hold no more than the attributes needed."""
        check_is_fitted(self)
        if not isinstance(X, pd.DataFrame):
            return validate_data(self, X, dtype=np.float64, reset=False)
        names = self._known.names
        if names is not None and len(X.columns) < len(names):
            needed = {names[index] for index in self._known.columns_of(self.selection_.attributes)}
            if needed <= set(X.columns) <= set(names):
                return X
        return validate_data(self, X, reset=False, skip_check_array=True)

    def _check_parameters(self) -> None:
        """Refuse parameters that make no sense, when fitting, as scikit-learn wants it."""
        must(self.max_attributes is None or is_whole(self.max_attributes), "max_attributes",
              "a whole number of 1 or more, or None", self.max_attributes)  # fmt: skip
        must(is_positive(self.C) and np.isfinite(self.C), "C", "a finite number above 0", self.C)
        must(self.solver in get_args(Solver), "solver", "'auto', 'exact' or 'greedy'", self.solver)
        must(is_whole(self.node_limit), "node_limit", "a whole number of 1 or more",
             self.node_limit)  # fmt: skip
        must(self.sample in get_args(Sample), "sample", "'content' or 'random'", self.sample)
        must(is_whole(self.rows), "rows", "a whole number of 1 or more", self.rows)


def _check_numbered(X: Any, names: Any) -> None:
    """Refuse a frame whose columns have other numbers for names than their places.

    Which of the two a number means would be a guess, and a wrong one leaves an attribute in.
    """
    numbered = not isinstance(X, pd.DataFrame) or list(X.columns) == list(range(X.shape[1]))
    if names is None and not numbered:
        raise ValueError(
            "X must have columns with texts for names, or numbered from 0 in their order, where "
            "attributes are named. Got other names instead; X.columns.astype(str) makes texts."
        )


def _by_name(name: Name) -> tuple[bool, int, str]:
    """Order attributes: numbers first, as numbers, then names."""
    numbered = isinstance(name, int | np.integer)
    return (not numbered, int(name) if numbered else 0, str(name))  # type: ignore[call-overload]


def standardize(features: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return features of mean 0 and spread 1, the means, and the spreads (1 if nothing varies)."""
    means, spread = features.mean(axis=0), features.std(axis=0)
    # Equal numbers whose mean is rounded have a spread that is nothing but rounding.
    varies = spread > 1e-12 * np.maximum(np.abs(means), 1e-300)
    spread = np.where(varies, spread, 1.0)
    return np.where(varies, (features - means) / spread, 0.0), means, spread


def _as_list(given: Any) -> list[Any]:
    """A single name is a list of one."""
    if given is None:
        return []
    return [given] if isinstance(given, str | int | np.integer) else list(given)


def _members(correlation: Any) -> Iterable[Any]:
    """The attributes of a correlation: a `Correlation`, or names or numbers."""
    return _as_list(getattr(correlation, "attributes", correlation))


def is_whole(value: Any) -> bool:
    """Whether a parameter is a whole number of 1 or more."""
    return isinstance(value, int | np.integer) and value is not True and int(value) >= 1


def is_positive(value: Any) -> bool:
    """Whether a parameter is a number above 0."""
    return isinstance(value, int | float | np.number) and value is not True and float(value) > 0


def must(holds: bool, name: str, what: str, value: Any) -> None:
    """Refuse a parameter unless what must hold of it does."""
    if not holds:
        raise ValueError(f"{name} must be {what}. Got {value!r} instead.")
