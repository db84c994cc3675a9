"""PrismSVC: what it reads, what it asks for, and how good it is."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from anonloom_prism.correlations import Correlation
from anonloom_prism.hinge import fit
from anonloom_prism.svc import PrismSVC

PEOPLE = pd.read_csv(Path(__file__).with_name("figure_1.csv"))
X, Y = PEOPLE.drop(columns="risk"), PEOPLE["risk"]


def numbers(rows=60, attributes=4, seed=0):
    rng = np.random.default_rng(seed)
    found = rng.normal(size=(rows, attributes))
    return found, (found[:, 0] + found[:, 1] > 0).astype(int)


def test_the_example_of_section_3_uses_age_or_smoker_but_not_both():
    """There Age and Smoker together are said to give the disease away."""
    model = PrismSVC(sensitive="disease", correlations=[("age", "smoker")]).fit(X, Y)

    assert ["gender", "smoker"] == model.attributes_in_.tolist()
    assert (True, 0.0) == (model.exact_, round(model.gap_, 5))
    assert 12 / 13 == model.score(X, Y)


def test_the_example_where_smoker_gives_the_disease_away_alone():
    """Section 3: 'Suppose that Smoker permits to infer critical values of Disease'."""
    model = PrismSVC(sensitive="disease", correlations=[["smoker"]]).fit(X, Y)

    assert ["gender", "age"] == model.attributes_in_.tolist()
    assert "settled" == model.selection_.by


def test_without_constraints_all_attributes_are_used():
    model = PrismSVC().fit(X, Y)

    assert ["gender", "age", "smoker", "disease"] == model.attributes_in_.tolist()
    assert 1.0 == model.score(X, Y)


def test_who_asks_for_a_prediction_gives_only_what_is_needed():
    model = PrismSVC(sensitive="disease", correlations=[("age", "smoker")]).fit(X, Y)
    needed = X[["smoker", "gender"]]

    assert model.predict(X).tolist() == model.predict(needed).tolist()
    with pytest.raises(ValueError, match="Feature names seen at fit time, yet now missing"):
        model.predict(X[["smoker", "age"]])


def test_what_is_not_needed_is_not_looked_at():
    """Also where it is no value at all."""
    model = PrismSVC(sensitive="disease", correlations=[("age", "smoker")]).fit(X, Y)
    blank = X.assign(disease=None, age=np.nan)

    assert model.predict(X).tolist() == model.predict(blank).tolist()


def test_a_sensitive_attribute_changes_nothing():
    shuffled = X.assign(disease=X["disease"].to_numpy()[::-1])

    models = [PrismSVC(sensitive=["disease"]).fit(some, Y) for some in (X, shuffled)]

    assert models[0].coef_.tolist() == models[1].coef_.tolist()


def test_correlations_are_taken_as_they_were_discovered():
    found = Correlation(
        attributes={"age", "smoker"}, target="all", measure="cramers-v", value=0.9, p=0.01
    )

    models = [
        PrismSVC(sensitive=3, correlations=some).fit(X, Y)
        for some in ([found], [{"age", "smoker"}], [(1, 2)])
    ]

    assert 1 == len({tuple(model.attributes_in_) for model in models})


def test_at_most_so_many_attributes():
    model = PrismSVC(sensitive="disease", max_attributes=1).fit(X, Y)

    assert ["smoker"] == model.attributes_in_.tolist()


def test_columns_of_an_array_are_named_by_their_numbers():
    features, labels = numbers()

    model = PrismSVC(sensitive=[3], correlations=[(0, 2)]).fit(features, labels)

    assert [0, 1] == model.attributes_in_.tolist()
    other = features + np.array([0, 0, 9, 9])
    assert model.predict(features).tolist() == model.predict(other).tolist()


def test_columns_that_encode_one_attribute_go_together():
    features, labels = numbers()
    names = ["a", "b1", "b2", "c"]
    frame = pd.DataFrame(features, columns=names)

    model = PrismSVC(groups={"b": ["b1", "b2"]}, correlations=[("a", "b")]).fit(frame, labels)
    whole = PrismSVC(groups={"b": ["b1", "b2"]}, max_attributes=1).fit(frame, labels)

    assert model.attributes_in_.tolist() in (["a", "c"], ["b", "c"])
    assert len(model.coef_attributes_) == model.coef_.shape[1]
    assert whole.attributes_in_.tolist() in (["a"], ["b"])


@pytest.mark.parametrize("limit", [None, 2, 4])
@pytest.mark.parametrize("same", ["here", 0.1])
def test_an_attribute_that_never_varies_is_not_asked_for(limit, same):
    """Also where there is nothing else to choose; the mean of 13 times 0.1 is not quite 0.1."""
    frame = X.assign(country=same)

    model = PrismSVC(sensitive="disease", max_attributes=limit).fit(frame, Y)

    assert "country" not in model.attributes_in_
    assert min(limit or 3, 3) == len(model.attributes_in_)


def test_columns_numbered_otherwise_than_by_their_places_are_refused():
    """Column 0 or the column called 0: a wrong guess would use the sensitive one."""
    features, labels = numbers()
    frame = pd.DataFrame(features, columns=[3, 2, 1, 0])
    expected = (
        "X must have columns with texts for names, or numbered from 0 in their order, where "
        "attributes are named. Got other names instead; X.columns.astype(str) makes texts."
    )

    with pytest.raises(ValueError, match=f"^{re.escape(expected)}$"):
        PrismSVC(sensitive=0).fit(frame, labels)

    assert 4 == len(PrismSVC().fit(frame, labels).attributes_in_)
    plain = frame.set_axis(range(4), axis=1)
    assert [1, 2, 3] == PrismSVC(sensitive=0).fit(plain, labels).attributes_in_.tolist()


def test_several_classes_share_their_attributes():
    features, _ = numbers(90)
    labels = np.digitize(features[:, 0] + features[:, 1], [-0.5, 0.5])

    model = PrismSVC(max_attributes=2, rows=60, random_state=0).fit(features, labels)

    assert [0, 1] == model.attributes_in_.tolist()
    assert (3, 2) == model.coef_.shape
    assert (90, 3) == model.decision_function(features).shape


def test_a_new_value_of_a_category_is_none_of_the_known_ones():
    model = PrismSVC(sensitive="disease").fit(X, Y)

    assert 13 == len(model.predict(X.assign(smoker="vapes")))


def test_a_missing_value_of_a_category_is_a_value():
    holes = X.assign(smoker=X["smoker"].where(X["smoker"] != "never"))

    model = PrismSVC(sensitive="disease").fit(holes, Y)

    assert PrismSVC(sensitive="disease").fit(X, Y).score(X, Y) == model.score(holes, Y)


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"sensitive": "desease"}, "sensitive must name attributes of X. Got 'desease' instead."),
        (
            {"correlations": [("age", "smokes")]},
            "correlations must name attributes of X. Got 'smokes' instead.",
        ),
        ({"sensitive": [7]}, "sensitive must name attributes of X. Got 7 instead."),
        (
            {"sensitive": list(X)},
            "X must have an attribute that may be used. Got only sensitive ones instead.",
        ),
        (
            {"max_attributes": 0},
            "max_attributes must be a whole number of 1 or more, or None. Got 0 instead.",
        ),
        ({"C": 0}, "C must be a finite number above 0. Got 0 instead."),
        ({"C": float("inf")}, "C must be a finite number above 0. Got inf instead."),
        ({"max_iter": 0}, "max_iter must be a whole number of 1 or more. Got 0 instead."),
        ({"tol": 0}, "tol must be a number above 0. Got 0 instead."),
        (
            {"correlations": [(), ("age", "smoker")]},
            "correlations must be sets of one or more attributes. Got an empty one.",
        ),
        ({"solver": "best"}, "solver must be 'auto', 'exact' or 'greedy'. Got 'best' instead."),
        ({"time_limit": -1}, "time_limit must be a number above 0. Got -1 instead."),
        ({"rows": 1.5}, "rows must be a whole number of 1 or more. Got 1.5 instead."),
        ({"groups": {"g": ["age", "height"]}}, "group 'g' must name columns of X. Got 'height' instead."),
        ({"groups": {"g": []}}, "group 'g' must have columns."),
        ({"groups": {"g": ["age", "smoker"]}}, "group 'g' must hold numbers. Got categories instead."),
        ({"groups": {"g": ["age"], "h": ["age"]}}, "groups must not share columns."),
        (
            {"groups": {"smoker": ["age"]}},
            "A group must not have the name of another column. Got ['smoker'] instead.",
        ),
    ],
)  # fmt: skip
def test_parameters_that_make_no_sense_are_refused(parameters, expected):
    with pytest.raises(ValueError, match=f"^{re.escape(expected)}$"):
        PrismSVC(**parameters).fit(X, Y)


def test_one_class_is_refused():
    expected = "PrismSVC must see two or more classes. Got one class instead."

    with pytest.raises(ValueError, match=f"^{re.escape(expected)}$"):
        PrismSVC().fit(X, ["yes"] * 13)


def test_a_frame_without_rows_is_refused():
    with pytest.raises(ValueError, match=r"^X must have rows\. Got none instead\.$"):
        PrismSVC().fit(X.iloc[:0], Y.iloc[:0])


@settings(max_examples=15)
@given(st.integers(0, 100), st.sampled_from([0.01, 1.0]))
def test_the_machine_reaches_the_optimum_of_another_solver(seed, C):
    """libsvm's, whose intercept is free too."""
    features, labels = numbers(50, 3, seed)
    labels ^= np.random.default_rng(seed).random(50) < 0.2
    signs = np.where(labels == 1, 1.0, -1.0)

    def objective(weights, intercept):
        lost = np.maximum(0, 1 - signs * (features @ weights + intercept)).sum()
        return (weights @ weights / 2 + C * lost) / (C * 50)

    machine = fit(features, signs, C=C, max_iter=1000, tol=1e-6)
    other = SVC(kernel="linear", C=C, tol=1e-6).fit(features, signs)
    best = objective(other.coef_[0], other.intercept_[0])

    assert objective(machine.weights, machine.intercept) <= best + 0.0025
    assert objective(machine.weights, machine.intercept) == pytest.approx(best, rel=5e-3)


def test_a_fit_that_was_stopped_says_so():
    features, labels = numbers(200)

    with pytest.warns(ConvergenceWarning) as caught:
        PrismSVC(max_iter=1).fit(features, labels)

    assert "The hinge loss was not minimized within 1 steps; increase max_iter." == str(
        caught[0].message
    )


def test_rare_values_of_a_long_category_share_having_no_feature():
    """A column of names would otherwise have as many features as there are rows."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"name": [f"n{at}" for at in range(300)], "age": rng.normal(size=300)})

    model = PrismSVC().fit(frame, (frame["age"] > 0).astype(int))

    assert (1, 101) == model.coef_.shape
    assert 300 == len(model.predict(frame))
