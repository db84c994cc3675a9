"""Telling two sides apart: a cross-validated classifier, and what it does when sides are exchanged.

The classifier is a ridge regression: what it says is linear in the sides of the rows that it
learned from, so that learning anew from hundreds of exchanged sides is one product of matrices.
The exchange of sides is the exact null distribution: all of the learning is repeated.
"""

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom_sentinels_twins.features import Matrix

#: How much the classifier prefers small weights, relative to the size of a row.
_RIDGE = 1.0


@attrs.frozen(eq=False)
class Attempt:
    """What the classifier managed.

    Attributes
    ----------
    known, genuine
        Rows of each side.
    auc
        How often, of one row of each side, it takes the right one for genuine.
    exchanged
        The same for each random exchange of the sides.
    """

    known: int
    genuine: int
    auc: float | None
    exchanged: NDArray[np.float64] | None


def attempt(
    seen: Matrix,
    genuine: NDArray[np.bool_],
    folds: NDArray[np.int64],
    cells: NDArray[np.int64],
    exchanges: int,
    rng: np.random.Generator,
) -> Attempt | None:
    """Learn to tell genuine rows from others, and see how well that goes on rows left out.

    Parameters
    ----------
    seen
        What there is to see of each row.
    genuine
        The side of each row.
    folds
        Rows of one fold are judged by what was learned from the others.
    cells
        Parts of folds: sides are compared, and exchanged, within one.

    Returns
    -------
    Attempt or None
        None when no cell holds rows of both sides.
    """
    parts = [np.flatnonzero(cells == cell) for cell in np.unique(cells)]
    sides = np.empty((len(genuine), exchanges + 1), dtype=np.float64)
    sides[:, 0] = genuine
    lessons = np.empty_like(sides)
    for places in parts:
        order = np.argsort(rng.random((len(places), exchanges)), axis=0)
        sides[places, 1:] = genuine[places][order]
        lessons[places] = sides[places] - genuine[places].mean()
    # Imported where it is used: whoever verifies answers does not wait for it.
    from threadpoolctl import threadpool_limits

    rows = seen.astype(np.float64)
    ridge = _RIDGE * max(float((rows**2).sum()) / len(rows), 1e-12)
    scores = np.zeros_like(sides)
    # On matrices of this size the threads of a linear algebra library mostly wait for each other.
    with threadpool_limits(1):
        for fold in np.unique(folds):
            test, learn = folds == fold, folds != fold
            if learn.any():
                scores[test] = _scores(rows[learn], lessons[learn], rows[test], ridge)
    won, pairs = np.zeros(exchanges + 1), 0.0
    for places in parts:
        ones = float(genuine[places].sum())
        if 0 < ones < len(places):
            won += _pairs_won(scores[places], sides[places])
            pairs += ones * (len(places) - ones)
    if pairs == 0:
        return None
    areas = won / pairs
    return Attempt(
        int((~genuine).sum()), int(genuine.sum()), float(areas[0]), np.asarray(areas[1:])
    )


def _scores(
    learn: NDArray[np.float64],
    lessons: NDArray[np.float64],
    test: NDArray[np.float64],
    ridge: float,
) -> NDArray[np.float64]:
    """Return the scores of test rows after learning from others, one column per set of sides."""
    # Both ways give the same; the smaller matrix is the cheaper one.
    if learn.shape[1] < learn.shape[0]:
        weights = _solve_ridge(learn.T @ learn, ridge, learn.T @ lessons)
        return np.asarray(test @ weights)
    return np.asarray(test @ (learn.T @ _solve_ridge(learn @ learn.T, ridge, lessons)))


def _solve_ridge(
    square: NDArray[np.float64], ridge: float, right: NDArray[np.float64]
) -> NDArray[np.float64]:
    from scipy import linalg

    square[np.diag_indices_from(square)] += ridge
    return np.asarray(linalg.solve(square, right, assume_a="pos", check_finite=False))


def _pairs_won(said: NDArray[np.float64], sides: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return of how many pairs the genuine row has the higher score; ties count half."""
    from scipy import stats

    ranks = stats.rankdata(said, axis=0)
    ones = sides.sum(axis=0)
    return np.asarray((ranks * sides).sum(axis=0) - ones * (ones + 1) / 2)
