"""Every row has one encoding, and no two rows have the same."""

import re
import struct
import unicodedata
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import attrs
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from anonloom.errors import IntegrityError
from anonloom_seals import encoding
from anonloom_seals.encoding import (
    EncodedColumn,
    cell_text,
    decode_cell,
    decode_rows,
    encode_cell,
    encoded_rows,
)
from anonloom_seals.layout import Layout
from anonloom_seals.salts import leaf_hashes

TYPES = ["category", "number", "date", "time"]
README = Path(__file__).parents[1] / "README.md"


# --- a second implementation, slow and obvious ------------------------------------------------


def slow_number(text):
    if text in ("inf", "-inf"):
        return text
    if not re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,4})?", text, re.ASCII):
        return None
    sign, digits, exponent = Decimal(text).as_tuple()
    digits = list(digits)
    while len(digits) > 1 and digits[-1] == 0:
        digits.pop()
        exponent += 1
    while len(digits) > 1 and digits[0] == 0:
        digits.pop(0)
    if digits == [0]:
        return "0"
    if not -9999 <= exponent <= 9999:
        return None
    written = "-" * sign + "".join(map(str, digits))
    return written if exponent == 0 else f"{written}e{exponent}"


def slow_moment(text, form):
    try:
        result = datetime.strptime(text, form)
    except ValueError:
        return None
    # strptime reads one digit for two, and other scripts' digits.
    return text if result.isoformat(" ")[: len(text)] == text and text.isascii() else None


def slow_encode(text, kind):
    if text is None:
        return b"\0" * 5
    if kind == "number":
        tag, payload = 2, slow_number(text)
    elif kind == "date":
        tag, payload = 3, slow_moment(text, "%Y-%m-%d")
    elif kind == "time":
        tag, payload = 4, slow_moment(text, "%Y-%m-%d %H:%M:%S")
    else:
        payload = None
    if payload is None:
        tag, payload = 1, unicodedata.normalize("NFC", text)
    data = payload.encode()
    return bytes([tag]) + len(data).to_bytes(4, "big") + data


numbers = st.one_of(
    st.integers().map(str),
    st.floats(allow_nan=False).map(repr),
    st.decimals(allow_nan=False, allow_infinity=False).map(str),
    st.from_regex(r"[+-]?[0-9]{0,4}\.?[0-9]{0,4}([eE][+-]?[0-9]{1,5})?", fullmatch=True),
)
moments = st.one_of(
    st.dates().map(str),
    st.datetimes().map(lambda at: at.isoformat(" ", "seconds")),
    st.from_regex(r"[0-9]{4}-[01][0-9]-[0-3][0-9]( [0-2][0-9](:[0-6][0-9]){2})?", fullmatch=True),
)
forms = st.sampled_from(
    ["", "*", "[1, 2]", '{"a"}', "nan", "NaN", "inf", "-inf", "+inf", ".", "e1"]
)
texts = st.one_of(st.text(), numbers, moments, forms)
cells = st.one_of(st.none(), texts)
types = st.sampled_from(TYPES)


@given(text=cells, kind=types)
@example(text="1e9999", kind="number")
@example(text="10e9999", kind="number")
@example(text="1e-9999", kind="number")
@example(text="0.1e-9999", kind="number")
@example(text="1" + "0" * 20_000, kind="number")
@example(text="0e9999", kind="number")
@example(text="1e12345", kind="number")
@example(text="1_000", kind="number")
@example(text="\u0661", kind="number")
@example(text="2024-02-28 24:00:00", kind="time")
@example(text="2024-02-30", kind="date")
@example(text="0000-01-01", kind="date")
@example(text="\u0662\u0660\u0662\u0664-01-01", kind="date")
def test_a_cell_is_what_the_second_implementation_says(text, kind):
    assert slow_encode(text, kind) == encode_cell(text, kind)


@given(text=cells, kind=types)
def test_what_is_encoded_can_be_decoded_and_written_again(text, kind):
    encoded = encode_cell(text, kind)
    assert encoded == encode_cell(cell_text(decode_cell(encoded, kind)), kind)


def of(text, kind="category"):
    return encode_cell(text, kind)


def test_missing_and_empty_and_star_are_three():
    for kind in TYPES:
        assert 3 == len({of(None, kind), of("", kind), of("*", kind)})


@pytest.mark.parametrize(
    ("texts", "payload"),
    [
        (["1", "1.0", "01", "+1", "1e0", "1E0", "0.1e1", "1.", "001.00", "10e-1"], b"1"),
        (["0", "-0.0", "-0", "0e17", "+0.00", "0."], b"0"),
        (["100", "1e2", "1e+2", "100.0", "1e02"], b"1e2"),
        (["-54.50", "-54.5", "-545e-1"], b"-545e-1"),
        ([".5", "0.5", "5e-1"], b"5e-1"),
        (["9007199254740993", "9007199254740993.0"], b"9007199254740993"),
        (["5e-324"], b"5e-324"),
        (["1.7976931348623157e+308"], b"17976931348623157e292"),
        (["inf"], b"inf"),
        (["-inf"], b"-inf"),
    ],
)
def test_a_number_has_one_spelling(texts, payload):
    for text in texts:
        assert b"\2" + struct.pack(">I", len(payload)) + payload == of(text, "number")
        # In a column of categories it is another's name for something: 01234 is no 1234.
        assert of(text)[5:] == text.encode()


