"""What holds for every table: admitted leaves, counted in plain Python, and regions of them."""

from collections import Counter, defaultdict

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom import Classes, Column, Guard, Schema, StageContext, Table
from anonloom.data import Regions
from anonloom.errors import ParameterError, UsageError
from anonloom_tada.kl_tree import KLTree
from anonloom_testing.privacy_cases import AtLeast, DistinctValues, WithinDistance

WAYS = [KLTree(), KLTree(reuse=True), KLTree(gain="gini"), KLTree(task="clustering")]
NAMES = ["age", "day", "town", "illness", "risk"]


@st.composite
def tables(draw, min_rows=1, max_rows=60):
    cells = st.tuples(
        st.sampled_from([None, -3.5, 0, 1, 2, 2.25, 40]),
        st.sampled_from([None, "2020-01-31", "2020-02-01", "2021-07-01", "1999-12-31"]),
        st.sampled_from([None, *"abcde"]),
        st.sampled_from("xyz"),
        st.sampled_from(["yes", "no", None]),
    )
    rows = draw(st.lists(cells, min_size=min_rows, max_size=max_rows))
    columns = [
        Column(name="age", role="quasi", type="number"),
        Column(name="day", role="quasi", type="date"),
        Column(name="town", role="quasi"),
        Column(name="illness", role="sensitive"),
        Column(name="risk", role="label"),
    ]
    return Table.build(pd.DataFrame(rows, columns=NAMES), Schema(columns))


@pytest.mark.parametrize("method", WAYS, ids=str)
@given(
    table=tables(),
    k=st.integers(1, 6),
    diversity=st.integers(1, 3),
    t=st.sampled_from([0.2, 0.5, 1.0]),
)
@settings(deadline=None, max_examples=40)
def test_every_leaf_has_k_rows_and_l_values_and_is_close_to_all_rows(
    method, table, k, diversity, t
):
    """Counted from the rows, not by the guard; every row is in one leaf or suppressed."""
    models = [AtLeast(k=k), DistinctValues(l=diversity, of="illness")]
    guard = Guard([*models, WithinDistance(t=t, of="illness")])
    result = method.partition(table, table.whole(), guard, StageContext())

    illness = table.column("illness").tolist()
    inside = defaultdict(list)
    for row, leaf in enumerate(result.labels(len(table)).tolist()):
        inside[leaf].append(illness[row])
    suppressed = inside.pop(-1, [])
    assert len(suppressed) in (0, len(table))
    assert all(len(values) >= k for values in inside.values())
    assert all(len(set(values)) >= diversity for values in inside.values())
    for values in inside.values():
        too_many = [
            values.count(value) / len(values) - illness.count(value) / len(illness)
            for value in set(values)
        ]
        assert sum(more for more in too_many if more > 0) <= t + 1e-9


@pytest.mark.parametrize("method", WAYS, ids=str)
@given(table=tables(), k=st.integers(1, 5), data=st.data())
@settings(deadline=None, max_examples=40)
def test_the_order_of_rows_decides_nothing(method, table, k, data):
    order = data.draw(st.permutations(range(len(table))))
    frame = pd.DataFrame({name: table.column(name) for name in NAMES})
    turned = Table.build(frame.iloc[order].reset_index(drop=True), table.schema)
    guard = Guard([AtLeast(k=k), DistinctValues(l=2, of="illness")])

    one = method.partition(table, table.whole(), guard, StageContext())
    other = method.partition(turned, turned.whole(), guard, StageContext())

    assert as_sets(one, [*range(len(table))]) == as_sets(other, order)


def as_sets(classes, names):
    """Classes as sets of what their rows are called."""
    members = (classes.members(index).tolist() for index in range(len(classes)))
    return {frozenset(names[row] for row in rows) for rows in members}


@pytest.mark.parametrize("method", WAYS, ids=str)
@given(table=tables(), k=st.integers(1, 5))
@settings(deadline=None, max_examples=40)
def test_the_first_region_that_holds_a_row_is_that_of_its_class(method, table, k):
    result = method.partition(table, table.whole(), Guard([AtLeast(k=k)]), StageContext())

    for index in range(len(result)):
        for row in result.members(index):
            holds = (result.regions.lo <= table.codes[:, row]) & (
                table.codes[:, row] <= result.regions.hi
            )
            assert index == np.flatnonzero(holds.all(axis=1))[0]


