"""The C of both stages leaves the same bits as its Python text, in every array."""

from functools import partial
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from anonloom import Column, Schema, Table
from anonloom.hierarchies import Tree
from anonloom_kernels.comparison import assert_same
from anonloom_kernels.compiled import is_compiled
from anonloom_kernels.height_distance import heights_of
from anonloom_kernels.losses import DENSE, LINE, TREE
from anonloom_oka import one_pass

pytestmark = pytest.mark.skipif(
    not is_compiled("anonloom_oka"), reason="the C was not built: there is nothing to compare with"
)

SMALL = Tree(tree={"north": ["a", "b", "c"], "south": ["d", "e"], "f": None})
#: More leaves than have a table of pairs.
WIDE = Tree(tree={f"g{group}": [f"v{group}-{leaf}" for leaf in range(20)] for group in range(15)})
LEAVES = [f"v{group}-{leaf}" for group in range(15) for leaf in range(20)]


def heights(axes):
    """Distances of a table that has every kind of axis, missing values included."""
    frame = pd.DataFrame(
        {
            "age": [None, *np.linspace(0, 7, len(LEAVES))],
            "town": [None, *np.resize(list("abcdef"), len(LEAVES))],
            "wide": [None, *LEAVES],
            "stay": [None, *np.resize(np.arange(9.0), len(LEAVES))],
        }
    )
    columns = [
        Column(name="age", role="quasi", type="number"),
        Column(name="town", role="quasi", hierarchy=SMALL, weight=0.3),
        Column(name="wide", role="quasi", hierarchy=WIDE),
        Column(name="stay", role="quasi", type="number"),
    ]
    return heights_of(Table.build(frame, Schema(columns[:axes])))


OF_AXES = [heights(axes) for axes in range(5)]


def random_cells(losses, sizes, most, ends, seed):
    """Sorted codes of so many cells, where they begin, and two random numbers for every row.

    `most` is how many codes of an axis occur; `ends` takes the largest ones, of which the last is
    the missing value.
    """
    rng = np.random.default_rng(seed)
    width = np.minimum(losses.size, most)
    codes = rng.integers(0, width, (sum(sizes), len(width))).astype(np.int32)
    codes += ends * (losses.size - width).astype(np.int32)
    owner = np.repeat(np.arange(len(sizes)), sizes)
    order = np.lexsort((*codes.T[::-1], owner))
    draws, turns = rng.random((2, len(codes)))
    return codes[order], np.append(0, np.cumsum(sizes)), draws, turns


def compare(losses, cells, k):
    """Cluster by both; return the labels."""
    compared = partial(assert_same, one_pass.cluster_each)
    with patch.object(one_pass, "cluster_each", compared):
        return one_pass.cluster_cells(losses, *cells, k)


def test_every_kind_of_axis_is_there():
    assert [LINE, DENSE, TREE, LINE] == OF_AXES[4].kind.tolist()


@given(
    axes=st.integers(0, 4),
    sizes=st.lists(st.integers(0, 60), min_size=1, max_size=4),
    most=st.sampled_from([1, 2, 5, 400]),
    ends=st.booleans(),
    k=st.integers(1, 9),
    seed=st.integers(0, 99),
)
@example(4, [1], 5, True, 1, 0)
@example(4, [60], 1, False, 4, 0)
@example(4, [60], 1, True, 4, 0)
@example(4, [7, 0, 9], 5, True, 10**15, 0)
@example(0, [7, 9], 5, False, 2, 0)
@settings(deadline=None, max_examples=150)
def test_clusters_of_random_cells(axes, sizes, most, ends, k, seed):
    cells = random_cells(OF_AXES[axes], sizes, most, ends, seed)

    after, before = compare(OF_AXES[axes], cells, k)

    assert sum(sizes) == len(after) == len(before)
    least = min([k, *filter(None, sizes)])
    assert all(rows >= least for rows in np.unique(after, return_counts=True)[1])


@given(
    bad=st.sampled_from([np.nan, np.inf]),
    share=st.floats(0, 1),
    k=st.integers(1, 5),
    seed=st.integers(0, 99),
)
@settings(deadline=None, max_examples=60)
def test_distances_that_are_no_numbers(bad, share, k, seed):
    """Differences of numbers near the largest there are overflow: rows are clustered all the same."""
    values = OF_AXES[4].values.copy()
    values[np.random.default_rng(seed).random(len(values)) < share] = bad
    cells = random_cells(OF_AXES[4], [30], 9, True, seed)

    after, _ = compare(OF_AXES[4]._replace(values=values), cells, k)

    assert 30 == len(after)


def test_a_part_of_the_cells():
    codes, cells, draws, turns = random_cells(OF_AXES[4], [30, 25, 20, 41], 5, True, 1)
    whole = compare(OF_AXES[4], (codes, cells, draws, turns), 4)

    part = compare(OF_AXES[4], (codes, cells[1:4], draws, turns), 4)

    assert whole[:, 30:75].tolist() == part.tolist()


def test_many_rows_are_equally_far():
    """All distances are equal: the later rows of a large cluster are removed."""
    losses = OF_AXES[1]
    codes = np.zeros((500, 1), np.int32)
    draws, turns = np.random.default_rng(1).random((2, 500))

    after, before = compare(losses, (codes, np.array([0, 500]), draws, turns), 50)

    assert 491 == np.bincount(before).max()
    assert [50] * 10 == np.bincount(after).tolist()
