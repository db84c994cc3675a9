"""Columns of a release that have other names than in the original."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonloom.errors import UsageError
from anonloom_audit.renames import parse_renames, refuse_unmatched, rename_columns

ORIGINAL = pd.DataFrame({"age": ["31", "45"], "sex": ["f", "m"], "name": ["a", "b"]})


def refusal(release, **more):
    with pytest.raises(UsageError) as caught:
        refuse_unmatched(ORIGINAL, release, "the release 'r.csv'", **more)
    return str(caught.value)


def test_columns_with_names_alike_are_asked_for():
    release = pd.DataFrame({"AGE_YEARS": ["30-40", "40-50"], "sex": ["f", "m"]})
    expected = (
        "columns of the release 'r.csv' may be those of the original by another name. Only the "
        "original has 'age', 'name'; only the release has 'AGE_YEARS'\n"
        "    What is not compared looks safe. Say which is which:\n"
        "    --column age=AGE_YEARS    (or, if it is another column, --ignore AGE_YEARS)"
    )
    assert expected == refusal(release)


def test_columns_with_the_same_values_are_asked_for_and_no_cell_is_said():
    release = pd.DataFrame({"age": ["31", "45"], "geschlecht": ["f", "m"]})
    text = refusal(release)
    assert "--column sex=geschlecht " in text
    assert "'f'" not in text


def test_what_is_declared_otherwise_is_not_asked_for():
    release = pd.DataFrame({"AGE_YEARS": ["30"], "sex": ["f"]})
    refuse_unmatched(ORIGINAL, release, "it", ignored=["AGE_YEARS"])
    refuse_unmatched(ORIGINAL, release, "it", unpublished=["age"])
    # Neither name nor values are alike.
    refuse_unmatched(ORIGINAL, pd.DataFrame({"sex": ["f"], "weight": ["70"]}), "it")


@given(st.sets(st.sampled_from(["age", "sex", "name", "Age", "weight", "x"])))
def test_every_column_is_matched_at_most_once(names):
    release = pd.DataFrame({name: ["q"] for name in sorted(names)})
    try:
        refuse_unmatched(ORIGINAL, release, "it")
    except UsageError as error:
        lines = [line for line in str(error).splitlines() if "--column" in line]
        sides = [line.split()[1].split("=") for line in lines]
        assert len(sides) == len({a for a, _ in sides}) == len({b for _, b in sides})


def test_a_column_is_renamed():
    release = pd.DataFrame({"AGE": ["31"], "sex": ["f"]})
    result = rename_columns(ORIGINAL, release, {"age": "AGE"}, "the release")
    assert ["age", "sex"] == list(result.columns)


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["age"], "--column must be a column of the original and its name in the release, "
                  "'age=AGE_YEARS'. Got 'age' instead."),
        (["age=A", "age=B"], "--column age=B contradicts another --column"),
        (["age=A", "sex=A"], "--column sex=A contradicts another --column"),
    ],
)  # fmt: skip
def test_what_cannot_be_a_renaming_is_refused(texts, expected):
    with pytest.raises(UsageError) as caught:
        parse_renames(texts)
    assert expected == str(caught.value)


@pytest.mark.parametrize(
    ("renames", "expected"),
    [
        ({"ages": "AGE"}, "--column ages=AGE: the original has no column 'ages'"),
        ({"age": "sex"}, "--column age=sex: the release has both columns\n"
                         "    Leave it out, or rename 'age' in the release."),
    ],
)  # fmt: skip
def test_a_column_that_would_be_there_twice_or_never_is_refused(renames, expected):
    release = pd.DataFrame({"age": ["31"], "sex": ["f"]})
    with pytest.raises(UsageError) as caught:
        rename_columns(ORIGINAL, release, renames, "the release")
    assert expected == str(caught.value)


def test_renamings_are_read():
    assert {"age": "A=B", "sex": "S"} == parse_renames(["age=A=B", "sex=S", "sex=S"])
