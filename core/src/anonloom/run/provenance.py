"""The manifest: what was run with what, committed to without giving the seed away."""

import hashlib
import platform
import secrets
from collections.abc import Iterable
from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd

from anonloom.data.builders import FromFile
from anonloom.data.schema import Column, Schema
from anonloom.data.table import Table
from anonloom.loading import Entry
from anonloom.params import as_values


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


def versions(entries: Iterable[Entry] = ()) -> dict[str, str]:
    """Versions of everything that had a hand in the release."""
    found = {entry.distribution: entry.version for entry in entries if entry.distribution}
    for name in ("anonloom-core", "numpy", "pandas", "pyarrow"):
        found[name] = version(name)
    return {"python": platform.python_version(), **dict(sorted(found.items()))}


def described_columns(schema: Schema) -> dict[str, Any]:
    """Return the declared columns as plain values, without paths of the steward's machine."""
    return {column.name: _described(column) for column in schema}


def _described(column: Column) -> dict[str, Any]:
    values = as_values(column, redact=True)
    values.pop("name")
    if isinstance(column.hierarchy, FromFile):
        values["hierarchy"] = column.hierarchy.path.name
    elif column.hierarchy is not None:
        built = type(column.hierarchy).__name__.lower()
        values["hierarchy"] = {"build": built, **as_values(column.hierarchy)}
    return {name: value for name, value in values.items() if value is not None}
