"""An order of rows that depends on what they hold alone, not on how they were stored.

Rows are ordered by a hash of their cells. Whoever takes the first ones has a sample that is as good
as a random one, and the same for the same rows: nothing is left to a seed. When a few rows come or
go, most of the sample stays, as the place of a row depends on no other one.
"""

import numpy as np
from numpy.typing import NDArray

from anonloom.typing import FloatArray, IntArray

Words = NDArray[np.uint64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def content_order(features: FloatArray, labels: IntArray) -> IntArray:
    """Return the rows in the order of their hashes.

    Equal rows have the same hash; the first, second and n-th of them get places of their own, so
    that a frequent row is drawn as often as its share says, and not always or never.
    """
    key = np.zeros(len(features), np.uint64)
    for column in (*features.T, labels.astype(np.float64)):
        # -0.0 and 0.0 are one number and two patterns of bits.
        key = _splitmix64(key ^ np.ascontiguousarray(column + 0.0).view(np.uint64))
    by_key = np.argsort(key, kind="stable")
    key = key[by_key]
    place = np.arange(len(key))
    first = np.maximum.accumulate(np.where(np.r_[True, key[1:] != key[:-1]], place, 0))
    number = (place - first).astype(np.uint64)
    order: IntArray = by_key[np.argsort(_splitmix64(key + number), kind="stable")].astype(np.int64)
    return order


def _splitmix64(words: Words) -> Words:
    """Scatter 64-bit numbers (splitmix64): no two become one, and neighbours end far apart."""
    words = words + _GOLDEN
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
