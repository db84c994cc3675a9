"""Files by their names, with hash and size: written as JSON, and read whoever wrote it."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import attrs

from anonloom.errors import IntegrityError

__all__ = ["Entry", "file_values", "is_hash", "read_entries", "read_json"]

# Python reads longer numbers slowly, and very long ones not at all.
_DIGITS = 1000

_HASH = re.compile(r"[0-9a-f]{64}")

Read = TypeVar("Read")


@attrs.frozen
class Entry:
    """What a file must be."""

    sha256: str
    size: int


def is_hash(value: object) -> bool:
    """Whether a value is a SHA-256 in hexadecimal digits, in its one spelling."""
    return isinstance(value, str) and bool(_HASH.fullmatch(value))


def file_values(files: Mapping[str, Entry]) -> dict[str, Any]:
    """Return a list of files as plain values, by name."""
    return {name: attrs.asdict(files[name]) for name in sorted(files)}


def read_entries(content: Any) -> dict[str, Entry]:
    """Read what `described` returned.

    Raises
    ------
    ValueError
        Saying what is wrong with it. A name that leads out of the folder is wrong, so that no list
        can make the reader look elsewhere.
    """
    if not isinstance(content, dict):
        raise ValueError("its files are no mapping")
    return {name: _entry(name, entry) for name, entry in content.items()}


def read_json(data: bytes, name: str, read: Callable[[Any], Read]) -> Read:
    """Read JSON that anybody may have written.

    Parameters
    ----------
    name
        What the file is called in messages.
    read
        Makes something of the content; says with a `ValueError` what is wrong with it.

    Raises
    ------
    IntegrityError
        Saying what is wrong.
    """
    try:
        return read(json.loads(data, object_pairs_hook=_once, parse_int=_whole))
    except (ValueError, RecursionError) as error:
        unreadable = isinstance(error, json.JSONDecodeError | UnicodeError | RecursionError)
        what = "it is not JSON" if unreadable else str(error)
        raise IntegrityError(f"'{name}' is malformed: {what}") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a name that stands twice: readers would differ in which they believe."""
    results = dict(pairs)
    if len(results) < len(pairs):
        raise ValueError("a name stands twice")
    return results


def _whole(digits: str) -> int:
    if len(digits) > _DIGITS:
        raise ValueError("a number has too many digits")
    return int(digits)


def _entry(name: str, entry: Any) -> Entry:
    parts = name.split("/")
    # A backslash or a drive letter would be a path of its own elsewhere.
    if any(part in ("", ".", "..") for part in parts) or re.search(r"[\\:\0]", name):
        raise ValueError(f"the file name {name!r} leads out of the folder")
    if not isinstance(entry, dict) or set(entry) != {"sha256", "size"}:
        raise ValueError(f"the entry of {name!r} does not have exactly 'sha256' and 'size'")
    if not is_hash(entry["sha256"]):
        raise ValueError(f"the entry of {name!r} has no hash")
    if type(entry["size"]) is not int or entry["size"] < 0:
        raise ValueError(f"the entry of {name!r} has no size")
    return Entry(entry["sha256"], entry["size"])
