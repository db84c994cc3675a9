"""Suppressing outliers: which rows, how many, and what it is worth."""

import attrs
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom import Classes, Column, Guard, Schema, StageContext, Table
from anonloom.data import Regions
from anonloom.hierarchies import Tree
from anonloom_loss import gcp
from anonloom_recoding.outliers import LeaveAll, Suppress
from anonloom_recoding.row_fit import worst_rows
from anonloom_testing.privacy_cases import AtLeast, DistinctValues

TOWNS = {"ab": ["a", "b"], "cd": ["c", "d"]}


@st.composite
def partitions(draw):
    cells = st.tuples(
        st.sampled_from([None, 1, 2, 3, 4, 50]),
        st.sampled_from([None, *"abcd"]),
        st.sampled_from("xyz"),
        st.sampled_from("pq"),
        st.integers(-1, 2),
    )
    rows = draw(st.lists(cells, min_size=1, max_size=30))
    frame = pd.DataFrame(rows, columns=["age", "town", "team", "illness", "label"])
    columns = [
        Column(name="age", role="quasi", type="number", weight=draw(st.sampled_from([1.0, 2.5]))),
        Column(name="town", role="quasi", hierarchy=Tree(tree=TOWNS)),
        Column(name="team", role="quasi", publish="set"),
        Column(name="illness", role="sensitive"),
    ]
    return Table.build(frame, Schema(columns)), Classes.from_labels(frame["label"].to_numpy())


def without(classes, row):
    labels = np.full(classes.total, -1, np.int64)
    labels[classes.rows] = classes.class_of_position()
    labels[row] = -1
    return Classes.from_labels(labels)


@given(partition=partitions())
@settings(deadline=None, max_examples=150)
def test_the_worst_row_of_a_class_is_the_one_without_which_least_is_lost(partition):
    """What is said to be saved is the difference of the table's loss, times its rows."""
    table, classes = partition
    whole = gcp(table, classes) * classes.total

    places, owners, saved = worst_rows(table, classes, np.arange(len(classes)))

    results = dict(zip(owners.tolist(), zip(classes.rows[places], saved, strict=True), strict=True))
    for owner in range(len(classes)):
        members = classes.members(owner)
        gains = {
            int(row): whole - gcp(table, without(classes, row)) * classes.total for row in members
        }
        best = max(gains.values())
        if len(members) < 2 or best <= 1e-9:
            assert owner not in results or results[owner][1] <= 1e-9
        else:
            row, gain = results[owner]
            assert best == pytest.approx(gain)
            assert best == pytest.approx(gains[int(row)])


def test_after_a_global_recoding_no_row_costs_the_others_anything():
    table = Table.build(
        pd.DataFrame({"age": [1, 2, 3, 4, 90]}),
        Schema([Column(name="age", role="quasi", type="number")]),
    )
    whole = Classes.whole(np.arange(5))
    ends = np.array([[0]], np.int32), np.array([[4]], np.int32)
    classes = attrs.evolve(whole, regions=Regions(*ends), global_recoding=True)
    context = StageContext()
    kept = Suppress(at_most=1).handle(table, classes, Guard(), context)
    assert (5, 0) == (len(kept.rows), len(kept.suppressed))
    assert [0] == [finding.value for finding in context.found]
    assert 1 == len(Suppress(at_most=0.2).handle(table, whole, Guard(), StageContext()).suppressed)


@given(partition=partitions(), k=st.integers(1, 4), share=st.sampled_from([0, 0.1, 0.5, 1]))
@settings(deadline=None, max_examples=150)
def test_suppression_never_loses_more_and_keeps_guard_and_limit(partition, k, share):
    table, classes = partition
    guard = Guard([AtLeast(k=k), DistinctValues(l=2, of="illness")])
    classes = classes.suppress(~guard.admits_classes(table, classes))

    result = Suppress(at_most=share).handle(table, classes, guard, StageContext())

    assert gcp(table, result) <= gcp(table, classes) + 1e-12
    assert guard.admits_classes(table, result).all()
    assert len(result.suppressed) <= max(share * classes.total, len(classes.suppressed))
    assert set(classes.suppressed) <= set(result.suppressed)
    assert sorted([*result.rows, *result.suppressed]) == list(range(classes.total))
    assert len(classes) == len(result)


@pytest.fixture
def table():
    ages = [20, 21, 22, 23, 24, 25, 26, 27, 28, 90, 50, 51]
    frame = pd.DataFrame({"age": ages})
    return Table.build(frame, Schema([Column(name="age", role="quasi", type="number")]))


CLASSES = Classes(np.arange(12), np.array([0, 10, 12]))


def test_the_row_that_stretches_its_class_is_suppressed(table):
    result = Suppress(at_most=0.1).handle(table, CLASSES, Guard([AtLeast(k=2)]), StageContext())

    assert [9] == result.suppressed.tolist()
    assert [9, 2] == result.sizes.tolist()


def test_nothing_is_suppressed_beyond_the_limit(table):
    result = Suppress(at_most=0.05).handle(table, CLASSES, Guard([AtLeast(k=2)]), StageContext())

    assert CLASSES.rows.tolist() == result.rows.tolist()


def test_rows_that_are_suppressed_already_count(table):
    given = Classes(np.arange(10), np.array([0, 10]), np.array([10, 11]))

    result = Suppress(at_most=0.17).handle(table, given, Guard([AtLeast(k=2)]), StageContext())

    assert [10, 11] == result.suppressed.tolist()


def test_a_class_is_never_taken_below_the_guard(table):
    result = Suppress(at_most=1).handle(table, CLASSES, Guard([AtLeast(k=10)]), StageContext())

    assert [10, 2] == result.sizes.tolist()


def test_the_number_of_suppressed_rows_is_a_finding(table):
    context = StageContext()

    Suppress(at_most=0.1).handle(table, CLASSES, Guard([AtLeast(k=2)]), context)

    assert [("outliers_suppressed", 1)] == [(result.name, result.value) for result in context.found]


def test_none_returns_what_it_is_given(table):
    assert CLASSES is LeaveAll().handle(table, CLASSES, Guard([AtLeast(k=2)]), StageContext())
