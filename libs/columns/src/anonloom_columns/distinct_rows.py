"""Equal rows collapsed to weighted points, so that cost follows distinct combinations, not rows."""

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom import Classes, short_repr
from anonloom.data import row_keys
from anonloom.lazy import pd


@short_repr
@attrs.frozen(eq=False)
class Points:
    """The distinct combinations of codes.

    Attributes
    ----------
    codes
        (axes x points), in ascending order of the combination.
    weights
        How many rows share each point.
    point
        Point of every row that was given.
    """

    codes: NDArray[np.int32]
    weights: NDArray[np.int64]
    point: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.weights)

    def rows_by_point(self) -> NDArray[np.int64]:
        """Positions of the rows sorted by point; offsets are the cumulated weights."""
        return Classes.from_labels(self.point).rows


def collapse(codes: NDArray[np.int32]) -> Points:
    """Collapse equal columns of a (axes x rows) array."""
    axes, n = codes.shape
    if not n:
        return Points(codes, np.empty(0, np.int64), np.empty(0, np.int64))
    if not axes:
        return Points(codes[:, :1], np.array([n]), np.zeros(n, np.int64))
    key = combined_key(codes)
    # Hashing is linear; only the distinct keys are sorted.
    point, distinct = pd.factorize(key, sort=True)
    first = np.empty(len(distinct), np.int64)
    # Written backwards so that the first row of each point stays.
    first[point[::-1]] = np.arange(n - 1, -1, -1)
    weights = np.bincount(point, minlength=len(distinct))
    return Points(codes.take(first, axis=1), weights, point.astype(np.int64))


def combined_key(codes: NDArray[np.int32]) -> NDArray[np.int64]:
    """One integer per row that orders rows as their combinations of codes do."""
    counted = ((column, int(column.max(initial=0)) + 1) for column in codes)
    return row_keys(counted, codes.shape[1])
