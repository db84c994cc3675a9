"""What can go wrong, and the one form in which it is said.

Every message of Anonloom has the same shape::

    file:line:column: path: what is wrong
        the line of the file
            ^
        a hint: did you mean ..., what is installed, what the parameter is for

Messages may hold parameter values, names and counts, never a cell of a table.
"""

import re
from collections.abc import Iterable
from typing import ClassVar, NamedTuple

from anonloom._spelling import comma_list, did_you_mean, on_one_line

__all__ = [
    "AnonloomError",
    "DataError",
    "FaultyPluginError",
    "IntegrityError",
    "ParameterError",
    "Place",
    "PluginError",
    "PrivacyError",
    "Problem",
    "SpecError",
    "TransportError",
    "UsageError",
    "comma_list",
    "did_you_mean",
    "on_one_line",
]

# What stands before the host in a URL: a user's name and a password.
_PASSWORD = re.compile(r"(?<=://)[^\s\"']{0,500}(?=@)")

# A longer line is cut around the column: a pipeline written on one line stays readable.
_WIDEST_LINE = 100


class Place(NamedTuple):
    """A position in a file.

    Parameters
    ----------
    file : str
        The file as the user named it.
    line, column : int
        Counted from one.
    source_line : str
        The text of that line; empty if it is not to be shown.
    """

    file: str
    line: int
    column: int
    source_line: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"

    def __repr__(self) -> str:
        # Without the line: it may be the one with the seed.
        return f"Place({str(self)!r})"

    def picture(self) -> str:
        """Return the source line with a caret below the column, or an empty text."""
        if not self.source_line.strip():
            return ""
        # A mistake beside a database's URL must not put its password on a screen or into a log.
        line = _PASSWORD.sub(lambda found: "*" * len(found[0]), self.source_line)
        # A tab or a control character would move the caret away from its column.
        line = "".join(c if c.isprintable() else " " for c in line).rstrip()
        column = min(self.column - 1, len(line))
        if len(line) > _WIDEST_LINE:
            start = max(0, min(column - _WIDEST_LINE // 2, len(line) - _WIDEST_LINE))
            line, column = line[start : start + _WIDEST_LINE], column - start
        margin = len(line) - len(line.lstrip())
        # Only the margin that lies left of the caret can go.
        margin = min(margin, column)
        return f"{line[margin:]}\n{' ' * (column - margin)}^"


class Problem(NamedTuple):
    """One thing that is wrong, with its place and a hint.

    Parameters
    ----------
    what : str
        What is wrong, as a sentence without a final full stop.
    path : str
        The path in the document, such as ``stages[0].with.k``.
    place : Place or None
        Where it is written.
    hint : str
        What would help; may have several lines.
    """

    what: str
    path: str = ""
    place: Place | None = None
    hint: str = ""

    def __str__(self) -> str:
        head = ": ".join(str(part) for part in (self.place, self.path, self.what) if part)
        picture = self.place.picture() if self.place else ""
        return "\n".join([head, *_indent(picture), *_indent(self.hint)])


def _indent(text: str) -> Iterable[str]:
    return (f"    {line}" for line in text.splitlines())


class AnonloomError(Exception):
    """Anything that Anonloom refuses to do, with a message for the user.

    Parameters
    ----------
    what : str
        What is wrong.
    hint : str
        What would help; printed on lines of its own.
    """

    #: What the command line returns when this error ends it.
    exit_code: ClassVar[int] = 1

    def __init__(self, what: str, *, hint: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.hint = hint

    def __str__(self) -> str:
        return "\n".join([self.what, *_indent(self.hint)])

    def __reduce__(self) -> tuple[object, ...]:
        # Errors cross process borders when a grid runs in parallel; the default
        # reduction forgets keyword arguments.
        return (_restore, (type(self), self.args, self.__dict__.copy()))


def _restore(
    kind: type[AnonloomError], args: tuple[object, ...], state: dict[str, object]
) -> AnonloomError:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(state)
    return error


class UsageError(AnonloomError):
    """A command or a function was called in a way that it does not offer."""

    exit_code = 2


class ParameterError(UsageError, ValueError):
    """A method was given a parameter that it does not take."""


class PluginError(AnonloomError):
    """A plugin or a method is missing, broken, ambiguous or of the wrong kind."""

    exit_code = 2


class FaultyPluginError(PluginError):
    """Plugin code ended as no code of a plugin may: by ``SystemExit``, for instance.

    A bug of that plugin, whatever it was asked: nobody who can do without a method that is missing
    goes on past this.
    """

    exit_code = 1


class SpecError(AnonloomError):
    """A pipeline file is wrong; holds all of its problems.

    Parameters
    ----------
    problems : iterable of Problem
        At least one; shown in the order of their places.
    """

    exit_code = 2

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(sorted(dict.fromkeys(problems), key=_position))
        super().__init__("\n\n".join(str(problem) for problem in self.problems))

    def __str__(self) -> str:
        return self.what


def _position(problem: Problem) -> tuple[str, int, int]:
    # Problems without a place concern the whole file and come first.
    return problem.place[:3] if problem.place else ("", 0, 0)


class PrivacyError(AnonloomError):
    """A release would break its own promise: privacy, suppression or ``fail_if``."""

    exit_code = 3


class DataError(AnonloomError):
    """The data cannot be used as they are."""

    exit_code = 4


class IntegrityError(AnonloomError):
    """A seal, a proof or a digest does not fit what it is said to cover."""

    exit_code = 5


class TransportError(AnonloomError):
    """A message could not be carried with the guarantees that were asked for."""

    exit_code = 5
