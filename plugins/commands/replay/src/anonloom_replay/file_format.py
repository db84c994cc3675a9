"""Every field of a `transformation.json`, checked: the file may come from anybody."""

from typing import Any

import attrs
import numpy as np
import pandas as pd

from anonloom import Column, Schema
from anonloom.cells import MOMENTS
from anonloom.hierarchies import STAR, LeafTable
from anonloom.params import build
from anonloom.spec import Suppression, Unit
from anonloom_runner.transformation import HIERARCHY_BUILDERS

#: Of every class the first and last of what it published, and of its region.
EXTENT = ("least", "most")
REGION = ("lo", "hi")

_MOMENT_FORMS = {"date": "%Y-%m-%d", "time": "%Y-%m-%d %H:%M:%S"}


def read_model(data: dict[str, Any]) -> dict[str, Any]:
    """Return the name and the parameters of a privacy model."""
    return {"model": str(data["model"]), "parameters": dict(data["parameters"])}


def read_unit(data: dict[str, Any]) -> Unit:
    """Return what is counted; files of earlier versions counted persons without saying so."""
    unit = data.get("unit", "person")
    if unit == "record":
        return "record"
    if unit != "person":
        raise ValueError("a unit that is none")
    return "person"


def read_suppression(data: dict[str, Any], schema: Schema) -> Suppression:
    """Return the rule for suppression; every part of it must be there."""
    if data.keys() != {"at_most", "rows", "keep"}:
        raise ValueError("a rule that is not whole")
    rule: Suppression = build(Suppression, data)
    if not set(rule.keep) <= set(schema.names_with_role("label", "other")):
        raise ValueError("a column that a starred row cannot keep")
    return rule


def read_region(data: dict[str, Any], column: Column) -> dict[str, list[Any]]:
    """Check that every value is one of the column, and every place one of the list of values."""
    values, extent = _list(data["values"]), [_list(data[end]) for end in EXTENT]
    region_values(values, column)
    count = len(extent[0])
    beside = {
        name: _list(data[name])
        for name in (*REGION, "node", "level", "members")
        if data.get(name) is not None
    }
    if any(len(given) != count for given in (*extent, *beside.values())):
        raise ValueError("not one for every region")
    if ("lo" in beside) != ("hi" in beside):
        raise ValueError("half a region")
    nodes = beside.get("node", [None] * count)
    if not all(node is None or type(node) is str for node in nodes):
        raise ValueError("a group without a label")
    # A star covers everything, whatever the values.
    starred = [node == STAR for node in nodes]
    members = [_list(some) for some in beside.get("members", ())]
    if column.form == "set" and not (
        members and all(some or star for some, star in zip(members, starred, strict=True))
    ):
        raise ValueError("no members")
    places = [
        place
        for end in extent
        for place, star in zip(end, starred, strict=True)
        if not (star and place is None)
    ]
    places += [
        place for some in (*(beside.get(end, []) for end in REGION), *members) for place in some
    ]
    if not all(type(place) is int and 0 <= place < len(values) for place in places):
        raise ValueError("a place outside the list of values")
    if not all(type(level) is int and -1 <= level < 128 for level in beside.get("level", ())):
        raise ValueError("a level that is none")
    return {"values": values, **dict(zip(EXTENT, extent, strict=True)), **beside}


def _list(value: Any) -> list[Any]:
    """Return a list; JSON's texts and mappings have a length and elements, too."""
    if not isinstance(value, list):
        raise TypeError("no list")
    return value


def region_values(values: list[Any], column: Column) -> Any:
    """Return values of a region as the column holds them, missing ones as missing.

    Raises
    ------
    ValueError, TypeError
        When they are no values of such a column.
    """
    # Exactly these: true is an integer to Python.
    wanted = (int, float) if column.type == "number" else (str,)
    if not all(value is None or type(value) in wanted for value in values):
        raise TypeError(f"no {column.type}")
    ends = pd.Series(values, dtype=object)
    if column.type == "number":
        ends = ends.astype(float)
        if not np.isfinite(ends[[value is not None for value in values]]).all():
            raise ValueError("no number")
    elif column.type in MOMENTS:
        ends = pd.to_datetime(ends, format=_MOMENT_FORMS[column.type])
    return ends


def read_column(data: dict[str, Any]) -> Column:
    """Return a declared column; its hierarchy has leaves for values that were never seen."""
    values = dict(data)
    hierarchy, publish = values.pop("hierarchy", None), values.pop("publish", None)
    # A value that was never seen is not an error: it is a leaf below the root.
    values["unknown"] = "own-leaf" if hierarchy else "refuse"
    column = build(Column, {name: value for name, value in values.items() if value is not None})
    source = None
    if hierarchy is not None:
        parameters = {name: value for name, value in hierarchy.items() if name != "build"}
        source = build(HIERARCHY_BUILDERS[hierarchy["build"]], parameters)
        if isinstance(source, LeafTable):
            source = LeafTable.from_rows(source.rows, "its hierarchy")
    return attrs.evolve(column, hierarchy=source, publish=publish)
