"""Rows as bytes: every row has exactly one encoding, whatever file it was read from.

A cell is a tag, the length of what follows in 4 bytes, and text. Which tag it has follows from the
type of its column and from the published text, never from how a file stores it. The README of this
library is the specification.
"""

import re
import struct
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Self

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom.cells import number_text, time_text
from anonloom.data import Type
from anonloom.errors import IntegrityError
from anonloom.lazy import pa, pc
from anonloom_seals.layout import Layout

__all__ = [
    "Cell",
    "EncodedColumn",
    "cell_text",
    "decode_cell",
    "decode_rows",
    "encode_cell",
    "encoded_rows",
]

#: A decoded cell; None is a missing one.
Cell = None | str | Decimal | date | datetime

#: Name and type of a column, and those of its cells that were decoded.
_Column = tuple[str, Type, dict[bytes, Cell]]

MISSING, TEXT, NUMBER, DATE, TIME = range(5)

_TAGS: dict[Type, int] = {"number": NUMBER, "date": DATE, "time": TIME}
_HEADER = struct.Struct(">BI")
_MISSING = _HEADER.pack(MISSING, 0)

#: Rows that are joined at a time: bounds memory.
_CHUNK = 200_000

# A longer exponent would be a number that only few programs can hold.
_NUMBER = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]{1,4}))?")
_LARGEST_EXPONENT = 9999
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
# Python has begun to read 24 o'clock.
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2} (?:[01][0-9]|2[0-3])(?::[0-5][0-9]){2}")


def encode_cell(text: str | None, kind: Type) -> bytes:
    """Encode a published cell.

    Parameters
    ----------
    text
        As the release writes it; None is missing.
    kind
        Type of its column. What does not read as a number, a date or a time there (an interval, a
        node, a set, `*`) is text.
    """
    if text is None:
        return _MISSING
    if kind == "category" and text.isascii():
        return _HEADER.pack(TEXT, len(text)) + text.encode()
    tag = _TAGS.get(kind, TEXT)
    if tag == NUMBER:
        result = _number(text)
    elif tag == DATE:
        result = text if _DATE.fullmatch(text) and _is_a_day(text) else None
    elif tag == TIME:
        result = text if _TIME.fullmatch(text) and _is_a_day(text[:10]) else None
    else:
        result = None
    if result is None:
        tag, result = TEXT, text if text.isascii() else unicodedata.normalize("NFC", text)
    payload = result.encode()
    return _HEADER.pack(tag, len(payload)) + payload


def _number(text: str) -> str | None:
    """Return the one spelling of a number, or None when the text is none."""
    match = _NUMBER.fullmatch(text)
    if match is None:
        return text if text in ("inf", "-inf") else None
    sign, whole, part, exponent = match.groups("")
    if not (digits := whole + part):
        return None
    if not (digits := digits.lstrip("0")):
        return "0"
    shown = digits.rstrip("0")
    power = int(exponent or 0) - len(part) + len(digits) - len(shown)
    if abs(power) > _LARGEST_EXPONENT:
        return None
    return f"{'-' if sign == '-' else ''}{shown}{f'e{power}' if power else ''}"


def _is_a_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def decode_cell(encoded: bytes, kind: Type) -> Cell:
    """Decode a cell of a column of this type, whoever encoded it.

    Raises
    ------
    ValueError
        When it is not the encoding that `encode_cell` gives its value.
    """
    if len(encoded) < _HEADER.size:
        raise ValueError("it is cut short")
    tag, length = _HEADER.unpack_from(encoded)
    payload = encoded[_HEADER.size :]
    if length != len(payload):
        raise ValueError("it is cut short" if length > len(payload) else "more bytes follow")
    if tag > TIME:
        raise ValueError("its tag is unknown")
    if tag == TEXT and kind == "category" and payload.isascii():
        return payload.decode()
    try:
        text = None if tag == MISSING else payload.decode()
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8") from None
    # What is written in another form would be a second encoding of the same row.
    if encode_cell(text, kind) != encoded:
        raise ValueError("it is not in its one spelling")
    return _value(tag, payload)


def _value(tag: int, payload: bytes) -> Cell:
    if tag == MISSING:
        return None
    text = payload.decode()
    if tag == NUMBER:
        return Decimal(text)
    if tag == DATE:
        return date.fromisoformat(text)
    return datetime.fromisoformat(text) if tag == TIME else text