@given(table=tables(), k=st.integers(1, 5))
@settings(deadline=None, max_examples=40)
def test_a_column_is_used_once_per_path(table, k):
    """There are then at most two leaves for every number of columns that were used."""
    result = KLTree().partition(table, table.whole(), Guard([AtLeast(k=k)]), StageContext())

    assert len(result) <= 2 ** len(table.axes)


@given(table=tables(min_rows=2), k=st.integers(1, 4))
@settings(deadline=None, max_examples=40)
def test_a_leaf_that_could_be_split_is_pure(table, k):
    """With `reuse` and k-anonymity: no leaf with two labels has a threshold of age that is left."""
    result = KLTree(reuse=True).partition(
        table, table.whole(), Guard([AtLeast(k=k)]), StageContext()
    )

    risk = table.column("risk")
    for index in range(len(result)):
        rows = result.members(index)
        if len(set(risk.iloc[rows].dropna())) > 1:
            counts = Counter(table.codes[0, rows].tolist())
            below = np.cumsum([counts[code] for code in sorted(counts)])
            assert all(min(left, len(rows) - left) < k for left in below.tolist())


def test_given_regions_are_refined_not_forgotten():
    frame = pd.DataFrame({"age": [*range(8)], "risk": [*"nnnnyynn"]})
    schema = Schema(
        [Column(name="age", role="quasi", type="number"), Column(name="risk", role="label")]
    )
    table = Table.build(frame, schema)
    given_regions = Regions(np.array([[0], [4]], np.int32), np.array([[3], [7]], np.int32))
    classes = Classes(np.arange(8), np.array([0, 4, 8]), regions=given_regions)

    result = KLTree().partition(table, classes, Guard([AtLeast(k=2)]), StageContext())

    assert [[0, 1, 2, 3], [4, 5], [6, 7]] == [result.members(index).tolist() for index in range(3)]
    assert [0, 4, 6] == result.regions.lo.ravel().tolist()
    assert [3, 5, 7] == result.regions.hi.ravel().tolist()


def test_leaves_of_classes_that_nobody_gave_regions_have_none():
    """All of space for each of them would send every later row to the first."""
    frame = pd.DataFrame({"age": [*range(8)], "risk": [*"nnyynnyy"]})
    schema = Schema(
        [Column(name="age", role="quasi", type="number"), Column(name="risk", role="label")]
    )
    table = Table.build(frame, schema)
    interleaved = Classes(np.array([0, 2, 4, 6, 1, 3, 5, 7]), np.array([0, 4, 8]))

    result = KLTree().partition(table, interleaved, Guard([AtLeast(k=2)]), StageContext())

    assert [2, 2, 2, 2] == result.sizes.tolist()
    assert result.regions is None


