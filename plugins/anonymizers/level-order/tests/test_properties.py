"""What holds for every table, however the order is found."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from anonloom import Classes, Column, Guard, Schema, StageContext, Table
from anonloom.hierarchies import Breaks, Tree
from anonloom_level_order.method import LevelOrder
from anonloom_testing.privacy_cases import AtLeast, DistinctValues, WithinDistance

TREE = {"north": ["a", "b"], "south": ["c", "d", "e"]}
WAYS = [
    LevelOrder(search="none"),
    LevelOrder(),
    LevelOrder(search="full", rounds=2, tried=2),
]


def mixed_table(rows, columns, seed, missing=0.0, constant=False):
    """Return a table of numbers and categories, in turn with every form of publishing."""
    rng = np.random.default_rng(seed)
    frame, schema = pd.DataFrame(index=range(rows)), []
    for index in range(columns):
        name, form = f"q{index}", ("interval", "nodes", "set")[index // 2 % 3]
        if index % 2 == 0:
            cells = pd.Series(rng.integers(0, 1 if constant else 9, rows).astype(object))
            bins = Breaks(breaks=((3, 6),)) if form == "nodes" else None
            column = Column(name=name, role="quasi", type="number", publish=form, hierarchy=bins)
        else:
            cells = pd.Series(rng.choice(list("a" if constant else "abcde"), rows), dtype=object)
            form = "nodes" if form == "interval" else form
            column = Column(name=name, role="quasi", hierarchy=Tree(tree=TREE), publish=form)
        cells[rng.random(rows) < missing] = None
        frame[name] = cells
        schema.append(column)
    frame["illness"] = rng.choice(list("xyz"), rows)
    schema.append(Column(name="illness", role="sensitive"))
    return Table.build(frame, Schema(schema))


def partition(table, method, *models, context=None, classes=None):
    given_classes = table.whole() if classes is None else classes
    return method.partition(table, given_classes, Guard(models), context or StageContext(seed=1))


def in_order(classes):
    return [classes.members(index).tolist() for index in range(len(classes))]


def illnesses(table, rows):
    """The illnesses of some rows, read without the coded table's help."""
    cells = table.column("illness").tolist()
    return [cells[row] for row in rows]


any_table = {
    "rows": st.integers(1, 60),
    "columns": st.sampled_from([0, 1, 2, 3, 6, 30]),
    "missing": st.sampled_from([0.0, 0.2, 1.0]),
    "constant": st.booleans(),
    "seed": st.integers(0, 99),
}


@given(**any_table, k=st.integers(1, 7))
@example(rows=5, columns=3, missing=0.2, constant=False, seed=0, k=6)
@example(rows=6, columns=3, missing=0.2, constant=False, seed=0, k=6)
@example(rows=11, columns=3, missing=0.2, constant=False, seed=0, k=6)
@example(rows=12, columns=30, missing=0.2, constant=True, seed=0, k=6)
@example(rows=1, columns=1, missing=1.0, constant=True, seed=0, k=1)
@settings(deadline=None, max_examples=80)
def test_every_class_has_k_to_2k_minus_1_rows(rows, columns, missing, constant, seed, k):
    table = mixed_table(rows, columns, seed, missing, constant)

    for method in WAYS:
        result = partition(table, method, AtLeast(k=k))

        if rows < k:
            assert list(range(rows)) == result.suppressed.tolist(), method
            assert 0 == len(result), method
        else:
            assert list(range(rows)) == sorted(result.rows.tolist()), method
            assert {True} == {k <= size <= 2 * k - 1 for size in result.sizes.tolist()}, method


@given(**any_table, k=st.sampled_from([1, 2, 5, 20]), l=st.integers(1, 3))
@settings(deadline=None, max_examples=50)
def test_classes_are_large_and_diverse_when_recounted(
    rows, columns, missing, constant, seed, k, l  # noqa: E741  # the paper's letter
):  # fmt: skip
    """The literature's k and l, counted from the cells; nothing is given up that need not be."""
    table = mixed_table(rows, columns, seed, missing, constant)

    whole = illnesses(table, range(rows))
    fits = rows >= k and len(set(whole)) >= l

    for method in WAYS:
        result = partition(table, method, AtLeast(k=k), DistinctValues(l=l, of="illness"))

        assert (rows if fits else 0) == len(result.rows), method
        for index in range(len(result)):
            values = illnesses(table, result.members(index))
            assert len(values) >= k, method
            assert len(set(values)) >= l, method


@given(**any_table, k=st.sampled_from([1, 2, 5, 20, 30]), t=st.sampled_from(["0.1", "0.3", "0.5"]))
@settings(deadline=None, max_examples=50)
def test_classes_are_close_when_recounted(
    rows, columns, missing, constant, seed, k, t
):  # fmt: skip
    """Half the sum of differences of shares, in exact fractions."""
    table = mixed_table(2 * rows, columns, seed, missing, constant)

    overall = Counter(illnesses(table, range(len(table))))

    for method in WAYS:
        result = partition(table, method, AtLeast(k=k), WithinDistance(t=float(t), of="illness"))

        assert (len(table) if len(table) >= k else 0) == len(result.rows), method
        for index in range(len(result)):
            inside = Counter(illnesses(table, result.members(index)))
            far = sum(
                abs(Fraction(inside[value], inside.total()) - Fraction(count, len(table)))
                for value, count in overall.items()
            )
            assert inside.total() >= k, method
            assert far / 2 <= Fraction(t), method


