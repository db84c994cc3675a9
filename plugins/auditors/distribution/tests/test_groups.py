"""What is said of groups that cannot be compared."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from anonloom import AuditInput, Column, Release, Schema, StageContext, Table
from anonloom.errors import ParameterError, UsageError
from anonloom_distribution.auditor import Distribution

SCHEMA = Schema(
    [
        Column(name="age", role="quasi", type="number"),
        Column(name="day", role="quasi", type="date"),
        Column(name="town", role="quasi"),
        Column(name="ill", role="label"),
        Column(name="name", role="identifier"),
    ]
)


def problem(*groups: dict[str, Any]) -> str | None:
    return Distribution(groups=groups).problem(SCHEMA)


@pytest.mark.parametrize(
    ("group", "expected"),
    [
        ({"off": "age", "by": "town"}, "'off' is no key of a group; did you mean 'of'?"),
        (
            {"column": "age", "by": "town"},
            "'column' is no key of a group; a group has 'by', 'of', 'value', 'edges', 'ranges', "
            "'name'",
        ),
        ({"of": "age"}, "'by' is missing: the column that makes groups"),
        ({"by": 3}, "The 'by' parameter of Group must be text. Got 3 instead."),
        *(
            (
                {"by": "age", "ranges": absurd},
                "The 'ranges' parameter of Group must be an integer from 2 to 10000, or None. Got "
                f"{absurd} instead.",
            )
            for absurd in (1, 10_001, 10**12, 10**30)
        ),
        (
            {"by": "city"},
            "column 'city' is not declared; published are: 'age', 'day', 'town', 'ill'",
        ),
        (
            {"by": "age", "of": "name"},
            "column 'name' has role 'identifier' and is not published; published are: 'age', "
            "'day', 'town', 'ill'",
        ),
        ({"by": "age", "value": "1"}, "'value' goes with 'of': whose value it is"),
        (
            {"by": "town", "of": "age", "value": "old"},
            "'age' is a number, and 'old' is none",
        ),
        (
            {"by": "town", "of": "day"},
            "'of' must be a number or a category; 'day' is a date",
        ),
        (
            {"by": "town", "of": "ill"},
            "'ill' is a category, which has no mean: say which 'value' is counted",
        ),
        (
            {"by": "town", "edges": [0, 1]},
            "'town' is a category: its values are the groups, not ranges",
        ),
        ({"by": "age", "edges": [0, 1], "ranges": 3}, "give 'edges' or 'ranges', not both"),
        ({"by": "age", "edges": [0]}, "'edges' must be two or more, in ascending order"),
        ({"by": "age", "edges": [0, 5, 5]}, "'edges' must be two or more, in ascending order"),
        ({"by": "age", "edges": [0, "ten"]}, "'edges' must be numbers, as 'age' is a number"),
        (
            {"by": "day", "edges": [0, 10]},
            "'edges' must be dates such as '2024-03-01', as 'day' is a date",
        ),
        (
            {"by": "day", "edges": ["2024-01-01", "soon"]},
            "'edges' must be dates such as '2024-03-01', as 'day' is a date",
        ),
    ],
)
def test_a_group_that_is_none_is_named_with_what_is_wrong(
    group: dict[str, Any], expected: str
) -> None:
    assert f"groups[1]: {expected}" == problem({"by": "age"}, group)


def test_two_figures_of_one_name_need_names_of_their_own() -> None:
    twice = {"by": "age", "edges": [0, 1]}, {"by": "age", "edges": [0, 2]}
    assert "groups[1]: another group is called 'rows_by_age'; give it a 'name'" == problem(*twice)
    assert problem(twice[0], {**twice[1], "name": "other"}) is None


def test_good_groups_have_no_problem() -> None:
    assert (
        problem(
            {"by": "age", "edges": [0, 10.5, 20]},
            {"by": "day", "edges": ["2024-01-01", "2024-02-01"]},
            {"by": "day", "of": "age", "ranges": 3},
            {"by": "town", "of": "ill", "value": 1},
            {"by": "town", "of": "age", "value": "40"},
        )
        is None
    )
    assert Distribution().problem(SCHEMA) is None


def test_an_audit_refuses_what_a_check_would_have_refused() -> None:
    schema = Schema([Column(name="age", role="quasi", type="number")])
    table = Table.build(pd.DataFrame({"age": np.arange(20)}), schema)
    case = AuditInput(release=Release.as_it_is(table), original=table)
    with pytest.raises(UsageError) as raised:
        Distribution(groups=[{"by": "town"}]).audit(case, StageContext())
    assert "groups[0]: column 'town' is not declared; published are: 'age'" == str(raised.value)


def test_parameters_say_what_they_must_be() -> None:
    with pytest.raises(ParameterError) as raised:
        Distribution(reading="middle")
    assert (
        "The 'reading' parameter of Distribution must be one of 'midpoint', 'spread'. "
        "Got 'middle' instead." == str(raised.value)
    )
    for absurd in (1, 10**12, 10**30):
        with pytest.raises(ParameterError) as raised:
            Distribution(bins=absurd)
        assert (
            "The 'bins' parameter of Distribution must be an integer from 2 to 10000. "
            f"Got {absurd} instead." == str(raised.value)
        )
    with pytest.raises(ParameterError) as raised:
        Distribution(samples=1)
    assert (
        "The 'samples' parameter of Distribution must be an integer of at least 2. Got 1 instead."
        == str(raised.value)
    )
