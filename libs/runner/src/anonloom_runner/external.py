"""Releases that were made elsewhere, or before: their cells, and whose their rows are."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anonloom import Column, Release, Schema, Table
from anonloom.cells import STAR
from anonloom.data import EMPTY, coerce, normalize_column, normalize_text
from anonloom.errors import DataError
from anonloom.lazy import pq
from anonloom_columns import NO_VALUE
from anonloom_tables import Csv, Parquet

__all__ = [
    "other_releases",
    "read_cells",
    "read_foreign_table",
    "release_from",
    "rows_in_original",
    "with_known_rows",
]


class ForeignTable(NamedTuple):
    """A table as text, and by column how many cells were changed when they were read."""

    frame: pd.DataFrame
    normalized: dict[str, int]


def read_cells(path: Path) -> pd.DataFrame:
    """Read a table as text, cell for cell; empty is missing.

    Raises
    ------
    DataError
        When the file cannot be read, or has no rows.
    """
    return read_foreign_table(path).frame


def read_foreign_table(path: Path) -> ForeignTable:
    """Read a table as `read_cells` does, and count what was not in the form of `normalize_text`."""
    try:
        result = _cells(path)
    except DataError as error:
        # The source speaks of publishing, and of no file.
        if error.what == EMPTY:
            raise _without_rows(path) from None
        raise
    if result.frame.empty:
        raise _without_rows(path)
    return result


def _without_rows(path: Path) -> DataError:
    return DataError(f"{path}: the file has no rows")


def _cells(path: Path) -> ForeignTable:
    if path.suffix == ".parquet":
        # Asking for the columns refuses what is no Parquet file.
        Parquet(path=path).columns()
        frame = pq.read_table(path).to_pandas().apply(_as_written)
        names = [normalize_text(str(name)) for name in frame.columns]
        read = [normalize_column(frame.iloc[:, index]) for index in range(len(names))]
        changed = {name: count for name, (_, count) in zip(names, read, strict=True) if count}
        cells = pd.DataFrame(dict(enumerate(column for column, _ in read)), copy=False)
        return ForeignTable(cells.set_axis(names, axis="columns"), changed)
    source = Csv(path=path)
    # Every column as text: roles are not known yet, and cells must stay as they are written.
    schema = Schema(tuple(Column(name=name, role="other") for name in source.columns()))
    from anonloom import StageContext

    table = source.load(schema, StageContext(stage="source"))
    return ForeignTable(table.frame, table.normalized)


def _as_written(column: Any) -> Any:
    """Return a column as text; a time at midnight keeps its time of day."""
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        texts = column.dt.strftime("%Y-%m-%d %H:%M:%S")
    else:
        texts = column.astype("str")
    return texts.where(column.notna(), None)


def release_from(frame: pd.DataFrame, schema: Schema, named: str = "the release") -> Release:
    """Turn a table of published cells into a release; whose rows they are is not known.

    Parameters
    ----------
    named
        What messages call it.

    Raises
    ------
    DataError
        When the release lacks all of the schema's columns.
    """
    kept = Schema(
        tuple(
            attrs.evolve(column, missing="own")
            for column in schema
            if column.is_published and column.name in frame.columns
        )
    )
    if not kept.names:
        raise DataError(f"{named} has none of the declared columns")
    columns: dict[str, Any] = {}
    for column in kept:
        cells = frame[column.name].reset_index(drop=True)
        if column.role == "quasi":
            texts = cells.astype("str").where(cells.notna(), None)
            codes, uniques = pd.factorize(texts)
            uniques = pd.Index([*uniques, *([] if STAR in set(uniques) else [STAR])], dtype="str")
            columns[column.name] = pd.Categorical.from_codes(codes.astype(np.int32), uniques)
        else:
            columns[column.name] = _typed_where_possible(cells, column)
    return Release(schema=kept, frame=pd.DataFrame(columns, index=pd.RangeIndex(len(frame))))


def _typed_where_possible(cells: Any, column: Column) -> Any:
    """Return a column in its declared type; another tool may have generalized some of its cells."""
    if column.type != "category":
        cells = cells.where(~cells.isin(NO_VALUE), None)
    try:
        return coerce(cells, column)
    except DataError:
        return cells


def rows_in_original(frame: pd.DataFrame, original: Table) -> NDArray[np.int64] | None:
    """Return for every row its row of the original, -1 for none; None when nothing says so.

    What says so is the column with the role `truth`, else `person`, if both tables have it and
    its values are distinct in the original.
    """
    for role in ("truth", "person"):
        for name in original.schema.names_with_role(role):
            if name not in frame.columns:
                continue
            column = attrs.evolve(original.schema[name], missing="own")
            known = pd.Index(original.column(name))
            if known.has_duplicates or known.hasnans:
                continue
            cells = _typed_where_possible(frame[name].reset_index(drop=True), column)
            rows = known.get_indexer(pd.Index(cells)).astype(np.int64)
            return rows if (rows >= 0).any() else None
    return None


def with_known_rows(release: Release, rows: NDArray[np.int64] | None, original: Table) -> Release:
    """Return a release that knows its rows, if all of them are known."""
    if rows is None or original.origin is None or (rows < 0).any():
        return release
    return attrs.evolve(release, origin=original.origin[rows])


def other_releases(paths: Iterable[Path], original: Table) -> tuple[Release, ...]:
    """Read other releases of the same population.

    Raises
    ------
    DataError
        When a file cannot be read, or has nothing to do with the original.
    """
    results = []
    for path in paths:
        cells = read_cells(path)
        release = release_from(cells, original.schema, f"the other release '{path}'")
        results.append(with_known_rows(release, rows_in_original(cells, original), original))
    return tuple(results)
