"""The compiled clustering finds what a slow transcript of the algorithm box finds."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom import Classes, Column, Guard, Schema, StageContext, Table
from anonloom.hierarchies import Tree
from anonloom_k_member.k_member import KMember
from anonloom_testing.privacy_cases import AtLeast

TOWNS = {"north": ["a", "b", "c"], "south": ["d", "e"], "f": None}


# --- the oracle: lists of rows, every loss computed anew -----------------------------------------


class Oracle:
    """The algorithm box on plain lists.

    What it leaves open is resolved as the README says: rows are sorted by their codes, the first of
    several equally good rows is taken, and rows equal to the last one follow it.
    """

    def __init__(self, table, k, start, measure):
        self.table, self.k, self.start, self.measure = table, k, start, measure

    def codes(self, row):
        return tuple(self.table.codes[:, row].tolist())

    def axis_loss(self, axis, values):
        lo, hi = min(values), max(values)
        if hi == axis.missing:
            return float(lo != hi)
        if self.measure == "height" and axis.type == "category":
            return float(axis.hierarchy.level(lo, hi)) / (axis.hierarchy.depth - 1)
        if self.measure == "height":
            return (axis.places[hi] - axis.places[lo]) / (axis.range or 1.0)
        if axis.form == "set":
            return float(axis.set_loss(len(set(values))))
        return float(axis.loss(np.array([lo]), np.array([hi]))[0])

    def loss(self, rows):
        """What one row of a cluster loses."""
        share = 1 / len(self.table.axes)
        return sum(
            share * self.axis_loss(axis, self.table.codes[index][rows].tolist())
            for index, axis in enumerate(self.table.axes)
        )

    def first_of(self, record, left):
        """Where the next cluster begins."""
        if self.start == "furthest":
            return max(left, key=lambda row: self.loss([record, row]))
        alike = [self.codes(row) for row in left]
        return min(
            left,
            key=lambda row: (-alike.count(self.codes(row)), self.loss([record, row])),
        )

    def next_of(self, cluster, left):
        """The best record for a cluster."""
        equal = [row for row in left if self.codes(row) == self.codes(cluster[-1])]
        return equal[0] if equal else min(left, key=lambda row: self.loss([*cluster, row]))

    def clusters(self, rows, record, draw):
        """Cluster rows, given a first record and a random number for every row."""
        left = list(rows)
        if len(left) < 2 * self.k:
            return [left]
        results = []
        while len(left) >= self.k:
            record = self.first_of(record, left)
            left.remove(record)
            cluster = [record]
            while len(cluster) < self.k:
                record = self.next_of(cluster, left)
                left.remove(record)
                cluster.append(record)
            results.append(cluster)
        for row in sorted(left, key=draw.__getitem__):
            rises = [
                (len(cluster) + 1) * self.loss([*cluster, row]) - len(cluster) * self.loss(cluster)
                for cluster in results
            ]
            results[rises.index(min(rises))].append(row)
        return results


def expected_classes(table, members, k, start, measure, run):
    """Draw as the method does, and cluster every given class."""
    oracle = Oracle(table, k, start, measure)
    parts = [sorted(rows, key=oracle.codes) for rows in members]
    picks = run.rng.random(len(parts))
    draws = run.rng.random(sum(map(len, parts))).tolist()
    results = []
    for rows, pick in zip(parts, picks, strict=True):
        draw = {row: draws.pop(0) for row in rows}
        results += oracle.clusters(rows, rows[int(pick * len(rows))], draw)
    return {frozenset(rows) for rows in results}


# --- tables whose losses are exact in binary, so that ties are ties -------------------------------


@st.composite
def tables(draw):
    """Draw four mixed columns; the number's range is 8, so that nothing is rounded."""
    cells = st.tuples(
        st.sampled_from([None, 0, 1, 2, 3, 5, 8]),
        st.sampled_from([None, *"abcdef"]),
        st.sampled_from("fm"),
        st.sampled_from([None, 0, 4, 8]),
    )
    rows = draw(st.lists(cells, max_size=30))
    ends = [(0, "a", "f", 0), (8, "f", "m", 8)]
    frame = pd.DataFrame([*rows, *ends], columns=["age", "town", "sex", "stay"])
    form = draw(st.sampled_from(["nodes", "set"]))
    number = draw(st.sampled_from(["interval", "set"]))
    return Table.build(
        frame,
        Schema(
            [
                Column(name="age", role="quasi", type="number"),
                Column(name="town", role="quasi", hierarchy=Tree(tree=TOWNS), publish=form),
                Column(name="sex", role="quasi"),
                Column(name="stay", role="quasi", type="number", publish=number),
            ]
        ),
    )


def as_sets(classes):
    return {frozenset(classes.members(index).tolist()) for index in range(len(classes))}


def given_classes(data, table):
    """Draw given classes, each large enough for one class."""
    label = data.draw(
        st.lists(st.integers(0, 1), min_size=len(table), max_size=len(table)), "labels"
    )
    return [[row for row in range(len(table)) if label[row] == index] for index in range(2)]


WAYS = [
    ("densest", "published"),
    ("furthest", "published"),
    ("densest", "height"),
    ("furthest", "height"),
]


@pytest.mark.parametrize(("start", "measure"), WAYS)
@given(table=tables(), k=st.integers(1, 6), data=st.data())
@settings(deadline=None, max_examples=150)
def test_finds_the_clusters_of_the_algorithm_box(start, measure, table, k, data):
    members = [rows for rows in given_classes(data, table) if len(rows) >= k]
    rows = np.array([row for part in members for row in part], np.int64)
    bounds = np.append(0, np.cumsum([len(part) for part in members])).astype(np.int64)
    method = KMember(start=start, measure=measure)

    result = method.partition(
        table, Classes(rows, bounds), Guard([AtLeast(k=k)]), StageContext(seed=3)
    )

    expected = expected_classes(table, members, k, start, measure, StageContext(seed=3))
    assert expected == as_sets(result)
