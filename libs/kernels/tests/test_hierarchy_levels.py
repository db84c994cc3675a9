"""Levels divide the codes of an axis as its hierarchy does, and only where they divide further."""

import pandas as pd
import pytest

from anonloom import Column, Schema, Table
from anonloom.hierarchies import Breaks, Tree
from anonloom_kernels.hierarchy_levels import axis_levels, levels_of

TOWNS = {"north": ["a", "b", "c"], "south": ["d", "e"], "f": None}


def one_axis(cells, **column):
    frame = pd.DataFrame({"q": pd.Series(cells, dtype=object)})
    return Table.build(frame, Schema([Column(name="q", role="quasi", **column)]))


@pytest.mark.parametrize(
    ("cells", "column", "expected"),
    [
        ("abcdef", {"hierarchy": Tree(tree=TOWNS)}, [[0, 0, 0, 1, 1, 2], [0, 1, 2, 3, 4, 5]]),
        ("abcdef", {"hierarchy": Tree(tree=TOWNS), "publish": "set"}, [[0, 0, 0, 1, 1, 2], [0, 1, 2, 3, 4, 5]]),
        ("abc", {}, [[0, 1, 2]]),
        ("a", {}, []),
        ([None], {}, []),
        (["a", None], {}, [[0, 1]]),
        ([*"abd", None], {"hierarchy": Tree(tree=TOWNS)}, [[0, 0, 1, 2], [0, 1, 2, 3]]),
        ("abc", {"hierarchy": Tree(tree=TOWNS)}, [[0, 1, 2]]),
        ("adf", {"hierarchy": Tree(tree=TOWNS)}, [[0, 1, 2]]),
        ([1, 2, 9], {"type": "number"}, []),
        ([1, 2, 9], {"type": "number", "publish": "set"}, []),
        ([1, 2, 9], {"type": "number", "hierarchy": Breaks(breaks=((5,),)), "publish": "nodes"}, [[0, 0, 1], [0, 1, 2]]),
        ([1, 2, 9], {"type": "number", "hierarchy": Breaks(breaks=((5,),)), "publish": "interval"}, []),
    ],
)  # fmt: skip
def test_levels_of_an_axis(cells, column, expected):
    axis = one_axis(list(cells), **column).axes[0]

    assert expected == [digits.tolist() for digits in axis_levels(axis)]


def test_levels_of_a_table_stand_one_behind_the_other():
    frame = pd.DataFrame({"town": list("abdf"), "age": [1, 2, 3, 4], "sex": list("ffmm")})
    table = Table.build(
        frame,
        Schema(
            [
                Column(name="town", role="quasi", hierarchy=Tree(tree=TOWNS)),
                Column(name="age", role="quasi", type="number"),
                Column(name="sex", role="quasi"),
            ]
        ),
    )

    levels = levels_of(table)

    assert [2, 0, 1] == levels.depth.tolist()
    assert [0, 8, 8] == levels.start.tolist()
    assert [4, 4, 2] == levels.size.tolist()
    assert [[3, 4], [0, 0], [2, 0]] == levels.cells.tolist()
    assert [0, 0, 1, 2, 0, 1, 2, 3, 0, 1] == levels.digits.tolist()


def test_a_table_without_axes_has_no_levels():
    table = Table.build(pd.DataFrame({"x": ["a"]}), Schema([Column(name="x", role="sensitive")]))

    assert (0, 1) == levels_of(table).cells.shape
    assert [] == levels_of(table).digits.tolist()
