"""PrismSVC: what it reads, what it asks for, and how good it is."""

import itertools
import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from anonloom_prism.content_order import content_order
from anonloom_prism.correlations import Correlation
from anonloom_prism.hinge import fit
from anonloom_prism.svc import PrismSVC

PEOPLE = pd.read_csv(Path(__file__).with_name("figure_1.csv"))
X, Y = PEOPLE.drop(columns="risk"), PEOPLE["risk"]


def numbers(rows=60, attributes=4, seed=0):
    rng = np.random.default_rng(seed)
    result = rng.normal(size=(rows, attributes))
    return result, (result[:, 0] + result[:, 1] > 0).astype(int)


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
    result = Correlation(
        attributes={"age", "smoker"}, target="all", measure="cramers-v", value=0.9, p=0.01
    )

    models = [
        PrismSVC(sensitive=3, correlations=some).fit(X, Y)
        for some in ([result], [{"age", "smoker"}], [(1, 2)])
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

    model = PrismSVC(max_attributes=2, rows=60).fit(features, labels)

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
        ({"node_limit": 0}, "node_limit must be a whole number of 1 or more. Got 0 instead."),
        ({"sample": "first"}, "sample must be 'content' or 'random'. Got 'first' instead."),
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
    frame = pd.DataFrame(
        {"name": [f"n{index}" for index in range(300)], "age": rng.normal(size=300)}
    )

    model = PrismSVC().fit(frame, (frame["age"] > 0).astype(int))

    assert (1, 101) == model.coef_.shape
    assert 300 == len(model.predict(frame))


# --- no lottery -----------------------------------------------------------------------------------


def close_call(rows=600, seed=0):
    """Many attributes that are worth about the same: samples of 30 rows disagree which to take."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(rows, 8)), columns=list("hgfedcba"))
    frame["town"] = rng.choice(["x", "y", "z"], rows)
    score = frame[list("abcdefgh")].sum(axis=1) + 2 * rng.normal(size=rows)
    return frame, np.where(score > 0, "yes", "no")


def chosen(frame, labels, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return PrismSVC(max_attributes=4, rows=30, **parameters).fit(frame, labels)


def test_the_same_data_give_the_same_model_whatever_the_seed_and_the_order_of_rows():
    frame, labels = close_call()
    first = chosen(frame, labels)

    for seed in range(5):
        order = np.random.default_rng(seed).permutation(len(frame))
        again = chosen(frame.iloc[order], labels[order], random_state=seed)
        assert first.attributes_in_.tolist() == again.attributes_in_.tolist()
        assert first.selection_ == again.selection_
        assert first.coef_.tolist() == again.coef_.tolist()
        assert first.intercept_.tolist() == again.intercept_.tolist()


def test_the_order_of_the_columns_chooses_no_other_attributes():
    frame, labels = close_call()

    turned = chosen(frame[sorted(frame)], labels)

    assert set(chosen(frame, labels).attributes_in_) == set(turned.attributes_in_)


def test_of_two_columns_that_say_the_same_the_first_by_name_is_kept():
    frame, labels = close_call(60)
    twins = frame[["h", "town"]].assign(a=frame["h"], m=frame["h"])

    for names in itertools.islice(itertools.permutations(twins), 0, None, 5):
        model = PrismSVC(correlations=[("a", "h"), ("a", "m"), ("h", "m")])
        assert {"a", "town"} == set(model.fit(twins[list(names)], labels).attributes_in_)


def test_most_of_a_sample_stays_when_a_few_rows_go():
    frame, labels = close_call(2000)
    features, numbered = frame.drop(columns="town").to_numpy(), (labels == "yes").astype(np.int64)
    fewer = np.arange(len(frame)) % 50 > 0

    whole = content_order(features, numbered)[:400]
    part = np.flatnonzero(fewer)[content_order(features[fewer], numbered[fewer])[:400]]

    # Of those that are left all are drawn again; as many more as have gone take their places.
    assert fewer[whole].sum() == len(set(whole) & set(part))


@given(
    st.lists(st.tuples(st.sampled_from([0.0, -0.0, 1.5]), st.integers(0, 1)), min_size=1),
    st.randoms(),
)
def test_the_order_of_rows_by_content_depends_on_nothing_else(rows, random):
    mixed = random.sample(rows, len(rows))
    ordered = []
    for some in (rows, mixed):
        features = np.array([[number] for number, _ in some])
        labels = np.array([label for _, label in some], np.int64)
        order = content_order(features, labels)
        assert list(range(len(rows))) == sorted(order.tolist())
        ordered.append((features[order].tolist(), labels[order].tolist()))

    assert ordered[0] == ordered[1]


def test_equal_rows_are_drawn_by_their_share():
    """One row in four differs; so it is about one in four of those that come first."""
    features = (np.arange(4000) % 4 == 0).astype(float)[:, None]

    first = features[content_order(features, np.zeros(4000, np.int64))[:1000]]

    assert 0.2 < first.mean() < 0.3


def test_a_random_sample_can_be_asked_for():
    frame, labels = close_call()

    models = [chosen(frame, labels, sample="random", random_state=seed) for seed in (1, 1, 2)]

    assert models[0].selection_ == models[1].selection_
    assert models[0].selection_.objective != models[2].selection_.objective


def test_a_choice_that_was_not_proved_says_so():
    rng = np.random.default_rng(0)
    features = rng.normal(size=(150, 24))
    labels = (features.sum(axis=1) + 6 * rng.normal(size=150) > 0).astype(int)

    with pytest.warns(ConvergenceWarning) as caught:
        model = PrismSVC(max_attributes=10, node_limit=1).fit(features, labels)

    assert not model.exact_
    assert [
        "The best attributes were not proved within 1 nodes: the loss of those that were chosen "
        f"may be up to {model.gap_:.2g} of it above the least one; increase node_limit."
    ] == [str(item.message) for item in caught]
