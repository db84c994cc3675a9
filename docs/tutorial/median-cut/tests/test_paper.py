"""The worked example of the tutorial: eight people, two of them alike at least."""

import pandas as pd

from anonloom import Column, Guard, Schema, StageContext, Table
from anonloom_median_cut.partitioner import MedianCut
from anonloom_testing.privacy_cases import AtLeast

AGES = [23, 25, 25, 31, 44, 58, 59, 70]


def test_worked_example() -> None:
    """With k = 2 ages are cut before 44 and before 59; before 25 would leave one person alone."""
    table = Table.build(
        pd.DataFrame({"age": AGES}), Schema([Column(name="age", role="quasi", type="number")])
    )

    result = MedianCut().partition(table, table.whole(), Guard((AtLeast(k=2),)), StageContext())

    ages = sorted([AGES[row] for row in result.members(which)] for which in range(len(result)))
    assert [[23, 25, 25, 31], [44, 58], [59, 70]] == ages
