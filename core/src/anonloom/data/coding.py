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


def code(series: Any, column: Column, out: NDArray[np.int32] | None = None) -> Coded:
    """Code a column onto its axis.

    Parameters
    ----------
    series
        The column, already of its declared type (see `typed`).
    out
        Where to write the codes; a new array without it.

    Raises
    ------
    DataError
        Naming the column, counts and row numbers; never a cell.
    """
    found = _distinct(series, column)
    if column.role == "quasi" and column.type == "category":
        _refuse_forms(found, column)
    absent = found.entries < 0
    incomplete = bool(absent.any())
    if column.missing == "refuse" and incomplete:
        raise DataError(
            f"column '{column.name}': {_rows(absent, 'missing')}; complete them, or choose "
            "'missing: own' or 'missing: suppress'"
        )
    hierarchy, order = _ordered(found, column)
    values = found.values[order]
    missing = len(values) if incomplete else -1
    codes = np.empty(len(order) + 1, np.int32)
    codes[order] = np.arange(len(order))
    codes[-1] = missing
    axis = Axis(
        name=column.name,
        type=column.type,
        form=column.form,
        weight=column.weight,
        values=values,
        missing=missing,
        hierarchy=hierarchy,
    )
    # All else concerned the distinct values: this is the one pass over the rows.
    of_rows = codes[found.ranks][found.entries]
    if out is None:
        return Coded(axis, of_rows)
    out[:] = of_rows
    return Coded(axis, out)


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
    if series.dtype == np.float64:
        numbers = series.to_numpy()
    elif pd.api.types.is_numeric_dtype(series.dtype):
        numbers = series.to_numpy(dtype=float, na_value=np.nan)
    else:
        numbers = _parse_numbers(series, column)
    if np.isinf(numbers).any():
        raise DataError(f"column '{column.name}': {_rows(np.isinf(numbers), 'infinite')}")
    return pd.Series(numbers, index=series.index, name=series.name)


def _parse_numbers(series: Any, column: Column) -> NDArray[np.float64]:
    if isinstance(series.dtype, pd.CategoricalDtype):
        # Each distinct text is parsed once; -1, the code of a missing cell, finds the last.
        categories = series.cat.categories.to_series(index=range(len(series.cat.categories)))
        numbers, bad = _numbers_of(categories)
        codes = series.cat.codes.to_numpy()
        numbers, bad = np.append(numbers, np.nan)[codes], np.append(bad, False)[codes]
    else:
        numbers, bad = _numbers_of(series)
    if bad.any():
        raise DataError(
            f"column '{column.name}': {_rows(bad, 'not a number')}; correct them, or declare "
            "the column as 'type: category'"
        )
    return numbers


