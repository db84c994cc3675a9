"""The tree finds what a slow recursion over single rows finds."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom import Column, Guard, Schema, StageContext, Table
from anonloom.errors import UsageError
from anonloom_rayden import gower
from anonloom_rayden.cof import Cof
from anonloom_rayden.gower import from_one, space_of
from anonloom_rayden.tree import select
from anonloom_rayden.vptree import VpTree
from anonloom_testing.privacy_cases import AtLeast

# --- the distance, from the cells of the table ----------------------------------------------------


def distance(table, one, other, kind="gower", categories="equality"):
    """Distance of two rows as the paper writes it, in fractions, weighted by column."""
    total = Fraction(0)
    for axis, codes in zip(table.axes, table.codes, strict=True):
        apart = cell_distance(axis, int(codes[one]), int(codes[other]), categories)
        total += Fraction(axis.weight) * (apart**2 if kind == "euclidean" else apart)
    total /= sum(Fraction(axis.weight) for axis in table.axes)
    return float(total) ** 0.5 if kind == "euclidean" else total


def cell_distance(axis, one, other, categories):
    if axis.missing in (one, other) or one == other:
        return Fraction(0)
    if axis.type == "category" and categories == "equality":
        return Fraction(1)
    if axis.type == "category" and categories == "hierarchy":
        return Fraction(leaves_above(axis, one, other), axis.value_count)
    places = [Fraction(float(place)) for place in axis.places[: axis.value_count]]
    return abs(places[one] - places[other]) / (places[-1] - places[0])


def leaves_above(axis, one, other):
    """Occurring values under the lowest node that two values share."""
    for level in axis.hierarchy.ancestors:
        if level[one] == level[other]:
            return int((level == level[one]).sum())
    raise AssertionError("a hierarchy has one root")


@pytest.mark.parametrize(
    ("kind", "categories"),
    [("gower", "equality"), ("gower", "hierarchy"), ("gower", "codes"), ("euclidean", "codes")],
)
def test_the_distance_is_the_papers(kind, categories, drawn, monkeypatch):
    @given(table=drawn.tables(most_rows=12), most=st.sampled_from([0, 256]))
    @settings(deadline=None, max_examples=40)
    def holds(table, most):
        # With a table of pairs, or level by level.
        monkeypatch.setattr(gower, "_MOST_PAIRS", most)
        space, n = space_of(table, kind, categories), len(table)
        expected = [
            [float(distance(table, a, b, kind, categories)) for b in range(n)] for a in range(n)
        ]
        singly = [[drawn.between(space, table.codes, a, b) for b in range(n)] for a in range(n)]
        row = np.empty(n)
        for indice in range(n):
            from_one(space, table.codes, indice, 0, n, 1, row)
            assert singly[indice] == row.tolist()
        assert np.allclose(expected, singly, rtol=0, atol=1e-12)

    holds()


def test_a_euclidean_distance_refuses_categories():
    frame = pd.DataFrame({"age": [1, 2], "sex": ["f", "m"], "town": ["a", "b"]})
    table = Table.build(
        frame,
        Schema(
            [
                Column(name="age", role="quasi", type="number"),
                Column(name="sex", role="quasi"),
                Column(name="town", role="quasi"),
            ]
        ),
    )

    tree = VpTree(distance="euclidean")
    with pytest.raises(UsageError) as caught:
        tree.partition(table, table.whole(), Guard(), StageContext())

    expected = (
        "a Euclidean distance needs numbers, and these quasi-identifiers are categories: 'sex', "
        "'town'; 'distance: gower' takes them, 'categories: codes' uses their ranks as numbers"
    )
    assert expected == str(caught.value)
    assert expected == tree.problem(table.schema)
    assert expected == Cof(distance="euclidean").problem(table.schema)
    assert expected == Cof(recovery=tree).problem(table.schema)
    assert None is VpTree().problem(table.schema)
    assert None is VpTree(distance="euclidean", categories="codes").problem(table.schema)
    assert None is tree.problem(Schema([Column(name="age", role="quasi", type="number")]))


# --- the tree: one row at a time ------------------------------------------------------------------

GOLDEN, M1, M2 = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
ALL = 2**64 - 1


def hashed(salt, number):
    x = (salt + (number + 1) * GOLDEN) & ALL
    x = ((x ^ (x >> 30)) * M1) & ALL
    x = ((x ^ (x >> 27)) * M2) & ALL
    return (x ^ (x >> 31)) >> 1


class Slow:
    """Cuts rows; `rows` are always in ascending order of their codes."""

    def __init__(self, table, guard, method):
        self.table, self.guard, self.method = table, guard, method
        self.k = guard.min_size
        weights = np.array([axis.weight for axis in table.axes])
        self.share = (weights / weights.sum()).tolist()

    def classes(self, classes, run):
        salts = run.rng.integers(2**63, size=len(classes)).tolist()
        results = []
        for index, salt in enumerate(salts):
            given_rows = classes.members(index).tolist()
            results += self.grow(sorted(given_rows, key=self.codes), salt)
        if not self.method.sound:
            return results, []
        good = [rows for rows in results if self.admitted(rows)]
        return good, [row for rows in results if rows not in good for row in rows]

    def codes(self, row):
        return tuple(self.table.codes[:, row].tolist())

    def admitted(self, rows):
        ask = np.array(rows), np.array([0]), np.array([len(rows)])
        return bool(self.guard.admits(self.table, *ask)[0])

    def grow(self, rows, salt):
        if len(rows) < 2 * self.k:
            return [rows]
        for attempt in range(4):
            near, far = self.cut(rows, salt, attempt)
            if not far:
                return [rows]
            if not self.method.sound or (self.admitted(near) and self.admitted(far)):
                return self.grow(near, hashed(salt, 0)) + self.grow(far, hashed(salt, 1))
        return [rows]

    def cut(self, rows, salt, attempt):
        vantage = self.vantage(rows, salt, attempt)
        apart = [round(self.apart(vantage, row) * 2**30) for row in rows]
        order = sorted(range(len(rows)), key=lambda at: (apart[at], at))
        if self.method.cut == "paper":
            median = np.median(apart)
            near = {index for index in order if apart[index] <= median}
        elif self.method.cut == "half":
            near = set(order[: (len(rows) + 1) // 2])
        else:
            near = set(order[: len(rows) // self.k // 2 * self.k])
        return (
            [row for index, row in enumerate(rows) if index in near],
            [row for index, row in enumerate(rows) if index not in near],
        )

    def vantage(self, rows, salt, attempt):
        if len(set(map(self.codes, rows))) == 1:
            return rows[0]
        if self.method.vantage == "best-spread":
            drawn = [hashed(salt, 2 + attempt * 6 + s) % len(rows) for s in range(6)]
            candidates = [rows[(s * len(rows) + r) // 6] for s, r in enumerate(drawn)]
            return max(candidates, key=lambda row: self.spread(row, rows))
        chosen = rows[hashed(salt, 2 + attempt) % len(rows)]
        if self.method.vantage == "farthest":
            chosen = max(rows, key=lambda row: self.apart(chosen, row))
        return chosen

    def spread(self, one, rows):
        """Variance; summed as the kernel does, since candidates may differ by rounding alone."""
        points = {}
        for row in rows:
            points.setdefault(self.codes(row), []).append(row)
        total, squares = 0.0, 0.0
        for equal in points.values():
            apart = self.apart(one, equal[0])
            total += len(equal) * apart
            squares += len(equal) * apart * apart
        return squares / len(rows) - (total / len(rows)) ** 2

    def apart(self, one, other):
        """Gower's distance, summed over the axes in their order."""
        total = 0.0
        for axis, codes, share in zip(self.table.axes, self.table.codes, self.share, strict=True):
            pair = int(codes[one]), int(codes[other])
            if axis.missing in pair or pair[0] == pair[1]:
                continue
            if axis.type == "category" and self.method.categories == "equality":
                total += share
            elif axis.type == "category":
                total += share * (leaves_above(axis, *pair) / axis.value_count)
            else:
                a, b = ((axis.places[code] - axis.places[0]) / axis.range for code in pair)
                total += share * abs(float(a - b))
        return total


