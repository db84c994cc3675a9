"""Identifiers as keyed hashes: equal persons stay equal, and nobody without the key can recompute.

A plain hash of a name or a number can be undone by hashing every candidate; hence HMAC under a key
from the system's randomness. The key is private output, so that a later release can be joined.
"""

from typing import Any

import numpy as np

from anonloom.cells import cell_text
from anonloom.data._schema import Column
from anonloom.errors import DataError
from anonloom.files import read_bytes
from anonloom.lazy import pd

KEY_BYTES = 32


def key_for(column: Column) -> bytes:
    """Read the column's key file, or draw a key from the system's randomness.

    Raises
    ------
    DataError
        When the file cannot be read or holds no key of at least 32 bytes.
    """
    if column.key is None:
        # Imported here and below: few tables have pseudonyms.
        import secrets

        return secrets.token_bytes(KEY_BYTES)
    try:
        key = bytes.fromhex(read_bytes(column.key).decode("ascii").strip())
    except (OSError, ValueError):
        raise DataError(
            f"column '{column.name}': the key file cannot be read; it must hold a hexadecimal key"
        ) from None
    if len(key) < KEY_BYTES:
        raise DataError(
            f"column '{column.name}': the key has {len(key)} bytes, it needs at least {KEY_BYTES}"
        )
    return key


def pseudonyms(series: Any, key: bytes) -> Any:
    """Replace each distinct cell by its keyed hash; missing cells stay missing."""
    from hmac import digest

    entries, uniques = pd.factorize(series)
    context = str(series.name).encode() + b"\0"
    hashed = [
        # A number reads the same whether or not a missing cell has made floats of the column.
        # Hashed in one call: an object per cell would cost a kilobyte each.
        digest(key, context + cell_text(value).encode("utf-8", "surrogatepass"), "sha256")[
            :16
        ].hex()
        for value in uniques
    ]
    # Different cells may read alike (1 and '1'); they are one person.
    which, categories = pd.factorize(np.array(hashed, object))
    codes = np.append(which, -1)[entries]
    return pd.Series(
        pd.Categorical.from_codes(codes, categories=pd.Index(categories, dtype="str")),
        index=series.index,
        name=series.name,
    )


def _bytes_of(value: object) -> bytes:
    return cell_text(value).encode("utf-8", "surrogatepass")
