"""The field of 2^128 elements, on whole arrays.

An element is 16 bytes. Read as a little-endian number, its bit i is the coefficient of x^i; sums
are XOR, products are taken modulo x^128 + x^7 + x^2 + x + 1. This is the field of GHASH, which
writes the bits of every byte in the opposite order.

numpy has no product without carries, but its ordinary product has none either when only every
fourth bit of both factors is set: up to 15 coinciding bits are counted in the four bits of their
place, and the lowest of these is the sum without carries (the sixteenth leaves through the top).
Four such parts of each factor give the lower half of a product of two words; the upper half is the
lower half of the product of the mirrored words, mirrored. Nothing depends on the values: no tables,
no branches.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from anonloom.typing import ByteArray

__all__ = ["multiply", "inner"]

Words = NDArray[np.uint64]

#: Bytes of an element.
SIZE = 16

#: Elements that are multiplied at a time: all parts of both factors stay in the cache.
CHUNK = 1 << 12

#: Every fourth bit, from bit 0, 1, 2 and 3.
COMBS = np.array([0x1111111111111111 << first for first in range(4)], np.uint64)

#: Which bits change places with those 1, 2 and 4 to their left when a byte is mirrored.
MIRRORS = tuple(
    (np.uint64(distance), np.uint64(bits))
    for distance, bits in [
        (1, 0x5555555555555555),
        (2, 0x3333333333333333),
        (4, 0x0F0F0F0F0F0F0F0F),
    ]
)


def multiply(left: ByteArray, right: ByteArray) -> ByteArray:
    """Return the products of elements, one by one.

    Parameters
    ----------
    left, right
        Elements; of shapes (..., 16) that can be broadcast together.
    """
    left, right = np.broadcast_arrays(_check_elements(left), _check_elements(right))
    products = np.empty((left.size // SIZE, SIZE), np.uint8)
    for part, lows, highs in _parts(left.reshape(-1, SIZE), right.reshape(-1, SIZE)):
        products[part] = _reduce(_join_products(lows, highs))
    return products.reshape(left.shape)


def inner(left: ByteArray, right: ByteArray) -> bytes:
    """Return the sum of the products of all elements of two arrays of the same shape.

    Parameters
    ----------
    left, right
        Elements; of the same shape (..., 16).
    """
    left, right = _check_elements(left), _check_elements(right)
    if left.shape != right.shape:
        raise ValueError(f"shapes must be equal. Got {left.shape} and {right.shape} instead.")
    # Mirroring, choosing bits and reduction are linear: they are done once, for the sum.
    low, high = np.zeros((2, 3, 4, 1), np.uint64)
    for _, lows, highs in _parts(left.reshape(-1, SIZE), right.reshape(-1, SIZE)):
        low[..., 0] ^= np.bitwise_xor.reduce(lows, axis=-1)
        high[..., 0] ^= np.bitwise_xor.reduce(highs, axis=-1)
    return _reduce(_join_products(low, high)).tobytes()


def _check_elements(elements: ByteArray) -> ByteArray:
    if elements.dtype != np.uint8 or elements.ndim < 1 or elements.shape[-1] != SIZE:
        raise ValueError(
            f"elements must be bytes of shape (..., {SIZE}). "
            f"Got {elements.dtype} of shape {elements.shape} instead."
        )
    return elements


def _parts(left: ByteArray, right: ByteArray) -> Iterator[tuple[slice, Words, Words]]:
    """Yield, part by part, the lower and the mirrored upper halves of three products of words.

    With factors a + b x^64 and c + d x^64 these are a c, b d and (a + b)(c + d). They have the
    shape (3, 4, elements): the second axis is the comb (see `COMBS`) whose bits are valid.
    """
    for first in range(0, len(left), CHUNK):
        part = slice(first, first + CHUNK)
        factors = [_factors(side[part]) for side in (left, right)]
        mirrored = [_mirror(words) for words in factors]
        yield part, _comb_products(*factors), _comb_products(*mirrored)


def _factors(elements: ByteArray) -> Words:
    """Return lower word, upper word and their sum; of shape (3, elements)."""
    words = np.ascontiguousarray(elements).view("<u8").T
    return np.stack([words[0], words[1], words[0] ^ words[1]])


def _mirror(words: Words) -> Words:
    words = words.byteswap()
    for distance, bits in MIRRORS:
        words = ((words >> distance) & bits) | ((words & bits) << distance)
    return words


def _comb_products(left: Words, right: Words) -> Words:
    """Return the lower halves of products; of shape (3, 4, elements), bits off the comb invalid."""
    x, y = left[:, None] & COMBS[:, None], right[:, None] & COMBS[:, None]
    sums = np.empty_like(x)
    scratch = np.empty_like(x[:, 0])
    for comb in range(4):
        total = sums[:, comb]
        np.multiply(x[:, 0], y[:, comb], out=total)
        for i in range(1, 4):
            np.multiply(x[:, i], y[:, (comb - i) % 4], out=scratch)
            np.bitwise_xor(total, scratch, out=total)
    return sums


def _join_products(lows: Words, highs: Words) -> Words:
    """Return products of elements before reduction; of shape (4 words, elements)."""
    chosen = COMBS[:, None]
    low = np.bitwise_xor.reduce(lows & chosen, axis=1)
    # The product of two words has 127 bits: mirrored, its upper half begins at bit 1.
    high = _mirror(np.bitwise_xor.reduce(highs & chosen, axis=1)) >> np.uint64(1)
    # Karatsuba: a d + b c = (a + b)(c + d) + a c + b d.
    middle_low = low[0] ^ low[1] ^ low[2]
    middle_high = high[0] ^ high[1] ^ high[2]
    return np.stack([low[0], high[0] ^ middle_low, low[1] ^ middle_high, high[1]])


def _reduce(words: Words) -> ByteArray:
    """Return products modulo x^128 + x^7 + x^2 + x + 1; of shape (elements, 16)."""
    words = words.copy()
    for upper in (3, 2):
        for shift in (0, 1, 2, 7):
            words[upper - 2] ^= words[upper] << np.uint64(shift)
            if shift:
                words[upper - 1] ^= words[upper] >> np.uint64(64 - shift)
    return np.ascontiguousarray(words[:2].T).astype("<u8").view(np.uint8)
