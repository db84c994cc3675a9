"""Dropping columns: what goes, what stays, and what is refused."""

import numpy as np
import pandas as pd
import pytest

from anonloom import Column, Release, Schema, StageContext, Table
from anonloom.errors import UsageError
from anonloom_recoding.drop_columns import DropColumns


@pytest.fixture
def table():
    frame = pd.DataFrame(
        {
            "id": ["n1", "n2", "n3"],
            "age": [30, None, 50],
            "town": ["a", None, "b"],
            "illness": ["flu", "gout", "flu"],
            "who": ["p", "p", "q"],
        }
    )
    columns = [
        Column(name="id", role="identifier", pseudonymize=True),
        Column(name="age", role="quasi", type="number", missing="suppress"),
        Column(name="town", role="quasi"),
        Column(name="illness", role="sensitive"),
        Column(name="who", role="person"),
    ]
    return Table.build(frame, Schema(columns), origin=np.array([7, 8, 9]))


def test_dropped_columns_are_gone_and_the_rest_is_as_it_was(table):
    result = DropColumns(columns=("town", "illness")).protect(table, StageContext())

    assert ("id", "age", "who") == result.schema.names
    assert ["age"] == [axis.name for axis in result.axes]
    assert table.codes[:1].tolist() == result.codes.tolist()
    assert [7, 8, 9] == result.origin.tolist()
    assert table.persons.tolist() == result.persons.tolist()
    assert table.incomplete.tolist() == result.incomplete.tolist()
    assert table.pseudonym_keys == result.pseudonym_keys
    assert table.frame[["id", "age", "who"]].equals(result.frame)
    assert ["id", "age"] == list(Release.as_it_is(result).frame.columns)


def test_a_row_is_complete_when_the_column_that_suppressed_it_is_gone(table):
    result = DropColumns(columns=("age", "id")).protect(table, StageContext())

    assert [False, False, False] == result.incomplete.tolist()
    assert {} == result.pseudonym_keys


def test_the_table_that_was_given_is_unchanged(table):
    DropColumns(columns=("town",)).protect(table, StageContext())

    assert ("id", "age", "town", "illness", "who") == table.schema.names
    assert ["id", "age", "town", "illness", "who"] == list(table.frame.columns)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "zip",
            "drop-columns: column 'zip' is not declared; "
            "published are: 'id', 'age', 'town', 'illness'",
        ),
        (
            "who",
            "drop-columns: column 'who' has role 'person' and is not published; "
            "published are: 'id', 'age', 'town', 'illness'",
        ),
    ],
)
def test_only_published_columns_can_be_dropped(table, name, expected):
    """Without the persons the models would count rows, and admit more than they should."""
    with pytest.raises(UsageError) as caught:
        DropColumns(columns=("town", name)).protect(table, StageContext())

    assert expected == str(caught.value)
