"""scikit-learn's own checks of both estimators."""

import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from anonloom_prism.private_selection import PrivateSelection
from anonloom_prism.svc import PrismSVC

PLAIN = [PrismSVC(), PrivateSelection(LogisticRegression())]
CHOOSING = [
    PrismSVC(max_attributes=2, solver="greedy"),
    PrismSVC(max_attributes=1, rows=30),
    PrivateSelection(DecisionTreeClassifier(random_state=0), max_attributes=1, rows=30),
]

# Skipped by scikit-learn itself where the array API is not switched on.
NO_ARRAY_API = "ignore::sklearn.exceptions.SkipTestWarning"


@pytest.mark.filterwarnings(NO_ARRAY_API)
@parametrize_with_checks(PLAIN)
def test_estimators_are_what_scikit_learn_expects(estimator, check):
    check(estimator)


def too_few(estimator):
    """A tree makes more of one attribute than a line does."""
    if isinstance(estimator, PrivateSelection) or estimator.max_attributes > 1:
        return {}
    return {"check_classifiers_train": "one attribute cannot reach the accuracy that it demands"}


@pytest.mark.long
@pytest.mark.filterwarnings(NO_ARRAY_API)
@parametrize_with_checks(CHOOSING, expected_failed_checks=too_few, xfail_strict=True)
def test_estimators_that_choose_are_what_scikit_learn_expects(estimator, check):
    check(estimator)
