"""How many synthetic rows equal a row of the original."""

from collections.abc import Sequence

import numpy as np

from anonloom.lazy import pd
from anonloom.typing import IntArray
from anonloom_synthesis.margins import NEW


def copies(original: Sequence[IntArray], drawn: Sequence[IntArray]) -> float:
    """Return the share of the drawn rows that occur in the original.

    Parameters
    ----------
    original, drawn
        Per column the level of every row: -1 for missing, -2 for a value that the original lacks.
    """
    possible = np.logical_and.reduce([codes != NEW for codes in drawn])
    rows = len(original[0])
    key = np.zeros(rows + int(possible.sum()), np.int64)
    for old, new in zip(original, drawn, strict=True):
        codes = np.concatenate([old, new[possible]]) + 1
        # Numbered anew with every column, so that no number grows beyond 64 bits.
        key, _ = pd.factorize(key * (int(codes.max(initial=0)) + 1) + codes)
    held = np.zeros(int(key.max(initial=0)) + 1, bool)
    held[key[:rows]] = True
    return float(held[key[rows:]].sum()) / len(possible)
