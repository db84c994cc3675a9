"""All that a plugin's hook module imports: the hook marker and two descriptors.

A descriptor names its class by a text, ``package.module:Class``, and never imports it: listing
plugins must cost no numpy. The descriptors are tuples and not attrs classes for the same reason:
importing attrs takes four times as long as starting Python.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

import pluggy

#: The plugin contract that this core speaks. It rises only when a hook or a base class changes in
#: a way that breaks plugins.
API_VERSION = 1

#: What a column of a table can be.
ROLES = ("identifier", "quasi", "sensitive", "label", "other", "person", "group", "truth")

hookspec = pluggy.HookspecMarker("anonloom")
hookimpl = pluggy.HookimplMarker("anonloom")

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_MODULE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
_CLASS = re.compile(_MODULE.pattern + r":[A-Za-z_]\w*")


def _reads(pattern: re.Pattern[str], value: object) -> bool:
    return isinstance(value, str) and pattern.fullmatch(value) is not None


def _demand(holds: bool, what: str, words: str, value: object) -> None:
    if not holds:
        raise ValueError(f"{what} must {words}. Got {value!r} instead.")


def _check_name(value: object) -> None:
    _demand(_reads(_NAME, value), "name", "be lower-case words joined by '-'", value)


def _check_summary(value: object) -> None:
    fits = isinstance(value, str) and bool(value.strip()) and "\n" not in value
    _demand(fits, "summary", "be one line of text", value)


class _MethodFields(NamedTuple):
    name: str
    target: str
    summary: str
    paper: str
    reads: frozenset[str]


class Method(_MethodFields):
    """A method that a plugin offers, without its code.

    Parameters
    ----------
    name : str
        What a pipeline file calls it: lower-case words joined by ``-``.
    target : str
        Where its class is: ``package.module:Class``.
    summary : str
        One line for listings.
    paper : str
        The paper that it implements: authors, title, venue, year.
    reads : set of str
        The roles of the columns that it looks at. It is given a table that holds no others.
    """

    __slots__ = ()

    def __new__(
        cls,
        *,
        name: str,
        target: str,
        summary: str,
        paper: str = "",
        reads: Iterable[str] = ("quasi",),
    ) -> "Method":
        """Check and make the descriptor."""
        _check_name(name)
        _demand(_reads(_CLASS, target), "target", "read 'package.module:Class'", target)
        _check_summary(summary)
        # A bare text is iterable too: 'quasi' would become five one-letter roles.
        roles = frozenset([reads] if isinstance(reads, str) else reads)
        _demand(roles <= set(ROLES), "reads", f"hold roles ({', '.join(ROLES)})", reads)
        return super().__new__(cls, name, target, summary, paper, roles)

    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, object]]:
        return (), self._asdict()


class _CommandFields(NamedTuple):
    name: str
    target: str
    summary: str


class Command(_CommandFields):
    """A command that a plugin adds to ``anonloom``.

    Parameters
    ----------
    name : str
        The word that follows ``anonloom``.
    target : str
        The dotted name of a module of the form of core's own commands, with
        ``configure(parser)`` and ``execute(arguments) -> int``.
    summary : str
        One line for ``--help``.
    """

    __slots__ = ()

    def __new__(cls, *, name: str, target: str, summary: str) -> "Command":
        """Check and make the descriptor."""
        _check_name(name)
        _demand(_reads(_MODULE, target), "target", "be the dotted name of a module", target)
        _check_summary(summary)
        return super().__new__(cls, name, target, summary)

    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, object]]:
        return (), self._asdict()
