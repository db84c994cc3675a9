"""The multiple correlation coefficient of a target on the levels of a set, each added to the other.

All from one Gram matrix: the indicators of an attribute's levels are centred and made orthonormal
once, and the equations of many sets are then solved together. Attributes are added up, not
combined: what only the combination of two shows has no part in it.
"""

import numpy as np

from anonloom.typing import FloatArray, IntArray
from anonloom_prism.pair_counts import Grams

#: Added to the diagonal, so that attributes that repeat each other can be solved for.
_RIDGE = 1e-9

#: Sets that are solved together.
_TOGETHER = 2048


class Regressions:
    """The normal equations of all attributes and targets."""

    def __init__(self, grams: Grams) -> None:
        encoded, starts = grams.encoded, grams.encoded.starts
        self.rows = float(encoded.rows)
        self.free = encoded.levels - 1
        both = grams.whole.sum(axis=0)
        single = np.diagonal(both)
        hits = grams.members.astype(float) @ np.diagonal(grams.whole, axis1=1, axis2=2)
        shares = grams.members @ grams.sizes / self.rows
        centred = both / self.rows - np.outer(single, single) / self.rows**2
        with_targets = hits / self.rows - np.outer(shares, single / self.rows)
        with_targets /= np.sqrt(shares * (1 - shares))[:, None]
        # Every attribute gets as many columns as the widest: columns of nothing explain nothing.
        self.width = int(self.free.max(initial=1))
        padded = len(self.free) * self.width
        whitened = np.zeros((len(single), padded))
        for index, (start, free) in enumerate(zip(starts, self.free, strict=True)):
            block = centred[start : start + free, start : start + free]
            root = np.linalg.inv(np.linalg.cholesky(block)).T
            whitened[start : start + free, index * self.width : index * self.width + free] = root
        self.gram = whitened.T @ centred @ whitened
        np.fill_diagonal(self.gram, 1.0 + _RIDGE)
        self.targets = whitened.T @ with_targets.T

    def r_squared(self, sets: IntArray) -> FloatArray:
        """Return R squared, (targets x sets), of sets of one size, (sets x attributes)."""
        result = np.zeros((self.targets.shape[1], len(sets)))
        if not sets.size:
            return result
        columns = sets[:, :, None] * self.width + np.arange(self.width)
        columns = columns.reshape(len(sets), -1)
        for start in range(0, len(sets), _TOGETHER):
            part = columns[start : start + _TOGETHER]
            left = self.gram[part[:, :, None], part[:, None, :]]
            right = self.targets[part]
            solved = np.linalg.solve(left, right)
            result[:, start : start + len(part)] = (solved * right).sum(axis=1).T
        return np.clip(result, 0.0, 1.0)

    def degrees(self, sets: IntArray) -> IntArray:
        """Return how many columns each set has, those that repeat others too."""
        degrees: IntArray = self.free[sets].sum(axis=1).astype(np.int64)
        return degrees

    def figure(self, sets: IntArray) -> FloatArray:
        """Return R, adjusted: of attributes that have nothing to do with it, R squared is 0."""
        return adjusted_r(self.r_squared(sets), self.degrees(sets), self.rows)


def adjusted_r(explained: FloatArray, degrees: IntArray | FloatArray, rows: float) -> FloatArray:
    """Adjust R for the columns that it had: its square is 0 on average where nothing is told."""
    left = np.maximum(rows - 1 - degrees, 0.0)
    adjusted = 1 - (1 - explained) * (rows - 1) / np.where(left > 0, left, 1.0)
    return np.where(left > 0, np.sqrt(np.maximum(0.0, adjusted)), 0.0)
