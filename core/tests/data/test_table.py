"""A table keeps what was declared, hides what was not, and leaves its source as it was."""

import attrs
import numpy as np
import pandas as pd
import pytest

from anonloom import Column, Release, Schema, Table
from anonloom.data import Axis, Cover, on_own_axes
from anonloom.errors import DataError

SCHEMA = Schema(
    [
        Column(name="name", role="identifier"),
        Column(name="age", role="quasi", type="number"),
        Column(name="illness", role="sensitive"),
        Column(name="zip", role="quasi", missing="suppress"),
        Column(name="who", role="person", missing="suppress"),
        Column(name="note", role="other"),
    ]
)


def frame() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "note": ["n1", "n2", "n3", "n4"],
            "zip": ["8", "9", None, "8"],
            "age": ["30", "20", "30", None],
            "undeclared": [1, 2, 3, 4],
            "name": ["Ada", "Bob", "Eve", "Ada"],
            "illness": ["flu", "*", None, "flu"],
            "who": ["p", "q", None, "p"],
        },
        index=[5, 5, 9, 1],
    )


@pytest.fixture
def table() -> Table:
    return Table.build(frame(), SCHEMA)


def test_columns_are_coded_in_the_order_of_the_schema(table: Table) -> None:
    assert ("age", "zip") == tuple(axis.name for axis in table.axes)
    assert [[1, 0, 1, 2], [0, 1, 2, 0]] == table.codes.tolist()
    assert (np.int32, 4) == (table.codes.dtype, len(table))
    assert [0, 1, 2, 3] == table.origin.tolist()


def test_identifiers_and_undeclared_columns_are_left_behind(table: Table) -> None:
    assert ["age", "illness", "zip", "who", "note"] == list(table.frame.columns)
    with pytest.raises(KeyError):
        table.column("name")
    with pytest.raises(KeyError):
        table.column("undeclared")


def test_the_source_is_left_as_it_was() -> None:
    source = frame()
    table = Table.build(source, SCHEMA)
    seen = table.frame
    seen.loc[0, "note"] = "changed"
    assert "n1" == table.column("note")[0]
    pd.testing.assert_frame_equal(frame(), source)


def test_a_source_that_changes_later_changes_no_table() -> None:
    source = pd.DataFrame({"age": [1.5, 2.5], "zip": ["a", "b"]})
    schema = Schema(
        [Column(name="age", role="quasi", type="number"), Column(name="zip", role="other")]
    )
    table = Table.build(source, schema)
    source.loc[0, "age"] = 9.0
    source.loc[0, "zip"] = "z"
    assert ([1.5, 2.5], ["a", "b"]) == (
        table.column("age").tolist(),
        table.column("zip").tolist(),
    )


def test_a_row_that_misses_what_must_not_be_missing_is_incomplete(table: Table) -> None:
    assert [False, False, True, False] == table.incomplete.tolist()
    whole = table.whole()
    assert ([0, 1, 3], [2], [0, 3]) == (
        whole.rows.tolist(),
        whole.suppressed.tolist(),
        whole.bounds.tolist(),
    )


def test_missing_cells_of_any_role_may_be_refused() -> None:
    schema = Schema([Column(name="illness", role="sensitive", missing="refuse")])
    with pytest.raises(DataError) as error:
        Table.build(frame(), schema)
    expected = "column 'illness': 1 cell is missing (row 3); complete them, or choose 'missing: own' or 'missing: suppress'"
    assert expected == str(error.value)


def test_persons_are_numbered_and_rows_without_one_are_told(table: Table) -> None:
    assert [0, 1, 2, 0] == table.persons.tolist()
    assert [False, False, True, False] == table.unknown_persons.tolist()
    assert None is table.take(np.array([0, 1, 3])).unknown_persons
    alone = Table.build(frame(), Schema([Column(name="age", role="quasi", type="number")]))
    assert None is alone.persons


def test_any_column_can_be_coded_also_one_that_holds_a_star(table: Table) -> None:
    coded = table.encode_column("illness")
    assert ["*", "flu"] == coded.axis.values.tolist()
    assert [1, 0, 2, 1] == coded.codes.tolist()
    assert coded is table.encode_column("illness")
    assert table.codes[0].tolist() == table.encode_column("age").codes.tolist()


def test_taken_rows_keep_axes_and_know_their_origin(table: Table) -> None:
    table.encode_column("illness")
    some = table.take(np.array([3, 1]))
    assert table.axes == some.axes
    assert [[2, 0], [0, 1]] == some.codes.tolist()
    assert [3, 1] == some.origin.tolist()
    assert ["n4", "n2"] == some.column("note").tolist()
    assert [1, 0] == some.encode_column("illness").codes.tolist()
    assert [0, 1] == some.frame.index.tolist()
    assert [False, False] == some.incomplete.tolist()
    assert [1, 3] == some.take(np.array([1, 0])).origin.tolist()


def test_a_mask_takes_the_rows_that_it_marks(table: Table) -> None:
    some = table.take(np.array([False, True, False, True]))
    assert [1, 3] == some.origin.tolist()
    assert ["n2", "n4"] == some.column("note").tolist()
    assert 0 == len(table.take(np.zeros(4, bool)))


