"""The compiled order of rows is that of a slow recursion over lists."""

import math
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom import Column, Schema, Table
from anonloom.hierarchies import Breaks, Tree
from anonloom_kernels.level_order_key import level_order

TOWNS = {"north": ["a", "b", "c"], "south": ["d", "e"], "f": None}


# --- the oracle ----------------------------------------------------------------------------------


class Oracle:
    """Divides blocks of rows by the part that gains most, the previous row in mind.

    It weighs rows one by one, knows neither points nor codes in arrays, and looks for nodes in the
    hierarchy itself.
    """

    def __init__(self, table):
        self.table = table
        self.previous = None

    def code(self, at, row):
        return int(self.table.codes[at, row])

    def loss(self, at, rows):
        """Loss of the rows' extent on one axis, weighted."""
        axis = self.table.axes[at]
        codes = [self.code(at, row) for row in rows]
        share = axis.weight / sum(axis.weight for axis in self.table.axes)
        return share * float(axis.loss(np.array([min(codes)]), np.array([max(codes)]))[0])

    def digits(self, at):
        """Every way to divide the codes of an axis by its hierarchy, the coarsest first."""
        axis = self.table.axes[at]
        results = []
        for level in range(axis.hierarchy.depth - 2, -1, -1):
            nodes = list(dict.fromkeys(axis.hierarchy.ancestors[level].tolist()))
            digit = [nodes.index(node) for node in axis.hierarchy.ancestors[level]]
            digit += [len(nodes)] if axis.missing >= 0 else []
            if len(set(digit)) > (len(set(results[-1])) if results else 1):
                results.append(digit)
        return results

    def parts(self, rows):
        """Yield axis and digit of every code, in the order in which equally good ones count."""
        for index, axis in enumerate(self.table.axes):
            codes = sorted({self.code(index, row) for row in rows})
            if axis.hierarchy is not None and axis.form != "interval":
                yield from ((index, digit) for digit in self.digits(index))
            else:
                for cut in codes[1:]:
                    yield index, [int(code >= cut) for code in range(axis.size)]

    def cells(self, rows, at, digit):
        results = {}
        for row in rows:
            results.setdefault(digit[self.code(at, row)], []).append(row)
        return results

    def gain(self, rows, at, digit):
        cells = self.cells(rows, at, digit).values()
        if len(cells) < 2:
            return 0.0
        shares = [len(cell) / len(rows) for cell in cells]
        lost = sum(share * self.loss(at, cell) for share, cell in zip(shares, cells, strict=True))
        bits = -sum(share * math.log2(share) for share in shares)
        return round((self.loss(at, rows) - lost) / bits**0.75, 9)

    def order(self, rows):
        """Return the rows in order; `previous` is the last one that was put down."""
        best, chosen = 0.0, None
        for index, digit in self.parts(rows):
            gain = self.gain(rows, index, digit)
            if gain > best:
                best, chosen = gain, (index, digit)
        if chosen is None:
            self.previous = rows[-1]
            return rows
        index, digit = chosen
        cells = self.cells(rows, index, digit)
        walk = sorted(cells)
        if self.previous is not None:
            before = digit[self.code(index, self.previous)]
            if abs(before - walk[-1]) < abs(before - walk[0]):
                walk.reverse()
        return [row for cell in walk for row in self.order(cells[cell])]

    def order_blocks(self, blocks):
        results = []
        for rows in blocks:
            self.previous = None
            results.append(self.order(rows) if rows else [])
        return results


# --- tables --------------------------------------------------------------------------------------


#: Weights that are no simple ratios of each other, so that parts of two axes hardly ever tie.
WEIGHTS = [1.0, 1.2345, 0.8765, 1.1357]


@st.composite
def tables(draw):
    cells = st.tuples(
        st.sampled_from([None, 1, 2, 3.3, 5, 8.9, 30, 77]),
        st.sampled_from([None, *"abcdef"]),
        st.sampled_from("fmx"),
        st.sampled_from([None, 0, 4.7, 8]),
    )
    rows = draw(st.lists(cells, min_size=1, max_size=30))
    frame = pd.DataFrame(rows, columns=["age", "town", "sex", "stay"])
    age = {}
    if draw(st.booleans()):
        age = {"hierarchy": Breaks(breaks=((2, 4, 9), (4,))), "publish": "nodes"}
    form = draw(st.sampled_from(["nodes", "set"]))
    stay = draw(st.sampled_from(["interval", "set"]))
    weight = iter(WEIGHTS)
    return Table.build(
        frame,
        Schema(
            [
                Column(name="age", role="quasi", type="number", weight=next(weight), **age),
                Column(
                    name="town",
                    role="quasi",
                    hierarchy=Tree(tree=TOWNS),
                    publish=form,
                    weight=next(weight),
                ),
                Column(name="sex", role="quasi", weight=next(weight)),
                Column(name="stay", role="quasi", type="number", publish=stay, weight=next(weight)),
            ]
        ),
    )


