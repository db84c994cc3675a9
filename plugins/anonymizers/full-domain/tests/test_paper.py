"""Worked example and claims of the papers: Samarati and Sweeney, Flash, ARX's local recoding."""

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom import Column, Guard, Schema, StageContext, Table
from anonloom.hierarchies import Prefix
from anonloom_full_domain.full_domain import FullDomain
from anonloom_full_domain.grid import Grid
from anonloom_full_domain.local_recoding import LocalRecoding
from anonloom_loss import gcp
from anonloom_testing.privacy_cases import AtLeast

#: The private table of Samarati and Sweeney's lattice <race, ZIP>: two races in four ZIP codes.
PRIVATE_TABLE = pd.DataFrame(
    {"race": ["Black"] * 4 + ["White"] * 4, "zip": ["02138", "02139", "02141", "02142"] * 2}
)


def private_table():
    return Table.build(
        PRIVATE_TABLE,
        Schema(
            [
                Column(name="race", role="quasi"),
                Column(name="zip", role="quasi", hierarchy=Prefix(keep=(4, 3))),
            ]
        ),
    )


def test_the_smallest_class_of_every_generalized_table():
    """GT[0,0] has single tuples; GT[1,0] and GT[0,1] pairs; GT[1,1] and GT[0,2] fours; top all."""
    table = private_table()
    grid = Grid.of(table, table.whole())
    every = np.arange(len(grid))

    smallest = {
        node: int(grid.boxes(node, every, grid.weights).sizes.min())
        for node in np.ndindex(grid.lattice.shape)
    }

    assert {(0, 0): 1, (1, 0): 2, (0, 1): 2, (1, 1): 4, (0, 2): 4, (1, 2): 8} == smallest


def test_a_k_minimal_generalization_is_published():
    """For k = 2, GT[1,0] and GT[0,1] are minimal, for 3, GT[1,1] and GT[0,2].

    Of the minimal ones the loss decides: pairs of ZIP codes lose half a domain, races a whole one.
    """
    table = private_table()
    levels = {}
    for k in (1, 2, 3, 4, 5):
        result = FullDomain().partition(table, table.whole(), Guard([AtLeast(k=k)]), StageContext())
        levels[k] = tuple(result.regions.level[0].tolist())

    assert {1: (0, 0), 2: (0, 1), 3: (0, 2), 4: (0, 2), 5: (1, 2)} == levels


def people(seed, rows=400):
    """Draw a table with a lattice of 6 x 4 x 3 x 2 x 2 nodes."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.normal(45, 15, rows).round(),
            "zip": rng.integers(1000, 1100, rows).astype(str),
            "job": (10 + rng.geometric(0.2, rows).clip(max=80)).astype(str),
            "sex": rng.choice(["f", "m"], rows),
            "born": rng.choice(["here", "there", "far"], rows, p=[0.8, 0.15, 0.05]),
        }
    )
    schema = Schema(
        [
            Column(name="age", role="quasi", type="number"),
            Column(name="zip", role="quasi", hierarchy=Prefix(keep=(3, 2))),
            Column(name="job", role="quasi", hierarchy=Prefix(keep=(1,))),
            Column(name="sex", role="quasi"),
            Column(name="born", role="quasi"),
        ]
    )
    return Table.build(frame, schema)


def partition(method, table, k):
    context = StageContext()
    result = method.partition(table, table.whole(), Guard([AtLeast(k=k)]), context)
    return result, {item.name: item.value for item in context.found}


def test_predictive_tagging_decides_most_nodes_without_looking_at_them():
    """Flash: paths through the lattice, searched by halving, find the optimum with few checks."""
    for seed in range(5):
        _, figures = partition(FullDomain(), people(seed), k=5)
        assert "optimal" == figures["search"]
        assert figures["evaluated_nodes"] < figures["lattice_nodes"] / 4


@given(seed=st.integers(0, 100), k=st.integers(2, 20))
@settings(max_examples=15)
def test_a_higher_limit_of_suppression_never_loses_more(seed, k):
    """Samarati: suppression of a few outliers buys less generalization."""
    table = people(seed, rows=200)
    losses = []
    for share in (0.0, 0.05, 0.2, 1.0):
        result, _ = partition(FullDomain(suppress_at_most=share), table, k)
        assert len(result.suppressed) <= share * len(table)
        lost = sum(
            axis.loss(result.regions.lo[:, index], result.regions.hi[:, index]) @ result.sizes
            for index, axis in enumerate(table.axes)
        )
        losses.append(lost / len(table.axes) + len(result.suppressed))

    assert (np.diff(losses) <= 1e-9).all()


def test_local_recoding_loses_far_less_than_one_level_for_all():
    """ARX: recoding what is still suppressed, again and again, gives several times the quality."""
    for seed in range(5):
        table = people(seed)
        everywhere, _ = partition(FullDomain(suppress_at_most=1.0), table, k=5)
        by_levels, _ = partition(LocalRecoding(rounds="levels"), table, k=5)
        by_cells, _ = partition(LocalRecoding(), table, k=5)

        assert gcp(table, by_levels) < 0.75 * gcp(table, everywhere)
        assert gcp(table, by_cells) < 0.75 * gcp(table, everywhere)
        assert 0 == len(by_cells.suppressed)
