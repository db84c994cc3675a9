"""What holds for every table, however it is cut, and what cutting where loss drops is good for."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom import Column, Guard, Schema, StageContext, Table
from anonloom.hierarchies import Tree
from anonloom_loss import gcp
from anonloom_mondrian.mondrian import Mondrian
from anonloom_testing.privacy_cases import AtLeast, DistinctValues, WithinDistance

WAYS = [
    Mondrian(),
    Mondrian(mode="relaxed"),
    Mondrian(cut="widest"),
    Mondrian(cut="widest", ties="best"),
    Mondrian(cut="widest", ties="left"),
    Mondrian(cut="widest", mode="relaxed"),
]
FORMS = {"number": ["interval"], "category": ["nodes", "set"]}


@st.composite
def columns_and_rows(draw):
    """Draw columns of both types, some constant, some with missing cells, and up to 40 rows."""
    width = draw(st.sampled_from([1, 2, 3, 30]))
    length = draw(st.integers(1, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    frame, columns = {}, []
    for index in range(width):
        kind = draw(st.sampled_from(["number", "category"])) if index < 3 else "number"
        codes = rng.integers(0, draw(st.sampled_from([1, 2, 5, 30])) if index < 3 else 3, length)
        cells = (
            codes.astype(object) if kind == "number" else np.array([f"v{c}" for c in codes], "O")
        )
        cells[rng.random(length) < draw(st.sampled_from([0.0, 0.2]))] = None
        frame[f"q{index}"] = cells
        form = draw(st.sampled_from(FORMS[kind]))
        columns.append(Column(name=f"q{index}", role="quasi", type=kind, publish=form))
    frame["illness"] = rng.choice(list("xyz"), length)
    columns.append(Column(name="illness", role="sensitive"))
    return Table.build(pd.DataFrame(frame), Schema(columns))


def classes_of(table, guard, method):
    return method.partition(table, table.whole(), guard, StageContext())


def illnesses(table, rows):
    """The illnesses of some rows, read without the coded table's help."""
    cells = table.column("illness").tolist()
    return [cells[row] for row in rows]


@given(table=columns_and_rows(), k=st.integers(1, 6), l=st.integers(1, 3))
@settings(deadline=None, max_examples=60)
def test_classes_are_large_and_diverse_when_recounted(table, k, l):  # noqa: E741  # the paper's letter
    """The literature's k and l, counted from the cells, in every way."""
    guard = Guard([AtLeast(k=k), DistinctValues(l=l, of="illness")])
    whole = illnesses(table, range(len(table)))
    fits = len(whole) >= k and len(set(whole)) >= l

    for method in WAYS:
        result = classes_of(table, guard, method)

        assert (len(table) if fits else 0) == len(result.rows), method
        for index in range(len(result)):
            values = illnesses(table, result.members(index))
            assert len(values) >= k, method
            assert len(set(values)) >= l, method


@given(table=columns_and_rows(), t=st.sampled_from(["0.1", "0.3", "0.5"]))
@settings(deadline=None, max_examples=60)
def test_classes_are_close_when_recounted(table, t):
    """Half the sum of differences of shares, in exact fractions, in every way."""
    guard = Guard([AtLeast(k=2), WithinDistance(t=float(t), of="illness")])
    overall = Counter(illnesses(table, range(len(table))))

    for method in WAYS:
        result = classes_of(table, guard, method)

        for index in range(len(result)):
            inside = Counter(illnesses(table, result.members(index)))
            size = inside.total()
            far = sum(
                abs(Fraction(inside[value], size) - Fraction(count, len(table)))
                for value, count in overall.items()
            )
            assert far / 2 <= Fraction(t), method


@pytest.mark.parametrize("method", WAYS, ids=str)
@pytest.mark.parametrize(("n", "classes"), [(4, 0), (5, 1), (9, 1), (10, 2)])
def test_the_number_of_rows_decides_where_nothing_else_does(method, n, classes):
    """k = 5 and one axis of different numbers: n < k, n = k, n = 2k - 1, n = 2k."""
    frame = pd.DataFrame({"age": range(n)})
    table = Table.build(frame, Schema([Column(name="age", role="quasi", type="number")]))

    assert classes == len(classes_of(table, Guard([AtLeast(k=5)]), method))


