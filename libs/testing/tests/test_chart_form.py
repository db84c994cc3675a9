"""The form of a chart's data, by its kind."""

from typing import Any

import pytest

from anonloom import Chart
from anonloom_testing import reports
from anonloom_testing.chart_form import chart_problem

LINE = {"x": [1, 2], "y": [0.5, None]}


@pytest.mark.parametrize("chart", reports.full_report()["audits"][0]["charts"])
def test_the_charts_of_the_kit_have_their_form(chart: dict[str, Any]) -> None:
    assert None is chart_problem(Chart(**chart))


def test_points_may_have_labels() -> None:
    data = {"runs": {**LINE, "labels": ["a", "b"]}}
    assert None is chart_problem(Chart(name="c", kind="scatter", title="C", data=data))


@pytest.mark.parametrize(
    ("kind", "data", "expected"),
    [
        ("pie", {}, "there is no kind 'pie'"),
        ("line", {"a": [1]},
         "series 'a' has not the keys x, y, low, high, of which x and y must be there"),
        ("density", {"a": {**LINE, "low": [0, 0]}},
         "series 'a' has not the keys x, y, of which x and y must be there"),
        ("line", {"a": {**LINE, "low": [0, 0]}}, "series 'a' has an interval with one end"),
        ("line", {"a": {"x": [1], "y": [1, 2]}}, "series 'a' is not made of lists of one length"),
        ("scatter", {"a": {"x": ["1"], "y": [1]}}, "series 'a' holds something that is no number"),
        ("bars", {"n": [1]}, "there is no list of labels"),
        ("bars", {"labels": ["a", "b"], "n": [1]}, "series 'n' has not one number for each label"),
        ("heat", {"x": ["a"], "y": ["b"]}, "the data are not the lists x, y and z"),
        ("heat", {"x": ["a"], "y": ["b"], "z": []}, "z has not one row for each y"),
        ("heat", {"x": ["a"], "y": ["b"], "z": [[1, 2]]}, "a row of z has not one number for each x"),
        ("tree", {"label": "a", "children": [{}]}, "a node of the tree has no label"),
        ("tree", {"label": "a", "children": "b"}, "the children of a node are no list"),
        ("table", {"rows": []}, "the data are not the lists columns and rows"),
        ("table", {"columns": [1], "rows": []}, "the name of a column is no text"),
        ("table", {"columns": ["a"], "rows": [[]]}, "a row has not one cell for each column"),
        ("table", {"columns": ["a"], "rows": [[[1]]]},
         "a cell is neither a text nor a number nor None"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(kind: Any, data: dict[str, Any], expected: str) -> None:
    assert expected == chart_problem(Chart(name="c", kind=kind, title="C", data=data))
