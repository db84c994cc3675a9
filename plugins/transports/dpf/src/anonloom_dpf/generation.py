"""Making the two keys of a point function (Boyle, Gilboa and Ishai 2016, figure 1).

A state is a seed whose lowest bit is the control bit. Off the path to the chosen leaf both parties
hold equal states and their expansions cancel; on it the seeds are independent and the control bits
differ. A correction word of every level makes the states equal again wherever the path is left.

The expansion is a parameter: AES in use, a table of random values where secrecy is tested by
enumeration. SECRECY.md has the argument; this is the code that it is about.

Beside the payload, which is added by xor, a leaf may hold numbers of a prime field: party b has
G(s) + t CW there, and what it has less what the other has is the number at the chosen leaf, zero
at all others (the conversion of the last level in the same figure).
"""

from typing import Protocol

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom.typing import ByteArray
from anonloom_dpf.prime_field import MODULUS

Nodes = NDArray[np.int64]


class Expansion(Protocol):
    """What a state becomes. `nodes` says where a state stands: 1 is the root, 2i and 2i + 1 follow.

    States are arrays (m x size of a state); what is returned has m rows too.
    """

    def children(self, nodes: Nodes, states: ByteArray) -> tuple[ByteArray, ByteArray]:
        """The raw states of the left and of the right child."""

    def payload(self, nodes: Nodes, states: ByteArray) -> ByteArray:
        """The raw payload of a leaf."""

    def numbers(self, nodes: Nodes, states: ByteArray) -> NDArray[np.uint64]:
        """The raw numbers of a leaf, below `modulus`; only asked where there are any."""

    def digest(self, leaves: NDArray[np.int64], states: ByteArray) -> ByteArray:
        """The hash of a leaf's number and whole state; no columns where nothing is checked."""


Numbers = NDArray[np.uint64]


@attrs.frozen
class Public:
    """The part that both keys share."""

    corrections: ByteArray = attrs.field(
        repr=False
    )  # (m, depth, size of a state), left control bit in
    right_bits: ByteArray = attrs.field(
        repr=False
    )  # (m, depth), the control bit of the right child
    last: ByteArray = attrs.field(repr=False)  # (m, width), makes the chosen leaf hold the payload
    check: ByteArray = attrs.field(repr=False)  # (m, hash), xor of the chosen leaf's two hashes
    numbers: Numbers = attrs.field(repr=False)  # (m, numbers), makes the chosen leaf hold them


def root_states(seeds: ByteArray) -> ByteArray:
    """The root states: seeds (2, m, size) with the party's number in the control bit."""
    states = seeds.copy()
    states[0, :, 0] &= 0xFE
    states[1, :, 0] |= 1
    return states


def generate(
    expansion: Expansion,
    path: ByteArray,
    indices: NDArray[np.int64],
    payloads: ByteArray,
    seeds: ByteArray,
    numbers: Numbers | None = None,
    modulus: int = MODULUS,
) -> Public:
    """The shared part of m pairs of keys.

    Parameters
    ----------
    expansion : Expansion
    path : array (m, depth)
        The turns to the chosen leaf, 0 left and 1 right.
    indices : array (m,)
        The chosen leaf's number, for its hash.
    payloads : array (m, width)
    seeds : array (2, m, size of a state)
        Random and independent; their control bits are set here.
    numbers : array (m, any number), optional
        What the chosen leaf holds beside the payload, below `modulus`.
    """
    states = root_states(seeds)
    _, keys, size = states.shape
    depth = path.shape[1]
    corrections = np.empty((keys, depth, size), np.uint8)
    right_bits = np.empty((keys, depth), np.uint8)
    nodes = np.ones(keys, np.int64)

    def both(where: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.concatenate([where, where])

    for level in range(depth):
        turn = path[:, level]
        left, right = (
            raw.reshape(2, keys, size)
            for raw in expansion.children(both(nodes), states.reshape(2 * keys, size))
        )
        apart_left, apart_right = left[0] ^ left[1], right[0] ^ right[1]
        to_right = (0 - turn)[:, None]  # all ones where the path turns right
        # The states of the child that is left behind become equal, control bit included.
        seed = apart_right ^ ((apart_left ^ apart_right) & to_right)
        seed[:, 0] &= 0xFE
        bit_left = (apart_left[:, 0] ^ turn ^ 1) & 1
        bit_right = (apart_right[:, 0] ^ turn) & 1
        corrections[:, level] = seed
        corrections[:, level, 0] |= bit_left
        right_bits[:, level] = bit_right

        control = 0 - (states[:, :, :1] & 1)
        seed[:, 0] |= np.where(turn, bit_right, bit_left)
        states = left ^ ((left ^ right) & to_right) ^ (seed & control)
        nodes = 2 * nodes + turn

    flat = states.reshape(2 * keys, size)
    shares = expansion.payload(both(nodes), flat).reshape(2, keys, -1)
    hashes = expansion.digest(both(indices), flat).reshape(2, keys, -1)
    last, check = shares[0] ^ shares[1] ^ payloads, hashes[0] ^ hashes[1]
    if numbers is None:
        return Public(corrections, right_bits, last, check, np.empty((keys, 0), np.uint64))
    raw = expansion.numbers(both(nodes), flat).reshape(2, keys, -1)
    corrected = _number_correction(raw, numbers, states[0, :, :1] & np.uint8(1), modulus)
    return Public(corrections, right_bits, last, check, corrected)


def _number_correction(raw: Numbers, numbers: Numbers, first: ByteArray, modulus: int) -> Numbers:
    """What the party whose control bit is set adds; party 0 if `first`, else it counts negative."""
    p = np.uint64(modulus)
    apart = (numbers + (p - raw[0]) + raw[1]) % p
    corrected: Numbers = np.where(first, apart, (p - apart) % p)
    return corrected
