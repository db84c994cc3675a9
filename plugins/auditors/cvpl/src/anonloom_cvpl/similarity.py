"""s, the similarity (section 4.5, Table 25): each as a rising function of a dot product."""

from collections.abc import Callable, Sequence
from typing import Any, Literal

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom.lazy import lazy_module
from anonloom.typing import Float32Array, FloatArray
from anonloom_cvpl.projection import Embedding, Linear
from anonloom_linkage.aligned_columns import AlignedColumn
from anonloom_linkage.vectors import Part, Vectors

sparse = lazy_module("scipy.sparse")

Similarity = Literal["cosine", "rbf", "whitened", "jaccard"]

#: A vector shorter than this is what rounding leaves of zeros, and has no direction.
NO_LENGTH = 1e-5
#: Quantiles that a number is cut at for Jaccard, which knows only equal and different.
QUANTILES = 10


@attrs.frozen(eq=False)
class Space:
    """Where records and candidates are compared.

    Attributes
    ----------
    records_of, candidates_of
        Vectors of the rows of a table, all or some; a score is the dot product of a record's with
        a candidate's.
    similarity_of
        Similarity of scores; the second argument are the records that they belong to.
    vectors
        What they are made of: rows with equal codes are equal here.
    """

    vectors: Vectors
    records_of: Callable[[int, NDArray[np.integer] | None], Float32Array]
    candidates_of: Callable[[int, NDArray[np.integer] | None], Float32Array]
    similarity_of: Callable[[NDArray[np.floating], Float32Array], FloatArray]


def space(
    kind: Similarity,
    projection: Linear | Embedding,
    columns: Sequence[AlignedColumn],
) -> Space:
    """Return the space of a similarity.

    Parameters
    ----------
    projection
        What cosine, rbf and whitened are computed on.
    columns
        What jaccard is computed on: it has no use for a projection.
    """
    if kind == "jaccard":
        return _jaccard(columns, projection.vectors.workers)
    if kind == "rbf":
        return _rbf(projection)
    scale = np.ones(1, np.float32)
    if kind == "whitened" and isinstance(projection, Linear):
        # What does not vary where the space was fitted has no scale, and cannot be compared.
        varying = projection.variances > 1e-12 * projection.total
        deviations = np.sqrt(np.where(varying, projection.variances, 1.0))
        scale = np.where(varying, 1 / deviations, 0.0).astype(np.float32)

    def unit(side: int, rows: NDArray[np.integer] | None = None) -> Float32Array:
        return unit_vectors(projection.of(side, rows) * scale)

    def similarity(score: NDArray[np.floating], records: Float32Array) -> FloatArray:
        return np.where(np.isneginf(score), -np.inf, np.clip(score.astype(float), -1.0, 1.0))

    return Space(projection.vectors, unit, unit, similarity)


def unit_vectors(vectors: Float32Array) -> Float32Array:
    """Divide vectors by their length; one without a length stays zero, and resembles nothing."""
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))
    factors = np.divide(1.0, lengths, out=np.zeros(len(lengths)), where=lengths > NO_LENGTH)
    return np.ascontiguousarray(vectors * factors[:, None].astype(np.float32))


def _rbf(projection: Linear | Embedding) -> Space:
    """exp(-d^2 / (2 sigma^2)), sigma^2 the variance that is kept.

    For one record d^2 falls as x.y - |y|^2 / 2 rises, which is a dot product with one more number.
    """

    def records(side: int, rows: NDArray[np.integer] | None = None) -> Float32Array:
        vectors = projection.of(side, rows)
        return np.hstack([vectors, np.ones((len(vectors), 1), np.float32)])

    def candidates(side: int, rows: NDArray[np.integer] | None = None) -> Float32Array:
        vectors = projection.of(side, rows)
        half = np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64) / 2
        return np.hstack([vectors, -half[:, None].astype(np.float32)])

    if isinstance(projection, Linear):
        variance = float(projection.variances.sum())
    else:
        variance = float(projection.of(0).var(axis=0).sum())

    def similarity(score: NDArray[np.floating], of: Float32Array) -> FloatArray:
        own = np.einsum("ij,ij->i", of[:, :-1], of[:, :-1], dtype=np.float64)
        squared = np.maximum(own - 2 * score.astype(float), 0.0)
        return np.where(np.isneginf(score), -np.inf, np.exp(-squared / (2 * max(variance, 1e-300))))

    return Space(projection.vectors, records, candidates, similarity)


def _jaccard(columns: Sequence[AlignedColumn], workers: int) -> Space:
    """Values in common over values in all, numbers cut at quantiles of the original.

    Records of c columns with a values in common have a / (2c - a). A cell that covers several
    values has a share of each in common.
    """
    parts = tuple(Part(column.name, _indicators(column), column.sides) for column in columns)
    vectors = Vectors(parts, workers)
    identity, origin = np.eye(vectors.width), np.zeros(vectors.width)
    total = len(parts)

    def indicators(side: int, rows: NDArray[np.integer] | None = None) -> Float32Array:
        return vectors.project(side, identity, origin, rows)

    def similarity(score: NDArray[np.floating], of: Float32Array) -> FloatArray:
        compared = ~np.isneginf(score)
        common = score.astype(float)
        result = np.full(len(score), -np.inf)
        np.divide(common, 2 * total - common, out=result, where=compared)
        return result

    return Space(vectors, indicators, indicators, similarity)


def _indicators(column: AlignedColumn) -> Any:
    """(cells x values), every row a share of 1."""
    if column.is_ordered:
        own = column.axis.places[: column.axis.value_count]
        counts = np.bincount(column.sides[0], minlength=column.axis.size)[: len(own)]
        index = np.searchsorted(
            np.cumsum(counts), np.arange(1, QUANTILES) / QUANTILES * counts.sum()
        )
        edges = np.unique(own[index.clip(0, max(len(own) - 1, 0))]) if len(own) else np.empty(0)
        bins = len(edges) + 2
        first = np.searchsorted(edges, np.where(np.isnan(column.lo), 0, column.lo), side="left")
        last = np.searchsorted(edges, np.where(np.isnan(column.hi), 0, column.hi), side="left")
        first[column.open], last[column.open] = 0, bins - 2
        first[column.missing] = last[column.missing] = bins - 1
        sizes = last - first + 1
        starts = np.r_[0, np.cumsum(sizes)]
        indices = np.arange(starts[-1]) - np.repeat(starts[:-1] - first, sizes)
        covers = sparse.csr_array(
            (np.ones(len(indices)), indices, starts), shape=(len(column), bins)
        )
    else:
        covers = column.covers
    sums = np.asarray(covers.sum(axis=1)).ravel()
    shares = np.divide(1.0, sums, out=np.zeros(len(sums)), where=sums > 0)
    return (sparse.diags_array(shares) @ covers).tocsr()
