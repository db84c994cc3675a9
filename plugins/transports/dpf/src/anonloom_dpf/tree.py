"""Two-server point functions with keys that grow with the logarithm of the table.

Boyle, Gilboa and Ishai 2016 over the xor of byte strings, with fixed-key AES. One leaf may carry
several slots of a table (early termination): `width` is the size of all of them together.

A key is `seed (16) | public part`, the public part is
`correction words (16 per level) | control bits of right children (1 bit per level) |
last correction word (width) | correction of numbers (16, if counted) |
check word (64, if checked)`. Which party a key is for is not in it.
"""

from functools import cached_property

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom.typing import ByteArray
from anonloom_dpf import native
from anonloom_dpf.aes import BLOCK, blocks_of, one_way
from anonloom_dpf.columns import NUMBERS, SKETCH, Columns, Weights, require_columns
from anonloom_dpf.evaluation import evaluate
from anonloom_dpf.generation import Nodes, generate
from anonloom_dpf.key_check import CHECK_BLOCKS, CHECK_BYTES, check_cipher, leaf_hash
from anonloom_dpf.prime_field import MODULUS, SIZE, Elements, read, reduce
from anonloom_dpf.shape import Shape
from anonloom_transport import Entropy

#: Keys that are made together: their states stay in the cache.
TOGETHER = 1 << 11
#: Leaf numbers are hashed as 32-bit words.
MOST_LEAVES = 1 << 31


@attrs.frozen
class Parts:
    """The fields of m keys, as views."""

    seeds: ByteArray = attrs.field(repr=False)
    public: ByteArray = attrs.field(repr=False)
    corrections: ByteArray = attrs.field(repr=False)
    right_bits: ByteArray = attrs.field(repr=False)
    last: ByteArray = attrs.field(repr=False)
    numbers: ByteArray = attrs.field(repr=False)
    check: ByteArray = attrs.field(repr=False)

    def __len__(self) -> int:
        return len(self.seeds)

    def take(self, some: slice) -> "Parts":
        """The same of some of the keys."""
        return Parts(*(part[some] for part in attrs.astuple(self, recurse=False)))


@attrs.frozen
class AesExpansion:
    """Fixed-key AES as the expansion of states."""

    width: int
    checked: bool

    def children(self, nodes: Nodes, states: ByteArray) -> tuple[ByteArray, ByteArray]:
        """p_left(x) xor x and p_right(x) xor x."""
        return one_way("left", 0, states), one_way("right", 0, states)

    def payload(self, nodes: Nodes, states: ByteArray) -> ByteArray:
        """p_j(x) xor x for block j, cut to the width."""
        blocks = [one_way("leaf", block, states) for block in range(blocks_of(self.width))]
        return np.concatenate(blocks, axis=1)[:, : self.width]

    def numbers(self, nodes: Nodes, states: ByteArray) -> Elements:
        """The two halves of p(x) xor x."""
        return read(one_way("numbers", 0, states).tobytes()).reshape(-1, NUMBERS)

    def digest(self, leaves: NDArray[np.int64], states: ByteArray) -> ByteArray:
        """The leaf hash of the check."""
        if not self.checked:
            return np.empty((len(states), 0), np.uint8)
        return leaf_hash(leaves, states)


def _positive(instance: "Tree", attribute: "attrs.Attribute[int]", value: int) -> None:
    if not 1 <= value <= MOST_LEAVES:
        message = f"{attribute.name} must be between 1 and {MOST_LEAVES}. Got {value} instead."
        raise ValueError(message)


