"""Stretches of a line: intervals, ranges, top and bottom codes, periods of a calendar."""

import re
from typing import Any

import numpy as np

from anonloom.cells import MOMENTS, place
from anonloom_columns._notations.statements import INFINITY, Span

_NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
# Other dashes than the hyphen, which people's editors make of it.
_BETWEEN = r" ?(?:-|\u2010|\u2011|\u2012|\u2013|\u2014|~|\.\.) ?| to "
_RANGE = re.compile(rf"(?P<lo>{_NUMBER})(?:{_BETWEEN})(?P<hi>{_NUMBER})", re.ASCII)
_BRACKETS = re.compile(
    r"(?P<open>[\[\](]) ?(?P<lo>[^\[\](){},;]*?) ?[,;] ?(?P<hi>[^\[\](){},;]*?) ?(?P<close>[\])\[])"
)
_NO_LO = re.compile(r"(?:-(?:inf|Inf|infinity|\u221e))?")
_NO_HI = re.compile(r"(?:\+?(?:inf|Inf|infinity|\u221e))?")
_ABOVE = re.compile(
    r"(?P<sign>>=|=>|\u2265|>|at least|over|above|more than) ?(?P<from>.+)"
    r"|(?P<and>.+?) ?(?:\+|(?:and|or) (?:over|above|more|older))"
)
_BELOW = re.compile(
    r"(?P<sign><=|=<|\u2264|<|at most|under|below|less than) ?(?P<to>.+)"
    r"|(?P<and>.+?) ?(?:and|or) (?:under|below|less|younger)"
)
_STRICT = frozenset({">", "<", "over", "above", "more than", "under", "below", "less than"})
_TENS = re.compile(r"(?P<ten>(?:\d\d)?[1-9]0)s", re.ASCII)
_PERIOD = re.compile(
    r"(?P<year>\d{4,})(?:(?P<decade>s)|-Q(?P<quarter>[1-4])"
    r"|-(?P<month>\d\d)(?:-(?P<day>\d\d)(?: (?P<hour>\d\d)(?:-(?P<until>\d\d))?h)?)?)?",
    re.ASCII,
)
_QUARTER = re.compile(r"Q([1-4]) (\d{4})", re.ASCII)
_PERIODS = re.compile(r"(?P<lo>.+?)(?: ?(?:~|\.\.|/|\u2013) ?| to | - )(?P<hi>.+)")
_YEARS = re.compile(r"(?P<lo>\d{4})-(?P<hi>\d{4})", re.ASCII)
_SLASHES = re.compile(r"((?:\d?\d/){1,2}\d{4})-((?:\d?\d/){1,2}\d{4})", re.ASCII)


def period(text: str, type_: str) -> Span | None:
    """Return the stretch of a calendar that a text names; its end no longer belongs to it.

    Parameters
    ----------
    text
        A decade `1990s`, a year `1990`, `1990-Q2` or `Q2 1990`, a month `1990-05`, a day, and of
        times hours `1990-05-07 14h`, `1990-05-07 06-12h`.
    """
    unit = MOMENTS[type_]
    text = _QUARTER.sub(r"\2-Q\1", text)
    match = _PERIOD.fullmatch(text)
    try:
        if match is None:
            return None
        first, length = _first_and_length(match)
    except ValueError:
        return None
    return Span(_count(first, unit), _count(first + length, unit), with_hi=False)


def _first_and_length(match: re.Match[str]) -> tuple[np.datetime64, np.timedelta64]:
    year = match["year"]
    if match["hour"]:
        first = np.datetime64(f"{year}-{match['month']}-{match['day']}T{match['hour']}", "h")
        hours = int(match["until"]) - int(match["hour"]) if match["until"] else 1
        return first, np.timedelta64(hours, "h")
    if match["day"]:
        day = np.datetime64(f"{year}-{match['month']}-{match['day']}", "D")
        return day, np.timedelta64(1, "D")
    if match["month"]:
        return np.datetime64(f"{year}-{match['month']}", "M"), np.timedelta64(1, "M")
    if match["quarter"]:
        month = 3 * int(match["quarter"]) - 2
        return np.datetime64(f"{year}-{month:02}", "M"), np.timedelta64(3, "M")
    return np.datetime64(year, "Y"), np.timedelta64(10 if match["decade"] else 1, "Y")


