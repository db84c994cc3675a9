"""Single attributes value by value: levels may hide the very value that gives somebody away.

A copy of the sensitive column with dozens of values shares most of them in one level. Sets cannot
be looked at value by value, there would be too many cells; single attributes can.
"""

from collections.abc import Iterator

import numpy as np

from anonloom.typing import FloatArray
from anonloom_prism.measures import CellMeasure, CramersV, Whole
from anonloom_prism.pair_counts import Grams
from anonloom_prism.regression import adjusted_r
from anonloom_prism.significance import contribution_p


class Singles:
    """Figures of single attributes whose levels hold several values.

    Parameters
    ----------
    measure
        None for the multiple correlation: of a single attribute it is V before any correction.
    """

    def __init__(self, grams: Grams, whole: Whole, measure: CellMeasure | None) -> None:
        self.grams, self.whole = grams, whole
        #: (targets x attributes); 0 where levels are values.
        self.figures = np.zeros((len(whole.hits), len(grams.encoded.names)))
        for index in self.attributes():
            self.figures[:, index] = self._figure(*self._value_counts(index), measure)

    def attributes(self) -> Iterator[int]:
        """Yield the attributes that are looked at."""
        values = self.grams.encoded.values
        return (index for index, of_rows in enumerate(values) if of_rows is not None)

    def p(self, at: int, target: int, level: float) -> float:
        """Return the chance that dealing the target anew gives as much, see `contribution_p`."""
        rows, hits = self._value_counts(at)
        return contribution_p(rows[None], hits[target][None], level)

    def _value_counts(self, at: int) -> tuple[FloatArray, FloatArray]:
        """Rows of every value, and (targets x values): those that a target is true of."""
        values = self.grams.encoded.values[at]
        assert values is not None
        count, classes = int(values.max()) + 1, len(self.grams.sizes)
        cells = np.bincount(values * classes + self.grams.classes, minlength=count * classes)
        by_class = cells.reshape(count, classes).T.astype(np.float64)
        return by_class.sum(axis=0), self.whole.members @ by_class

    def _figure(
        self, rows: FloatArray, hits: FloatArray, measure: CellMeasure | None
    ) -> FloatArray:
        by_cells = measure or CramersV()
        sums = tuple(term.sum(axis=-1) for term in by_cells.terms(rows, hits, self.whole))
        if measure is not None:
            return measure.figure(sums, self.whole)
        explained = CramersV().chi_squared_per_row(sums, self.whole)
        return adjusted_r(explained, sums[1] - 1, self.whole.rows)
