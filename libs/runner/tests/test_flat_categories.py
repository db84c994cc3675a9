"""A category of many values without a hierarchy is announced before it is lost."""

import pandas as pd
import pytest

from anonloom import Column, Schema, Table
from anonloom.hierarchies import Prefix
from anonloom_runner import flat_categories as module
from anonloom_runner.flat_categories import flat_categories


def said(values: int, **column: object) -> list[str]:
    frame = pd.DataFrame({"zip": [f"{10_000 + index}" for index in range(values)] * 2})
    schema = Schema([Column(name="zip", **{"role": "quasi", **column})])
    return list(flat_categories(Table.build(frame, schema)))


def test_a_category_of_more_than_100_values_without_a_hierarchy_is_announced():
    assert [
        "Column 'zip' is a category of 101 different values without a hierarchy: where a class "
        "holds two of them, '*' is published for all its rows. 'hierarchy: {build: prefix, keep: "
        "[3, 2]}' groups codes by their first characters; a file can group any values."
    ] == said(101)


@pytest.mark.parametrize(
    ("values", "column"),
    [
        (100, {}),
        (101, {"hierarchy": Prefix(keep=(3, 2))}),
        (101, {"publish": "set"}),
        (101, {"type": "number"}),
        (101, {"role": "other"}),
    ],
)
def test_others_are_not(values, column):
    assert [] == said(values, **column)


def test_a_run_says_it_where_something_is_generalized(clinic, monkeypatch):
    monkeypatch.setattr(module, "MANY", 1)

    warnings = clinic.pipeline().run().report["warnings"]
    clinic.change(
        "  - partitioner: runs\n  - generalizer: as-declared\n", "  - mechanism: add-one\n"
    )
    clinic.change("privacy:\n  - size: {k: 3}\n", "privacy: none\n")
    unchanged = clinic.pipeline().run().report["warnings"]

    expected = "Column 'sex' is a category of 2 different values without a hierarchy"
    assert [("source", True)] == [
        (warning["stage"], warning["text"].startswith(expected)) for warning in warnings
    ]
    assert [] == [item for item in unchanged if item["stage"] == "source"]
