"""What a tree tells about itself: importance, round thresholds, no small numbers, no labels."""

import json

import numpy as np
import pandas as pd
import pytest

from anonloom import Chart, Classes, Column, Findings, Guard, Schema, StageContext, Table
from anonloom.hierarchies import Tree
from anonloom_columns import Visible
from anonloom_tada.kl_tree import KLTree
from anonloom_tada.thresholds import questions
from anonloom_tada.tree_chart import MOST_NODES, step_of
from anonloom_testing.auditor import publish_classes
from anonloom_testing.privacy_cases import AtLeast


def numbers(values):
    frame = pd.DataFrame({"x": values})
    return Table.build(frame, Schema([Column(name="x", role="quasi", type="number")])).axes[0]


def visible(axis, *cells):
    return Visible.of(axis, pd.Series(cells, dtype="category"))


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        (["[18, 39]", "[54, 90]"], "x < 54"),
        (["[18, 50]", "[50, 90]"], "x < 50"),
        (["[0, 40)", "[40, 80)"], "x < 40"),
        (["[18, 90]"], "lower x"),
        (["*"], "lower x"),
        (["39", "54"], "x < 54"),
    ],
)
def test_a_threshold_is_told_where_the_release_shows_a_bound_between_the_two_values(cells, told):
    axis = numbers([18, 39, 54, 90])
    assert told == questions(axis, 0, 1, 3, visible(axis, *cells))[0]


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        (["2019", "2021"], "day < 2020-01-01"),
        (["2010s", "2020s"], "day < 2020-01-01"),
        (["2021-Q3"], "day < 2021-07-01"),
        (["2021-07-09"], "day < 2021-07-09"),
        (["[2019-05-03, 2019-05-03]"], "lower day"),
        (["*"], "lower day"),
    ],
)
def test_a_threshold_of_dates_is_a_bound_of_the_release(cells, told):
    frame = pd.DataFrame({"day": ["2019-05-03", "2021-07-09"]})
    axis = Table.build(frame, Schema([Column(name="day", role="quasi", type="date")])).axes[0]
    assert told == questions(axis, 0, 0, 1, visible(axis, *cells))[0]


def test_conditions_name_nodes_and_missing_values():
    frame = pd.DataFrame({"town": ["a", "b", "c", None], "age": [1, 2, 30, None]})
    towns = Tree(tree={"north": ["a", "b"], "c": None})
    columns = [
        Column(name="town", role="quasi", hierarchy=towns),
        Column(name="age", role="quasi", type="number"),
    ]
    town, age = Table.build(frame, Schema(columns)).axes

    towns, ages = visible(town, "north", "c"), visible(age, "[1, 2]", "[30, 30]")
    nothing = visible(town, "*")
    assert ("town: north", "town: not north") == questions(town, 0, 1, 3, towns)
    assert ("town: c", "town: not c") == questions(town, 2, 2, 3, towns)
    assert ("town: one group", "town: the others") == questions(town, 0, 1, 3, nothing)
    assert ("town: one group", "town: the others") == questions(town, 2, 2, 3, nothing)
    assert ("town missing", "town known") == questions(town, 3, 3, 3, nothing)
    assert ("age < 30", "age ≥ 30 or missing") == questions(age, 0, 1, 3, ages)
    assert ("age < 30", "age ≥ 30") == questions(age, 0, 1, 2, ages)
    assert ("age known", "age missing") == questions(age, 0, 2, 3, ages)


@pytest.mark.parametrize(
    ("least", "step"), [(1, 1), (2, 2), (3, 5), (10, 10), (25, 50), (101, 200)]
)
def test_numbers_of_rows_are_rounded_to_steps_no_smaller_than_a_class(least, step):
    assert step == step_of(least)


def survey(rows=400, seed=3):
    rng = np.random.default_rng(seed)
    age, job = rng.integers(18, 90, rows), rng.choice([*"ABCD"], rows)
    risk = np.where((age > 60) | (rng.random(rows) < 0.1), "positive", "negative")
    frame = pd.DataFrame({"age": age, "job": job, "noise": rng.choice([*"xy"], rows), "risk": risk})
    columns = [
        Column(name="age", role="quasi", type="number"),
        Column(name="job", role="quasi"),
        Column(name="noise", role="quasi"),
        Column(name="risk", role="label"),
    ]
    return Table.build(frame, Schema(columns))


def found(table, method, k=10, classes=None):
    context = StageContext()
    given = table.whole() if classes is None else classes
    classes = method.partition(table, given, Guard([AtLeast(k=k)]), context)
    release = publish_classes(table, classes)
    return classes, Findings.of(context.found, *(make(release) for make in context.later))


