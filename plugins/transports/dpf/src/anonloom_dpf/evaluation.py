"""Evaluating many keys at every leaf and adding them up, with numpy and AES of `cryptography`.

Keys are taken in groups, leaves in tiles, so that states, AES output and the part of the share they
go to stay in the cache. Three things are linear and are therefore done once for many keys:

- the payload of a leaf is p_j(x) xor x for block j; the x of a group's keys are added up once for
  all blocks;
- the last correction word counts where the control bit is 1: eight keys at a time, the eight bits
  are a row number in the table of the 256 sums of their correction words;
- blocks are kept apart (`planes`: block j of all leaves), so one AES call per block runs over a
  whole level; the rows of the share are put together once at the end.
"""

from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from anonloom.typing import ByteArray
from anonloom_dpf.aes import BLOCK, SLACK, flat, permutation
from anonloom_dpf.columns import Columns, Numbers
from anonloom_dpf.key_check import TAG_BYTES, Tags
from anonloom_dpf.shape import TILE, Shape

if TYPE_CHECKING:
    from anonloom_dpf.tree import Parts

#: States of a level that are computed together: 256 KiB of them; twice as many were no faster.
HELD = 1 << 14
#: States per AES call of the payload: 128 KiB.
CALLED = 1 << 13
#: Keys of a large tree that are taken together: their tables of sums and states share a cache.
GROUP = 32
#: Keys of very small trees that are taken together.
MOST_KEYS = 1 << 12

MessageLog = NDArray[np.uint64]
Cells = NDArray[np.complex128]  # 16 bytes as one item: what `take` copies fastest


