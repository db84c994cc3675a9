"""An order of categories in which their neighbours resemble each other in the other columns.

A copula knows of order only: what two columns have in common is how far one rises with the other.
Categories have no order of their own, so that one is sought in which they do. This is reciprocal
averaging (Hill 1974, correspondence analysis): every category gets the mean of its rows in the
other columns, in the direction in which these means differ most, and that changes the means of
the others, until all agree.
"""

from collections.abc import Sequence

import numpy as np

from anonloom.typing import FloatArray
from anonloom_synthesis.margins import Margin, NominalMargin

#: How often all categories are arranged.
ROUNDS = 8

#: The mean of fewer rows is mostly chance: such categories stay in the middle, in their own order.
WELL_HELD = 50

#: Variance of the means below which there is nothing to go by.
_NOTHING = 1e-9


def order_categories(margins: Sequence[Margin], scores: FloatArray) -> list[Margin]:
    """Return the margins with their categories arranged.

    Parameters
    ----------
    scores
        (rows x columns): where the rows are in every column in its present order, 0 for missing.
    """
    scores = _standardize(scores)
    # Two categories are in order either way.
    nominal = [
        index
        for index, margin in enumerate(margins)
        if isinstance(margin, NominalMargin) and margin.levels > 2
    ]
    height: dict[int, FloatArray] = {}
    for _ in range(ROUNDS if len(margins) > 1 else 0):
        for index in nominal:
            result = _heights(margins[index], np.delete(scores, index, axis=1))
            if result is not None:
                height[index] = result
                rows = np.append(result, 0.0)[margins[index].codes]
                scores[:, index] = _standardize(rows[:, None])[:, 0]
    return [
        margin.with_order(np.argsort(height[index], kind="stable"))
        if index in height and isinstance(margin, NominalMargin)
        else margin
        for index, margin in enumerate(margins)
    ]


def _heights(margin: Margin, others: FloatArray) -> FloatArray | None:
    """Return where every category lies, or None when they do not differ."""
    present, counts = margin.codes >= 0, margin.counts
    codes = margin.codes[present]
    sums = [np.bincount(codes, item[present], minlength=margin.levels) for item in others.T]
    means: FloatArray = np.stack(sums, 1) / counts[:, None]
    means[counts < WELL_HELD] = 0.0
    spread, directions = np.linalg.eigh((means * counts[:, None]).T @ means / len(codes))
    if spread[-1] <= _NOTHING:
        return None
    heights: FloatArray = means @ directions[:, -1]
    # The direction has no sign of its own: it takes that of the present order.
    ranks = np.arange(margin.levels) - (np.arange(margin.levels) @ counts) / len(codes)
    return heights if (heights * counts) @ ranks >= 0 else -heights


def _standardize(scores: FloatArray) -> FloatArray:
    deviation = scores.std(axis=0)
    centred = scores - scores.mean(axis=0)
    result: FloatArray = np.divide(
        centred, deviation, out=np.zeros(scores.shape), where=deviation > 0
    )
    return result
