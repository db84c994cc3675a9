"""Records as vectors: phi of the CVPL paper (section 4.3), without ever writing the vectors out.

A record's vector is one stretch of features per column, and equal cells have equal stretches. So a
column is a small table (cells x features) and a cell number per row; means, covariances and linear
projections of all rows follow from the tables and from how often cells occur together.
"""

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any, Literal, NamedTuple

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom.lazy import lazy_module
from anonloom.typing import Float32Array, FloatArray, IntArray
from anonloom_kernels.compiled import in_threads, kernel
from anonloom_linkage.aligned_columns import AlignedColumn, Cells
from anonloom_linkage.features import Encoding, column_features

sparse = lazy_module("scipy.sparse")

__all__ = ["SIDES", "Fit", "Part", "Vectors"]

Fit = Literal["joint", "source", "target"]
#: Numbers of the tables that each is.
SIDES: dict[Fit, tuple[int, ...]] = {"joint": (0, 1), "source": (0,), "target": (1,)}

#: Rows that are worked on at a time.
CHUNK = 1 << 16
#: From so many cells on, with few features each, features are gathered row by row.
MANY_CELLS = 1_000
FEW_FEATURES = 4
#: Pairs of cells of two columns that are counted in one array; beyond it in a sparse one.
MOST_PAIRS = 1 << 22


@attrs.frozen(eq=False)
class Part:
    """The stretch of one column.

    Attributes
    ----------
    table
        (cells x features), scaled; sparse for categories.
    sides
        For every table, the cell of every row.
    """

    name: str
    table: Any = attrs.field(repr=False)
    sides: tuple[Cells, ...] = attrs.field(repr=False)

    @property
    def width(self) -> int:
        """Number of features."""
        return int(self.table.shape[1])

    @property
    def cells(self) -> int:
        """Number of cells."""
        return int(self.table.shape[0])

    @property
    def many(self) -> bool:
        """Whether cells are too many to have much in common: a price, a moment."""
        few = self.width <= FEW_FEATURES and not sparse.issparse(self.table)
        return few and self.cells >= MANY_CELLS


@attrs.frozen(eq=False)
class Vectors:
    """The vectors of all rows of all tables.

    Attributes
    ----------
    lengths
        Number of rows of every table; known even where no column has a feature.
    """

    parts: tuple[Part, ...]
    workers: int = 1
    lengths: tuple[int, ...] = ()

    @classmethod
    def of(
        cls,
        columns: Sequence[AlignedColumn],
        encoding: Encoding | None = None,
        fit: Fit | tuple[int, ...] = "joint",
        workers: int = 1,
    ) -> "Vectors":
        """Encode columns; those that are the same in every row have no features.

        Parameters
        ----------
        fit
            Whose means and standard deviations scale the numbers: those of the original and the
            release together, of one of them, or of the tables with these numbers.
        """
        sides = SIDES[fit] if isinstance(fit, str) else fit
        parts = []
        for column in columns:
            table, renumbered = column_features(column, encoding or Encoding(), sides)
            if table.shape[1]:
                parts.append(Part(column.name, table, tuple(renumbered)))
        lengths = tuple(len(side) for side in columns[0].sides) if columns else ()
        return cls(tuple(parts), workers, lengths)

    @property
    def width(self) -> int:
        """Number of features."""
        return sum(part.width for part in self.parts)

    @property
    def spans(self) -> tuple[slice, ...]:
        """Which features each part has."""
        ends = accumulate((part.width for part in self.parts), initial=0)
        return tuple(slice(start, stop) for start, stop in pairwise(ends))

    def without(self, name: str) -> "Vectors":
        """Return the vectors without one column."""
        return attrs.evolve(self, parts=tuple(p for p in self.parts if p.name != name))

    def rows(self, side: int) -> int:
        """Number of rows of a table."""
        return len(self.parts[0].sides[side]) if self.parts else (*self.lengths, 0)[side]

    def codes(self, side: int) -> NDArray[np.int32]:
        """(parts x rows): rows with equal columns have equal vectors."""
        if not self.parts:
            return np.empty((0, self.rows(side)), np.int32)
        return np.stack([part.sides[side] for part in self.parts])

    def dense(self, side: int, rows: NDArray[np.integer] | slice = slice(None)) -> FloatArray:
        """Write the vectors of some rows out."""
        number = len(np.arange(self.rows(side))[rows])
        stretches = [_plain(part.table[part.sides[side][rows]]) for part in self.parts]
        return np.hstack([np.empty((number, 0)), *stretches])

    def moments(self, *sides: int) -> tuple[FloatArray, FloatArray]:
        """Mean and covariance of the vectors of these tables together; 0 where they have no row."""
        total = max(sum(self.rows(side) for side in sides), 1)
        gathered = [_RowFeatures.of(part, sides) for part in self.parts]
        mean, spans = np.zeros(self.width), self.spans
        second = np.zeros((self.width, self.width))
        for a, first in enumerate(gathered):
            mean[spans[a]] = first.sum() / total
            for b in range(a, len(gathered)):
                block = first.times(gathered[b]) / total
                second[spans[a], spans[b]] = block
                second[spans[b], spans[a]] = block.T
        return mean, second - np.outer(mean, mean)

    def project(
        self,
        side: int,
        matrix: FloatArray,
        offset: FloatArray,
        rows: NDArray[np.integer] | None = None,
    ) -> Float32Array:
        """Return (vectors - offset) @ matrix of the rows of a table, in single precision.

        Rows with equal cells have equal results, to the last bit.
        """
        codes = self.codes(side)
        if rows is not None:
            codes = np.ascontiguousarray(codes[:, rows])
        out = np.empty((codes.shape[1], matrix.shape[1]), np.float32)
        shift = (-(offset @ matrix)).astype(np.float32)
        plan = _Plan.of(self.parts, self.spans, matrix)
        chunks = range(0, len(out), CHUNK)

        def gather(start: int) -> None:
            add_stretches(shift, *plan, codes, start, min(start + CHUNK, len(out)), out)

        in_threads(gather, chunks, self.workers)
        return out


