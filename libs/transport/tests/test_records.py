"""Rows as records: nothing is lost, nothing shows in a size, nothing foreign is believed."""

from datetime import date, datetime
from typing import Any

import attrs
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom import Column, Schema, Table
from anonloom.cells import cell_text
from anonloom.errors import DataError, UsageError
from anonloom.hierarchies import FromFile, LeafTable, Prefix, Tree, Widths
from anonloom_transport.records import RecordLayout

JOBS = Tree(tree={"Care": ["nurse", "doctor"], "Trade": ["smith", "cook", "ägypt"]})
PHASES = LeafTable(rows=(("1", "low", "*"), ("2", "low", "*"), ("8", "high", "*")))

#: One column of every sort, and the values that it takes.
SORTS: dict[str, tuple[Column, Any]] = {
    "number": (
        Column(name="number", role="quasi", type="number"),
        st.floats(-1e300, 1e300) | st.integers(-(2**53) + 1, 2**53 - 1),
    ),
    "binned": (
        Column(name="binned", role="quasi", type="number", hierarchy=Widths(widths=(5, 10))),
        st.floats(-1e6, 1e6),
    ),
    "phase": (
        Column(name="phase", role="quasi", type="number", hierarchy=PHASES),
        st.sampled_from([1, 2, 8]),
    ),
    "born": (
        Column(name="born", role="quasi", type="date"),
        st.dates(date(1, 1, 1), date(9999, 12, 31)),
    ),
    "seen": (
        Column(name="seen", role="other", type="time"),
        st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59)),
    ),
    "job": (
        Column(name="job", role="quasi", hierarchy=JOBS),
        st.sampled_from(["nurse", "doctor", "smith", "cook", "ägypt"]),
    ),
    "zip": (
        Column(name="zip", role="quasi", hierarchy=Prefix(keep=(3, 1))),
        st.text("0123456789", min_size=1, max_size=5) | st.integers(1, 99999),
    ),
    "note": (Column(name="note", role="other"), st.text(max_size=8)),
    "town": (
        Column(name="town", role="quasi", unknown="own-leaf", hierarchy=JOBS),
        st.sampled_from(["nurse", "Bonn", "a\0", "a", "\0"]),
    ),
}


@st.composite
def frames(draw: Any) -> tuple[pd.DataFrame, Schema]:
    """Draw a table of some of the sorts, with gaps in some of its columns."""
    sorts = draw(st.lists(st.sampled_from(sorted(SORTS)), min_size=1, unique=True))
    rows = draw(st.integers(1, 12))
    cells = {}
    for sort in sorts:
        values = SORTS[sort][1] | st.none() if draw(st.booleans()) else SORTS[sort][1]
        drawn = draw(st.lists(values, min_size=rows, max_size=rows))
        cells[sort] = pd.Series(drawn, dtype=object)
    return pd.DataFrame(cells), Schema(SORTS[sort][0] for sort in sorts)


def table_of(*columns: Column, **cells: list[Any]) -> Table:
    return Table.build(
        pd.DataFrame({name: pd.Series(given, dtype=object) for name, given in cells.items()}),
        Schema(columns),
    )


def read(layout: RecordLayout, table: Table) -> list[list[Any]]:
    """Return the cells of a table as they read; None for missing."""
    return [
        [None if pd.isna(cell) else cell_text(cell) for cell in table.column(name)]
        for name in layout.schema.names
    ]


@given(frames())
@settings(deadline=None)
def test_what_is_decoded_builds_the_same_table(drawn: tuple[pd.DataFrame, Schema]) -> None:
    frame, schema = drawn
    table, layout = Table.build(frame, schema), RecordLayout.of(schema)
    decoded = layout.decode(layout.encode(table))
    again = Table.build(decoded.frame, layout.schema)
    assert {} == decoded.refused
    assert decoded.readable.all()
    assert read(layout, table) == read(layout, again)
    assert table.codes.tolist() == again.codes.tolist()
    for before, after in zip(table.axes, again.axes, strict=True):
        assert before.values.tolist() == after.values.tolist()
        assert before.missing == after.missing


@given(frames(), st.integers(0, 200))
@settings(deadline=None)
def test_the_size_of_a_record_follows_from_the_schema_alone(
    drawn: tuple[pd.DataFrame, Schema], least: int
) -> None:
    frame, schema = drawn
    layout = RecordLayout.of(schema, at_least=least)
    assert (len(frame), layout.size) == layout.encode(Table.build(frame, schema)).shape
    assert max(least, sum(field.size for field in layout.fields)) == layout.size


