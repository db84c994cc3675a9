"""The level-by-level tree is the one that a slow recursion over single rows grows."""

from collections import Counter
from math import log

import attrs
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from anonloom import Classes, Column, Finding, Guard, PrivacyModel, Schema, StageContext, Table
from anonloom.hierarchies import Tree, Widths
from anonloom_tada import tree_growth
from anonloom_tada.kl_tree import KLTree
from anonloom_testing.privacy_cases import AtLeast, DistinctValues, WithinDistance, half_of

TOWNS = {"north": ["a", "b", "c"], "south": {"near": ["d", "e"], "g": None}, "f": None}


# --- the oracle ----------------------------------------------------------------------------------


class Oracle:
    """Grows the tree by plain recursion."""

    def __init__(self, table, members, guard, method):
        self.table, self.guard, self.method = table, guard, method
        self.known = {}
        self.gained = [0.0] * len(table.axes)
        every = [row for rows in members for row in rows]
        labels = method.labels or dict.fromkeys(table.schema.names_with_role("label"), 1.0)
        self.labels = {} if method.task == "clustering" else labels
        self.whole = {name: self.label_impurity(name, every) for name in self.labels}

    def classes(self, members):
        results = [leaf for rows in members for leaf in self.grow(rows, frozenset())]
        good = [rows for rows in results if self.admitted(rows)]
        lost = [row for rows in results for row in rows if rows not in good]
        return {frozenset(rows) for rows in good}, set(lost)

    def grow(self, rows, used):
        if self.impurity(rows) <= 1e-9:
            return [rows]
        splits = []
        for index in range(len(self.table.axes)):
            if index not in used or self.method.reuse or self.method.task == "clustering":
                splits += [(index, parts) for parts in self.splits(index, rows)]
        # Python's sort keeps the order of equals: the first column, the first split.
        splits.sort(key=lambda split: (-self.score(rows, split[1]), -min(map(len, split[1]))))
        for index, parts in splits:
            if all(self.admitted(part) for part in parts):
                self.gained[index] += self.impurity(rows) - sum(map(self.impurity, parts))
                return [leaf for part in parts for leaf in self.grow(part, used | {index})]
        return [rows]

    def splits(self, at, rows):
        """Every threshold of a number; every node of a category against the rest."""
        axis, code = self.table.axes[at], self.table.codes[at]
        present = sorted({int(code[row]) for row in rows})
        if axis.type != "category":
            taken = [set(present[:count]) for count in range(1, len(present))]
        else:
            taken = [{value} for value in present]
            for level in axis.hierarchy.ancestors[1:]:
                for node in dict.fromkeys(level.tolist()):
                    taken.append({v for v in present if v != axis.missing and level[v] == node})
        seen = set()
        for inside in taken:
            parts = [
                [row for row in rows if (code[row] in inside) is side] for side in (True, False)
            ]
            division = frozenset(map(frozenset, parts))
            if all(parts) and division not in seen:
                seen.add(division)
                yield parts

    def score(self, rows, parts):
        before = self.impurity(rows)
        return round(max(1 - sum(map(self.impurity, parts)) / before, 0.0), 10)

    def impurity(self, rows):
        key = frozenset(rows)
        if key not in self.known:
            self.known[key] = self.computed(rows)
        return self.known[key]

    def computed(self, rows):
        if self.method.task == "clustering":
            return sum(self.axis_distance(index, rows) for index in range(len(self.table.axes)))
        return sum(
            weight * self.label_impurity(name, rows) / self.whole[name]
            for name, weight in self.labels.items()
            if self.whole[name] > 1e-9
        )

    def label_impurity(self, name, rows):
        coded, gain = self.table.encode_column(name), self.method.gain
        codes = [c for c in coded.codes[rows].tolist() if c != coded.axis.missing]
        if not codes:
            return 0.0
        category = self.table.schema[name].type == "category"
        if gain == "variance" or (gain == "auto" and not category):
            return len(codes) * float(np.var(coded.axis.places[codes]))
        shares = [count / len(codes) for count in Counter(codes).values()]
        if gain == "gini":
            return len(codes) * (1 - sum(share**2 for share in shares))
        return len(codes) * -sum(share * log(share) for share in shares)

    def axis_distance(self, at, rows):
        """Squared distances of all pairs of rows over the number of rows."""
        axis = self.table.axes[at]
        codes = self.table.codes[at][rows].tolist()
        known = [code for code in codes if code != axis.missing]
        lacking = len(codes) - len(known)
        result = len(known) * lacking / len(codes)
        if axis.type == "category":
            height = axis.hierarchy.depth - 1
            pairs = sum(
                int(axis.hierarchy.level(np.array(min(a, b)), np.array(max(a, b)))) / height
                for i, a in enumerate(known)
                for b in known[:i]
            )
            result += pairs / len(codes)
        elif known:
            places = axis.places[known] / (axis.range or 1.0)
            result += sum((a - b) ** 2 for i, a in enumerate(places) for b in places[:i]) / len(
                known
            )
        return axis.weight * result

    def admitted(self, rows):
        ends = np.array([0]), np.array([len(rows)])
        return bool(self.guard.admits(self.table, np.array(rows), *ends)[0])


