"""The four figures of section 6.2.3, from counts of true and predicted labels."""

import numpy as np
from scipy.special import stdtrit

from anonloom.typing import FloatArray, IntArray


def confusion_matrix(true: IntArray, predicted: IntArray, classes: int) -> IntArray:
    """(classes x classes): how many rows of each label (row) were given each label (column)."""
    pairs = np.bincount(true * classes + predicted, minlength=classes * classes)
    return pairs.reshape(classes, classes).astype(np.int64)


def scores(confusion: IntArray, positive: int | None) -> FloatArray:
    """Accuracy, precision, recall and F1.

    A share of nothing is 0: the precision of a label that nobody was given, the recall of one that
    nobody has.

    Parameters
    ----------
    positive
        The label whose precision, recall and F1 are wanted. None for their plain means over the
        labels that somebody has or was given.
    """
    right, predicted, true = np.diag(confusion), confusion.sum(axis=0), confusion.sum(axis=1)
    of_labels = (_share(right, predicted), _share(right, true), _share(2 * right, predicted + true))
    kept = predicted + true > 0 if positive is None else np.arange(len(confusion)) == positive
    accuracy = float(right.sum() / confusion.sum())
    return np.array([accuracy, *(float(shares[kept].mean()) for shares in of_labels)])


def _share(part: IntArray, whole: IntArray) -> FloatArray:
    result: FloatArray = np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)
    return result


def never_predicted(confusion: IntArray, positive: int | None) -> bool:
    """Whether a precision is 0 because no row was given the label, though some row has it."""
    silent = (confusion.sum(axis=0) == 0) & (confusion.sum(axis=1) > 0)
    return bool(silent.any() if positive is None else confusion[:, positive].sum() == 0)


def interval(values: FloatArray, judged_over_learned: float) -> tuple[float, float] | None:
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
