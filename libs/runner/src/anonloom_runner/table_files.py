"""Writing a published frame as CSV and Parquet, whole columns at a time."""

from collections.abc import Collection
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from anonloom import Release
from anonloom.cells import moment_texts
from anonloom.data import Axis
from anonloom.lazy import pq

__all__ = [
    "write_csv",
    "write_parquet",
]

_QUOTE = '"'
#: Rows that are joined to text at a time: bounds memory.
_CHUNK = 200_000

#: What both formats write alike; other cells are text in both.
_PLAIN = (
    pa.types.is_string,
    pa.types.is_large_string,
    pa.types.is_boolean,
    pa.types.is_integer,
    pa.types.is_floating,
    pa.types.is_timestamp,
    pa.types.is_date,
    pa.types.is_null,
)
#: What Python's objects may be for that; none of the others is inferred of typed columns.
_OF_ONE_TYPE = ("", "string", "integer", "boolean", "date", "floating", "empty")
#: And what categories may be without a look at them one by one.
_OF_WORDS = ("", "string", "empty")


def write_csv(frame: pd.DataFrame, path: Path, times: Collection[str] = ()) -> None:
    """Write comma-separated UTF-8 text; only cells that need quotes have them.

    Parameters
    ----------
    times
        Columns that are moments to the second; pandas' moments in others are days.
    """
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(",".join(_quote(str(name)) for name in frame.columns) + "\n")
        for start in range(0, len(frame), _CHUNK):
            part = frame.iloc[start : start + _CHUNK]
            texts = [_texts(part[name], "s" if name in times else "D") for name in part.columns]
            lines = pc.binary_join_element_wise(*texts, ",")
            file.write("\n".join(lines.to_pylist()) + "\n")


def _quote(text: str) -> str:
    """Quote a cell if it holds a separator, a quote or a line end, or is empty text."""
    needs = text == "" or any(character in text for character in ',"\r\n')
    return _QUOTE + text.replace(_QUOTE, _QUOTE * 2) + _QUOTE if needs else text


def _texts(column: Any, unit: Literal["D", "s"]) -> pa.Array:
    """Return the cells as text ready for a line, moments in the unit given; missing is empty."""
    codes, texts = _distinct(_normalize_column(column), unit)
    written = pa.array([*map(_quote, texts), ""], pa.string())
    return written.take(pa.array(np.where(codes < 0, len(texts), codes)))


def _distinct(column: Any, unit: Literal["D", "s"]) -> tuple[NDArray[np.integer], list[str]]:
    """Return every row's place in a list of texts, -1 where it is missing; and the texts."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        codes, values = column.cat.codes.to_numpy(), column.cat.categories
    else:
        # Distinct values are few beside the rows, or at worst as many.
        codes, values = pd.factorize(column)
    if pd.api.types.is_datetime64_any_dtype(values.dtype):
        return codes, moment_texts(np.asarray(values, "datetime64[s]"), unit)
    return codes, [_text(value) for value in values]


def _normalize_column(column: Any) -> Any:
    """Return a column of which both formats say the same.

    Left alone they would not: there are two zeros, a not-a-number beside the missing, numbers of 4
    bytes with more digits in one format, hours of the place and of Greenwich.
    """
    values = column.dtype
    if isinstance(values, pd.CategoricalDtype):
        categories = values.categories
        values = categories.dtype
        if _object_type(categories) not in _OF_WORDS:
            column = column.astype(object)
        elif pd.api.types.is_float_dtype(values) or _are_moments(values):
            codes = column.cat.codes.to_numpy()
            column = pd.Series(categories.take(codes, allow_fill=True, fill_value=None))
        else:
            return column
    if _are_moments(values):
        if isinstance(values, pd.ArrowDtype) and pa.types.is_date(values.pyarrow_dtype):
            column = column.astype(pd.ArrowDtype(pa.timestamp("s")))
        local = column.dt.tz_localize(None)
        # Down, not towards 1970.
        return pd.Series(local.dt.floor("s").to_numpy("datetime64[s]"), column.index)
    if pd.api.types.is_float_dtype(values) or _object_type(column) == "floating":
        return pd.Series(column.to_numpy(float, na_value=np.nan) + 0.0, column.index)
    if _object_type(column) not in _OF_ONE_TYPE:
        # 1, 1.0 and true are equal, but not the same text.
        return column.map(_text, na_action="ignore")
    return column


def _are_moments(dtype: Any) -> bool:
    return bool(pd.api.types.is_datetime64_any_dtype(dtype))


def _object_type(column: Any) -> str:
    """Say what a column of Python's objects holds; nothing of other columns."""
    return pd.api.types.infer_dtype(column, skipna=True) if column.dtype == object else ""


def _text(value: Any) -> str:
    return repr(float(value) + 0.0) if isinstance(value, float) else str(value)


def write_parquet(release: Release, path: Path, bounds_of: tuple[Axis, ...] = ()) -> None:
    """Write Parquet.

    Parameters
    ----------
    bounds_of
        Axes whose intervals are written as two columns, `<name>_min` and `<name>_max`.
    """
    axes = {axis.name: axis for axis in bounds_of}
    times = release.schema.of_type("time")
    columns: dict[str, Any] = {}
    for name in release.frame.columns:
        column = release.frame[name]
        if name in axes:
            lo, hi = _bounds(column, axes[name])
            columns[f"{name}_min"], columns[f"{name}_max"] = lo, hi
        else:
            columns[str(name)] = _arrow(column, time=name in times)
    table = pa.table(columns)
    pq.write_table(table, path)


def _arrow(column: Any, time: bool) -> pa.Array:
    column = _normalize_column(column)
    try:
        array = pa.Array.from_pandas(column)
    except (pa.ArrowException, OverflowError):
        # Integers that no type of Arrow's holds.
        array = None
    if array is None or not _is_plain(array.type):
        codes, texts = _distinct(column, "s")
        return pa.array([*texts, None], pa.string()).take(pa.array(codes % (len(texts) + 1)))
    if not pa.types.is_timestamp(array.type):
        return array
    return array.cast(pa.timestamp("s") if time else pa.date32())


def _is_plain(type_: Any) -> bool:
    """Whether Arrow's text of such cells is that of the CSV; it is not of decimals or durations."""
    kind = type_.value_type if pa.types.is_dictionary(type_) else type_
    return any(holds(kind) for holds in _PLAIN)


def _bounds(column: Any, axis: Axis) -> tuple[pa.Array, pa.Array]:
    """Ends of every published interval; both missing where the cell is `*` or missing.

    A node has no ends that are public: the values that occur under it are not.
    """
    ends = np.full((len(column.cat.categories) + 1, 2), np.nan)
    for index, cell in enumerate(column.cat.categories):
        cover = axis.read(str(cell))
        if cover is None or cover.star:
            continue
        if cover.ends is not None:
            ends[index] = cover.ends
        elif cover.form != "nodes" and len(cover):
            ends[index] = axis.places[[cover.first, cover.last]]
    rows = ends[column.cat.codes.to_numpy()]
    lo, hi = (pa.array(rows[:, side], pa.float64(), from_pandas=True) for side in (0, 1))
    if axis.type == "date":
        lo, hi = (end.cast(pa.int32()).cast(pa.date32()) for end in (lo, hi))
    elif axis.type == "time":
        lo, hi = (end.cast(pa.int64()).cast(pa.timestamp("s")) for end in (lo, hi))
    return lo, hi
