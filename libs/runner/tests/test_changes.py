"""What was changed in a release whose cells do not cover the originals."""

from collections import Counter

import attrs
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonloom import Column, Schema, Table
from anonloom_runner.changes import changes_of, rows_as_they_were
from anonloom_runner.external import release_from

SCHEMA = Schema(
    (Column(name="age", role="quasi", type="number"), Column(name="town", role="quasi"))
)


def table(ages, towns):
    return Table.build(pd.DataFrame({"age": ages, "town": towns}), SCHEMA)


def foreign(ages, towns):
    frame = pd.DataFrame({"age": [str(age) for age in ages], "town": towns})
    return release_from(frame, SCHEMA)


def test_where_rows_are_known_every_cell_is_compared_with_its_own():
    original = table([10, 20, 30, 40], list("abab"))
    release = foreign([12, 20, 30, 44], list("bbab"))
    known = attrs.evolve(release, origin=np.arange(4))
    age, town = changes_of(original, known)
    assert ("age", 0.5, False) == (age["column"], age["changed"], age["at_least"])
    assert age["shift"] == pytest.approx(1.5 / np.std([10, 20, 30, 40]))
    assert {"column": "town", "changed": 0.25, "at_least": False, "shift": None} == town


def test_where_they_are_not_the_distributions_are():
    original = table([10, 20, 30, 40], list("aabb"))
    age, town = changes_of(original, foreign([40, 30, 20, 14], list("abbb")))
    assert (0.25, True) == (age["changed"], age["at_least"])
    assert age["shift"] == pytest.approx(1 / np.std([10, 20, 30, 40]))
    assert (0.25, True) == (town["changed"], town["at_least"])


def test_numbers_are_compared_as_numbers():
    age, _ = changes_of(table([1, 2], list("ab")), foreign(["1.0", "2"], list("ab")))
    assert 0 == age["changed"]


cells = st.lists(st.tuples(st.integers(0, 3), st.sampled_from("abc")), min_size=1, max_size=12)


@given(cells, cells)
def test_rows_as_they_were_are_those_of_the_original_each_once(before, after):
    expected = sum((Counter(before) & Counter(after)).values()) / len(after)
    result = rows_as_they_were(
        table(*zip(*before, strict=True)), foreign(*zip(*after, strict=True))
    )
    assert result == pytest.approx(expected)


def test_generalized_rows_are_not_as_they_were():
    assert 0 == rows_as_they_were(table([1, 2], list("ab")), foreign(["[1, 2]", "*"], list("ab")))
