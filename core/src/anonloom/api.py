"""All that a plugin's hook module imports: the hook marker and two descriptors.

A descriptor names its class by a text, ``package.module:Class``, and never imports it:
listing plugins must cost no numpy.
"""

import re

import attrs
import pluggy

#: The plugin contract that this core speaks. It rises only when a hook or a base class
#: changes in a way that breaks plugins.
API_VERSION = 1

#: What a column of a table can be.
ROLES = ("identifier", "quasi", "sensitive", "label", "other", "person", "group", "truth")

hookspec = pluggy.HookspecMarker("anonloom")
hookimpl = pluggy.HookimplMarker("anonloom")

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_TARGET = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")


def _name(_: object, attribute: "attrs.Attribute[str]", value: object) -> None:
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise ValueError(
            f"{attribute.name} must be lower-case words joined by '-'. Got {value!r} instead."
        )


def _target(_: object, attribute: "attrs.Attribute[str]", value: object) -> None:
    if not isinstance(value, str) or not _TARGET.fullmatch(value):
        raise ValueError(
            f"{attribute.name} must read 'package.module:Name'. Got {value!r} instead."
        )


def _summary(_: object, attribute: "attrs.Attribute[str]", value: object) -> None:
    if not isinstance(value, str) or not value.strip() or "\n" in value:
        raise ValueError(f"{attribute.name} must be one line of text. Got {value!r} instead.")


def _roles(_: object, attribute: "attrs.Attribute[frozenset[str]]", value: frozenset[str]) -> None:
    unknown = sorted(value - set(ROLES))
    if unknown:
        raise ValueError(
            f"{attribute.name} must hold roles ({', '.join(ROLES)}). "
            f"Got {', '.join(map(repr, unknown))} instead."
        )


def _role_set(value: object) -> frozenset[str]:
    # A bare text is iterable too: 'quasi' would become five one-letter roles.
    return frozenset([value] if isinstance(value, str) else value)  # type: ignore[call-overload, no-any-return]  # whatever a plugin passes; the validator judges it


@attrs.frozen(kw_only=True)
class Method:
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

    name: str = attrs.field(validator=_name)
    target: str = attrs.field(validator=_target)
    summary: str = attrs.field(validator=_summary)
    paper: str = ""
    reads: frozenset[str] = attrs.field(
        default=frozenset({"quasi"}), converter=_role_set, validator=_roles
    )


@attrs.frozen(kw_only=True)
class Command:
    """A command that a plugin adds to ``anonloom``.

    Parameters
    ----------
    name : str
        The word that follows ``anonloom``.
    target : str
        A module of the form of core's own commands, with ``configure(parser)`` and
        ``execute(arguments) -> int``: its dotted name, such as ``anonloom_x.commands.serve``.
    summary : str
        One line for ``--help``.
    """

    name: str = attrs.field(validator=_name)
    target: str = attrs.field()
    summary: str = attrs.field(validator=_summary)

    @target.validator
    def _check_target(self, attribute: "attrs.Attribute[str]", value: object) -> None:
        parts = value.split(".") if isinstance(value, str) else [""]
        if not all(part.isidentifier() for part in parts):
            raise ValueError(
                f"{attribute.name} must be the dotted name of a module. Got {value!r} instead."
            )
