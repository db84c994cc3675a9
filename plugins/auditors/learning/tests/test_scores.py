"""Figures from counts, against counts made by hand and against scikit-learn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, precision_recall_fscore_support

from anonloom_learning.scores import confusion_matrix, interval, never_predicted, scores


def test_counts_have_what_is_so_in_rows_and_what_was_said_in_columns():
    true, predicted = np.array([0, 0, 1, 1, 1]), np.array([0, 1, 1, 1, 0])
    assert [[1, 1], [1, 2]] == confusion_matrix(true, predicted, 2).tolist()


def test_figures_of_a_positive_value_are_those_of_the_paper():
    # TP = 30, FN = 10, FP = 20, TN = 940.
    confusion = np.array([[940, 20], [10, 30]])
    accuracy, precision, recall, f1 = scores(confusion, 1)
    assert (970 / 1000, 30 / 50, 30 / 40) == (accuracy, precision, recall)
    assert pytest.approx(2 * 0.6 * 0.75 / (0.6 + 0.75)) == f1


def test_several_values_give_plain_means():
    confusion = np.array([[2, 0, 0], [1, 1, 0], [0, 0, 4]])
    result = scores(confusion, None)
    assert pytest.approx([7 / 8, (2 / 3 + 1 + 1) / 3, (1 + 1 / 2 + 1) / 3]) == result[:3].tolist()
    assert pytest.approx((4 / 5 + 2 / 3 + 1) / 3) == result[3]


def test_a_share_of_nothing_is_0_and_is_noticed():
    confusion = np.array([[90, 0], [10, 0]])
    assert ([0.9, 0.0, 0.0, 0.0], True) == (
        scores(confusion, 1).tolist(),
        never_predicted(confusion, 1),
    )
    assert not never_predicted(confusion, 0)
    assert never_predicted(confusion, None)
    assert not never_predicted(np.array([[1, 1], [0, 2]]), 1)


def test_a_value_that_nobody_has_or_was_given_is_in_no_mean():
    confusion = np.zeros((3, 3), np.int64)
    confusion[:2, :2] = [[1, 0], [0, 1]]
    assert [1.0, 1.0, 1.0, 1.0] == scores(confusion, None).tolist()
    assert not never_predicted(confusion, None)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30))
def test_figures_agree_with_those_of_scikit_learn(pairs):
    true, predicted = np.array(pairs).T
    confusion = confusion_matrix(true, predicted, 4)
    for positive in (None, 2):
        theirs = precision_recall_fscore_support(
            true,
            predicted,
            average="macro",
            labels=None if positive is None else [positive],
            zero_division=0,
        )[:3]
        ours = scores(confusion, positive)
        assert pytest.approx([accuracy_score(true, predicted), *theirs]) == ours.tolist()


def test_intervals_make_up_for_splits_that_share_their_rows():
    values = np.array([0.90, 0.92, 0.94])
    # t of 2 degrees of freedom is 4.3027; the variance is 0.0004; a quarter judges.
    half = 4.302653 * np.sqrt(0.0004 * (1 / 3 + 25 / 75))
    assert pytest.approx((0.92 - half, 0.92 + half), abs=1e-6) == interval(values, 25 / 75)


def test_one_split_has_no_interval():
    assert interval(np.array([0.9]), 1 / 3) is None
