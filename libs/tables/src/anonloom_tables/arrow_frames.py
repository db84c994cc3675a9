"""From Arrow's columns to a table: texts once each, numbers as numbers."""

import re
from collections.abc import Collection
from typing import Any

from anonloom.data import Schema, Table
from anonloom.errors import DataError
from anonloom.lazy import pa, pc, pd


def text_type() -> Any:
    """Return Arrow's type of text of which every distinct value is held once."""
    return pa.dictionary(pa.int32(), pa.string())


def table_of(columns: Any, schema: Schema, null: Collection[str] = ()) -> Table:
    """Check and code Arrow's columns.

    Parameters
    ----------
    columns : pyarrow.Table
        The declared columns, in any order.
    null
        See `Table.build`.

    Raises
    ------
    DataError
        See `Table.build`.
    """
    _refuse_nested(columns)
    names = [name for name in schema.names if name in columns.column_names]
    columns = columns.select(names)
    for index, field in enumerate(columns.schema):
        if pa.types.is_date(field.type) and schema[field.name].type == "category":
            # pandas has no days: a midnight would be published with each of them.
            columns = columns.set_column(index, field.name, columns[index].cast(pa.string()))
    return Table.build(frame_of(columns), schema, null=null)


def frame_of(columns: Any) -> "pd.DataFrame":
    """Turn Arrow's columns into a frame without an object per cell."""
    columns = columns.unify_dictionaries()
    for index, field in enumerate(columns.schema):
        if pa.types.is_decimal(field.type):
            # Decimals would become Python objects; as text they keep every digit.
            columns = columns.set_column(index, field.name, columns[index].cast(pa.string()))
    # Metadata that pandas once wrote could move a column into the index.
    return columns.to_pandas(ignore_metadata=True, date_as_object=False, split_blocks=True)


def refuse_nul(columns: Any, where: str) -> None:
    """Refuse text with NUL characters: a damaged file, or one in another encoding.

    Raises
    ------
    DataError
        Naming the first such column.
    """
    for field in columns.schema:
        for chunk in columns[field.name].chunks:
            texts = chunk.dictionary if pa.types.is_dictionary(field.type) else chunk
            if not pa.types.is_string(texts.type):
                break
            if pc.any(pc.match_substring(texts, "\0")).as_py():
                raise DataError(
                    f"{where}: column '{field.name}' holds NUL characters; the file is damaged, "
                    "or it has another encoding"
                )


def _refuse_nested(columns: Any) -> None:
    for field in columns.schema:
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        if pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
            name = re.split(r"[<\[]", str(kind))[0]
            raise DataError(
                f"column '{field.name}': its cells are of type {name}; a cell must be one text, "
                "number, date or truth value"
            )
