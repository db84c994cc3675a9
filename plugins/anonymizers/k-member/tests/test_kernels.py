"""The C of the clustering leaves the same bits as its Python text, in every array."""

from functools import partial
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from anonloom import Column, Schema, Table
from anonloom.hierarchies import Tree
from anonloom_k_member import greedy
from anonloom_kernels.comparison import assert_same
from anonloom_kernels.compiled import is_compiled
from anonloom_kernels.height_distance import heights_of
from anonloom_kernels.losses import DENSE, LINE, SET, TREE, losses_of

pytestmark = pytest.mark.skipif(
    not is_compiled("anonloom_k_member"),
    reason="the C was not built: there is nothing to compare with",
)

SMALL = Tree(tree={"north": ["a", "b", "c"], "south": ["d", "e"], "f": None})
#: More leaves than have a table of pairs.
WIDE = Tree(tree={f"g{group}": [f"v{group}-{leaf}" for leaf in range(20)] for group in range(15)})
LEAVES = [f"v{group}-{leaf}" for group in range(15) for leaf in range(20)]


def losses(axes, measure=losses_of):
    """Losses of a table that has every kind of axis, missing values included."""
    frame = pd.DataFrame(
        {
            "age": [None, *np.linspace(0, 7, len(LEAVES))],
            "town": [None, *np.resize(list("abcdef"), len(LEAVES))],
            "wide": [None, *LEAVES],
            "set": [None, *np.resize(list("abcdef"), len(LEAVES))],
            "stay": [None, *np.resize(np.arange(9.0), len(LEAVES))],
        }
    )
    columns = [
        Column(name="age", role="quasi", type="number"),
        Column(name="town", role="quasi", hierarchy=SMALL, publish="nodes"),
        Column(name="wide", role="quasi", hierarchy=WIDE, publish="nodes"),
        Column(name="set", role="quasi", hierarchy=SMALL, publish="set", weight=0.3),
        Column(name="stay", role="quasi", type="number", publish="set"),
    ]
    return measure(Table.build(frame, Schema(columns[:axes])))


OF_AXES = {
    measure: [losses(axes, measure) for axes in range(6)] for measure in (losses_of, heights_of)
}


def random_cells(of_axes, sizes, most, ends, seed):
    """Points of so many cells: codes, first rows, cells, starts and draws.

    `most` is how many codes of an axis occur; `ends` takes the largest ones, of which the last is
    the missing value.
    """
    rng = np.random.default_rng(seed)
    parts, weights, cells = [], [], [0]
    for size in sizes:
        width = np.minimum(of_axes.size, most)
        codes = rng.integers(0, width, (size, len(width))).astype(np.int32)
        codes += ends * (of_axes.size - width).astype(np.int32)
        # Without any axis all rows are equal.
        points, rows = codes[:1], np.array([size][: len(codes)])
        if len(width):
            points, rows = np.unique(codes, axis=0, return_counts=True)
        parts.append(points)
        weights.append(rows)
        cells.append(cells[-1] + len(rows))
    cells = np.array(cells, np.int64)
    first = np.append(0, np.cumsum(np.concatenate(weights))).astype(np.int64)
    starts = cells[:-1] + (rng.random(len(sizes)) * np.diff(cells)).astype(np.int64)
    return np.concatenate(parts), first, cells, starts, rng.random(first[-1])


def compare(of_axes, cells, k, dense):
    """Cluster by both; return the labels."""
    compared = partial(assert_same, greedy.cluster_each)
    with patch.object(greedy, "cluster_each", compared):
        return greedy.cluster_cells(of_axes, *cells, k, dense)


def test_every_kind_of_axis_is_there():
    assert [LINE, DENSE, TREE, SET, SET] == OF_AXES[losses_of][5].kind.tolist()


@given(
    measure=st.sampled_from([losses_of, heights_of]),
    axes=st.integers(0, 5),
    sizes=st.lists(st.integers(0, 40), min_size=1, max_size=4),
    most=st.sampled_from([1, 2, 5, 400]),
    ends=st.booleans(),
    k=st.integers(1, 9),
    dense=st.booleans(),
    seed=st.integers(0, 99),
)
@example(losses_of, 5, [1], 5, True, 1, True, 0)
@example(losses_of, 5, [30], 1, False, 4, False, 0)
@example(losses_of, 5, [7, 0, 9], 5, True, 10**15, True, 0)
@example(losses_of, 0, [7, 9], 5, False, 2, True, 0)
@settings(deadline=None, max_examples=150)
def test_clusters_of_random_cells(measure, axes, sizes, most, ends, k, dense, seed):
    of_axes = OF_AXES[measure][axes]
    cells = random_cells(of_axes, sizes, most, ends, seed)

    result = compare(of_axes, cells, k, dense)

    assert sum(sizes) == len(result)
    least = min([k, *filter(None, sizes)])
    assert all(rows >= least for rows in np.unique(result, return_counts=True)[1])


@given(
    bad=st.sampled_from([np.nan, np.inf]),
    share=st.floats(0, 1),
    k=st.integers(1, 5),
    dense=st.booleans(),
    seed=st.integers(0, 99),
)
@settings(deadline=None, max_examples=60)
def test_losses_that_are_no_numbers(bad, share, k, dense, seed):
    """Differences of numbers near the largest there are overflow: rows are clustered all the same."""
    of_axes = OF_AXES[losses_of][5]
    values = of_axes.values.copy()
    values[np.random.default_rng(seed).random(len(values)) < share] = bad
    cells = random_cells(of_axes, [30], 9, True, seed)

    result = compare(of_axes._replace(values=values), cells, k, dense)

    assert 30 == len(result)


def test_a_part_of_the_cells():
    of_axes = OF_AXES[losses_of][5]
    codes, first, cells, starts, draws = random_cells(of_axes, [30, 25, 20, 41], 5, True, 1)
    whole = compare(of_axes, (codes, first, cells, starts, draws), 4, True)

    part = compare(of_axes, (codes, first, cells[1:4], starts[1:3], draws), 4, True)

    assert whole[30:75].tolist() == part.tolist()
