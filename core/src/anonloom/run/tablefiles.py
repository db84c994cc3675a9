"""Writing a published frame as CSV and Parquet, whole columns at a time."""

from collections.abc import Collection
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from anonloom.data.axis import Axis
from anonloom.data.cells import moment_texts
from anonloom.data.release import Release

_QUOTE = '"'
#: Rows that are joined to text at a time: bounds memory.
_CHUNK = 200_000


def write_csv(frame: pd.DataFrame, path: Path, times: Collection[str] = ()) -> None:
    """Write comma-separated UTF-8 text; only cells that need quotes have them.

    Parameters
    ----------
    times
        Columns that are moments to the second; pandas' moments in others are days.
    """
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(",".join(_quoted(str(name)) for name in frame.columns) + "\n")
        for start in range(0, len(frame), _CHUNK):
            part = frame.iloc[start : start + _CHUNK]
            texts = [_texts(part[name], "s" if name in times else "D") for name in part.columns]
            lines = pc.binary_join_element_wise(*texts, ",")
            file.write("\n".join(lines.to_pylist()) + "\n")


def _quoted(text: str) -> str:
    """Quote a cell if it holds a separator, a quote or a line end, or is empty text."""
    needs = text == "" or any(character in text for character in ',"\r\n')
    return _QUOTE + text.replace(_QUOTE, _QUOTE * 2) + _QUOTE if needs else text


def _texts(column: Any, unit: Literal["D", "s"]) -> pa.Array:
    """Return the cells as text ready for a line, moments in the unit given; missing is empty."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        codes, values = column.cat.codes.to_numpy(), column.cat.categories
    else:
        # Distinct values are few beside the rows, or at worst as many.
        codes, values = pd.factorize(column)
    if pd.api.types.is_datetime64_any_dtype(values.dtype):
        local = pd.DatetimeIndex(values).tz_localize(None)
        values = moment_texts(local.to_numpy("datetime64[s]"), unit)
    written = pa.array([*(_quoted(_text(value)) for value in values), ""], pa.string())
    at = np.where(codes < 0, len(values), codes)
    return written.take(pa.array(at))


def _text(value: Any) -> str:
    return repr(float(value)) if isinstance(value, float) else str(value)


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
    array = pa.Array.from_pandas(column)
    if not pa.types.is_timestamp(array.type):
        return array
    return array.cast(pa.timestamp("s") if time else pa.date32())


def _bounds(column: Any, axis: Axis) -> tuple[pa.Array, pa.Array]:
    """Ends of every published interval; both missing where the cell is `*` or missing.

    A node has no ends that are public: the values that occur under it are not.
    """
    ends = np.full((len(column.cat.categories) + 1, 2), np.nan)
    for at, cell in enumerate(column.cat.categories):
        cover = axis.read(str(cell))
        if cover is None or cover.star:
            continue
        if cover.ends is not None:
            ends[at] = cover.ends
        elif cover.form != "nodes" and len(cover):
            ends[at] = axis.places[[cover.first, cover.last]]
    rows = ends[column.cat.codes.to_numpy()]
    lo, hi = (pa.array(rows[:, side], pa.float64(), from_pandas=True) for side in (0, 1))
    if axis.type == "date":
        lo, hi = (end.cast(pa.int32()).cast(pa.date32()) for end in (lo, hi))
    elif axis.type == "time":
        lo, hi = (end.cast(pa.int64()).cast(pa.timestamp("s")) for end in (lo, hi))
    return lo, hi
