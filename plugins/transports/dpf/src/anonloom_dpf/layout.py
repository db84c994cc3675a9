"""Layout: which tables a round has, and how messages become keys of point functions on them."""

from collections.abc import Sequence
from functools import lru_cache

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom.typing import ByteArray
from anonloom_dpf import count_proof, slotauth
from anonloom_dpf.gf128 import SIZE
from anonloom_dpf.peeling import PeelingPlacement
from anonloom_dpf.placement import Placement
from anonloom_dpf.prime_field import Elements
from anonloom_dpf.single import SingleSlot
from anonloom_dpf.sqrt_dpf import Square
from anonloom_dpf.tree import Tree
from anonloom_transport import Entropy, Round, SlotSecret, row_size, write_row

#: Bytes of a server's share of a slot's tag.
TAG_BYTES = SIZE


@attrs.frozen
class Settings:
    """The parameters of the transport that shape a round."""

    placement: str
    slots_per_leaf: int
    tolerated: float
    success_rate: float


def point_function(
    servers: int, leaves: int, width: int, *, checked: bool = False, counted: bool = False
) -> Tree | Square:
    """Return the construction for so many servers: a tree for two, a square root for more."""
    if servers == 2:
        return Tree(leaves, width, checked=checked, counted=counted)
    return Square(servers, leaves, width)


@attrs.frozen
class PostLayout:
    """The tables of a `post`: each message goes to one slot of each."""

    servers: int
    placement: Placement
    slots_per_leaf: int
    functions: tuple[Tree | Square, ...]

    @property
    def content_size(self) -> int:
        """Bytes of what a client seals to each server: one key per table."""
        return sum(function.key_size for function in self.functions)

    @property
    def can_check_keys(self) -> bool:
        """Whether keys can be checked: with two servers only."""
        return self.servers == 2

    def contents(self, messages: Sequence[bytes], entropy: Entropy) -> list[ByteArray]:
        """Return for each server what is sealed to it, one row per message."""
        records, slots = self.placement.place(messages, entropy)
        keys: list[list[ByteArray]] = [[] for _ in range(self.servers)]
        for table, function in enumerate(self.functions):
            leaves, within = np.divmod(slots[:, table], self.slots_per_leaf)
            payloads = np.zeros((len(records), self.slots_per_leaf, records.shape[1]), np.uint8)
            payloads[np.arange(len(records)), within] = records
            flat = payloads.reshape(len(records), -1)
            for server, own in enumerate(function.keys(leaves, flat, entropy)):
                keys[server].append(own)
        return [np.concatenate(own, axis=1) for own in keys]

    def garbage(self, senders: int, entropy: Entropy) -> list[ByteArray]:
        """Return for each server what passes all checks and spoils most: a leaf of every table."""
        keys: list[list[ByteArray]] = [[] for _ in range(self.servers)]
        for function in self.functions:
            drawn = np.frombuffer(entropy.bytes(8 * senders), np.uint64) % function.leaves
            noise = np.frombuffer(entropy.bytes(senders * function.width), np.uint8)
            payloads = noise.reshape(senders, function.width)
            for server, own in enumerate(function.keys(drawn.astype(np.int64), payloads, entropy)):
                keys[server].append(own)
        return [np.concatenate(own, axis=1) for own in keys]

    def split(self, contents: ByteArray) -> list[ByteArray]:
        """Return the keys of each table."""
        ends = np.cumsum([function.key_size for function in self.functions])
        return [np.ascontiguousarray(part) for part in np.split(contents, ends[:-1], axis=1)]

    def empty(self) -> list[ByteArray]:
        """Return shares of tables in which nothing was written."""
        return [np.zeros((f.leaves, f.width), np.uint8) for f in self.functions]

    def tables(self, data: bytes) -> list[ByteArray] | None:
        """Read all tables, slot by slot; None when the size is wrong."""
        sizes = [function.leaves * function.width for function in self.functions]
        if len(data) != sum(sizes):
            return None
        flat = np.split(np.frombuffer(data, np.uint8), np.cumsum(sizes)[:-1])
        return [table.reshape(-1, self.placement.record_size) for table in flat]


