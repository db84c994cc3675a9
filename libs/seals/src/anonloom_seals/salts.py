"""Leaves: a row, its number and a salt that is guessed by nobody, hashed."""

import hashlib
import re
import secrets
from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise

import attrs
import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CTR

__all__ = ["Seeds", "leaf_hash", "leaf_hashes", "salt", "salts"]

#: Bytes of a seed, and of a salt.
SEED = 32
SALT = 16

#: Before a leaf, as in RFC 9162: no leaf is the hash of two others.
_LEAF = b"\0"
_NUMBER = 8
_CHUNK = 1 << 16

# A row, counted from 0, and the seed from it on; each number in one spelling.
_LINE = re.compile(rf"(0|[1-9][0-9]{{0,17}}) ([0-9a-f]{{{2 * SEED}}})\n")


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
        _hash_leaves(seed, rows[index : index + _CHUNK], start + index)
        for index in range(0, len(rows), _CHUNK)
    )


def _hash_leaves(seed: bytes, rows: Sequence[bytes], start: int) -> bytes:
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


@attrs.frozen
class Seeds:
    """The seeds of all rows of a release: one, and one more per version that added rows at its end.

    Rows that were there before keep their salts, and thereby their leaves. Rows that are new have a
    seed of their own: whoever has an older version has its seeds, and could otherwise guess new
    rows from the hashes of a proof that shows others.

    Attributes
    ----------
    stretches
        From which row on, counted from 0, which seed holds; ascending, the first from row 0.

    Raises
    ------
    ValueError
        When a row would have no seed, or two.
    """

    stretches: tuple[tuple[int, bytes], ...] = attrs.field(repr=False)

    def __attrs_post_init__(self) -> None:
        """Refuse what leaves it open which seed a row has."""
        starts = [start for start, _ in self.stretches]
        if starts[:1] != [0] or any(item >= other for item, other in pairwise(starts)):
            raise ValueError("seeds must hold from row 0 on, and from later rows each")

    @classmethod
    def new(cls) -> "Seeds":
        """Draw a seed for all rows."""
        return cls(((0, new_seed()),))

    def for_next_version(self, size: int) -> "Seeds":
        """Return the seeds of a version that begins with `size` rows of this one."""
        kept = (stretch for stretch in self.stretches if stretch[0] < size)
        return Seeds((*kept, (size, new_seed())))

    def write(self) -> bytes:
        """Write the seeds, in their one spelling: a line for each."""
        return "".join(f"{start} {seed.hex()}\n" for start, seed in self.stretches).encode()

    @classmethod
    def read(cls, data: bytes) -> "Seeds":
        """Read what `write` returned; `ValueError` when it is something else."""
        lines = data.decode("ascii").splitlines(keepends=True)
        results = [_LINE.fullmatch(line) for line in lines]
        if None in results:
            raise ValueError("a line is no row and seed")
        return cls(tuple((int(line[1]), bytes.fromhex(line[2])) for line in results if line))

    def salt(self, number: int) -> bytes:
        """Return the salt of one row, counted from 0."""
        index = bisect_right(self.stretches, number, key=lambda stretch: stretch[0])
        return salt(self.stretches[index - 1][1], number)

    def leaves(self, rows: Sequence[bytes]) -> bytes:
        """Return the leaves of all rows, one after the other."""
        ends = [start for start, _ in self.stretches[1:]] + [len(rows)]
        return b"".join(
            leaf_hashes(seed, rows[start:end], start)
            for (start, seed), end in zip(self.stretches, ends, strict=True)
        )