def _numbers_of(texts: Any) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Parse texts; return the numbers, and which texts are none."""
    present = texts.notna().to_numpy()
    plain = pa.Array.from_pandas(texts.astype("str").where(present, None)).cast(pa.string())
    plain = pc.utf8_trim_whitespace(plain)
    try:
        numbers = pc.cast(plain, pa.float64()).to_numpy(zero_copy_only=False)
        return numbers, np.zeros(len(numbers), bool)
    except pa.ArrowInvalid:
        numbers = pd.to_numeric(plain.to_pandas(), errors="coerce").to_numpy(float)
        # A cell that says 'nan' is missing, as it is where every cell can be read.
        said = pc.equal(pc.utf8_lower(plain), "nan").to_numpy(zero_copy_only=False)
        return numbers, np.isnan(numbers) & present & (said != True)  # noqa: E712  # None too


def _dates(series: Any, column: Column) -> Any:
    if pd.api.types.is_datetime64_any_dtype(series.dtype):
        dates = series.dt.tz_localize(None) if series.dt.tz is not None else series
    else:
        # Days repeat: each distinct text is parsed once.
        codes, uniques = pd.factorize(series)
        texts = pd.Series([str(value) for value in uniques], dtype="str")
        parsed = pd.to_datetime(texts, format=column.format, errors="coerce").to_numpy()
        moments = np.append(parsed.astype("datetime64[s]"), np.datetime64("NaT", "s"))[codes]
        bad = np.isnat(moments) & (codes >= 0)
        if bad.any():
            raise DataError(
                f"column '{column.name}': {_rows(bad, f'not a date of the form {column.format}')}; "
                "correct them, or give the column's 'format'"
            )
        dates = pd.Series(moments, index=series.index, name=series.name)
    return dates.astype("datetime64[s]")


def _rows(bad: NDArray[np.bool_], what: str) -> str:
    """Count rows and name the first of them; row 1 is the first row of data."""
    numbers = np.flatnonzero(bad) + 1
    shown = ", ".join(str(number) for number in numbers[:SHOWN])
    more = ", ..." if len(numbers) > SHOWN else ""
    cells_ = "1 cell is" if len(numbers) == 1 else f"{len(numbers)} cells are"
    return f"{cells_} {what} (row{'s' if len(numbers) > 1 else ''} {shown}{more})"


@attrs.frozen(eq=False)
class _Distinct:
    """The distinct values of a column, without a pass over its rows for each question.

    Attributes
    ----------
    values
        Ascending.
    entries
        Of every row, its place in some list of cells; -1 for missing.
    ranks
        Of every place in that list, the rank of its value; the last is -1, for missing.
    """

    values: NDArray[Any]
    entries: NDArray[np.integer]
    ranks: NDArray[np.int64]

    def holding(self, chosen: NDArray[np.bool_]) -> int:
        """Count the rows that hold one of the chosen values."""
        return int(np.append(chosen, False)[self.ranks][self.entries].sum())


def _distinct(series: Any, column: Column) -> _Distinct:
    if column.type == "number":
        entries, values = pd.factorize(series.to_numpy())
        return _sorted(np.asarray(values, float), entries)
    if column.type == "date":
        days = series.to_numpy().astype("datetime64[D]")
        entries, values = pd.factorize(days.astype(np.int64))
        missing = np.isnat(days)
        if missing.any():
            # The integer that stands for "not a time" is a value to factorize, not to us.
            absent = entries[missing.argmax()]
            values = np.delete(values, absent)
            entries = np.where(missing, -1, entries - (entries > absent))
        return _sorted(np.asarray(values, np.int64).astype("datetime64[D]"), entries)
    if isinstance(series.dtype, pd.CategoricalDtype):
        entries = series.cat.codes.to_numpy()
        cells_ = series.cat.categories
        occurring = np.zeros(len(cells_) + 1, bool)
        occurring[entries] = True
        kept = np.flatnonzero(occurring[:-1])
    else:
        entries, cells_ = pd.factorize(series)
        kept = np.arange(len(cells_))
    # Different cells may read alike (1 and '1'); they are one value. Sorting by label keeps the
    # order of the rows out of the codes.
    labels = np.empty(len(kept), object)
    labels[:] = [_text(value) for value in cells_[kept]]
    rank, values = pd.factorize(labels, sort=True)
    ranks = np.full(len(cells_) + 1, -1, np.int64)
    ranks[kept] = rank
    return _Distinct(np.asarray(values, object), entries, ranks)


def _sorted(values: NDArray[Any], entries: NDArray[np.integer]) -> _Distinct:
    order = np.argsort(values, kind="stable")
    ranks = np.full(len(values) + 1, -1, np.int64)
    ranks[order] = np.arange(len(values))
    return _Distinct(values[order], entries, ranks)


def _text(value: Any) -> str:
    return cells.number_text(value) if isinstance(value, float) else str(value)


def _refuse_forms(found: _Distinct, column: Column) -> None:
    """Refuse raw cells that a reader of the release would take for a generalized one."""
    alike = np.array([cells.reads_like_a_form(value) for value in found.values], bool)
    if alike.any():
        hit = found.holding(alike)
        raise DataError(
            f"column '{column.name}': {hit} {'cell reads' if hit == 1 else 'cells read'} like a "
            "published form ('*', '[a, b]' or '{\"a\", \"b\"}'); rename these values before "
            "publishing"
        )


def _ordered(found: _Distinct, column: Column) -> tuple[Hierarchy | None, NDArray[np.int64]]:
    """Return the hierarchy and the order in which it has the values."""
    values, source = found.values, column.generalization
    if source is None or not len(values):
        flat = source is not None or column.type != "number"
        hierarchy = Hierarchy.flat([str(value) for value in values]) if flat else None
        return hierarchy, np.arange(len(values))
    try:
        return source.over(values, column.unknown == "own-leaf")
    except UncoveredValues as error:
        raise DataError(
            f"column '{column.name}': {int(error.missing.sum())} of {len(values)} values (in "
            f"{found.holding(error.missing)} rows) are missing from the hierarchy; add them to "
            "it, or write 'unknown: own-leaf'"
        ) from None
    except DataError as error:
        raise DataError(f"column '{column.name}': {error}") from None
