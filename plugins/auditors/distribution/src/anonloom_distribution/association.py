"""How strongly every two columns go together: correlation, correlation ratio, Cramér's V.

Two numbers: Pearson's correlation, or Spearman's (that of their ranks). Two categories: Cramér's V
with Bergsma's correction, without which independent categories would look associated, and the more
so the smaller the sample. A number and a category: the correlation ratio, the root of the share of
the number's variance that the category explains.

A generalized number counts as its middle, a generalized category in equal parts for its values.
Rows that do not tell one of the two are left out of the pair.
"""

from typing import Literal

import attrs
import numpy as np

from anonloom import short_repr
from anonloom.lazy import lazy_module
from anonloom.typing import BoolArray, FloatArray
from anonloom_distribution.tables import ORIGINAL, Tables
from anonloom_linkage.aligned_columns import AlignedColumn, Cells
from anonloom_linkage.marginals import leaf_parts

sparse = lazy_module("scipy.sparse")

Correlation = Literal["pearson", "spearman"]

#: Values of a category that count on their own; all rarer ones are one.
MOST_VALUES = 32
#: Larger tables of cells by cells are kept sparse.
MOST_CELLS = 1 << 20


@short_repr
@attrs.frozen(eq=False)
class Number:
    """Cells of an ordered column: their middles, and which of them tell one."""

    middle: FloatArray
    known: BoolArray

    @classmethod
    def of(cls, column: AlignedColumn) -> "Number":
        """Scale the middles, so that squares of them neither vanish nor overflow."""
        known = ~column.open & ~column.missing
        middle = np.where(known, column.lo / 2 + column.hi / 2, 0.0)
        counts = column.counts(ORIGINAL)
        spoken = known & (counts > 0)
        if spoken.any():
            middle = middle - np.average(middle[spoken], weights=counts[spoken])
            middle /= np.abs(middle[spoken]).max() or 1.0
        return cls(np.where(known, middle, 0.0), known)

    def values(self, cells: Cells, correlation: Correlation) -> tuple[FloatArray, FloatArray]:
        """Value of every row, 0 where there is none, and 1 where there is one."""
        known = self.known[cells].astype(float)
        if correlation == "pearson":
            return self.middle[cells], known
        distinct, which = np.unique(self.middle, return_inverse=True)
        counts = np.bincount(which[cells], weights=known, minlength=len(distinct))
        # Equal values share the mean of their ranks; from -1/2 to 1/2.
        ranks = (np.cumsum(counts) - counts / 2) / max(counts.sum(), 1.0) - 0.5
        return ranks[which][cells] * known, known


@attrs.frozen(eq=False)
class Category:
    """Cells of a category: (cells x values), which part of each counts for which value."""

    parts: FloatArray

    @classmethod
    def of(cls, column: AlignedColumn) -> "Category":
        """Keep the most frequent values; what is missing or `*` counts for none."""
        parts = leaf_parts(column, "midpoint").tocsc()
        counts = column.counts(ORIGINAL)
        leaves = np.arange(parts.shape[1])
        if column.missing.any():
            leaves = leaves[leaves != int(column.lo[column.missing][0])]
        frequent = np.argsort(-(parts.T @ counts)[leaves], kind="stable")
        kept, rare = leaves[frequent[:MOST_VALUES]], leaves[frequent[MOST_VALUES:]]
        own = parts[:, np.sort(kept)].toarray()
        if not len(rare):
            return cls(own)
        return cls(np.column_stack([own, parts[:, rare].sum(axis=1)]))


@short_repr
@attrs.frozen(eq=False)
class Associations:
    """The columns of which all pairs are looked at."""

    names: tuple[str, ...]
    columns: tuple[Number | Category, ...]
    correlation: Correlation

    @classmethod
    def of(cls, tables: Tables, correlation: Correlation) -> "Associations":
        """Read the cells of all columns."""
        results = [
            Number.of(column) if column.is_ordered else Category.of(column)
            for column in tables.columns.values()
        ]
        return cls(tuple(tables.columns), tuple(results), correlation)

    def matrix(self, cells: list[Cells]) -> FloatArray:
        """Association of every pair; 0 with a column that does not vary where both are told.

        Parameters
        ----------
        cells
            Of every column the cell of every row.
        """
        result = np.eye(len(self.columns))
        numbers = [index for index, item in enumerate(self.columns) if isinstance(item, Number)]
        values, known = [], []
        for index in numbers:
            column = self.columns[index]
            assert isinstance(column, Number)
            of_rows = column.values(cells[index], self.correlation)
            values.append(of_rows[0])
            known.append(of_rows[1])
        if numbers:
            result[np.ix_(numbers, numbers)] = correlations(np.array(values), np.array(known))
        for index, item in enumerate(self.columns):
            if isinstance(item, Number):
                continue
            for which, number in enumerate(numbers):
                ratio = correlation_ratio(item.parts, cells[index], values[which], known[which])
                result[index, number] = result[number, index] = ratio
            for other in range(index):
                second = self.columns[other]
                if isinstance(second, Category):
                    counts = contingency(item.parts, cells[index], second.parts, cells[other])
                    result[index, other] = result[other, index] = cramers_v(counts)
        np.fill_diagonal(result, 1.0)
        return result


