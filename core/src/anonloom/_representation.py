"""Short representations that give nothing away.

What Python shows of an object ends in notebooks, tracebacks and logs. An object that holds a table
says what it is and how much of it there is, never what is in it. Seeds, keys and salts are not
shown at all: their fields say ``repr=False``.

Nothing heavy is imported here: parameters are declared with it, and plugins are listed by it.
"""

from collections.abc import Sized
from pathlib import PurePath
from typing import TypeVar

import attrs

#: Characters of one value, and of all of them.
_OF_A_VALUE, _OF_AN_OBJECT = 80, 600

C = TypeVar("C", bound=type)


def short_repr(cls: C) -> C:
    """Give a class of attrs a representation that is short whatever its fields hold.

    Fields that say ``repr=False`` are left out, as ever.

    Examples
    --------
    ::

        @short_repr
        @attrs.frozen
        class Answers:
            rows: pd.DataFrame
    """

    def represent(self: object) -> str:
        parts = [f"len={len(self)}"] if isinstance(self, Sized) else []
        parts += [
            f"{field.name.lstrip('_')}={brief(getattr(self, field.name, None))}"
            for field in attrs.fields(type(self))  # type: ignore[arg-type]  # it decorates such classes
            if field.repr
        ]
        return _cut(f"{type(self).__name__}({', '.join(parts)})", _OF_AN_OBJECT)

    cls.__repr__ = represent  # type: ignore[assignment]  # a class of its own is not made for it
    return cls


def brief(value: object) -> str:
    """Say what a value is: itself if it is one figure or a short text, else its kind and size."""
    if value is None or isinstance(value, bool | int | float):
        return repr(value)
    if isinstance(value, str | PurePath):
        return _cut(repr(str(value)), _OF_A_VALUE)
    name = type(value).__name__
    if isinstance(value, bytes | bytearray):
        return f"<{len(value)} bytes>"
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple):
        return f"<{name} of {' x '.join(str(size) for size in shape) or 'one'}>"
    return f"<{name} of {len(value)}>" if isinstance(value, Sized) else f"<{name}>"


def of_parameter(value: object) -> str:
    """Show a parameter: as it is where that is short, else what it is."""
    shown = repr(value)
    return shown if len(shown) <= _OF_A_VALUE else brief(value)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 2]}…{text[-1]}"