def decode_rows(encoded: Iterable[bytes], layout: Layout) -> list[tuple[Cell, ...]]:
    """Decode rows, whoever encoded them; a cell that stands in many of them is decoded once.

    Raises
    ------
    IntegrityError
        When one is not the encoding of a row with these columns; names the column, no cell.
    """
    columns: list[_Column] = [
        (name, kind, {}) for name, kind in zip(layout.names, layout.types, strict=True)
    ]
    return [_decode_row(row, columns) for row in encoded]


def _decode_row(encoded: bytes, columns: list[_Column]) -> tuple[Cell, ...]:
    cells: list[Cell] = []
    start, size = 0, len(encoded)
    for name, kind, decoded in columns:
        stop = start + _HEADER.size
        if stop <= size:
            stop += _HEADER.unpack_from(encoded, start)[1]
        cell = encoded[start:stop]
        if cell not in decoded:
            try:
                decoded[cell] = decode_cell(cell, kind)
            except ValueError as error:
                raise IntegrityError(f"a row is malformed: the cell of '{name}': {error}") from None
        cells.append(decoded[cell])
        start = stop
    if start < size:
        raise IntegrityError("a row is malformed: bytes follow after its last cell")
    return tuple(cells)


def cell_text(cell: Cell) -> str | None:
    """Write a decoded cell as a release would; a number in its shortest form."""
    if cell is None or isinstance(cell, str):
        return cell
    if isinstance(cell, datetime):
        return time_text(np.datetime64(cell, "s"))
    if isinstance(cell, date):
        return cell.isoformat()
    return _number_text(cell)


def _number_text(number: Decimal) -> str:
    if number.is_finite() and number == (whole := int(number)) and abs(whole) <= 2**53:
        return str(whole)
    number_ = float(number)
    # A float says the same in fewer characters, where it says the same.
    if Decimal(repr(number_)) == number:
        return number_text(number_)
    return str(number)


@attrs.frozen(eq=False)
class EncodedColumn:
    """A column of which every distinct cell is encoded once.

    Attributes
    ----------
    cells
        Encoded cells, each once, in no particular order; some may not occur.
    codes
        For every row the place of its cell in `cells`.
    """

    # Cells stay out of the representation: it may end in a log.
    cells: tuple[bytes, ...] = attrs.field(repr=False)
    codes: NDArray[np.int32] = attrs.field(repr=False)

    def __len__(self) -> int:
        return len(self.codes)

    @classmethod
    def of(cls, texts: Sequence[str | None], codes: NDArray[np.integer], kind: Type) -> Self:
        """Encode a column.

        Parameters
        ----------
        texts
            Published cells; texts that differ may be the same cell, such as 1 and 1.0.
        codes
            For every row the place of its cell in `texts`.
        """
        cells = [encode_cell(text, kind) for text in texts]
        once = tuple(dict.fromkeys(cells))
        if len(once) == len(cells):
            return cls(once, codes.astype(np.int32, copy=False))
        places = {cell: index for index, cell in enumerate(once)}
        return cls(once, np.array([places[cell] for cell in cells], np.int32)[codes])

    def values(self) -> tuple[Cell, ...]:
        """Return `cells` decoded."""
        header = _HEADER.size
        return tuple(_value(cell[0], cell[header:]) for cell in self.cells)

    def first_difference(self, other: "EncodedColumn") -> int | None:
        """Return the first row, counted from 0, in which two columns of a length differ."""
        places = {cell: index for index, cell in enumerate(self.cells)}
        index = np.array([places.get(cell, -1) for cell in other.cells], np.int32)
        differs = self.codes != (index[other.codes] if len(index) else other.codes)
        return int(differs.argmax()) if differs.any() else None


def encoded_rows(columns: Sequence[EncodedColumn]) -> list[bytes]:
    """Encode rows: their cells one after the other, in the order of the columns."""
    rows: list[bytes] = []
    for part in _join_cells(columns):
        rows.extend(part)
    return rows


def _join_cells(columns: Sequence[EncodedColumn]) -> Iterator[list[bytes]]:
    # Offsets of 4 bytes would not do for long texts.
    cells = [pa.array(column.cells, pa.large_binary()) for column in columns]
    nothing = pa.scalar(b"", pa.large_binary())
    for start in range(0, len(columns[0]), _CHUNK):
        parts = [
            of_column.take(pa.array(column.codes[start : start + _CHUNK]))
            for of_column, column in zip(cells, columns, strict=True)
        ]
        joined = pc.binary_join_element_wise(*parts, nothing)
        yield joined.to_pylist()
