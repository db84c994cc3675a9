"""Compiled losses say what the axes say: for every pair of codes, form, type and weight."""

import numpy as np
import pandas as pd
import pytest

from anonloom import Column, Schema, Table
from anonloom.hierarchies import Breaks, Tree
from anonloom_kernels.losses import (
    DENSE,
    DENSE_CODES,
    LINE,
    SET,
    TREE,
    extent_loss,
    losses_of,
    set_loss,
)

TOWNS = {"north": ["a", "b", "c"], "south": ["d", "e"], "f": None}
MANY = DENSE_CODES + 44
#: Groups of 7, most of them under one of three lands, the others directly under the root.
WARDS = {
    f"land {land}": {
        f"group {group}": [f"w{ward:03}" for ward in range(7 * group, min(7 * group + 7, MANY))]
        for group in range(14 * land, 14 * land + 14)
    }
    for land in range(3)
} | {f"w{ward:03}": None for ward in range(7 * 42, MANY)}


def one_column(cells, **column):
    frame = pd.DataFrame({"q": pd.Series(cells, dtype=object), "other": "same"})
    weighted = Column(name="other", role="quasi", weight=3.0)
    return Table.build(frame, Schema([Column(name="q", role="quasi", **column), weighted]))


NUMBERS = [3.5, -2, 0, 8, 40, 41]
DAYS = ["2020-02-29", "2021-01-01", "1999-12-31", "2020-03-01"]
WARD_NAMES = [f"w{ward:03}" for ward in range(MANY)]
BINS = Breaks(breaks=((0, 3, 9, 40), (9,)))
MANY_BINS = Breaks(breaks=(tuple(range(0, MANY, 5)), (100, 200)))

COLUMNS = {
    "interval": (LINE, NUMBERS, {"type": "number"}),
    "interval over bins": (
        LINE,
        NUMBERS,
        {"type": "number", "hierarchy": BINS, "publish": "interval"},
    ),
    "bins": (DENSE, NUMBERS, {"type": "number", "hierarchy": BINS, "publish": "nodes"}),
    "set of numbers": (SET, NUMBERS, {"type": "number", "publish": "set"}),
    "dates": (DENSE, DAYS, {"type": "date"}),
    "interval of dates": (LINE, DAYS, {"type": "date", "publish": "interval"}),
    "tree": (DENSE, list("abcdef"), {"hierarchy": Tree(tree=TOWNS)}),
    "flat": (DENSE, list("abc"), {}),
    "set": (SET, list("abcdef"), {"hierarchy": Tree(tree=TOWNS), "publish": "set"}),
    "constant": (DENSE, ["a"], {}),
    "constant number": (LINE, [7], {"type": "number"}),
    "constant set": (SET, ["a"], {"publish": "set"}),
    "many numbers": (LINE, list(range(MANY)), {"type": "number"}),
    "many bins": (
        TREE,
        list(range(MANY)),
        {"type": "number", "hierarchy": MANY_BINS, "publish": "nodes"},
    ),
    "large tree": (TREE, WARD_NAMES, {"hierarchy": Tree(tree=WARDS)}),
    "many flat": (TREE, WARD_NAMES, {}),
    "large set": (SET, WARD_NAMES, {"publish": "set"}),
}


@pytest.mark.parametrize("missing", [False, True], ids=["complete", "missing"])
@pytest.mark.parametrize("name", COLUMNS)
def test_every_extent_loses_what_the_axis_says(name, missing):
    kind, cells, column = COLUMNS[name]
    table = one_column([*cells, None] if missing else cells, **column)
    axis, losses = table.axes[0], losses_of(table)
    lo, hi = np.triu_indices(axis.size)

    results = [extent_loss(losses, 0, *ends) for ends in zip(lo, hi, strict=True)]

    assert kind == losses.kind[0]
    np.testing.assert_allclose(results, axis.loss(lo, hi) / 4, rtol=0, atol=1e-12)


@pytest.mark.parametrize("missing", [False, True], ids=["complete", "missing"])
@pytest.mark.parametrize("name", [name for name in COLUMNS if COLUMNS[name][0] == SET])
def test_every_set_loses_what_the_axis_says(name, missing):
    """A set that mixes missing and values is published as `*`; missing alone loses nothing."""
    _, cells, column = COLUMNS[name]
    table = one_column([*cells, None] if missing else cells, **column)
    axis, losses = table.axes[0], losses_of(table)
    counts = np.arange(1, axis.value_count + 1)

    pure = [set_loss(losses, 0, count, False) for count in counts]
    np.testing.assert_allclose(pure, axis.set_loss(counts) / 4, rtol=0, atol=1e-12)
    if missing:
        mixed = [set_loss(losses, 0, count, True) for count in [1, *(counts + 1)]]
        assert [0.0, *[0.25] * len(counts)] == mixed


@pytest.mark.parametrize("form", ["nodes", "set", "interval"])
def test_an_axis_without_any_value_loses_nothing(form):
    kind = "number" if form == "interval" else "category"
    table = one_column([None, None], type=kind, publish=form)

    assert 0.0 == extent_loss(losses_of(table), 0, 0, 0)


def test_shares_sum_to_one():
    table = one_column(NUMBERS, type="number", weight=2.0)

    assert [0.4, 0.6] == losses_of(table).share.tolist()


def test_a_table_without_axes_has_no_losses():
    table = Table.build(
        pd.DataFrame({"x": [1]}), Schema([Column(name="x", role="sensitive", type="number")])
    )

    assert [0] * 9 == [len(part) for part in losses_of(table) if part is not None][:9]
