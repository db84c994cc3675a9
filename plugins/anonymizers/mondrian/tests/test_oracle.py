"""The level-by-level partitioner finds what a slow recursion over single rows finds."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom.data.builders import Tree
from anonloom.data.classes import Classes
from anonloom.data.schema import Column, Schema
from anonloom.data.table import Table
from anonloom.kinds.context import Run
from anonloom.kinds.guard import Guard
from anonloom.testing.demands import AtLeast, DistinctValues, half_of
from anonloom_mondrian.mondrian import Mondrian

TOWNS = {"north": ["a", "b", "c"], "south": ["d", "e"], "f": None}


# --- the oracle: the paper's recursion, one row at a time ----------------------------------------


def recursive_classes(table, members, guard, mode, ties):
    """Partition rows, given as lists of row numbers, by plain recursion."""
    found = []
    for rows in members:
        ordered = sorted(rows, key=lambda row: tuple(table.codes[:, row]))
        found += anonymize(table, ordered, guard, mode, ties)
    good = [rows for rows in found if admitted(table, rows, guard)]
    lost = [row for rows in found for row in rows if rows not in good]
    return {frozenset(rows) for rows in good}, set(lost)


def anonymize(table, rows, guard, mode, ties):
    spreads = [axis.weight * loss(table, at, rows) for at, axis in enumerate(table.axes)]
    for at in sorted(range(len(spreads)), key=lambda at: -spreads[at]):
        for left, right in proposals(table, at, rows, guard, mode, ties):
            if admitted(table, left, guard) and admitted(table, right, guard):
                return [
                    part
                    for half in (left, right)
                    for part in anonymize(table, half, guard, mode, ties)
                ]
    return [rows]


def proposals(table, at, rows, guard, mode, ties):
    code = table.codes[at]
    rows = sorted(rows, key=lambda row: code[row])
    if code[rows[0]] == code[rows[-1]]:
        return
    if code[rows[-1]] == table.axes[at].missing:
        yield divided(rows, lambda row: code[row] < table.axes[at].missing)
    half = (len(rows) + 1) // 2
    median = code[rows[half - 1]]
    if mode == "relaxed":
        yield rows[:half], rows[half:]
        return
    behind = divided(rows, lambda row: code[row] <= median)
    if ties == "left":
        yield behind
        return
    before = divided(rows, lambda row: code[row] < median)
    yield from sorted((behind, before), key=lambda halves: lost(table, at, halves, guard))


def divided(rows, left):
    return [row for row in rows if left(row)], [row for row in rows if not left(row)]


def loss(table, at, rows):
    codes = table.codes[at][rows]
    return float(table.axes[at].loss(codes.min()[None], codes.max()[None])[0])


def lost(table, at, halves, guard):
    if any(len(half) == 0 or not large(half, guard) for half in halves):
        return np.inf
    return sum(len(half) * loss(table, at, half) for half in halves)


def large(rows, guard):
    return guard.least_kept(np.array([len(rows)]))[0] >= guard.demanded


def admitted(table, rows, guard):
    if not rows:
        return False
    return bool(guard.admits(table, np.array(rows), np.array([0]), np.array([len(rows)]))[0])


# --- tables and guards ---------------------------------------------------------------------------


def columns(weight, form):
    return (
        Column(name="age", role="quasi", type="number", weight=weight),
        Column(name="town", role="quasi", hierarchy=Tree(tree=TOWNS), publish=form),
        Column(name="sex", role="quasi"),
        Column(name="illness", role="sensitive"),
    )


@st.composite
def tables(draw):
    cells = st.tuples(
        st.sampled_from([None, 1, 2, 3, 5, 8, 30]),
        st.sampled_from([None, *"abcdef"]),
        st.sampled_from("fm"),
        st.sampled_from("xyz"),
        st.integers(0, 8),
    )
    rows = draw(st.lists(cells, min_size=1, max_size=40))
    frame = pd.DataFrame(rows, columns=["age", "town", "sex", "illness", "person"])
    schema = columns(draw(st.sampled_from([1.0, 3.0])), draw(st.sampled_from(["nodes", "set"])))
    if draw(st.booleans()):
        schema = (*schema, Column(name="person", role="person"))
    return Table.build(frame, Schema(schema))


@st.composite
def guards(draw):
    models = [AtLeast(k=draw(st.integers(1, 5)))]
    if draw(st.booleans()):
        models.append(DistinctValues(l=2, of="illness"))
    return Guard(models, half_of) if draw(st.booleans()) else Guard(models)


def start(data, table):
    """Draw given classes: some rows in up to three classes, some suppressed, some absent."""
    label = data.draw(
        st.lists(st.integers(-2, 2), min_size=len(table), max_size=len(table)), "labels"
    )
    members = [[row for row in range(len(table)) if label[row] == at] for at in range(3)]
    members = [rows for rows in members if rows]
    suppressed = [row for row in range(len(table)) if label[row] == -1]
    rows = np.array([row for rows in members for row in rows], np.int64)
    bounds = np.append(0, np.cumsum([len(rows) for rows in members])).astype(np.int64)
    return members, Classes(rows, bounds, np.array(suppressed, np.int64))


def as_sets(classes):
    return {frozenset(classes.members(at).tolist()) for at in range(len(classes))}


WAYS = [("strict", "best"), ("strict", "left"), ("relaxed", "best")]


@pytest.mark.parametrize(("mode", "ties"), WAYS)
@given(table=tables(), guard=guards(), data=st.data())
@settings(deadline=None, max_examples=150)
def test_finds_the_classes_of_the_recursion(mode, ties, table, guard, data):
    members, classes = start(data, table)

    found = Mondrian(mode=mode, ties=ties).partition(table, classes, guard, Run())
    expected, given_up = recursive_classes(table, members, guard, mode, ties)

    assert expected == as_sets(found)
    assert given_up | set(classes.suppressed.tolist()) == set(found.suppressed.tolist())


@given(table=tables(), guard=guards())
@settings(deadline=None, max_examples=100)
def test_strict_regions_are_disjoint_and_hold_their_rows(table, guard):
    found = Mondrian().partition(table, table.whole(), guard, Run())

    lo, hi = found.regions.lo, found.regions.hi
    least, most = found.extents(table.codes)
    assert (lo <= least).all()
    assert (most <= hi).all()
    overlap = (lo[:, None] <= hi[None]) & (lo[None] <= hi[:, None])
    assert np.eye(len(found), dtype=bool).tolist() == overlap.all(axis=2).tolist()


@given(table=tables(), k=st.integers(1, 5))
@settings(deadline=None, max_examples=50)
def test_strict_regions_cover_the_whole_space(table, k):
    found = Mondrian().partition(table, table.whole(), Guard([AtLeast(k=k)]), Run())

    if len(found):
        volumes = np.prod(found.regions.hi - found.regions.lo + 1.0, axis=1)
        assert np.prod([axis.size for axis in table.axes]) == volumes.sum()


def test_given_regions_are_refined_not_forgotten():
    frame = pd.DataFrame({"age": [1, 2, 3, 4, 5, 6, 7, 8]})
    table = Table.build(frame, Schema([Column(name="age", role="quasi", type="number")]))
    method, run = Mondrian(), Run()

    halves = method.partition(table, table.whole(), Guard([AtLeast(k=4)]), run)
    quarters = method.partition(table, halves, Guard([AtLeast(k=2)]), run)

    assert [[0, 3], [4, 7]] == np.hstack([halves.regions.lo, halves.regions.hi]).tolist()
    assert [[0, 1], [2, 3], [4, 5], [6, 7]] == sorted(
        np.hstack([quarters.regions.lo, quarters.regions.hi]).tolist()
    )


def test_missing_values_are_cut_off_first():
    """Ages 1 to 4 and two missing: the median alone would leave a class that mixes both."""
    frame = pd.DataFrame({"age": [1, 2, 3, 4, None, None]})
    table = Table.build(frame, Schema([Column(name="age", role="quasi", type="number")]))

    found = Mondrian().partition(table, table.whole(), Guard([AtLeast(k=2)]), Run())

    assert {frozenset({0, 1}), frozenset({2, 3}), frozenset({4, 5})} == as_sets(found)


def test_progress_ends_with_all_rows():
    frame = pd.DataFrame({"age": range(100)})
    table = Table.build(frame, Schema([Column(name="age", role="quasi", type="number")]))
    told = []

    Mondrian().partition(
        table,
        table.whole(),
        Guard([AtLeast(k=7)]),
        Run(report=lambda done, total: told.append((done, total))),
    )

    assert (100, 100) == told[-1]
    assert sorted(told) == told