def blocks_of(table, labels):
    blocks = [[row for row in range(len(table)) if labels[row] == index] for index in range(2)]
    rows = np.array([row for block in blocks for row in block], np.int64)
    return blocks, rows, np.append(0, np.cumsum([len(block) for block in blocks]))


def rank_by_code(table, rows):
    """Equal rows stand together wherever they were given; the oracle gets them side by side."""
    return sorted(rows, key=lambda row: tuple(table.codes[:, row].tolist()))


def test_rounding_does_not_choose_between_equal_cuts():
    """Of three values in a set, either end may be cut off; the first cut counts."""
    sex = Column(name="sex", role="quasi", weight=0.8765)
    stay = Column(name="stay", role="quasi", type="number", publish="set", weight=1.1357)
    frame = pd.DataFrame({"sex": list("fmx"), "stay": [8.0, 4.7, 0.0]})
    table = Table.build(frame, Schema([sex, stay]))
    rows = np.arange(3)

    result = rows[level_order(table, rows, np.array([0, 3]))]

    assert [2, 1, 0] == result.tolist() == Oracle(table).order([0, 1, 2])


@given(table=tables(), data=st.data())
@settings(deadline=None, max_examples=150)
def test_orders_as_the_slow_recursion_does(table, data):
    labels = data.draw(
        st.lists(st.integers(0, 1), min_size=len(table), max_size=len(table)), "labels"
    )
    blocks, rows, bounds = blocks_of(table, labels)

    result = rows[level_order(table, rows, bounds)]

    expected = Oracle(table).order_blocks([rank_by_code(table, block) for block in blocks])
    assert [row for block in expected for row in block] == result.tolist()


@given(table=tables(), data=st.data())
@settings(deadline=None, max_examples=100)
def test_blocks_stay_apart_and_equal_rows_together_in_their_order(table, data):
    labels = data.draw(
        st.lists(st.integers(0, 1), min_size=len(table), max_size=len(table)), "labels"
    )
    _, rows, bounds = blocks_of(table, labels)

    order = level_order(table, rows, bounds)

    for begin, end in pairwise(bounds):
        inside = order[begin:end].tolist()
        assert list(range(begin, end)) == sorted(inside)
        met = {}
        for place, index in enumerate(inside):
            met.setdefault(tuple(table.codes[:, rows[index]].tolist()), []).append((place, index))
        for places in met.values():
            assert places == [
                (places[0][0] + turn, index) for turn, (_, index) in enumerate(places)
            ]
            assert [index for _, index in places] == sorted(index for _, index in places)


@pytest.mark.parametrize("codes", [3000, 100_000])
def test_axes_of_many_codes_are_sorted_and_ordered_alike(codes):
    """Few rows far apart on an axis are sorted, not counted code by code."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"far": rng.permutation(codes), "near": rng.integers(0, 7, codes)})
    schema = Schema(
        [
            Column(name="far", role="quasi", type="number"),
            Column(name="near", role="quasi", type="number", weight=1.2345),
        ]
    )
    table = Table.build(frame, schema)
    rows = rng.choice(codes, 40, replace=False)

    result = rows[level_order(table, rows)]

    assert Oracle(table).order(rank_by_code(table, rows.tolist())) == result.tolist()


@pytest.mark.parametrize("rows", [[], [2], [2, 0, 1]])
def test_without_axes_rows_stay_as_they_are(rows):
    table = Table.build(
        pd.DataFrame({"x": list("abc")}), Schema([Column(name="x", role="sensitive")])
    )

    assert list(range(len(rows))) == level_order(table, np.array(rows, np.int64)).tolist()


def test_each_block_is_walked_from_the_end_near_the_previous_row():
    """The second sex begins with the age at which the first one ended."""
    frame = pd.DataFrame({"sex": list("fmfmfm"), "age": [20, 20, 30, 30, 90, 90]})
    table = Table.build(
        frame,
        Schema(
            [
                Column(name="sex", role="quasi", weight=9.0),
                Column(name="age", role="quasi", type="number"),
            ]
        ),
    )

    assert [0, 2, 4, 5, 3, 1] == level_order(table, np.arange(6)).tolist()