@given(table=columns_and_rows(), k=st.integers(1, 6))
@settings(deadline=None, max_examples=60)
def test_relaxed_cuts_where_loss_drops_refine_the_strict_ones(table, k):
    """A value is torn only where no other cut is left, so that nothing more is lost."""
    guard = Guard([AtLeast(k=k)])
    strict = classes_of(table, guard, Mondrian())
    relaxed = classes_of(table, guard, Mondrian(mode="relaxed"))

    if len(strict):
        outer = strict.labels(len(table))
        for index in range(len(relaxed)):
            assert 1 == len(set(outer[relaxed.members(index)].tolist()))
        assert gcp(table, relaxed) <= gcp(table, strict) + 1e-12


@given(table=columns_and_rows(), k=st.integers(1, 6))
@settings(deadline=None, max_examples=60)
def test_no_strict_cut_between_values_is_left(table, k):
    """However cuts are chosen, with k alone the recursion ends only where no axis has a cut."""
    result = classes_of(table, Guard([AtLeast(k=k)]), Mondrian())

    for index in range(len(result)):
        for codes in table.codes[:, result.members(index)]:
            below = [int((codes <= value).sum()) for value in np.unique(codes)]
            assert all(left < k or len(codes) - left < k for left in below)


@pytest.mark.parametrize("order", ["north west south", "west north south", "south west north"])
def test_the_order_of_siblings_does_not_matter(order):
    """Half of the people live in the west: wherever it stands, it is cut off from the rest."""
    towns = {"north": ["a", "b"], "west": ["c", "d"], "south": ["e", "f"]}
    tree = {name: towns[name] for name in order.split()}
    frame = pd.DataFrame({"town": list("aabbeeffccccdddd")})
    table = Table.build(
        frame, Schema([Column(name="town", role="quasi", hierarchy=Tree(tree=tree))])
    )

    result = classes_of(table, Guard([AtLeast(k=8)]), Mondrian())

    assert {"abef", "cd"} == {
        "".join(sorted(set(frame["town"].iloc[result.members(index)])))
        for index in range(len(result))
    }


def test_all_axes_count_not_only_the_cut_one():
    """Cutting by age halves its range; cutting by sex also makes every job certain."""
    frame = pd.DataFrame(
        {"age": [20, 30, 40, 50] * 2, "sex": list("ffffmmmm"), "job": list("ppppqqqq")}
    )
    table = Table.build(
        frame,
        Schema(
            [
                Column(name="age", role="quasi", type="number"),
                Column(name="sex", role="quasi"),
                Column(name="job", role="quasi"),
            ]
        ),
    )

    result = classes_of(table, Guard([AtLeast(k=4)]), Mondrian())

    assert [[0, 1, 2, 3], [4, 5, 6, 7]] == sorted(
        sorted(result.members(index).tolist()) for index in range(len(result))
    )


@pytest.mark.parametrize(("per_bit", "sizes"), [(0.0, [8, 8]), (1.0, [4, 6, 6])])
def test_per_bit_decides_between_a_large_gain_and_a_cheap_one(per_bit, sizes):
    """Sex gains 1.2 and takes a whole bit; the land gains 1.0 and takes 0.81 bits."""
    frame = pd.DataFrame({"sex": list("ffffffffmmmmmmmm"), "land": list("xxyyyyyyxxyyyyyy")})
    table = Table.build(
        frame,
        Schema(
            [
                Column(name="sex", role="quasi", weight=1.2),
                Column(name="land", role="quasi", weight=1.0),
            ]
        ),
    )

    result = classes_of(table, Guard([AtLeast(k=4)]), Mondrian(per_bit=per_bit))

    assert sizes == sorted(result.sizes.tolist())


def test_of_many_children_only_the_large_ones_are_cut_off():
    """20 leaves under one node: a leaf with a sixteenth of the rows may go alone, others not."""
    leaves = [f"v{index:02}" for index in range(20)]
    # 16 rows of v10 in the middle of the order, 4 of every other leaf.
    rows = [leaf for leaf in leaves for _ in range(16 if leaf == "v10" else 4)]
    table = Table.build(pd.DataFrame({"q": rows}), Schema([Column(name="q", role="quasi")]))

    result = classes_of(table, Guard([AtLeast(k=4)]), Mondrian())

    alone = [set(np.array(rows)[result.members(index)]) for index in range(len(result))]
    assert {"v10"} in alone
    assert len(rows) == result.sizes.sum()
