"""What methods hand back is refused where it is not what was declared, whatever it looks like."""

import attrs
import numpy as np
import pandas as pd
import pytest

from anonloom import Classes, Column, Release, Schema, Table
from anonloom_runner.declared import wrong_release, wrong_rows, wrong_table

NAME = Column(name="name", role="identifier")
AGE = Column(name="age", role="quasi", type="number")
ILL = Column(name="ill", role="sensitive")
SCHEMA = Schema((NAME, AGE, ILL))


@pytest.fixture
def table():
    frame = pd.DataFrame({"name": list("abcd"), "age": [20, 30, 40, 50], "ill": list("xyxy")})
    return attrs.evolve(Table.build(frame, SCHEMA), origin=np.arange(4))


@pytest.fixture
def classes():
    return Classes.whole(np.array([0, 1, 2]), suppressed=np.array([3]))


@pytest.fixture
def release(table, classes):
    return Release.from_cells(table, classes, [np.array(["[20, 40]"], object)], truthful=True)


def test_what_was_declared_is_not_refused(table, classes, release):
    assert wrong_table(table, table) is None
    assert wrong_release(SCHEMA, release) is None
    assert wrong_rows(table, classes, release) is None


@pytest.mark.parametrize(
    ("columns", "wrong"),
    [
        (
            (AGE, Column(name="zip", role="other")),
            "returned a column 'zip', which it was not given",
        ),
        (
            (attrs.evolve(AGE, role="other"),),
            "turned column 'age' from role 'quasi' into 'other'",
        ),
        (
            (attrs.evolve(NAME, pseudonymize=True), AGE),
            "would publish column 'name', which is not to be published",
        ),
    ],
)
def test_other_columns_than_were_declared_are_refused(table, release, columns, wrong):
    other = Schema(columns)
    assert wrong == wrong_table(table, attrs.evolve(table, schema=other))
    assert wrong == wrong_release(SCHEMA, attrs.evolve(release, schema=other))


def test_origins_that_a_mechanism_makes_up_are_refused(table):
    nobody = attrs.evolve(table, origin=None)
    assert "invented origins for rows that had none" == wrong_table(nobody, table)
    assert wrong_table(nobody, nobody) is None
    assert wrong_table(table, nobody) is None
    few = attrs.evolve(table, origin=np.arange(3))
    assert "returned origins for another number of rows" == wrong_table(table, few)


@pytest.mark.parametrize("name", ["origin", "classes"])
def test_a_release_says_of_each_of_its_rows_whose_it_is(release, name):
    assert "returned origins or classes for another number of rows" == wrong_release(
        SCHEMA, attrs.evolve(release, **{name: np.arange(3)})
    )
    assert wrong_release(SCHEMA, attrs.evolve(release, **{name: None})) is None


def test_a_release_has_the_rows_that_were_given_and_no_others(table, classes, release):
    fewer = attrs.evolve(release, frame=release.frame.iloc[:3])
    assert "published 3 of 4 rows" == wrong_rows(table, classes, fewer)
    strangers = "published other rows than it was given"
    for origin, wrong in (
        (np.array([3, 2, 1, 0]), None),
        (np.array([0, 1, 2, 2]), strangers),
        (np.array([0, 1, 2, 9]), strangers),
        (None, strangers),
    ):
        assert wrong == wrong_rows(table, classes, attrs.evolve(release, origin=origin))


def test_of_rows_that_are_nobodys_a_release_names_no_origin(table, classes, release):
    nobody = attrs.evolve(table, origin=None)
    assert "invented origins for rows that had none" == wrong_rows(nobody, classes, release)
    assert wrong_rows(nobody, classes, attrs.evolve(release, origin=None)) is None
