"""PrivateSelection: any classifier, and only what it may see."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from anonloom_prism.private_selection import PrivateSelection
from anonloom_prism.svc import PrismSVC


@pytest.fixture
def people():
    rng = np.random.default_rng(5)
    age, smoker = rng.integers(18, 90, 120), rng.choice(["never", "former", "current"], 120)
    frame = pd.DataFrame(
        {
            "age": age,
            "smoker": smoker,
            "town": rng.choice(["a", "b"], 120),
            "illness": np.where(age > 50, "gout", "flu"),
        }
    )
    return frame, np.where((age > 60) | (smoker == "current"), "yes", "no")


CONSTRAINTS = {"sensitive": "illness", "correlations": [("age", "town"), ("smoker", "town")]}


def test_the_same_attributes_are_chosen_as_by_the_support_vector_machine(people):
    forest = RandomForestClassifier(10, random_state=0)

    model = PrivateSelection(forest, **CONSTRAINTS).fit(*people)
    machine = PrismSVC(**CONSTRAINTS).fit(*people)

    assert ["age", "smoker"] == model.attributes_in_.tolist()
    assert machine.attributes_in_.tolist() == model.attributes_in_.tolist()
    assert machine.selection_ == model.selection_


def test_only_what_is_needed_is_asked_for_and_looked_at(people):
    frame, label = people
    model = PrivateSelection(DecisionTreeClassifier(random_state=0), **CONSTRAINTS).fit(
        frame, label
    )

    expected = model.predict(frame).tolist()

    assert expected == model.predict(frame[["smoker", "age"]]).tolist()
    assert expected == model.predict(frame.assign(illness=None, town=0)).tolist()
    assert 4 == model.estimator_.n_features_in_


def test_a_pipeline_can_be_given_the_columns_as_they_are(people):
    encoded = make_column_transformer((OneHotEncoder(), ["smoker"]), remainder="passthrough")
    inner = make_pipeline(encoded, LogisticRegression(max_iter=5000))

    model = PrivateSelection(inner, encode=False, **CONSTRAINTS).fit(*people)

    assert ["age", "smoker"] == model.estimator_.feature_names_in_.tolist()
    assert model.score(*people) > 0.8


def test_it_answers_what_the_classifier_answers(people):
    likely = PrivateSelection(DecisionTreeClassifier(), **CONSTRAINTS).fit(*people)
    decided = PrivateSelection(LinearSVC(), **CONSTRAINTS)

    assert (120, 2) == likely.predict_proba(people[0]).shape
    assert not hasattr(likely, "decision_function")
    assert not hasattr(decided, "predict_proba")
    assert hasattr(decided, "decision_function")


def test_without_constraints_the_classifier_is_on_its_own():
    rng = np.random.default_rng(1)
    features = rng.normal(size=(50, 3))
    labels = (features[:, 0] > 0).astype(int)

    wrapped = PrivateSelection(LogisticRegression()).fit(features, labels)

    assert (
        LogisticRegression().fit(features, labels).coef_.tolist()
        == wrapped.estimator_.coef_.tolist()
    )


def test_the_same_data_give_the_same_attributes_whatever_the_seed_and_the_order_of_rows(people):
    frame, label = people
    first = PrivateSelection(DecisionTreeClassifier(), max_attributes=2, rows=20).fit(frame, label)

    for seed in range(5):
        order = np.random.default_rng(seed).permutation(len(frame))
        again = PrivateSelection(
            DecisionTreeClassifier(), max_attributes=2, rows=20, random_state=seed
        ).fit(frame.iloc[order], label[order])
        assert first.selection_ == again.selection_
