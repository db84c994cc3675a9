"""Why a text file could not be read: found by reading it again, slowly."""

import codecs
from collections.abc import Callable
from pathlib import Path
from typing import Any

from anonloom.errors import DataError
from anonloom.lazy import arrow_csv, pa
from anonloom_tables.csv_header import Header, not_encoded
from anonloom_tables.table_paths import file_error, largest_block

#: How many row numbers a message shows.
SHOWN = 5


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
                column_names=header.places,
                skip_rows=header.lines,
                # Arrow shows rows as text, and some bytes of a broken file are none; of UTF-8 only
                # separators, quotes and line ends are looked at, which are bytes of their own.
                encoding="latin-1" if codecs.lookup(encoding).name == "utf-8" else encoding,
                use_threads=False,
                block_size=largest_block(path),
            ),
            parse_options=parse,
            convert_options=arrow_csv.ConvertOptions(
                include_columns=[], column_types={}, check_utf8=False
            ),
        )
    except (pa.ArrowInvalid, UnicodeError) as again:
        if not ragged and isinstance(again, UnicodeError):
            return _encoding(path, encoding)
        if not ragged:
            return file_error(path, "the file cannot be read as separated text")
    return _ragged_rows_error(path, header, ragged)


def _ragged_rows_error(path: Path, header: Header, rows: list[tuple[int, bool]]) -> DataError:
    unclosed = next((number for number, open_ in rows if open_), None)
    if unclosed is not None:
        return _open_quote_error(path, unclosed)
    shown = ", ".join(str(number) for number, _ in rows[:SHOWN])
    more = ", ..." if len(rows) > SHOWN else ""
    one = len(rows) == 1
    return file_error(
        path,
        f"{len(rows)} {'row has' if one else 'rows have'} more or fewer cells than the header's "
        f"{len(header.names)} (row{'' if one else 's'} {shown}{more})",
        hint=f"the separator is {header.separator!r}; a cell that holds it must be quoted",
    )


def _open_quote_error(path: Path, row: int) -> DataError:
    return file_error(
        path,
        f"a quote that opens in row {row} is never closed",
        hint="close it; a quote inside a quoted cell is written twice",
    )


def refuse_open_quote(
    path: Path, encoding: str, header: Header, parse: Any, rows: int, last: object
) -> None:
    """Refuse a file whose last cell swallows the rest of it.

    Arrow takes the end of the file for the end of such a cell, so that rows would be missing
    silently. Such a cell holds line breaks; then a row that is added to the file tells: it is
    swallowed too.

    Parameters
    ----------
    parse
        Arrow's parse options.
    rows
        How many rows Arrow found.
    last
        The last cell of the last row.

    Raises
    ------
    DataError
        Naming the row.
    """
    shown = last.decode(errors="replace") if isinstance(last, bytes) else str(last)
    if "\n" not in shown and "\r" not in shown:
        return
    with pa.input_stream(str(path), compression="detect") as stream:
        text = stream.read().decode(encoding, errors="replace")
    added = "\n" + header.separator * (len(header.names) - 1) + "x\n"
    columns = arrow_csv.read_csv(
        pa.BufferReader((text + added).encode()),
        read_options=arrow_csv.ReadOptions(
            column_names=header.places,
            skip_rows=header.lines,
            block_size=largest_block(path) + len(added),
        ),
        parse_options=parse,
        convert_options=arrow_csv.ConvertOptions(
            include_columns=header.places[-1:], column_types={header.places[-1]: pa.binary()}
        ),
    )
    if len(columns) == rows:
        raise _open_quote_error(path, rows)


def _encoding(path: Path, encoding: str) -> DataError:
    with pa.input_stream(str(path), compression="detect") as stream:
        return not_encoded(path, encoding, stream.read())
