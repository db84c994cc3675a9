"""Prices of values: the sum of a row's prices is what the cluster loses when the row joins."""

from itertools import pairwise

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom import Classes, Column, Schema, Table
from anonloom.hierarchies import Tree
from anonloom_kernels.losses import losses_of
from anonloom_kernels.merge_cost import begin, join, of_cell, prices_of
from anonloom_loss import gcp

TOWNS = {"north": ["a", "b", "c"], "south": ["d", "e"]}
ROWS = st.lists(
    st.tuples(
        st.sampled_from([None, 1, 2, 5, 9]),
        st.sampled_from([None, *"abcde"]),
        st.sampled_from([None, *"abcde"]),
        st.sampled_from([None, 1, 2, 3]),
    ),
    min_size=1,
    max_size=12,
)


@given(rows=ROWS)
@settings(deadline=None, max_examples=100)
def test_prices_follow_every_form_as_rows_join(rows):
    tree = Tree(tree=TOWNS)
    table = Table.build(
        pd.DataFrame(rows, columns=["age", "node", "set", "stay"]),
        Schema(
            [
                Column(name="age", role="quasi", type="number"),
                Column(name="node", role="quasi", hierarchy=tree, publish="nodes"),
                Column(name="set", role="quasi", hierarchy=tree, publish="set"),
                Column(name="stay", role="quasi", type="number", publish="set"),
            ]
        ),
    )
    losses, whole = losses_of(table), np.array([0, len(table)])
    prices = of_cell(prices_of(np.ascontiguousarray(table.codes.T), whole), 0)

    begin(prices, losses, 0)
    for last in range(len(table)):
        join(prices, losses, last)
        cluster = set(range(last + 1))
        for row in range(len(table)):
            joined = Classes.whole(np.array(sorted({*cluster, row})))
            price = prices.price[prices.value[row]].sum()
            assert abs(gcp(table, joined) - price) < 1e-12


@given(
    codes=st.lists(st.tuples(*[st.sampled_from([0, 1, 7, 2**31 - 2])] * 3), max_size=20),
    cuts=st.lists(st.integers(0, 20), max_size=4),
)
@settings(deadline=None, max_examples=100)
def test_every_cell_has_numbers_of_its_own(codes, cuts):
    cells = np.array(sorted({0, len(codes), *(cut for cut in cuts if cut < len(codes))}))
    array = np.array(codes, np.int32).reshape(-1, 3)

    result = prices_of(array, cells)

    count = 0
    for cell, (start, stop) in enumerate(pairwise(cells.tolist())):
        for axis in range(3):
            values = sorted(set(array[start:stop, axis].tolist()))
            numbers = range(count, count + len(values))
            assert [count, count + len(values)] == result.first[cell, axis : axis + 2].tolist()
            assert values == result.code[count : count + len(values)].tolist()
            assert [numbers[values.index(code)] for code in array[start:stop, axis]] == (
                result.value[start:stop, axis].tolist()
            )
            count += len(values)
    assert count == len(result.code) == len(result.price) == len(result.inside)


def test_no_axis_has_no_values():
    result = prices_of(np.empty((4, 0), np.int32), np.array([0, 3, 4]))

    assert [(4, 0), (2, 1), (0,)] == [result.value.shape, result.first.shape, result.code.shape]
