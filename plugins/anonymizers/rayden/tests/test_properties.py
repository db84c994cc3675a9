"""What holds for every table: sizes, repeatability, and no dependence on what must not matter."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom import Column, Guard, Schema, StageContext, Table
from anonloom.hierarchies import Tree
from anonloom_rayden.cof import Cof
from anonloom_rayden.vptree import VpTree
from anonloom_testing.privacy_cases import AtLeast

TOWNS = {"north": ["a", "b", "c"], "south": ["d", "e"], "f": None}


def table_of(rows, columns, form):
    """A table with so many columns: numbers, trees, flat categories and constants in turns."""
    kinds = [
        lambda name: Column(name=name, role="quasi", type="number"),
        lambda name: Column(
            name=name, role="quasi", hierarchy=Tree(tree=TOWNS), publish=form or "nodes"
        ),
        lambda name: Column(name=name, role="quasi", publish=form or "nodes"),
        lambda name: Column(name=name, role="quasi", type="number", missing="own"),
    ]
    rng = np.random.default_rng(len(rows))
    frame, schema = {}, []
    for index in range(columns):
        name = f"q{index}"
        own = np.array(rows) if index == 0 else rng.permutation(rows)
        frame[name] = [
            own.tolist(),
            [[*"abcdef", None][value % 7] for value in own],
            ["even" if value % 2 else "odd" for value in own],
            [1] * len(rows),
        ][index % 4]
        schema.append(kinds[index % 4](name))
    return Table.build(pd.DataFrame(frame), Schema(schema))


rows = st.lists(st.integers(0, 9), min_size=1, max_size=60)


@pytest.mark.parametrize("columns", [1, 4, 30])
@pytest.mark.parametrize("cut", ["aligned", "half"])
@given(rows=rows, k=st.integers(1, 9), form=st.sampled_from([None, "nodes", "set"]))
@settings(deadline=None, max_examples=40)
def test_classes_have_k_to_2k_minus_1_rows(cut, columns, rows, k, form):
    table = table_of(rows, columns, form)
    result = VpTree(cut=cut).partition(table, table.whole(), Guard([AtLeast(k=k)]), StageContext())

    if len(rows) < k:
        assert (0, len(rows)) == (len(result), len(result.suppressed))
        return
    assert k <= result.sizes.min() <= result.sizes.max() <= 2 * k - 1
    if cut == "aligned":
        # All but one have k rows: no partition has more classes.
        assert len(rows) // k == len(result)


@pytest.mark.parametrize("n", [4, 5, 9, 10])
def test_around_k_and_2k(n):
    """k = 5: too few rows are suppressed, up to 2k - 1 stay together, from 2k on they are cut."""
    table = table_of(list(range(n)), 3, "nodes")
    result = VpTree().partition(table, table.whole(), Guard([AtLeast(k=5)]), StageContext())
    assert {4: [], 5: [5], 9: [9], 10: [5, 5]}[n] == result.sizes.tolist()


@pytest.mark.parametrize("cut", ["aligned", "half", "paper"])
@given(rows=rows, k=st.integers(1, 5), seed=st.integers(0, 5))
@settings(deadline=None, max_examples=30)
def test_threads_change_nothing(cut, rows, k, seed):
    table, guard = table_of(rows, 4, "nodes"), Guard([AtLeast(k=k)])
    partition, handle = VpTree(cut=cut, vantage="random"), Cof(alpha=0.5)
    results = []
    for workers in (1, 4):
        classes = partition.partition(
            table, table.whole(), guard, StageContext(seed=seed, workers=workers)
        )
        after = handle.handle(table, classes, guard, StageContext(seed=seed, workers=workers))
        results.append([part.tolist() for part in (after.rows, after.bounds, after.suppressed)])
    assert results[0] == results[1]


def test_another_seed_is_another_tree():
    table, guard = table_of(list(range(60)), 4, "nodes"), Guard([AtLeast(k=3)])
    trees = {
        tuple(
            VpTree().partition(table, table.whole(), guard, StageContext(seed=seed)).rows.tolist()
        )
        for seed in range(4)
    }
    assert len(trees) > 1


@given(rows=rows, k=st.integers(2, 6))
@settings(deadline=None, max_examples=40)
def test_rows_that_agree_in_everything_stay_together_where_they_can(rows, k):
    """At most one point of a node is divided by a cut: classes are no finer than needed."""
    table = table_of(rows, 1, None)
    result = VpTree().partition(table, table.whole(), Guard([AtLeast(k=k)]), StageContext())
    in_classes = sum(
        len(np.unique(table.codes[0, result.members(index)])) for index in range(len(result))
    )
    assert in_classes <= len(set(rows)) + max(len(result) - 1, 0)