def correlations(values: FloatArray, known: FloatArray) -> FloatArray:
    """Pearson's correlation of every two rows of `values`, where both are told."""
    n = known @ known.T
    sums = values @ known.T
    squares = values**2 @ known.T
    # With some places for rounding, variance that is none stays none.
    each = np.maximum(n, 1.0)
    spread = squares / each - (sums / each) ** 2
    spread = np.where(spread > 1e-13 * squares / each, spread, 0.0)
    both = values @ values.T / each - (sums / each) * (sums.T / each)
    scale = np.sqrt(spread * spread.T)
    result = np.divide(both, scale, out=np.zeros_like(both), where=scale > 0)
    return np.clip(result, -1.0, 1.0)


def correlation_ratio(
    parts: FloatArray, cells: Cells, values: FloatArray, known: FloatArray
) -> float:
    """Root of the share of a number's variance that lies between the values of a category."""
    per_cell = [
        np.bincount(cells, weights=of, minlength=len(parts)) for of in (known, values, values**2)
    ]
    n, sums, squares = (of @ parts for of in per_cell)
    total = n.sum()
    if not total:
        return 0.0
    mean = sums.sum() / total
    whole = squares.sum() - total * mean**2
    some = n > 0
    between = (n[some] * (sums[some] / n[some] - mean) ** 2).sum()
    if whole <= 1e-13 * squares.sum():
        return 0.0
    return float(np.sqrt(np.clip(between / whole, 0.0, 1.0)))


def contingency(a: FloatArray, a_cells: Cells, b: FloatArray, b_cells: Cells) -> FloatArray:
    """Rows that have every two values of two categories."""
    shape = len(a), len(b)
    if shape[0] * shape[1] <= MOST_CELLS:
        pairs = np.bincount(
            a_cells.astype(np.int64) * shape[1] + b_cells, minlength=shape[0] * shape[1]
        )
        return a.T @ (pairs.reshape(shape) @ b)
    rows = sparse.coo_array((np.ones(len(a_cells)), (a_cells, b_cells)), shape=shape).tocsr()
    result: FloatArray = a.T @ (rows @ b)
    return result


def cramers_v(counts: FloatArray) -> float:
    """Cramér's V of a table of counts, bias-corrected (Bergsma 2013)."""
    n = counts.sum()
    rows, columns = counts.sum(axis=1), counts.sum(axis=0)
    r, c = int((rows > 0).sum()), int((columns > 0).sum())
    if n <= 1 or min(r, c) < 2:
        return 0.0
    expected = np.outer(rows, columns) / n
    some = expected > 0
    phi = ((counts[some] - expected[some]) ** 2 / expected[some]).sum() / n
    phi = max(0.0, phi - (r - 1) * (c - 1) / (n - 1))
    size = min(r - (r - 1) ** 2 / (n - 1), c - (c - 1) ** 2 / (n - 1)) - 1
    return float(min(1.0, np.sqrt(phi / size))) if size > 0 else 0.0


def changes(before: FloatArray, after: FloatArray) -> FloatArray:
    """How far each association of a table is from that of another."""
    result: FloatArray = np.abs(after - before)
    # Sums over other orders of the same rows differ in their last digits.
    result[result < 1e-12] = 0.0
    return result


@attrs.frozen
class Change:
    """How far the associations of a table are from those of the original."""

    mean: float
    most: float
    pair: tuple[int, int]

    @classmethod
    def between(cls, before: FloatArray, after: FloatArray) -> "Change":
        """Compare two tables of associations."""
        first, second = np.triu_indices(len(before), 1)
        result = changes(before, after)[first, second]
        index = int(result.argmax())
        return cls(
            float(result.mean()), float(result[index]), (int(first[index]), int(second[index]))
        )
