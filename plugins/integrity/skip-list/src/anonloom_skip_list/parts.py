"""Parts of a skip list: runs of leaves under one node, divided and joined without recursion."""

from hashlib import sha256
from struct import pack

# In front of everything that is hashed here; 0x00 belongs to leaves, 0x01 to Merkle trees.
_TAG = b"\x02"

#: The root of a list without leaves.
EMPTY = sha256(_TAG).digest()


def level_of(leaf: bytes) -> int:
    """Draw the level of a leaf from its hash: zero bits at the end, at most 255."""
    value = int.from_bytes(sha256(b"level" + leaf).digest()) | 1 << 255
    return (value & -value).bit_length() - 1


def bind(level: int, left_count: int, right_count: int, left: bytes, right: bytes) -> bytes:
    """Compute the root of a list from its two parts."""
    counts = pack(">BQQ", level, left_count, right_count)
    return sha256(_TAG + counts + left + right).digest()


class Leaf:
    """A part with one leaf."""

    __slots__ = ("digest", "tower")
    count = 1
    level = -1  # below every node

    def __init__(self, digest: bytes) -> None:
        self.digest = digest
        self.tower = level_of(digest)


class Node:
    """A part with several leaves; never changed, but that its hash is computed when needed."""

    __slots__ = ("count", "digest", "left", "level", "right")

    def __init__(self, level: int, left: "Part", right: "Part") -> None:
        self.level = level
        self.count: int = left.count + right.count
        self.left = left
        self.right = right
        self.digest: bytes | None = None


Part = Leaf | Node


def digest_of(part: Part) -> bytes:
    """Compute the root of a part, and of all parts in it that have none yet."""
    waiting: list[Part] = [part]
    while waiting:
        part = waiting[-1]
        if isinstance(part, Node) and part.digest is None:
            left, right = part.left, part.right
            if left.digest is None:
                waiting.append(left)
            elif right.digest is None:
                waiting.append(right)
            else:
                part.digest = bind(part.level, left.count, right.count, left.digest, right.digest)
        else:
            waiting.pop()
    assert part.digest is not None  # the last one popped is the one that was asked for
    return part.digest


def split(part: Part | None, position: int) -> tuple[Part | None, Part | None]:
    """Divide a list in two, before `position`."""
    if part is None or position == 0:
        return None, part
    if position == part.count:
        return part, None
    lefts: list[Node] = []
    rights: list[Node] = []
    # A position inside a part is inside one of its parts or between them; so this ends at a node.
    while isinstance(part, Node) and position != part.left.count:
        if position < part.left.count:
            rights.append(part)
            part = part.left
        else:
            position -= part.left.count
            lefts.append(part)
            part = part.right
    assert isinstance(part, Node)
    before, after = part.left, part.right
    # Taking leaves out at an end leaves the first highest of the others where it was.
    for node in reversed(lefts):
        before = Node(node.level, node.left, before)
    for node in reversed(rights):
        after = Node(node.level, after, node.right)
    return before, after


def join(before: Part | None, after: Part | None) -> Part | None:
    """Put two lists one behind the other."""
    if before is None or after is None:
        return before or after
    start = after
    while isinstance(start, Node):
        start = start.left
    # The top of both is their highest leaf, the first of several: it lies in `before`, at the seam
    # or in `after`; in the first and the last case the seam is in one of that node's parts.
    above: list[tuple[Node, bool]] = []
    while True:
        if isinstance(before, Node) and before.level >= max(start.tower, after.level):
            above.append((before, True))
            before = before.right
        elif isinstance(after, Node) and after.level > start.tower:
            above.append((after, False))
            after = after.left
        else:
            break
    part = Node(start.tower, before, after)
    for node, is_left in reversed(above):
        if is_left:
            part = Node(node.level, node.left, part)
        else:
            part = Node(node.level, part, node.right)
    return part
