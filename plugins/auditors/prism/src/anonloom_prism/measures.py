"""How much the joint levels of a set tell about a target, from counts of cells alone.

Each measure is a sum over the cells of the contingency table of the set and the target, so that it
is computed for all pairs of attributes at once, and for larger sets part by part.
"""

from abc import ABC, abstractmethod

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom.typing import FloatArray, IntArray
from anonloom_prism.pair_counts import Counts

Sums = tuple[FloatArray, ...]


class CellMeasure(ABC):
    """A measure that is a function of sums over cells."""

    @abstractmethod
    def terms(self, rows: FloatArray, hits: FloatArray, whole: "Whole") -> Sums:
        """Return what cells add to the sums.

        Parameters
        ----------
        rows
            (cells): rows of each.
        hits
            (targets x cells): rows of each that the target is true of.
        """

    @abstractmethod
    def figure(self, sums: Sums, whole: "Whole") -> FloatArray:
        """Return the measure, (targets x sets), from sums over the cells of every set."""


@attrs.frozen(eq=False)
class Whole:
    """All rows.

    Attributes
    ----------
    members
        (targets x classes): which classes belong to a target.
    rows
        How many rows there are.
    hits
        Of how many each target is true.
    """

    members: FloatArray
    rows: float
    hits: FloatArray

    @classmethod
    def of(cls, members: NDArray[np.bool_], sizes: FloatArray) -> "Whole":
        """Count the rows of classes."""
        return cls(members.astype(float), float(sizes.sum()), members @ sizes)

    def along(self, like: FloatArray) -> FloatArray:
        """Hits of every target, shaped to go with an array of (targets x ...)."""
        return self.hits.reshape(-1, *[1] * (like.ndim - 1))


class CramersV(CellMeasure):
    """Cramer's V of the target and the joint levels, corrected for bias.

    Of a target that is true or false, V is the multiple correlation coefficient of its indicator on
    the indicators of all joint levels. Chance alone makes its square (cells - 1) / (rows - 1) on
    average; Bergsma (A bias-correction for Cramer's V and Tschuprow's T, 2013) subtracts that.
    """

    def terms(self, rows: FloatArray, hits: FloatArray, whole: Whole) -> Sums:
        """Return squared hits per row, and which cells are occupied."""
        occupied = rows > 0
        return hits * hits / np.where(occupied, rows, 1.0), occupied.astype(np.float64)

    def figure(self, sums: Sums, whole: Whole) -> FloatArray:
        """Return the corrected V."""
        return corrected_v(self.chi_squared_per_row(sums, whole), sums[1], whole.rows)

    def chi_squared_per_row(self, sums: Sums, whole: Whole) -> FloatArray:
        """Return chi-squared per row."""
        hits = whole.along(sums[0])
        return (sums[0] - hits**2 / whole.rows) / (hits * (whole.rows - hits) / whole.rows)


def corrected_v(explained: FloatArray, cells: FloatArray, rows: float) -> FloatArray:
    """Correct V of a 2 x cells table for bias.

    Parameters
    ----------
    explained
        Chi-squared per row.
    cells
        Occupied cells of the set.
    """
    if rows < 2:
        return np.zeros_like(explained)
    free = cells - 1
    beyond = np.maximum(0.0, explained - free / (rows - 1))
    most = np.minimum(free - free**2 / (rows - 1), 1 - 1 / (rows - 1))
    # Where every row has a cell of its own, nothing is left but rounding.
    some = most > 1e-9
    return np.sqrt(np.where(some, np.minimum(1.0, beyond / np.where(some, most, 1.0)), 0.0))


class Classifier(CellMeasure):
    """What a table of decisions gains over the majority, each row judged by the others.

    The classifier calls a row critical where, among the other rows with its joint levels, the
    target is more frequent than among all other rows; where there are none, or equally many, it
    tosses a coin. Leaving one row out at a time needs no second pass over the rows: a cell's counts
    less the row are what the classifier has learned. Balanced accuracy, of which the majority's
    guess reaches 0.5, is put on a scale from 0 (no gain) to 1.
    """

    def terms(self, rows: FloatArray, hits: FloatArray, whole: Whole) -> Sums:
        """Return how many critical rows are called so, and how many others are not."""
        others = np.maximum(rows - 1, 1.0)
        all_hits, all_others = whole.along(hits), max(whole.rows - 1, 1.0)
        # Whole numbers are compared, not shares: ties must be ties.
        of_hit = np.sign((hits - 1) * all_others - (all_hits - 1) * others)
        of_rest = np.sign(all_hits * others - hits * all_others)
        alone = rows <= 1
        of_hit, of_rest = np.where(alone, 0.0, of_hit), np.where(alone, 0.0, of_rest)
        return hits * (of_hit + 1) / 2, (rows - hits) * (of_rest + 1) / 2

    def figure(self, sums: Sums, whole: Whole) -> FloatArray:
        """Return the gain."""
        hits = whole.along(sums[0])
        gain = sums[0] / hits + sums[1] / (whole.rows - hits) - 1
        return np.maximum(0.0, gain)


def pair_sums(measure: CellMeasure, counts: Counts, starts: IntArray, whole: Whole) -> Sums:
    """Sum over the cells of every pair of attributes: (targets x attributes x attributes)."""

    def terms(by_class: FloatArray) -> Sums:
        return measure.terms(
            by_class.sum(axis=0), np.tensordot(whole.members, by_class, axes=1), whole
        )

    def over(values: FloatArray, *axes: int) -> FloatArray:
        for axis in axes:
            values = np.add.reduceat(values, starts, axis=axis)
        return values

    parts = zip(terms(counts.both), terms(counts.edge), terms(counts.corner), strict=True)
    results = []
    for both, edge, corner in parts:
        edges = over(edge, -1)
        results.append(over(both, -2, -1) + edges + np.swapaxes(edges, -1, -2) + corner)
    return tuple(results)


def summed_alone(measure: CellMeasure, counts: Counts, starts: IntArray, whole: Whole) -> Sums:
    """Sum over the levels of every single attribute: (targets x attributes)."""
    first, last = counts.singles()
    parts = [measure.terms(part.sum(axis=0), whole.members @ part, whole) for part in (first, last)]
    return tuple(
        np.add.reduceat(of_first, starts, axis=-1) + of_last
        for of_first, of_last in zip(*parts, strict=True)
    )
