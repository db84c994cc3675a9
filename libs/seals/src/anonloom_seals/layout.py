"""The columns whose cells make a row: names and types in their order, bound by one digest."""

import hashlib
import struct
import unicodedata
from collections.abc import Iterable
from typing import Any, get_args

import attrs

from anonloom.data import Type

__all__ = ["Layout"]

TYPES: tuple[Type, ...] = get_args(Type)

_DOMAIN = b"anonloom columns 1\0"


def _normal(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(unicodedata.normalize("NFC", name) for name in names)


@attrs.frozen
class Layout:
    """Names and types of the columns of a release.

    Attributes
    ----------
    names
        In the order of the columns, in Unicode's normal form C; each once.
    types
        What the columns hold, in the same order.

    Raises
    ------
    ValueError
        When there are no columns, or two of one name.
    """

    names: tuple[str, ...] = attrs.field(converter=_normal)
    types: tuple[Type, ...]

    def __attrs_post_init__(self) -> None:
        """Refuse what could be read in two ways."""
        if not self.names:
            raise ValueError("there are no columns")
        if len(set(self.names)) < len(self.names):
            repeated = next(name for name in self.names if self.names.count(name) > 1)
            raise ValueError(f"more than one column is named '{repeated}'")
        if len(self.types) != len(self.names) or not set(self.types) <= set(TYPES):
            raise ValueError("the columns do not have one known type each")

    def type_of(self, name: str) -> Type:
        """Return the type of a column.

        Raises
        ------
        KeyError
            When there is none of this name.
        """
        if name not in self.names:
            raise KeyError(name)
        return self.types[self.names.index(name)]

    def plain_values(self) -> list[list[str]]:
        """Return the columns as plain values: name and type of each."""
        return [list(pair) for pair in zip(self.names, self.types, strict=True)]

    @classmethod
    def read(cls, content: Any) -> "Layout":
        """Read what `described` returned.

        Raises
        ------
        ValueError
            Saying what is wrong with it.
        """
        if not isinstance(content, list) or not all(
            isinstance(pair, list) and len(pair) == 2 and all(isinstance(x, str) for x in pair)
            for pair in content
        ):
            raise ValueError("its columns are no list of names and types")
        layout = cls(tuple(name for name, _ in content), tuple(kind for _, kind in content))
        if list(layout.names) != [name for name, _ in content]:
            raise ValueError("the name of a column is not in normal form C")
        return layout

    def to_bytes(self) -> bytes:
        """Return the bytes that are hashed: no other columns have the same."""
        parts = [_DOMAIN, struct.pack(">I", len(self.names))]
        for pair in zip(self.names, self.types, strict=True):
            for text in pair:
                data = text.encode()
                parts += [struct.pack(">I", len(data)), data]
        return b"".join(parts)

    @property
    def digest(self) -> str:
        """SHA-256 of `encoded`, in hexadecimal digits."""
        return hashlib.sha256(self.to_bytes()).hexdigest()
