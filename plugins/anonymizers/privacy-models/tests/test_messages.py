"""What the models say when they cannot be used, and what would pass, in whole sentences."""

import numpy as np
import pandas as pd
import pytest

from anonloom import Column, Guard, Schema, Table
from anonloom.hierarchies import Tree
from anonloom_privacy_models.k_anonymity import KAnonymity
from anonloom_privacy_models.l_diversity import LDiversity
from anonloom_privacy_models.t_closeness import TCloseness

SCHEMA = Schema(
    [
        Column(name="age", role="quasi", type="number"),
        Column(name="town", role="quasi"),
        Column(name="illness", role="sensitive"),
        Column(name="cost", role="sensitive", type="number"),
        Column(name="drug", role="sensitive", hierarchy=Tree(tree={"x": ["a", "b"], "y": ["c"]})),
        Column(name="seen", role="sensitive", type="date"),
        Column(name="note", role="other"),
    ]
)
SENSITIVE = "sensitive columns: 'illness', 'cost', 'drug', 'seen'"


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (KAnonymity(k=2), None),
        (KAnonymity(k=2, on=(("age",), ("age", "town"))), None),
        (
            KAnonymity(k=2, on=(("age", "zip"),)),
            "column 'zip' in 'on' is not declared; quasi-identifiers: 'age', 'town'",
        ),
        (
            KAnonymity(k=2, on=(("age",), ("note",))),
            "column 'note' in 'on' has role 'other'; quasi-identifiers: 'age', 'town'",
        ),
        (LDiversity(l=2, of="illness"), None),
        (LDiversity(l=2, of="sickness"), f"column 'sickness' is not declared; {SENSITIVE}"),
        (
            LDiversity(l=2, of="age"),
            f"column 'age' has role 'quasi', not 'sensitive'; {SENSITIVE}",
        ),
        (TCloseness(t=0.2, of="illness"), None),
        (TCloseness(t=0.2, of="cost", distance="ordered"), None),
        (TCloseness(t=0.2, of="seen", distance="ordered"), None),
        (TCloseness(t=0.2, of="seen", distance="hierarchical"), None),
        (TCloseness(t=0.2, of="drug", distance="hierarchical"), None),
        (
            TCloseness(t=0.2, of="note", distance="ordered"),
            f"column 'note' has role 'other', not 'sensitive'; {SENSITIVE}",
        ),
        (
            TCloseness(t=0.2, of="drug", distance="ordered"),
            "column 'drug' is a category, whose values have no order; declare it as 'type: number' "
            "or 'type: date', or use 'distance: equal' or 'distance: hierarchical'",
        ),
        (
            TCloseness(t=0.2, of="illness", distance="hierarchical"),
            "column 'illness' has no hierarchy; declare one, or use 'distance: equal'",
        ),
        (
            TCloseness(t=0.2, of="cost", distance="hierarchical"),
            "column 'cost' has no hierarchy; declare one, or use 'distance: ordered'",
        ),
    ],
    ids=str,
)
def test_problem_names_the_column_and_what_there_is(model, expected):
    assert expected == model.problem(SCHEMA)


def test_a_table_without_sensitive_columns_says_so():
    schema = Schema([Column(name="age", role="quasi", type="number")])

    assert "column 'illness' is not declared; sensitive columns: none" == LDiversity(
        l=2, of="illness"
    ).problem(schema)


def test_a_table_without_quasi_identifiers_says_so():
    schema = Schema([Column(name="age", role="other", type="number")])

    assert (
        "the table has no quasi-identifier; declare at least one column 'role: quasi'"
        == KAnonymity(k=2).problem(schema)
    )


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (
            lambda: KAnonymity(k=1),
            "The 'k' parameter of KAnonymity must be an integer of at least 2. Got 1 instead.",
        ),
        (
            lambda: LDiversity(l=1, of="illness"),
            "The 'l' parameter of LDiversity must be an integer or a number above 1. "
            "Got 1 instead.",
        ),
        (
            lambda: LDiversity(l=2.5, of="illness"),
            "kind 'distinct' needs a whole number l. Got 2.5 instead.",
        ),
        (
            lambda: LDiversity(l=2, of="illness", kind="recursive"),
            "kind 'recursive' needs c",
        ),
        (
            lambda: LDiversity(l=2, of="illness", kind="entropy", c=1),
            "'c' is for kind 'recursive', not for 'entropy'",
        ),
        (
            lambda: TCloseness(t=1.5, of="illness"),
            "The 't' parameter of TCloseness must be a number from 0 to 1. Got 1.5 instead.",
        ),
    ],
)
def test_parameters_are_checked(make, expected):
    with pytest.raises(ValueError) as caught:  # noqa: PT011  # the whole text is compared
        make()

    assert expected == str(caught.value)


