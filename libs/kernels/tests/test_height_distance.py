"""Distance by height: numbers by their difference, categories by their lowest common node."""

import numpy as np
import pandas as pd
import pytest

from anonloom import Column, Schema, Table
from anonloom.hierarchies import Tree
from anonloom_kernels import height_distance, losses
from anonloom_kernels.height_distance import heights_of
from anonloom_kernels.losses import extent_loss

TOWNS = {"north": {"coast": ["a", "b"], "hills": ["c", "d"]}, "south": ["e"], "f": None}


def table_of(cells, **column):
    return Table.build(
        pd.DataFrame({"q": cells}), Schema([Column(name="q", role="quasi", **column)])
    )


def distances(table):
    """Distance of every pair of codes of the only axis."""
    measure, size = heights_of(table), table.axes[0].size
    pairs = [(min(i, j), max(i, j)) for i in range(size) for j in range(size)]
    results = [extent_loss(measure, 0, lo, hi) for lo, hi in pairs]
    return np.reshape(results, (size, size))


@pytest.mark.parametrize("form", ["nodes", "set"])
@pytest.mark.parametrize("dense", [True, False])
def test_categories_are_as_far_apart_as_their_common_node_is_high(form, dense, monkeypatch):
    """Whatever the form, and whether pairs stand in a table or are found level by level."""
    monkeypatch.setattr(height_distance, "DENSE_CODES", losses.DENSE_CODES if dense else 0)
    table = table_of([*"abcdef", None], hierarchy=Tree(tree=TOWNS), publish=form)

    ab, hills, no = 1 / 3, 2 / 3, 1.0
    assert [
        [0, ab, hills, hills, no, no, no],
        [ab, 0, hills, hills, no, no, no],
        [hills, hills, 0, ab, no, no, no],
        [hills, hills, ab, 0, no, no, no],
        [no, no, no, no, 0, no, no],
        [no, no, no, no, no, 0, no],
        [no, no, no, no, no, no, 0],
    ] == distances(table).tolist()


@pytest.mark.parametrize("form", ["interval", "set"])
def test_numbers_are_as_far_apart_as_their_difference(form):
    table = table_of([2, 4, 10, None], type="number", publish=form)

    assert [
        [0, 0.25, 1, 1],
        [0.25, 0, 0.75, 1],
        [1, 0.75, 0, 1],
        [1, 1, 1, 0],
    ] == distances(table).tolist()


@pytest.mark.parametrize("kind", ["number", "category"])
def test_a_constant_column_and_an_empty_one_tell_nothing_apart(kind):
    assert [[0]] == distances(table_of([5, 5], type=kind)).tolist()
    assert [[0]] == distances(table_of([None, None], type=kind)).tolist()
