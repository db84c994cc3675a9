"""Authenticated skip list: leaf hashes in an order that is updated, bound by one root.

Definition
----------
Every leaf has a *level*, drawn like the height of a tower in Pugh's skip list (1990), but from the
leaf hash itself: the number of zero bits at the end of SHA-256("level" || leaf), at most 255. Half
of the leaves have level 0, a quarter level 1, and so on.

A list of n leaves has the root

- n = 0: SHA-256(0x02);
- n = 1: the leaf;
- n > 1: SHA-256(0x02 || level || a || b || root of the first a leaves || root of the last b
  leaves), where the list is divided before the first of its leaves, the very first left out, that
  has the highest level; `level` is that leaf's level (one byte), a and b are the lengths of both
  parts (eight bytes each, the high one first).

These are the nodes of Goodrich and Tamassia's authenticated skip list that have a link to the right
as well as one downward (all others only hand the hash on), so a list of n leaves has n - 1 nodes.
The definition knows leaves and their order, no history: whoever has the leaves can rebuild the
list, whatever updates led to them.

Why the root binds the list
---------------------------
Claim: whoever shows two different lists of n leaves with the same root, or two accepted proofs
with different leaves at a position for the same root and n, shows a collision of SHA-256.

By induction on n. For n = 1 the root is the leaf. For n > 1 both roots are hashes of strings of
the same form, 82 bytes with fixed places; if the strings differ, they are a collision. If they
agree, so do a and b, and the roots of both parts; a position belongs to the same part in both, at
the same place in it, and the part is shorter than n. A proof is only accepted if it has this form
(a, b >= 1 and a + b = n in every node), so the same holds for proofs. What a hash stands for is
never guessed: with one leaf it is a leaf, with more a node, and the number comes from the node
above and in the end from n, which the signed head holds. So positions are proved with the leaves,
and leaves at successive positions are neighbours. Left and right are not exchangeable: unlike
Goodrich and Tamassia's, this hash is not commutative, and the order is bound, too. Leaves begin
with 0x00 and nodes of Merkle trees with 0x01 under their hashes: no node is either.

Why it stays shallow
--------------------
A leaf is reached in about 1.5 log2(n) steps on average if levels are independent coin tosses. Leaf
hashes are salted by the owner, so whoever chooses rows can't choose levels, as long as no salt is
used again after it was shown. Equal leaves have equal levels and make a chain; that costs time,
not safety, and nothing here is recursive.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Self

from anonloom.errors import IntegrityError, UsageError
from anonloom_seals.structure import HASH, Structure
from anonloom_skip_list.parts import EMPTY, Leaf, Node, Part, bind, digest_of, join, level_of, split

# Lengths are hashed as eight bytes.
_LARGEST = 2**64 - 1


class SkipList(Structure):
    """Leaf hashes in an order that is updated with about log(n) hashes.

    Updates only move parts; hashes of new nodes are computed when `root` or `prove` asks for them,
    so that many updates in a row pay once for the nodes that they share. Nodes are never changed:
    `copy.copy` of a list costs nothing and keeps the state that it had.
    """

    def __init__(self) -> None:
        self._top: Part | None = None

    @classmethod
    def build(cls, leaves: bytes) -> Self:
        """Make the list over leaf hashes of 32 bytes, one after the other; perhaps none."""
        if len(leaves) % HASH:
            raise UsageError(f"leaf hashes must have {HASH} bytes each. Got {len(leaves)} in all.")
        made = cls()
        # Nodes along the right edge from the top down, each without its right part; their levels
        # never rise. `part` is what hangs below the last of them.
        edge: list[tuple[int, Part]] = []
        part: Part | None = None
        for index in range(0, len(leaves), HASH):
            leaf = Leaf(leaves[index : index + HASH])
            if part is not None:
                while edge and edge[-1][0] < leaf.tower:
                    part = Node(*edge.pop(), part)
                edge.append((leaf.tower, part))
            part = leaf
        while edge and part is not None:
            part = Node(*edge.pop(), part)
        made._top = part
        return made

    @property
    def size(self) -> int:
        """How many leaves there are."""
        return 0 if self._top is None else self._top.count

    @property
    def root(self) -> bytes:
        """What binds them, 32 bytes."""
        return EMPTY if self._top is None else digest_of(self._top)

    def insert(self, position: int, leaf: bytes) -> None:
        """Put a leaf before the one at `position`, or at the end."""
        self._splice(position, position, leaf)

    def remove(self, position: int) -> None:
        """Take the leaf at `position` out."""
        self._splice(position, position + 1, None)

    def replace(self, position: int, leaf: bytes) -> None:
        """Put another leaf in the place of the one at `position`."""
        self._splice(position, position + 1, leaf)

    def _splice(self, start: int, stop: int, leaf: bytes | None) -> None:
        if not 0 <= start <= stop <= self.size:
            raise UsageError(f"position {start} is none for this in a list of {self.size} leaves")
        if leaf is not None and len(leaf) != HASH:
            raise UsageError(f"a leaf hash must have {HASH} bytes. Got {len(leaf)} instead.")
        before, rest = split(self._top, start)
        _, after = split(rest, stop - start)
        if leaf is not None:
            before = join(before, Leaf(leaf))
        self._top = join(before, after)

    def prove(self, positions: Sequence[int]) -> bytes:
        """Return what, beside the leaves at these positions, is needed to compute the root.

        The list from the top down, each node before its parts and the left part before the right
        one. A part in which nothing is shown is its root; a leaf that is shown is left out; a node
        is its level (one byte) and the length of its left part (as many bytes as the largest
        possible length needs). What comes next follows from the positions and the size.

        Parameters
        ----------
        positions
            Ascending, each once, each below `size`; at least one.
        """
        ascending = all(item < other for item, other in pairwise(positions))
        inside = len(positions) > 0 and positions[0] >= 0 and positions[-1] < self.size
        if self._top is None or not (inside and ascending):
            raise UsageError(
                f"positions must be at least one, ascending, each once and below {self.size}"
            )
        path: list[bytes] = []
        # A part, the position of its first leaf, and which of `positions` lie in it.
        parts: list[tuple[Part, int, int, int]] = [(self._top, 0, 0, len(positions))]
        while parts:
            part, first, low, high = parts.pop()
            if low == high:
                path.append(digest_of(part))
            elif isinstance(part, Node):
                left = part.left.count
                path.append(bytes([part.level]) + left.to_bytes(_width(part.count)))
                middle = bisect_left(positions, first + left, low, high)
                parts.append((part.right, first + left, middle, high))
                parts.append((part.left, first, low, middle))
        return b"".join(path)

    @staticmethod
    def recompute(size: int, leaves: Mapping[int, bytes], path: bytes) -> bytes:
        """Compute the root from some leaves and what `prove` returned for their positions.

        Time and memory are linear in path and leaves, whatever they hold. Beside the form, levels
        are checked as far as they are seen: a path that shows all leaves is accepted in one shape
        only, the one of the definition.

        Raises
        ------
        IntegrityError
            When the path is too short, too long or not of the form that these positions ask for.
        """
        # Read backwards, both parts of a node come before it, the left one last. Of each part: its
        # root, its level, and the level of its first leaf, -1 where that is not seen.
        parts: list[tuple[bytes, int, int]] = []
        for item in reversed(_read(size, leaves, path)):
            if isinstance(item, int):
                parts.append((leaves[item], -1, level_of(leaves[item])))
            elif isinstance(item, bytes):
                parts.append((item, -1, -1))
            else:
                level, first, left_count, right_count = item
                left, left_level, left_tower = parts.pop()
                right, right_level, tower = parts.pop()
                if tower not in (-1, level):
                    raise IntegrityError(
                        f"the leaf at position {first} has level {tower}; the path says {level}"
                    )
                if left_level >= level or right_level > level:
                    raise IntegrityError(f"the path has too high a level below level {level}")
                root = bind(level, left_count, right_count, left, right)
                parts.append((root, level, left_tower))
        return parts.pop()[0]


def _width(count: int) -> int:
    """How many bytes hold the length of a left part, which is at most `count - 1`."""
    return ((count - 1).bit_length() + 7) // 8


def _read(
    size: int, leaves: Mapping[int, bytes], path: bytes
) -> list[int | bytes | tuple[int, int, int, int]]:
    """Take a path apart: positions of leaves, roots of hidden parts, and nodes.

    A node is its level, the position of the first leaf of its right part, and both lengths.
    """
    positions = sorted(leaves)
    if size > _LARGEST:
        raise IntegrityError(f"a list has at most {_LARGEST} leaves, not {size}")
    if not positions:
        raise IntegrityError("the proof shows no leaf")
    for position in positions:
        if not 0 <= position < size:
            raise IntegrityError(f"the proof shows position {position} in a list of {size} leaves")
        if len(leaves[position]) != HASH:
            raise IntegrityError(
                f"the hash of leaf {position} has {len(leaves[position])} bytes, not {HASH}"
            )
    items: list[int | bytes | tuple[int, int, int, int]] = []
    index = 0
    parts = [(0, size, 0, len(positions))]
    while parts:
        first, count, low, high = parts.pop()
        if low < high and count == 1:
            items.append(first)
            continue
        piece = path[index : index + (1 + _width(count) if low < high else HASH)]
        index += 1 + _width(count) if low < high else HASH
        if index > len(path):
            raise IntegrityError(
                f"the path is too short: it has {len(path)} bytes and needs at least {index}"
            )
        if low == high:
            items.append(piece)
            continue
        left = int.from_bytes(piece[1:])
        if not 1 <= left < count:
            raise IntegrityError(
                f"the path divides {count} leaves from position {first} on after {left} of them"
            )
        items.append((piece[0], first + left, left, count - left))
        middle = bisect_left(positions, first + left, low, high)
        parts.append((first + left, count - left, middle, high))
        parts.append((first, left, low, middle))
    if index < len(path):
        raise IntegrityError(f"the path is too long: it has {len(path)} bytes and needs {index}")
    return items