@given(frames(), st.data())
@settings(deadline=None)
def test_changed_bytes_are_another_row_or_refused(
    drawn: tuple[pd.DataFrame, Schema], data: Any
) -> None:
    """What is readable is exactly what an encoder writes: no row has a second encoding."""
    frame, schema = drawn
    layout = RecordLayout.of(schema, at_least=data.draw(st.sampled_from([0, 100])))
    records = layout.encode(Table.build(frame, schema))
    for _ in range(data.draw(st.integers(1, 6))):
        row = data.draw(st.integers(0, len(records) - 1))
        index = data.draw(st.integers(0, layout.size - 1))
        records[row, index] = data.draw(st.integers(0, 255))
    _is_exact(layout, records)


@given(frames(), st.data())
@settings(deadline=None)
def test_garbage_is_another_row_or_refused(drawn: tuple[pd.DataFrame, Schema], data: Any) -> None:
    layout = RecordLayout.of(drawn[1], text_bytes=3)
    size = layout.size * 20
    garbage = data.draw(st.binary(min_size=size, max_size=size))
    records = np.frombuffer(garbage, np.uint8).reshape(20, layout.size)
    _is_exact(layout, records)


def _is_exact(layout: RecordLayout, records: np.ndarray) -> None:
    decoded = layout.decode(records)
    assert len(records) == len(decoded.frame) + sum(decoded.refused.values())
    assert len(decoded.frame) == decoded.readable.sum()
    if len(decoded.frame):
        table = Table.build(decoded.frame, layout.schema)
        assert records[decoded.readable].tolist() == layout.encode(table).tolist()


def test_bytes_of_every_sort_of_column() -> None:
    """The encoding is an agreement between parties: it does not change unnoticed."""
    names = ["number", "born", "seen", "job", "note"]
    layout = RecordLayout.of(Schema(SORTS[name][0] for name in names), text_bytes=4)
    table = table_of(
        *(SORTS[name][0] for name in names),
        number=[1.5, -0.0, None],
        born=["0001-01-01", "2024-03-01", None],
        seen=["0001-01-01 00:00:01", "2024-03-01 14:05", None],
        job=["doctor", "cook", None],
        note=["", "äb", None],
    )
    assert [
        "3ff8000000000000 000001 0000000002 02 0100000000".replace(" ", ""),
        "0000000000000000 0b4682 0edd73d78d 01 04c3a46200".replace(" ", ""),
        "7ff8000000000000 000000 0000000000 00 0000000000".replace(" ", ""),
    ] == [bytes(record).hex() for record in layout.encode(table)]
    assert [8, 3, 5, 1, 5] == [field.size for field in layout.fields]


@pytest.mark.parametrize(
    ("column", "record", "reason"),
    [
        ("number", "7ff8000000000001", "column 'number': no number"),
        ("number", "7ff0000000000001", "column 'number': no number"),
        ("number", "fff8000000000000", "column 'number': no number"),
        ("number", "7ff0000000000000", "column 'number': no number"),
        ("number", "7fefffffffffffff", "column 'number': no number"),
        ("number", "8000000000000000", "column 'number': no number"),
        ("binned", "7e37e43c8800759c", "column 'binned': a value that the column's declaration refuses"),
        ("phase", "4008000000000000", "column 'phase': a value that the column's declaration refuses"),
        ("born", "37b9dc", "column 'born': no date"),
        ("seen", "ffffffffff", "column 'seen': no time"),
        ("job", "06", "column 'job': no leaf of the hierarchy"),
        ("note", "0061000000", "column 'note': bytes after the end of the text"),
        ("note", "0161000000", "column 'note': bytes after the end of the text"),
        ("note", "0600000000", "column 'note': a length that no text has"),
        ("note", "02ff000000", "column 'note': no valid Unicode"),
        ("note", "03c0800000", "column 'note': no valid Unicode"),
        ("note", "04eda08000", "column 'note': no valid Unicode"),
        ("note", "04e2808b00", "column 'note': text with characters that nobody sees, or not in NFC"),
        ("note", "0465cc8100", "column 'note': text with characters that nobody sees, or not in NFC"),
        ("zip", "053132332a", "column 'zip': a value that the column's declaration refuses"),
        ("town", "022a000000", "column 'town': a value that the column's declaration refuses"),
        ("town", "0543617265", "column 'town': a value that the column's declaration refuses"),
    ],
)  # fmt: skip
def test_a_record_that_no_encoder_writes_is_refused_and_counted(
    column: str, record: str, reason: str
) -> None:
    layout = RecordLayout.of(Schema([SORTS[column][0]]), text_bytes=4)
    fine = layout.encode(table_of(SORTS[column][0], **{column: [None]}))
    written = np.frombuffer(bytes.fromhex(record), np.uint8)[None]
    decoded = layout.decode(np.concatenate([fine, written, fine, written]))
    assert {reason: 2} == decoded.refused
    assert [True, False, True, False] == decoded.readable.tolist()
    assert 2 == len(decoded.frame)


