"""Whether the data of a chart have the form that its kind asks for."""

from collections.abc import Mapping, Sequence
from typing import Any, get_args

from anonloom import Chart
from anonloom.findings import ChartKind

#: Keys of a series that are lists as long as its x; the first two must be there.
_OF_A_SERIES = {
    "line": ("x", "y", "low", "high"),
    "scatter": ("x", "y", "labels"),
    "density": ("x", "y"),
}


def chart_problem(chart: Chart) -> str | None:
    """Say what is wrong with the form of a chart's data, or None."""
    if chart.kind not in get_args(ChartKind):
        return f"there is no kind {chart.kind!r}"
    if chart.kind in _OF_A_SERIES:
        wrong = [_series(name, of, chart.kind) for name, of in chart.data.items()]
        return next((item for item in wrong if item), None)
    return {"bars": _bars, "heat": _heat, "tree": _tree, "table": _table}[chart.kind](chart.data)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _numbers(values: Any) -> bool:
    """Whether it is a list of numbers, None where one is missing."""
    return _is_list(values) and all(
        value is None or (isinstance(value, int | float) and not isinstance(value, bool))
        for value in values
    )


def _series(name: str, of: Any, kind: str) -> str | None:
    keys = _OF_A_SERIES[kind]
    if not isinstance(of, Mapping) or not {"x", "y"} <= set(of) <= set(keys):
        return f"series {name!r} has not the keys {', '.join(keys)}, of which x and y must be there"
    if ("low" in of) != ("high" in of):
        return f"series {name!r} has an interval with one end"
    if any(not _is_list(of[key]) or len(of[key]) != len(of["x"]) for key in of):
        return f"series {name!r} is not made of lists of one length"
    if not all(_numbers(of[key]) for key in of if key != "labels"):
        return f"series {name!r} holds something that is no number"
    return None


def _bars(data: Mapping[str, Any]) -> str | None:
    labels = data.get("labels")
    if not _is_list(labels):
        return "there is no list of labels"
    for name, values in data.items():
        if name != "labels" and (not _numbers(values) or len(values) != len(labels or ())):
            return f"series {name!r} has not one number for each label"
    return None


def _heat(data: Mapping[str, Any]) -> str | None:
    if set(data) != {"x", "y", "z"} or not all(map(_is_list, data.values())):
        return "the data are not the lists x, y and z"
    if len(data["z"]) != len(data["y"]):
        return "z has not one row for each y"
    if not all(_numbers(row) and len(row) == len(data["x"]) for row in data["z"]):
        return "a row of z has not one number for each x"
    return None


def _tree(data: Any) -> str | None:
    if not isinstance(data, Mapping) or not isinstance(data.get("label"), str):
        return "a node of the tree has no label"
    children = data.get("children", ())
    if not _is_list(children):
        return "the children of a node are no list"
    return next((wrong for child in children if (wrong := _tree(child))), None)


def _table(data: Mapping[str, Any]) -> str | None:
    if set(data) != {"columns", "rows"} or not all(map(_is_list, data.values())):
        return "the data are not the lists columns and rows"
    if not all(isinstance(name, str) for name in data["columns"]):
        return "the name of a column is no text"
    if not all(_is_list(row) and len(row) == len(data["columns"]) for row in data["rows"]):
        return "a row has not one cell for each column"
    cells = (cell for row in data["rows"] for cell in row)
    if not all(cell is None or isinstance(cell, str | int | float) for cell in cells):
        return "a cell is neither a text nor a number nor None"
    return None
