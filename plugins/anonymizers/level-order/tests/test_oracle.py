"""Classes are the best that the order allows, and looking longer never loses more."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom import Classes, Column, Guard, Schema, StageContext, Table
from anonloom.hierarchies import Tree
from anonloom_kernels.level_order_key import level_order
from anonloom_level_order.method import LevelOrder
from anonloom_level_order.sequence import order_by_sequence, sequence_of
from anonloom_loss import class_losses, gcp
from anonloom_testing.privacy_cases import AtLeast, DistinctValues, WithinDistance

TOWNS = {"north": ["a", "b", "c"], "south": ["d", "e"], "f": None}
SEARCHES = ["none", "blocks"]


@st.composite
def tables(draw, most_rows=40):
    cells = st.tuples(
        st.sampled_from([None, 1, 2, 3, 5, 8, 30]),
        st.sampled_from([None, *"abcdef"]),
        st.sampled_from("fm"),
        st.sampled_from([None, 0, 4, 8]),
        st.sampled_from("xyz"),
    )
    rows = draw(st.lists(cells, min_size=1, max_size=most_rows))
    frame = pd.DataFrame(rows, columns=["age", "town", "sex", "stay", "illness"])
    form, stay = draw(st.sampled_from([("nodes", "interval"), ("set", "set"), ("nodes", "set")]))
    return Table.build(
        frame,
        Schema(
            [
                Column(name="age", role="quasi", type="number", weight=2.0),
                Column(name="town", role="quasi", hierarchy=Tree(tree=TOWNS), publish=form),
                Column(name="sex", role="quasi"),
                Column(name="stay", role="quasi", type="number", publish=stay),
                Column(name="illness", role="sensitive"),
            ]
        ),
    )


@st.composite
def guards(draw):
    models = [AtLeast(k=draw(st.integers(1, 5)))]
    other = draw(st.integers(0, 2))
    if other == 1:
        models.append(DistinctValues(l=2, of="illness"))
    if other == 2:
        models.append(WithinDistance(t=0.4, of="illness"))
    return Guard(models)


def start(data, table):
    """Draw given classes: rows in up to three classes, some suppressed, some absent."""
    label = data.draw(
        st.lists(st.integers(-2, 2), min_size=len(table), max_size=len(table)), "labels"
    )
    members = [[row for row in range(len(table)) if label[row] == index] for index in range(3)]
    members = [rows for rows in members if rows]
    rows = np.array([row for rows in members for row in rows], np.int64)
    bounds = np.append(0, np.cumsum([len(rows) for rows in members])).astype(np.int64)
    out = np.array([row for row in range(len(table)) if label[row] == -1], np.int64)
    return Classes(rows, bounds, out)


def row_loss(table, rows):
    """Loss of one row of a class, by the definition of loss."""
    losses = class_losses(table, Classes.whole(np.array(rows, np.int64)))[0]
    weights = np.array([axis.weight for axis in table.axes])
    return float(losses @ weights / weights.sum())


def least_loss(table, rows, k):
    """Least loss over all divisions of an order into classes of k or more, all of them tried."""

    @cache
    def rest(begin):
        if begin == len(rows):
            return 0.0
        return min(
            (
                (end - begin) * row_loss(table, rows[begin:end]) + rest(end)
                for end in range(begin + k, len(rows) + 1)
            ),
            default=np.inf,
        )

    return rest(0)


@pytest.mark.parametrize("search", SEARCHES)
@given(table=tables(most_rows=24), k=st.integers(1, 5), data=st.data())
@settings(deadline=None, max_examples=60)
def test_no_division_of_its_order_loses_less(search, table, k, data):
    given_classes = start(data, table)
    orders = {"none": order_by_sequence, "blocks": level_order}
    order = orders[search](table, given_classes.rows, given_classes.bounds)
    result = LevelOrder(search=search).partition(
        table, given_classes, Guard([AtLeast(k=k)]), StageContext()
    )

    lost, suppressed = 0.0, set(given_classes.suppressed.tolist())
    for begin, end in zip(given_classes.starts, given_classes.stops, strict=True):
        rows = given_classes.rows[order[begin:end]]
        if len(rows) < k:
            suppressed |= set(rows.tolist())
        else:
            lost += least_loss(table, rows, k)
    assert suppressed == set(result.suppressed.tolist())
    assert lost + len(suppressed) == pytest.approx(gcp(table, result) * result.total, abs=1e-9)


@given(table=tables(), guard=guards(), data=st.data(), rounds=st.integers(0, 3))
@settings(deadline=None, max_examples=100)
def test_full_never_loses_more_than_blocks(table, guard, data, rounds):
    given_classes = start(data, table)

    blocks = LevelOrder().partition(table, given_classes, guard, StageContext())
    full = LevelOrder(search="full", rounds=rounds).partition(
        table, given_classes, guard, StageContext()
    )

    assert set(full.suppressed.tolist()) <= set(blocks.suppressed.tolist())
    assert gcp(table, full) <= gcp(table, blocks) + 1e-12


@given(table=tables(), k=st.integers(1, 5), data=st.data())
@settings(deadline=None, max_examples=40)
def test_more_rounds_never_lose_more(table, k, data):
    given_classes, guard = start(data, table), Guard([AtLeast(k=k)])

    losses = [
        gcp(
            table,
            LevelOrder(search="full", rounds=rounds).partition(
                table, given_classes, guard, StageContext()
            ),
        )
        for rounds in (0, 1, 2, 5)
    ]

    assert sorted(losses, reverse=True) == pytest.approx(losses, abs=1e-12)


# --- search: none --------------------------------------------------------------------------------


@given(table=tables(), data=st.data())
@settings(deadline=None, max_examples=60)
def test_one_sequence_orders_as_walking_a_tree_there_and_back_does(table, data):
    """Every level is walked ascending or descending in turn: a reflected Gray code."""
    given_classes = start(data, table)
    order = order_by_sequence(table, given_classes.rows, given_classes.bounds)
    parts = sequence_of(table, given_classes.rows) if len(given_classes) else []

    def key(row):
        digits, reached = [], {}
        for part in parts:
            digit = int(part.digits[table.codes[part.axis, row]])
            others = sum(reached[axis] for axis in reached if axis != part.axis)
            digits.append(int(part.digits[-1]) - digit if others % 2 else digit)
            reached[part.axis] = digit
        return digits

    expected = []
    for begin, end in zip(given_classes.starts, given_classes.stops, strict=True):
        expected += sorted(
            range(begin, end), key=lambda position: key(given_classes.rows[position])
        )
    assert expected == order.tolist()


def test_steps_of_the_sequence_are_small_where_every_combination_occurs():
    """From row to row exactly one digit changes, by one."""
    frame = pd.DataFrame(
        [(a, b, c) for a in "fm" for b in "abcdef" for c in "uvw"], columns=["sex", "town", "job"]
    )
    table = Table.build(frame, Schema([Column(name=name, role="quasi") for name in frame]))

    order = order_by_sequence(table, np.arange(36), np.array([0, 36]))

    steps = np.abs(np.diff(table.codes[:, order].astype(int), axis=1))
    assert [1] * 35 == steps.sum(axis=0).tolist()


@pytest.mark.parametrize("form", ["interval", "set"])
def test_one_axis_alone_is_sorted(form):
    """The levels of one axis do not turn each other around."""
    frame = pd.DataFrame({"age": np.random.default_rng(1).permutation(100)})
    column = Column(name="age", role="quasi", type="number", publish=form)
    table = Table.build(frame, Schema([column]))

    order = order_by_sequence(table, np.arange(100), np.array([0, 100]))

    assert list(range(100)) == table.codes[0, order].tolist()


@given(table=tables())
@settings(deadline=None, max_examples=40)
def test_a_sequence_refines_every_axis_to_its_codes(table):
    """The levels of one axis come from coarse to fine, the last tells all values apart."""
    parts = sequence_of(table, np.arange(len(table)))

    assert [part.gain for part in parts] == sorted((part.gain for part in parts), reverse=True)
    for index, axis in enumerate(table.axes):
        own = [part.digits for part in parts if part.axis == index]
        assert [len(set(digits.tolist())) for digits in own] == sorted(
            {len(set(digits.tolist())) for digits in own}
        )
        assert (axis.size == 1 and not own) or list(range(axis.size)) == own[-1].tolist()