def test_padding_up_to_a_wanted_size_is_zero() -> None:
    layout = RecordLayout.of(Schema([SORTS["job"][0]]), at_least=5)
    decoded = layout.decode(np.array([[1, 0, 0, 0, 0], [1, 0, 0, 0, 1]], np.uint8))
    assert {"bytes after the last field": 1} == decoded.refused
    assert [True, False] == decoded.readable.tolist()


def test_a_refused_record_counts_once() -> None:
    layout = RecordLayout.of(Schema([SORTS["job"][0], SORTS["note"][0]]), text_bytes=1, at_least=4)
    decoded = layout.decode(np.array([[9, 9, 9, 9]], np.uint8))
    assert {"column 'job': no leaf of the hierarchy": 1} == decoded.refused


def test_missing_is_refused_where_the_column_refuses_it() -> None:
    column = Column(name="job", role="quasi", hierarchy=JOBS, missing="refuse")
    layout = RecordLayout.of(Schema([column]))
    decoded = layout.decode(np.array([[0], [1]], np.uint8))
    assert {"column 'job': a missing value": 1} == decoded.refused


def test_an_unknown_number_inside_a_group_spoils_its_own_record_only() -> None:
    """The group would be no range any more, and the whole table would be refused."""
    column = Column(name="phase", role="quasi", type="number", hierarchy=PHASES, unknown="own-leaf")
    layout = RecordLayout.of(Schema([column]))
    numbers = np.array([1.0, 2.0, 1.5, 5.0])
    records = numbers.astype(">f8").view(np.uint8).reshape(4, 8)
    decoded = layout.decode(records)
    assert [True, True, False, True] == decoded.readable.tolist()
    assert 3 == len(Table.build(decoded.frame, layout.schema))


def refusal(table: Table, **options: Any) -> str:
    with pytest.raises(DataError) as caught:
        RecordLayout.of(options.pop("schema", table.schema), **options).encode(table)
    return str(caught.value)


def test_a_long_text_is_refused_where_it_would_be_sent() -> None:
    note = SORTS["note"][0]
    assert (
        "column 'note': 2 of 3 rows hold text of more than 4 bytes, the most that a record "
        "carries; shorten the values, raise 'text_bytes', or list the values in a 'hierarchy'"
    ) == refusal(table_of(note, note=["ääö", "ab", "12345"]), text_bytes=4)


def test_an_unknown_category_is_refused_where_it_would_be_sent() -> None:
    plain, declared = Column(name="job", role="other"), SORTS["job"][0]
    assert (
        "column 'job': 1 of 2 rows holds a value that the column's hierarchy lacks; complete the "
        "hierarchy, or write 'unknown: own-leaf' and send the column as text"
    ) == refusal(table_of(plain, job=["baker", "nurse"]), schema=Schema([declared]))


def test_half_a_character_is_refused_where_it_would_be_sent() -> None:
    note = SORTS["note"][0]
    frame = pd.DataFrame({"note": pd.Series(["\ud800", "a"], dtype=object)})
    assert (
        "column 'note': 1 of 2 rows holds text that is no valid Unicode; read the data in their "
        "own encoding"
    ) == refusal(Table.build(frame, Schema([note])))


def test_text_in_another_form_is_refused_where_it_would_be_sent() -> None:
    table = table_of(SORTS["note"][0], note=["a", "b"])
    hidden = attrs.evolve(table, frame=pd.DataFrame({"note": ["a\u200b", "b"]}))
    assert (
        "column 'note': 1 of 2 rows holds text with characters that nobody sees, or not in "
        "Unicode's form NFC; bring it to the form of anonloom.data._text"
    ) == refusal(hidden)


def test_a_date_of_another_age_is_refused_where_it_would_be_sent() -> None:
    born = SORTS["born"][0]
    days = pd.Series(np.array(["20000-01-01", "2000-01-01"], "datetime64[s]"))
    # No source reads such a date; a mechanism may have made it.
    read = Table.build(pd.DataFrame({"born": ["2000-01-01"] * 2}), Schema([born]))
    made = attrs.evolve(read, frame=pd.DataFrame({"born": days}))
    assert (
        "column 'born': 1 of 2 rows holds a date outside the years 1 to 9999; correct the data, "
        "or declare the column as 'type: category'"
    ) == refusal(made)


