"""Tables of the reference pages: one way to show parameters, wherever they are declared."""

import json
from collections.abc import Callable, Iterable

from anonloom.params import ParameterDescription, describe

NOTE = "<!-- Written by tools/make_reference.py from the code. Do not edit it here. -->"


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    """Return the lines of a Markdown table."""
    lines = [head, ("---",) * len(head), *rows]
    return [
        f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines
    ]


def parameters(
    cls: type,
    name_of: Callable[[type], str] | None = None,
    *,
    without: tuple[str, ...] = (),
    head: str = "parameter",
) -> list[str]:
    """Return a table of the parameters that a class declares."""
    declared = [each for each in describe(cls, name_of) if each.name not in without]
    rows = [_row(below) for each in declared for below in each.with_members()]
    return table((head, "must be", "default", "what it is for"), rows)


def _row(parameter: ParameterDescription) -> tuple[str, ...]:
    default = "required" if parameter.required else f"`{written(parameter.default)}`"
    note = " Private: not in messages, reports or manifests." if parameter.private else ""
    # Only files have a hierarchy's two forms; the annotation names the class that both become.
    words = parameter.words.replace("a HierarchySource", "a path, a mapping with `build`,")
    return f"`{parameter.name}`", words, default, parameter.help + note


def written(value: object) -> str:
    """Return a plain value as YAML in one line."""
    return value if isinstance(value, str) and value.isalpha() else json.dumps(value)
