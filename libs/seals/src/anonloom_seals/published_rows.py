"""The rows of a published folder: the same from CSV and from Parquet."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

import attrs
import numpy as np

from anonloom.cells import moment_texts
from anonloom.data import Type
from anonloom.errors import IntegrityError
from anonloom.lazy import arrow_csv, pa, pc, pq
from anonloom_seals.encoding import EncodedColumn, encoded_rows
from anonloom_seals.layout import TYPES, Layout
from anonloom_seals.listing import read_json
from anonloom_tables import largest_block

__all__ = ["PublishedRows", "read_published", "read_table", "read_types"]

CSV = "release.csv"
PARQUET = "release.parquet"
MANIFEST = "manifest.json"


@attrs.frozen(eq=False, kw_only=True)
class PublishedRows:
    """The rows of a release.

    Attributes
    ----------
    layout
        Their columns.
    columns
        Their cells, in the same order.
    files
        Files that hold exactly these rows.
    apart
        Files that hold the release in other columns (the ends of intervals, say), so that nothing
        is said of their rows.
    """

    layout: Layout
    columns: tuple[EncodedColumn, ...]
    files: tuple[str, ...]
    apart: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.columns[0])

    def column(self, name: str) -> EncodedColumn:
        """Return one of the columns; `KeyError` when there is none of this name."""
        self.layout.type_of(name)
        return self.columns[self.layout.names.index(name)]

    def rows(self) -> list[bytes]:
        """Return the encoded rows, in the order of the file."""
        return encoded_rows(self.columns)


def read_published(public: Path) -> PublishedRows | None:
    """Read the release of a public folder; None when it holds no table.

    Types are those of the manifest; a column that it does not know is text. Two files with the
    same columns must hold the same rows. If their columns differ, the CSV is the release.

    Raises
    ------
    IntegrityError
        When a file is damaged, or the two differ: names of columns and numbers of rows, no cell.
    """
    types = read_types(public)
    readers: dict[str, Callable[[Path, Mapping[str, Type]], PublishedRows]] = {
        CSV: read_csv,
        PARQUET: read_parquet,
    }
    results = [
        read(public / name, types) for name, read in readers.items() if _there(public / name)
    ]
    if len(results) < 2:
        return results[0] if results else None
    first, second = results
    if first.layout.names != second.layout.names:
        return attrs.evolve(first, apart=second.files)
    _refuse_difference(first, second)
    return attrs.evolve(first, files=first.files + second.files)


def read_table(public: Path) -> PublishedRows:
    """Read the release of a public folder that must hold a table; see `read_published`.

    Raises
    ------
    IntegrityError
        When it holds none, or `read_published` raises.
    """
    published = read_published(public)
    if published is None:
        raise IntegrityError("the folder holds no table: neither release.csv nor release.parquet")
    return published


def _there(path: Path) -> bool:
    if path.is_symlink():
        raise IntegrityError(f"'{path.name}' is a symbolic link")
    return path.is_file()


def _refuse_difference(one: PublishedRows, other: PublishedRows) -> None:
    both = f"'{one.files[0]}' and '{other.files[0]}'"
    if len(one) != len(other):
        raise IntegrityError(
            f"{both} do not hold the same rows: one has {len(one)}, the other {len(other)}"
        )
    for name, left, right in zip(one.layout.names, one.columns, other.columns, strict=True):
        row = left.first_difference(right)
        if row is not None:
            raise IntegrityError(
                f"{both} do not hold the same rows: they differ in column '{name}', first in row "
                f"{row + 1}"
            )


def read_types(public: Path) -> dict[str, Type]:
    """Read from a folder's manifest what its columns hold; nothing when there is none.

    Raises
    ------
    IntegrityError
        When the manifest is damaged.
    """
    path = public / MANIFEST
    if not _there(path):
        return {}
    return read_json(_bytes(path), MANIFEST, _types)


def _types(content: Any) -> dict[str, Type]:
    spec = content.get("spec", {}) if isinstance(content, dict) else None
    columns = spec.get("columns", {}) if isinstance(spec, dict) else None
    if not isinstance(columns, dict):
        raise ValueError("its columns are no mapping")
    types: dict[str, Type] = {}
    for name, column in columns.items():
        kind = column.get("type", "category") if isinstance(column, dict) else None
        if kind not in TYPES:
            raise ValueError("a column has a type that this version does not know")
        # A pseudonym is text, whatever it stands for: 12e4 is not 120000.
        types[name] = "category" if column.get("role") == "identifier" else kind
    return types


def _layout(names: list[str], types: Mapping[str, Type], file: str) -> Layout:
    declared = {**{name + end: types[name] for name in types for end in ("_min", "_max")}, **types}
    if declared and not declared.keys() & set(names):
        # Nor are they shown: without a header they are the cells of a person.
        raise IntegrityError(
            f"'{file}' has none of the columns in '{MANIFEST}': it has lost its header, or it "
            "belongs to another release"
        )
    if not names:
        raise IntegrityError(f"'{file}' has no columns")
    try:
        return Layout(tuple(names), tuple(declared.get(name, "category") for name in names))
    except ValueError:
        raise IntegrityError(f"'{file}' has two columns of the same name") from None


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise IntegrityError(f"'{path.name}' cannot be read: {error.strerror}") from None


# --- CSV ------------------------------------------------------------------------------------


def read_csv(path: Path, types: Mapping[str, Type]) -> PublishedRows:
    """Read a CSV file as releases are written: nothing is a missing cell, `""` is empty text.

    Raises
    ------
    IntegrityError
        When the file is damaged.
    """
    data = _bytes(path)
    if not data:
        raise IntegrityError(f"'{path.name}' is empty: it does not even have a header")
    if data.count(b'"') % 2:
        # Arrow takes the end of the file for the end of the cell.
        raise IntegrityError(f"'{path.name}' is damaged: a quote that opens is never closed")
    ragged: list[Any] = []

    def note(row: Any) -> str:
        ragged.append(row)
        return "error"

    try:
        names, table = _parse_csv(data, path, note)
    except (pa.ArrowException, UnicodeError):
        # Not in Arrow's words: they quote the row.
        raise IntegrityError(f"'{path.name}' is damaged: {_mistake(data, ragged)}") from None
    layout = _layout(names, types, path.name)
    return PublishedRows(
        layout=layout,
        columns=tuple(map(_encode_column, table.columns, layout.types)),
        files=(path.name,),
    )


def _parse_csv(data: bytes, path: Path, note: Callable[[Any], str]) -> tuple[list[str], Any]:
    parse = arrow_csv.ParseOptions(
        newlines_in_values=True,
        # In a table of one column an empty line is a row whose cell is missing.
        ignore_empty_lines=False,
        invalid_row_handler=note,
    )
    # A record must fit into a block. Rows are counted only when one thread reads.
    read = arrow_csv.ReadOptions(block_size=largest_block(path), use_threads=False)
    names = arrow_csv.read_csv(pa.BufferReader(_first_record(data)), read, parse).column_names
    table = arrow_csv.read_csv(
        pa.BufferReader(data),
        read,
        parse,
        arrow_csv.ConvertOptions(
            # Text of which every distinct value is held once.
            column_types=dict.fromkeys(names, pa.dictionary(pa.int32(), pa.string())),
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    )
    return names, table


def _first_record(data: bytes) -> bytes:
    """Return the header: what stands before the first line end that is not in quotes."""
    start, quotes = 0, 0
    while stop := data.find(b"\n", start) + 1:
        quotes += data.count(b'"', start, stop)
        if quotes % 2 == 0:
            return data[:stop]
        start = stop
    return data


def _mistake(data: bytes, ragged: list[Any]) -> str:
    try:
        data.decode()
    except UnicodeDecodeError:
        return "it is not UTF-8"
    if ragged:
        row = ragged[0]
        cells = "1 cell" if row.actual_columns == 1 else f"{row.actual_columns} cells"
        return f"row {row.number - 1} has {cells}; its header has {row.expected_columns}"
    return "it cannot be read as separated text"


# --- Parquet --------------------------------------------------------------------------------


def read_parquet(path: Path, types: Mapping[str, Type]) -> PublishedRows:
    """Read a Parquet file; cells are what the release's CSV would have for them.

    Raises
    ------
    IntegrityError
        When the file is damaged, or a column holds something else than texts, numbers, truth
        values, dates and times.
    """
    data = _bytes(path)
    try:
        with pq.ParquetFile(pa.BufferReader(data)) as file:
            table = file.read()
        table.validate(full=True)
        names = table.column_names
    except (pa.ArrowException, OSError, UnicodeError):
        raise IntegrityError(f"'{path.name}' is not a Parquet file, or it is damaged") from None
    layout = _layout(names, types, path.name)
    columns = []
    for name, column, kind in zip(layout.names, table.columns, layout.types, strict=True):
        try:
            columns.append(_encode_column(column, kind))
        except (TypeError, pa.ArrowException):
            raise IntegrityError(
                f"'{path.name}': column '{name}' holds {_kind(column.type)}; a cell must be one "
                "text, number, truth value, date or time"
            ) from None
    return PublishedRows(layout=layout, columns=tuple(columns), files=(path.name,))


def _kind(type_: Any) -> str:
    inner = type_.value_type if pa.types.is_dictionary(type_) else type_
    # Without parameters: the fields of a structure are named by anybody.
    return f"cells of type {str(inner).partition('<')[0].partition('[')[0]}"


def _encode_column(column: Any, kind: Type) -> EncodedColumn:
    """Encode an Arrow column.

    Raises
    ------
    TypeError
        When its cells are nothing that a release holds.
    """
    if pa.types.is_null(column.type):
        return EncodedColumn.of([None], np.zeros(len(column), np.int32), kind)
    if not pa.types.is_dictionary(column.type):
        # Asked first: not every type can be counted in distinct values.
        _texts(pa.array([], column.type))
        column = column.dictionary_encode()
    whole = column.unify_dictionaries().combine_chunks()
    whole = whole.chunk(0) if isinstance(whole, pa.ChunkedArray) else whole
    texts = _texts(whole.dictionary)
    codes = pc.fill_null(whole.indices.cast(pa.int32()), len(texts)).to_numpy(zero_copy_only=False)
    return EncodedColumn.of([*texts, None], codes, kind)


def _texts(values: Any) -> list[str | None]:
    """Write values as core writes them into a CSV file; None is missing."""
    type_ = values.type
    if pa.types.is_string(type_) or pa.types.is_large_string(type_):
        texts: list[str | None] = values.to_pylist()
        return texts
    if pa.types.is_timestamp(type_) and type_.tz is not None:
        # The day and the hour are those of the place.
        return _texts(pc.local_timestamp(values))
    if pa.types.is_timestamp(type_) or pa.types.is_date(type_):
        unit: Literal["D", "s"] = "s" if pa.types.is_timestamp(type_) else "D"
        moments = values.to_numpy(zero_copy_only=False)
        written = moment_texts(moments.astype(f"datetime64[{unit}]"), unit)
        return [None if text == "NaT" else text for text in written]
    if pa.types.is_floating(type_):
        numbers = values.cast(pa.float64()).to_numpy(zero_copy_only=False)
        # In its shortest form, with one zero only.
        return [None if number != number else repr(float(number) + 0.0) for number in numbers]
    if pa.types.is_integer(type_) or pa.types.is_boolean(type_) or pa.types.is_decimal(type_):
        return [None if value is None else str(value) for value in values.to_pylist()]
    raise TypeError("no cells of a release")
