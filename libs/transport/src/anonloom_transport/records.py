"""Rows of any schema as records of one size: what donors send through a transport.

The layout follows from the declared schema alone, so that the size of a record says nothing of the
person whose it is; there is no compression, and padding is zeros. One row has one encoding, and a
record that no encoder writes is refused when it arrives.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom import Column, Schema, Table, short_repr
from anonloom.cells import MOMENTS
from anonloom.errors import DataError, UsageError
from anonloom.hierarchies import FromFile, HierarchySource, LeafTable, Tree
from anonloom.lazy import pd
from anonloom_transport.categories import LeafField, TextField
from anonloom_transport.fields import Field, MomentField, NumberField

#: Bytes of a text whose values nobody declared, unless somebody says otherwise.
TEXT_BYTES = 32

_PADDING = "bytes after the last field"


@attrs.frozen(eq=False)
class DecodedRecords:
    """What records that arrived say.

    Attributes
    ----------
    frame
        The readable records, in order; `Table.build` takes it with the layout's `schema`.
    readable
        Which records are in it.
    refused
        How many of the others there are, by reason; each counts once.
    """

    frame: "pd.DataFrame" = attrs.field(repr=False)
    readable: NDArray[np.bool_] = attrs.field(repr=False)
    refused: dict[str, int]


@short_repr
@attrs.frozen
class RecordLayout:
    """Where each column stands in a record, and how it is written.

    Attributes
    ----------
    fields
        In the order of the schema.
    size
        Bytes of every record.
    """

    fields: tuple[Field, ...]
    size: int

    @classmethod
    def of(
        cls,
        schema: Schema,
        columns: Iterable[str] | None = None,
        *,
        text_bytes: int = TEXT_BYTES,
        text_bytes_of: Mapping[str, int] | None = None,
        at_least: int = 0,
    ) -> "RecordLayout":
        """Lay out the columns of a schema.

        Parameters
        ----------
        columns
            Which ones; all but identifiers, which never travel, without it.
        text_bytes
            The most bytes of UTF-8 that a category has whose values no hierarchy lists.
        text_bytes_of
            The same for single columns.
        at_least
            Least size of a record; smaller ones are padded.

        Raises
        ------
        UsageError
            When a column is not declared or an identifier, or a size is of no use.
        DataError
            When a hierarchy file cannot be read.
        """
        wanted = _columns_to_send(schema, columns)
        own = dict(text_bytes_of or {})
        fields = tuple(_field(column, own.pop(column.name, text_bytes)) for column in wanted)
        text_columns = {field.column.name for field in fields if isinstance(field, TextField)}
        useless = sorted({*own, *(text_bytes_of or {})} - text_columns)
        if useless:
            listed = ", ".join(f"'{name}'" for name in useless)
            raise UsageError(f"'text_bytes' is given for {listed}, which no record holds as text")
        return cls(fields, max(at_least, sum(field.size for field in fields)))

    @property
    def schema(self) -> Schema:
        """The columns that records hold."""
        return Schema(field.column for field in self.fields)

    @property
    def digest(self) -> bytes:
        """Hash of all that decides what the bytes of a record mean and which are refused."""
        described = [
            "anonloom record 1",
            self.size,
            [[*_declaration(field), field.description()] for field in self.fields],
        ]
        return hashlib.sha256(json.dumps(described, ensure_ascii=True).encode()).digest()

    def encode(self, table: Table) -> NDArray[np.uint8]:
        """Write the rows of a table, (rows x size) bytes.

        Raises
        ------
        DataError
            When a cell does not fit, naming column, count, limit and what to do; never the cell.
        """
        records = np.zeros((len(table), self.size), np.uint8)
        start = 0
        for field in self.fields:
            stop = start + field.size
            if table.schema[field.column.name].type != field.column.type:
                raise UsageError(
                    f"column '{field.column.name}' is a {table.schema[field.column.name].type} in "
                    f"the table and a {field.column.type} in the layout"
                )
            records[:, start:stop] = field.write(table.column(field.column.name))
            start = stop
        return records

    def decode(self, records: NDArray[np.uint8]) -> DecodedRecords:
        """Read records, whoever wrote them.

        What no encoder writes is refused and counted: a hostile sender can spoil its own record,
        and no other. Categories come back as text.
        """
        if records.dtype != np.uint8 or records.ndim != 2 or records.shape[1] != self.size:
            raise ValueError(
                f"records must be (records x {self.size}) of uint8. "
                f"Got {records.shape} of {records.dtype} instead."
            )
        readable = np.ones(len(records), bool)
        refused: dict[str, int] = {}
        values: dict[str, Any] = {}

        def refuse(why: str, faulty: NDArray[np.bool_]) -> None:
            nonlocal readable
            count = int((readable & faulty).sum())
            if count:
                refused[why] = count
            readable &= ~faulty

        start = 0
        for field in self.fields:
            name, stop = field.column.name, start + field.size
            values[name], faults = field.read(records[:, start:stop])
            for what, faulty in faults:
                refuse(f"column '{name}': {what}", faulty)
            start = stop
        refuse(_PADDING, (records[:, start:] != 0).any(axis=1))
        frame = pd.DataFrame(
            {name: result[readable] for name, result in values.items()},
            index=pd.RangeIndex(int(readable.sum())),
            copy=False,
        )
        return DecodedRecords(frame, readable, refused)


def _columns_to_send(schema: Schema, columns: Iterable[str] | None) -> list[Column]:
    names = set(columns) if columns is not None else None
    for name in sorted(names or ()):
        if name not in schema:
            raise UsageError(f"column '{name}' is not declared and cannot be sent")
        if schema[name].role == "identifier":
            raise UsageError(f"column '{name}' is an identifier; identifiers are never sent")
    wanted = [
        column
        for column in schema
        if (column.role != "identifier" if names is None else column.name in names)
    ]
    if not wanted:
        raise UsageError("there is no column to send; identifiers are never sent")
    return wanted


def _field(column: Column, text_bytes: int) -> Field:
    """Choose how a column is written."""
    if text_bytes < 1:
        raise UsageError(f"column '{column.name}': 'text_bytes' must be at least 1")
    source = _read_once(column)
    if column.type == "number":
        return NumberField(column=column, source=source)
    if column.type in MOMENTS:
        return MomentField(column=column, source=source)
    if isinstance(source, LeafTable) and column.unknown == "refuse":
        return LeafField(
            column=column, source=source, leaves=tuple(sorted(row[0] for row in source.rows))
        )
    return TextField(column=column, source=source, text_bytes=text_bytes)


def _read_once(column: Column) -> HierarchySource | None:
    """Return the column's hierarchy; one that is written somewhere, as its rows."""
    source = column.generalization
    try:
        if isinstance(source, FromFile | Tree):
            return source.table()
        if isinstance(source, LeafTable):
            return LeafTable.from_rows(source.rows, "the hierarchy")
    except DataError as error:
        raise DataError(f"column '{column.name}': {error}") from None
    return source


def _declaration(field: Field) -> list[Any]:
    """What the declaration says of a column's values; not where a hierarchy file lies."""
    column = field.column
    # Every source is an attrs class, which its abstract base does not say.
    source: Any = field.source
    rule = None if source is None else [type(source).__name__, attrs.asdict(source)]
    return [column.name, column.role, column.type, column.missing, column.unknown, rule]