# --- tables and guards ---------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class EvenSizes(PrivacyModel):
    """Admits classes of an even number of rows: parts of what it admits may be refused, and a
    whole may be refused whose parts it admits."""

    monotone = False

    def admits(self, table, rows, starts, stops):
        return (np.asarray(stops) - np.asarray(starts)) % 2 == 0

    def would_pass(self, table, rows, starts, stops):
        return "another number of rows"


@st.composite
def tables(draw):
    cells = st.tuples(
        st.sampled_from([None, 1, 2, 3, 5, 8, 30]),
        st.sampled_from([None, *"abcdefg"]),
        st.sampled_from("ABCD"),
        st.sampled_from("fm"),
        st.sampled_from("xyz"),
        st.sampled_from([None, "yes", "no", "perhaps"]),
        st.sampled_from([None, 0, 1, 2, 10]),
        st.integers(0, 8),
    )
    rows = draw(st.lists(cells, min_size=draw(st.sampled_from([1, 12, 24])), max_size=30))
    names = ["age", "town", "job", "sex", "illness", "risk", "cost", "person"]
    columns = [
        Column(
            name="age",
            role="quasi",
            type="number",
            weight=draw(st.sampled_from([1.0, 3.0])),
            # Thresholds of a number lie where its labels want them, not where its bins end.
            hierarchy=draw(st.sampled_from([None, Widths(widths=(5.0, 20.0))])),
        ),
        Column(name="town", role="quasi", hierarchy=Tree(tree=TOWNS)),
        Column(name="job", role="quasi", publish=draw(st.sampled_from(["nodes", "set"]))),
        Column(name="sex", role="quasi"),
        Column(name="illness", role="sensitive"),
        Column(name="risk", role="label"),
        Column(name="cost", role="label", type="number"),
    ]
    if draw(st.booleans()):
        columns.append(Column(name="person", role="person"))
    return Table.build(pd.DataFrame(rows, columns=names), Schema(columns))


@st.composite
def guards(draw):
    models = [AtLeast(k=draw(st.integers(1, 4)))]
    further = [
        DistinctValues(l=2, of="illness"),
        WithinDistance(t=0.4, of="illness"),
        EvenSizes(),
    ]
    models += draw(st.lists(st.sampled_from(further), max_size=2, unique=True))
    return Guard(models, half_of) if draw(st.booleans()) else Guard(models)


def start(data, table):
    """Draw given classes: some rows in up to three classes, some suppressed, some absent."""
    label = data.draw(
        st.lists(st.integers(-2, 2), min_size=len(table), max_size=len(table)), "labels"
    )
    members = [[row for row in range(len(table)) if label[row] == index] for index in range(3)]
    members = [rows for rows in members if rows]
    suppressed = [row for row in range(len(table)) if label[row] == -1]
    rows = np.array([row for rows in members for row in rows], np.int64)
    bounds = np.append(0, np.cumsum([len(rows) for rows in members])).astype(np.int64)
    return members, Classes(rows, bounds, np.array(suppressed, np.int64))


def as_sets(classes):
    return {frozenset(classes.members(index).tolist()) for index in range(len(classes))}


WAYS = [
    KLTree(labels={"risk": 1.0}),
    KLTree(labels={"risk": 1.0}, reuse=True),
    KLTree(labels={"risk": 1.0}, gain="gini"),
    KLTree(labels={"cost": 1.0}),
    KLTree(labels={"cost": 1.0}, gain="entropy"),
    KLTree(labels={"risk": 1.0, "cost": 2.5}, reuse=True),
    KLTree(task="clustering"),
]


