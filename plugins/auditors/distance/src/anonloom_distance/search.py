"""The nearest records, exactly: a quick product rules candidates out, the rest is computed.

Whether a published record is a copy is decided by differences far below what single precision
tells apart. So the product of single-precision vectors, at the speed of the processor, serves only
as a bound: a candidate that may be among the nearest in spite of all rounding is compared feature
by feature in double precision. What comes out depends neither on the tiles nor on the threads.
"""

from collections.abc import Callable

import attrs
import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from anonloom import short_repr
from anonloom.typing import BoolArray, Float32Array, FloatArray, IntArray
from anonloom_distance.pair_distances import ZERO, squared_distance
from anonloom_distance.space import Points, Space
from anonloom_kernels.compiled import in_threads, kernel

#: Asking and asked points of a tile of products.
TILE_ASKING = 128
TILE_ASKED = 256
#: Comparisons of one piece of work: small enough to share out, large enough not to matter.
PIECE = 1 << 24
#: Squared distances that differ by less, in proportion, are ties: they differ by rounding alone.
TIE = 1e-9
#: Relative error of a single-precision operation.
EPSILON = 2.0**-24


@short_repr
@attrs.frozen(eq=False)
class Nearest:
    """What lies nearest to every asking row.

    Attributes
    ----------
    distance, second
        Distance of the nearest row and of the next; infinite where there is none.
    ties
        How many rows are nearest.
    """

    distance: FloatArray
    second: FloatArray
    ties: IntArray

    def nearer(self, distance: FloatArray) -> BoolArray:
        """Whether the nearest row is nearer than this."""
        limit = distance**2
        return self.distance**2 < limit * (1 - TIE) - ZERO

    def farther(self, distance: FloatArray) -> BoolArray:
        """Whether the nearest row is farther away than this."""
        limit = self.distance**2
        return distance**2 < limit * (1 - TIE) - ZERO


def nearest(
    space: Space,
    asking: Points,
    asked: Points,
    *,
    others: bool = False,
    workers: int = 1,
    done: Callable[[int], None] = lambda comparisons: None,
) -> Nearest:
    """Find what lies nearest to every asking row among all rows that are asked.

    Parameters
    ----------
    others
        Whether both are rows of one table, and no row is its own neighbour.
    done
        Called with the number of comparisons since the last call.
    """
    size, references = len(asking), len(asked)
    best, second = np.full(size, np.inf), np.full(size, np.inf)
    ties = np.zeros(size, np.int64)
    own = asked.find(asking) if others else np.full(size, -1, np.int64)
    cells = space.cells
    step = max(PIECE // max(references, 1) // TILE_ASKING, 1) * TILE_ASKING

    def work(start: int) -> None:
        part = slice(start, start + step)
        # A copy, so that the kernel always gets the same layout and is compiled once.
        codes = np.ascontiguousarray(asking.codes[:, part])
        look_through(
            codes, asking.spread[part], own[part],
            asked.codes, asked.spread, asked.weights,
            cells.starts, cells.indptr, cells.indices, cells.data, cells.shown, cells.width,
            best[part], second[part], ties[part],
        )  # fmt: skip
        done(len(best[part]) * references)

    import scipy.linalg  # noqa: F401  # kernels multiply by its library, which must be there to be limited

    # The tiles are small, and every thread multiplies its own.
    with threadpool_limits(1, user_api="blas"):
        in_threads(work, range(0, size, step), workers)
    second = np.where(ties > 1, best, second)
    best[best <= ZERO] = 0.0
    second[second <= ZERO] = 0.0
    return Nearest(np.sqrt(best)[asking.of], np.sqrt(second)[asking.of], ties[asking.of])


@kernel
def write_out(
    codes: NDArray[np.int32],
    row: int,
    starts: IntArray,
    indptr: IntArray,
    indices: IntArray,
    data: FloatArray,
    shown: IntArray,
    out: Float32Array,
) -> float:
    """Write those features of a point that the product uses; return its squared length."""
    out[:] = 0
    square = 0.0
    for part in range(starts.size):
        cell = starts[part] + codes[part, row]
        for index in range(indptr[cell], indptr[cell + 1]):
            to = shown[indices[index]]
            if to >= 0:
                out[to] = data[index]
                square += data[index] * data[index]
    return square


@kernel
def look_through(
    codes: NDArray[np.int32],
    spread: FloatArray,
    own: IntArray,
    codes_r: NDArray[np.int32],
    spread_r: FloatArray,
    weights: IntArray,
    starts: IntArray,
    indptr: IntArray,
    indices: IntArray,
    data: FloatArray,
    shown: IntArray,
    width: int,
    best: FloatArray,
    second: FloatArray,
    ties: IntArray,
) -> None:
    """Compare some points with all that are asked, tile by tile."""
    n, m = best.size, weights.size
    x = np.empty((n, width + 1), np.float32)
    lengths = np.empty(n)
    for i in range(n):
        lengths[i] = write_out(codes, i, starts, indptr, indices, data, shown, x[i, :width])
        x[i, width] = 1
    y = np.empty((TILE_ASKED, width + 1), np.float32)
    products = np.empty(TILE_ASKING * TILE_ASKED, np.float32)
    for low in range(0, m, TILE_ASKED):
        size = min(TILE_ASKED, m - low)
        longest = 0.0
        for j in range(size):
            length = write_out(
                codes_r, low + j, starts, indptr, indices, data, shown, y[j, :width]
            ) + spread_r[low + j]  # fmt: skip
            y[j, width] = -length / 2
            longest = max(longest, length)
        for start in range(0, n, TILE_ASKING):
            stop = min(start + TILE_ASKING, n)
            scores = products[: (stop - start) * size].reshape(stop - start, size)
            np.dot(x[start:stop], y[:size].T, scores)
            for i in range(start, stop):
                # x y - |y|^2 / 2 with every rounding against it.
                error = (width + 8) * EPSILON * (np.sqrt(lengths[i] * longest) + longest)
                reach = lengths[i] + spread[i]
                row = scores[i - start]
                limit = np.float32((reach - farthest(best[i], second[i], ties[i])) / 2 - error)
                if not any_above(row, limit):
                    continue
                for j in range(size):
                    if row[j] < limit:
                        continue
                    index = low + j
                    weight = weights[index] - (1 if index == own[i] else 0)
                    if weight == 0:
                        continue
                    square = squared_distance(
                        codes, i, codes_r, index, starts, indptr, indices, data
                    )
                    square += spread[i] + spread_r[index]
                    margin = TIE * best[i] + ZERO
                    if ties[i] == 0 or square < best[i] - margin:
                        second[i] = best[i]
                        best[i], ties[i] = square, weight
                    elif square <= best[i] + margin:
                        ties[i] += weight
                    elif square < second[i]:
                        second[i] = square
                    else:
                        continue
                    limit = np.float32((reach - farthest(best[i], second[i], ties[i])) / 2 - error)


@kernel
def farthest(best: float, second: float, ties: int) -> float:
    """Squared distance beyond which a candidate changes nothing."""
    return best + TIE * best + ZERO if ties > 1 else second


@kernel
def any_above(row: Float32Array, limit: np.float32) -> bool:
    """Whether any product reaches the limit; a plain count, which uses whole registers."""
    count = 0
    for j in range(row.size):
        count += row[j] >= limit
    return count > 0
