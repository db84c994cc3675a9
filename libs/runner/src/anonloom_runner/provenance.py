"""The manifest: what was run with what, committed to without giving the seed away."""

import hashlib
import platform
import re
import secrets
from collections.abc import Iterable
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, requires, version
from typing import Any

import numpy as np
import pandas as pd

from anonloom import Column, Schema, Table
from anonloom.hierarchies import FromFile
from anonloom.params import as_values
from anonloom.registry import Entry

__all__ = [
    "input_digest",
    "package_versions",
]

_REQUIRED = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def seed_commitment(seed: int, salt: bytes) -> str:
    """Commit to a seed; without the salt a small seed could be found by trying all of them."""
    return hashlib.sha256(b"anonloom seed v1\0" + salt + str(seed).encode()).hexdigest()


def new_salt() -> bytes:
    """Draw a salt from the system's randomness."""
    return secrets.token_bytes(32)


def input_digest(table: Table) -> str:
    """Digest of the loaded rows; private, because a small table can be guessed and tried."""
    digest = hashlib.sha256(b"anonloom input v1\0")
    frame = table.frame
    for name in frame.columns:
        digest.update(str(name).encode() + b"\0")
        hashed = pd.util.hash_pandas_object(frame[name], index=False)
        digest.update(np.ascontiguousarray(hashed.to_numpy()).tobytes())
    return digest.hexdigest()


def package_versions(entries: Iterable[Entry] = (), used: Iterable[Entry] = ()) -> dict[str, str]:
    """Versions of everything that had a hand in the release.

    Parameters
    ----------
    used
        What methods use in their turn, such as a transport: with the libraries that it rests on,
        because what it hides is as good as its cryptography.
    """
    used = list(used)
    results = {
        entry.distribution: entry.version for entry in (*entries, *used) if entry.distribution
    }
    for entry in used:
        results |= _libraries(entry.distribution)
    for name in ("anonloom-core", "anonloom-runner", "anonloom-loss", "numpy", "pandas", "pyarrow"):
        results[name] = version(name)
    return {"python": platform.python_version(), **dict(sorted(results.items()))}


def _libraries(distribution: str) -> dict[str, str]:
    """Return the versions of what a distribution requires, through the project's own libraries."""
    results: dict[str, str] = {}
    waiting = [distribution]
    while waiting:
        for requirement in _requires(waiting.pop()):
            # What an extra asks for is not there unless somebody wanted it.
            match = _REQUIRED.match(requirement)
            if match is None or "extra ==" in requirement or match.group() in results:
                continue
            name = match.group()
            with suppress(PackageNotFoundError):
                results[name] = version(name)
                waiting += [name] if name.startswith("anonloom-") else []
    return results


def _requires(distribution: str) -> list[str]:
    try:
        return requires(distribution) or []
    except (PackageNotFoundError, ValueError):
        return []  # local code, which no distribution brings


def describe_columns(schema: Schema) -> dict[str, Any]:
    """Return the declared columns as plain values, without paths of the steward's machine."""
    return {column.name: _describe_column(column) for column in schema}


def _describe_column(column: Column) -> dict[str, Any]:
    values = as_values(column, redact=True)
    values.pop("name")
    if isinstance(column.hierarchy, FromFile):
        values["hierarchy"] = column.hierarchy.path.name
    elif column.hierarchy is not None:
        built = type(column.hierarchy).__name__.lower()
        values["hierarchy"] = {"build": built, **as_values(column.hierarchy)}
    return {name: value for name, value in values.items() if value is not None}
