"""The distance between two records, and between the records of given pairs."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anonloom.typing import FloatArray, IntArray
from anonloom_distance.space import Cells, Points
from anonloom_kernels.compiled import kernel

#: Squared distances below this are 0.
ZERO = 1e-18


class Features(NamedTuple):
    """The features of all cells; see `Cells`."""

    starts: IntArray
    indptr: IntArray
    indices: IntArray
    data: FloatArray

    @classmethod
    def of(cls, cells: Cells) -> "Features":
        """Take what kernels need out of the cells."""
        return cls(cells.starts, cells.indptr, cells.indices, cells.data)


def pair_distances(
    cells: Cells, a: Points, b: Points, pairs: tuple[IntArray, IntArray]
) -> FloatArray:
    """Distance between the rows of every pair."""
    result = np.empty(len(pairs[0]))
    rows = a.of[pairs[0]], b.of[pairs[1]]
    of_pairs(a.codes, a.spread, b.codes, b.spread, *rows, Features.of(cells), result)
    return result


@kernel
def of_pairs(
    codes_a: NDArray[np.int32],
    spread_a: FloatArray,
    codes_b: NDArray[np.int32],
    spread_b: FloatArray,
    rows_a: IntArray,
    rows_b: IntArray,
    features: Features,
    out: FloatArray,
) -> None:
    """Distance between the points of every pair."""
    for pair in range(len(out)):
        a, b = rows_a[pair], rows_b[pair]
        square = squared_distance(codes_a, a, codes_b, b, features)
        square += spread_a[a] + spread_b[b]
        out[pair] = np.sqrt(square) if square > ZERO else 0.0


def squared_distance(
    codes_a: NDArray[np.int32],
    a: int,
    codes_b: NDArray[np.int32],
    b: int,
    features: Features,
) -> float:
    """Sum of the squared differences of all features; equal cells differ by exactly nothing."""
    starts, indptr, indices, data = features
    total = 0.0
    for part in range(len(starts)):
        if codes_a[part, a] == codes_b[part, b]:
            continue
        p, q = starts[part] + codes_a[part, a], starts[part] + codes_b[part, b]
        i, stop_i = indptr[p], indptr[p + 1]
        j, stop_j = indptr[q], indptr[q + 1]
        while i < stop_i or j < stop_j:
            if j == stop_j or (i < stop_i and indices[i] < indices[j]):
                total += data[i] * data[i]
                i += 1
            elif i == stop_i or indices[j] < indices[i]:
                total += data[j] * data[j]
                j += 1
            else:
                total += (data[i] - data[j]) * (data[i] - data[j])
                i += 1
                j += 1
    return total
