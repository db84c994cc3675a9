"""Generalized cells as other tools write them, read as statements about values of the original.

A reading is never invented. The original's own values, the nodes of the declared hierarchy and our
own forms come first (`Axis.read`). What remains is read where it can mean one thing only: members
of a set must be values of the original, or numbers, and a text with two readings has none.

`docs/notations.md` lists what is read, tool by tool; a test reads every example of that page.
"""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom._representation import short_repr
from anonloom.cells import MOMENTS, place

__all__ = [
    "Anything",
    "Masked",
    "Members",
    "Missing",
    "NOTATIONS",
    "Notation",
    "Span",
    "Statement",
    "Vocabulary",
    "period",
    "read_notation",
    "read_span",
]

_INFINITY = float("inf")

#: No number, moment or period is so long; what a hostile cell holds is not searched.
_LONGEST_SPAN = 100


class Span(NamedTuple):
    """A stretch of numbers, days or seconds; an end without a bound is infinite.

    Attributes
    ----------
    with_lo, with_hi
        Whether the ends belong to it.
    """

    lo: float
    hi: float
    with_lo: bool = True
    with_hi: bool = True

    @property
    def first(self) -> float:
        """First number in it: nothing that is written lies between an end and the next number."""
        return self.lo if self.with_lo else float(np.nextafter(self.lo, _INFINITY))

    @property
    def last(self) -> float:
        """Last number in it."""
        return self.hi if self.with_hi else float(np.nextafter(self.hi, -_INFINITY))


class Members(NamedTuple):
    """Values that are named one by one."""

    texts: tuple[str, ...]


class Masked(NamedTuple):
    """Values that look like a mask, by their places among the labels."""

    places: NDArray[np.int64]


class Missing(NamedTuple):
    """No value: there was none, or it was taken away."""


class Anything(NamedTuple):
    """Nothing is said."""


Statement = Span | Members | Masked | Missing | Anything


@short_repr
@attrs.frozen(eq=False)
class Vocabulary:
    """The values of a column, to which what is read must refer.

    Attributes
    ----------
    type
        category, number, date or time.
    labels
        The values as texts.
    """

    type: str
    labels: Sequence[str] = attrs.field(repr=False)
    _most: dict[str, int] = attrs.field(factory=dict, init=False, repr=False)

    @cached_property
    def known(self) -> frozenset[str]:
        """The values."""
        return frozenset(self.labels)

    @cached_property
    def letters(self) -> NDArray[np.str_]:
        """The values as an array of texts."""
        return np.array(self.labels, np.str_) if self.labels else np.empty(0, "U1")

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """The values' lengths."""
        return np.char.str_len(self.letters).astype(np.int64)

    def has(self, text: str) -> bool:
        """Whether a text can be a member of a set."""
        return text in self.known or (
            self.type != "category" and place(text, self.type) is not None
        )

    def most_separators(self, separator: str) -> int:
        """Count how often the separator stands in a single value, at most."""
        if separator not in self._most:
            self._most[separator] = max(
                (label.count(separator) for label in self.labels), default=0
            )
        return self._most[separator]


# --- a stretch of a line ------------------------------------------------------------------------

_NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
# Other dashes than the hyphen, which people's editors make of it.
_BETWEEN = r" ?(?:-|\u2010|\u2011|\u2012|\u2013|\u2014|~|\.\.) ?| to "
_RANGE = re.compile(rf"(?P<lo>{_NUMBER})(?:{_BETWEEN})(?P<hi>{_NUMBER})", re.ASCII)
_BRACKETS = re.compile(
    r"(?P<open>[\[\](]) ?(?P<lo>[^\[\](){},;]*?) ?[,;] ?(?P<hi>[^\[\](){},;]*?) ?(?P<close>[\])\[])"
)
_NO_BOUND = re.compile(r"[+-]?(?:inf|Inf|infinity|\u221e)")
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


def _read_brackets(text: str, type_: str) -> Span | None:
    match = _BRACKETS.fullmatch(text)
    if match is None:
        inner = text[1:-1] if text[:1] == "[" and text[-1:] == "]" else ""
        return _read_range(inner, type_)
    with_lo, with_hi = match["open"] == "[", match["close"] == "]"
    lo, hi = (match[side].strip("\"'") for side in ("lo", "hi"))
    no_lo, no_hi = (not end or bool(_NO_BOUND.fullmatch(end)) for end in (lo, hi))
    if (no_lo and lo[:1] == "+") or (no_hi and hi[:1] == "-") or (no_lo and no_hi):
        return None
    if no_lo or no_hi:
        end = _bound(hi if no_lo else lo, type_)
        if end is None:
            return None
        below, above = Span(-_INFINITY, -_INFINITY), Span(_INFINITY, _INFINITY)
        ends = (below, end) if no_lo else (end, above)
        return _join(*ends, with_lo or no_lo, with_hi or no_hi)
    if match["open"] == "(" and match["close"] == ")":
        # A tuple of Python, whose ends belong to it, looks the same.
        return None
    return _join(_bound(lo, type_), _bound(hi, type_), with_lo, with_hi)


