"""Why a text file could not be read: found by reading it again, slowly."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv

from anonloom.errors import DataError
from anonloom.sources.files import broken, readable_as_bytes
from anonloom.sources.header import Header, not_encoded

#: How many row numbers a message shows.
SHOWN = 5

_LARGEST_BLOCK = (1 << 31) - 1


def explain(
    error: Exception,
    path: Path,
    encoding: str,
    header: Header,
    options: Callable[..., Any],
) -> DataError:
    """Return what is wrong with a file that Arrow refused; never its own words.

    Arrow's messages quote the row.

    Parameters
    ----------
    options
        Makes the parse options, given a header and more of them.
    """
    if isinstance(error, UnicodeError) or "UTF8" in str(error):
        return _encoding(path, encoding)
    ragged: list[tuple[int, bool]] = []

    def note(row: Any) -> str:
        # Rows are counted only when one thread reads; the header's lines are counted too.
        quotes = row.text.count(quote) if quote else 0
        ragged.append((row.number - header.lines, quotes % 2 == 1))
        return "skip"

    parse = options(header, invalid_row_handler=note)
    quote = parse.quote_char or ""
    try:
        arrow_csv.read_csv(
            str(path),
            read_options=arrow_csv.ReadOptions(
                column_names=list(header.names),
                skip_rows=header.lines,
                encoding=encoding,
                use_threads=False,
                block_size=_LARGEST_BLOCK,
            ),
            parse_options=parse,
            convert_options=arrow_csv.ConvertOptions(
                include_columns=[], column_types={}, check_utf8=False
            ),
        )
    except pa.ArrowInvalid:
        if not ragged:
            return broken(path, "the file cannot be read as separated text")
    return _ragged(path, header, ragged)


def _ragged(path: Path, header: Header, rows: list[tuple[int, bool]]) -> DataError:
    unclosed = next((number for number, open_ in rows if open_), None)
    if unclosed is not None:
        return _unclosed(path, unclosed)
    shown = ", ".join(str(number) for number, _ in rows[:SHOWN])
    more = ", ..." if len(rows) > SHOWN else ""
    one = len(rows) == 1
    return broken(
        path,
        f"{len(rows)} {'row has' if one else 'rows have'} more or fewer cells than the header's "
        f"{len(header.names)} (row{'' if one else 's'} {shown}{more})",
        hint=f"the separator is {header.separator!r}; a cell that holds it must be quoted",
    )


def _unclosed(path: Path, row: int) -> DataError:
    return broken(
        path,
        f"a quote that opens in row {row} is never closed",
        hint="close it; a quote inside a quoted cell is written twice",
    )


def refuse_open_quote(
    path: Path, encoding: str, header: Header, options: Callable[..., Any], rows: int
) -> None:
    """Refuse a file whose last cell swallows the rest of it.

    Arrow takes the end of the file for the end of such a cell, so that rows would be missing
    silently. A row added to the file shows it: it is swallowed too.

    Parameters
    ----------
    rows
        How many rows Arrow found.

    Raises
    ------
    DataError
        Naming the row.
    """
    parse = options(header)
    if not parse.newlines_in_values or _even(path, encoding, parse.quote_char):
        return
    with pa.input_stream(str(path), compression="detect") as stream:
        text = stream.read().decode(encoding)
    added = "\n" + header.separator * (len(header.names) - 1) + "x\n"
    columns = arrow_csv.read_csv(
        pa.BufferReader((text + added).encode()),
        read_options=arrow_csv.ReadOptions(
            column_names=list(header.names),
            skip_rows=header.lines,
            block_size=_LARGEST_BLOCK,
        ),
        parse_options=parse,
        convert_options=arrow_csv.ConvertOptions(
            include_columns=[header.names[-1]], column_types={header.names[-1]: pa.binary()}
        ),
    )
    if len(columns) == rows:
        raise _unclosed(path, rows)


def _even(path: Path, encoding: str, quote: str) -> bool:
    """Whether quotes surely come in pairs; as `may_hold`, False where bytes say nothing."""
    if not readable_as_bytes(path, encoding, quote):
        return False
    count = 0
    with path.open("rb") as file:
        while data := file.read(1 << 24):
            count += int(np.count_nonzero(np.frombuffer(data, np.uint8) == ord(quote)))
    return count % 2 == 0


def _encoding(path: Path, encoding: str) -> DataError:
    with pa.input_stream(str(path), compression="detect") as stream:
        return not_encoded(path, encoding, stream.read())
