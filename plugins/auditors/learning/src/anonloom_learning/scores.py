"""The four figures of section 6.2.3, from counts of what was so and what was said."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def counted(true: Ints, said: Ints, classes: int) -> Ints:
    """(classes x classes): how many rows of each label (row) were given each label (column)."""
    pairs = np.bincount(true * classes + said, minlength=classes * classes)
    return pairs.reshape(classes, classes).astype(np.int64)


def scores(confusion: Ints, positive: int | None) -> Floats:
    """Accuracy, precision, recall and F1.

    A share of nothing is 0: the precision of a label that nobody was given, the recall of one that
    nobody has.

    Parameters
    ----------
    positive
        The label whose precision, recall and F1 are wanted. None for their plain means over the
        labels that somebody has or was given.
    """
    right, said, true = np.diag(confusion), confusion.sum(axis=0), confusion.sum(axis=1)
    of_labels = (_share(right, said), _share(right, true), _share(2 * right, said + true))
    kept = said + true > 0 if positive is None else np.arange(len(confusion)) == positive
    accuracy = float(right.sum() / confusion.sum())
    return np.array([accuracy, *(float(shares[kept].mean()) for shares in of_labels)])


def _share(part: Ints, whole: Ints) -> Floats:
    found: Floats = np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)
    return found


def never_said(confusion: Ints, positive: int | None) -> bool:
    """Whether a precision is 0 because no row was given the label, though some row has it."""
    silent = (confusion.sum(axis=0) == 0) & (confusion.sum(axis=1) > 0)
    return bool(silent.any() if positive is None else confusion[:, positive].sum() == 0)


def interval(values: Floats, judged_over_learned: float) -> tuple[float, float] | None:
    """95 % interval of a mean over repeated random splits; None for a single one.

    Splits of one table share most of their rows, so that their figures vary less than those of new
    tables would. Nadeau and Bengio add the size of the judging part over that of the learning
    part to 1/repeats, which makes up for it.
    """
    repeats = len(values)
    if repeats < 2:
        return None
    error = float(np.sqrt(values.var(ddof=1) * (1 / repeats + judged_over_learned)))
    half = float(stdtrit(repeats - 1, 0.975)) * error
    middle = float(values.mean())
    return middle - half, middle + half