def lines(node):
    yield node["label"]
    for child in node.get("children", ()):
        yield from lines(child)


def test_the_column_that_predicts_the_label_is_the_most_important():
    classes, findings = found(survey(), KLTree())

    shares = {name: findings[f"importance.{name}"].value for name in ("age", "job", "noise")}
    assert 1.0 == pytest.approx(sum(shares.values()))
    assert "age" == max(shares, key=shares.get)
    assert shares["age"] > 0.8
    assert len(classes) == findings["leaves"].value
    assert 0 < findings["explained"].value < 1
    bars = next(chart for chart in findings.charts if chart.name == "importance")
    assert "age" == bars.data["labels"][0]


def test_a_label_that_never_varies_gives_no_importance():
    table = Table.build(
        pd.DataFrame({"age": [1, 2, 3, 4], "risk": ["no"] * 4}),
        Schema(
            [Column(name="age", role="quasi", type="number"), Column(name="risk", role="label")]
        ),
    )
    classes, findings = found(table, KLTree(), k=2)

    assert (1, 0.0, 0.0) == (
        len(classes),
        findings["explained"].value,
        findings["importance.age"].value,
    )


def test_a_label_that_never_varies_takes_nothing_from_another():
    columns = [
        Column(name="age", role="quasi", type="number"),
        Column(name="risk", role="label"),
        Column(name="cost", role="label", type="number"),
    ]
    frame = pd.DataFrame({"age": [1, 2, 3, 4], "risk": [*"nnyy"], "cost": [7.5] * 4})
    _, findings = found(Table.build(frame, Schema(columns)), KLTree(), k=2)

    assert 1.0 == pytest.approx(findings["explained"].value)


@pytest.mark.parametrize("method", [KLTree(), KLTree(reuse=True), KLTree(task="clustering")])
def test_the_picture_tells_neither_labels_nor_exact_numbers_of_rows(method):
    _, findings = found(survey(), method, k=7)

    (tree,) = (
        chart for chart in findings.charts if isinstance(chart, Chart) and chart.name == "tree"
    )
    text = json.dumps(tree.data)
    assert "positive" not in text
    assert "negative" not in text
    counts = [
        int(line.split("~")[1].split(" rows")[0].replace(",", ""))
        for line in lines(tree.data)
        if "~" in line
    ]
    assert [] == [count for count in counts if count % 10 or count < 10]


def test_conditions_are_told_only_where_they_are_asked_for():
    _, quiet = found(survey(), KLTree())
    _, telling = found(survey(), KLTree(picture="conditions"))

    texts = [
        next(iter(chart.data["children"]))["label"].split(":")[0]
        for findings in (quiet, telling)
        for chart in findings.charts
        if chart.name == "tree"
    ]
    assert ["lower age", "age < 61"] == texts
    text = json.dumps(next(chart.data for chart in quiet.charts if chart.name == "tree"))
    assert "<" not in text
    assert "job: one group" in text


def test_a_large_tree_is_not_drawn_whole():
    _, findings = found(survey(4000), KLTree(task="clustering"), k=2)

    (tree,) = (chart for chart in findings.charts if chart.name == "tree")
    drawn = list(lines(tree.data))
    assert MOST_NODES // 2 < len(drawn) <= 2 * MOST_NODES
    assert "…" in drawn


def test_nothing_is_told_of_a_class_that_is_suppressed():
    """A given class that is too small and cannot be helped has no place in the picture."""
    table = survey(60)
    rows = np.arange(60)
    classes = Classes(rows, np.array([0, 3, 60]))
    refined, findings = found(table, KLTree(), k=5, classes=classes)

    (tree,) = (chart for chart in findings.charts if chart.name == "tree")
    assert [0, 1, 2] == refined.suppressed.tolist()
    assert tree.data["label"].startswith("a given class: ~55 rows")


def test_trees_of_several_given_classes_stand_side_by_side():
    table = survey(400)
    classes = Classes(np.arange(400), np.arange(0, 401, 40))
    _, findings = found(table, KLTree(), k=5, classes=classes)

    (tree,) = (chart for chart in findings.charts if chart.name == "tree")
    assert "10 given classes" == tree.data["label"]
    assert (
        "measured on the rows that the tree was grown from",
        "what the given classes differ in was removed before the tree, and is not counted",
    ) == findings["explained"].assumptions
    assert "and 2 more" == tree.data["children"][-1]["label"]
    assert 9 == len(tree.data["children"])
