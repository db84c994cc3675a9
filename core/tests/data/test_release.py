"""A release has one cell per class and axis, and knows groups and suppressed rows by its cells."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonloom import Classes, Column, Release, Schema, Table
from anonloom_runner.sanitize import sanitize

SCHEMA = Schema(
    [
        Column(name="age", role="quasi", type="number"),
        Column(name="illness", role="sensitive"),
        Column(name="zip", role="quasi"),
        Column(name="who", role="person"),
    ]
)


def build(rows: list[tuple[object, object]], schema: Schema = SCHEMA) -> Table:
    frame = pd.DataFrame(
        {
            "age": pd.Series([age for age, _ in rows], dtype=float),
            "zip": pd.Series([code for _, code in rows], dtype=object),
            "illness": [f"i{index}" for index in range(len(rows))],
            "who": range(len(rows)),
        }
    )
    return Table.build(frame, schema)


def plain(release: Release, name: str) -> list[object]:
    return [None if pd.isna(cell) else cell for cell in release.frame[name]]


def publish(table: Table, classes: Classes) -> Release:
    lo, hi = classes.extents(table.codes)
    cells = [axis.publish(lo[:, index], hi[:, index]) for index, axis in enumerate(table.axes)]
    return Release.from_cells(table, classes, cells, truthful=True)


rows_strategy = st.lists(
    st.tuples(st.one_of(st.none(), st.integers(0, 9)), st.sampled_from(["a", "b", None])),
    min_size=1,
    max_size=20,
)


@given(rows_strategy, st.data())
def test_every_row_has_the_cells_of_its_class(
    rows: list[tuple[object, object]], data: st.DataObject
) -> None:
    table = build(rows)
    n = len(rows)
    labels = np.array(data.draw(st.lists(st.integers(-1, 3), min_size=n, max_size=n)))
    # Some rows may be in no class and not suppressed either: a subset is published.
    chosen = np.array(sorted(data.draw(st.sets(st.integers(0, n - 1), min_size=1))))
    classes = Classes.from_labels(labels[chosen], rows=chosen)
    lo, hi = classes.extents(table.codes)
    cells = [axis.publish(lo[:, index], hi[:, index]) for index, axis in enumerate(table.axes)]
    release = Release.from_cells(table, classes, cells, truthful=False)
    assert ["age", "illness", "zip"] == list(release.frame.columns)
    assert chosen.tolist() == release.origin.tolist()
    assert [f"i{row}" for row in chosen] == release.frame["illness"].tolist()
    own = classes.labels(n)[chosen]
    assert own.tolist() == release.classes.tolist()
    for axis, name in enumerate(("age", "zip")):
        expected = ["*" if index < 0 else cells[axis][index] for index in own]
        assert expected == plain(release, name)
    assert not release.truthful


@given(rows_strategy, st.data())
def test_groups_are_rows_with_equal_cells(
    rows: list[tuple[object, object]], data: st.DataObject
) -> None:
    table = build(rows)
    n = len(rows)
    labels = data.draw(st.lists(st.integers(-1, 3), min_size=n, max_size=n))
    release = publish(table, Classes.from_labels(np.array(labels)))
    cells = list(zip(plain(release, "age"), plain(release, "zip"), strict=True))
    groups = release.groups()
    for a in range(n):
        for b in range(n):
            assert (cells[a] == cells[b]) == (groups[a] == groups[b])
    assert len(set(cells)) == groups.max() + 1
    of_zip = release.groups(("zip",))
    for a in range(n):
        for b in range(n):
            assert (cells[a][1] == cells[b][1]) == (of_zip[a] == of_zip[b])
    assert [0] * n == release.groups(()).tolist()
    assert [pair == ("*", "*") for pair in cells] == release.suppressed_rows.tolist()


CELLS = st.sampled_from(["a", "b", "*", None])


@given(st.lists(st.tuples(CELLS, CELLS, CELLS), max_size=12))
def test_groups_are_numbered_as_they_are_met_whatever_columns_are_made_of(
    rows: list[tuple[str | None, ...]],
) -> None:
    made = [pd.Categorical, lambda cells: pd.array(cells, "str"), list]
    frame = pd.DataFrame(
        {
            name: pd.Series(of([row[index] for row in rows]), dtype=object if of is list else None)
            for index, (name, of) in enumerate(zip(("age", "zip", "illness"), made, strict=True))
        }
    )
    number: dict[tuple[str | None, ...], int] = {}
    expected = [number.setdefault(row, len(number)) for row in rows]
    release = Release(schema=SCHEMA, frame=frame)
    assert expected == release.groups(("age", "zip", "illness")).tolist()


@given(st.lists(st.tuples(CELLS, CELLS, st.integers(-2, 2)), max_size=12))
def test_before_the_shuffle_rows_are_in_the_order_of_their_cells(
    rows: list[tuple[str | None, str | None, int]],
) -> None:
    frame = pd.DataFrame(
        {
            "age": pd.Categorical([row[0] for row in rows], categories=["*", "b", "a"]),
            "zip": pd.Series([row[1] for row in rows], dtype=object),
            "illness": pd.Series([row[2] for row in rows], dtype=float),
        }
    )

    class InOrder:
        def permutation(self, n: int) -> np.ndarray:
            return np.arange(n)

    origin = np.arange(len(rows))
    release = sanitize(Release(schema=SCHEMA, frame=frame, origin=origin), InOrder())
    # A missing cell comes before every other one.
    expected = sorted(
        origin, key=lambda row: (rows[row][0] or "", rows[row][1] or "", rows[row][2])
    )
    assert expected == release.origin.tolist()


def test_a_row_of_stars_is_suppressed_however_it_came_about() -> None:
    frame = pd.DataFrame(
        {"age": ["*", "*", None, "1"], "illness": ["a"] * 4, "zip": ["*", "b", "*", None]}
    )
    expected = [True, False, False, False]
    for dtype in (object, "str", "category"):
        release = Release(schema=SCHEMA, frame=frame.astype(dtype))
        assert expected == release.suppressed_rows.tolist()
    numbers = frame.assign(age=[1.0, 2.0, None, 3.0])
    assert [False] * 4 == Release(schema=SCHEMA, frame=numbers).suppressed_rows.tolist()


def test_without_quasi_identifiers_no_row_is_suppressed_and_all_are_one_group() -> None:
    schema = Schema([Column(name="illness", role="sensitive")])
    release = Release(schema=schema, frame=pd.DataFrame({"illness": ["*", "a"]}))
    assert [False, False] == release.suppressed_rows.tolist()
    assert [0, 0] == release.groups().tolist()


def test_all_rows_may_be_suppressed() -> None:
    table = build([(1, "a"), (2, "b")])
    release = publish(table, Classes.from_labels(np.array([-1, -1])))
    assert (["*", "*"], ["*", "*"]) == (plain(release, "age"), plain(release, "zip"))
    assert release.suppressed_rows.all()


def test_a_table_can_be_published_as_it_is() -> None:
    schema = Schema(
        [
            Column(name="age", role="quasi", type="number"),
            Column(name="zip", role="quasi", missing="suppress"),
            Column(name="illness", role="sensitive"),
        ]
    )
    table = build([(1.5, "a"), (None, "b"), (2, None)], schema)
    release = Release.as_it_is(table)
    assert ["1.5", None, "*"] == plain(release, "age")
    assert ["a", "b", "*"] == plain(release, "zip")
    assert ["i0", "i1", "i2"] == release.frame["illness"].tolist()
    assert [False, False, True] == release.suppressed_rows.tolist()
    assert ([0, 1, 2], None) == (release.origin.tolist(), release.classes)
    some = Release.as_it_is(table.take(np.array([1])))
    assert ([None], ["b"]) == (plain(some, "age"), plain(some, "zip"))


def test_a_narrowed_table_is_published_whole() -> None:
    table = build([(1, "a"), (2, "b")]).restricted_to(frozenset({"label"}))
    classes = Classes.from_labels(np.array([0, 0]))
    cells = [np.array(["x"], object), np.array([None], object)]
    release = Release.from_cells(table, classes, cells, truthful=True)
    assert (["x", "x"], [None, None]) == (plain(release, "age"), plain(release, "zip"))
    assert ["1", "2"] == plain(Release.as_it_is(table), "age")


def test_taken_rows_keep_what_is_known_of_them() -> None:
    release = publish(build([(1, "a"), (2, "b"), (3, "c")]), Classes.from_labels(np.arange(3)))
    for rows in (np.array([2, 0]), np.array([True, False, True])):
        some = release.take(rows)
        expected = [2, 0] if rows.dtype != bool else [0, 2]
        assert expected == some.origin.tolist() == some.classes.tolist()
        assert [f"i{row}" for row in expected] == some.frame["illness"].tolist()
        assert [0, 1] == some.frame.index.tolist()
    bare = Release(schema=SCHEMA, frame=release.frame).take(np.array([1]))
    assert (None, None, 1) == (bare.origin, bare.classes, len(bare))


def test_nothing_is_left_of_rows_that_are_not_published() -> None:
    """A list of categories would carry the values of rows that never left the house."""
    frame = pd.DataFrame(
        {
            "age": [1, 2, 3],
            "zip": pd.Categorical(["a", "b", "secret"], categories=["unseen", "secret", "b", "a"]),
            "illness": pd.Categorical(["x", "y", "shame"]),
            "who": [0, 1, 2],
        }
    )
    table = Table.build(frame, SCHEMA)
    classes = Classes.from_labels(np.array([0, 0]), rows=np.array([0, 1]))
    releases = [publish(table, classes), Release.as_it_is(table.take(np.array([0, 1])))]
    for release in releases:
        shuffled = sanitize(release, np.random.default_rng(1))
        for name in shuffled.frame.columns:
            column = shuffled.frame[name]
            if isinstance(column.dtype, pd.CategoricalDtype):
                used = sorted(set(column.dropna()))
                assert used == sorted(column.cat.categories)
    # What a generalizer published has no category but its own cells, even before that.
    assert {"*", "[1, 2]"} == set(releases[0].frame["age"].cat.categories)


def test_cells_must_be_given_for_every_axis() -> None:
    table = build([(1, "a")])
    with pytest.raises(ValueError, match="zip"):
        Release.from_cells(
            table, Classes.from_labels(np.array([0])), [np.array(["x"], object)], truthful=True
        )