@attrs.frozen
class DepositLayout:
    """The table of a `deposit`: one row per position."""

    servers: int
    rows: int
    width: int
    iteration: int
    iterations: int
    context: bytes = attrs.field(repr=False)
    counted: bool = False
    function: Tree | Square = attrs.field(init=False)

    @function.default
    def _function(self) -> Tree | Square:
        return point_function(self.servers, self.rows, self.width, counted=self.counted)

    @property
    def content_size(self) -> int:
        """Bytes of what a client seals to each server: a key, and shares of what proves it."""
        return self.function.key_size + TAG_BYTES + count_proof.WITNESS_BYTES * self.counted

    def empty(self) -> ByteArray:
        """Return a share of a table in which nothing was written."""
        return np.zeros((self.rows, self.width), np.uint8)

    def weights(self, alphas: Sequence[bytes]) -> ByteArray:
        """Return what the slots' keys weigh rows with."""
        return slotauth.weights(
            _stack_alphas(alphas), self.width, context=self.context, iteration=self.iteration
        )

    def position_weights(self, alphas: Sequence[bytes]) -> Elements:
        """Return what the slots' keys weigh presence with."""
        return count_proof.position_weights(
            _stack_alphas(alphas), context=self.context, iteration=self.iteration
        )

    def contents(
        self, places: Sequence[tuple[int, SlotSecret, bytes]], entropy: Entropy
    ) -> list[ByteArray]:
        """Return for each server what is sealed to it, one row per record."""
        written = b"".join(
            write_row(secret, self.iteration, self.iterations, record)
            for _, secret, record in places
        )
        rows = np.frombuffer(written, np.uint8).reshape(len(places), self.width)
        alphas = [secret.alpha for _, secret, _ in places]
        tags = slotauth.tags(rows, self.weights(alphas))
        indices = np.array([position for position, _, _ in places], np.int64)
        return self._write_keys(indices, rows, tags, alphas, entropy)

    def nothing(self, entropy: Entropy) -> list[ByteArray]:
        """Return for each server what writes nothing: zeros at any position, whose tag is zero."""
        index = np.zeros(1, np.int64)
        rows, tags = np.zeros((1, self.width), np.uint8), np.zeros((1, TAG_BYTES), np.uint8)
        return self._write_keys(index, rows, tags, [], entropy)

    def _write_keys(
        self,
        indices: NDArray[np.int64],
        rows: ByteArray,
        tags: ByteArray,
        alphas: Sequence[bytes],
        entropy: Entropy,
    ) -> list[ByteArray]:
        """Return what is sealed to each server; without keys of slots it is what counts nowhere."""
        shared = slotauth.shares(tags, self.servers, entropy)
        if not (self.counted and isinstance(self.function, Tree)):
            keys = self.function.keys(indices, rows, entropy)
            return [np.concatenate(both, axis=1) for both in zip(keys, shared, strict=True)]
        nowhere = np.zeros(len(rows), np.uint64)
        weights = self.position_weights(alphas) if alphas else nowhere
        present = np.full(len(rows), bool(alphas))
        numbers, witnesses = count_proof.make_claims(present, weights, entropy)
        counted = self.function.keys(indices, rows, entropy, numbers)
        return [np.concatenate(all, axis=1) for all in zip(counted, shared, witnesses, strict=True)]


def _stack_alphas(alphas: Sequence[bytes]) -> ByteArray:
    return np.frombuffer(b"".join(alphas), np.uint8).reshape(len(alphas), -1)


@lru_cache(maxsize=8)
def post_layout(round: Round, settings: Settings) -> PostLayout:
    """Return the tables of a `post`."""
    # The digest is fresh in every round, and so are the slots that a tag leads to.
    salt, slots_per_leaf = round.digest, settings.slots_per_leaf
    placement: Placement
    if settings.placement == "paper":
        slots_per_leaf = 1
        placement = SingleSlot(
            capacity=round.capacity,
            message_size=round.message_size,
            success_rate=settings.success_rate,
            salt=salt,
        )
    else:
        placement = PeelingPlacement(
            capacity=round.capacity,
            message_size=round.message_size,
            slots_per_leaf=slots_per_leaf,
            tolerated=settings.tolerated,
            salt=salt,
        )
    functions = tuple(
        point_function(
            round.servers,
            slots // slots_per_leaf,
            slots_per_leaf * placement.record_size,
            checked=round.servers == 2,
        )
        for slots in placement.tables
    )
    return PostLayout(round.servers, placement, slots_per_leaf, functions)


@lru_cache(maxsize=8)
def deposit_layout(round: Round) -> DepositLayout:
    """Return the table of a `deposit`."""
    return DepositLayout(
        round.servers,
        len(round.slots),
        row_size(round.message_size),
        round.iteration,
        round.iterations,
        round.digest,
        round.counted,
    )
