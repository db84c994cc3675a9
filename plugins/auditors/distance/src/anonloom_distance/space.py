"""The space in which distances are measured: the features of every cell, and who has which cells.

Vectors of records are never written out: a record is one cell per column, and equal records are
one point with a weight.
"""

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom import short_repr
from anonloom.lazy import lazy_module, pd
from anonloom.typing import FloatArray, IntArray
from anonloom_linkage.aligned_columns import AlignedColumn
from anonloom_linkage.features import Encoding
from anonloom_linkage.vectors import Part, Vectors

sparse = lazy_module("scipy.sparse")

#: So many features, those that vary most, take part in the product that rules candidates out.
MOST_SHOWN = 32
#: Values farther from the mean than so many standard deviations count as that far, so that their
#: squares are numbers.
FARTHEST = 1e6


@short_repr
@attrs.frozen(eq=False)
class Cells:
    """The features of all cells of all columns, those that are not 0.

    Attributes
    ----------
    starts
        First cell of every column.
    indptr, indices, data
        Features of every cell, as in a matrix of compressed sparse rows.
    shown, width
        Of every feature its place in the product that rules candidates out, or -1; their number.
    """

    starts: IntArray
    indptr: IntArray
    indices: IntArray
    data: FloatArray
    shown: IntArray
    width: int


@short_repr
@attrs.frozen(eq=False)
class Points:
    """The distinct records among some rows of a table.

    Attributes
    ----------
    codes
        (columns x points): the cell of every point in every column.
    spread
        Mean squared distance of what a point may stand for from the middle of it.
    weights
        Rows at every point.
    of
        Point of every row.
    """

    codes: NDArray[np.int32]
    spread: FloatArray
    weights: IntArray
    of: IntArray

    def __len__(self) -> int:
        return len(self.weights)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.of)

    def find(self, others: "Points") -> IntArray:
        """Return which of these points each of some others is; -1 for none."""
        both = np.hstack([self.codes, others.codes])
        labels = _equal_row_labels(both, np.concatenate([self.spread, others.spread]))
        place = np.full(int(labels.max(initial=-1)) + 1, -1, np.int64)
        place[labels[: len(self)]] = np.arange(len(self))
        return place[labels[len(self) :]]


@short_repr
@attrs.frozen(eq=False)
class Space:
    """The columns that distances are measured over.

    Attributes
    ----------
    names
        Columns that say something.
    sides
        For every table the codes (columns x rows) and the spread of every row.
    """

    names: tuple[str, ...]
    cells: Cells
    sides: tuple[tuple[NDArray[np.int32], FloatArray], ...]

    @classmethod
    def of(cls, columns: Sequence[AlignedColumn], encoding: Encoding) -> "Space":
        """Encode columns; the original's means and standard deviations are the scale."""
        vectors = Vectors.of(columns, encoding, fit="source")
        by_name = {column.name: column for column in columns}
        used = [by_name[part.name] for part in vectors.parts]
        tables = [_within(part.table) for part in vectors.parts]
        spreads = [
            spread_of(column, part, table)
            for column, part, table in zip(used, vectors.parts, tables, strict=True)
        ]
        sides = []
        for side in range(len(columns[0].sides) if columns else 0):
            if used:
                spread = sum(
                    (of[column.sides[side]] for of, column in zip(spreads, used, strict=True)),
                    np.zeros(len(used[0].sides[side])),
                )
                sides.append((vectors.codes(side), spread))
        return cls(
            tuple(part.name for part in vectors.parts),
            _stack_cells(vectors.parts, tables),
            tuple(sides),
        )

    def points(self, side: int, rows: NDArray[np.integer] | None = None) -> Points:
        """Return the distinct records among some rows of a table; all of them by default."""
        codes, spread = self.sides[side]
        if rows is not None:
            codes, spread = codes[:, rows], spread[rows]
        labels = _equal_row_labels(codes, spread)
        first = np.full(int(labels.max(initial=-1)) + 1, -1, np.int64)
        first[labels[::-1]] = np.arange(len(labels) - 1, -1, -1)
        return Points(
            np.ascontiguousarray(codes[:, first]),
            spread[first],
            np.bincount(labels, minlength=len(first)).astype(np.int64),
            labels,
        )


