"""The list that is signed: every file by its name, with its hash and its size."""

import json
import re
from collections.abc import Mapping
from typing import Any

import attrs

from anonloom.errors import IntegrityError

#: What the list is, so that a signature under it can be taken for nothing else.
CONTEXT = "anonloom digest of a release"
FORMAT = 1

_HASH = re.compile(r"[0-9a-f]{64}")
_FIELDS = {"context", "format", "hash", "key", "files"}


@attrs.frozen
class Entry:
    """What a file must be."""

    sha256: str
    size: int


@attrs.frozen
class Listing:
    """Every file of a sealed folder, and the key that vouches for them."""

    key: str
    files: Mapping[str, Entry]

    def write(self) -> bytes:
        """Write the list."""
        content = {
            "context": CONTEXT,
            "format": FORMAT,
            "hash": "sha256",
            "key": self.key,
            "files": {name: attrs.asdict(self.files[name]) for name in sorted(self.files)},
        }
        return (json.dumps(content, indent=2) + "\n").encode()

    @classmethod
    def read(cls, data: bytes, name: str) -> "Listing":
        """Read a list, whoever wrote it.

        Raises
        ------
        IntegrityError
            Saying what is wrong with it. A name that leads out of the folder is wrong, so that no
            list can make the reader look elsewhere.
        """
        try:
            content = json.loads(data, object_pairs_hook=_once)
            _check(content)
            files = {file: _entry(file, entry) for file, entry in content["files"].items()}
        except (ValueError, RecursionError) as error:
            unreadable = isinstance(error, json.JSONDecodeError | UnicodeError | RecursionError)
            what = "it is not JSON" if unreadable else str(error)
            raise IntegrityError(f"'{name}' is malformed: {what}") from None
        return cls(content["key"], files)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a name that stands twice: readers would differ in which they believe."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name stands twice")
    return found


def _check(content: Any) -> None:
    if not isinstance(content, dict) or set(content) != _FIELDS:
        raise ValueError("it does not have exactly the fields of a digest")
    if content["context"] != CONTEXT:
        raise ValueError("it is no digest of a release")
    if content["format"] != FORMAT or type(content["format"]) is not int:
        raise ValueError(f"it has a format that this version does not know, which is {FORMAT}")
    if content["hash"] != "sha256":
        raise ValueError("it names another hash than sha256")
    if not isinstance(content["key"], str) or not _HASH.fullmatch(content["key"]):
        raise ValueError("it names no key")
    if not isinstance(content["files"], dict):
        raise ValueError("its files are no mapping")


def _entry(name: str, entry: Any) -> Entry:
    parts = name.split("/")
    # A backslash or a drive letter would be a path of its own elsewhere.
    if any(part in ("", ".", "..") for part in parts) or re.search(r"[\\:\0]", name):
        raise ValueError(f"the file name {name!r} leads out of the folder")
    if not isinstance(entry, dict) or set(entry) != {"sha256", "size"}:
        raise ValueError(f"the entry of {name!r} does not have exactly 'sha256' and 'size'")
    sha256, size = entry["sha256"], entry["size"]
    if not isinstance(sha256, str) or not _HASH.fullmatch(sha256):
        raise ValueError(f"the entry of {name!r} has no hash")
    if type(size) is not int or size < 0:
        raise ValueError(f"the entry of {name!r} has no size")
    return Entry(sha256, size)