WAYS = [
    {},
    {"categories": "hierarchy"},
    {"cut": "half", "vantage": "random"},
    {"cut": "half", "vantage": "farthest"},
    {"cut": "paper", "vantage": "random"},
    {"cut": "paper", "vantage": "farthest", "categories": "hierarchy"},
]


def test_finds_the_classes_of_the_recursion(drawn):
    """In every way, alone and in threads: drawing a table takes longer than dividing it."""

    @given(data=st.data(), table=drawn.tables(), guard=drawn.guards(), seed=st.integers(0, 9))
    @settings(deadline=None, max_examples=120)
    def holds(data, table, guard, seed):
        classes = data.draw(drawn.starts(table))

        for method in (VpTree(**way) for way in WAYS):
            expected, given_up = Slow(table, guard, method).classes(
                classes, StageContext(seed=seed)
            )

            for workers in (1, 3):
                result = method.partition(
                    table, classes, guard, StageContext(seed=seed, workers=workers)
                )

                as_sets = {frozenset(rows) for rows in drawn.members(result)}
                assert {frozenset(rows) for rows in expected} == as_sets, (method, workers)
                suppressed = sorted([*given_up, *classes.suppressed])
                assert suppressed == result.suppressed.tolist(), (method, workers)

    holds()


@given(
    weights=st.lists(st.integers(1, 5), min_size=1, max_size=40),
    data=st.data(),
)
def test_selection_finds_where_a_weight_is_reached(weights, data):
    """Equal distances are ordered by place."""
    distances = data.draw(st.lists(st.integers(0, 6), min_size=len(weights), max_size=len(weights)))
    rows = data.draw(st.integers(1, sum(weights)))
    keys = np.array([d << 32 | index for index, d in enumerate(distances)], np.int64)
    # Two points of another node stand before.
    held = np.array([7, 7, *weights], np.int64)

    result = select(keys.copy(), len(keys), held, 2, rows)

    reached = 0
    for key in sorted(keys.tolist()):
        before, reached = reached, reached + weights[key & (2**32 - 1)]
        if reached >= rows:
            break
    assert (key, before) == result


def test_progress_ends_with_all_rows():
    frame = pd.DataFrame({"age": range(100), "illness": ["x", "y"] * 50})
    table = Table.build(
        frame,
        Schema(
            [
                Column(name="age", role="quasi", type="number"),
                Column(name="illness", role="sensitive"),
            ]
        ),
    )
    reports = []

    VpTree().partition(
        table,
        table.whole(),
        Guard([AtLeast(k=7)]),
        StageContext(report=lambda done, total: reports.append((done, total))),
    )

    assert (100, 100) == reports[-1]
