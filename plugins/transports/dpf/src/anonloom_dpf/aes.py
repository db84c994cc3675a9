"""Fixed-key AES-128: the public permutations that every expansion here is built from.

Every use has a key of its own, so no input needs a counter and no two uses share a permutation:
`left` and `right` give the children of a node, `leaf j` the j-th block of a leaf's payload,
`check j` the j-th block of a leaf's hash. A key is the first half of the SHA-256 of its name; there
is nothing secret in it. What is built on a permutation p is always p(x) xor x, which cannot be
inverted although p can (Matyas, Meyer and Oseas).
"""

import hashlib
import threading
from functools import cache
from typing import Any, Protocol, cast

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from anonloom.typing import ByteArray

BLOCK = 16
SLACK = BLOCK  # `update_into` asks for room that is one block longer than what it writes


@cache
def fixed_key(role: str, number: int = 0) -> bytes:
    """The public key of one use."""
    return hashlib.sha256(f"anonloom dpf 1: {role} {number}".encode()).digest()[:BLOCK]


class Permutation(Protocol):
    """What is used of an encrypting context; it takes numpy's arrays of bytes as buffers."""

    def update_into(self, data: ByteArray, buf: ByteArray, /) -> int:
        """Write p(x) of every block x of `data` to `buf`, which is longer by `SLACK`."""


class _Contexts(threading.local):
    """One encrypting context per key and thread: a context must not be used by two at once."""

    def __init__(self) -> None:
        self.of: dict[tuple[str, int], Permutation] = {}


_contexts = _Contexts()


def permutation(role: str, number: int = 0) -> Permutation:
    """The permutation of one use."""
    result = _contexts.of.get((role, number))
    if result is None:
        # ECB is the bare permutation, which is what is wanted here: nothing is encrypted with it.
        cipher = Cipher(algorithms.AES(fixed_key(role, number)), modes.ECB())
        result = _contexts.of[role, number] = cast(Permutation, cipher.encryptor())
    return result


def permute(role: str, number: int, blocks: ByteArray) -> ByteArray:
    """p(x) of every block x, in a new array of the same shape."""
    room = np.empty(blocks.size + SLACK, np.uint8)
    permutation(role, number).update_into(flat(blocks), room)
    return room[: blocks.size].reshape(blocks.shape)


def one_way(role: str, number: int, blocks: ByteArray) -> ByteArray:
    """p(x) xor x of every block x, in a new array of the same shape."""
    out = permute(role, number, blocks)
    out ^= blocks
    return out


def flat(array: NDArray[Any]) -> ByteArray:
    """A contiguous array as a row of bytes, without a copy."""
    return array.view(np.uint8).reshape(-1)


def blocks_of(size: int) -> int:
    """How many AES blocks `size` bytes take."""
    return -(-size // BLOCK)