def _read_range(text: str, type_: str) -> Span | None:
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


def _read_above(text: str, type_: str) -> Span | None:
    match = _ABOVE.fullmatch(text)
    if match is None:
        return None
    end = _bound(match["from"] or match["and"], type_)
    return _join(end, Span(_INFINITY, _INFINITY), with_lo=match["sign"] not in _STRICT)


def _read_below(text: str, type_: str) -> Span | None:
    match = _BELOW.fullmatch(text)
    if match is None:
        return None
    end = _bound(match["to"] or match["and"], type_)
    return _join(Span(-_INFINITY, -_INFINITY), end, with_hi=match["sign"] not in _STRICT)


def _read_period(text: str, type_: str) -> Span | None:
    if type_ != "number":
        return period(text, type_)
    match = _TENS.fullmatch(text)
    return Span(float(match["ten"]), float(match["ten"]) + 10, with_hi=False) if match else None


# --- values one by one --------------------------------------------------------------------------

_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"", re.S)
_AFTER_QUOTED = re.compile(r" ?[, ] ?")
_PAIRS = {"[": "]", "{": "}", "(": ")"}
_JOINTS = (", ", ",", "; ", ";", " | ", "|", "~", "_")


def _read_quoted(text: str, vocabulary: Vocabulary) -> Members | None:
    """Read a list, tuple, set or array of texts as Python or JSON prints it."""
    if _PAIRS.get(text[:1]) != text[-1:]:
        return None
    members, index, end = [], 1, len(text) - 1
    while index < end:
        quoted = _QUOTED.match(text, index, end)
        if quoted is None:
            return None
        members.append(_unquote(quoted[0]))
        index = quoted.end()
        comma = _AFTER_QUOTED.match(text, index, end)
        if comma is None and index < end:
            return None
        index = comma.end() if comma else index
    return _all_known(members, vocabulary)


def _unquote(text: str) -> str:
    if text[0] == '"':
        try:
            return str(json.loads(text))
        except ValueError:
            pass
    return re.sub(r"\\(.)", r"\1", text[1:-1], flags=re.S)


def _read_braces(text: str, vocabulary: Vocabulary) -> Members | None:
    if text[:1] != "{" or text[-1:] != "}":
        return None
    return _only_division(text[1:-1], (", ", ","), vocabulary, vocabulary.has, least=1)


def _read_numbers(text: str, vocabulary: Vocabulary) -> Members | None:
    """Read a list of numbers; two in brackets are the ends of an interval."""
    if vocabulary.type != "number" or (text[:1], text[-1:]) != ("[", "]"):
        return None
    members = re.split(r" ?, ?| ", text[1:-1])
    return None if len(members) == 2 else _all_known(members, vocabulary)


def _read_joined(text: str, vocabulary: Vocabulary) -> Members | None:
    """Read values of the original with a sign between them."""
    joints = [joint for joint in _JOINTS if joint in text]
    members = _only_division(text, joints, vocabulary, vocabulary.known.__contains__, least=2)
    if members is None or vocabulary.type == "category":
        return members
    return None if _may_be_other(text, members, vocabulary) else members


def _may_be_other(text: str, members: Members, vocabulary: Vocabulary) -> bool:
    """Whether two numbers with a sign between them may be something else than these two.

    One number with a comma for its point, or the ends of an interval that holds others.
    """
    if len(members.texts) > 2:
        return bool(re.fullmatch(r"\d{1,3}(,\d{3})+", text))
    ends = sorted(place(member, vocabulary.type) or 0.0 for member in members.texts)
    own = (place(label, vocabulary.type) or 0.0 for label in vocabulary.labels)
    comma = "," in text and ", " not in text
    return comma or ("_" in text and any(ends[0] < value < ends[-1] for value in own))


def _only_division(
    text: str,
    joints: Iterable[str],
    vocabulary: Vocabulary,
    has: Callable[[str], bool],
    least: int,
) -> Members | None:
    """Return the only way to divide a text into so many members or more; None if there are more."""
    ways: set[tuple[str, ...]] = set()
    for joint in joints:
        members = _division(text, joint, vocabulary.most_separators(joint) + 1, has)
        if members is None:
            return None
        if len(members) >= least:
            # A number is the same with a blank before it.
            ordered = vocabulary.type != "category"
            ways.add(tuple(map(str.strip, members)) if ordered else members)
    return Members(ways.pop()) if len(ways) == 1 else None