def test_text_is_in_normal_form_c():
    assert of("e\u0301") == of("\u00e9") == b"\1\0\0\0\2\xc3\xa9"


@pytest.mark.parametrize("text", ["[54, 75]", "20-29", "*", "", "nan", " 1", "1 ", "1,5", "0x1"])
def test_what_is_no_number_is_text_in_a_column_of_numbers(text):
    assert of(text) == of(text, "number")


def test_decoded_cells():
    layout = Layout(("a", "b", "c", "d", "e"), ("number", "category", "date", "time", "number"))
    row = encoded_rows(
        [
            EncodedColumn.of([text], np.zeros(1, np.int32), kind)
            for text, kind in zip(
                ["-1.50", "x", "2024-03-01", "2024-03-01 14:05:00", None], layout.types, strict=True
            )
        ]
    )[0]
    expected = (Decimal("-1.5"), "x", date(2024, 3, 1), datetime(2024, 3, 1, 14, 5), None)
    assert expected == decode_rows([row], layout)[0]


def test_decoded_cells_are_written_as_a_release_writes_them():
    written = {
        text: cell_text(decode_cell(encode_cell(text, "number"), "number"))
        for text in ["54.0", "0.1", "-0.0", "1e300", "inf", "9007199254740993", "[1, 2]", "1e9999"]
    }
    assert {
        "54.0": "54",
        "0.1": "0.1",
        "-0.0": "0",
        "1e300": "1e+300",
        "inf": "inf",
        "9007199254740993": "9007199254740993",
        "[1, 2]": "[1, 2]",
        "1e9999": "1E+9999",
    } == written
    time = encode_cell("2024-03-01 00:00:00", "time")
    assert "2024-03-01 00:00:00" == cell_text(decode_cell(time, "time"))


# --- rows -------------------------------------------------------------------------------------


@st.composite
def tables(draw):
    kinds = draw(st.lists(types, min_size=1, max_size=4))
    rows = draw(st.lists(st.tuples(*(cells for _ in kinds)), max_size=8))
    return Layout(tuple(f"c{index}" for index in range(len(kinds))), tuple(kinds)), rows


def columns_of(layout, rows):
    return [
        EncodedColumn.of([row[index] for row in rows], np.arange(len(rows)), kind)
        for index, kind in enumerate(layout.types)
    ]


@given(table=tables())
def test_a_row_is_its_cells_one_after_the_other(table):
    layout, rows = table
    expected = [b"".join(map(slow_encode, row, layout.types)) for row in rows]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoding, "_CHUNK", 3)
        assert expected == encoded_rows(columns_of(layout, rows))


@given(table=tables(), data=st.data())
def test_whatever_is_decoded_has_this_encoding_only(table, data):
    """Bytes that were changed in any way are refused, or are the encoding of another row."""
    layout, rows = table
    row = data.draw(st.sampled_from(encoded_rows(columns_of(layout, rows)) or [b""]))
    changed = bytearray(row)
    for _ in range(data.draw(st.integers(0, 2))):
        index = data.draw(st.integers(0, len(changed)))
        changed[index : index + data.draw(st.integers(0, 2))] = data.draw(st.binary(max_size=2))
    try:
        cells = decode_rows([bytes(changed)], layout)[0]
    except IntegrityError:
        return
    again = b"".join(
        encode_cell(cell_text(cell), kind) for cell, kind in zip(cells, layout.types, strict=True)
    )
    assert changed == again


def cell(tag, payload, length=None):
    size = len(payload) if length is None else length
    return bytes([tag]) + struct.pack(">I", size) + payload


SPELLING = "the cell of 'a': it is not in its one spelling"


@pytest.mark.parametrize(
    ("row", "what"),
    [
        (b"", "the cell of 'a': it is cut short"),
        (b"\1\0\0", "the cell of 'a': it is cut short"),
        (cell(1, b"x", 2**32 - 1), "the cell of 'a': it is cut short"),
        (cell(1, b"x", 2), "the cell of 'a': it is cut short"),
        (cell(1, b"x") + cell(0, b"")[:-1], "the cell of 'b': it is cut short"),
        (cell(1, b"x"), "the cell of 'b': it is cut short"),
        (cell(1, b"x") + cell(0, b"") + b"\0", "bytes follow after its last cell"),
        (cell(5, b""), "the cell of 'a': its tag is unknown"),
        (cell(1, b"\xff"), "the cell of 'a': it is not UTF-8"),
        (cell(1, b"\xed\xa0\x80"), "the cell of 'a': it is not UTF-8"),
        (cell(0, b"x"), SPELLING),
        (cell(1, "e\u0301".encode()), SPELLING),
        (cell(1, b"7"), SPELLING),
        (cell(2, b"1.0"), SPELLING),
        (cell(2, b"-0"), SPELLING),
        (cell(2, b"+1"), SPELLING),
        (cell(2, b"1e0"), SPELLING),
        (cell(2, b"10"), SPELLING),
        (cell(2, b"1e10000"), SPELLING),
        (cell(2, b"words"), SPELLING),
        (cell(2, b""), SPELLING),
        (cell(2, b"nan"), SPELLING),
        (cell(2, b"Infinity"), SPELLING),
        (cell(3, b"2024-01-01"), SPELLING),
        (cell(0, b"") + cell(2, b"1"), "the cell of 'b': it is not in its one spelling"),
    ],
)
def test_rows_that_are_refused(row, what):
    layout = Layout(("a", "b"), ("number", "category"))
    with pytest.raises(IntegrityError) as caught:
        decode_rows([row], layout)[0]
    assert f"a row is malformed: {what}" == str(caught.value)


