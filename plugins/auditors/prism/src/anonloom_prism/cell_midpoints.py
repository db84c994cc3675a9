"""Where a published number or date lies: the middle of what its cell covers."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from anonloom.cells import place, read_interval, read_set
from anonloom.hierarchies import STAR
from anonloom.typing import FloatArray
from anonloom_columns import NO_VALUE, read_span


def places(series: Any, type_: str) -> FloatArray | None:
    """Return the middle of every cell, NaN for missing and `*`; None when some are names.

    Parameters
    ----------
    series
        Numbers, dates, or cells as a release writes them.
    type_
        Declared type of the column: number, date or time.
    """
    if pd.api.types.is_datetime64_any_dtype(series.dtype):
        return _seconds(series)
    if pd.api.types.is_numeric_dtype(series.dtype) and series.dtype.kind != "c":
        return np.asarray(series.to_numpy(dtype=float, na_value=np.nan), np.float64)
    codes, cells = pd.factorize(series)
    read = [_middle(str(cell), type_) for cell in cells]
    if any(place is None for place in read):
        return None
    middles: FloatArray = np.array([*read, np.nan], np.float64)[codes]
    return middles


def _seconds(series: Any) -> FloatArray:
    moments = series.to_numpy().astype("datetime64[s]")
    seconds = moments.astype(np.int64).astype(np.float64)
    seconds[np.isnat(moments)] = np.nan
    return np.asarray(seconds, np.float64)


def _middle(cell: str, type_: str) -> float | None:
    """Return the middle of one cell; None when it is the name of a node.

    Of what has one end only, that end: a reader of the release knows no other.
    """
    if cell == STAR:
        return float("nan")
    ends = read_interval(cell)
    members: Sequence[str] | None = (ends.lo, ends.hi) if ends else read_set(cell)
    numbers = [_number(text, type_) for text in members or (cell,)]
    if None not in numbers:
        return sum(number for number in numbers if number is not None) / len(numbers)
    if cell in NO_VALUE:
        return float("nan")
    span = read_span(cell, type_)
    bounds = [end for end in (span.lo, span.hi) if np.isfinite(end)] if span else []
    # Places of dates are days.
    scale = 86_400.0 if type_ == "date" else 1.0
    return scale * sum(bounds) / len(bounds) if bounds else None


def _number(text: str, type_: str) -> float | None:
    if type_ == "number":
        return place(text, type_)
    try:
        return float(np.datetime64(text.replace(" ", "T"), "s").astype(np.int64))
    except ValueError:
        return None
