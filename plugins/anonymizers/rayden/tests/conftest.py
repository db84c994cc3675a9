"""Mixed tables with ties, missing values and constant columns, and guards, for property tests."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import strategies as st

from anonloom import Classes, Column, Guard, Schema, Table
from anonloom.hierarchies import Tree
from anonloom_rayden.gower import from_one
from anonloom_testing.privacy_cases import AtLeast, DistinctValues, half_of

TOWNS = {"north": ["a", "b", "c"], "south": ["d", "e"], "f": None}


@st.composite
def mixed_tables(draw, most_rows=40):
    cells = st.tuples(
        st.sampled_from([None, 1, 2, 3, 5, 8, 30]),
        st.sampled_from([None, *"abcdef"]),
        st.sampled_from("fm"),
        st.just("same"),
        st.sampled_from("xyz"),
        st.integers(0, 8),
    )
    rows = draw(st.lists(cells, min_size=1, max_size=most_rows))
    names = ["age", "town", "sex", "country", "illness", "person"]
    columns = [
        Column(name="age", role="quasi", type="number", weight=draw(st.sampled_from([1.0, 3.0]))),
        Column(
            name="town",
            role="quasi",
            hierarchy=Tree(tree=TOWNS),
            publish=draw(st.sampled_from(["nodes", "set"])),
        ),
        Column(name="sex", role="quasi"),
        Column(name="country", role="quasi"),
        Column(name="illness", role="sensitive"),
    ]
    if draw(st.booleans()):
        columns.append(Column(name="person", role="person"))
    return Table.build(pd.DataFrame(rows, columns=names), Schema(columns))


@st.composite
def any_guards(draw):
    models = [AtLeast(k=draw(st.integers(1, 5)))]
    if draw(st.booleans()):
        models.append(DistinctValues(l=2, of="illness"))
    return Guard(models, half_of) if draw(st.booleans()) else Guard(models)


@st.composite
def starts(draw, table):
    """Up to three given classes; some rows are suppressed, some absent."""
    label = draw(st.lists(st.integers(-2, 2), min_size=len(table), max_size=len(table)))
    members = [[row for row in range(len(table)) if label[row] == index] for index in range(3)]
    suppressed = [row for row in range(len(table)) if label[row] == -1]
    return as_classes([rows for rows in members if rows], suppressed)


def as_classes(members, suppressed=()):
    rows = np.array([row for rows in members for row in rows], np.int64)
    bounds = np.append(0, np.cumsum([len(rows) for rows in members])).astype(np.int64)
    return Classes(rows, bounds, np.array(suppressed, np.int64))


def between(space, codes, one, other):
    """Distance of two columns of `codes`."""
    result = np.empty(1)
    from_one(space, codes, one, other, 1, 1, result)
    return float(result[0])


class Drawn:
    """What the tests of this folder draw from, and how they read what they get."""

    tables = staticmethod(mixed_tables)
    guards = staticmethod(any_guards)
    starts = staticmethod(starts)
    classes = staticmethod(as_classes)
    between = staticmethod(between)

    @staticmethod
    def members(classes):
        return [classes.members(index).tolist() for index in range(len(classes))]


@pytest.fixture(scope="session")
def drawn():
    return Drawn
