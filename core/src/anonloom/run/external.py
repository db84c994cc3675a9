"""Auditing a release that was made elsewhere: what its columns are, and reading its cells."""

import re
from pathlib import Path
from re import Pattern
from typing import Any

import attrs
import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from anonloom.data.cells import reads_like_a_form
from anonloom.data.coding import typed
from anonloom.data.hierarchy import STAR
from anonloom.data.release import Release
from anonloom.data.schema import Column, Role, Schema, Type
from anonloom.data.table import Table
from anonloom.errors import DataError
from anonloom.sources.csv import Csv
from anonloom.sources.parquet import Parquet

_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?", re.ASCII)


def read_cells(path: Path) -> pd.DataFrame:
    """Read a table as text, cell for cell; empty is missing."""
    if path.suffix == ".parquet":
        # Asking for the columns refuses what is no Parquet file.
        columns = list(Parquet(path=path).columns())
        frame = pq.read_table(path, columns=columns).to_pandas()
        return frame.apply(_as_written)
    source = Csv(path=path)
    # Every column as text: roles are not known yet, and cells must stay as they are written.
    schema = Schema(tuple(Column(name=name, role="other") for name in source.columns()))
    from anonloom.kinds.context import Run

    return source.load(schema, Run(stage="source")).frame


def _as_written(column: Any) -> Any:
    """Return a column as text; a time at midnight keeps its time of day."""
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        texts = column.dt.strftime("%Y-%m-%d %H:%M:%S")
    else:
        texts = column.astype("str")
    return texts.where(column.notna(), None)


def guess_schema(original: pd.DataFrame, release: pd.DataFrame) -> Schema:
    """Guess the roles from what was done to the columns.

    A column with generalized cells, or with values that the original lacks, is a quasi-identifier;
    all others were published as they are. A quasi-identifier whose originals are all ISO dates, or
    all ISO times, is one of dates or times.

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
        columns.append(Column(name=name, role=role, type=_guess_type(sorted(before), changed)))
    return Schema(tuple(columns))


def _guess_type(texts: list[str], generalized: bool) -> Type:
    """Say what texts are; a category where they do not agree."""
    numbers = pd.to_numeric(pd.Series(texts), errors="coerce")
    if texts and not numbers.isna().any():
        return "number"
    guesses: tuple[tuple[Type, Pattern[str]], ...] = (("date", _DATE), ("time", _TIME))
    for type_, pattern in guesses:
        # A column that is published as it is can stay text, whatever it says.
        if generalized and texts and all(map(pattern.fullmatch, texts)):
            try:
                typed(pd.Series(texts), Column(name="", role="other", type=type_))
            except DataError:
                continue  # there is no 30th of February
            return type_
    return "category"


def _texts(column: Any) -> list[str]:
    return [str(value) for value in column.dropna().unique()]


def unread_cells(release: Release, original: Table) -> dict[str, int]:
    """Count the cells of every quasi-identifier that are in no form that Anonloom publishes."""
    found = {}
    for axis in original.axes:
        if axis.name not in release.frame.columns:
            continue
        column = release.frame[axis.name]
        strange = [axis.read(str(cell)) is None for cell in column.cat.categories]
        # The code of a missing cell, -1, finds the last.
        count = int(np.append(np.array(strange, bool), False)[column.cat.codes.to_numpy()].sum())
        if count:
            found[axis.name] = count
    return found


def release_from(frame: pd.DataFrame, schema: Schema) -> Release:
    """Turn a table of published cells into a release; whose rows they are is not known.

    Raises
    ------
    DataError
        When the release lacks all of the schema's columns.
    """
    kept = Schema(
        tuple(
            attrs.evolve(column, missing="own")
            for column in schema
            if column.published and column.name in frame.columns
        )
    )
    if not kept.names:
        raise DataError("the release has none of the declared columns")
    columns: dict[str, Any] = {}
    for column in kept:
        cells = frame[column.name].reset_index(drop=True)
        if column.role == "quasi":
            texts = cells.astype("str").where(cells.notna(), None)
            codes, uniques = pd.factorize(texts)
            uniques = pd.Index([*uniques, *([] if STAR in set(uniques) else [STAR])], dtype="str")
            columns[column.name] = pd.Categorical.from_codes(codes.astype(np.int32), uniques)
        else:
            columns[column.name] = cells
    return Release(schema=kept, frame=pd.DataFrame(columns, index=pd.RangeIndex(len(frame))))
