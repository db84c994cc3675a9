"""The field of 2^50 - 27 elements, on whole arrays: sums of shares are numbers here.

An element is a uint64 below the modulus. With two to the 50th equal to 27, a number is reduced by
adding 27 times its upper bits to its lower ones: no division, no branch, nothing that depends on
the values. Sums of 8,000 numbers below 2^51 fit a word, and so do both halves of the products that
processors make of 52 bits.
"""

import numpy as np
from numpy.typing import NDArray

from anonloom_transport import Entropy

Elements = NDArray[np.uint64]

BITS = 50

#: The number of elements, a prime.
MODULUS = (1 << BITS) - 27

#: Bytes of an element, the lowest first.
SIZE = 8

#: What counts of a random word: its lowest bits.
MASK = np.uint64((1 << BITS) - 1)

_P, _BITS, _TOP = np.uint64(MODULUS), np.uint64(BITS), np.uint64((1 << BITS) - MODULUS)
_HALF, _LOW = np.uint64(BITS // 2), np.uint64((1 << BITS // 2) - 1)


def reduce(numbers: Elements) -> Elements:
    """Return numbers below 2^64 as elements."""
    once = (numbers & MASK) + _TOP * (numbers >> _BITS)
    # Less than twice the modulus: 27 more than that shows in bit 50, and the modulus is taken off.
    least: Elements = once - _P * ((once + _TOP) >> _BITS)
    return least


def add(left: Elements, right: Elements) -> Elements:
    """Return sums of elements."""
    return reduce(left + right)


def minus(elements: Elements) -> Elements:
    """Return what elements add up to zero with."""
    return reduce(_P - elements)


def multiply(left: Elements, right: Elements) -> Elements:
    """Return products of elements."""
    a, b = left >> _HALF, left & _LOW
    c, d = right >> _HALF, right & _LOW
    middle = a * d + b * c
    # Of the middle 25 bits move up by 25; the others come round again as multiples of 27.
    return reduce(_TOP * (a * c + (middle >> _HALF)) + ((middle & _LOW) << _HALF) + b * d)


def total(elements: Elements) -> int:
    """Return the sum of elements; of none it is zero."""
    # Halves: no sum of fewer than 2^39 of them is too long.
    low, high = (elements & _LOW).sum(dtype=np.uint64), (elements >> _HALF).sum(dtype=np.uint64)
    return (int(low) + (int(high) << BITS // 2)) % MODULUS


def draw(entropy: Entropy, *shape: int) -> Elements:
    """Draw elements: numbers of 128 bits, reduced, which is within 2^-78 of uniform."""
    drawn = np.frombuffer(entropy.bytes(2 * SIZE * int(np.prod(shape))), "<u8")
    words = reduce(drawn.astype(np.uint64)).reshape(*shape, 2)
    return add(multiply(words[..., 0], np.array((1 << 64) % MODULUS, np.uint64)), words[..., 1])


def read(data: bytes) -> Elements:
    """Read elements; of every eight bytes the lowest 50 bits count."""
    return reduce(np.frombuffer(data, "<u8").astype(np.uint64) & MASK)
