"""Prices of values: the sum of a row's prices is what the cluster loses when the row joins."""

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom import Classes, Column, Schema, Table
from anonloom.hierarchies import Tree
from anonloom_kernels.losses import losses_of
from anonloom_kernels.merge_cost import begin, join, prices_of
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
    losses, prices = losses_of(table), prices_of(np.ascontiguousarray(table.codes.T))

    begin(prices, losses, 0)
    for last in range(len(table)):
        join(prices, losses, last)
        cluster = set(range(last + 1))
        for row in range(len(table)):
            joined = Classes.whole(np.array(sorted({*cluster, row})))
            price = prices.price[prices.value[row]].sum()
            assert abs(gcp(table, joined) - price) < 1e-12
