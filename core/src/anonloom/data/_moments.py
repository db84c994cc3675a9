"""Which texts are dates or times: those that have the column's format, and no others.

pandas reads more than a format says: `now` and `today` in any of them, years before the first, and
offsets of 99 hours. So a text is held against the format before anything reads it.
"""

import re
from datetime import datetime, timedelta
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from anonloom.data._schema import ISO
from anonloom.lazy import pa, pc, pd

#: The first and the last moment that can be written with four digits for the year.
FIRST = np.datetime64("0001-01-01T00:00:00", "s")
LAST = np.datetime64("9999-12-31T23:59:59", "s")

#: No clock was ever set further from Greenwich: Manila's, until 1844, to -15:56.
_FURTHEST = timedelta(hours=16)

# In Arrow's expressions, where \d is an ASCII digit.
_DAY = r"(?:\d{4}-\d{1,2}-\d{1,2}|\d{8})"
_CLOCK = r"\d{2}(?::?\d{2}(?::?\d{2}(?:\.\d+)?)?)?"
_OFFSET = r" ?(?:[Zz]|[+-](?:0\d|1[0-5])(?::?[0-5]\d)?)"
# A moment names its day; a date may be a month or a year, which begins with its first day.
_ISO_TIME = rf"{_DAY}(?:[T ]{_CLOCK}(?:{_OFFSET})?)?"
_ISO_DATE = rf"{_ISO_TIME}|\d{{4}}(?:-\d{{1,2}})?"
_CUT_OFFSET = rf"\A({_DAY}[T ]{_CLOCK}){_OFFSET}\z"

#: What each directive of strptime may stand for. Those of the locale's own forms (%c, %x, %X) and
#: the names of zones are left to strptime itself.
_DIRECTIVES = {
    **dict.fromkeys("mdHIMSUWVe", r"\d{1,2}"),
    **dict.fromkeys("YG", r"\d{4}"),
    **dict.fromkeys("uw", r"\d"),
    **dict.fromkeys("aAbBp", r"[\pL\pM.]+"),
    "y": r"\d{2}",
    "j": r"\d{1,3}",
    "f": r"\d{1,9}",
    "z": r"(?:Z|[+-]\d{2}:?[0-5]\d(?::?[0-5]\d(?:\.\d{1,6})?)?)",
    "%": "%",
}


def parse(texts: list[str], layout: str, type_: Literal["date", "time"]) -> NDArray[np.datetime64]:
    """Read texts that have a format; not-a-time for all others.

    An offset from Greenwich is forgotten: the day and the hour are those of the place where the
    event was.

    Parameters
    ----------
    layout
        A format of strptime, or ISO8601.
    """
    plain = pa.array(texts, pa.string())
    pattern = _pattern(layout, type_)
    if pattern is not None:
        fits = pc.match_substring_regex(plain, rf"\A(?:{pattern})\z")
        plain = pc.if_else(fits, plain, None)
    if pattern is None or "%z" in layout:
        read = [None if text is None else _local(text, layout) for text in plain.to_pylist()]
        result = np.array(read, "datetime64[s]")
    else:
        if layout == ISO:
            plain = pc.replace_substring_regex(plain, _CUT_OFFSET, r"\1")
        moments = pd.to_datetime(plain.to_pandas(), format=layout, errors="coerce")
        result = moments.to_numpy().astype("datetime64[s]")
    return np.where(outside(result), np.datetime64("NaT", "s"), result)


def outside(moments: NDArray[np.datetime64]) -> NDArray[np.bool_]:
    """Say which moments lie in a year before 1 or after 9999."""
    result: NDArray[np.bool_] = (moments < FIRST) | (moments > LAST)
    return result


def _pattern(layout: str, type_: Literal["date", "time"]) -> str | None:
    """Return what texts of a format look like; None where only strptime knows."""
    if layout == ISO:
        return _ISO_TIME if type_ == "time" else _ISO_DATE
    parts = []
    for directive, blank, other in re.findall(r"%(.)|(\s+)|([^%\s]+)", layout):
        if directive and directive not in _DIRECTIVES:
            return None
        parts.append(_DIRECTIVES[directive] if directive else r"\s+" if blank else re.escape(other))
    return "".join(parts)


def _local(text: str, form: str) -> datetime | None:
    """Read one text; None where it has another form or an offset that no clock has."""
    try:
        result = datetime.strptime(text, form)
    except ValueError:
        return None
    offset = result.utcoffset()
    if offset is not None and abs(offset) >= _FURTHEST:
        return None
    return result.replace(tzinfo=None)
