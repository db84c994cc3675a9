"""The first record of a text file: its names, its separator, and how many lines it takes."""

import codecs
import csv
import io
import zlib
from pathlib import Path
from typing import BinaryIO

import attrs

from anonloom.data import normalize_text
from anonloom.errors import DataError
from anonloom.lazy import pa
from anonloom_tables.table_paths import file_error, require_file

#: Separators that are looked for when none is given; the first of equals wins.
SEPARATORS = (",", ";", "\t", "|")

#: More than any header has; a quote that is never closed would make the whole file one.
_LONGEST = 1 << 20

#: Endings of compressed files that Arrow detects and Python's zlib cannot read.
_ONLY_ARROW_READS = frozenset({".bz2", ".lz4", ".zst"})

#: Bytes of a compressed file that are taken at a time.
_BLOCK = 1 << 16

#: Makes zlib expect the header and the check sum of gzip.
_GZIP = 16


@attrs.frozen
class Header:
    """What the first record says.

    Attributes
    ----------
    names
        Names of the columns in the form of `normalize_text`, repeated ones included.
    separator
        The character between two cells.
    lines
        Lines up to the end of the header, empty ones before it included.
    alone
        Whether the file ends with the header.
    """

    names: tuple[str, ...]
    separator: str
    lines: int
    alone: bool

    @property
    def places(self) -> list[str]:
        """A name for every column that no other has: its place."""
        return [str(place) for place in range(len(self.names))]


def read_header(path: Path, encoding: str, separator: str | None, quote: str | None) -> Header:
    """Read the header of a text file.

    Parameters
    ----------
    separator
        None to take the one that gives the most names.

    Raises
    ------
    DataError
        When there is no such file, it is empty, or its header cannot be read.
    """
    require_file(path)
    text, whole = _read_beginning(path, encoding)
    if not text.strip():
        raise file_error(path, "the file is empty")
    if "\0" in text.splitlines()[0]:
        raise file_error(
            path,
            "the header holds NUL characters",
            hint="the file is damaged, or it has another encoding: try 'encoding: utf-16'",
        )
    candidates = SEPARATORS if separator is None else (separator,)
    parsed = [_parse(text, whole, candidate, quote) for candidate in candidates]
    results = [header for header in parsed if header is not None]
    # max keeps the first of equals.
    best = max(results, key=lambda header: len(header.names), default=None)
    # One name only, because the quotes did not fit where there were more, is a mistake too.
    if best is None or (len(best.names) == 1 and len(results) < len(parsed)):
        raise file_error(
            path,
            "the header cannot be read: a quote is not closed, or text follows a closing one",
        )
    return best


def _read_beginning(path: Path, encoding: str) -> tuple[str, bool]:
    """Return the first part of the file as text, and whether that is all of it."""
    data = _first_bytes(path, _LONGEST + 1)
    whole = len(data) <= _LONGEST
    decoder = codecs.getincrementaldecoder(encoding)("strict")
    try:
        text = decoder.decode(data, final=whole)
    except UnicodeDecodeError as error:
        # Bytes further down are Arrow's affair: only declared columns matter there.
        text = codecs.getincrementaldecoder(encoding)("strict").decode(data[: error.start])
        if "\n" not in text.strip("\r\n") and "\r" not in text.strip("\r\n"):
            raise not_encoded(path, encoding, data) from None
        whole = False
    except UnicodeError:  # no byte order mark where there must be one
        raise not_encoded(path, encoding, data) from None
    return text.removeprefix("\ufeff"), whole


def _first_bytes(path: Path, count: int) -> bytes:
    """Return the first bytes of a file, without the compression that its name promises.

    Arrow, which reads the rows, is not asked where Python can do it: ``anonloom check`` reads
    headers and no rows.
    """
    try:
        if path.suffix in _ONLY_ARROW_READS:
            return _decompress_with_arrow(path, count)
        with path.open("rb") as file:
            return _decompress(file, count) if path.suffix == ".gz" else file.read(count)
    except (OSError, EOFError, zlib.error):
        raise file_error(path, "the file cannot be decompressed") from None


def _decompress_with_arrow(path: Path, count: int) -> bytes:
    try:
        with pa.input_stream(str(path), compression="detect") as stream:
            return bytes(stream.read(count))
    except pa.ArrowException as error:
        raise OSError from error


def _decompress(file: BinaryIO, count: int) -> bytes:
    # Not by Python's gzip, which overlooks zeros behind the end: Arrow will refuse them.
    result, data = bytearray(), file.read(_BLOCK)
    while data and len(result) < count:
        # A file may be several compressed ones, one behind the other.
        member = zlib.decompressobj(wbits=zlib.MAX_WBITS | _GZIP)
        while not member.eof and len(result) < count:
            if not data:
                raise EOFError
            result += member.decompress(data, count - len(result))
            data = member.unconsumed_tail or member.unused_data or file.read(_BLOCK)
    return bytes(result)


def not_encoded(path: Path, encoding: str, data: bytes) -> DataError:
    """Return the error that a file is not in the encoding that it should have.

    Parameters
    ----------
    data
        The bytes of the file from its beginning up to, and with, the first that do not fit.
    """
    place = ""
    try:
        codecs.decode(data, encoding)
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        place = f" (first in line {line})"
    except UnicodeError:
        pass  # a broken byte order mark has no line
    likely, otherwise = "cp1252", ", or save it as utf-8"
    if data[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        likely = "utf-16"
    elif codecs.lookup(encoding).name != "utf-8":
        likely, otherwise = "utf-8", ""
    return file_error(
        path,
        f"the file is not {encoding}{place}",
        hint=f"name its encoding, for example 'encoding: {likely}'{otherwise}",
    )


def _parse(text: str, whole: bool, separator: str, quote: str | None) -> Header | None:
    """Read the first record with one separator; None when its quotes do not fit."""
    stream = io.StringIO(text, newline="")
    reader = csv.reader(
        stream,
        delimiter=separator,
        quotechar=quote,
        quoting=csv.QUOTE_NONE if quote is None else csv.QUOTE_MINIMAL,
        strict=True,
    )
    try:
        names = next(record for record in reader if record)
    except csv.Error:
        return None
    alone = whole and not stream.read().strip()
    return Header(tuple(map(normalize_text, names)), separator, reader.line_num, alone)
