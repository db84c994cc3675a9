"""From the cells of a column to an axis and codes, with every mistake of the data named."""

from typing import Any

import attrs
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from anonloom.data import cells
from anonloom.data.axis import Axis
from anonloom.data.builders import UncoveredValues
from anonloom.data.hierarchy import Hierarchy
from anonloom.data.schema import Column
from anonloom.errors import DataError

#: How many row numbers a message shows.
SHOWN = 5


@attrs.frozen(eq=False)
class Coded:
    """A column on its axis."""

    axis: Axis
    codes: NDArray[np.int32]


def code(series: Any, column: Column) -> Coded:
    """Code a column onto its axis.

    Parameters
    ----------
    series
        The column, already of its declared type (see `typed`).

    Raises
    ------
    DataError
        Naming the column, counts and row numbers; never a cell.
    """
    values, codes = _distinct(series, column)
    if column.role == "quasi" and column.type == "category":
        _refuse_forms(values, codes, column)
    if column.missing == "refuse" and (codes < 0).any():
        raise DataError(
            f"column '{column.name}': {_rows(codes < 0, 'missing')}; complete them, or choose "
            "'missing: own' or 'missing: suppress'"
        )
    hierarchy, values, codes = _ordered(values, codes, column)
    missing = len(values) if (codes < 0).any() else -1
    if missing >= 0:
        codes = np.where(codes < 0, missing, codes)
    axis = Axis(
        name=column.name,
        type=column.type,
        form=column.form,
        weight=column.weight,
        values=values,
        missing=missing,
        hierarchy=hierarchy,
    )
    return Coded(axis, codes.astype(np.int32, copy=False))


def typed(series: Any, column: Column) -> Any:
    """Turn the cells of a column into its declared type.

    Raises
    ------
    DataError
        When a number or date column holds something else: count and first rows, not the cells.
    """
    if column.type == "number":
        return _numbers(series, column)
    if column.type == "date":
        return _dates(series, column)
    return series


def _numbers(series: Any, column: Column) -> Any:
    if pd.api.types.is_bool_dtype(series.dtype):
        raise DataError(f"column '{column.name}': true and false are not numbers")
    if pd.api.types.is_numeric_dtype(series.dtype):
        numbers = series.to_numpy(dtype=float, na_value=np.nan)
    else:
        numbers = _parse_numbers(series, column)
    if np.isinf(numbers).any():
        raise DataError(f"column '{column.name}': {_rows(np.isinf(numbers), 'infinite')}")
    return pd.Series(numbers, index=series.index, name=series.name)


def _parse_numbers(series: Any, column: Column) -> NDArray[np.float64]:
    texts = pa.Array.from_pandas(series.astype("str").where(series.notna(), None))
    texts = pc.utf8_trim_whitespace(texts.cast(pa.string()))
    try:
        parsed: NDArray[np.float64] = pc.cast(texts, pa.float64()).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid:
        present = series.notna().to_numpy()
        numbers = pd.to_numeric(texts.to_pandas(), errors="coerce").to_numpy(float)
        bad = np.isnan(numbers) & present
        raise DataError(
            f"column '{column.name}': {_rows(bad, 'not a number')}; correct them, or declare "
            "the column as 'type: category'"
        ) from None
    return parsed


def _dates(series: Any, column: Column) -> Any:
    if pd.api.types.is_datetime64_any_dtype(series.dtype):
        dates = series.dt.tz_localize(None) if series.dt.tz is not None else series
    else:
        texts = series.astype("str").where(series.notna(), None)
        dates = pd.to_datetime(texts, format=column.format, errors="coerce")
        bad = (dates.isna() & series.notna()).to_numpy()
        if bad.any():
            raise DataError(
                f"column '{column.name}': {_rows(bad, f'not a date of the form {column.format}')}; "
                "correct them, or give the column's 'format'"
            )
    return dates.astype("datetime64[s]")


def _rows(bad: NDArray[np.bool_], what: str) -> str:
    """Count rows and name the first of them; row 1 is the first row of data."""
    numbers = np.flatnonzero(bad) + 1
    shown = ", ".join(str(number) for number in numbers[:SHOWN])
    more = ", ..." if len(numbers) > SHOWN else ""
    cells_ = "1 cell is" if len(numbers) == 1 else f"{len(numbers)} cells are"
    return f"{cells_} {what} (row{'s' if len(numbers) > 1 else ''} {shown}{more})"


def _distinct(series: Any, column: Column) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Ascending distinct values, and each row's rank among them; -1 for missing."""
    if column.type == "number":
        codes, values = pd.factorize(series.to_numpy(), sort=True)
        return np.asarray(values, float), codes
    if column.type == "date":
        days = series.to_numpy().astype("datetime64[D]")
        missing = np.isnat(days)
        codes, values = pd.factorize(days.astype(np.int64), sort=True)
        if missing.any():
            # The integer that stands for "not a time" is the smallest of all.
            codes, values = codes - 1, values[1:]
        return np.asarray(values, np.int64).astype("datetime64[D]"), codes
    if isinstance(series.dtype, pd.CategoricalDtype):
        codes, kept = pd.factorize(series.cat.codes.to_numpy(), sort=True)
        absent = len(kept) > 0 and kept[0] < 0
        codes, kept = (codes - 1, kept[1:]) if absent else (codes, kept)
        labels = [_text(value) for value in series.cat.categories[kept]]
    else:
        codes, uniques = pd.factorize(series)
        labels = [_text(value) for value in uniques]
    # Different cells may read alike (1 and '1'); they are one value. Sorting by label keeps the
    # order of the rows out of the codes.
    distinct, rank = np.unique(np.array(labels, dtype=object).astype(str), return_inverse=True)
    lookup = np.append(rank, -1)
    return distinct.astype(object), lookup[codes]


def _text(value: Any) -> str:
    return cells.number_text(value) if isinstance(value, float) else str(value)


def _refuse_forms(values: NDArray[Any], codes: NDArray[np.int64], column: Column) -> None:
    """Refuse raw cells that a reader of the release would take for a generalized one."""
    alike = np.array([cells.reads_like_a_form(value) for value in values], bool)
    if alike.any():
        hit = (codes >= 0) & alike[codes]
        raise DataError(
            f"column '{column.name}': {int(hit.sum())} "
            f"{'cell reads' if hit.sum() == 1 else 'cells read'} like a published form "
            "('*', '[a, b]' or '{\"a\", \"b\"}'); rename these values before publishing"
        )


def _ordered(
    values: NDArray[Any], codes: NDArray[np.int64], column: Column
) -> tuple[Hierarchy | None, NDArray[Any], NDArray[np.int64]]:
    """Put the values into the order of their hierarchy."""
    source = column.generalization
    if not len(values):
        return (None if source is None and column.type == "number" else Hierarchy.flat([])), (
            values
        ), codes
    if source is None:
        flat = None if column.type == "number" else Hierarchy.flat([str(v) for v in values])
        return flat, values, codes
    try:
        hierarchy, order = source.over(values, column.unknown == "own-leaf")
    except UncoveredValues as error:
        hit = (codes >= 0) & error.missing[codes]
        raise DataError(
            f"column '{column.name}': {int(error.missing.sum())} of {len(values)} values (in "
            f"{int(hit.sum())} rows) are missing from the hierarchy; add them to it, or write "
            "'unknown: own-leaf'"
        ) from None
    except DataError as error:
        raise DataError(f"column '{column.name}': {error}") from None
    rank = np.empty(len(order) + 1, np.int64)
    rank[order] = np.arange(len(order))
    rank[-1] = -1
    return hierarchy, values[order], rank[codes]
