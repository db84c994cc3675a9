"""What a public file tells of the classes: what the cells show, or nothing at all."""

import numpy as np
import pandas as pd
import pytest

from anonloom import Column, Release, Schema, Table
from anonloom.hierarchies import Breaks, Quantiles, Tree
from anonloom_runner.published_cells import describe_cells, published_breaks

AREAS = Tree(tree={"north": ["n1", "n2"], "south": ["s1", "s2"]})
COLUMNS = {
    "number": (Column(name="it", role="quasi", type="number"), [20.0, 30.0, 40.0]),
    "set": (Column(name="it", role="quasi", type="number", publish="set"), [20.0, 30.0, 40.0]),
    "date": (
        Column(name="it", role="quasi", type="date", publish="interval"),
        ["2024-03-01", "2024-03-05", "2024-04-01"],
    ),
    "area": (Column(name="it", role="quasi", hierarchy=AREAS), ["n1", "n2", "s1"]),
}


def shown_by(column, *cells):
    """Describe classes of one row each that show these cells of a column."""
    declared, values = COLUMNS[column]
    schema = Schema((declared,))
    table = Table.build(pd.DataFrame({"it": values}), schema)
    frame = pd.DataFrame({"it": pd.Series(cells, dtype=object)})
    release = Release(schema=schema, frame=frame, classes=np.arange(len(cells)))
    described = describe_cells(table, release)
    return None if described is None else described["it"]


@pytest.mark.parametrize(
    ("column", "cells", "told"),
    [
        (
            "number",
            ("[20, 30]", "35"),
            {"values": [20.0, 30.0, 35.0], "least": [0, 2], "most": [1, 2]},
        ),
        (
            "set",
            ('{"20", "30"}', '{"30", "40"}'),
            {
                "values": [20.0, 30.0, 40.0],
                "least": [0, 1],
                "most": [1, 2],
                "members": [[0, 1], [1, 2]],
            },
        ),
        (
            "date",
            ("[2024-03-01, 2024-03-05]",),
            {"values": ["2024-03-01", "2024-03-05"], "least": [0], "most": [1]},
        ),
        (
            "area",
            ("north", "s1"),
            {
                "values": ["n1", "s1"],
                "least": [0, 1],
                "most": [0, 1],
                "node": ["north", None],
            },
        ),
    ],
)
def test_classes_are_told_by_the_values_that_their_cells_show(column, cells, told):
    assert told == shown_by(column, *cells)


@pytest.mark.parametrize(
    ("column", "cell"),
    [
        ("number", "[few, many]"),
        ("number", "a lot"),
        ("number", None),
        ("set", '{"20", "a lot"}'),
        ("date", "[2024-03-01, soon]"),
        ("date", "2024-13-01"),
    ],
)
def test_one_cell_that_cannot_be_read_keeps_all_from_being_told(column, cell):
    readable = str(COLUMNS[column][1][0]).removesuffix(".0")
    assert shown_by(column, readable) is not None
    assert shown_by(column, readable, cell) is None


def test_where_every_row_is_starred_there_is_nothing_to_tell():
    assert shown_by("number", "*", "*") is None


def test_quantiles_of_a_column_published_as_it_is_are_those_of_what_is_shown():
    """Rows that are dropped or starred have moved the quantiles of the table."""
    bill = Column(name="bill", role="other", type="number", hierarchy=Quantiles(groups=(2,)))
    schema = Schema((Column(name="age", role="quasi", type="number"), bill))
    given = pd.DataFrame({"age": [20, 30, 40, 50], "bill": [100.0, 300.0, 200.0, 900.0]})
    shown = pd.DataFrame({"age": ["[20, 40]"] * 3 + ["*"], "bill": [100.0, 300.0, 200.0, None]})
    release = Release(schema=schema, frame=shown, classes=np.array([0, 0, 0, -1]))

    breaks = published_breaks(Quantiles(groups=(2,)), bill, Table.build(given, schema), release)

    assert Breaks(breaks=((200.0,),)) == breaks


def test_a_cell_that_shows_no_number_tells_no_break():
    """One star among other cells is no suppressed row."""
    age = Column(name="age", role="quasi", type="number", hierarchy=Quantiles(groups=(4,)))
    schema = Schema((age, Column(name="sex", role="quasi")))
    given = pd.DataFrame({"age": [20.0, 30.0, 40.0, 50.0, 60.0], "sex": list("fmfmf")})
    shown = pd.DataFrame({"age": ["<30", "[30, 40)", "*", "*", "*"], "sex": list("fmfmf")})
    release = Release(schema=schema, frame=shown, classes=np.arange(5))

    breaks = published_breaks(Quantiles(groups=(4,)), age, Table.build(given, schema), release)

    assert Breaks(breaks=((30.0, 40.0),)) == breaks