@pytest.fixture
def table():
    frame = pd.DataFrame(
        {
            "age": range(10),
            "illness": ["x", "x", "x", "x", "y", "z", "w", None, None, "x"],
            "cost": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
        }
    )
    return Table.build(
        frame,
        Schema(
            [
                Column(name="age", role="quasi", type="number"),
                Column(name="illness", role="sensitive"),
                Column(name="cost", role="sensitive", type="number"),
            ]
        ),
    )


@pytest.mark.parametrize(
    ("model", "ranges", "expected"),
    [
        (KAnonymity(k=5), [(0, 7), (7, 10)], "k: 3"),
        (KAnonymity(k=5), [(0, 9), (9, 10)], "no k"),
        (LDiversity(l=4, of="illness"), [(0, 5), (3, 7)], "l: 2"),
        (LDiversity(l=4, of="illness"), [(0, 5), (7, 10)], "no l"),
        (LDiversity(l=4, of="illness", kind="entropy"), [(0, 5), (3, 7)], "l: 1.64"),
        (LDiversity(l=2, of="illness", kind="recursive", c=2), [(0, 5)], "c: 4.01"),
        (LDiversity(l=3, of="illness", kind="recursive", c=2), [(0, 5)], "l: 2, c: 4.01"),
        (TCloseness(t=0.1, of="illness"), [(0, 4)], "t: 0.38"),
        (TCloseness(t=0.1, of="illness"), [(0, 7), (7, 9)], "no t"),
        (TCloseness(t=0.1, of="cost", distance="ordered"), [(0, 5)], "t: 0.28"),
    ],
    ids=str,
)
def test_would_pass(table, model, ranges, expected):
    starts, stops = np.array(ranges).T

    assert expected == model.would_pass(table, np.arange(10), starts, stops)


def test_missing_values_are_no_values(table):
    """Rows 7 and 8 have no illness: they neither add a value nor a share."""
    rows = np.array([0, 4, 7, 8])
    starts, stops = np.array([0, 0, 2]), np.array([2, 4, 4])

    for model in (
        LDiversity(l=2, of="illness"),
        LDiversity(l=2, of="illness", kind="entropy"),
        LDiversity(l=2, of="illness", kind="recursive", c=1.1),
        TCloseness(t=0.5, of="illness"),
    ):
        assert [True, True, False] == model.admits(table, rows, starts, stops).tolist()


@pytest.mark.parametrize(
    ("model", "size"),
    [
        (KAnonymity(k=7), 7),
        (LDiversity(l=3, of="illness"), 3),
        (LDiversity(l=2.5, of="illness", kind="entropy"), 3),
        (LDiversity(l=3, of="illness", kind="recursive", c=2), 3),
        (LDiversity(l=3, of="illness", kind="recursive", c=1), 4),
        (LDiversity(l=2, of="illness", kind="recursive", c=0.5), 4),
        # A tail of 1 / c rows, of which floats know the most.
        (LDiversity(l=2, of="illness", kind="recursive", c=5e-324), 2 + (2**53 - 1) * 2**971),
        (TCloseness(t=0.2, of="illness"), 1),
    ],
    ids=str,
)
def test_min_size(model, size):
    assert size == model.min_size


def test_the_guard_takes_the_quasi_identifiers_of_the_combinations():
    schema = Schema([Column(name=name, role="quasi") for name in "abcd"])

    guard = Guard([KAnonymity(k=2, on=(("a", "b"), ("c",)))])

    assert ("a", "b", "c") == guard.columns(schema)
    assert (("a", "b"), ("c",)) == guard.models[0].combinations(schema)
