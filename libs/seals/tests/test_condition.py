"""Conditions are read in one way, and written so that they are read as the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonloom.errors import UsageError
from anonloom_seals.condition import Condition

FORMS = '    write "NAME between A and B", "NAME = A", "NAME >= A" or "NAME <= B"'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("age between 30 and 40", ("age", "30", "40")),
        ("age BETWEEN -1.5 AND 1e3", ("age", "-1.5", "1e3")),
        ("age = 30", ("age", "30", "30")),
        ("age=30", ("age", "30", "30")),
        ("age >= 30", ("age", "30", None)),
        ("age<=30", ("age", None, "30")),
        ("'home town' = \"New York\"", ("home town", "New York", "New York")),
        ("name = 'O''Hara'", ("name", "O'Hara", "O'Hara")),
        ("between between and and and", ("between", "and", "and")),
        ("born between '2020-01-01 00:00:00' and 2021", ("born", "2020-01-01 00:00:00", "2021")),
        ("name = ''", ("name", "", "")),
    ],
)
def test_conditions_are_read(text, expected):
    assert Condition(*expected) == Condition.read(text)


@pytest.mark.parametrize("text", ["", "age", "age between 30", "age = 30 40", "= 3", "a = 'b"])
def test_what_is_no_condition_is_refused(text):
    with pytest.raises(UsageError) as refused:
        Condition.read(text)
    assert f"the condition {text!r} cannot be read\n{FORMS}" == str(refused.value)


@pytest.mark.parametrize("text", ["age < 3", "age > 3", "age != 3"])
def test_open_bounds_are_refused(text):
    with pytest.raises(UsageError) as refused:
        Condition.read(text)
    assert f"the condition {text!r} leaves its bound out; ranges are closed\n{FORMS}" == str(
        refused.value
    )


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


@given(name=texts.filter(bool), low=st.none() | texts, high=st.none() | texts)
def test_a_written_condition_is_read_as_the_same(name, low, high):
    if low is None and high is None:
        low = "0"
    condition = Condition(name, low, high)
    assert condition == Condition.read(str(condition))
