"""Regions of a release, the distinct combinations of its published cells, and whom they cover."""

import attrs
import numpy as np

from anonloom import Release, short_repr
from anonloom.lazy import lazy_module
from anonloom.typing import BoolArray, ByteArray, IntArray
from anonloom_columns import collapse
from anonloom_intersection.typing import SparseMatrix
from anonloom_linkage.aligned_columns import AlignedColumn, Cells

sparse = lazy_module("scipy.sparse")

#: Pairs of people and regions that are compared at a time.
CHUNK = 1 << 26


@short_repr
@attrs.frozen(eq=False)
class Regions:
    """The regions of one release.

    Attributes
    ----------
    columns
        Its quasi-identifiers.
    cells
        (columns x regions): the cell of every region.
    sizes
        How many rows each has.
    rows, of_row
        Rows of the release that are not suppressed, and the region of each.
    """

    columns: tuple[AlignedColumn, ...]
    cells: Cells
    sizes: IntArray
    rows: IntArray
    of_row: IntArray

    @classmethod
    def of(cls, columns: tuple[AlignedColumn, ...], side: int, release: Release) -> "Regions":
        """Find the regions of a release.

        Parameters
        ----------
        side
            Number of the release among the tables of the columns.
        """
        rows = np.flatnonzero(~release.suppressed_rows)
        points = collapse(_cells(columns, side, rows))
        return cls(columns, points.codes, points.weights, rows, points.point)

    def __len__(self) -> int:
        return len(self.sizes)

    def covering(self, side: int, targets: IntArray) -> SparseMatrix:
        """Return (targets x regions): 1 where every cell of the region covers the target's value.

        Parameters
        ----------
        side
            Number of the targets' raw table among the tables of the columns.
        targets
            Rows of that table.
        """
        points = collapse(_cells(self.columns, side, targets))
        distinct = points.codes.shape[1]
        step = max(CHUNK // max(len(self), 1), 1)
        pairs = [
            self._pairs(points.codes[:, start : start + step], start)
            for start in range(0, distinct, step)
        ]
        found = np.concatenate(pairs, axis=1) if pairs else np.empty((2, 0), np.int64)
        shape = (distinct, len(self))
        covered = sparse.csr_array((np.ones(found.shape[1], np.int64), tuple(found)), shape=shape)
        return covered[points.point]

    def _pairs(self, targets: Cells, first: int) -> IntArray:
        """Return the (target, region) pairs, one bit each while columns are intersected."""
        bits = np.repeat(np.packbits(np.ones((1, len(self)), bool), axis=1), targets.shape[1], 0)
        for column, own, cells in zip(self.columns, targets, self.cells, strict=True):
            values, value = np.unique(own, return_inverse=True)
            bits &= np.packbits(_covers(column, values, cells), axis=1)[value]
        pairs: IntArray = _positions(bits) + np.array([[first], [0]])
        return pairs


def _cells(columns: tuple[AlignedColumn, ...], side: int, rows: IntArray) -> Cells:
    if not columns:
        return np.empty((0, len(rows)), np.int32)
    return np.stack([column.sides[side][rows] for column in columns])


def _covers(column: AlignedColumn, values: Cells, cells: Cells) -> BoolArray:
    """Return (values x cells): whether the cell may stand for the value."""
    distinct, inverse = np.unique(cells, return_inverse=True)
    if column.is_ordered:
        place = column.lo[values, None]
        # A missing value has no place, and lies in no interval.
        result = (column.lo[distinct] <= place) & (place <= column.hi[distinct])
        result |= column.missing[values, None] & column.missing[distinct]
    else:
        leaves = column.lo[values].astype(np.int64)
        result = column.covers[distinct][:, leaves].toarray().T > 0
    result |= column.open[distinct]
    return np.asarray(result[:, inverse])


def _positions(bits: ByteArray) -> IntArray:
    """Return rows and columns of the bits that are set."""
    # Nearly all bytes are zero: only the others are unpacked.
    row, byte = np.nonzero(bits)
    entry, bit = np.nonzero(np.unpackbits(bits[row, byte][:, None], axis=1))
    return np.stack([row[entry], byte[entry] * 8 + bit])
