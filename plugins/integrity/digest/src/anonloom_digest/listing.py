"""The list that is signed: every file by its name, with its hash and its size."""

import json
from collections.abc import Mapping
from typing import Any

import attrs

from anonloom_seals.listing import Entry, file_values, is_hash, read_entries, read_json

#: What the list is, so that a signature under it can be taken for nothing else.
CONTEXT = "anonloom digest of a release"
FORMAT = 1

_FIELDS = {"context", "format", "hash", "key", "files"}


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
            "files": file_values(self.files),
        }
        return (json.dumps(content, indent=2) + "\n").encode()

    @classmethod
    def read(cls, data: bytes, name: str) -> "Listing":
        """Read a list, whoever wrote it.

        Raises
        ------
        IntegrityError
            Saying what is wrong with it.
        """
        return read_json(data, name, cls._of)

    @classmethod
    def _of(cls, content: Any) -> "Listing":
        if not isinstance(content, dict) or set(content) != _FIELDS:
            raise ValueError("it does not have exactly the fields of a digest")
        if content["context"] != CONTEXT:
            raise ValueError("it is no digest of a release")
        if content["format"] != FORMAT or type(content["format"]) is not int:
            raise ValueError(f"it has a format that this version does not know, which is {FORMAT}")
        if content["hash"] != "sha256":
            raise ValueError("it names another hash than sha256")
        if not is_hash(content["key"]):
            raise ValueError("it names no key")
        return cls(content["key"], read_entries(content["files"]))
