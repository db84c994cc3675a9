"""Finding the first of many boxes that holds each of many points."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from anonloom.typing import IntArray

Ends = tuple[IntArray, IntArray]

#: Regions and points below which trying every pair is cheaper than dividing further.
_FEW = 256
#: Pairs of a region and a point that are tried at a time: bounds memory.
_PAIRS = 4_000_000


def first_regions(codes: NDArray[np.int32], ends: Sequence[Ends]) -> IntArray:
    """Return the first region that holds each point, -1 for none.

    Parameters
    ----------
    codes
        (axes x points).
    ends
        For every axis the first and the last code of every region.
    """
    result = np.full(codes.shape[1], -1, np.int64)
    if len(ends):
        regions, points = np.arange(len(ends[0][0])), np.arange(codes.shape[1])
        _divide(codes, ends, regions, points, result, depth=0)
    return result


def _divide(
    codes: NDArray[np.int32],
    ends: Sequence[Ends],
    regions: IntArray,
    points: IntArray,
    result: IntArray,
    depth: int,
) -> None:
    """Halve the points along the axes in turn; a region goes wherever it reaches."""
    if not len(regions) or not len(points):
        return
    # Regions that overlap everywhere are not divided by halving: the depth ends that.
    if len(regions) <= _FEW or len(points) <= _FEW or depth > 64:
        _try_all(codes, ends, regions, points, result)
        return
    axis = depth % len(ends)
    lo, hi = ends[axis]
    place = codes[axis, points]
    middle = int(np.median(place))
    left = place <= middle
    _divide(codes, ends, regions[lo[regions] <= middle], points[left], result, depth + 1)
    _divide(codes, ends, regions[hi[regions] > middle], points[~left], result, depth + 1)


def _try_all(
    codes: NDArray[np.int32],
    ends: Sequence[Ends],
    regions: IntArray,
    points: IntArray,
    result: IntArray,
) -> None:
    step = max(1, _PAIRS // len(regions))
    for start in range(0, len(points), step):
        some = points[start : start + step]
        held = np.ones((len(regions), len(some)), bool)
        for (lo, hi), column in zip(ends, codes, strict=True):
            place = column[some]
            held &= (place >= lo[regions][:, None]) & (place <= hi[regions][:, None])
        hit = held.any(axis=0)
        result[some[hit]] = regions[held.argmax(axis=0)[hit]]
