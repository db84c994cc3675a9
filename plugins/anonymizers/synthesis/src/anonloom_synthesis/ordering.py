"""An order of categories in which their neighbours resemble each other in the other columns.

A copula knows of order only: what two columns have in common is how far one rises with the other.
Categories have no order of their own, so that one is sought in which they do. This is reciprocal
averaging (Hill 1974, correspondence analysis): every category gets the mean of its rows in the
other columns, in the direction in which these means differ most, and that changes the means of
the others, until all agree.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from anonloom_synthesis.margins import Margin, Nominal

Floats = NDArray[np.float64]

#: How often all categories are arranged.
ROUNDS = 8

#: The mean of fewer rows is mostly chance: such categories stay in the middle, in their own order.
WELL_HELD = 50

#: Variance of the means below which there is nothing to go by.
_NOTHING = 1e-9


def arranged(margins: Sequence[Margin], scores: Floats) -> list[Margin]:
    """Return the margins with their categories arranged.

    Parameters
    ----------
    scores
        (rows x columns): where the rows are in every column in its present order, 0 for missing.
    """
    scores = _standardized(scores)
    # Two categories are in order either way.
    nominal = [at for at, one in enumerate(margins) if isinstance(one, Nominal) and one.levels > 2]
    height: dict[int, Floats] = {}
    for _ in range(ROUNDS if len(margins) > 1 else 0):
        for at in nominal:
            found = _heights(margins[at], np.delete(scores, at, axis=1))
            if found is not None:
                height[at] = found
                rows = np.append(found, 0.0)[margins[at].codes]
                scores[:, at] = _standardized(rows[:, None])[:, 0]
    return [
        one.reordered(np.argsort(height[at], kind="stable"))
        if at in height and isinstance(one, Nominal)
        else one
        for at, one in enumerate(margins)
    ]


def _heights(margin: Margin, others: Floats) -> Floats | None:
    """Return where every category lies, or None when they do not differ."""
    present, counts = margin.codes >= 0, margin.counts
    codes = margin.codes[present]
    sums = [np.bincount(codes, one[present], minlength=margin.levels) for one in others.T]
    means: Floats = np.stack(sums, 1) / counts[:, None]
    means[counts < WELL_HELD] = 0.0
    spread, directions = np.linalg.eigh((means * counts[:, None]).T @ means / len(codes))
    if spread[-1] <= _NOTHING:
        return None
    heights: Floats = means @ directions[:, -1]
    # The direction has no sign of its own: it takes that of the present order.
    ranks = np.arange(margin.levels) - (np.arange(margin.levels) @ counts) / len(codes)
    return heights if (heights * counts) @ ranks >= 0 else -heights


def _standardized(scores: Floats) -> Floats:
    deviation = scores.std(axis=0)
    centred = scores - scores.mean(axis=0)
    found: Floats = np.divide(centred, deviation, out=np.zeros(scores.shape), where=deviation > 0)
    return found
