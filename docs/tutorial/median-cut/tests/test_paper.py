"""The worked example of the tutorial: eight people, two of them alike at least."""

import pandas as pd

from anonloom.data.schema import Column, Schema
from anonloom.data.table import Table
from anonloom.kinds.context import Run
from anonloom.kinds.guard import Guard
from anonloom.testing.demands import AtLeast
from anonloom_median_cut.partitioner import MedianCut

AGES = [23, 25, 25, 31, 44, 58, 59, 70]


def test_worked_example() -> None:
    """With k = 2 ages are cut before 44 and before 59; before 25 would leave one person alone."""
    table = Table.build(
        pd.DataFrame({"age": AGES}), Schema([Column(name="age", role="quasi", type="number")])
    )

    found = MedianCut().partition(table, table.whole(), Guard((AtLeast(k=2),)), Run())

    ages = sorted([AGES[row] for row in found.members(which)] for which in range(len(found)))
    assert [[23, 25, 25, 31], [44, 58], [59, 70]] == ages
