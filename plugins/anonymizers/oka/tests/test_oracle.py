"""The compiled clustering finds what a slow transcript of the two algorithm boxes finds."""

from collections import Counter

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom import Classes, Column, Guard, Schema, StageContext, Table
from anonloom.hierarchies import Tree
from anonloom_oka.oka import OnePassKMeans
from anonloom_testing.privacy_cases import AtLeast

TOWNS = {"north": ["a", "b", "c"], "south": ["d", "e"], "f": None}


# --- the oracle: lists of rows, every centroid computed anew -------------------------------------


class Oracle:
    """The algorithm boxes on plain lists.

    What they leave open is resolved as the README says: rows are sorted by their codes, the first
    of several equally close clusters is taken, and the later of two equally far rows is removed.
    """

    def __init__(self, table, k):
        self.table, self.k = table, k
        self.numbers = [index for index, axis in enumerate(table.axes) if axis.type == "number"]
        self.categories = [
            index for index, axis in enumerate(table.axes) if axis.type == "category"
        ]

    def codes(self, row):
        return tuple(self.table.codes[:, row].tolist())

    def mean(self, at, cluster):
        """Mean place, or None where most rows have no value."""
        axis = self.table.axes[at]
        codes = [self.table.codes[at, row] for row in cluster]
        known = [axis.places[code] for code in codes if code != axis.missing]
        return None if 2 * len(known) < len(codes) else sum(known) / len(known)

    def mode(self, at, cluster):
        """The most frequent code; of several the one that was first to be so frequent."""
        counts, best = Counter(), None
        for row in cluster:
            code = int(self.table.codes[at, row])
            counts[code] += 1
            if counts[code] > counts[best]:
                best = code
        return best

    def distance(self, row, cluster):
        share, total = 1 / len(self.table.axes), 0.0
        for index in self.numbers:
            axis, code = self.table.axes[index], self.table.codes[index, row]
            mean = self.mean(index, cluster)
            if mean is None or code == axis.missing:
                total += share * float((mean is None) != (code == axis.missing))
            else:
                total += share * abs(axis.places[code] - mean) / axis.range
        for index in self.categories:
            axis, code = self.table.axes[index], int(self.table.codes[index, row])
            mode = self.mode(index, cluster)
            if axis.missing in (code, mode):
                total += share * float(code != mode)
            else:
                lo, hi = min(code, mode), max(code, mode)
                total += share * float(axis.hierarchy.level(lo, hi)) / (axis.hierarchy.depth - 1)
        return total

    def closest(self, row, clusters):
        return min(clusters, key=lambda cluster: self.distance(row, cluster))

    def clusters(self, rows, draw, turn):
        """Cluster rows, given two random numbers for every row."""
        if len(rows) < 2 * self.k:
            return [rows]
        seeds = sorted(rows, key=draw.__getitem__)[: len(rows) // self.k]
        clusters = [[row] for row in seeds]
        for row in rows:
            if row not in seeds:
                self.closest(row, clusters).append(row)
        removed = []
        for cluster in clusters:
            far = {row: self.distance(row, cluster) for row in cluster}
            for row in sorted(cluster, key=far.__getitem__)[self.k :]:
                removed.append(row)
                cluster.remove(row)
        for row in sorted(removed, key=turn.__getitem__):
            small = [cluster for cluster in clusters if len(cluster) < self.k]
            self.closest(row, small or clusters).append(row)
        return clusters


def expected_classes(table, members, k, run):
    """Draw as the method does, and cluster every given class."""
    oracle = Oracle(table, k)
    parts = [sorted(rows, key=oracle.codes) for rows in members]
    order = [row for rows in parts for row in rows]
    draw = dict(zip(order, run.rng.random(len(order)), strict=True))
    turn = dict(zip(order, run.rng.random(len(order)), strict=True))
    return {frozenset(result) for rows in parts for result in oracle.clusters(rows, draw, turn)}


# --- tables whose distances are exact in binary as far as means are ------------------------------


@st.composite
def tables(draw):
    """Draw four mixed columns; the numbers' ranges are 8, so that no place is rounded."""
    cells = st.tuples(
        st.sampled_from([None, 0, 1, 2, 3, 5, 8]),
        st.sampled_from([None, *"abcdef"]),
        st.sampled_from("fm"),
        st.sampled_from([None, 0, 4, 8]),
    )
    rows = draw(st.lists(cells, max_size=40))
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


@given(table=tables(), k=st.integers(1, 6), data=st.data())
@settings(deadline=None, max_examples=400)
def test_finds_the_clusters_of_the_algorithm_boxes(table, k, data):
    label = data.draw(
        st.lists(st.integers(0, 1), min_size=len(table), max_size=len(table)), "labels"
    )
    members = [[row for row in range(len(table)) if label[row] == index] for index in range(2)]
    members = [rows for rows in members if len(rows) >= k]
    rows = np.array([row for part in members for row in part], np.int64)
    bounds = np.append(0, np.cumsum([len(part) for part in members])).astype(np.int64)

    result = OnePassKMeans().partition(
        table, Classes(rows, bounds), Guard([AtLeast(k=k)]), StageContext(seed=3)
    )

    assert expected_classes(table, members, k, StageContext(seed=3)) == as_sets(result)
