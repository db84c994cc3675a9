"""What regrouping has changed, as findings."""

import numpy as np
from numpy.typing import NDArray

from anonloom import Finding


def rows_moved(before: NDArray[np.int64], after: NDArray[np.int64]) -> int:
    """Rows that left the company of most of their class: labels are compared by majority.

    Parameters
    ----------
    before, after
        Class of every row; -1 for rows in none.
    """
    kept = before >= 0
    before, after = before[kept], after[kept]
    if not len(before):
        return 0
    pair, counts = np.unique(before * (int(after.max()) + 1) + after, return_counts=True)
    largest = np.zeros(int(before.max()) + 1, np.int64)
    np.maximum.at(largest, pair // (int(after.max()) + 1), counts)
    return int(len(before) - largest.sum())


def findings(before: float, after: float, moved: int) -> list[Finding]:
    """Say what was saved and how many rows moved."""
    return [
        Finding(
            name="loss_saved",
            value=before - after,
            better="higher",
            meaning="By how much the mean information loss (GCP) fell by regrouping rows.",
        ),
        Finding(
            name="rows_moved",
            value=moved,
            meaning="Rows that are no longer with the largest part of their former class.",
            unit="records",
        ),
    ]