@attrs.frozen(slots=False)
class Tree:
    """Point functions on `leaves` leaves of `width` bytes for two servers.

    Parameters
    ----------
    leaves : int
        Any number from 1 on.
    width : int
        Bytes per leaf, from 1 on: slots per leaf times bytes per slot.
    checked : bool
        Whether keys carry what `accumulate(check_key=...)` needs.
    counted : bool
        Whether a leaf holds two numbers beside its bytes; see `count`.
    """

    leaves: int = attrs.field(validator=_positive)
    width: int = attrs.field(validator=_positive)
    checked: bool = False
    counted: bool = False

    @cached_property
    def shape(self) -> Shape:
        """The levels of the tree."""
        return Shape(self.leaves)

    @property
    def depth(self) -> int:
        """Levels below the root."""
        return self.shape.depth

    @property
    def public_size(self) -> int:
        """Bytes of the part that both keys share."""
        bits = (self.depth + 7) // 8
        more = NUMBERS * SIZE * self.counted + CHECK_BYTES * self.checked
        return BLOCK * self.depth + bits + self.width + more

    @property
    def key_size(self) -> int:
        """Bytes of a key, the same for every key of this tree."""
        return BLOCK + self.public_size

    @property
    def aes_bytes(self) -> int:
        """Bytes of AES that the definition needs for one key at all leaves: the unit of cost."""
        per_leaf = blocks_of(self.width) + CHECK_BLOCKS * self.checked + self.counted
        return BLOCK * (self.shape.nodes + per_leaf * self.leaves)

    def keys(
        self,
        indices: NDArray[np.int64],
        payloads: ByteArray,
        entropy: Entropy,
        numbers: Elements | None = None,
    ) -> tuple[ByteArray, ByteArray]:
        """Keys for party 0 and 1 of m point functions: `payloads[i]` at leaf `indices[i]`.

        Parameters
        ----------
        indices : array (m,)
        payloads : uint8 array (m, width)
        entropy : Entropy
            Where the 32 bytes of seeds per point function come from.
        numbers : uint64 array (m, 2), optional
            Of a counted tree, what the leaf holds beside its payload, below the modulus.
        """
        indices = np.ascontiguousarray(indices, np.int64)
        payloads = np.ascontiguousarray(self._rows(payloads, self.width, "payloads"))
        if indices.shape != (len(payloads),):
            message = (
                f"indices must be {len(payloads)}, one per payload. Got {indices.shape} instead."
            )
            raise ValueError(message)
        if len(indices) and not (indices.min() >= 0 and indices.max() < self.leaves):
            raise ValueError(f"indices must be between 0 and {self.leaves - 1}.")
        m = len(indices)
        if self.counted != (numbers is not None):
            raise ValueError("A counted tree has numbers, and no other.")
        if numbers is not None and (numbers.shape != (m, NUMBERS) or (numbers >= MODULUS).any()):
            raise ValueError(f"numbers must be {NUMBERS} elements of the field per payload.")
        both = np.empty((2, m, self.key_size), np.uint8)
        seeds = both[:, :, :BLOCK]
        seeds[:] = np.frombuffer(entropy.bytes(2 * m * BLOCK), np.uint8).reshape(2, m, BLOCK)
        seeds[:, :, 0] &= 0xFE
        if native.kernel_name() != "numpy":
            native.generate(self, indices, payloads, both[0], both[1], numbers)
            return both[0], both[1]
        for start in range(0, m, TOGETHER):
            some = slice(start, start + TOGETHER)
            held = None if numbers is None else numbers[some]
            both[:, some, BLOCK:] = self._public(
                indices[some], payloads[some], seeds[:, some], held
            )
        return both[0], both[1]

    def _public(
        self,
        indices: NDArray[np.int64],
        payloads: ByteArray,
        seeds: ByteArray,
        numbers: Elements | None,
    ) -> ByteArray:
        """The shared parts as bytes."""
        path = self.shape.path(indices)
        expansion = AesExpansion(self.width, self.checked)
        public = generate(expansion, path, indices, payloads, seeds, numbers)
        fields = (
            public.corrections.reshape(len(indices), -1),
            np.packbits(public.right_bits, axis=1, bitorder="little"),
            public.last,
            public.numbers.astype("<u8").view(np.uint8),
            public.check,
        )
        return np.concatenate(fields, axis=1)

    def public(self, keys: ByteArray) -> ByteArray:
        """The part of each key that both servers must hold alike."""
        return self._rows(keys, self.key_size, "keys")[:, BLOCK:]

    def parts(self, keys: ByteArray) -> Parts:
        """The fields of keys."""
        public = self.public(keys)
        sizes = [BLOCK * self.depth, (self.depth + 7) // 8, self.width]
        ends = np.cumsum([*sizes, NUMBERS * SIZE * self.counted])
        words, bits, last, numbers, check = np.split(public, ends, axis=1)
        right_bits = np.unpackbits(bits, axis=1, bitorder="little")[:, : self.depth]
        corrections = words.reshape(len(keys), self.depth, BLOCK)
        return Parts(keys[:, :BLOCK], public, corrections, right_bits, last, numbers, check)

    def accumulate(
        self, party: int, keys: ByteArray, share: ByteArray, *, check_key: bytes | None = None
    ) -> ByteArray | None:
        """Add the evaluation of all keys at all leaves to `share`, in place.

        Parameters
        ----------
        party : int
            0 or 1: whose keys these are.
        keys : uint8 array (m, key_size)
        share : uint8 array (leaves, width)
        check_key : bytes, optional
            32 bytes drawn after the keys were fixed; only for a checked tree.

        Returns
        -------
        array (m, 16) or None
            With a check key one tag per key: the two servers' tags are equal if and only if the key
            passes (see `anonloom_dpf.key_check` for what that shows).
        """
        if check_key is not None:
            if not self.checked:
                raise ValueError("Only a tree with checked=True can be checked.")
            check_cipher(check_key)
        return self._evaluate(party, keys, share, check_key, None)

    def count(
        self, party: int, keys: ByteArray, share: ByteArray, sums: Elements, weights: Weights
    ) -> Elements:
        """Do as `accumulate` does, and add up the first numbers of all keys, leaf by leaf.

        Parameters
        ----------
        party, keys, share
            As of `accumulate`; only for a counted tree.
        sums : uint64 array (leaves,)
            What the first numbers are added to, in place. What party 0 has there, less what party 1
            has, is the sum of the first numbers of all point functions at that leaf.
        weights : uint32 array (leaves,)
            Below 2^22, drawn after the keys were fixed.

        Returns
        -------
        array (m, 3)
            Per key the sums over all leaves of weight times first number, of weight times second
            number, and of the weight's square times first number.
        """
        if not self.counted:
            raise ValueError("Only a tree with counted=True can be counted.")
        require_columns(self.leaves, sums, weights)
        columns = Columns(sums, weights, np.zeros((len(keys), SKETCH), np.uint64))
        self._evaluate(party, keys, share, None, columns)
        sums[:] = reduce(sums)
        return columns.sketches

    def _evaluate(
        self,
        party: int,
        keys: ByteArray,
        share: ByteArray,
        check_key: bytes | None,
        columns: Columns | None,
    ) -> ByteArray | None:
        keys = np.ascontiguousarray(self._rows(keys, self.key_size, "keys"))
        if party not in (0, 1):
            raise ValueError(f"party must be 0 or 1. Got {party!r} instead.")
        if share.shape != (self.leaves, self.width) or share.dtype != np.uint8:
            message = f"share must be bytes of shape {(self.leaves, self.width)}."
            raise ValueError(f"{message} Got {share.dtype} of shape {share.shape} instead.")
        if native.kernel_name() != "numpy" and share.flags.c_contiguous:
            return native.evaluate(self, party, keys, share, check_key, columns)
        return evaluate(self.shape, party, self.parts(keys), share, check_key, columns)

    def evaluate(self, party: int, key: ByteArray) -> ByteArray:
        """One party's share of one point function, (leaves, width)."""
        share = np.zeros((self.leaves, self.width), np.uint8)
        self.accumulate(party, key[None], share)
        return share

    def _rows(self, rows: ByteArray, size: int, what: str) -> ByteArray:
        if rows.ndim != 2 or rows.shape[1] != size or rows.dtype != np.uint8:
            message = f"{what} must be bytes of shape (any number, {size})."
            raise ValueError(f"{message} Got {rows.dtype} of shape {rows.shape} instead.")
        return rows
