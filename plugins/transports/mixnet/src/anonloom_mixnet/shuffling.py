"""Shuffling: an order drawn evenly among all orders, from 32 bytes of entropy."""

from collections.abc import Iterator

from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import ChaCha20

from anonloom_transport import Entropy

_WORD = 8
_RANGE = 1 << (8 * _WORD)
_BLOCK = 4096


def _words(seed: bytes) -> Iterator[int]:
    """Yield 64-bit numbers of a ChaCha20 stream without end."""
    stream = Cipher(ChaCha20(seed, bytes(16)), mode=None).encryptor()
    while True:
        block = stream.update(bytes(_WORD * _BLOCK))
        for start in range(0, len(block), _WORD):
            yield int.from_bytes(block[start : start + _WORD], "little")


def random_order(n: int, entropy: Entropy) -> list[int]:
    """Return the numbers below `n` in a random order (Fisher and Yates).

    A word that would favour small numbers is thrown away and drawn again, so that all orders are
    equally likely as far as the stream is random.
    """
    order = list(range(n))
    words = _words(entropy.bytes(32))
    for last in range(n - 1, 0, -1):
        fair = _RANGE - _RANGE % (last + 1)
        word = next(words)
        while word >= fair:
            word = next(words)
        other = word % (last + 1)
        order[last], order[other] = order[other], order[last]
    return order
