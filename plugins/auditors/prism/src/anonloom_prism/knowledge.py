"""What an attacker knows of people, as numbers: cells of a table, and answers of a model."""

from collections.abc import Callable, Sequence
from typing import Any

import attrs
import numpy as np
import pandas as pd

from anonloom.typing import FloatArray, IntArray
from anonloom_prism.cell_midpoints import places
from anonloom_prism.columns import Attributes

#: What is known of the people that are learned from and of those to judge: rows of both.
Knowledge = Callable[[IntArray, IntArray, np.random.Generator], tuple[FloatArray, FloatArray]]


def absence(name: str) -> str:
    """Name of the column that says whether a number is missing; no declared column has it."""
    return f"{name}\0missing"


def readable(frame: pd.DataFrame, names: Sequence[str], types: dict[str, str]) -> pd.DataFrame:
    """Return columns that a classifier can read: numbers without gaps, and categories.

    A number or date is the middle of what its cell covers, and whether there is one where some are
    missing; names of nodes, sets of categories and `*` are categories like any other.
    """
    results: dict[str, Any] = {}
    for name in names:
        middles = None if types[name] == "category" else places(frame[name], types[name])
        if middles is None:
            results[name] = frame[name].astype(object).reset_index(drop=True)
            continue
        missing = np.isnan(middles)
        results[name] = np.where(
            missing, middles[~missing].mean() if not missing.all() else 0.0, middles
        )
        if missing.any():
            results[absence(name)] = missing.astype(float)
    return pd.DataFrame(results, index=pd.RangeIndex(len(frame)))


def as_features(frame: pd.DataFrame) -> FloatArray:
    """Return a readable frame as one array, every value of a category as a feature."""
    known = Attributes.of(frame, [str(name) for name in frame], None)
    return known.features(frame, range(len(known)))


@attrs.frozen(eq=False)
class Cells:
    """Features of all rows."""

    features: FloatArray = attrs.field(repr=False)

    def __call__(
        self, learn: IntArray, judge: IntArray, rng: np.random.Generator
    ) -> tuple[FloatArray, FloatArray]:
        """Return those of both parts."""
        return self.features[learn], self.features[judge]


@attrs.frozen(eq=False)
class Outputs:
    """Answers of a classifier that learned a label.

    The people who are learned from are answered by a model that has not seen them, as the others
    are: each half by a model of the other half. A model's answers about people whom it knows are
    another thing, and would mislead the attacker.

    Attributes
    ----------
    model
        Makes a classifier.
    rows
        What it learns from: an array, or a frame.
    labels
        Number of every row's label.
    """

    model: Callable[[], Any]
    rows: Any = attrs.field(repr=False)
    labels: IntArray = attrs.field(repr=False)

    def __call__(
        self, learn: IntArray, judge: IntArray, rng: np.random.Generator
    ) -> tuple[FloatArray, FloatArray]:
        """Return the answers about both parts."""
        halves = np.array_split(rng.permutation(len(learn)), 2)
        known = np.zeros((len(learn), self._width))
        for own, other in (halves, halves[::-1]):
            known[own] = self._answers(learn[other], learn[own])
        return known, self._answers(learn, judge)

    @property
    def _width(self) -> int:
        return int(self.labels.max()) + 1

    def _answers(self, learn: IntArray, asked: IntArray) -> FloatArray:
        """(rows x labels): how much speaks for each label; 0 where nothing could be learned."""
        result = np.zeros((len(asked), self._width))
        if len(np.unique(self.labels[learn])) < 2 or not len(asked):
            return result
        model = self.model().fit(self._take(learn), self.labels[learn])
        rows = self._take(asked)
        if hasattr(model, "decision_function"):
            scores = model.decision_function(rows)
        else:
            scores = model.predict_proba(rows)
        scores = np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
        result[:, model.classes_] = scores
        return result

    def _take(self, rows: IntArray) -> Any:
        return self.rows.iloc[rows] if isinstance(self.rows, pd.DataFrame) else self.rows[rows]


@attrs.frozen(eq=False)
class Both:
    """Two things that are known of the same people."""

    first: Knowledge
    second: Knowledge

    def __call__(
        self, learn: IntArray, judge: IntArray, rng: np.random.Generator
    ) -> tuple[FloatArray, FloatArray]:
        """Return both, side by side."""
        parts = zip(self.first(learn, judge, rng), self.second(learn, judge, rng), strict=True)
        learned, judged = (np.hstack(pair) for pair in parts)
        return learned, judged
