"""Every kernel leaves the same bits as C and as Python, also of what no method would give it."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom import Column, Schema, Table
from anonloom.hierarchies import Breaks, Tree
from anonloom_kernels.admissible_windows import Windows
from anonloom_kernels.comparison import assert_same
from anonloom_kernels.compiled import is_compiled
from anonloom_kernels.hierarchy_levels import levels_of
from anonloom_kernels.level_order_key import order_blocks, scratch_for
from anonloom_kernels.losses import DENSE, LINE, SET, TREE, losses_of
from anonloom_kernels.optimal_cuts import cut_room_for, divide_all, walk_back

pytestmark = pytest.mark.skipif(
    not is_compiled("anonloom_kernels"),
    reason="the C was not built: there is nothing to compare with",
)

ROWS = 20_000
TOWNS = {"north": ["a", "b", "c"], "south": ["d", "e"], "f": None}
STREETS = {
    f"q{i}": {f"q{i}.{j}": [f"q{i}.{j}.{n}" for n in range(5)] for j in range(6)} for i in range(12)
}
COLUMNS = {
    "far": Column(name="far", role="quasi", type="number"),
    "age": Column(
        name="age", role="quasi", type="number", publish="nodes",
        hierarchy=Breaks(breaks=((2, 4, 9), (4,))),
    ),
    "street": Column(name="street", role="quasi", hierarchy=Tree(tree=STREETS), weight=1.7),
    "town": Column(name="town", role="quasi", hierarchy=Tree(tree=TOWNS)),
    "twin": Column(name="twin", role="quasi", hierarchy=Tree(tree=TOWNS)),
    "drug": Column(
        name="drug", role="quasi", hierarchy=Tree(tree=TOWNS), publish="set", weight=0.3
    ),
    "stay": Column(name="stay", role="quasi", type="number", publish="set"),
    "same": Column(name="same", role="quasi"),
}  # fmt: skip


@cache
def table_of(names, missing):
    """A table with many codes; only its axes are of interest."""
    rng = np.random.default_rng(7)
    towns = list("abcdef")
    streets = [leaf for part in STREETS.values() for leaves in part.values() for leaf in leaves]
    frame = pd.DataFrame(
        {
            "far": rng.permutation(ROWS) / 7,
            "age": rng.integers(0, 12, ROWS),
            "street": [*streets, *rng.choice(streets, ROWS - len(streets))],
            "town": rng.choice(towns, ROWS),
            "twin": rng.choice(towns, ROWS),
            "drug": rng.choice(towns, ROWS),
            "stay": rng.integers(0, 40, ROWS),
            "same": "x",
        }
    ).astype(object)
    if missing:
        frame.iloc[-1] = None
    return Table.build(frame[list(names)], Schema([COLUMNS[name] for name in names]))


@st.composite
def tables(draw):
    names = draw(st.lists(st.sampled_from(list(COLUMNS)), min_size=1, max_size=5, unique=True))
    return table_of(tuple(names), draw(st.booleans()))


@st.composite
def codes_for(draw, table, most=40):
    """Codes of some rows: few different ones, or any, the least and the greatest among them."""
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    rows = draw(st.sampled_from([1, 2, 3, 7, 20, most]))
    codes = np.empty((len(table.axes), rows), np.int32)
    for index, axis in enumerate(table.axes):
        kinds = draw(st.sampled_from([1, 2, 4, 1000]))
        pool = np.append(rng.integers(0, axis.size, kinds), [axis.size - 1, 0])[-max(1, kinds) :]
        codes[index] = rng.choice(pool, rows)
    return codes, rng


def offsets(data, rows):
    """Bounds of blocks, of which some may be empty."""
    inner = data.draw(st.lists(st.integers(0, rows), max_size=3), "inner bounds")
    return np.array([0, *sorted(inner), rows], np.int64)


def test_all_kinds_of_losses_are_there():
    losses = losses_of(table_of(tuple(COLUMNS), True))

    assert {LINE, DENSE, TREE, SET} == set(losses.kind.tolist())


# --- order_blocks --------------------------------------------------------------------------------

PREFERENCES = [1.0, 0.0, 0.37, 1e-300, 1e300, np.inf, np.nan]


@given(table=tables(), data=st.data(), bits=st.sampled_from([0.75, 0.0, 1.2, -1.0, 1e3, np.nan]))
@settings(deadline=None, max_examples=150)
def test_order_blocks(table, data, bits):
    codes, rng = data.draw(codes_for(table), "codes")
    axes, rows = codes.shape
    weights = data.draw(
        st.sampled_from([np.ones(rows, np.int64), rng.integers(1, 2**31, rows)]), "weights"
    )
    preference = rng.choice(PREFERENCES, axes) if data.draw(st.booleans()) else np.ones(axes)
    order, levels = rng.permutation(rows), levels_of(table)

    assert_same(
        order_blocks, codes, weights, losses_of(table), levels, order, offsets(data, rows),
        preference, bits, scratch_for(levels, rows),
    )  # fmt: skip

    assert list(range(rows)) == sorted(order.tolist())


@pytest.mark.parametrize("rows", [30, 400, 2000])
@pytest.mark.parametrize("pattern", ["up", "down", "few", "ends", "squares", "random"])
def test_order_blocks_sorts_codes_that_are_far_apart(pattern, rows):
    table = table_of(("far",), True)
    size = table.axes[0].size
    place, rng = np.arange(rows), np.random.default_rng(2)
    codes = {
        "up": place * size // rows,
        "down": (rows - 1 - place) * size // rows,
        "few": place % 3 * (size // 3),
        "ends": place % 2 * (size - 1),
        "squares": (place * place * 17) % size,
        "random": rng.integers(0, size, rows),
    }[pattern]
    levels = levels_of(table)

    assert_same(
        order_blocks, codes.astype(np.int32)[None].copy(), rng.integers(1, 9, rows),
        losses_of(table), levels, np.arange(rows), np.array([0, rows]), np.ones(1), 0.75,
        scratch_for(levels, rows),
    )  # fmt: skip


@pytest.mark.parametrize("more", [0.0, 5e-13, 5e-12])
def test_order_blocks_where_two_parts_gain_nearly_the_same(more):
    table = table_of(("town", "twin"), False)
    codes = np.array([[0, 0, 3, 4, 5, 5], [5, 5, 4, 3, 0, 0]], np.int32)
    levels, rows = levels_of(table), np.arange(6)

    assert_same(
        order_blocks, codes, np.ones(6, np.int64), losses_of(table), levels, rows.copy(),
        np.array([0, 6]), np.array([1.0, 1.0 + more]), 0.75, scratch_for(levels, 6),
    )  # fmt: skip


# --- divide_all ----------------------------------------------------------------------------------


@st.composite
def windows_for(draw, rows, rng):
    least = draw(st.integers(1, 6))
    most = 2 * least - 1
    by_size = rng.random(most + 1) < draw(st.sampled_from([0.5, 1.0]))
    column, admitted = np.full(most + 1, -1), np.empty((0, 0), bool)
    starts = stops = np.empty(0, np.int64)
    if draw(st.booleans()):
        asked = np.flatnonzero(rng.random(most + 1) < 0.7)
        column[asked] = np.arange(len(asked))
        admitted = rng.random((rows, len(asked))) < draw(st.sampled_from([0.0, 0.3, 1.0]))
    if draw(st.booleans()):
        ends = np.sort(rng.integers(0, rows + 1, (draw(st.sampled_from([1, 30])), 2)), axis=1)
        ends = ends[ends[:, 0] < ends[:, 1]]
        starts, stops = ends[np.argsort(ends[:, 1], kind="stable")].T.copy()
    return Windows(least, most, by_size, column, admitted, starts, stops)


@given(table=tables(), data=st.data())
@settings(deadline=None, max_examples=150)
def test_divide_all(table, data):
    codes, rng = data.draw(codes_for(table), "codes")
    rows, bounds = codes.shape[1], offsets(data, codes.shape[1])
    losses = losses_of(table)

    assert_same(
        divide_all, losses, np.ascontiguousarray(codes.T), bounds,
        data.draw(windows_for(rows, rng), "windows"), np.empty(rows + 1),
        np.zeros(rows + 1, np.int64), np.empty(len(bounds) - 1), cut_room_for(losses),
    )  # fmt: skip


@pytest.mark.parametrize("rows", [0, 1, 4, 9])
def test_divide_all_without_axes(rows):
    table = Table.build(
        pd.DataFrame({"x": list("abc")}), Schema([Column(name="x", role="sensitive")])
    )
    losses, empty = losses_of(table), np.empty(0, np.int64)
    windows = Windows(
        2, 3, np.array([0, 0, 1, 1], bool), np.full(4, -1), np.empty((0, 0), bool), empty, empty
    )

    assert_same(
        divide_all, losses, np.empty((rows, 0), np.int32), np.array([0, rows]), windows,
        np.empty(rows + 1), np.zeros(rows + 1, np.int64), np.empty(1), cut_room_for(losses),
    )  # fmt: skip


# --- walk_back -----------------------------------------------------------------------------------


@given(
    sizes=st.lists(st.integers(1, 5), min_size=1, max_size=30),
    begin=st.integers(0, 31),
    end=st.integers(0, 30),
)
def test_walk_back(sizes, begin, end):
    end = min(end, len(sizes) - 1)

    count = assert_same(walk_back, np.array(sizes), begin, end, np.empty(len(sizes) - 1, np.int64))

    assert (count > 0) == (end > begin)
