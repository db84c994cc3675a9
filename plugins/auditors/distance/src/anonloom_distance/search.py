"""The nearest records, exactly: a quick product rules candidates out, the rest is computed.

Whether a published record is a copy is decided by differences far below what single precision
tells apart. So the product of single-precision vectors, at the speed of the processor, serves only
as a bound: a candidate that may be among the nearest in spite of all rounding is compared feature
by feature in double precision. What comes out depends neither on the tiles nor on the threads.
"""

from collections.abc import Callable
from typing import NamedTuple

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom import short_repr
from anonloom.typing import BoolArray, Float32Array, FloatArray, IntArray
from anonloom_distance.pair_distances import ZERO, Features, squared_distance
from anonloom_distance.space import Points, Space
from anonloom_kernels.compiled import in_threads, kernel

#: Asking and asked points of a tile of products.
TILE_ASKING = 512
TILE_ASKED = 256
#: Comparisons of one piece of work: small enough to share out, large enough not to matter.
PIECE = 1 << 24
#: Asking points of a piece, at least: for each piece the features of all asked points are written.
LEAST_ASKING = 128
#: Squared distances that differ by less, in proportion, are ties: they differ by rounding alone.
TIE = 1e-9
#: Elements that an interpreter could read while it rules a tile out, and while it compares one
#: column of a point with those that may be near.
STEPS_TILE = 150
STEPS_COLUMN = 400
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


class Asking(NamedTuple):
    """Points that ask.

    Attributes
    ----------
    codes, spread
        See `Points`.
    own
        Which of the asked points each is; -1 for none.
    lengths
        Squared lengths of what the product uses.
    """

    codes: NDArray[np.int32]
    spread: FloatArray
    own: IntArray
    lengths: FloatArray


class Answering(NamedTuple):
    """Points that are asked; see `Points`."""

    codes: NDArray[np.int32]
    spread: FloatArray
    weights: IntArray


class Found(NamedTuple):
    """What is known of every asking point: squared distances, and how many points are nearest."""

    best: FloatArray
    second: FloatArray
    ties: IntArray


def steps_of(space: Space, asking: Points, asked: Points) -> float:
    """Elements that interpreted kernels read in a search, about."""
    tiles = -(-len(asked) // TILE_ASKED)
    columns = len(space.cells.starts)
    return len(asking) * (STEPS_TILE * tiles + STEPS_COLUMN * columns)


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
    # Here, because it is needed only where something is compared.
    from threadpoolctl import threadpool_limits

    size, references = len(asking), len(asked)
    best, second = np.full(size, np.inf), np.full(size, np.inf)
    ties = np.zeros(size, np.int64)
    own = asked.find(asking) if others else np.full(size, -1, np.int64)
    features, width = Features.of(space.cells), space.cells.width
    answering = Answering(asked.codes, asked.spread, asked.weights)
    step = max(PIECE // max(references, 1), LEAST_ASKING)

    def work(start: int) -> None:
        part = slice(start, start + step)
        codes = np.ascontiguousarray(asking.codes[:, part])
        points = np.empty((codes.shape[1], width + 1), np.float32)
        lengths = np.empty(len(points))
        write_points(codes, 0, features, space.cells.shown, points, lengths)
        points[:, width] = 1
        some = Asking(codes, asking.spread[part], own[part], lengths)
        found = Found(best[part], second[part], ties[part])
        look_through(points, some, answering, features, space.cells.shown, found)
        done(len(points) * references)

    # The tiles are small, and every thread multiplies its own.
    with threadpool_limits(1, user_api="blas"):
        in_threads(work, range(0, size, step), workers)
    second = np.where(ties > 1, best, second)
    best[best <= ZERO] = 0.0
    second[second <= ZERO] = 0.0
    return Nearest(np.sqrt(best)[asking.of], np.sqrt(second)[asking.of], ties[asking.of])


def look_through(
    x: Float32Array,
    asking: Asking,
    asked: Answering,
    features: Features,
    shown: IntArray,
    found: Found,
) -> None:
    """Compare some points with all that are asked, tile by tile.

    Parameters
    ----------
    x
        Features of those that ask, and 1.
    """
    width, m = x.shape[1] - 1, len(asked.weights)
    y, lengths = np.empty((TILE_ASKED, width + 1), np.float32), np.empty(TILE_ASKED)
    products = np.empty(TILE_ASKING * TILE_ASKED, np.float32)
    for low in range(0, m, TILE_ASKED):
        size = min(TILE_ASKED, m - low)
        write_points(asked.codes, low, features, shown, y[:size], lengths[:size])
        of_tile = lengths[:size] + asked.spread[low : low + size]
        y[:size, width] = -of_tile / 2
        longest = float(of_tile.max())
        for first in range(0, len(x), TILE_ASKING):
            part = x[first : first + TILE_ASKING]
            scores = products[: len(part) * size].reshape(len(part), size)
            np.matmul(part, y[:size].T, out=scores)
            compare_tile(scores, first, low, longest, width, asking, asked, features, found)


@kernel
def write_points(
    codes: NDArray[np.int32],
    first: int,
    features: Features,
    shown: IntArray,
    out: Float32Array,
    lengths: FloatArray,
) -> None:
    """Write those features of some points that the product uses, and their squared lengths.

    The last place of every point is for what stands beside the features.
    """
    starts, indptr, indices, data = features
    for i in range(len(out)):
        out[i] = 0
        square = 0.0
        for part in range(len(starts)):
            cell = starts[part] + codes[part, first + i]
            for index in range(indptr[cell], indptr[cell + 1]):
                to = shown[indices[index]]
                if to >= 0:
                    out[i, to] = data[index]
                    square += data[index] * data[index]
        lengths[i] = square


@kernel
def compare_tile(
    scores: Float32Array,
    first: int,
    low: int,
    longest: float,
    width: int,
    asking: Asking,
    asked: Answering,
    features: Features,
    found: Found,
) -> None:
    """Take the points of a tile that may be among the nearest, whatever the rounding.

    Parameters
    ----------
    scores
        (asking x asked): products, less half of what is asked squared.
    first, low
        The first point of the tile that asks, and the first that is asked.
    longest
        Largest squared length of those that are asked.
    """
    codes, spread, own, lengths = asking
    codes_r, spread_r, weights = asked
    best, second, ties = found
    for i in range(first, first + len(scores)):
        # x y - |y|^2 / 2 with every rounding against it.
        error = (width + 8) * EPSILON * (np.sqrt(lengths[i] * longest) + longest)
        reach = lengths[i] + spread[i]
        row = scores[i - first]
        limit = np.float32((reach - farthest(best[i], second[i], ties[i])) / 2 - error)
        for j in np.flatnonzero(row >= limit).tolist():
            # What was found on the way may have raised the limit.
            if row[j] < limit:
                continue
            index = low + j
            weight = weights[index] - (1 if index == own[i] else 0)
            if weight == 0:
                continue
            square = squared_distance(codes, i, codes_r, index, features)
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


def farthest(best: float, second: float, ties: int) -> float:
    """Squared distance beyond which a candidate changes nothing."""
    return best + TIE * best + ZERO if ties > 1 else second
