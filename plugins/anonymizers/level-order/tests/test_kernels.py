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
from anonloom_kernels.level_order_key import scratch_for
from anonloom_kernels.losses import losses_of
from anonloom_kernels.optimal_cuts import cut_room_for
from anonloom_level_order.recut import Trials, recut_groups
from anonloom_level_order.search import Attempts, look_ahead

pytestmark = pytest.mark.skipif(
    not is_compiled("anonloom_level_order"),
    reason="the C was not built: there is nothing to compare with",
)

ROWS = 3000
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
    "drug": Column(
        name="drug", role="quasi", hierarchy=Tree(tree=TOWNS), publish="set", weight=0.3
    ),
    "stay": Column(name="stay", role="quasi", type="number", publish="set"),
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
            "drug": rng.choice(towns, ROWS),
            "stay": rng.integers(0, 40, ROWS),
        }
    ).astype(object)
    if missing:
        frame.iloc[-1] = None
    frame["illness"] = "x"
    columns = [COLUMNS[name] for name in names]
    return Table.build(
        frame[[*names, "illness"]], Schema([*columns, Column(name="illness", role="sensitive")])
    )


@st.composite
def tables(draw):
    names = draw(st.lists(st.sampled_from(list(COLUMNS)), max_size=5, unique=True))
    return table_of(tuple(names), draw(st.booleans()))


@st.composite
def codes_for(draw, table):
    """Codes of some rows: few different ones, or any, the least and the greatest among them."""
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    rows = draw(st.sampled_from([1, 2, 5, 12, 25, 40]))
    codes = np.empty((len(table.axes), rows), np.int32)
    for index, axis in enumerate(table.axes):
        kinds = draw(st.sampled_from([1, 2, 4, 1000]))
        pool = np.append(rng.integers(0, axis.size, kinds), [axis.size - 1, 0])[-max(1, kinds) :]
        codes[index] = rng.choice(pool, rows)
    return codes, rng


@st.composite
def windows_of_sizes(draw, rng):
    """Windows by size; some sizes may be forbidden, so that no division is left."""
    least = draw(st.integers(1, 6))
    by_size = rng.random(2 * least) < draw(st.sampled_from([0.5, 1.0]))
    none = np.empty(0, np.int64)
    return Windows(
        least, 2 * least - 1, by_size, np.full(2 * least, -1), np.empty((0, 0), bool), none, none
    )


@given(
    table=tables(),
    data=st.data(),
    tried=st.sampled_from([1, 2, 6, 50]),
    bits=st.sampled_from([0.75, 0.0, 1.2]),
)
@settings(deadline=None, max_examples=100)
def test_look_ahead(table, data, tried, bits):
    codes, rng = data.draw(codes_for(table), "codes")
    axes, rows = codes.shape
    inner = data.draw(st.lists(st.integers(0, rows), max_size=2), "inner bounds")
    bounds = np.array([0, *sorted(inner), rows], np.int64)
    order, losses, levels = rng.permutation(rows), losses_of(table), levels_of(table)
    room = scratch_for(levels, rows)
    attempts = Attempts(
        np.empty(tried, np.int64),
        np.empty(tried, np.int64),
        np.empty(rows, np.int64),
        np.empty((rows, axes), np.int32),
        np.empty(rows + 1),
        np.empty(rows + 1, np.int64),
        np.empty_like(room.stack),
    )

    assert_same(
        look_ahead, codes, np.ones(rows, np.int64), losses, levels, order, bounds,
        data.draw(windows_of_sizes(rng), "windows"), np.ones(axes), bits, room, attempts,
        cut_room_for(losses),
    )  # fmt: skip

    assert list(range(rows)) == sorted(order.tolist())


PREFERENCES = [1.0, 0.0, 0.37, 1e-300, 1e300, np.inf, np.nan]


@given(table=tables(), data=st.data(), tries=st.integers(0, 3), base=st.integers(0, 5))
@settings(deadline=None, max_examples=100)
def test_recut_groups(table, data, tries, base):
    codes, rng = data.draw(codes_for(table), "codes")
    axes, rows = codes.shape
    inside = np.arange(1, rows)
    starts = inside[rng.random(rows - 1) < data.draw(st.sampled_from([0.0, 0.2, 1.0]))]
    edges = np.concatenate([[0], starts, [rows]])
    between = np.arange(1, len(edges) - 1)
    groups = base + np.concatenate([[0], between[rng.random(len(between)) < 0.4], [len(edges) - 1]])
    taken = np.zeros(rows + 1, np.int64)
    taken[edges[1:]] = np.diff(edges)
    count, losses, levels = len(groups) - 1, losses_of(table), levels_of(table)
    trials = Trials(
        np.empty(rows, np.int64),
        np.empty((rows, axes), np.int32),
        np.empty(rows + 1),
        np.zeros(rows + 1, np.int64),
    )
    odd = rng.choice(PREFERENCES, (count, tries, axes))
    usual = np.exp(rng.normal(0, 1, (count, tries, axes)))
    order = np.arange(rows)

    assert_same(
        recut_groups, codes, np.ones(rows, np.int64), losses, levels, edges, groups,
        data.draw(st.sampled_from([usual, odd]), "preference"), rng.uniform(0, 2, (count, tries)),
        data.draw(windows_of_sizes(rng), "windows"), order, taken[1:],
        scratch_for(levels, rows), trials, cut_room_for(losses),
    )  # fmt: skip

    assert list(range(rows)) == sorted(order.tolist())