@pytest.mark.parametrize("method", WAYS, ids=str)
@given(sizes=st.lists(st.integers(1, 25), min_size=1, max_size=6), k=st.integers(1, 6))
@settings(deadline=None, max_examples=40)
def test_given_classes_are_refined_and_those_too_small_suppressed(method, sizes, k):
    table = mixed_table(sum(sizes) + 3, 4, seed=len(sizes), missing=0.1)
    rows = np.random.default_rng(k).permutation(len(table))
    bounds = np.append(0, np.cumsum(sizes)).astype(np.int64)
    classes = Classes(rows[: bounds[-1]], bounds, rows[bounds[-1] :])

    result = partition(table, method, AtLeast(k=k), classes=classes)

    owner = classes.labels(len(table))
    assert all(1 == len(set(owner[members])) for members in in_order(result))
    lost = [row for row in classes.rows if classes.sizes[owner[row]] < k]
    assert sorted([*lost, *classes.suppressed]) == sorted(result.suppressed)
    assert {True} >= {k <= size <= 2 * k - 1 for size in result.sizes.tolist()}


@pytest.mark.parametrize("method", WAYS, ids=str)
def test_a_class_that_cannot_be_admitted_does_not_spoil_the_others(method):
    """The second given class has one illness only."""
    frame = pd.DataFrame({"age": range(20), "illness": ["x", "y"] * 5 + ["x"] * 10})
    table = Table.build(
        frame,
        Schema(
            [
                Column(name="age", role="quasi", type="number"),
                Column(name="illness", role="sensitive"),
            ]
        ),
    )
    classes = Classes(np.arange(20), np.array([0, 10, 20]))

    result = partition(
        table, method, AtLeast(k=2), DistinctValues(l=2, of="illness"), classes=classes
    )

    assert list(range(10, 20)) == result.suppressed.tolist()
    assert [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9]] == sorted(map(sorted, in_order(result)))


@pytest.mark.parametrize("method", WAYS, ids=str)
def test_where_the_order_is_infeasible_longer_classes_help(method):
    """By age all the sick with y come last; no five neighbours but the last have both."""
    frame = pd.DataFrame({"age": range(40), "illness": ["x"] * 39 + ["y"]})
    table = Table.build(
        frame,
        Schema(
            [
                Column(name="age", role="quasi", type="number"),
                Column(name="illness", role="sensitive"),
            ]
        ),
    )

    result = partition(table, method, AtLeast(k=5), DistinctValues(l=2, of="illness"))

    assert [40] == result.sizes.tolist()


@pytest.mark.compiled
@pytest.mark.parametrize("method", WAYS, ids=str)
@pytest.mark.parametrize("models", [(), (DistinctValues(l=2, of="illness"),)], ids=["k", "l"])
def test_the_number_of_workers_changes_nothing(method, models):
    table = mixed_table(9000, 4, seed=5, missing=0.1)
    classes = Classes(np.arange(9000), np.array([0, 5000, 6000, 9000]))

    alone, together, again = (
        partition(table, method, AtLeast(k=5), *models, context=StageContext(seed=2, workers=workers), classes=classes)
        for workers in (1, 3, 3)
    )  # fmt: skip

    assert in_order(alone) == in_order(together) == in_order(again)


def test_another_seed_gives_other_classes_of_a_full_search():
    table = mixed_table(300, 4, seed=5)
    method = LevelOrder(search="full", rounds=3)

    one, other = (
        partition(table, method, AtLeast(k=5), context=StageContext(seed=seed)) for seed in (1, 2)
    )

    assert in_order(one) != in_order(other)


@pytest.mark.parametrize("method", WAYS[:2], ids=str)
def test_without_a_full_search_the_seed_changes_nothing(method):
    table = mixed_table(300, 4, seed=5)

    one, other = (
        partition(table, method, AtLeast(k=5), context=StageContext(seed=seed)) for seed in (1, 2)
    )

    assert in_order(one) == in_order(other)


@pytest.mark.compiled
@pytest.mark.parametrize("method", WAYS, ids=str)
def test_very_many_given_classes_are_no_trouble(method):
    table = mixed_table(50_000, 3, seed=1)
    classes = Classes(np.arange(50_000), np.arange(0, 50_001, 10))

    result = partition(table, method, AtLeast(k=5), classes=classes)

    assert 10_000 == len(result)
    assert {5} == set(result.sizes.tolist())


@pytest.mark.parametrize("rounds", [0, 4])
def test_progress_ends_with_the_last_round(rounds):
    reports = []
    context = StageContext(report=lambda done, total: reports.append((done, total)))

    partition(
        mixed_table(500, 3, seed=1),
        LevelOrder(search="full", rounds=rounds),
        AtLeast(k=5),
        context=context,
    )

    assert [(500, 500), *((turn, rounds) for turn in range(1, rounds + 1))] == reports


def test_equal_rows_share_a_class_where_they_can():
    frame = pd.DataFrame({"sex": list("fm") * 10, "town": list("aabb") * 5})
    table = Table.build(
        frame, Schema([Column(name="sex", role="quasi"), Column(name="town", role="quasi")])
    )

    for method in WAYS:
        result = partition(table, method, AtLeast(k=5))
        assert [5] * 4 == result.sizes.tolist()
        assert {1} == {
            len({tuple(table.codes[:, row]) for row in members}) for members in in_order(result)
        }