@attrs.frozen(eq=False)
class _RowFeatures:
    """A part over all rows of some tables.

    Attributes
    ----------
    codes
        Cell of every row.
    written
        (rows x features), where that is less work than to count cells.
    """

    part: Part
    codes: Cells
    written: FloatArray | None

    @classmethod
    def of(cls, part: Part, sides: Sequence[int]) -> "_RowFeatures":
        codes = np.concatenate([part.sides[side] for side in sides])
        if not part.many:
            return cls(part, codes, None)
        # Feature by feature, as they are summed.
        return cls(part, codes, np.stack([feature[codes] for feature in part.table.T]).T)

    @property
    def counts(self) -> IntArray:
        return np.bincount(self.codes, minlength=self.part.cells)

    def sum(self) -> FloatArray:
        if self.written is not None:
            return self.written.sum(axis=0)
        return np.asarray(self.counts @ self.part.table, float).ravel()

    def times(self, other: "_RowFeatures") -> FloatArray:
        """Sum of the products of the features of two parts over all rows."""
        a, b = self.part, other.part
        if self.written is not None and other.written is not None:
            return self.written.T @ other.written
        if a is b:
            return _plain(a.table.T @ _weight_rows(a.table, self.counts))
        if self.written is not None:
            return _plain(_sums_by_cell(self.written, other) @ b.table)
        if other.written is not None:
            return _plain(_sums_by_cell(other.written, self) @ a.table).T
        if a.cells * b.cells <= MOST_PAIRS:
            key = self.codes.astype(np.int64) * b.cells + other.codes
            pairs: Any = np.bincount(key, minlength=a.cells * b.cells).reshape(a.cells, b.cells)
        else:
            ones = np.ones(len(self.codes))
            where = (self.codes, other.codes)
            pairs = sparse.coo_array((ones, where), shape=(a.cells, b.cells)).tocsr()
        return _plain(_plain(a.table.T @ pairs) @ b.table)


def _sums_by_cell(written: FloatArray, by: _RowFeatures) -> FloatArray:
    """(features x cells): features summed over the rows of every cell of another part."""
    size = by.part.cells
    return np.stack([np.bincount(by.codes, column, minlength=size) for column in written.T])


class _Plan(NamedTuple):
    """How rows are projected: parts by a stretch per cell, or by the few features of each cell.

    Attributes
    ----------
    stretches, of_stretches, starts
        The stretches of all cells of the first kind of parts; their parts, and where the cells of
        each begin.
    features, weights, of_features, begins
        Features of the second kind, one after the other; what each is multiplied with, its part,
        and where its cells begin.
    """

    stretches: Float32Array
    of_stretches: IntArray
    starts: IntArray
    features: Float32Array
    weights: Float32Array
    of_features: IntArray
    begins: IntArray

    @classmethod
    def of(cls, parts: Sequence[Part], spans: Sequence[slice], matrix: FloatArray) -> "_Plan":
        stretches, features = [np.empty((0, matrix.shape[1]))], [np.empty(0)]
        of_stretches, of_features, weights = [], [], [np.empty((0, matrix.shape[1]))]
        for index, (part, span) in enumerate(zip(parts, spans, strict=True)):
            if part.many:
                features += list(part.table.T)
                weights.append(matrix[span])
                of_features += [index] * part.width
            else:
                stretches.append(_plain(part.table @ matrix[span]))
                of_stretches.append(index)
        starts = np.cumsum([len(stretch) for stretch in stretches])
        begins = np.cumsum([len(feature) for feature in features])
        return cls(
            np.vstack(stretches).astype(np.float32),
            np.array(of_stretches, np.int64),
            starts[:-1].astype(np.int64),
            np.concatenate(features).astype(np.float32),
            np.vstack(weights).astype(np.float32),
            np.array(of_features, np.int64),
            begins[:-1].astype(np.int64),
        )


def _weight_rows(table: Any, weights: IntArray) -> Any:
    if sparse.issparse(table):
        return sparse.diags_array(weights.astype(float)) @ table
    return table * weights[:, None]


def _plain(table: Any) -> FloatArray:
    dense: FloatArray = table.toarray() if sparse.issparse(table) else np.asarray(table)
    return dense


@kernel
def add_stretches(
    shift: Float32Array,
    stretches: Float32Array,
    of_stretches: IntArray,
    starts: IntArray,
    features: Float32Array,
    weights: Float32Array,
    of_features: IntArray,
    begins: IntArray,
    codes: NDArray[np.int32],
    start: int,
    stop: int,
    out: Float32Array,
) -> None:
    """Sum, for every row, the stretches of its cells and its features times their weights."""
    rows = slice(start, stop)
    out[rows] = shift
    for q in range(len(of_features)):
        values = features[begins[q] + codes[of_features[q], rows]]
        out[rows] += values[:, np.newaxis] * weights[q]
    for p in range(len(of_stretches)):
        out[rows] += stretches[starts[p] + codes[of_stretches[p], rows]]
