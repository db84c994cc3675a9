"""What classes publish: whole releases, cell by cell."""

import statistics

import attrs
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom import Classes, Column, Schema, StageContext, Table
from anonloom.data import Regions
from anonloom.hierarchies import Tree
from anonloom_recoding.centroid import Centroid
from anonloom_recoding.hierarchy import ByHierarchy
from anonloom_recoding.sets import Sets

FRAME = pd.DataFrame(
    {
        "age": [30, 34, 34, 51, 60, 40, 41],
        "town": ["a", "b", "b", "c", None, "a", "a"],
        "born": [
            "2001-02-03",
            "2001-02-10",
            "2001-02-04",
            "2003-01-01",
            "2003-01-01",
            "2003-01-01",
            "2003-01-01",
        ],
        "team": ["x", "y", "z", "x", "x", "x", "x"],
        "illness": ["flu", "flu", "gout", "flu", "gout", "flu", "flu"],
    }
)
SCHEMA = Schema(
    [
        Column(name="age", role="quasi", type="number"),
        Column(name="town", role="quasi", hierarchy=Tree(tree={"ab": ["a", "b"], "c": None})),
        Column(name="born", role="quasi", type="date"),
        Column(name="team", role="quasi", publish="set"),
        Column(name="illness", role="sensitive"),
    ]
)
CLASSES = Classes(np.array([2, 0, 1, 4, 3, 5]), np.array([0, 3, 5, 6]), np.array([6]))


@pytest.fixture
def table():
    return Table.build(FRAME, SCHEMA)


def published(release):
    rows = release.frame.astype(object).where(release.frame.notna(), None)
    return [tuple(row) for row in rows.itertuples(index=False)]


def test_hierarchy_publishes_every_declared_form(table):
    release = ByHierarchy().generalize(table, CLASSES, StageContext())

    first = ("[30, 34]", "ab", "2001-02", '{"x", "y", "z"}')
    assert [
        (*first, "flu"),
        (*first, "flu"),
        (*first, "gout"),
        ("[51, 60]", "*", "2003-01-01", "x", "flu"),
        ("[51, 60]", "*", "2003-01-01", "x", "gout"),
        ("40", "a", "2003-01-01", "x", "flu"),
        ("*", "*", "*", "*", "flu"),
    ] == published(release)
    assert release.truthful


def regions(table, **changes):
    """The whole of every axis for the first two classes, one value for the third."""
    top = np.array([axis.size - 1 for axis in table.axes], np.int32)
    lo = np.array([[0] * 4, [0] * 4, table.codes[:, 5]], np.int32)
    hi = np.array([top, top, table.codes[:, 5]], np.int32)
    return attrs.evolve(CLASSES, regions=Regions(lo, hi), **changes)


def test_regions_are_published_when_asked_for(table):
    release = ByHierarchy(extent="region").generalize(table, regions(table), StageContext())

    wide = ("[30, 60]", "*", "2000s", '{"x", "y", "z"}', "flu")
    assert [wide, ("40", "a", "2003-01-01", "x", "flu")] == [
        published(release)[row] for row in (0, 5)
    ]


def test_regions_are_published_after_a_global_recoding(table):
    asked = ByHierarchy(extent="region").generalize(table, regions(table), StageContext())
    by_itself = ByHierarchy().generalize(
        table, regions(table, global_recoding=True), StageContext()
    )

    assert published(asked) == published(by_itself)


def test_regions_are_left_alone_otherwise(table):
    tight = ByHierarchy().generalize(table, CLASSES, StageContext())

    for method, classes in (
        (ByHierarchy(), regions(table)),
        (ByHierarchy(extent="tight"), regions(table, global_recoding=True)),
        (ByHierarchy(extent="region"), CLASSES),
    ):
        assert published(tight) == published(method.generalize(table, classes, StageContext()))


