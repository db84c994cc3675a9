"""What is known of a class after any change agrees with looking at its rows again."""

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom import Column, Schema, Table
from anonloom.hierarchies import Tree
from anonloom_kernels.losses import losses_of
from anonloom_regroup.dissolution import dissolve_all
from anonloom_regroup.exchange import LEAST_GAIN, RECORD, enter, sweep, take_back
from anonloom_regroup.groups import (
    groups_of,
    loss_exchanged,
    loss_with,
    loss_without,
    transfer,
    weigh,
)

TREE = {"north": ["a", "b"], "south": ["c", "d", "e"]}


def table_of(seed, rows=24):
    """Return a table with an interval, nodes and two sets, with missing values and weights."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(0, 12, rows).astype(float),
            "region": pd.Series(rng.choice(list("abcde"), rows), dtype=object),
            "job": pd.Series(rng.choice(list("vwxyz"), rows), dtype=object),
            "shoe": rng.integers(0, 4, rows).astype(float),
        }
    )
    for name in ("age", "region", "job"):
        frame.loc[rng.random(rows) < 0.15, name] = None
    columns = [
        Column(name="age", role="quasi", type="number"),
        Column(name="region", role="quasi", hierarchy=Tree(tree=TREE), weight=2),
        Column(name="job", role="quasi", publish="set"),
        Column(name="shoe", role="quasi", type="number", publish="set"),
    ]
    return Table.build(frame, Schema(columns))


def looked_at(table, rows):
    """Loss per row of a class of these rows, from the axes alone."""
    if not len(rows):
        return 0.0
    lost, weights = 0.0, 0.0
    for axis, codes in zip(table.axes, table.codes, strict=True):
        own = codes[rows]
        if axis.form == "set":
            members = len(set(own.tolist()))
            mixed = members > 1 and own.max() == axis.missing
            loss = 1.0 if mixed else float(axis.set_loss(np.array(members)))
        else:
            loss = float(axis.loss(own.min(keepdims=True), own.max(keepdims=True))[0])
        lost += axis.weight * loss
        weights += axis.weight
    return lost / weights


def members(groups, which):
    return np.flatnonzero(groups.owner == which)


def in_classes(table, owner):
    """Sum of the losses of all rows."""
    return sum(
        int((owner == which).sum()) * looked_at(table, np.flatnonzero(owner == which))
        for which in np.unique(owner)
    )


def random_groups(table, seed, classes=5):
    rng = np.random.default_rng(seed)
    owner = np.concatenate([np.arange(classes), rng.integers(0, classes, len(table) - classes)])
    losses = losses_of(table)
    return losses, groups_of(losses, table.codes, rng.permutation(owner))


@given(seed=st.integers(0, 400))
@settings(deadline=None, max_examples=40)
def test_losses_after_leaving_coming_and_exchange_are_those_of_the_rows(seed):
    table = table_of(seed)
    losses, groups = random_groups(table, seed)
    for which in range(5):
        own = members(groups, which)
        assert np.isclose(looked_at(table, own), groups.loss[which])
        relief = max(groups.loss[which] - looked_at(table, own[own != row]) for row in own)
        if len(own) > 1:
            assert np.isclose(max(0.0, relief), groups.relief[which])
        for come in np.flatnonzero(groups.owner != which):
            after = looked_at(table, np.append(own, come))
            assert np.isclose(after, loss_with(groups.price[:, which], groups.value, come))
            for gone in own[:3]:
                after = looked_at(table, np.append(own[own != gone], come))
                assert np.isclose(after, loss_exchanged(losses, groups, which, gone, come))
        for gone in own:
            after = looked_at(table, own[own != gone])
            assert np.isclose(after, loss_without(losses, groups, which, gone))


@given(seed=st.integers(0, 400))
@settings(deadline=None, max_examples=20)
def test_a_class_knows_itself_after_rows_were_transferred(seed):
    table = table_of(seed)
    losses, groups = random_groups(table, seed)
    rng = np.random.default_rng(seed)
    for _ in range(15):
        row, to = int(rng.integers(len(table))), int(rng.integers(5))
        old = int(groups.owner[row])
        if old == to:
            continue
        transfer(groups, row, to)
        weigh(losses, groups, old)
        weigh(losses, groups, to)
        for which in (old, to):
            assert len(members(groups, which)) == groups.size[which]
            assert np.isclose(looked_at(table, members(groups, which)), groups.loss[which])


@given(seed=st.integers(0, 400))
@settings(deadline=None, max_examples=20)
def test_entering_finds_the_class_where_a_row_costs_least(seed):
    table = table_of(seed)
    _, groups = random_groups(table, seed)
    for row in range(len(table)):
        entered = np.empty(5)
        target, cost = enter(groups, row, 100, np.inf, entered)
        costs = {
            which: (groups.size[which] + 1)
            * looked_at(table, np.append(members(groups, which), row))
            - groups.size[which] * looked_at(table, members(groups, which))
            for which in range(5)
            if which != groups.owner[row]
        }
        assert np.isclose(min(costs.values()), cost)
        assert np.isclose(costs[target], cost)


@given(seed=st.integers(0, 400), least=st.integers(2, 4))
@settings(deadline=None, max_examples=40)
def test_a_sweep_saves_exactly_what_it_says_and_keeps_sizes(seed, least):
    table = table_of(seed, rows=30)
    losses, groups = random_groups(table, seed)
    allowed = np.arange(31) >= least
    small = groups.size < least
    before = in_classes(table, groups.owner)

    barred, record = np.zeros(30, bool), np.empty((0, RECORD), np.int64)
    changes, gained = sweep(losses, groups, allowed, 30, 1, False, barred, record)
    after = in_classes(table, groups.owner)
    dissolved = dissolve_all(losses, groups, allowed, 30, 1)

    assert np.isclose(before - after, gained)
    assert (changes == 0) == (gained <= LEAST_GAIN)
    assert np.isclose(after - in_classes(table, groups.owner), dissolved)
    kept = (groups.size > 0) & ~small
    assert (groups.size[kept] >= least).all()


@given(seed=st.integers(0, 400))
@settings(deadline=None, max_examples=20)
def test_what_was_refused_is_taken_back_and_its_rows_are_barred(seed):
    table = table_of(seed, rows=30)
    losses, groups = random_groups(table, seed)
    allowed, barred = np.arange(31) >= 2, np.zeros(30, bool)
    before = groups.owner.copy()
    record = np.empty((5, RECORD), np.int64)

    changes, gained = sweep(losses, groups, allowed, 30, 1, True, barred, record)
    moved = groups.owner != before
    lost = take_back(losses, groups, record[:changes], np.ones(5, bool), barred)

    assert np.array_equal(before, groups.owner)
    assert np.isclose(gained, lost)
    assert barred.sum() == changes
    assert moved[barred].all()
    for which in range(5):
        assert np.isclose(looked_at(table, members(groups, which)), groups.loss[which])