def _count(moment: Any, unit: str) -> float:
    return float(moment.astype(f"datetime64[{unit}]").astype(np.int64))


def _bound(text: str, type_: str) -> Span | None:
    """Read what stands at one end: a number, a moment, or a whole period of a calendar."""
    single = place(text, type_)
    if single is not None:
        return Span(single, single)
    return None if type_ == "number" else period(text, type_)


def _join(
    lo: Span | None, hi: Span | None, with_lo: bool = True, with_hi: bool = True
) -> Span | None:
    """Return the stretch from one end to the other; None if an end is missing or they are turned.

    An excluded end excludes the whole of what is written there.
    """
    if lo is None or hi is None:
        return None
    span = Span(
        lo.lo if with_lo else lo.hi,
        hi.hi if with_hi else hi.lo,
        lo.with_lo if with_lo else not lo.with_hi,
        hi.with_hi if with_hi else False,
    )
    return span if span.first <= span.last else None


def _between(lo: str, hi: str, type_: str) -> Span | None:
    return _join(_bound(lo, type_), _bound(hi, type_))


def read_brackets(text: str, type_: str) -> Span | None:
    match = _BRACKETS.fullmatch(text)
    if match is None:
        inner = text[1:-1] if text[:1] == "[" and text[-1:] == "]" else ""
        return read_range(inner, type_)
    with_lo, with_hi = match["open"] == "[", match["close"] == "]"
    lo, hi = (match[side].strip("\"'") for side in ("lo", "hi"))
    no_lo, no_hi = bool(_NO_LO.fullmatch(lo)), bool(_NO_HI.fullmatch(hi))
    if no_lo and no_hi:
        return None
    if no_lo or no_hi:
        end = _bound(hi if no_lo else lo, type_)
        if end is None:
            return None
        below, above = Span(-INFINITY, -INFINITY), Span(INFINITY, INFINITY)
        ends = (below, end) if no_lo else (end, above)
        return _join(*ends, with_lo or no_lo, with_hi or no_hi)
    if match["open"] == "(" and match["close"] == ")":
        # A tuple of Python, whose ends belong to it, looks the same.
        return None
    return _join(_bound(lo, type_), _bound(hi, type_), with_lo, with_hi)


def read_range(text: str, type_: str) -> Span | None:
    if type_ == "number":
        match = _RANGE.fullmatch(text)
        return _between(match["lo"], match["hi"], type_) if match else None
    slashes = _SLASHES.fullmatch(text)
    if slashes is not None:
        return _read_slashes(slashes[1], slashes[2], type_)
    match = _YEARS.fullmatch(text) or _PERIODS.fullmatch(text)
    return _between(match["lo"], match["hi"], type_) if match else None


def _read_slashes(lo: str, hi: str, type_: str) -> Span | None:
    """Read months and days as Amnesia writes them, unless the month may stand first."""
    ends = [end.split("/") for end in (lo, hi)]
    results = set()
    for month_first in (False, True):
        first, last = (_iso_text(end, month_first) for end in ends)
        span = _between(first, last, type_)
        if span is not None:
            results.add(span)
    return results.pop() if len(results) == 1 else None


def _iso_text(parts: list[str], month_first: bool) -> str:
    *days, year = (part.zfill(2) for part in parts)
    return "-".join([year, *(days if month_first else days[::-1])])


def read_above(text: str, type_: str) -> Span | None:
    match = _ABOVE.fullmatch(text)
    if match is None:
        return None
    end = _bound(match["from"] or match["and"], type_)
    return _join(end, Span(INFINITY, INFINITY), with_lo=match["sign"] not in _STRICT)


def read_below(text: str, type_: str) -> Span | None:
    match = _BELOW.fullmatch(text)
    if match is None:
        return None
    end = _bound(match["to"] or match["and"], type_)
    return _join(Span(-INFINITY, -INFINITY), end, with_hi=match["sign"] not in _STRICT)


def read_period(text: str, type_: str) -> Span | None:
    if type_ != "number":
        return period(text, type_)
    match = _TENS.fullmatch(text)
    return Span(float(match["ten"]), float(match["ten"]) + 10, with_hi=False) if match else None
