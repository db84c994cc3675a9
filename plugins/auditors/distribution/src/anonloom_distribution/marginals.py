"""Jensen-Shannon distance of every column's distribution in the original and in the release."""

import math

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom.typing import FloatArray
from anonloom_distribution.noise import Rows
from anonloom_distribution.tables import ORIGINAL, RELEASE, Tables
from anonloom_linkage.aligned_columns import AlignedColumn
from anonloom_linkage.marginals import (
    Reading,
    distribution,
    divergence,
    leaf_parts,
    place_parts,
    quantile_edges,
)


def distance(p: FloatArray, q: FloatArray) -> float:
    """Jensen-Shannon distance: the square root of the divergence in bits, 0 to 1."""
    return math.sqrt(divergence(p, q))


@attrs.frozen(eq=False)
class Marginal:
    """The distributions of one column.

    Attributes
    ----------
    shares
        Of every table the share of every bin; the last two bins are for rows whose value is
        missing and for those that say nothing.
    bins
        Bin of every row of the original: its cells are single values.
    """

    name: str
    shares: tuple[FloatArray, ...]
    bins: NDArray[np.integer]

    @classmethod
    def of(cls, column: AlignedColumn, bins: int, reading: Reading) -> "Marginal":
        """Divide the values: numbers at quantiles of the original, categories one by one."""
        counts = [column.counts(side) for side in range(len(column.sides))]
        if column.is_ordered:
            edges = quantile_edges(column, counts[ORIGINAL], bins)
            parts = place_parts(column, edges, reading)
        else:
            parts = leaf_parts(column, reading)
        shares = tuple(
            distribution(column, parts, of, unread)
            for of, unread in zip(counts, column.unread, strict=True)
        )
        of_cells = parts.indices[parts.indptr[: column.axis.size]]
        return cls(column.name, shares, of_cells[column.sides[ORIGINAL]])

    def distance(self, side: int = RELEASE) -> float:
        """Distance of a table from the original."""
        return distance(self.shares[ORIGINAL], self.shares[side])

    def of_sample(self, rows: Rows) -> float:
        """Distance of some rows of the original from all of them."""
        counts = np.bincount(self.bins[rows], minlength=len(self.shares[ORIGINAL]))
        return distance(self.shares[ORIGINAL], counts / len(rows))


def marginals(tables: Tables, bins: int, reading: Reading) -> list[Marginal]:
    """Return the distributions of all columns."""
    return [Marginal.of(column, bins, reading) for column in tables.columns.values()]