def _division(
    text: str, joint: str, longest: int, has: Callable[[str], bool]
) -> tuple[str, ...] | None:
    """Return the members between which a joint stands; nothing for no way, None for several.

    Parameters
    ----------
    longest
        A member may hold the joint itself, and then consists of so many pieces at most.
    """
    pieces = text.split(joint)
    # In how many ways the first so many pieces are members, and where the last member begins.
    ways, begins = [1], [0]
    for stop in range(1, len(pieces) + 1):
        starts = [
            start
            for start in range(max(stop - longest, 0), stop)
            if ways[start] and has(joint.join(pieces[start:stop]))
        ]
        ways.append(min(sum(ways[start] for start in starts), 2))
        begins.append(starts[0] if starts else 0)
    if ways[-1] != 1:
        return None if ways[-1] else ()
    members, stop = [], len(pieces)
    while stop:
        members.append(joint.join(pieces[begins[stop] : stop]))
        stop = begins[stop]
    return tuple(reversed(members))


def _all_known(members: Sequence[str], vocabulary: Vocabulary) -> Members | None:
    return Members(tuple(members)) if members and all(map(vocabulary.has, members)) else None


# --- masks --------------------------------------------------------------------------------------


def _read_stars(text: str, _: Vocabulary) -> Anything | None:
    return Anything() if text and not text.strip("*") else None


def _read_mask(text: str, vocabulary: Vocabulary) -> Masked | None:
    """Read a text in which stars stand for characters, or one star for the rest.

    Tools that mask bring all values to the length of the longest one, so that a shorter value may
    be meant where it would be followed, or preceded, by stars only.
    """
    longest = vocabulary.lengths.max(initial=0)
    if "*" not in text or len(text) > longest:
        return None
    fixed = _fitting(text, vocabulary)
    if text.find("*") == len(text) - 1 and len(text) < longest:
        rest = np.char.startswith(vocabulary.letters, text[:-1])
        if fixed.any() and (fixed != rest).any():
            return None
        fixed = rest
    return Masked(np.flatnonzero(fixed)) if fixed.any() else None


def _fitting(mask: str, vocabulary: Vocabulary) -> NDArray[np.bool_]:
    width = len(mask)
    result = vocabulary.lengths <= width
    short = vocabulary.letters[result].astype(f"U{width}")
    wanted = np.array([mask]).view(np.uint32)
    stars = wanted == ord("*")
    fits = np.zeros(len(short), bool)
    for align in (np.char.ljust, np.char.rjust):
        letters = align(short, width).astype(f"U{width}").view(np.uint32).reshape(-1, width)
        fits |= ((letters == wanted) | stars).all(axis=1)
    result[result] = fits
    return result


# --- all of them --------------------------------------------------------------------------------

_NO_VALUE = frozenset({"NA", "<NA>", "NULL", "null", "(null)", "NaN", "nan", "None"})


def _read_missing(text: str, _: Vocabulary) -> Missing | None:
    return Missing() if text in _NO_VALUE else None


def _on_line(read: Callable[[str, str], Span | None]) -> Callable[[str, Vocabulary], Span | None]:
    """Return a reader that knows of ordered columns only."""

    def read_ordered(text: str, vocabulary: Vocabulary) -> Span | None:
        fits = vocabulary.type != "category" and len(text) <= _LONGEST_SPAN
        return read(text, vocabulary.type) if fits else None

    return read_ordered


class Notation(NamedTuple):
    """One way to write a generalized cell.

    Attributes
    ----------
    name, tools
        What it is called, and who writes it.
    read
        Returns what a text states; None when it is not in this notation.
    """

    name: str
    tools: str
    read: Callable[[str, Vocabulary], Statement | None]


#: Every notation that is read; the first that reads a text decides.
NOTATIONS = (
    Notation("no value", "R, sdcMicro, ARX, Amnesia, pandas", _read_missing),
    Notation("stars alone", "ARX, Amnesia", _read_stars),
    Notation(
        "interval", "pandas, R, sdcMicro, ARX, PostgreSQL Anonymizer", _on_line(_read_brackets)
    ),
    Notation("range", "Amnesia, anonypy, by hand", _on_line(_read_range)),
    Notation("top code", "ARX, by hand", _on_line(_read_above)),
    Notation("bottom code", "ARX, by hand", _on_line(_read_below)),
    Notation("period", "ARX, Amnesia, by hand", _on_line(_read_period)),
    Notation("quoted list", "Python, pandas, JSON", _read_quoted),
    Notation("set in braces", "ARX", _read_braces),
    Notation("list of numbers", "Python, numpy, JSON", _read_numbers),
    Notation("joined values", "anonypy, sdcMicro, by hand", _read_joined),
    Notation("mask", "ARX, Amnesia, by hand", _read_mask),
)


def read_notation(text: str, vocabulary: Vocabulary) -> Statement | None:
    """Return what a cell states that is neither a value, nor a node, nor in a form of ours."""
    for notation in NOTATIONS:
        statement = notation.read(text, vocabulary)
        if statement is not None:
            return statement
    return None


def read_span(text: str, type_: str) -> Span | None:
    """Return the stretch that a cell of a column of numbers, dates or times names, if it does."""
    statement = read_notation(text, Vocabulary(type_, ()))
    return statement if isinstance(statement, Span) else None