def evaluate(
    shape: Shape,
    party: int,
    parts: "Parts",
    share: ByteArray,
    check_key: bytes | None,
    columns: Columns | None = None,
) -> ByteArray | None:
    """Add the evaluation of all keys to `share` and return their tags, if a check key is given."""
    leaves, width = share.shape
    planes = -(-width // BLOCK)
    direct = width == BLOCK and share.flags.c_contiguous
    sums = (
        share.reshape(1, leaves, BLOCK) if direct else np.zeros((planes, leaves, BLOCK), np.uint8)
    )
    group = max(GROUP, min(MOST_KEYS, HELD // min(leaves, TILE)))
    work = _Workspace()
    tags = []
    for start in range(0, len(parts), group):
        some = slice(start, start + group)
        batch = _Batch(shape, party, parts.take(some), work, check_key)
        if columns is not None:
            batch.numbers = Numbers(columns.take(some), batch.words)
        batch.add(sums)
        if batch.numbers is not None:
            batch.numbers.finish()
        if batch.tags is not None:
            tags.append(batch.tags.finish())
    if not direct:
        _put_together(sums, share)
    if check_key is None:
        return None
    return np.concatenate(tags) if tags else np.empty((0, TAG_BYTES), np.uint8)


def _put_together(planes: ByteArray, share: ByteArray) -> None:
    """Add planes (blocks, leaves, 16) to the rows of the share."""
    width = share.shape[1]
    step = max(1, HELD // len(planes))
    for start in range(0, len(share), step):
        rows = planes[:, start : start + step].transpose(1, 0, 2).reshape(-1, len(planes) * BLOCK)
        share[start : start + step] ^= rows[:, :width]


class _Workspace:
    """Buffers that are used again and again: fresh memory would cost more than AES does."""

    def __init__(self) -> None:
        self.buffers: dict[str, ByteArray] = {}

    def room(self, name: str, size: int) -> ByteArray:
        """At least `size` bytes under a name, with room for what AES asks for."""
        result = self.buffers.get(name)
        if result is None or result.size < size + SLACK:
            result = self.buffers[name] = np.empty(size + SLACK, np.uint8)
        return result[: size + SLACK]

    def states(self, name: str, *counts: int) -> ByteArray:
        """An array of states (counts x 16)."""
        size = BLOCK * prod(counts)
        return self.room(name, size)[:size].reshape(*counts, BLOCK)

    def numbers(self, name: str, *counts: int) -> NDArray[np.intp]:
        """An array of row numbers."""
        size = 8 * prod(counts)
        return self.room(name, size)[:size].view(np.intp).reshape(counts)


def _cells(states: ByteArray) -> Cells:
    """States as one item each."""
    return states.view(np.complex128)[..., 0]


class _Batch:
    """A group of keys on its way through all tiles."""

    def __init__(
        self, shape: Shape, party: int, parts: "Parts", work: _Workspace, check_key: bytes | None
    ) -> None:
        self.shape, self.work, self.keys = shape, work, len(parts)
        self.roots = parts.seeds.copy().reshape(self.keys, 1, BLOCK)
        self.roots[:, 0, 0] = self.roots[:, 0, 0] & 0xFE | party
        # Row 2k is nothing, row 2k + 1 the correction word of key k, per level.
        rows = np.zeros((shape.depth, self.keys, 2, BLOCK), np.uint8)
        rows[:, :, 1] = parts.corrections.transpose(1, 0, 2)
        self.tables = _cells(rows).reshape(shape.depth, 2 * self.keys)
        # Where left and right control bits are corrected differently.
        left_bits = parts.corrections[:, :, 0] & 1
        self.flips = np.ascontiguousarray((left_bits ^ parts.right_bits).T).astype(np.intp)
        self.flipped = [bool(flips.any()) for flips in self.flips]
        self.last = _Corrections(parts.last, min(shape.leaves, TILE))
        self.tags = None
        if check_key is not None:
            self.tags = Tags(check_key, parts.public, parts.check)
        self.words = parts.numbers
        self.numbers: Numbers | None = None

    def add(self, sums: ByteArray) -> None:
        """Evaluate all keys at all leaves and add them to planes."""
        states = self.roots
        for step, (here, below) in enumerate(pairwise(self.shape.top)):
            states = self.descend(states, f"top {step % 2}", step, below - here)
        full = self.shape.leaves // TILE
        if full:
            self.walk(sums, states[:, :full, None], 0, 0)
        if full < self.shape.tiles:
            self.walk(sums, states[:, full:, None], full, 0)

    def walk(self, sums: ByteArray, states: ByteArray, tile: int, step: int) -> None:
        """Go on from level `step` of neighbouring tiles: states (keys, tiles, nodes, 16).

        Levels of all tiles are computed together while they are short; when they become too long
        for the cache, the tiles part.
        """
        keys, tiles = states.shape[:2]
        sizes = self.shape.tile(tile)
        above = len(self.shape.top) - 1
        for here, below in pairwise(sizes[step:]):
            if tiles > 1 and keys * tiles * below > HELD:
                half = tiles // 2
                self.walk(sums, states[:, :half], tile, step)
                self.walk(sums, states[:, half:], tile + half, step)
                return
            rows = np.ascontiguousarray(states).reshape(keys * tiles, here, BLOCK)
            step += 1
            children = self.descend(rows, f"tile {step}", above + step - 1, below - here)
            states = children.reshape(keys, tiles, below, BLOCK)
        leaves = np.ascontiguousarray(states).reshape(keys, -1, BLOCK)
        first = tile * TILE
        self.payload(leaves, sums[:, first : first + leaves.shape[1]])
        if self.numbers is not None:
            for number in range(tiles):
                index = first + number * TILE
                self.numbers.absorb(index, np.ascontiguousarray(states[:, number]))
        if self.tags is not None:
            for number in range(tiles):
                self.tags.absorb(first + number * TILE, np.ascontiguousarray(states[:, number]))

    def descend(self, states: ByteArray, name: str, level: int, right: int) -> ByteArray:
        """The children of states (rows, nodes, 16), left then right; rows are tiles of keys.

        A child is p(x) xor x xor the correction word where the control bit is set. The last nodes
        may be without a right child: there are `right` of them.
        """
        rows, here, _ = states.shape
        bits = self.work.numbers("bits", rows, here)
        np.bitwise_and(states.view(np.intp)[:, :, 0], 1, out=bits)
        row = bits
        if self.keys > 1:
            base = np.repeat(2 * np.arange(self.keys), rows // self.keys)[:, None]
            row = np.add(bits, base, out=self.work.numbers("row", rows, here))
        added = self.work.states("added", rows, here)
        np.take(self.tables[level], row, out=_cells(added), mode="clip")
        words = added.view(np.uint64)
        words ^= states.view(np.uint64)
        room = self.work.room("aes", states.size)
        permuted = room[: states.size].view(np.uint64).reshape(words.shape)
        children = self.work.states(name, rows, here + right)
        below = children.view(np.uint64)
        permutation("left").update_into(flat(states), room)
        np.bitwise_xor(permuted, words, out=below[:, :here])
        if right:
            if self.flipped[level]:
                if self.keys > 1:
                    bits &= np.repeat(self.flips[level], rows // self.keys)[:, None]
                words[:, :, 0] ^= bits.view(np.uint64)
            permutation("right").update_into(flat(states), room)
            np.bitwise_xor(permuted[:, :right], words[:, :right], out=below[:, here:])
        return children

    def payload(self, states: ByteArray, sums: ByteArray) -> None:
        """Add the payloads of leaf states (keys, leaves, 16) to planes (blocks, leaves, 16)."""
        keys, leaves, _ = states.shape
        rows = self.last.rows_of(states, self.work)
        taken = self.work.states("added", *rows.shape)
        at_once = max(1, CALLED // leaves)
        parts = [states[start : start + at_once] for start in range(0, keys, at_once)]
        room = self.work.room("aes", parts[0].size)
        seeds = states[0]
        if keys > 1:
            seeds = _sum(states, self.work.states("seeds", leaves))
        for block, plane in enumerate(sums):
            permute = permutation("leaf", block)
            np.take(self.last.table(block), rows, out=_cells(taken), mode="clip")
            total = _sum(taken, self.work.states("total", leaves))
            total ^= seeds
            for part in parts:
                permute.update_into(flat(part), room)
                permuted = room[: part.size].reshape(part.shape)
                total ^= _sum(permuted, self.work.states("sum", leaves))
            plane ^= total


class _Corrections:
    """The last correction words of all keys, as sums over a few keys at a time."""

    def __init__(self, last: ByteArray, leaves: int) -> None:
        keys, width = last.shape
        # A table of 2^r sums pays when there are more leaves to look up than sums to make.
        self.together = 8 if leaves > 256 else 4 if leaves > 16 else 1
        self.together = min(self.together, keys)
        self.groups = -(-keys // self.together)
        blocks = -(-width // BLOCK)
        words = np.zeros((self.groups * self.together, blocks * BLOCK), np.uint8)
        words[:keys, :width] = last
        words = words.reshape(self.groups, self.together, blocks, BLOCK).transpose(2, 0, 1, 3)
        self.sums = np.zeros((blocks, self.groups, 1 << self.together, BLOCK), np.uint8)
        for bit in range(self.together):
            half = 1 << bit
            self.sums[:, :, half : 2 * half] = self.sums[:, :, :half] ^ words[:, :, bit, None]

    def table(self, block: int) -> Cells:
        """The sums of one block, all groups in one row."""
        return _cells(self.sums[block]).reshape(-1)

    def rows_of(self, states: ByteArray, work: _Workspace) -> NDArray[np.intp]:
        """Which sum each group adds at each leaf: the control bits read as a number."""
        keys, leaves, _ = states.shape
        rows = work.numbers("rows", self.groups, leaves)
        base = (np.arange(self.groups) << self.together)[:, None]
        if self.together == 1:
            np.bitwise_and(states.view(np.intp)[:, :, 0], 1, out=rows)
            if self.groups > 1:
                rows += base
            return rows
        bits = np.zeros((self.groups * self.together, leaves), np.uint8)
        np.bitwise_and(states[:, :, 0], 1, out=bits[:keys])
        bits = bits.reshape(self.groups, self.together, leaves)
        number = bits[:, 0]
        for bit in range(1, self.together):
            number |= bits[:, bit] << bit
        np.add(number, base, out=rows)
        return rows


def _sum(states: ByteArray, out: ByteArray) -> ByteArray:
    """The sum over the keys of states (keys, leaves, 16): of one key as it is, else in `out`."""
    if len(states) == 1:
        return states.reshape(out.shape)
    np.bitwise_xor.reduce(states.view(np.uint64), axis=0, out=out.view(np.uint64))
    return out
