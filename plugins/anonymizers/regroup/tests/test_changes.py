"""Each kind of change does what only it can do, on tables small enough to see why."""

import numpy as np
import pandas as pd
import pytest

from anonloom import Classes, Column, Guard, Schema, StageContext, Table
from anonloom_regroup.method import Regroup
from anonloom_testing.privacy_cases import AtLeast

CHANGES = {
    # A class that can spare its stranger gives it away.
    "move": ([[1, 2, 1, 90], [91, 92, 93]], 3, [[1, 1, 2], [90, 91, 92, 93]]),
    # Two classes of the least size exchange their strangers.
    "swap": ([[1, 2, 90], [91, 3, 92]], 3, [[1, 2, 3], [90, 91, 92]]),
    # The stranger goes to a second class, and a third one fills the gap.
    "refill": (
        [[1, 2, 90], [91, 92, 93], [3, 40, 41, 42]],
        3,
        [[1, 2, 3], [40, 41, 42], [90, 91, 92, 93]],
    ),
    # A class that nobody belongs to is given up.
    "dissolve": ([[1, 50, 99], [2, 2, 2], [51, 51, 51], [98, 98, 98]], 3,
                 [[1, 2, 2, 2], [50, 51, 51, 51], [98, 98, 98, 99]]),
    # A class that has grown to twice the least size is split.
    "split": ([[1, 1, 9, 9]], 2, [[1, 1], [9, 9]]),
    # The best company that there is stays together.
    "none": ([[1, 1, 1], [2, 2, 2]], 3, [[1, 1, 1], [2, 2, 2]]),
}  # fmt: skip


def regroup(classes, guard):
    """Return the ages of every class after regrouping."""
    ages = [age for members in classes for age in members]
    labels = [which for which, members in enumerate(classes) for _ in members]
    age = Column(name="age", role="quasi", type="number")
    table = Table.build(pd.DataFrame({"age": [float(age) for age in ages]}), Schema([age]))

    result = Regroup().handle(
        table, Classes.from_labels(pd.Series(labels).to_numpy()), guard, StageContext()
    )

    return sorted(
        sorted(ages[row] for row in result.members(index)) for index in range(len(result))
    )


@pytest.mark.parametrize(("classes", "k", "expected"), CHANGES.values(), ids=CHANGES)
def test_the_change_is_made(classes, k, expected):
    assert expected == regroup(classes, Guard([AtLeast(k=k)]))


def test_no_class_is_dissolved_into_a_size_of_which_the_sampler_keeps_too_little():
    """Of a class of four rows it keeps fewer than of one of three."""
    classes, k, _ = CHANGES["dissolve"]
    guard = Guard([AtLeast(k=k)], lambda sizes: np.where(np.asarray(sizes) == 4, 2, sizes))

    assert {3} == {len(members) for members in regroup(classes, guard)}


def test_rows_that_left_are_counted_against_the_largest_rest():
    from anonloom_regroup.measures import rows_moved

    before = pd.Series([0, 0, 0, 1, 1, -1]).to_numpy()
    after = pd.Series([5, 5, 2, 2, 2, -1]).to_numpy()
    assert 1 == rows_moved(before, after)
    assert 0 == rows_moved(before[:0], after[:0])
