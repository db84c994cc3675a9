"""The point function of n servers, any n-1 of whom may collude, with keys of square-root size.

Boyle, Gilboa and Ishai, "Function Secret Sharing" (Eurocrypt 2015), section 3.2. The table is
folded into `rows` x `columns` leaves, and C = 2^(n-1). An *arrangement* is a binary matrix of n
lines and C columns: an even one holds every n-bit word of even weight as a column, in any order,
an odd one every word of odd weight. Every line has C/2 ones in either.

    Gen(a, m):   (r, c) = (a div columns, a mod columns)
                 for every row i:  A_i = a random arrangement, odd if i = r, even otherwise
                                   s_i1 .. s_iC = random seeds
                 w = G(s_r1) + .. + G(s_rC) + (m at column c, zero elsewhere)
                 key of server p: for every row i the seeds s_ij with A_i[p, j] = 1,
                                  for every row i the bit t_i = A_i[p, C],  and w
    Eval(p, k):  row i of the share = sum of G(s) over the row's seeds s in k  +  t_i * w

Sums are XOR. Shares sum to the point function: in an even row every seed, and w, is counted an
even number of times; in row r every one of them an odd number of times, which leaves
G(s_r1) + .. + G(s_rC) + w = m at column c. Any n-1 servers lack exactly one seed of every row (the
column that is all zero in their lines, at a place that says nothing), their lines of an odd and of
an even arrangement are equally distributed, and the expansion of the seed that they lack in row r
hides everything in w.

The paper adds a correction w_j to the expansion of every column, C of them with a fixed sum. Only
the sum is ever needed: C-1 of them may be any constants, and here they are zero. This shortens the
paper's keys by a factor of sqrt(C) and leaves a server with one bit per row in place of C.
"""

from functools import lru_cache
from itertools import permutations
from math import ceil, factorial, isqrt
from typing import Protocol

import attrs
import numpy as np
from attrs.validators import ge, in_, instance_of
from numpy.typing import NDArray

from anonloom.typing import ByteArray
from anonloom_dpf.aes import BLOCK, SLACK, blocks_of, permutation
from anonloom_transport import Entropy

__all__ = ["Square", "Coins", "Expansion", "FixedKey"]

#: Bytes of a seed.
SEED = 16

#: Bytes that one call of AES works on: input, output and the part of the share stay in the cache.
CHUNK = 1 << 18


class Expansion(Protocol):
    """The pseudorandom generator G, as a sum of its values."""

    def add(self, seeds: ByteArray, out: ByteArray) -> None:
        """XOR into row i of `out` the expansions of `seeds[:, i]`.

        Parameters
        ----------
        seeds
            Of shape (seeds per row, rows, 16).
        out
            Of shape (rows, bytes); changed in place.
        """


