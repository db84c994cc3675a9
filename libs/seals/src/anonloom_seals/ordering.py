"""In which order rows stand: the ends of a published cell, and rows sorted by one of them.

A cell of a number, a date or a time may be a single value, an interval, a set or `*`: it has a low
and a high end, and rows are sorted by each. A category is its own text, whatever it stands for.
"""

from datetime import date, datetime
from decimal import Decimal
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from anonloom.cells import read_interval, read_set
from anonloom.data import Type
from anonloom.errors import UsageError
from anonloom.hierarchies import STAR
from anonloom_seals.encoding import Cell, EncodedColumn, decode_cell, encode_cell

End = Literal["low", "high"]

#: A place in the order: below all values, a value, above all values, missing.
Key = tuple[int, Any]
BELOW: Key = (0, 0)
ABOVE: Key = (2, 0)
_MISSING: Key = (3, 0)

#: How two values of a type are compared.
COLLATIONS: dict[Type | None, str] = {
    "category": "code points",
    "number": "numeric",
    "date": "time",
    "time": "time",
}


def ends(cell: Cell, kind: Type) -> tuple[Key, Key] | None:
    """Return the ends of a cell, or None when a reader of the release cannot know them.

    A missing cell lies in no range, `*` in every one.
    """
    if cell is None:
        return _MISSING, _MISSING
    if kind == "category" or not isinstance(cell, str):
        return (1, cell), (1, cell)
    if cell == STAR:
        return BELOW, ABOVE
    interval = read_interval(cell)
    texts = (interval.lo, interval.hi) if interval and interval.closed else read_set(cell)
    values = [_value(text, kind) for text in texts or ()]
    if not values or None in values:
        return None
    return (1, min(values)), (1, max(values))


def _value(text: str, kind: Type) -> Any:
    """Read a single value of a number, a date or a time; None when it is none."""
    value = decode_cell(encode_cell(text, kind), kind)
    return value if isinstance(value, Decimal | date | datetime) else None


def read_bound(text: str | None, kind: Type, missing: Key) -> Key:
    """Read the bound of a range.

    Parameters
    ----------
    missing
        What it is when there is none.

    Raises
    ------
    UsageError
        When the text is no value of this type.
    """
    if text is None:
        return missing
    try:
        cell = decode_cell(encode_cell(text, kind), kind)
    except UnicodeEncodeError:
        raise UsageError(f"the bound {text!r} is no text") from None
    value = cell if kind == "category" or not isinstance(cell, str) else None
    if value is None:
        raise UsageError(f"the bound {text!r} is no {kind}", hint=_EXAMPLES[kind])
    return 1, value


_EXAMPLES: dict[Type, str] = {
    "number": "Write it as 30 or 1.5.",
    "date": "Write it as 2026-01-31.",
    "time": "Write it as '2026-01-31 14:05:00'.",
}


def sorted_rows(column: EncodedColumn, kind: Type) -> dict[End, NDArray[np.int64]] | None:
    """Return the rows in ascending order of their low ends, and of their high ends if those differ.

    Rows with equal ends keep the order of the file; missing cells come last. None when a cell has
    ends that nobody can tell from it, such as the name of a group.
    """
    cells = column.values()
    # Cells that no row has say nothing: a Parquet file may list them, a CSV file cannot.
    occurring, codes = np.unique(column.codes, return_inverse=True)
    results = [ends(cells[code], kind) for code in occurring.tolist()]
    pairs = [pair for pair in results if pair is not None]
    if len(pairs) < len(results):
        return None
    orders: dict[End, NDArray[np.int64]] = {"low": _order(codes, [low for low, _ in pairs])}
    if any(low != high for low, high in pairs):
        orders["high"] = _order(codes, [high for _, high in pairs])
    return orders


def _order(codes: NDArray[np.int64], keys: list[Key]) -> NDArray[np.int64]:
    if not keys:
        return np.zeros(0, np.int64)
    return np.argsort(_ranks(keys)[codes], kind="stable")


def _ranks(keys: list[Key]) -> NDArray[np.int64]:
    """Return the place of every key among the distinct ones; equal keys share one."""
    if all(isinstance(value, Decimal) for _, value in keys):
        # Floats are sorted all at once, and rightly so unless two numbers are the same float.
        rough, ranks = np.unique([float(value) for _, value in keys], return_inverse=True)
        if len(rough) == len(keys):
            return ranks
    places = {key: index for index, key in enumerate(sorted(set(keys)))}
    return np.array([places[key] for key in keys], np.int64)
