"""Records as vectors: phi of the CVPL paper (section 4.3), without ever writing the vectors out.

A record's vector is one stretch of features per column, and equal cells have equal stretches. So a
column is a small table (cells x features) and a cell number per row; means, covariances and linear
projections of all rows follow from the tables and from how often cells occur together.
"""

from collections.abc import Sequence
from typing import Any, Literal

import attrs
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from anonloom_kernels.compiled import in_threads, kernel
from anonloom_linkage.features import Encoding, column_features
from anonloom_linkage.paired import Cells, Floats, PairedColumn

Fit = Literal["joint", "source", "target"]

#: Rows that are worked on at a time.
CHUNK = 1 << 18
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


@attrs.frozen(eq=False)
class Vectors:
    """The vectors of all rows of all tables."""

    parts: tuple[Part, ...]
    workers: int = 1

    @classmethod
    def of(
        cls,
        columns: Sequence[PairedColumn],
        encoding: Encoding | None = None,
        fit: Fit = "joint",
        workers: int = 1,
    ) -> "Vectors":
        """Encode columns; columns that never vary and never speak have no features.

        Parameters
        ----------
        fit
            Whose means and standard deviations scale the numbers: those of the original and the
            release together, or of one of them.
        """
        sides = {"joint": (0, 1), "source": (0,), "target": (1,)}[fit]
        parts = []
        for column in columns:
            table, renumbered = column_features(column, encoding or Encoding(), sides)
            if table.shape[1]:
                parts.append(Part(column.name, table, tuple(renumbered)))
        return cls(tuple(parts), workers)

    @property
    def width(self) -> int:
        """Number of features."""
        return sum(part.width for part in self.parts)

    @property
    def spans(self) -> tuple[slice, ...]:
        """Which features each part has."""
        ends = np.cumsum([0, *(part.width for part in self.parts)])
        return tuple(slice(int(a), int(b)) for a, b in zip(ends[:-1], ends[1:], strict=True))

    def without(self, name: str) -> "Vectors":
        """Return the vectors without one column."""
        return attrs.evolve(self, parts=tuple(p for p in self.parts if p.name != name))

    def rows(self, side: int) -> int:
        """Number of rows of a table."""
        return len(self.parts[0].sides[side]) if self.parts else 0

    def codes(self, side: int) -> NDArray[np.int32]:
        """(parts x rows): rows with equal columns have equal vectors."""
        return np.stack([part.sides[side] for part in self.parts])

    def dense(self, side: int, rows: NDArray[np.integer] | slice = slice(None)) -> Floats:
        """Write the vectors of some rows out."""
        stretches = [_plain(part.table[part.sides[side][rows]]) for part in self.parts]
        return np.hstack(stretches)

    def moments(self, *sides: int) -> tuple[Floats, Floats]:
        """Mean and covariance of the vectors of these tables together."""
        total = sum(self.rows(side) for side in sides)
        mean = np.concatenate(
            [
                np.asarray(_counts(part, sides) @ part.table, float).ravel() / total
                for part in self.parts
            ]
        )
        second = np.zeros((self.width, self.width))
        spans = self.spans
        for a, first in enumerate(self.parts):
            for b in range(a, len(self.parts)):
                block = self._together(first, self.parts[b], sides) / total
                second[spans[a], spans[b]] = block
                second[spans[b], spans[a]] = block.T
        covariance = second - np.outer(mean, mean)
        return mean, covariance

    def _together(self, a: Part, b: Part, sides: Sequence[int]) -> Floats:
        """Sum of the products of the features of two parts over all rows."""
        if a is b:
            return _plain(a.table.T @ _scaled(a.table, _counts(a, sides)))
        if a.cells * b.cells <= MOST_PAIRS:
            pairs = np.zeros(a.cells * b.cells)
            for side in sides:
                key = a.sides[side].astype(np.int64) * b.cells + b.sides[side]
                pairs += np.bincount(key, minlength=len(pairs))
            together: Any = pairs.reshape(a.cells, b.cells)
        else:
            both = [np.concatenate([part.sides[side] for side in sides]) for part in (a, b)]
            ones = np.ones(len(both[0]))
            shape = (a.cells, b.cells)
            together = sparse.coo_array((ones, (both[0], both[1])), shape=shape).tocsr()
        return _plain(_plain(a.table.T @ together) @ b.table)

    def project(
        self, side: int, matrix: Floats, offset: Floats, rows: NDArray[np.integer] | None = None
    ) -> NDArray[np.float32]:
        """Return (vectors - offset) @ matrix of the rows of a table, in single precision."""
        shift = np.asarray(offset @ matrix, float)
        stretches = [
            np.asarray(_plain(part.table @ matrix[span]), np.float64)
            for part, span in zip(self.parts, self.spans, strict=True)
        ]
        # The shift belongs to the first stretch: every row has exactly one cell of it.
        stretches[0] = stretches[0] - shift
        starts = np.cumsum([0, *(part.cells for part in self.parts[:-1])]).astype(np.int64)
        table = np.ascontiguousarray(np.vstack(stretches), np.float32)
        codes = self.codes(side) if rows is None else self.codes(side)[:, rows]
        out = np.empty((codes.shape[1], matrix.shape[1]), np.float32)
        chunks = range(0, len(out), CHUNK)

        def gather(at: int) -> None:
            add_stretches(table, starts, codes[:, at : at + CHUNK], out[at : at + CHUNK])

        in_threads(gather, chunks, self.workers)
        return out


def _counts(part: Part, sides: Sequence[int]) -> NDArray[np.int64]:
    found = np.zeros(part.cells, np.int64)
    for side in sides:
        found += np.bincount(part.sides[side], minlength=part.cells)
    return found


def _scaled(table: Any, weights: NDArray[np.int64]) -> Any:
    if sparse.issparse(table):
        return sparse.diags_array(weights.astype(float)) @ table
    return table * weights[:, None]


def _plain(table: Any) -> Floats:
    dense: Floats = table.toarray() if sparse.issparse(table) else np.asarray(table)
    return dense


@kernel
def add_stretches(
    table: NDArray[np.float32],
    starts: NDArray[np.int64],
    codes: NDArray[np.int32],
    out: NDArray[np.float32],
) -> None:
    """Sum, for every row, the stretches of its cells."""
    parts, rows = codes.shape
    width = out.shape[1]
    for row in range(rows):
        for feature in range(width):
            out[row, feature] = table[codes[0, row], feature]
        for part in range(1, parts):
            at = starts[part] + codes[part, row]
            for feature in range(width):
                out[row, feature] += table[at, feature]
