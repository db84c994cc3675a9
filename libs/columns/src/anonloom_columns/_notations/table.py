"""Generalized cells as other tools write them, read as statements about values of the original.

A reading is never invented. The original's own values, the nodes of the declared hierarchy and our
own forms come first (`Axis.read`). What remains is read where it can mean one thing only: members
of a set must be values of the original, or numbers, and a text with two readings has none.

`docs/notations.md` lists what is read, tool by tool; a test reads every example of that page.
"""

from collections.abc import Callable
from typing import NamedTuple

from anonloom_columns._notations import masks, members, spans
from anonloom_columns._notations.statements import (
    Anything,
    Masked,
    Members,
    Missing,
    Span,
    Statement,
    Vocabulary,
)

__all__ = [
    "NOTATIONS",
    "NO_VALUE",
    "Anything",
    "Masked",
    "Members",
    "Missing",
    "Notation",
    "Span",
    "Statement",
    "Vocabulary",
    "read_notation",
    "read_span",
]

#: No number, moment or period is so long; what a hostile cell holds is not searched.
_LONGEST_SPAN = 100

#: What tools write where there is no value; a category may be called so.
NO_VALUE = frozenset({"NA", "<NA>", "NULL", "null", "(null)", "NaN", "nan", "None"})


def _read_missing(text: str, _: Vocabulary) -> Missing | None:
    return Missing() if text in NO_VALUE else None


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
    Notation("stars alone", "ARX, Amnesia", masks.read_stars),
    Notation(
        "interval", "pandas, R, sdcMicro, ARX, PostgreSQL Anonymizer", _on_line(spans.read_brackets)
    ),
    Notation("range", "Amnesia, anonypy, by hand", _on_line(spans.read_range)),
    Notation("top code", "ARX, by hand", _on_line(spans.read_above)),
    Notation("bottom code", "ARX, by hand", _on_line(spans.read_below)),
    Notation("period", "ARX, Amnesia, by hand", _on_line(spans.read_period)),
    Notation("quoted list", "Python, pandas, JSON", members.read_quoted),
    Notation("set in braces", "ARX", members.read_braces),
    Notation("list of numbers", "Python, numpy, JSON", members.read_numbers),
    Notation("joined values", "anonypy, sdcMicro, by hand", members.read_joined),
    Notation("mask", "ARX, Amnesia, by hand", masks.read_mask),
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
