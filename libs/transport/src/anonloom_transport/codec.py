"""Packing: several byte strings in one, so that no two packings read alike."""

from collections.abc import Iterable
from itertools import pairwise

_LENGTH = 8


def packed_size(*sizes: int) -> int:
    """Return the bytes of parts of these sizes when they are packed."""
    return sum(sizes) + _LENGTH * len(sizes)


def pack(*parts: bytes) -> bytes:
    """Return the parts, each after its length."""
    return b"".join(len(part).to_bytes(_LENGTH, "big") + part for part in parts)


def unpack(data: bytes, most: int | None = None) -> list[bytes]:
    """Return the parts.

    Parameters
    ----------
    most
        How many parts there can be, where the data come from somebody else: a megabyte of zeros is
        more than a hundred thousand empty ones.

    Raises
    ------
    ValueError
        When nobody packed that, or there are more parts.
    """
    parts: list[bytes] = []
    index = 0
    while index < len(data):
        if len(parts) == most:
            raise ValueError("there are more parts than there can be")
        end = index + _LENGTH + int.from_bytes(data[index : index + _LENGTH], "big")
        if end > len(data) or index + _LENGTH > len(data):
            raise ValueError("the parts are longer than the whole")
        parts.append(data[index + _LENGTH : end])
        index = end
    return parts


def cut(data: bytes, width: int) -> list[bytes]:
    """Return pieces of one width.

    Raises
    ------
    ValueError
        When they do not come out even.
    """
    if len(data) % width:
        raise ValueError("the pieces do not come out even")
    return [data[index : index + width] for index in range(0, len(data), width)]


def is_ascending(pieces: Iterable[bytes]) -> bool:
    """Whether each piece is greater than the one before it."""
    return all(item < other for item, other in pairwise(pieces))