class FixedKey:
    """G(s) = AES_k(s ^ 0) ^ s ^ 0 | AES_k(s ^ 1) ^ s ^ 1 | .. for a fixed, public k.

    AES alone could be undone by everybody: what is added after it makes the function one-way. With
    AES_k as an ideal permutation, T evaluations tell the outputs of S unknown seeds from random
    bytes with probability at most about T S B / 2^128, B being the number of blocks of an output.
    """

    def add(self, seeds: ByteArray, out: ByteArray) -> None:
        """XOR into row i of `out` the expansions of `seeds[:, i]`."""
        rows, size = out.shape
        blocks = blocks_of(size)
        step = max(1, min(rows, CHUNK // (blocks * BLOCK)))
        counter = np.zeros((blocks, 2), np.uint64)
        counter[:, 0] = np.arange(blocks)
        plain = np.empty((step, blocks * 2), np.uint64)
        coded = np.empty(plain.nbytes + SLACK, np.uint8)
        permute = permutation("square").update_into
        # Seeds are copied as single 16-byte items: numpy is slow at an innermost axis of two.
        whole = np.ascontiguousarray(seeds).view(np.complex128)
        for first in range(0, rows, step):
            part = out[first : first + step]
            count = len(part)
            plain_part = plain[:count]
            coded_part = coded[: plain_part.nbytes].reshape(count, -1)
            for line in whole[:, first : first + step]:
                np.copyto(plain_part.view(np.complex128), line)
                np.bitwise_xor(plain_part, counter.reshape(-1), out=plain_part)
                permute(plain_part.reshape(-1).view(np.uint8), coded)
                words = coded_part.view(np.uint64)
                np.bitwise_xor(words, plain_part, out=words)
                np.bitwise_xor(part, coded_part[:, :size], out=part)


@attrs.frozen
class Coins:
    """All that is random in a batch of keys, before it is known what they are for.

    Attributes
    ----------
    orders
        Of every key and row, the number of the arrangement's order of columns, below C!.
    seeds
        Of every key, row and column of the arrangement, 16 bytes.
    """

    orders: NDArray[np.int64] = attrs.field(repr=False)
    seeds: ByteArray = attrs.field(repr=False)


@attrs.frozen
class _Arrangements:
    """All arrangements of n lines, by parity (0 even, 1 odd) and number of the order of columns.

    Attributes
    ----------
    held
        held[parity, order, line]: the columns where the line has a one, ascending.
    last
        last[parity, order, line]: whether the last of them is column C.
    """

    held: ByteArray
    last: NDArray[np.bool_]


@lru_cache(maxsize=3)
def arrangements(servers: int) -> _Arrangements:
    """Return every arrangement for so many servers."""
    columns = 1 << servers - 1
    orders = np.array(list(permutations(range(columns))))
    words = np.arange(2**servers)
    bits = words[:, None] >> np.arange(servers) & 1
    weights = bits.sum(axis=1)
    # ones[parity, order, line, column]
    ones = np.stack([bits[weights % 2 == odd][orders].swapaxes(1, 2) for odd in (0, 1)]) == 1
    held = np.nonzero(ones)[-1].astype(np.uint8).reshape(*ones.shape[:-1], columns // 2)
    return _Arrangements(held, ones[..., -1])


@attrs.frozen
class Square:
    """Shares of a table in which one leaf holds a payload and all others hold zero.

    Attributes
    ----------
    servers
        Number of servers, 2 to 4; any `servers - 1` of them learn neither index nor payload.
    leaves
        Number of leaves of the table.
    width
        Bytes of a leaf.
    expansion
        The pseudorandom generator; another one than `FixedKey` is for tests of secrecy.
    rows, columns
        How the table is folded: what makes the keys shortest.
    row_size
        Bytes of a row.
    key_size
        Bytes of every key of every server.
    """

    servers: int = attrs.field(validator=[instance_of(int), in_((2, 3, 4))])
    leaves: int = attrs.field(validator=[instance_of(int), ge(1)])
    width: int = attrs.field(validator=[instance_of(int), ge(1)])
    expansion: Expansion = attrs.field(factory=FixedKey, kw_only=True, repr=False)
    rows: int = attrs.field(init=False)
    columns: int = attrs.field(init=False)
    row_size: int = attrs.field(init=False, repr=False)
    key_size: int = attrs.field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        # Either the rows or the columns of the best fold are at most the root of the leaves.
        short = range(1, isqrt(self.leaves) + 2)
        folds = {(short_side, ceil(self.leaves / short_side)) for short_side in short}
        folds |= {(rows, columns) for columns, rows in folds}
        size, rows, columns = min((self._key_size(*fold), *fold) for fold in folds)
        object.__setattr__(self, "rows", rows)
        object.__setattr__(self, "columns", columns)
        object.__setattr__(self, "row_size", columns * self.width)
        object.__setattr__(self, "key_size", size)

    @property
    def seeds_held(self) -> int:
        """Number of seeds that a server gets of every row."""
        return 1 << self.servers - 2

    def _key_size(self, rows: int, columns: int) -> int:
        return rows * self.seeds_held * SEED + ceil(rows / 8) + columns * self.width

    def coins(self, count: int, entropy: Entropy) -> Coins:
        """Draw what `count` keys need of randomness."""
        columns = 2 * self.seeds_held
        seeds = np.frombuffer(entropy.bytes(count * self.rows * columns * SEED), np.uint8)
        return Coins(
            _below(factorial(columns), count * self.rows, entropy).reshape(count, self.rows),
            seeds.reshape(count, self.rows, columns, SEED),
        )

    def keys(
        self, indices: NDArray[np.int64], payloads: ByteArray, entropy: Entropy
    ) -> tuple[ByteArray, ...]:
        """Make the keys of a batch of point functions.

        Parameters
        ----------
        indices
            The leaf of each.
        payloads
            What it holds; of shape (number of indices, width).
        entropy
            Where seeds and arrangements come from.

        Returns
        -------
        tuple
            Of each server, an array of shape (number of indices, key_size).
        """
        return self.deal(self.coins(len(indices), entropy), indices, payloads)

    def deal(
        self, coins: Coins, indices: NDArray[np.int64], payloads: ByteArray
    ) -> tuple[ByteArray, ...]:
        """Make keys from given coins: Gen without its random choices."""
        indices, payloads = np.asarray(indices), np.asarray(payloads)
        self._check_points(indices, payloads)
        count = len(indices)
        row, column = np.divmod(indices, self.columns)
        each = np.arange(count)
        correction = np.zeros((count, self.row_size), np.uint8)
        self.expansion.add(coins.seeds[each, row].swapaxes(0, 1), correction)
        correction.reshape(count, self.columns, self.width)[each, column] ^= payloads

        parity = np.zeros((count, self.rows), np.int64)
        parity[each, row] = 1
        arranged = arrangements(self.servers)
        held = arranged.held[parity, coins.orders]
        last = arranged.last[parity, coins.orders]
        keys = []
        for line in range(self.servers):
            seeds = np.take_along_axis(coins.seeds, held[:, :, line, :, None], axis=2)
            bits = np.packbits(last[:, :, line], axis=1, bitorder="little")
            flat = seeds.reshape(count, self.rows * self.seeds_held * SEED)
            keys.append(np.hstack([flat, bits, correction]))
        return tuple(keys)

    def accumulate(self, party: int, keys: ByteArray, share: ByteArray) -> None:
        """XOR the evaluations of keys into a share of the table.

        Any bytes are a key: what does not come from `keys` gives a share of something else than a
        point function, which is for others to notice (`slotauth`).

        Parameters
        ----------
        party
            Whose keys these are, from 0.
        keys
            Of shape (number of keys, key_size).
        share
            Of shape (leaves, width), contiguous; changed in place.
        """
        self._check_share(party, keys, share)
        count, in_seeds = len(keys), self.rows * self.seeds_held * SEED
        seeds = keys[:, :in_seeds].reshape(count, self.rows, self.seeds_held, SEED)
        bits = np.unpackbits(
            keys[:, in_seeds : -self.row_size], axis=1, count=self.rows, bitorder="little"
        )
        correction = keys[:, -self.row_size :]

        # The last row may reach beyond the last leaf: it is made aside, then cut.
        table = share.reshape(-1)
        full = len(table) // self.row_size
        grid = table[: full * self.row_size].reshape(full, self.row_size)
        # Part by part, all keys for each: the part of a large table stays in the cache.
        step = max(1, CHUNK // self.row_size)
        for first in range(0, full, step):
            part = slice(first, min(first + step, full))
            self._add(seeds[:, part], bits[:, part], correction, grid[part])
        if full < self.rows:
            rest = np.zeros((1, self.row_size), np.uint8)
            self._add(seeds[:, full:], bits[:, full:], correction, rest)
            table[full * self.row_size :] ^= rest[0, : len(table) - full * self.row_size]

    def _add(
        self, seeds: ByteArray, bits: ByteArray, correction: ByteArray, out: ByteArray
    ) -> None:
        """XOR the evaluations of all keys in some rows into `out`."""
        count, rows = bits.shape
        lines = seeds.transpose(0, 2, 1, 3).reshape(count * self.seeds_held, rows, SEED)
        self.expansion.add(lines, out)
        choice = np.zeros((2, self.row_size), np.uint8)
        chosen = np.empty_like(out)
        for bit, choice[1] in zip(bits, correction, strict=True):
            np.take(choice, bit, axis=0, out=chosen, mode="clip")
            np.bitwise_xor(out, chosen, out=out)

    def _check_points(self, indices: NDArray[np.int64], payloads: ByteArray) -> None:
        if indices.ndim != 1 or (
            len(indices) and not 0 <= indices.min() <= indices.max() < self.leaves
        ):
            raise ValueError(f"indices must be a list of numbers from 0 to {self.leaves - 1}")
        if payloads.shape != (len(indices), self.width) or payloads.dtype != np.uint8:
            raise ValueError(
                f"payloads must be bytes of shape {(len(indices), self.width)}. "
                f"Got {payloads.dtype} of shape {payloads.shape} instead."
            )

    def _check_share(self, party: int, keys: ByteArray, share: ByteArray) -> None:
        if not 0 <= party < self.servers:
            raise ValueError(f"party must be below {self.servers}. Got {party} instead.")
        if keys.ndim != 2 or keys.shape[1] != self.key_size or keys.dtype != np.uint8:
            raise ValueError(
                f"keys must be bytes of shape (any, {self.key_size}). "
                f"Got {keys.dtype} of shape {keys.shape} instead."
            )
        if share.shape != (self.leaves, self.width) or share.dtype != np.uint8:
            raise ValueError(
                f"share must be bytes of shape {(self.leaves, self.width)}. "
                f"Got {share.dtype} of shape {share.shape} instead."
            )
        if not share.flags.c_contiguous:
            raise ValueError("share must be contiguous: it is changed in place")


def _below(bound: int, count: int, entropy: Entropy) -> NDArray[np.int64]:
    """Draw numbers below a bound, all equally likely: words above the last multiple are redrawn."""
    limit = 2**32 // bound * bound
    drawn = np.frombuffer(entropy.bytes(4 * count), "<u4").astype(np.int64)
    while (above := drawn >= limit).any():
        again = np.frombuffer(entropy.bytes(4 * int(above.sum())), "<u4")
        drawn[above] = again
    return drawn % bound
