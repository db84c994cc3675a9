"""Cells of several tables in one representation: what each one covers, and nothing else."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom import Column, Release, Schema, Table
from anonloom.hierarchies import Tree
from anonloom_columns import NotationReader
from anonloom_linkage.aligned_columns import align_columns, shared_columns
from anonloom_testing import oracle, tables
from anonloom_testing.auditor import in_classes, publish_suppressed
from anonloom_testing.random_tables import TREE, mixed_table
from anonloom_testing.strategies import samples

RELEASES = [Release.as_it_is, publish_suppressed, in_classes, lambda table: in_classes(table, 2)]


def table_of(cells, type_="number", role="quasi", name="x", **how):
    table = Table.build(pd.DataFrame({name: cells}), schema_of(type_, role, name, **how))
    return table.with_reader(NotationReader)


def schema_of(type_, role, name="x", **how):
    return Schema([Column(name=name, role=role, type=type_, **how)])


def publishing(table, cells, name="x"):
    return Release(schema=table.schema, frame=pd.DataFrame({name: cells}))


def paired(table, cells, name="x"):
    (column,) = align_columns(table, [publishing(table, cells, name)], [name])
    return column


def extents(column, side=1):
    """What every row covers: its ends, or its leaves; or that it says nothing or has no value."""
    results = []
    for cell in column.sides[side]:
        if column.open[cell]:
            results.append("open")
        elif column.missing[cell]:
            results.append("missing")
        elif column.is_ordered:
            results.append((float(column.lo[cell]), float(column.hi[cell])))
        else:
            row = column.covers[[cell]].toarray().ravel()
            assert set(row) <= {0.0, 1.0}
            results.append(np.flatnonzero(row).tolist())
    return results


def may_stand_for(column, cell, code):
    """Whether a cell may stand for a value of the original, told from what is stored."""
    if column.open[cell]:
        return True
    if not column.is_ordered:
        return column.covers[[cell]].toarray()[0, code] > 0
    if column.missing[cell] or column.missing[code]:
        return bool(column.missing[cell] and column.missing[code])
    return column.lo[cell] <= column.axis.places[code] <= column.hi[cell]


# --- what cells cover ----------------------------------------------------------------------------


@settings(deadline=None, max_examples=60)
@given(samples(max_rows=12), st.sampled_from(RELEASES))
def test_a_cell_covers_what_its_text_says_and_nothing_else(sample, publish):
    table = sample.table()
    release = publish(table)
    names = table.schema.quasi
    for column in align_columns(table, [release], names):
        texts = release.frame[column.name].astype(object).where(release.frame[column.name].notna())
        values = [row[column.name] for row in sample.rows]
        for text, cell in zip(texts, column.sides[1], strict=True):
            text = None if pd.isna(text) else text
            for value, code in zip(values, column.sides[0], strict=True):
                covered = oracle.covers(text, value, sample.above.get(column.name))
                members = oracle.set_members(text) if text is not None else None
                if column.is_ordered and members is not None and value is not None:
                    # A set of numbers or times stands for everything between its ends.
                    covered = oracle.covers(f"[{members[0]}, {members[-1]}]", value)
                assert covered == may_stand_for(column, cell, code)


@settings(deadline=None, max_examples=60)
@given(
    st.builds(
        mixed_table,
        rows=st.integers(1, 20),
        columns=st.just(4),
        seed=st.integers(0, 99),
        missing=st.booleans(),
        constant=st.booleans(),
    ),
    st.sampled_from(RELEASES),
)
def test_every_value_is_covered_by_the_cell_that_was_published_for_it(table, publish):
    release = publish(table)
    for column in align_columns(table, [release], table.schema.quasi):
        assert (0, 0) == column.unread
        for row, cell in zip(release.origin, column.sides[1], strict=True):
            assert may_stand_for(column, cell, column.sides[0][row])


@settings(deadline=None, max_examples=40)
@given(samples(max_rows=12))
def test_single_values_keep_their_codes(sample):
    table = sample.table()
    names = ["illness", *table.schema.quasi]
    for column in align_columns(table, [Release.as_it_is(table), table], names):
        for side in column.sides:
            assert np.int32 == side.dtype
            assert column.sides[0].tolist() == side.tolist()


@pytest.mark.parametrize("make", tables.ORDINARY_TABLES)
def test_generalized_cells_add_no_leaf(make):
    table = make().table()
    release = in_classes(table)
    for column in align_columns(table, [release], table.schema.quasi):
        if not column.is_ordered:
            assert column.axis.size == column.covers.shape[1]


def test_forms_of_numbers():
    table = table_of([1, 5, 9.5])
    cells = ["5", "5.0", "+5", "7", "[2, 7]", '{"1", "5"}', "*"]
    want = [(5.0, 5.0)] * 3 + [(7.0, 7.0), (2.0, 7.0), (1.0, 5.0), "open"]
    assert want == extents(paired(table, cells))
    # Numbers as numbers, in whatever type.
    assert [(5.0, 5.0), (7.0, 7.0)] == extents(paired(table, [5, 7]))
    assert [(5.0, 5.0), (9.5, 9.5)] == extents(paired(table, np.array([5, 9.5], np.float32)))
    assert [(5.0, 5.0), "open"] == extents(paired(table, pd.array([5, None], "Int64")))


def test_a_set_whose_members_the_original_lacks_is_no_value_of_it():
    column = paired(table_of([1, 5, 9]), ['{"7", "8"}', '{"5", "8"}', '{"5.0", "9"}', '{"x", "y"}'])
    assert [(7.0, 8.0), (5.0, 8.0), (5.0, 9.0), "open"] == extents(column)
    assert (0, 1) == column.unread
    column = paired(table_of(list("ab"), "category"), ['{"a", "z"}', '{"y", "z"}'])
    assert [[0], "open"] == extents(column)
    assert (0, 1) == column.unread


def test_units_of_the_calendar_are_no_single_moments():
    days = table_of(["2020-03-01", "2020-03-15", "2020-04-02"], "date")
    first, middle, last = days.axes[0].places
    want = [(first, middle), (first, last), (first, last), (middle, middle)]
    assert want == extents(paired(days, ["2020-03", "2020", "2020s", "2020-03-15"]))
    times = ["2020-03-01 00:00:00", "2020-03-01 10:00:00", "2020-04-02 11:00:00"]
    moments = table_of(times, "time")
    first, middle, last = moments.axes[0].places
    want = [(first, middle), (first, last), (middle, middle)]
    assert want == extents(paired(moments, ["2020-03-01", "2020", "2020-03-01T10:00"]))


def test_moments_in_other_spellings():
    times = table_of(["2020-03-01 10:00:00"], "time", "other")
    ten = times.encode_column("x").axis.places[0]
    spellings = ["2020-03-01T10:00:00.25", "2020-03-01 10:00:00+02:00", "2020-03-01T10:00:00Z"]
    assert [(ten, ten)] * 3 == extents(paired(times, spellings))
    # The hour is that of the place.
    there = pd.to_datetime(["2020-03-01 10:00:00"]).tz_localize("Europe/Berlin")
    assert [(ten, ten)] == extents(paired(times, there))
    assert [(ten, ten)] == extents(paired(times, pd.to_datetime(["2020-03-01 10:00:00.5"])))
    days = table_of(["01.03.2020", "02.03.2020"], "date", format="%d.%m.%Y")
    one, two = days.axes[0].places
    cells = ["2020-03-01", "02.03.2020", "04.03.2020", "2020-03-01 12:00:00"]
    assert [(one, one), (two, two), (two + 2, two + 2), (one, one)] == extents(paired(days, cells))


@pytest.mark.parametrize("role", ["other", "quasi"])
def test_generalized_moments_are_read_whatever_their_role(role):
    table = table_of(["2020-03-01", "2020-03-15", None], "date", role)
    column = paired(table, ["2020-03", None, "2020-03-15"])
    first, middle = column.axis.places[:2]
    # A node covers what occurs; without a calendar above the column, the whole month is meant.
    last = middle if role == "quasi" else first + 30
    assert [(first, last), "missing", (middle, middle)] == extents(column)
    assert (0, 0) == column.unread


def test_forms_of_categories():
    table = table_of(list("abcde"), "category", hierarchy=Tree(tree=TREE))
    cells = ["a", "north", "south", '{"a", "e"}', "*", "nowhere"]
    column = paired(table, cells)
    assert [[0], [0, 1], [2, 3, 4], [0, 4], "open", "open"] == extents(column)
    assert (0, 1) == column.unread
    assert 5 == column.covers.shape[1]


def test_spellings_that_are_one_value_in_the_original_are_one_in_a_release():
    table = table_of(["Flu", "flu ", "Gout", "  "], "category", "sensitive")
    column = paired(table, ["FLU", "gout", " ", None, "*", "Cold"])
    assert [[0], [1], "missing", "missing", "open", "open"] == extents(column)
    assert (0, 1) == column.unread


@pytest.mark.parametrize("cell", ["inf", "-Infinity", "12 years", "[9, 1]", "0x10", ""])
def test_what_cannot_be_read_says_nothing_and_is_counted(cell):
    column = paired(table_of([1, 5]), [cell, "1", cell])
    assert ["open", (1.0, 1.0), "open"] == extents(column)
    assert (0, 2) == column.unread
    assert np.isfinite(column.lo).all()


def test_infinite_numbers_are_not_read():
    column = paired(table_of([1.0, 5]), [np.inf, 1.0])
    assert ["open", (1.0, 1.0)] == extents(column)
    assert (0, 1) == column.unread


@pytest.mark.parametrize("type_", ["number", "category"])
def test_a_blank_is_missing_where_the_original_has_missing_values_and_was_taken_away_elsewhere(
    type_,
):
    complete, gaps = table_of([1, 2], type_), table_of([1, None], type_)
    assert ["open"] == extents(paired(complete, [None]))
    assert ["missing"] == extents(paired(gaps, [None]))
    # In a raw table a blank is a missing value, whatever the original has.
    for table in (complete, gaps):
        (column,) = align_columns(table, [gaps, publishing(table, [None])], ["x"])
        assert "missing" == extents(column)[1]
        assert ["open" if table is complete else "missing"] == extents(column, 2)
        assert 1 == column.missing.sum()


# --- control tables ------------------------------------------------------------------------------


def test_new_values_of_a_control_table_are_values_of_their_own():
    table, control = table_of(list("ab"), "category"), table_of(list("zbyz"), "category")
    release = publishing(table, ["a", "z", "q"])
    (column,) = align_columns(table, [release, control, control], ["x"])
    # What a release alone has cannot be read; it might be a group.
    assert [[0], [3], "open"] == extents(column, 1)
    assert (0, 1, 0, 0) == column.unread
    assert [[3], [1], [2], [3]] == extents(column, 2)
    assert extents(column, 2) == extents(column, 3)
    assert (0, 1, 0, 0) == column.unread
    assert 4 == column.covers.shape[1]


def test_new_numbers_of_any_table_lie_between_the_others():
    table, control = table_of([1, 5, None]), table_of([3, 5, 7, None])
    (column,) = align_columns(table, [publishing(table, ["3.0", "6"]), control], ["x"])
    assert [(3.0, 3.0), (6.0, 6.0)] == extents(column, 1)
    assert [(3.0, 3.0), (5.0, 5.0), (7.0, 7.0), "missing"] == extents(column, 2)
    assert column.sides[1][0] == column.sides[2][0]


@settings(deadline=None, max_examples=40)
@given(samples(max_rows=12), samples(max_rows=12))
def test_raw_cells_are_equal_where_their_values_are(sample, other):
    kinds = {name: sample.schema[name].type for name in sample.schema.quasi}
    shared = [name for name in other.schema.quasi if kinds.get(name) == other.schema[name].type]
    for column in align_columns(sample.table(), [other.table()], shared):
        for row, cell in zip(sample.rows, column.sides[0], strict=True):
            for stranger, its_cell in zip(other.rows, column.sides[1], strict=True):
                same = oracle.covers(row[column.name], stranger[column.name])
                assert same == (cell == its_cell)


# --- shapes --------------------------------------------------------------------------------------


def test_an_empty_release_has_no_cells():
    table = tables.missing_values().table()
    release = in_classes(table).take(np.empty(0, np.int64))
    for column in align_columns(table, [release], table.schema.quasi):
        assert (len(table), 0) == tuple(map(len, column.sides))
        assert column.axis.size == len(column)
        assert (0, 0) == column.unread


def test_categories_that_no_row_has_are_not_entered():
    table = table_of(list("ab"), "category")
    release = publishing(table, pd.Categorical(["b", None, "b"], ["x", "a", "b", "*"]))
    (column,) = align_columns(table, [release], ["x"])
    assert [[1], "open", [1]] == extents(column)
    assert (0, 0) == column.unread


def test_columns_without_any_value():
    table = table_of([None, None], "number")
    column = paired(table, [None, "*", "3", "[1, 4]"])
    assert ["missing", "open", (3.0, 3.0), (1.0, 4.0)] == extents(column)
    column = paired(table_of([None, None], "category"), [None, "*", "3"])
    assert ["missing", "open", "open"] == extents(column)


def test_counts_are_of_cells():
    column = paired(table_of([1, 5, 5]), ["5", "*", "*"])
    assert [1, 2, 0] == column.counts(0).tolist()
    assert [1, 3, 2] == column.counts(0, 1).tolist()


def test_shared_columns_are_those_that_every_table_shows():
    name = 'the "first" name'
    frame = pd.DataFrame({name: [1, 2], "b": ["x", "y"], "c": ["x", "y"]})
    schema = Schema(
        [
            Column(name=name, role="quasi", type="number"),
            Column(name="b", role="other"),
            Column(name="c", role="person"),
        ]
    )
    table = Table.build(frame, schema)
    release = Release.as_it_is(table)
    every = frozenset({"quasi", "other", "person"})
    assert (name, "b") == shared_columns(table, [release], every)
    assert (name, "b", "c") == shared_columns(table, [table], every)
    assert (name,) == shared_columns(table, [release, table], frozenset({"quasi"}))
    assert ("b",) == shared_columns(table, [table.restricted_to(frozenset({"other"}))], every)
    assert [(1.0, 1.0), (2.0, 2.0)] == extents(align_columns(table, [release], [name])[0])
