"""The published forms of a cell: a value, an interval, a node, a set, `*`; written and read.

A raw value must never look like one of these forms, otherwise a reader of the release could not
tell a person's value from a generalized one; `reads_like_a_form` is that test.
"""

import json
import math
import re
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Ends",
    "MOMENTS",
    "STAR",
    "cell_text",
    "date_text",
    "interval_text",
    "moment_texts",
    "number_text",
    "place",
    "read_interval",
    "read_set",
    "reads_like_a_form",
    "set_text",
    "time_text",
]

#: The root of every hierarchy, and what a suppressed row shows.
STAR = "*"

#: What a moment is counted in, by the type of its column.
MOMENTS: dict[str, Literal["D", "s"]] = {"date": "D", "time": "s"}

_INTERVAL = re.compile(r"\[(?P<lo>[^\[\],]+), (?P<hi>[^\[\],]+)(?P<end>[\])\[])")
_NUMBER = re.compile(r"\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)
_DAY = re.compile(r"-?\d{4,}-\d\d-\d\d", re.ASCII)
_TIME = re.compile(r"-?\d{4,}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d)?", re.ASCII)
_PLACED = {"date": _DAY, "time": _TIME}
_SET = re.compile(r'\{".*"\}', re.S)


def number_text(value: float) -> str:
    """Write a number as a person would: integers without a point, others in shortest form."""
    value = float(value)
    # Up to here every integer is a float of its own.
    return str(int(value)) if value.is_integer() and abs(value) <= 2**53 else repr(value)


def cell_text(value: Any) -> str:
    """Write a raw cell, whatever its type; 1.0 is 1, as it was before a missing cell beside it."""
    return number_text(value) if isinstance(value, float) else str(value)


def date_text(value: np.datetime64) -> str:
    """Write a date in ISO form."""
    return str(np.datetime_as_string(value, unit="D"))


def time_text(value: np.datetime64) -> str:
    """Write a time as `2024-03-01 14:05:00`."""
    return str(np.datetime_as_string(value, unit="s")).replace("T", " ")


def moment_texts(values: NDArray[np.datetime64], unit: Literal["D", "s"]) -> list[str]:
    """Write many dates (unit D) or times (s) as `date_text` and `time_text` do."""
    return [str(text).replace("T", " ") for text in np.datetime_as_string(values, unit=unit)]


def interval_text(lo: str, hi: str) -> str:
    """Write a closed interval."""
    return f"[{lo}, {hi}]"


def set_text(members: Sequence[str]) -> str:
    """Write a set; members are quoted as in JSON, so that any text can be one."""
    return "{" + ", ".join(json.dumps(member, ensure_ascii=False) for member in members) + "}"


def place(text: str, type_: str) -> float | None:
    """Return the number that a text writes, or the day or the second since 1970; None for others.

    Parameters
    ----------
    type_
        That of a column of numbers, dates or times.
    """
    # Python reads 'nan' and '1_000', numpy reads a month as its first day, and 'today'.
    if not _PLACED.get(type_, _NUMBER).fullmatch(text):
        return None
    try:
        if type_ in MOMENTS:
            return float(np.datetime64(text, MOMENTS[type_]).astype(np.int64))
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


class Ends(NamedTuple):
    """Ends of an interval as they are written, and whether the last belongs to it."""

    lo: str
    hi: str
    closed: bool = True


def read_interval(cell: str) -> Ends | None:
    """Ends of an interval, or None when the cell is none.

    Ours are closed; other tools leave the last value out: `[20, 30)` and `[20, 30[`.
    """
    match = _INTERVAL.fullmatch(cell)
    return Ends(match["lo"], match["hi"], match["end"] == "]") if match else None


def read_set(cell: str) -> tuple[str, ...] | None:
    """Members of a set, or None when the cell is no set."""
    if not _SET.fullmatch(cell):
        return None
    try:
        members = json.loads("[" + cell[1:-1] + "]")
    except (ValueError, RecursionError):
        # A hostile cell may hold thousands of brackets.
        return None
    return tuple(members) if all(isinstance(member, str) for member in members) else None


def reads_like_a_form(text: str) -> bool:
    """Whether a raw value could be taken for a published form."""
    return text == STAR or bool(_INTERVAL.fullmatch(text)) or read_set(text) is not None
