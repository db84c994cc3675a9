"""Leaves: a row, its number and a salt that is guessed by nobody, hashed."""

import hashlib
import secrets
from collections.abc import Sequence

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CTR

#: Bytes of a seed, and of a salt.
SEED = 32
SALT = 16

#: Before a leaf, as in RFC 9162: no leaf is the hash of two others.
_LEAF = b"\0"
_NUMBER = 8
_CHUNK = 1 << 16


def new_seed() -> bytes:
    """Draw a seed from the system's randomness."""
    return secrets.token_bytes(SEED)


def salts(seed: bytes, start: int, count: int) -> bytes:
    """Return the salts of `count` rows from row `start` on, one after the other.

    The salt of a row is AES-256 of its number under the seed. Together they are the keystream of
    AES in counter mode, so that all of them cost one call, and each can be had alone. Whoever sees
    some of them learns nothing of the others.
    """
    if len(seed) != SEED:
        raise ValueError(f"a seed has {SEED} bytes")
    stream = Cipher(AES(seed), CTR(start.to_bytes(AES.block_size // 8, "big"))).encryptor()
    return stream.update(bytes(SALT * count)) + stream.finalize()


def salt(seed: bytes, number: int) -> bytes:
    """Return the salt of one row, counted from 0."""
    return salts(seed, number, 1)


def leaf_hash(salt: bytes, number: int, row: bytes) -> bytes:
    """Return the leaf of a row: SHA-256 of 0, its salt, its number in 8 bytes, and the row."""
    return hashlib.sha256(_LEAF + salt + number.to_bytes(_NUMBER, "big") + row).digest()


def leaf_hashes(seed: bytes, rows: Sequence[bytes], start: int = 0) -> bytes:
    """Return the leaves of many rows, one after the other.

    Parameters
    ----------
    start
        Number of the first row.
    """
    return b"".join(
        _hashed(seed, rows[at : at + _CHUNK], start + at) for at in range(0, len(rows), _CHUNK)
    )


def _hashed(seed: bytes, rows: Sequence[bytes], start: int) -> bytes:
    sha256 = hashlib.sha256
    width = len(_LEAF) + SALT + _NUMBER
    before = np.zeros((len(rows), width), np.uint8)
    drawn = np.frombuffer(salts(seed, start, len(rows)), np.uint8)
    before[:, len(_LEAF) : -_NUMBER] = drawn.reshape(-1, SALT)
    numbers = np.arange(start, start + len(rows), dtype=">u8")
    before[:, -_NUMBER:] = numbers.view(np.uint8).reshape(-1, _NUMBER)
    prefixes: list[bytes] = before.view(f"V{width}").ravel().tolist()
    return b"".join(
        [sha256(prefix + row).digest() for prefix, row in zip(prefixes, rows, strict=True)]
    )
