"""What the methods say, in whole sentences."""

import numpy as np
import pandas as pd
import pytest

from anonloom import Column, Schema, Table
from anonloom_alpha_deassociation.generalizer import Rounded
from anonloom_alpha_deassociation.privacy import AlphaDeassociation

SCHEMA = Schema(
    [
        Column(name="age", role="quasi", type="number"),
        Column(name="illness", role="sensitive"),
        Column(name="cost", role="sensitive", type="number"),
    ]
)


@pytest.mark.parametrize(
    ("of", "expected"),
    [
        ("illness", None),
        (
            "sickness",
            "column 'sickness' is not declared; sensitive columns: 'illness', 'cost'",
        ),
        ("age", "column 'age' has role 'quasi'; sensitive columns: 'illness', 'cost'"),
    ],
)
def test_problem_names_the_column_and_what_there_is(of, expected):
    assert expected == AlphaDeassociation(alpha=0.5, of=of).problem(SCHEMA)


def test_a_table_without_sensitive_columns_says_so():
    schema = Schema([Column(name="age", role="quasi", type="number")])

    assert "column 'illness' is not declared; sensitive columns: none" == AlphaDeassociation(
        alpha=0.5, of="illness"
    ).problem(schema)


@pytest.mark.parametrize("alpha", [0, 1, -0.5, 1.5])
def test_alpha_is_a_share(alpha):
    with pytest.raises(ValueError) as caught:  # noqa: PT011  # the whole text is compared
        AlphaDeassociation(alpha=alpha, of="illness")

    assert (
        "The 'alpha' parameter of AlphaDeassociation must be a number above 0 and below 1. "
        f"Got {alpha} instead." == str(caught.value)
    )


def test_a_grid_has_a_step():
    with pytest.raises(ValueError) as caught:  # noqa: PT011  # the whole text is compared
        Rounded(steps=0)

    assert (
        "The 'steps' parameter of Rounded must be an integer of at least 1. Got 0 instead."
        == str(caught.value)
    )


def test_meaning_speaks_of_the_unit_and_the_column():
    assert (
        "Of the persons that share a combination a share of at most 0.25 has the same value of "
        "'illness', so that finding the group leaves the value in doubt."
        == AlphaDeassociation(alpha=0.25, of="illness").meaning("persons")
    )


@pytest.mark.parametrize(
    ("ranges", "expected"),
    [
        ([(0, 4)], "alpha: 0.5"),
        ([(0, 3), (0, 4)], "alpha: 0.67"),  # two of three, rounded up
        ([(0, 4), (4, 5)], "no alpha"),  # somebody alone
        ([(0, 4), (5, 7)], "no alpha"),  # nobody has a value
        ([], "alpha: 0.3"),
    ],
    ids=str,
)
def test_would_pass_names_the_least_alpha(ranges, expected):
    frame = pd.DataFrame({"age": range(7), "illness": [*"xxyzx", None, None], "cost": range(7)})
    starts, stops = np.array(ranges, np.int64).reshape(-1, 2).T

    message = AlphaDeassociation(alpha=0.3, of="illness").would_pass(
        Table.build(frame, SCHEMA), np.arange(7), starts, stops
    )

    assert expected == message


@pytest.mark.parametrize(
    ("alpha", "size"),
    [(0.5, 2), (0.4, 3), (0.1, 10), (1 / 3, 3), (1 / 49, 49), (0.99, 2)],
)
def test_min_size_is_the_least_number_of_persons(alpha, size):
    assert size == AlphaDeassociation(alpha=alpha, of="illness").min_size


def test_an_alpha_that_no_class_can_satisfy_asks_for_more_rows_than_there_are():
    assert 10**300 < AlphaDeassociation(alpha=5e-324, of="illness").min_size


def test_judging_looks_at_the_sensitive_column():
    assert ("illness",) == AlphaDeassociation(alpha=0.5, of="illness").judged
    assert (("age",),) == AlphaDeassociation(alpha=0.5, of="illness").combinations(SCHEMA)
