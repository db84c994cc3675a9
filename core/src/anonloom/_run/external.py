"""Releases that were made elsewhere: what their columns are, whose their rows are, their cells."""

import re
from collections.abc import Iterable
from pathlib import Path
from re import Pattern
from typing import Any, NamedTuple

import attrs
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
from numpy.typing import NDArray

from anonloom.cells import reads_like_a_form
from anonloom.data._coding import coerce
from anonloom.data._hierarchy import STAR
from anonloom.data._release import Release
from anonloom.data._schema import Column, Role, Schema, Type
from anonloom.data._table import EMPTY, Table
from anonloom.data._text import normalize_column, normalize_text
from anonloom.errors import DataError
from anonloom.sources._csv import Csv
from anonloom.sources._parquet import Parquet

_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?", re.ASCII)


class Cells(NamedTuple):
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
    return read_counted(path).frame


def read_counted(path: Path) -> Cells:
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


def _cells(path: Path) -> Cells:
    if path.suffix == ".parquet":
        # Asking for the columns refuses what is no Parquet file.
        Parquet(path=path).columns()
        frame = pq.read_table(path).to_pandas().apply(_as_written)
        names = [normalize_text(str(name)) for name in frame.columns]
        read = [normalize_column(frame.iloc[:, index]) for index in range(len(names))]
        changed = {name: count for name, (_, count) in zip(names, read, strict=True) if count}
        cells = pd.DataFrame(dict(enumerate(column for column, _ in read)), copy=False)
        return Cells(cells.set_axis(names, axis="columns"), changed)
    source = Csv(path=path)
    # Every column as text: roles are not known yet, and cells must stay as they are written.
    schema = Schema(tuple(Column(name=name, role="other") for name in source.columns()))
    from anonloom.kinds._context import StageContext

    table = source.load(schema, StageContext(stage="source"))
    return Cells(table.frame, table.normalized)


def _as_written(column: Any) -> Any:
    """Return a column as text; a time at midnight keeps its time of day."""
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        texts = column.dt.strftime("%Y-%m-%d %H:%M:%S")
    else:
        texts = column.astype("str")
    return texts.where(column.notna(), None)


def guess_schema(original: pd.DataFrame, release: pd.DataFrame, truth: str | None = None) -> Schema:
    """Guess the roles from what was done to the columns.

    A column with generalized cells, or with values that the original lacks, is a quasi-identifier;
    all others were published as they are. A column whose originals are all ISO dates, or all ISO
    times, is one of dates or times.

    Parameters
    ----------
    truth
        The column that says whose a row is.

    Raises
    ------
    DataError
        When the tables share no column.
    """
    shared = [str(name) for name in original.columns if name in release.columns]
    if not shared:
        raise DataError("the original and the release have no column in common")
    columns = []
    for name in shared:
        before = set(_texts(original[name]))
        after = set(_texts(release[name]))
        changed = bool(after - before) or any(reads_like_a_form(text) for text in after)
        role: Role = "quasi" if changed else "other"
        if name == truth:
            columns.append(Column(name=name, role="truth"))
        else:
            columns.append(Column(name=name, role=role, type=_guess_type(sorted(before))))
    if truth is not None and truth not in shared:
        raise DataError(f"the original and the release do not both have a column '{truth}'")
    return Schema(tuple(columns))


def naming_everybody(original: pd.DataFrame, schema: Schema) -> tuple[str, ...]:
    """Name the columns of texts that are published as they are and differ in every row."""
    return tuple(
        column.name
        for column in schema
        if column.role == "other"
        and column.type == "category"
        and len(original) > 1
        and original[column.name].notna().all()
        and original[column.name].is_unique
    )


def _guess_type(texts: list[str]) -> Type:
    """Say what texts are; a category where they do not agree."""
    numbers = pd.to_numeric(pd.Series(texts), errors="coerce")
    if texts and not numbers.isna().any():
        return "number"
    guesses: tuple[tuple[Type, Pattern[str]], ...] = (("date", _DATE), ("time", _TIME))
    for type_, pattern in guesses:
        if texts and all(map(pattern.fullmatch, texts)):
            try:
                coerce(pd.Series(texts), Column(name="", role="other", type=type_))
            except DataError:
                continue  # there is no 30th of February
            return type_
    return "category"


def _texts(column: Any) -> list[str]:
    return [str(value) for value in column.dropna().unique()]


def unread_cells(release: Release, original: Table) -> dict[str, int]:
    """Count the cells of every quasi-identifier that are in no form that Anonloom publishes."""
    results = {}
    for axis in original.axes:
        if axis.name not in release.frame.columns:
            continue
        column = release.frame[axis.name]
        strange = [axis.read(str(cell)) is None for cell in column.cat.categories]
        # The code of a missing cell, -1, finds the last.
        count = int(np.append(np.array(strange, bool), False)[column.cat.codes.to_numpy()].sum())
        if count:
            results[axis.name] = count
    return results


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
    try:
        return coerce(cells, column)
    except DataError:
        return cells


def whose(frame: pd.DataFrame, original: Table) -> NDArray[np.int64] | None:
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


def owned(release: Release, rows: NDArray[np.int64] | None, original: Table) -> Release:
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
        results.append(owned(release, whose(cells, original), original))
    return tuple(results)


def control_table(path: Path, schema: Schema) -> Table:
    """Read people who are not in the release.

    Raises
    ------
    DataError
        When the file cannot be read, or lacks a column of the schema.
    """
    cells = read_cells(path)
    # What is never compared need not be there: people outside have no row of the original.
    kept = Schema(tuple(item for item in schema if item.is_published or item.name in cells.columns))
    try:
        return Table.build(cells, kept)
    except DataError as error:
        raise DataError(f"the control table '{path}': {error.what}", hint=error.hint) from None
