"""Presence: every upload counts for one position at most, and only for one whose key it knows.

Beside its row a leaf of a counted deposit holds a number v, shared between two servers: what server
0 has less what server 1 has. Of an honest upload it is 1 at the position of its record and 0
elsewhere, of a decoy 0 everywhere. Sums of v over positions are therefore counts, and all that the
servers show each other of v are such sums. A dishonest donor can make keys that stand for any
numbers at all; these are what both servers check before anything is counted.

**One position, once.** When all uploads are fixed the servers show what they tossed for weights q_j
of 22 bits. Of each upload they compute, with a second number v' of a leaf that is k v for a random
k,

    z = sum q_j v_j        z' = sum q_j v'_j        z* = sum q_j^2 v_j

    o = z^2 - z* + k z - z'                              accepted iff o = 0

A donor does not know the weights, so o is a polynomial in them with coefficients of her choice:
v_j^2 - v_j, twice v_i v_j, and k v_j - v'_j. It vanishes as a polynomial only if v is 0 everywhere
or 1 at one position. Any other v passes with probability 2 / 2^22 (Schwartz and Zippel: degree 2,
weights from a set of 2^22), whatever else she sends.

For the product she sends shares of a random a, of a^2, of k and of k a. The servers open d = z - a,
which is uniform, and each computes its share of o = (d + a)^2 - z* + k (d + a) - z', in which all
products of two unknowns are what she sent; that they are right is not assumed, for a wrong a^2 or
k a only adds a constant to the polynomial.

**A position of her own.** With r_j = PRF(alpha_j) the servers compare sum r_j v_j with the sum of
shares of t = r_own that come with the upload, over blocks of uploads, like the authenticator of
rows (`slotauth`) and together with it. As all v are 0 or 1 by then, nothing can be undone by
another upload of the block.

**What a server learns.** Of honest uploads d is uniform, and o is 0: the other's share of it is
known beforehand. A server that lies about its share of d by e makes o be 2 e z + e^2 + k e: as k is
uniform and unknown to it, so is o, whatever z is. This is what v' is for: without it the lie would
show z, and with it the position. What is left is that the upload fails. There is one set of weights
per round: d for others and the same a would show the difference of two z. So what servers will toss
is drawn when the round begins, and hashes of it are in the description that all have signed; who
makes a server go on from an older saved state gets the same weights again. The price: if a server
is made to go on from before it closed, donors who have seen the weights can pass the check.

**What is counted.** Uploads, not records: a donor can count for her position without a record that
can be read, and two donors who share a key can both count for one position. Each adds one at most,
to the sum of one group. A server can add what it likes to the sums: this shows when the records
are open, and not before.
"""

import hashlib

import numpy as np
from numpy.typing import NDArray

from anonloom.typing import ByteArray
from anonloom_dpf.columns import WEIGHT_BITS, Weights
from anonloom_dpf.prime_field import SIZE, Elements, add, draw, minus, multiply, read
from anonloom_transport import Entropy

#: Bytes of what each server tosses.
TOSS_BYTES = 32

#: Bytes of what a donor sends to each server: shares of a, a^2, k, k a and t.
WITNESS_BYTES = 5 * SIZE


# --- weights --------------------------------------------------------------------------------------


def position_weights(alphas: ByteArray, *, context: bytes, iteration: int) -> Elements:
    """Return the weight of every position, which its donor and the servers know.

    Parameters
    ----------
    alphas
        Keys of the slots; of shape (slots, 16).
    context, iteration
        As of `slotauth.weights`.
    """
    prefix = hashlib.sha256(b"anonloom presence 1\0" + context).digest()
    prefix += iteration.to_bytes(8, "little")
    shake = hashlib.shake_128
    return read(b"".join([shake(prefix + alpha.tobytes()).digest(SIZE) for alpha in alphas]))


#: Bytes of what a server announces of what it will toss.
COMMITMENT_BYTES = 32


def toss_commitment(toss: bytes) -> bytes:
    """Return what a server announces of what it will toss."""
    return hashlib.sha256(b"anonloom presence toss 1\0" + toss).digest()


def sketch_weights(tossed: bytes, leaves: int) -> Weights:
    """Return the weights that follow from what all servers tossed."""
    stream = hashlib.shake_128(b"anonloom presence weights 1\0" + tossed).digest(4 * leaves)
    return np.frombuffer(stream, "<u4").astype(np.uint32) >> np.uint32(32 - WEIGHT_BITS)


# --- what a donor sends ---------------------------------------------------------------------------


def make_claims(
    present: NDArray[np.bool_], weights: Elements, entropy: Entropy
) -> tuple[Elements, tuple[ByteArray, ByteArray]]:
    """Return what leaves hold and what is sent beside the keys.

    Parameters
    ----------
    present
        Whether each upload is a record and no decoy.
    weights
        Of the positions that are written to; anything for a decoy.

    Returns
    -------
    numbers
        Both numbers of the leaf of every upload; of shape (uploads, 2).
    witnesses
        For each server, of shape (uploads, WITNESS_BYTES).
    """
    count = present.astype(np.uint64)
    blind, factor = draw(entropy, 2, len(count))
    values = [blind, multiply(blind, blind), factor, multiply(factor, blind), count * weights]
    held = np.stack(values, axis=1)
    first = draw(entropy, *held.shape)
    second = add(held, minus(first))
    return np.stack([count, count * factor], axis=1), (_to_bytes(first), _to_bytes(second))


def _to_bytes(elements: Elements) -> ByteArray:
    return np.ascontiguousarray(elements, "<u8").view(np.uint8)


# --- what the servers check -----------------------------------------------------------------------


def read_witnesses(data: ByteArray) -> Elements:
    """Return shares of a, a^2, k, k a and t, of shape (uploads, 5)."""
    return read(np.ascontiguousarray(data).tobytes()).reshape(len(data), -1)


def apply_sign(party: int, elements: Elements) -> Elements:
    """Return shares that add up: what party 1 holds counts negative."""
    return minus(elements) if party else elements


def blind_sketches(party: int, sketches: Elements, witnesses: Elements) -> Elements:
    """Return a server's shares of d = z - a, one per upload."""
    return add(apply_sign(party, sketches[:, 0]), minus(witnesses[:, 0]))


def proofs(party: int, sketches: Elements, witnesses: Elements, opened: Elements) -> Elements:
    """Return a server's shares of o, one per upload.

    Parameters
    ----------
    opened
        The d of all uploads.
    """
    second, square = apply_sign(party, sketches[:, 1]), apply_sign(party, sketches[:, 2])
    blind, blind_square, factor, product, _ = witnesses.T
    total = multiply(opened, add(add(blind, blind), factor))
    for part in (blind_square, product, minus(square), minus(second)):
        total = add(total, part)
    # What both know is added by one of them.
    return total if party else add(total, multiply(opened, opened))