def test_clusters_that_lie_apart_are_found_again():
    """Four clouds in the corners of a square, whose columns say nothing one by one."""
    rng = np.random.default_rng(2)
    corner = rng.integers(0, 4, 200)
    frame = pd.DataFrame(
        {
            "x": 100 * (corner % 2) + rng.integers(0, 10, 200),
            "y": 100 * (corner // 2) + rng.integers(0, 10, 200),
            "job": np.array([*"AABB"])[corner],
        }
    )
    columns = [
        Column(name="x", role="quasi", type="number"),
        Column(name="y", role="quasi", type="number"),
        Column(name="job", role="quasi"),
    ]
    table = Table.build(frame, Schema(columns))
    k = int(np.bincount(corner).min())

    result = KLTree(task="clustering").partition(
        table, table.whole(), Guard([AtLeast(k=k)]), StageContext()
    )

    clouds = {frozenset(np.flatnonzero(corner == index).tolist()) for index in range(4)}
    assert clouds == as_sets(result, [*range(200)])


def test_a_pair_that_no_single_column_shows_is_found():
    """A split without gain is taken where no other is left: the next level gains everything."""
    rows = [(a, b, "yes" if (a == "x") != (b == "x") else "no") for a in "xy" for b in "xy"] * 6
    frame = pd.DataFrame(rows, columns=["a", "b", "risk"])
    schema = Schema(
        [
            Column(name="a", role="quasi"),
            Column(name="b", role="quasi"),
            Column(name="risk", role="label"),
        ]
    )
    table = Table.build(frame, schema)

    result = KLTree().partition(table, table.whole(), Guard([AtLeast(k=3)]), StageContext())

    labels = frame["risk"].to_numpy()
    assert [1] * 4 == [len(set(labels[result.members(index)])) for index in range(len(result))]


def test_many_columns_and_a_table_smaller_than_two_classes():
    rng = np.random.default_rng(1)
    names = [f"q{index}" for index in range(30)]
    frame = pd.DataFrame(rng.integers(0, 4, (40, 30)), columns=names).assign(
        risk=rng.choice(["yes", "no"], 40)
    )
    schema = Schema(
        [
            *(Column(name=name, role="quasi", type="number") for name in names),
            Column(name="risk", role="label"),
        ]
    )
    table = Table.build(frame, schema)

    results = {
        k: KLTree().partition(table, table.whole(), Guard([AtLeast(k=k)]), StageContext())
        for k in (5, 20, 21, 40, 41)
    }

    assert len(results[5]) > 2
    assert 2 == len(results[20])
    assert [1, 1, 0] == [len(results[k]) for k in (21, 40, 41)]
    assert 40 == len(results[41].suppressed)


def test_without_a_label_the_method_says_so():
    frame = pd.DataFrame({"age": [1, 2, 3]})
    table = Table.build(frame, Schema([Column(name="age", role="quasi", type="number")]))
    with pytest.raises(UsageError) as raised:
        KLTree().partition(table, table.whole(), Guard([AtLeast(k=1)]), StageContext())
    assert (
        "kl-tree: no column has the role 'label': declare what is to be predicted, or use "
        "'task: clustering'"
    ) == str(raised.value)
    assert KLTree(task="clustering").problem(table.schema) is None


def test_a_column_that_is_no_label_and_a_category_without_variance_are_refused():
    schema = Schema([Column(name="age", role="quasi"), Column(name="risk", role="label")])
    assert "column 'age' does not have the role 'label'; labels: 'risk'" == KLTree(
        labels={"age": 1.0}
    ).problem(schema)
    assert (
        "column 'risk' is a category, which has no variance; use 'gain: entropy' or 'gain: gini'"
        == KLTree(gain="variance").problem(schema)
    )


@pytest.mark.parametrize("said", [{"labels": {"risk": 1.0}}, {"gain": "gini"}])
def test_what_is_said_of_labels_is_refused_where_none_is_looked_at(said):
    (name,) = said
    with pytest.raises(
        ValueError, match=f"^'{name}' is for 'task: prediction'; clustering looks at no label$"
    ):
        KLTree(task="clustering", **said)


@pytest.mark.parametrize("weight", [0.0, -1.0])
def test_a_label_without_weight_is_refused(weight):
    """It would never be split for, and nobody would be told."""
    with pytest.raises(ParameterError) as raised:
        KLTree(labels={"risk": 1.0, "cost": weight})
    assert (
        "The 'labels' parameter of KLTree must be a mapping of names to numbers that is not empty, "
        f"each above 0, or None. Got {{'risk': 1.0, 'cost': {weight}}} instead."
    ) == str(raised.value)


def test_without_a_quasi_identifier_classes_stay_as_they_are():
    frame = pd.DataFrame({"risk": [*"yynn"]})
    table = Table.build(frame, Schema([Column(name="risk", role="label")]))

    kept = KLTree().partition(table, table.whole(), Guard([AtLeast(k=4)]), StageContext())
    lost = KLTree().partition(table, table.whole(), Guard([AtLeast(k=5)]), StageContext())

    assert (1, 0) == (len(kept), len(kept.suppressed))
    assert (0, 4) == (len(lost), len(lost.suppressed))


def test_progress_reaches_all_rows():
    reports = []
    frame = pd.DataFrame({"age": range(100), "risk": ["a", "b"] * 50})
    schema = Schema(
        [Column(name="age", role="quasi", type="number"), Column(name="risk", role="label")]
    )
    table = Table.build(frame, schema)
    context = StageContext(report=lambda done, total: reports.append((done, total)))

    KLTree(reuse=True).partition(table, table.whole(), Guard([AtLeast(k=3)]), context)

    assert (100, 100) == reports[-1]
    assert sorted(reports) == reports


def test_a_tree_for_labels_is_the_first_of_two_steps_and_one_for_clusters_is_not():
    assert (
        "kl-tree is the first of two steps: it divides rows by what predicts the label, and no "
        "partitioner follows that divides its leaves further. More is generalized than the privacy "
        "models demand; another partitioner after it, such as level-order, keeps more."
        == KLTree().unrefined
    )
    assert KLTree(task="clustering").unrefined is None