def test_a_missing_value_is_refused_where_it_would_be_sent() -> None:
    own, strict = (
        SORTS["number"][0],
        Column(name="number", role="quasi", type="number", missing="refuse"),
    )
    assert (
        "column 'number': 1 of 2 rows holds a missing value; complete them, or choose "
        "'missing: own' or 'missing: suppress'"
    ) == refusal(table_of(own, number=[1, None]), schema=Schema([strict]))


def test_a_cell_that_reads_like_a_published_form_is_refused_where_it_would_be_sent() -> None:
    other, quasi = Column(name="town", role="other"), Column(name="town", role="quasi")
    assert (
        "column 'town': 1 of 2 rows holds a value that the column's declaration refuses; rename "
        "these values, or change the column's 'hierarchy'"
    ) == refusal(table_of(other, town=["*", "Bonn"]), schema=Schema([quasi]))


def test_no_message_shows_a_cell() -> None:
    note = SORTS["note"][0]
    assert "secret" not in refusal(table_of(note, note=["secret"]), text_bytes=4)


def test_columns_and_lengths_may_be_chosen() -> None:
    schema = Schema(
        [Column(name="id", role="identifier"), *(SORTS[name][0] for name in ("number", "note"))]
    )
    assert ("number", "note") == RecordLayout.of(schema).schema.names
    assert 8 + 33 == RecordLayout.of(schema).size
    assert ("note",) == RecordLayout.of(schema, ["note"]).schema.names
    # A length of up to 300 needs two bytes.
    assert 302 == RecordLayout.of(schema, ["note"], text_bytes_of={"note": 300}).size


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": ["age"]}, "column 'age' is not declared and cannot be sent"),
        ({"columns": ["id"]}, "column 'id' is an identifier; identifiers are never sent"),
        ({"columns": []}, "there is no column to send; identifiers are never sent"),
        ({"text_bytes": 0}, "column 'number': 'text_bytes' must be at least 1"),
        (
            {"text_bytes_of": {"number": 3, "age": 4}},
            "'text_bytes' is given for 'age', 'number', which no record holds as text",
        ),
    ],
)
def test_a_layout_that_makes_no_sense_is_refused(options: Any, message: str) -> None:
    schema = Schema([Column(name="id", role="identifier"), SORTS["number"][0], SORTS["note"][0]])
    with pytest.raises(UsageError) as caught:
        RecordLayout.of(schema, **options)
    assert message == str(caught.value)


def test_the_digest_follows_every_part_of_the_declaration(tmp_path: Any) -> None:
    def digest(column: Column, **options: Any) -> bytes:
        return RecordLayout.of(Schema([column]), **options).digest

    note = SORTS["note"][0]
    different = [
        digest(note),
        digest(note, text_bytes=5),
        digest(note, at_least=100),
        digest(Column(name="note", role="quasi")),
        digest(Column(name="note", role="other", missing="refuse")),
        digest(Column(name="other", role="other")),
        digest(Column(name="note", role="other", hierarchy=JOBS)),
        digest(Column(name="note", role="other", hierarchy=Prefix(keep=(2,)))),
    ]
    assert len(different) == len(set(different))
    # Where a hierarchy file lies is each party's own affair.
    for folder in ("here", "there"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "jobs.csv").write_text("nurse;Care;*\nsmith;Trade;*\n")
    files = [tmp_path / folder / "jobs.csv" for folder in ("here", "there")]
    written = {
        digest(Column(name="note", role="other", hierarchy=FromFile(path=path))) for path in files
    }
    assert 1 == len(written)


def test_records_of_another_shape_are_a_mistake_of_the_caller() -> None:
    layout = RecordLayout.of(Schema([SORTS["job"][0]]))
    with pytest.raises(ValueError, match="records must be") as caught:
        layout.decode(np.zeros((2, 3), np.uint8))
    assert "records must be (records x 1) of uint8. Got (2, 3) of uint8 instead." == str(
        caught.value
    )


def test_a_table_of_another_type_is_refused() -> None:
    number = Column(name="job", role="quasi", type="number")
    with pytest.raises(UsageError) as caught:
        RecordLayout.of(Schema([SORTS["job"][0]])).encode(table_of(number, job=[1]))
    assert "column 'job' is a number in the table and a category in the layout" == str(caught.value)


def test_no_records_decode_to_no_rows() -> None:
    layout = RecordLayout.of(Schema(column for column, _ in SORTS.values()))
    decoded = layout.decode(np.zeros((0, layout.size), np.uint8))
    assert (0, len(SORTS)) == decoded.frame.shape