def test_a_method_sees_the_roles_that_it_reads(table: Table) -> None:
    seen = table.restricted_to(frozenset({"quasi"}))
    assert ["age", "zip"] == list(seen.frame.columns)
    assert table.axes == seen.axes
    with pytest.raises(KeyError) as error:
        seen.column("illness")
    expected = "column 'illness' has role 'sensitive', which this method does not read"
    assert (expected,) == error.value.args
    with pytest.raises(KeyError):
        seen.encode_column("illness")
    # Also when somebody else has coded it before.
    table.encode_column("illness")
    with pytest.raises(KeyError):
        seen.encode_column("illness")


def test_a_method_that_reads_no_quasi_identifier_sees_no_axis(table: Table) -> None:
    seen = table.restricted_to(frozenset({"label", "other"}))
    assert () == seen.axes
    assert (0, 4) == seen.codes.shape
    assert ["note"] == list(seen.frame.columns)


def test_the_guard_sees_everything_again(table: Table) -> None:
    whole = table.restricted_to(frozenset({"label"})).take(np.array([1, 2])).with_all_columns()
    assert table.axes == whole.axes
    assert [[0, 1], [1, 2]] == whole.codes.tolist()
    assert list(table.frame.columns) == list(whole.frame.columns)
    assert table is table.with_all_columns()


def test_parts_of_a_table_can_be_exchanged(table: Table) -> None:
    axes = tuple(attrs.evolve(axis, weight=3.0) for axis in table.axes)
    assert (3.0, 3.0) == tuple(axis.weight for axis in attrs.evolve(table, axes=axes).axes)


def test_no_cell_is_shown(table: Table) -> None:
    for secret in ("flu", "Ada", "n1"):
        assert secret not in repr(table)


def test_names_that_are_numbers_are_found() -> None:
    table = Table.build(pd.DataFrame([["a", "b"]]), Schema([Column(name="1", role="quasi")]))
    assert ["b"] == table.axes[0].values.tolist()


def test_an_origin_may_be_given() -> None:
    table = Table.build(frame(), SCHEMA, np.array([7, 8, 9, 10]))
    assert [7, 8, 9, 10] == table.origin.tolist()
    with pytest.raises(ValueError, match=r"^origin must have one entry per row$"):
        Table.build(frame(), SCHEMA, np.array([7]))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (["age", "zip", "age"], "the data have more than one column named 'age'"),
        (["b", "a", "b", "a"], "the data have more than one column named 'a', 'b'"),
        (["age", "b"], "the data have no column 'zip'; they have: 'age', 'b'"),
        (["", "b", ""], "the data have no column 'age', 'zip'; they have: '', 'b', ''"),
        (
            ["Age", " zip"],
            "the data have no column 'age', 'zip'; they have: 'Age', ' zip'\n"
            "    'age': did you mean 'Age'?\n"
            "    'zip': did you mean ' zip'?",
        ),
        (
            [f"c{number}" for number in range(42)],
            "the data have no column 'age', 'zip'; they have: "
            + ", ".join(f"'c{number}'" for number in range(40))
            + " and 2 more",
        ),
    ],
)
def test_columns_must_be_there_once(columns: list[str], message: str) -> None:
    schema = Schema([Column(name="age", role="quasi"), Column(name="zip", role="quasi")])
    with pytest.raises(DataError) as error:
        Table.build(pd.DataFrame([["x"] * len(columns)], columns=columns), schema)
    assert message == str(error.value)


def test_an_empty_table_is_refused() -> None:
    with pytest.raises(DataError) as error:
        Table.build(frame().iloc[:0], SCHEMA)
    assert "the table is empty: there is nothing to publish" == str(error.value)


def test_a_table_may_have_no_quasi_identifier() -> None:
    table = Table.build(frame(), Schema([Column(name="note", role="other")]))
    assert ((), (0, 4)) == (table.axes, table.codes.shape)


def test_the_first_row_of_data_without_a_header_is_not_shown() -> None:
    """Its cells would be the names of the columns, and are somebody's."""
    frame = pd.DataFrame([[50, "Self-emp"]], columns=["39", "State-gov"])
    with pytest.raises(DataError) as refused:
        Table.build(frame, Schema([Column(name="age", role="quasi")]))
    assert (
        "the data have none of the declared columns; the 2 names that they have look like a row "
        "of data and are not shown"
    ) == refused.value.what


def test_a_release_does_not_show_its_cells_in_a_log() -> None:
    table = Table.build(pd.DataFrame({"a": ["rare"]}), Schema([Column(name="a", role="quasi")]))
    assert "rare" not in repr(Release.as_it_is(table)) + repr(table)


class EverythingIsFirst:
    """Reads every cell as the first value of its axis."""

    def __init__(self, axis: Axis) -> None:
        self.axis = axis

    def __call__(self, text: str) -> Cover:
        assert text == "in no form of ours"
        return Cover(0, 0)


def test_a_table_with_a_reader_reads_other_forms_on_every_axis(table: Table) -> None:
    reading = table.with_reader(EverythingIsFirst)
    taken = reading.take(np.array([0, 1]))
    for one in (reading, taken, taken.without(["zip"]), on_own_axes(taken)):
        names = [name for name in one.schema.names if name in one.frame]
        axes = [*one.axes, *(one.encode_column(name).axis for name in names)]
        assert len(axes) == len(names) + len(one.schema.quasi)
        for axis in axes:
            cover = axis.read("in no form of ours")
            assert cover is not None
            assert [0] == cover.codes.tolist()
            assert axis.read("*") is not None
    assert all(reading.encode_column(axis.name).axis is axis for axis in reading.axes)
    assert table.axes[0].read("in no form of ours") is None
