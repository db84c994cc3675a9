"""The C of every kernel leaves the same bits everywhere as its Python text."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from anonloom import Column, Schema, Table
from anonloom.hierarchies import Tree
from anonloom_kernels.comparison import assert_same
from anonloom_kernels.compiled import is_compiled
from anonloom_tada.impurity import counts_for, terms
from anonloom_tada.split_scores import Trees, divide, room_for, score_splits, trees_of
from anonloom_tada.targets import Targets, for_clusters, for_labels

pytestmark = pytest.mark.skipif(
    not is_compiled("anonloom_tada"),
    reason="the C was not built: there is nothing to compare with",
)

#: Where two NaN of different signs meet, the processor takes the first, and C says not which it is.
FLOATS = (
    st.floats(-10, 10),
    st.sampled_from([0.0, -0.0, 1.5, -7.25, 1e200, np.inf, -np.inf]),
    st.sampled_from([0.0, -0.0, 1.5, -7.25, np.nan]),
)

TOWNS = {"north": ["a", "b", "c"], "south": {"near": ["d", "e"], "g": None}, "f": None}


@st.composite
def trees(draw, sizes):
    """Numbers and categories, each with or without a missing value; any ancestors will do."""
    levels = draw(st.lists(st.integers(0, 3), min_size=len(sizes), max_size=len(sizes)))
    lengths = [size * count for size, count in zip(sizes, levels, strict=True)]
    missing = [draw(st.sampled_from([-1, size - 1])) for size in sizes]
    return Trees(
        np.cumsum([0, *lengths], dtype=np.int64)[:-1],
        np.array(levels, np.int64),
        np.array(sizes, np.int64),
        np.array(missing, np.int64),
        draw(arrays(np.int32, sum(lengths), elements=st.sampled_from([0, 1, 2, 2**31 - 1]))),
    )


@st.composite
def targets(draw, points):
    """Categories with unknown values, and numbers that may be endless or none."""
    sizes = draw(st.lists(st.integers(1, 3), max_size=3))
    values = [draw(arrays(np.int32, points, elements=st.integers(-1, size - 1))) for size in sizes]
    numbers = draw(st.integers(0, 2))
    floats = draw(st.sampled_from(FLOATS))
    return Targets(
        np.array(values, np.int32).reshape(len(sizes), points),
        np.cumsum([0, *sizes], dtype=np.int64),
        draw(arrays(bool, len(sizes))),
        draw(arrays(float, len(sizes), elements=st.floats(0, 2))),
        draw(arrays(np.int64, (numbers, points), elements=st.integers(0, 3))),
        draw(arrays(float, (numbers, points), elements=floats)),
        draw(arrays(float, (numbers, points), elements=floats)),
        draw(arrays(float, numbers, elements=st.floats(0, 2))),
    )


@st.composite
def levels_of_nodes(draw):
    """Points in nodes, those of each in the order of their codes along every axis."""
    points = draw(st.integers(1, 14))
    sizes = draw(st.lists(st.integers(1, 6), min_size=1, max_size=3))
    codes = np.array(
        [draw(arrays(np.int32, points, elements=st.integers(0, size - 1))) for size in sizes]
    )
    cuts = draw(st.sets(st.integers(1, points), max_size=3))
    bounds = np.array(sorted({0, points} | cuts), np.int64)
    mixed = np.array(draw(st.permutations(range(points))), np.int32)
    orders = np.empty(codes.shape, np.int32)
    for begin, end in pairwise(bounds):
        own = mixed[begin:end]
        for axis, column in enumerate(codes):
            orders[axis, begin:end] = own[np.argsort(column[own], kind="stable")]
    return bounds, orders, codes, sizes


@given(level=levels_of_nodes(), data=st.data())
@settings(deadline=None)
def test_splits_are_scored_alike(level, data):
    bounds, orders, codes, sizes = level
    points, nodes = codes.shape[1], len(bounds) - 1
    ways, aims = data.draw(trees(sizes)), data.draw(targets(points))
    weight = data.draw(arrays(np.int64, points, elements=st.integers(1, 4)))
    rows = int(weight.sum())
    counts = counts_for(aims)

    assert_same(
        score_splits,
        bounds[:-1],
        bounds[1:],
        data.draw(arrays(bool, (nodes, len(sizes)))),
        orders,
        codes,
        weight,
        ways,
        aims,
        terms(rows),
        data.draw(arrays(bool, rows + 1)),
        counts,
        np.full(nodes, 7.0),
        room_for(int(ways.most(np.diff(bounds)).sum())),
    )

    assert not counts.whole.any()
    assert not counts.part.any()


@given(level=levels_of_nodes(), data=st.data())
@settings(deadline=None)
def test_nodes_are_divided_alike(level, data):
    """Also where everything is taken out of a node, or nothing."""
    bounds, orders, codes, sizes = level
    nodes = len(bounds) - 1
    axis = data.draw(arrays(np.int64, nodes, elements=st.integers(0, len(sizes) - 1)))
    ends = st.sampled_from([-(2**31), 0, 1, 3, 2**31 - 1])
    begin, end = (data.draw(arrays(np.int32, nodes, elements=ends)) for _ in range(2))
    longest = int(np.diff(bounds).max())

    assert_same(
        divide,
        orders,
        codes,
        bounds[:-1],
        bounds[1:],
        axis,
        begin,
        end,
        np.full(nodes, 7, np.int64),
        np.full(longest, 7, np.int32),
    )

    assert (np.sort(orders, axis=1) == np.arange(codes.shape[1])).all()


@pytest.mark.parametrize("gain", ["entropy", "gini", "clusters"])
def test_the_splits_of_a_table_are_scored_alike(gain):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "age": np.where(rng.random(200) < 0.1, np.nan, rng.integers(0, 40, 200)),
            "town": pd.Series(rng.choice([None, *"abcdefg"], 200), dtype=object),
            "risk": pd.Series(rng.choice([None, "yes", "no"], 200), dtype=object),
            "cost": rng.normal(size=200),
        }
    )
    columns = [
        Column(name="age", role="quasi", type="number"),
        Column(name="town", role="quasi", hierarchy=Tree(tree=TOWNS)),
        Column(name="risk", role="label"),
        Column(name="cost", role="label", type="number"),
    ]
    table = Table.build(frame, Schema(columns))
    if gain == "clusters":
        weighted, aims = for_clusters(table, table.whole())
    else:
        kinds = {"risk": 1.0, "cost": 2.0}
        weighted, aims = for_labels(table, table.whole(), kinds, "auto")
        aims = aims._replace(entropy=np.full(len(aims.entropy), gain == "entropy"))
    ways, points = trees_of(table), len(weighted.weight)
    found = room_for(int(ways.most(np.array([points])).sum()))

    splits = assert_same(
        score_splits,
        np.array([0]),
        np.array([points]),
        np.ones((1, 2), bool),
        weighted.orders(),
        weighted.codes,
        weighted.weight,
        ways,
        aims,
        terms(200),
        np.arange(201) >= 10,
        counts_for(aims),
        np.empty(1),
        found,
    )

    assert splits > 20
    assert (found.score[:splits] <= 1).all()
