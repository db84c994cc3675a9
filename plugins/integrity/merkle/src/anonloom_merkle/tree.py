"""A Merkle tree whose levels lie one after the other in one buffer, so that a proof only slices.

The tree of RFC 9162 (2.1.1): a leaf is `SHA-256(0x00 || row)`, a node `SHA-256(0x01 || left ||
right)`, the root of no leaves is the hash of nothing. The RFC splits a list at the largest power of
two below its size; level by level that is the same as joining neighbours and taking a last one
without a neighbour up as it is. Such a hash is stored on both levels: it costs at most one per
level, and the place of every hash follows from the size alone.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import islice, pairwise
from mmap import mmap
from typing import Self

import numpy as np

from anonloom.errors import IntegrityError, UsageError
from anonloom_seals.structure import HASH, Structure

#: What holds the levels of a tree; read, never written.
Buffer = bytes | bytearray | memoryview | mmap

#: A tree has fewer leaves: the RFC writes their number in eight bytes.
MOST_LEAVES = 1 << 64

#: What stands before the bytes of a leaf and before those of a node: neither passes for the other.
LEAF, NODE = b"\0", b"\1"

# Hashed at once: so many messages and digests stay in the processor's cache.
_AT_ONCE = 1024
_PAIR = 2 * HASH
_MESSAGE = len(NODE) + _PAIR


def leaf_hashes(rows: Iterable[bytes]) -> bytes:
    """Return the hashes of leaves, one after the other, from the bytes of each."""
    hashes, rest = bytearray(), iter(rows)
    while some := [sha256(LEAF + row).digest() for row in islice(rest, _AT_ONCE)]:
        hashes += b"".join(some)
    return bytes(hashes)


class Tree(Structure):
    """A Merkle tree over leaf hashes.

    Promise: nobody finds another list, or another leaf for a position, with the same root and
    size. The size belongs to it: the root alone does not tell it, so that a proof of one leaf may
    lead to the same root in a tree that is said to be larger.
    """

    def __init__(self, levels: memoryview, size: int) -> None:
        self._levels = levels
        self._size = size
        # Per level, leaves first: where it begins in the buffer, and how many hashes it has.
        self._places = _places(size)

    @classmethod
    def build(cls, leaves: bytes) -> Self:
        """Hash all levels above the leaf hashes, which may be none."""
        size, odd = divmod(len(leaves), HASH)
        if odd:
            raise UsageError(f"leaf hashes must have {HASH} bytes each. Got {len(leaves)} in all.")
        buffer = bytearray(_stored_bytes(size))
        levels = memoryview(buffer)
        levels[: len(leaves)] = leaves
        places = _places(size)
        for (start, count), (above, _) in pairwise(places):
            _join_pairs(levels[start : start + HASH * count], levels[above:])
        return cls(levels.toreadonly(), size)

    @classmethod
    def from_buffer(cls, buffer: Buffer, size: int) -> Self:
        """Use levels that `stored` returned, without reading more of them than a proof needs.

        They are believed: a proof from levels that were changed leads to no known root, and is
        refused where it is checked. The buffer is used, not copied; a file that is mapped into
        memory can't be closed before the tree is gone.

        Raises
        ------
        IntegrityError
            When a tree of this size does not have this many bytes.
        """
        _check_size(size)
        levels = memoryview(buffer).cast("B")
        if len(levels) != _stored_bytes(size):
            raise IntegrityError(
                f"the stored tree has {len(levels)} bytes; one of {size} leaves has "
                f"{_stored_bytes(size)}"
            )
        return cls(levels.toreadonly(), size)

    def levels_buffer(self) -> memoryview:
        """All levels, leaves first, for `from_buffer`; not to be written to."""
        return self._levels

    @property
    def size(self) -> int:
        """How many leaves there are."""
        return self._size

    @property
    def root(self) -> bytes:
        """What binds them, 32 bytes."""
        return bytes(self._levels[-HASH:]) if self._size else sha256().digest()

    def node(self, level: int, place: int) -> memoryview:
        """Return one hash: of the `1 << level` leaves from `place << level` on, or of the rest."""
        index = self._places[level][0] + HASH * place
        return self._levels[index : index + HASH]

    def prove(self, positions: Sequence[int]) -> bytes:
        """Return the hashes that are missing to compute the root from the leaves at positions.

        Of every level from the leaves up, those beside a hash that is known and that can't be
        computed, from left to right. For one position that is the RFC's inclusion proof.
        """
        known = list(positions)
        if not known or any(a >= b for a, b in pairwise([-1, *known, self._size])):
            raise UsageError(
                f"positions must be at least one, ascending, each once and below {self._size}"
            )
        path: list[memoryview] = []
        level = 0
        while len(known) > 1:
            count = self._places[level][1]
            path += [self.node(level, place) for place in _beside(known, count)]
            known = list(dict.fromkeys([place >> 1 for place in known]))
            level += 1
        path += self._way_up(level, known[0])
        return b"".join(path)

    def _way_up(self, level: int, place: int) -> list[memoryview]:
        """What stands beside one hash and those above it; most proofs are of one leaf."""
        levels, path = self._levels, []
        for start, count in self._places[level:]:
            beside = place ^ 1
            if beside < count:
                index = start + HASH * beside
                path.append(levels[index : index + HASH])
            place >>= 1
        return path

    @staticmethod
    def recompute(size: int, leaves: Mapping[int, bytes], path: bytes) -> bytes:
        """Compute the root from some leaves and the hashes of `prove`.

        All of them are used, in the order that size and positions alone ask for; so these two must
        be what was signed or asked for, not what a proof says of itself.

        Raises
        ------
        IntegrityError
            When the size is none, leaves are missing, outside or no hashes, or the path has too
            many or too few hashes.
        """
        known = _check_positions(size, leaves)
        if len(path) % HASH:
            raise IntegrityError(f"the path is no row of hashes: it has {len(path)} bytes")
        hashes = [leaves[place] for place in known]
        used, count = 0, size
        while count > 1:
            known, hashes, used = _level_above(known, hashes, count, path, used)
            if used > len(path):
                raise _unfit(path, size, "more")
            count = (count + 1) >> 1
        if used < len(path):
            raise _unfit(path, size, str(used // HASH))
        return bytes(hashes[0])


def _places(size: int) -> list[tuple[int, int]]:
    """Where every level begins, in bytes, and how many hashes it has."""
    places, start, count = [(0, size)], 0, size
    while count > 1:
        start += HASH * count
        count = (count + 1) >> 1
        places.append((start, count))
    return places


def _beside(known: list[int], count: int) -> Iterator[int]:
    """What is missing on a level of so many hashes to know all that is above the known ones."""
    index, end = 0, len(known)
    while index < end:
        place = known[index]
        index += 1
        if place & 1:
            yield place - 1
        elif index < end and known[index] == place + 1:
            index += 1
        elif place + 1 < count:
            yield place + 1


def _stored_bytes(size: int) -> int:
    start, count = _places(size)[-1]
    return start + HASH * count


def _join_pairs(below: memoryview, above: memoryview) -> None:
    """Hash neighbours on a level into the one above.

    Per node CPython does no less than make bytes, hash them and take the digest. Here numpy puts
    the prefixes in and makes the bytes, which saves a slice and a concatenation per node.
    """
    pairs, odd = divmod(len(below), _PAIR)
    source = np.frombuffer(below, np.uint8, _PAIR * pairs).reshape(pairs, _PAIR)
    messages = np.empty((min(pairs, _AT_ONCE), _MESSAGE), np.uint8)
    messages[:, 0] = NODE[0]
    each = messages.view(f"V{_MESSAGE}").ravel()
    for start in range(0, pairs, _AT_ONCE):
        some = source[start : start + _AT_ONCE]
        messages[: len(some), 1:] = some
        hashes = b"".join([sha256(message).digest() for message in each[: len(some)].tolist()])
        above[HASH * start : HASH * start + len(hashes)] = hashes
    if odd:
        above[HASH * pairs : HASH * (pairs + 1)] = below[-HASH:]


def _level_above(
    known: list[int], hashes: list[bytes], count: int, path: bytes, used: int
) -> tuple[list[int], list[bytes], int]:
    """Compute what is known one level higher; past the end of the path everything is cut short."""
    above: list[int] = []
    joined: list[bytes] = []
    index, end = 0, len(known)
    while index < end:
        place, own = known[index], hashes[index]
        index += 1
        if place & 1:
            own = sha256(NODE + path[used : used + HASH] + own).digest()
            used += HASH
        elif index < end and known[index] == place + 1:
            own = sha256(NODE + own + hashes[index]).digest()
            index += 1
        elif place + 1 < count:
            own = sha256(NODE + own + path[used : used + HASH]).digest()
            used += HASH
        above.append(place >> 1)
        joined.append(own)
    return above, joined, used


def _check_size(size: int) -> None:
    if not 0 <= size < MOST_LEAVES:
        raise IntegrityError("the size is none of a tree: it must be from 0 up to 2^64 - 1")


def _check_positions(size: int, leaves: Mapping[int, bytes]) -> list[int]:
    """Refuse what no tree of this size has; return the positions in order."""
    _check_size(size)
    if not leaves:
        raise IntegrityError("the proof shows no leaf")
    known = sorted(leaves)
    if known[0] < 0 or known[-1] >= size:
        raise IntegrityError(f"the proof shows a leaf outside of a tree of {size} leaves")
    for place in known:
        if len(leaves[place]) != HASH:
            result = len(leaves[place])
            raise IntegrityError(f"the hash of leaf {place} has {result} bytes, not {HASH}")
    return known


def _unfit(path: bytes, size: int, asked: str) -> IntegrityError:
    return IntegrityError(
        f"the path has {len(path) // HASH} hashes; the leaves that are shown, in a tree of {size}, "
        f"ask for {asked}"
    )
