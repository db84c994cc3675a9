"""The dynamic programme finds what trying out every division finds."""

from functools import cache
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom import Classes, Column, Guard, Schema, Table
from anonloom.hierarchies import Breaks, Tree
from anonloom_kernels.admissible_windows import windows_of
from anonloom_kernels.losses import losses_of
from anonloom_kernels.optimal_cuts import cut_room_for, divide, loss_of_window
from anonloom_loss import class_losses
from anonloom_testing.privacy_cases import AtLeast, DistinctValues, WithinDistance, half_of

TOWNS = {"north": ["a", "b", "c"], "south": ["d", "e"], "f": None}


@st.composite
def tables(draw):
    cells = st.tuples(
        st.sampled_from([None, 1, 2, 3, 5, 8, 30]),
        st.sampled_from([None, *"abcdef"]),
        st.sampled_from("fm"),
        st.sampled_from([None, 0, 4, 8]),
        st.sampled_from("xyz"),
        st.integers(0, 12),
    )
    rows = draw(st.lists(cells, min_size=1, max_size=18))
    frame = pd.DataFrame(rows, columns=["age", "town", "sex", "stay", "illness", "person"])
    age = {}
    if draw(st.booleans()):
        age = {"hierarchy": Breaks(breaks=((2, 4, 9), (4,))), "publish": "nodes"}
    columns = [
        Column(name="age", role="quasi", type="number", weight=2.0, **age),
        Column(
            name="town",
            role="quasi",
            hierarchy=Tree(tree=TOWNS),
            publish=draw(st.sampled_from(["nodes", "set"])),
        ),
        Column(name="sex", role="quasi"),
        Column(
            name="stay",
            role="quasi",
            type="number",
            publish=draw(st.sampled_from(["interval", "set"])),
        ),
        Column(name="illness", role="sensitive"),
    ]
    if draw(st.booleans()):
        columns.append(Column(name="person", role="person"))
    return Table.build(frame, Schema(columns))


def uneven(sizes):
    """Keep what a sampler might: less of some larger classes."""
    sizes = np.asarray(sizes, np.int64)
    return sizes - sizes % 3


@st.composite
def guards(draw):
    models = [AtLeast(k=draw(st.integers(1, 4)))]
    other = draw(st.integers(0, 2))
    if other == 1:
        models.append(DistinctValues(l=2, of="illness"))
    if other == 2:
        models.append(WithinDistance(t=0.4, of="illness"))
    return Guard(models, draw(st.sampled_from([uneven, half_of, lambda sizes: sizes])))


def row_loss(table, rows):
    """Loss of one row of a class, by the definition of loss."""
    whole = Classes.whole(np.array(rows, np.int64))
    weights = np.array([axis.weight for axis in table.axes])
    return float(class_losses(table, whole)[0] @ weights / weights.sum())


def least_loss(table, rows, allowed):
    """Least loss over all divisions of an order into allowed windows, each tried out."""

    @cache
    def rest(start):
        if start == len(rows):
            return 0.0
        return min(
            (
                (stop - start) * row_loss(table, rows[start:stop]) + rest(stop)
                for stop in range(start + 1, len(rows) + 1)
                if allowed(start, stop)
            ),
            default=np.inf,
        )

    return rest(0)


def cut(table, rows, bounds, guard):
    windows = windows_of(table, rows, bounds, guard)
    ordered = np.ascontiguousarray(table.codes[:, rows].T)
    return (*divide(losses_of(table), ordered, bounds, windows), windows)


def blocks_of(data, table):
    rows = np.array(data.draw(st.permutations(range(len(table))), "order"), np.int64)
    ends = data.draw(st.sets(st.integers(1, len(table)), max_size=2), "ends")
    return rows, np.array(sorted({0, len(table), *ends}), np.int64)


@given(table=tables(), guard=guards(), data=st.data())
@settings(deadline=None, max_examples=250)
def test_no_division_of_an_order_loses_less(table, guard, data):
    """Over all divisions into the windows that were asked about; with sizes alone, over all."""
    rows, bounds = blocks_of(data, table)
    simple = guard.size_only and table.persons is None and guard.least_kept is not uneven

    edges, loss, windows = cut(table, rows, bounds, guard)
    long = set(zip(windows.starts.tolist(), windows.stops.tolist(), strict=True))

    for block, (begin, end) in enumerate(pairwise(bounds)):

        def allowed(start, stop, begin=begin):
            if not simple:
                short = stop - start < 2 * guard.min_size
                if not short and (start + begin, stop + begin) not in long:
                    return False
            ends = np.array([start + begin]), np.array([stop + begin])
            return bool(guard.admits(table, rows, *ends)[0])

        expected = least_loss(table, rows[begin:end], allowed)
        assert expected == pytest.approx(loss[block], abs=1e-9)
        own = edges[(edges >= begin) & (edges <= end)]
        assert [begin, end] == [own[0], own[-1]]
        if np.isinf(expected):
            assert 2 == len(own)
            continue
        assert guard.admits(table, rows, own[:-1], own[1:]).all()
        result = sum((b - a) * row_loss(table, rows[a:b]) for a, b in pairwise(own))
        assert expected == pytest.approx(result, abs=1e-9)


@given(table=tables(), k=st.integers(1, 5), data=st.data())
@settings(deadline=None, max_examples=80)
def test_classes_of_k_to_2k_minus_1_rows_are_enough(table, k, data):
    """What may be of any size from k on loses no less."""
    rows, _ = blocks_of(data, table)
    guard = Guard([AtLeast(k=k)])
    table = Table.build(table.frame, Schema([c for c in table.schema if c.role != "person"]))

    edges, loss, _ = cut(table, rows, np.array([0, len(rows)]), guard)

    expected = least_loss(table, rows, lambda start, stop: stop - start >= k)
    assert expected == pytest.approx(loss[0], abs=1e-9)
    if len(rows) >= k:
        assert {True} == {k <= size <= 2 * k - 1 for size in np.diff(edges).tolist()}


@given(table=tables(), data=st.data())
@settings(deadline=None, max_examples=80)
def test_the_loss_of_a_window_is_the_loss_of_the_class(table, data):
    rows, _ = blocks_of(data, table)
    start = data.draw(st.integers(0, len(rows) - 1))
    stop = data.draw(st.integers(start + 1, len(rows)))

    losses, ordered = losses_of(table), np.ascontiguousarray(table.codes[:, rows].T)

    result = loss_of_window(losses, ordered, start, stop, cut_room_for(losses))

    assert row_loss(table, rows[start:stop]) == pytest.approx(result, abs=1e-12)


@pytest.mark.parametrize("rows", [1, 4, 5, 9, 10, 23])
def test_without_axes_there_are_as_many_rows_as_sizes_ask_for(rows):
    table = Table.build(
        pd.DataFrame({"illness": ["x"] * rows}), Schema([Column(name="illness", role="sensitive")])
    )

    edges, loss, _ = cut(table, np.arange(rows), np.array([0, rows]), Guard([AtLeast(k=5)]))

    assert [np.inf if rows < 5 else 0.0] == loss.tolist()
    assert (rows < 5) or {True} == {5 <= size <= 9 for size in np.diff(edges).tolist()}


def test_no_blocks_are_no_trouble():
    table = Table.build(
        pd.DataFrame({"age": [1]}), Schema([Column(name="age", role="quasi", type="number")])
    )

    edges, loss, _ = cut(table, np.arange(0), np.array([0]), Guard([AtLeast(k=2)]))

    assert [0] == edges.tolist()
    assert [] == loss.tolist()