def _equal_row_labels(codes: NDArray[np.int32], spread: FloatArray) -> IntArray:
    """Number records in the order of their appearance, equal ones alike."""
    key, _ = pd.factorize(spread)
    for of_column in codes:
        span = int(of_column.max(initial=0)) + 1
        key, _ = pd.factorize(key.astype(np.int64) * span + of_column)
    labels: IntArray = key.astype(np.int64)
    return labels


def _within(table: Any) -> Any:
    """Return features as sorted sparse rows, none farther out than can be squared."""
    rows = sparse.csr_array(table)
    rows.data = np.clip(rows.data, -FARTHEST, FARTHEST)
    rows.sum_duplicates()
    return rows


def _stack_cells(parts: Sequence[Part], tables: Sequence[Any]) -> Cells:
    starts = np.cumsum([0, *(table.shape[0] for table in tables)])[:-1].astype(np.int64)
    if not parts:
        nothing = np.empty(0, np.int64)
        return Cells(nothing, np.zeros(1, np.int64), nothing, np.empty(0), nothing, 0)
    stacked = sparse.block_diag(tables, format="csr")
    variances = np.concatenate(
        [_variances(part, table) for part, table in zip(parts, tables, strict=True)]
    )
    most = np.sort(np.argsort(-variances, kind="stable")[:MOST_SHOWN])
    shown = np.full(len(variances), -1, np.int64)
    shown[most] = np.arange(len(most))
    return Cells(
        starts,
        stacked.indptr.astype(np.int64),
        stacked.indices.astype(np.int64),
        stacked.data.astype(np.float64),
        shown,
        len(most),
    )


def _variances(part: Part, table: Any) -> FloatArray:
    """How much every feature varies over the original."""
    shares = np.bincount(part.sides[0], minlength=part.cells) / max(len(part.sides[0]), 1)
    squares = table.multiply(table)
    result: FloatArray = (
        np.asarray(shares @ squares).ravel() - np.asarray(shares @ table).ravel() ** 2
    )
    return result


def spread_of(column: AlignedColumn, part: Part, table: Any) -> FloatArray:
    """Mean squared distance, of every cell, of the values that it covers from their mean.

    A generalized cell is no point. The middle of a crowd is nearer to everybody than people are to
    each other, and a release would look nearer than a person for saying less. With the spread, the
    squared distance to a cell is the mean squared distance to the original's values under it.
    """
    lengths = np.asarray(table.multiply(table).sum(axis=1)).ravel()
    of_cell = np.zeros(len(column), np.int64)
    for before, after in zip(column.sides, part.sides, strict=True):
        of_cell[before] = after
    own = lengths[of_cell]
    counts = np.bincount(column.sides[0], minlength=len(column)).astype(float)
    expected = own.copy()
    singles = column.axis.value_count
    if column.is_ordered:
        wide = np.flatnonzero((column.hi > column.lo) & ~column.open)
        places = column.axis.places[:singles]
        first = np.searchsorted(places, column.lo[wide], side="left")
        stop = np.searchsorted(places, column.hi[wide], side="right")
        rows = np.r_[0.0, np.cumsum(counts[:singles])]
        sums = np.r_[0.0, np.cumsum((counts * own)[:singles])]
        below, total = rows[stop] - rows[first], sums[stop] - sums[first]
    else:
        leaves = np.arange(column.covers.shape[1])
        wide = np.flatnonzero(np.diff(column.covers.indptr) > 1)
        weights = np.where(leaves < column.axis.size, 1.0, 0.0)
        weights[: column.axis.size] = counts[: column.axis.size]
        norms = np.zeros(len(leaves))
        norms[: column.axis.size] = own[: column.axis.size]
        below, total = column.covers[wide] @ weights, column.covers[wide] @ (weights * norms)
    expected[wide] = np.divide(total, below, out=own[wide], where=below > 0)
    if counts.sum():
        expected[column.open] = counts @ own / counts.sum()
    spread: FloatArray = np.maximum(expected - own, 0.0)
    return spread
