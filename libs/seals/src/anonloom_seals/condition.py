"""Conditions of range proofs: one attribute, and between which values it lies.

``age between 30 and 40``, ``age = 30``, ``age >= 30``, ``age <= 40``; bounds belong to the range. A
name or a value with a space in it stands in quotes: ``'home town' = "New York"``.
"""

import re

import attrs

from anonloom.errors import UsageError

__all__ = ["Condition"]

_QUOTED = r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\""
_WORD = rf"({_QUOTED}|[^\s'\"<>=]+)"
_BETWEEN = re.compile(rf"\s*{_WORD}\s+between\s+{_WORD}\s+and\s+{_WORD}\s*", re.IGNORECASE)
_COMPARED = re.compile(rf"\s*{_WORD}\s*(=|>=|<=)\s*{_WORD}\s*")

_FORMS = 'write "NAME between A and B", "NAME = A", "NAME >= A" or "NAME <= B"'


@attrs.frozen
class Condition:
    """That an attribute lies in a closed range; None where the range has no end.

    Attributes
    ----------
    low, high
        Texts, to be read by the attribute's type.
    """

    attribute: str
    low: str | None
    high: str | None

    @classmethod
    def read(cls, text: str) -> "Condition":
        """Read a condition.

        Raises
        ------
        UsageError
            When it is none.
        """
        if match := _BETWEEN.fullmatch(text):
            name, low, high = (_unquote(word) for word in match.groups())
            return cls(name, low, high)
        if match := _COMPARED.fullmatch(text):
            name, value = _unquote(match[1]), _unquote(match[3])
            return cls(
                name, None if match[2] == "<=" else value, None if match[2] == ">=" else value
            )
        if re.search(r"(?<![<>])[<>](?!=)|!=", text):
            raise UsageError(
                f"the condition {text!r} leaves its bound out; ranges are closed", hint=_FORMS
            )
        raise UsageError(f"the condition {text!r} cannot be read", hint=_FORMS)

    def __str__(self) -> str:
        """Write the condition as it is read."""
        name = _quote(self.attribute)
        if self.low is not None and self.low == self.high:
            return f"{name} = {_quote(self.low)}"
        if self.low is not None and self.high is not None:
            return f"{name} between {_quote(self.low)} and {_quote(self.high)}"
        if self.low is not None:
            return f"{name} >= {_quote(self.low)}"
        return f"{name} <= {_quote(self.high or '')}"


def _unquote(word: str) -> str:
    mark = word[0]
    return word[1:-1].replace(mark * 2, mark) if mark in "'\"" else word


def _quote(text: str) -> str:
    if re.fullmatch(r"[^\s'\"<>=]+", text):
        return text
    return "'" + text.replace("'", "''") + "'"