def test_levels_of_a_global_recoding_are_kept(table):
    """Level 1 of the towns is published even where a class has a single town."""
    classes = regions(table, global_recoding=True)
    level = np.full(classes.regions.lo.shape, -1, np.int32)
    level[2, 1] = 1
    classes = attrs.evolve(classes, regions=attrs.evolve(classes.regions, level=level))

    release = ByHierarchy().generalize(table, classes, StageContext())

    assert ("40", "ab", "2003-01-01", "x", "flu") == published(release)[5]


def test_sets_publish_the_values_of_each_class(table):
    release = Sets().generalize(table, CLASSES, StageContext())

    days = '{"2001-02-03", "2001-02-04", "2001-02-10"}'
    assert ('{"30", "34"}', '{"a", "b"}', days, '{"x", "y", "z"}', "flu") == published(release)[0]
    assert ('{"51", "60"}', "*", "2003-01-01", "x", "flu") == published(release)[3]
    assert ("40", "a", "2003-01-01", "x", "flu") == published(release)[5]


def test_centroids_publish_means_and_modes(table):
    """Missing values have no part in a centroid."""
    release = Centroid().generalize(table, CLASSES, StageContext())

    assert ("32.666667", "b", "2001-02-05", "x", "flu") == published(release)[0]
    assert ("55.5", "c", "2003-01-01", "x", "flu") == published(release)[3]
    assert ("*", "*", "*", "*", "flu") == published(release)[6]
    assert not release.truthful


def test_centroids_publish_medians_and_nodes(table):
    release = Centroid(number="median", category="node").generalize(table, CLASSES, StageContext())

    assert ("34", "ab", "2001-02-04", "*", "flu") == published(release)[0]
    assert ("55.5", "*", "2003-01-01", "x", "flu") == published(release)[3]


@pytest.mark.parametrize(("number", "centre"), [("mean", "10:00:03"), ("median", "10:00:01")])
def test_centroids_of_times_are_cut_to_the_second(number, centre):
    cells = [f"1969-05-01 10:00:{second:02}" for second in (0, 1, 9)]
    schema = Schema([Column(name="seen", role="quasi", type="time")])
    table = Table.build(pd.DataFrame({"seen": cells}), schema)

    release = Centroid(number=number).generalize(table, table.whole(), StageContext())
    assert [(f"1969-05-01 {centre}",)] * 3 == published(release)


def test_a_class_without_values_has_a_missing_centroid():
    frame = pd.DataFrame({"age": [None, None, 3.0], "born": [None, None, "2001-01-01"]})
    columns = [
        Column(name="age", role="quasi", type="number"),
        Column(name="born", role="quasi", type="date"),
    ]
    table = Table.build(frame, Schema(columns))
    classes = Classes(np.array([0, 1, 2]), np.array([0, 2, 3]))

    for number in ("mean", "median"):
        release = Centroid(number=number).generalize(table, classes, StageContext())
        assert [(None, None), (None, None), ("3", "2001-01-01")] == published(release)


@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from([None, 1, 2, 4, 10]), st.sampled_from([None, *"abc"]), st.integers(0, 3)
        ),
        min_size=1,
        max_size=30,
    )
)
@settings(deadline=None, max_examples=100)
def test_centroids_are_those_of_the_statistics_module(rows):
    frame = pd.DataFrame(rows, columns=["age", "town", "label"])
    columns = [
        Column(name="age", role="quasi", type="number"),
        Column(name="town", role="quasi"),
    ]
    table = Table.build(frame, Schema(columns))
    classes = Classes.from_labels(frame["label"].to_numpy())

    mean = published(Centroid().generalize(table, classes, StageContext()))
    median = published(Centroid(number="median").generalize(table, classes, StageContext()))

    for index, (_, _, label) in enumerate(rows):
        ages = [age for age, _, other in rows if other == label and age is not None]
        towns = sorted(town for _, town, other in rows if other == label and town is not None)
        assert (round(statistics.mean(ages), 6) if ages else None) == as_number(mean[index][0])
        assert (statistics.median(ages) if ages else None) == as_number(median[index][0])
        assert (statistics.mode(towns) if towns else None) == mean[index][1]


def as_number(text):
    return None if text is None else float(text)
