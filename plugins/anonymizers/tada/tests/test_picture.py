"""What a tree tells about itself: importance, round thresholds, no small numbers, no labels."""

import json

import numpy as np
import pandas as pd
import pytest

from anonloom.data.builders import Tree
from anonloom.data.classes import Classes
from anonloom.data.findings import Chart, Findings
from anonloom.data.schema import Column, Schema
from anonloom.data.table import Table
from anonloom.kinds.context import Run
from anonloom.kinds.guard import Guard
from anonloom.testing.demands import AtLeast
from anonloom_tada.kl_tree import KLTree
from anonloom_tada.picture import MOST_NODES, step_of
from anonloom_tada.thresholds import coarse_threshold, questions, threshold


def numbers(values):
    frame = pd.DataFrame({"x": values})
    return Table.build(frame, Schema([Column(name="x", role="quasi", type="number")])).axes[0]


@pytest.mark.parametrize(
    ("below", "up_to", "written"),
    [
        (39, 54, "40"),
        (39, 40, "40"),
        (41, 43, "42"),
        (99, 1001, "1000"),
        (-5, 3, "0"),
        (-7, -6, "-6"),
        (0.5, 0.75, "0.6"),
        (0.1234, 0.1235, "0.1235"),
        (1e-12, 1.0, "1"),
        (53211.37, 53212.18, "53212"),
    ],
)
def test_a_threshold_is_the_roundest_number_between_two_values(below, up_to, written):
    assert written == threshold(numbers([below, up_to]), 0)


@pytest.mark.parametrize(
    ("cells", "written"),
    [
        # From the least to the greatest, and the two that the split lies between: 20 steps at most.
        ((18, 60, 61, 89), "about 60"),
        ((18, 59, 60, 89), "60"),
        ((18, 39, 54, 58), "40"),
        ((103482917, 523477924, 523491835, 988211306), "about 500000000"),
        ((0.11, 0.5213, 0.5217, 0.93), "about 0.5"),
        ((5, 5, 6, 6), "6"),
    ],
)
def test_a_public_threshold_lies_on_a_scale_of_few_steps(cells, written):
    assert written == coarse_threshold(numbers(cells), sorted({*cells}).index(cells[1]))


@pytest.mark.parametrize(
    ("type_", "cells", "written"),
    [
        ("date", ("1902-01-09", "1910-05-03", "1910-05-17", "1929-03-04"), "about 1910-01-01"),
        ("date", ("1902-01-09", "1909-05-03", "1910-05-17", "1929-03-04"), "1910-01-01"),
        ("date", ("2024-01-09", "2024-03-03", "2024-04-17", "2024-09-04"), "2024-04-01"),
        ("date", ("2024-03-01", "2024-03-03", "2024-03-17", "2024-03-28"), None),
        (
            "time",
            ("2024-03-01 10:02", "2024-03-03 07:31", "2024-03-03 09:00", "2024-03-12 01:15"),
            "about 2024-03-03 00:00:00",
        ),
    ],
)
def test_a_public_threshold_of_moments_is_a_unit_of_the_calendar(type_, cells, written):
    frame = pd.DataFrame({"at": cells})
    axis = Table.build(frame, Schema([Column(name="at", role="quasi", type=type_)])).axes[0]
    assert written == coarse_threshold(axis, 1)


@pytest.mark.parametrize(
    ("below", "up_to", "written"),
    [
        ("2019-05-03", "2021-07-09", "2021-01-01"),
        ("2021-05-03", "2021-07-09", "2021-07-01"),
        ("2021-07-03", "2021-07-09", "2021-07-09"),
    ],
)
def test_a_threshold_of_dates_is_the_beginning_of_a_unit(below, up_to, written):
    frame = pd.DataFrame({"day": [below, up_to]})
    axis = Table.build(frame, Schema([Column(name="day", role="quasi", type="date")])).axes[0]
    assert written == threshold(axis, 0)


def test_conditions_name_nodes_and_missing_values():
    frame = pd.DataFrame({"town": ["a", "b", "c", None], "age": [1, 2, 30, None]})
    towns = Tree(tree={"north": ["a", "b"], "c": None})
    columns = [
        Column(name="town", role="quasi", hierarchy=towns),
        Column(name="age", role="quasi", type="number"),
    ]
    town, age = Table.build(frame, Schema(columns)).axes

    assert ("town: north", "town: not north") == questions(town, 0, 1, 3)
    assert ("town: c", "town: not c") == questions(town, 2, 2, 3, listed=True)
    assert ("town: one value", "town: the others") == questions(town, 2, 2, 3)
    assert ("town missing", "town known") == questions(town, 3, 3, 3)
    assert ("age < 10", "age ≥ 10 or missing") == questions(age, 0, 1, 3)
    assert ("age < 10", "age ≥ 10") == questions(age, 0, 1, 2)
    assert ("age known", "age missing") == questions(age, 0, 2, 3)


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
    run = Run()
    given = table.whole() if classes is None else classes
    classes = method.partition(table, given, Guard([AtLeast(k=k)]), run)
    return classes, Findings.of(run.found)


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

    told = [
        next(iter(chart.data["children"]))["label"].split(":")[0]
        for findings in (quiet, telling)
        for chart in findings.charts
        if chart.name == "tree"
    ]
    assert ["lower age", "age < about 60"] == told
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