@pytest.mark.parametrize("method", WAYS, ids=str)
@given(table=tables(), guard=guards(), data=st.data())
@settings(deadline=None, max_examples=50)
def test_finds_the_leaves_of_the_recursion(method, table, guard, data):
    members, classes = start(data, table)

    result = method.partition(table, classes, guard, StageContext())

    expected, given_up = Oracle(table, members, guard, method).classes(members)
    assert expected == as_sets(result)
    assert given_up | set(classes.suppressed.tolist()) == set(result.suppressed.tolist())


@pytest.mark.parametrize("method", WAYS, ids=str)
@given(table=tables(), guard=guards(), data=st.data())
@settings(deadline=None, max_examples=30)
def test_tells_what_the_splits_of_the_recursion_gain(method, table, guard, data):
    """Importance is the share of the gain along a column; explained, that of all impurity."""
    members, classes = start(data, table)
    assume(members)
    run, oracle = StageContext(), Oracle(table, members, guard, method)

    method.partition(table, classes, guard, run)

    oracle.classes(members)
    whole, gained = oracle.impurity([row for rows in members for row in rows]), oracle.gained
    figures = {item.name: item.value for item in run.found if isinstance(item, Finding)}
    explained = sum(gained) / whole if whole > 1e-9 else 0.0
    assert pytest.approx(explained, abs=1e-6) == figures["explained"]
    if explained > 1e-6:
        assert pytest.approx([item / sum(gained) for item in gained], abs=1e-4) == [
            figures[f"importance.{axis.name}"] for axis in table.axes
        ]


def larger(rows=160, seed=5):
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, rows).astype(float)
    town = rng.choice([*"abcdefg"], rows)
    risk = (age > 50) ^ np.isin(town, ["a", "d"]) ^ (rng.random(rows) < 0.15)
    frame = pd.DataFrame(
        {
            "age": np.where(rng.random(rows) < 0.05, np.nan, age),
            "town": town,
            "job": rng.choice([*"ABCDEFGHIJ"], rows),
            "illness": rng.choice([*"xyz"], rows),
            "risk": np.where(risk, "yes", "no"),
            "cost": np.where(risk, 100.0, 10.0) + rng.integers(0, 20, rows),
        }
    )
    return Table.build(
        frame,
        Schema(
            [
                Column(name="age", role="quasi", type="number"),
                Column(name="town", role="quasi", hierarchy=Tree(tree=TOWNS)),
                Column(name="job", role="quasi"),
                Column(name="illness", role="sensitive"),
                Column(name="risk", role="label"),
                Column(name="cost", role="label", type="number"),
            ]
        ),
    )


GUARD = Guard([AtLeast(k=4), DistinctValues(l=2, of="illness")])


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("method", WAYS, ids=str)
def test_finds_the_leaves_of_the_recursion_in_a_larger_table(method, seed):
    # All pairs of rows are compared for clusters.
    table = larger(80 if method.task == "clustering" else 160, seed)
    members = [list(range(len(table)))]

    result = method.partition(table, table.whole(), GUARD, StageContext())

    assert (as_sets(result), set()) == Oracle(table, members, GUARD, method).classes(members)


def test_equal_gains_go_to_the_more_even_split():
    """No threshold gains anything here, and the one in the middle is neither first nor last."""
    schema = Schema(
        [Column(name="age", role="quasi", type="number"), Column(name="risk", role="label")]
    )
    pairs = pd.DataFrame({"age": np.repeat(range(6), 2), "risk": [*"ny"] * 6})
    table = Table.build(pairs, schema)

    result = KLTree().partition(table, table.whole(), Guard([AtLeast(k=2)]), StageContext())

    assert [6, 6] == result.sizes.tolist()


def test_levels_in_small_batches_give_the_same_classes(monkeypatch):
    table, method = larger(), KLTree(reuse=True)
    whole = method.partition(table, table.whole(), GUARD, StageContext())
    monkeypatch.setattr(tree_growth, "BATCH", 1)
    batched = method.partition(table, table.whole(), GUARD, StageContext())

    assert whole.rows.tolist() == batched.rows.tolist()
    assert whole.bounds.tolist() == batched.bounds.tolist()
