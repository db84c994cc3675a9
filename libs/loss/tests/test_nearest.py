"""The nearest class by loss: pruned search against every pair."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom import Classes, Column, Schema, Table
from anonloom_loss import nearest


def every_pair(table, classes, some, parent):
    """Loss of the union with every other class of the parent, times its rows; the first least."""
    lo, hi = classes.extents(table.codes)
    results = []
    for item in some:
        loss = np.zeros(len(classes))
        for index, axis in enumerate(table.axes):
            first = np.minimum(lo[item, index], lo[:, index])
            last = np.maximum(hi[item, index], hi[:, index])
            loss += axis.weight * axis.loss(first, last)
        cost = loss * (classes.sizes[item] + classes.sizes)
        cost[(np.arange(len(classes)) == item) | (parent != parent[item])] = np.inf
        results.append(int(cost.argmin()))
    return results


@pytest.mark.parametrize("form", ["interval", "nodes", "set"])
@settings(max_examples=25)
@given(seed=st.integers(0, 10_000), count=st.integers(4, 200), parents=st.integers(1, 4))
def test_blocks_that_stay_closed_hold_nothing_nearer(form, seed, count, parents):
    """Also with ties, missing values, weights, and classes of several parents in one block."""
    rng = np.random.default_rng(seed)
    n = count * 3
    place = rng.integers(0, 12, n).astype(float)
    schema = Schema(
        (
            Column(name="age", role="quasi", type="number", weight=2.0),
            Column(name="town", role="quasi", publish=form if form != "interval" else None),
            Column(name="visit", role="quasi", type="number", missing="own"),
        )
    )
    visit = np.where(rng.random(n) < 0.1, np.nan, rng.integers(0, 5, n))
    frame = pd.DataFrame({"age": place, "town": rng.choice(list("abcde"), n), "visit": visit})
    table = Table.build(frame, schema)
    labels = np.append(np.arange(count), rng.integers(0, count, n - count))
    classes = Classes.from_labels(labels)
    # Everybody has company in their own parent.
    parent = np.arange(count) // 2 % parents

    some = rng.permutation(count)[: rng.integers(1, count)]
    some = some[np.bincount(parent)[parent[some]] > 1]

    assert (
        every_pair(table, classes, some, parent)
        == nearest.nearest_classes(table, classes, some, parent).tolist()
    )


def test_a_limit_of_open_blocks_still_finds_a_class_of_the_parent(monkeypatch):
    monkeypatch.setattr(nearest, "_OPENED", 2)
    rng = np.random.default_rng(0)
    schema = Schema(tuple(Column(name=name, role="quasi", type="number") for name in "ab"))
    table = Table.build(pd.DataFrame(rng.integers(0, 50, (600, 2)), columns=["a", "b"]), schema)
    classes, parent = Classes.from_labels(np.arange(600)), np.arange(600) % 150

    result = nearest.nearest_classes(table, classes, np.arange(600), parent)

    assert (parent == parent[result]).all()
    assert (result != np.arange(600)).all()
