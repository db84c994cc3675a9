"""Columns of numbers beside the bytes of a table: added up leaf by leaf, and sketched key by key.

A leaf of a counted tree holds two numbers of the field, the halves of one AES block, each with its
50 lowest bits, plus the correction where the control bit is set. The first numbers of all keys are
added up. A sketch is a few sums over all leaves of one key, with weights that nobody knew when the
key was made; `presence` says what they show.

Weights have 22 bits, their squares are taken as two limbs of 22 bits, numbers as halves of 32 bits:
all sums over a tile of 1,024 leaves fit 64 bits.
"""

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom.typing import ByteArray
from anonloom_dpf.aes import SLACK, flat, permutation
from anonloom_dpf.prime_field import MASK, MODULUS, Elements, add, multiply, reduce

#: Numbers per leaf.
NUMBERS = 2
#: Bits of a weight.
WEIGHT_BITS = 22
#: Sums that a sketch consists of.
SKETCH = 3

Weights = NDArray[np.uint32]

_LOW, _HALF = np.uint64((1 << 32) - 1), np.uint64(32)

#: Which sum of a sketch a product of halves and limbs belongs to, and how many bits further up:
#: halves of first numbers with all three limbs, then of second ones with plain weights.
_PLACES = (
    *(
        (index, half + limb)
        for half in (0, 32)
        for index, limb in ((0, 0), (2, 0), (2, WEIGHT_BITS))
    ),
    *((1, half) for half in (0, 32)),
)


@attrs.frozen
class Columns:
    """What the numbers of many keys go to.

    Attributes
    ----------
    sums
        The sum of the first numbers of all keys, per leaf.
    weights
        Per leaf.
    sketches
        Per key the sums over all leaves of weight times first number, of weight times second
        number, and of the weight's square times first number.
    """

    sums: Elements = attrs.field(repr=False)
    weights: Weights = attrs.field(repr=False)
    sketches: Elements = attrs.field(repr=False)

    def take(self, keys: slice) -> "Columns":
        """The same for some of the keys."""
        return Columns(self.sums, self.weights, self.sketches[keys])


def require_columns(leaves: int, sums: Elements, weights: Weights) -> None:
    """Refuse sums and weights that are not those of so many leaves."""
    if sums.shape != (leaves,) or sums.dtype != np.uint64 or not sums.flags.c_contiguous:
        raise ValueError(f"sums must be {leaves} contiguous numbers of 64 bits.")
    if weights.shape != (leaves,) or weights.dtype != np.uint32:
        raise ValueError(f"weights must be {leaves} numbers of 32 bits.")
    if not weights.flags.c_contiguous or (weights >> np.uint32(WEIGHT_BITS)).any():
        raise ValueError(f"weights must be contiguous and below 2^{WEIGHT_BITS}.")


def limbs(weights: Weights) -> NDArray[np.uint64]:
    """Return weights, and lower and upper limbs of their squares; of shape (3, leaves)."""
    plain = weights.astype(np.uint64)
    squares, bits = plain * plain, np.uint64(WEIGHT_BITS)
    return np.stack([plain, squares & np.uint64((1 << WEIGHT_BITS) - 1), squares >> bits])


class Numbers:
    """The numbers of a group of keys on their way through all tiles, with numpy."""

    def __init__(self, columns: Columns, corrections: ByteArray) -> None:
        self.columns = columns
        words = np.ascontiguousarray(corrections).view("<u8").astype(np.uint64)
        # Honest ones are below the modulus; of others the 50 lowest bits count.
        self.words = words & MASK
        self.parts = np.zeros((len(_PLACES), len(words)), np.uint64)
        # Fresh memory for every tile would cost more than all that is done with it.
        self.permuted = np.empty(0, np.uint8)
        self.room = np.empty((3, 0, 0), np.uint64)

    def absorb(self, first: int, states: ByteArray) -> None:
        """Take in one tile: states (keys, leaves, 16) of the leaves from number `first` on."""
        keys, leaves, _ = states.shape
        here = slice(first, first + leaves)
        if self.permuted.size != states.size + SLACK:
            self.permuted = np.empty(states.size + SLACK, np.uint8)
            self.room = np.empty((3, keys, leaves), np.uint64)
        permutation("numbers").update_into(flat(states), self.permuted)
        raw = self.permuted[: states.size].view("<u8").reshape(keys, leaves, NUMBERS)
        weights = limbs(self.columns.weights[here])
        seeds = states.view("<u8")
        numbers, bits, half = self.room
        np.bitwise_and(seeds[:, :, 0], np.uint64(1), out=bits)
        parts = iter(self.parts)
        for column, factors in enumerate((weights, weights[:1])):
            np.bitwise_xor(raw[:, :, column], seeds[:, :, column], out=numbers)
            numbers &= MASK
            numbers += np.multiply(bits, self.words[:, column, None], out=half)
            if column == 0:
                # Below 2^51 each: those of as many keys as are taken together fit.
                sums = self.columns.sums
                sums[here] = reduce(sums[here] + numbers.sum(axis=0))
            for split, by in ((np.bitwise_and, _LOW), (np.right_shift, _HALF)):
                split(numbers, by, out=half)
                for factor in factors:
                    part = next(parts)
                    part[:] = reduce(part + reduce(np.einsum("kl,l->k", half, factor)))

    def finish(self) -> None:
        """Put the sums of halves times limbs together, and add them to the sketches."""
        for part, (index, bits) in zip(self.parts, _PLACES, strict=True):
            place = np.array(pow(2, bits, MODULUS), np.uint64)
            total = self.columns.sketches[:, index]
            total[:] = add(total, multiply(part, place))