@pytest.mark.parametrize(
    ("tag", "text", "kind"),
    [
        (3, b"2024-02-30", "date"),
        (3, b"2024-1-01", "date"),
        (3, b"20240101", "date"),
        (1, b"2024-01-01", "date"),
        (4, b"2024-01-01T00:00:00", "time"),
        (4, b"2024-01-01 24:00:00", "time"),
        (4, b"2024-01-01", "time"),
    ],
)
def test_moments_that_are_refused(tag, text, kind):
    with pytest.raises(IntegrityError) as caught:
        decode_rows([cell(tag, text)], Layout(("a",), (kind,)))
    assert f"a row is malformed: {SPELLING}" == str(caught.value)


def test_a_cell_alone_has_nothing_behind_it():
    with pytest.raises(ValueError, match=r"^more bytes follow$"):
        decode_cell(cell(1, b"x") + b"\0", "category")


def test_cells_that_are_the_same_are_held_once():
    column = EncodedColumn.of(["1", "1.0", None, "x"], np.array([3, 1, 0, 2]), "number")
    assert (Decimal(1), None, "x") == column.values()
    assert [2, 0, 0, 1] == column.codes.tolist()
    assert "x" not in repr(column)


@given(left=st.lists(st.sampled_from(["1", "1.0", "2", None, "x"]), max_size=6), data=st.data())
def test_the_first_difference_of_two_columns(left, data):
    some = st.sampled_from(["1", "1.0", "2", None, "y"])
    right = data.draw(st.lists(some, min_size=len(left), max_size=len(left)))
    one, other = (EncodedColumn.of(x, np.arange(len(x)), "number") for x in (left, right))
    differs = [
        index
        for index, (a, b) in enumerate(zip(left, right, strict=True))
        if slow_encode(a, "number") != slow_encode(b, "number")
    ]
    assert (differs[0] if differs else None) == one.first_difference(other)


# --- columns ----------------------------------------------------------------------------------

layouts = st.lists(st.tuples(st.text(max_size=3), types), min_size=1, max_size=3).filter(
    lambda pairs: len({unicodedata.normalize("NFC", name) for name, _ in pairs}) == len(pairs)
)


@given(one=layouts, other=layouts)
def test_columns_have_one_digest_and_no_two_the_same(one, other):
    one, other = (Layout(tuple(n for n, _ in x), tuple(t for _, t in x)) for x in (one, other))
    assert (one == other) == (one.digest == other.digest)
    assert one == Layout.read(one.plain_values())


def test_a_column_by_its_name():
    layout = Layout(("a", "e\u0301"), ("number", "date"))
    assert ("a", "\u00e9") == layout.names
    assert "date" == layout.type_of("\u00e9")
    with pytest.raises(KeyError):
        layout.type_of("b")


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ({}, "its columns are no list of names and types"),
        ([["a"]], "its columns are no list of names and types"),
        ([["a", 1]], "its columns are no list of names and types"),
        (["ab"], "its columns are no list of names and types"),
        ([], "there are no columns"),
        ([["a", "words"]], "the columns do not have one known type each"),
        ([["a", "date"], ["a", "time"]], "more than one column is named 'a'"),
        ([["e\u0301", "date"]], "the name of a column is not in normal form C"),
    ],
)
def test_columns_that_are_refused(content, what):
    with pytest.raises(ValueError, match=f"^{re.escape(what)}$"):
        Layout.read(content)


def test_columns_cannot_be_changed():
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        Layout(("a",), ("date",)).names = ("b",)


# --- the specification ------------------------------------------------------------------------


def test_the_example_of_the_specification():
    example = README.read_text(encoding="utf-8").split("### An example")[1].split("## ")[0]
    blocks = [
        "".join(result.split())
        for result in re.findall(r"(?:^    [0-9a-f ]+\n)+", example, re.MULTILINE)
    ]
    layout = Layout(("age", "region", "seen"), ("number", "category", "date"))
    rows = [("[20, 30]", None, "2024-03-01"), ("54.50", "", "*")]
    encoded = encoded_rows(columns_of(layout, rows))
    leaves = leaf_hashes(bytes(32), encoded).hex()
    assert [layout.digest, *(row.hex() for row in encoded), leaves] == blocks
