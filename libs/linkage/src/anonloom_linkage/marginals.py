"""Distributions of a column: which part of a cell counts for which bin, and how far two are apart.

A reader of a release knows of a generalized cell only what it covers. It counts in equal parts for
all of it (`spread`), or, where it is a stretch of a line, as its middle (`midpoint`).
"""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from anonloom.lazy import lazy_module
from anonloom.typing import FloatArray, IntArray
from anonloom_linkage.aligned_columns import AlignedColumn

sparse = lazy_module("scipy.sparse")

__all__ = [
    "Parts",
    "Reading",
    "distribution",
    "divergence",
    "leaf_parts",
    "place_parts",
    "quantile_edges",
]

Reading = Literal["midpoint", "spread"]
#: (cells x bins), sparse; the rows add up to 1, or to 0 for cells that say nothing. Scipy has no
#: types.
Parts = Any


def quantile_edges(column: AlignedColumn, counts: IntArray, bins: int) -> FloatArray:
    """Where the bins of an ordered column begin, the first aside: at quantiles.

    Parameters
    ----------
    counts
        Rows of every cell; those of single values are looked at.
    """
    single = (column.lo == column.hi) & (counts > 0)
    order = np.flatnonzero(single)[np.argsort(column.lo[single], kind="stable")]
    below = np.cumsum(counts[order])
    if not len(order):
        return np.empty(0)
    # The value of the row at the share, or before it, as `np.quantile` calls it 'lower'.
    rows = np.floor(np.arange(bins + 1) * ((below[-1] - 1) / bins)).astype(np.int64)
    result: FloatArray = np.unique(column.lo[order][np.searchsorted(below, rows, side="right")])
    return result[1:]


def place_parts(column: AlignedColumn, edges: FloatArray, reading: Reading) -> Parts:
    """Parts of an ordered column's cells in the bins that `edges` divide the line into.

    A bin begins with its edge; the first has no beginning and the one before last no end. The last
    is for missing values.
    """
    own = column.axis.places[: column.axis.value_count]
    least, most = (own[0], own[-1]) if len(own) else (-np.inf, np.inf)
    lo = np.where(column.open, least, np.clip(column.lo, least, most))
    hi = np.where(column.open, most, np.clip(column.hi, least, most))
    if reading == "midpoint":
        lo = hi = lo / 2 + hi / 2
    lo, hi = (np.where(column.missing, 0.0, ends) for ends in (lo, hi))
    first, last = (np.searchsorted(edges, ends, side="right") for ends in (lo, hi))
    first[column.missing] = last[column.missing] = len(edges) + 1
    sizes = last - first + 1
    if reading == "midpoint":
        sizes[column.open] = 0
    starts = np.r_[0, np.cumsum(sizes)]
    cell = np.repeat(np.arange(len(sizes)), sizes)
    index = np.arange(starts[-1]) - (starts[:-1] - first)[cell]
    ends = np.r_[-np.inf, edges, np.inf, np.inf]
    parts = np.ones(len(cell))
    wide = np.flatnonzero(sizes[cell] > 1)
    of, bins = cell[wide], index[wide]
    overlap = np.minimum(hi[of], ends[bins + 1]) - np.maximum(lo[of], ends[bins])
    parts[wide] = overlap / (hi - lo)[of]
    return sparse.csr_array((parts, index, starts), shape=(len(sizes), len(edges) + 2))


def leaf_parts(column: AlignedColumn, reading: Reading) -> Parts:
    """Parts of a category's cells in its values; a node has no middle, and is always spread."""
    covers = column.covers.copy()
    cell = np.repeat(np.arange(len(column)), np.diff(covers.indptr))
    sizes = np.diff(covers.indptr)
    if column.axis.missing >= 0:
        # What covers everything need not be missing.
        covers.data[(sizes[cell] > 1) & (covers.indices == column.axis.missing)] = 0.0
    if reading == "midpoint":
        covers.data[column.open[cell]] = 0.0
    sums = np.asarray(covers.sum(axis=1)).ravel()
    covers.data = np.divide(covers.data, sums[cell], out=covers.data, where=sums[cell] > 0)
    covers.eliminate_zeros()
    return covers


def distribution(
    column: AlignedColumn, parts: Parts, counts: NDArray[np.integer], unread: int = 0
) -> FloatArray:
    """Share of every bin, and at the end that of rows that fall in none.

    Parameters
    ----------
    counts
        Rows of every cell.
    unread
        How many of them have a cell that could not be read.
    """
    total = max(int(counts.sum()), 1)
    shares = np.asarray(parts.T @ counts.astype(float)).ravel() / total
    inside = np.asarray(parts.sum(axis=1)).ravel() > 0
    outside = int(counts[~inside].sum()) / total
    if unread and inside[column.open].any():
        # Cells that cannot be read are among those that say nothing, but lie outside of everything.
        everywhere = parts[column.open].toarray()[0]
        rows = min(unread, int(counts[column.open].sum()))
        shares, outside = np.maximum(shares - everywhere * (rows / total), 0.0), rows / total
    return np.append(shares, outside)


def divergence(p: FloatArray, q: FloatArray) -> float:
    """Jensen-Shannon divergence of two distributions over the same bins, in bits: 0 to 1.

    With m the mean of both and d = (p - q) / (p + q) it is half the sum of
    m ((1 + d) log(1 + d) + (1 - d) log(1 - d)): no part of it is negative, so that nothing cancels,
    and equal distributions are exactly 0 apart.
    """
    both = p + q
    some = both > 0
    d = (p[some] - q[some]) / both[some]
    parts = both[some] * (_entropic(d) + _entropic(-d))
    return float(np.clip(np.maximum(parts, 0.0).sum() / (4 * np.log(2)), 0.0, 1.0))


def _entropic(d: FloatArray) -> FloatArray:
    """(1 + d) log(1 + d), which is 0 at -1."""
    inside = np.where(d > -1, d, 0.0)
    return np.where(d > -1, (1 + inside) * np.log1p(inside), 0.0)
