"""Growth: a proof that a tree begins with all leaves of an older one, in the same order.

The proofs of RFC 9162 (2.1.4). A release that was only appended to shows it with a few hashes; one
in which an old row was changed, dropped or moved can't.
"""

from collections.abc import Iterator
from hashlib import sha256

from anonloom.errors import IntegrityError, UsageError
from anonloom_merkle.tree import MOST_LEAVES, NODE, Tree
from anonloom_seals.structure import HASH


def consistency(tree: Tree, old_size: int) -> bytes:
    """Return the hashes that show how a tree grew from its first leaves.

    Parameters
    ----------
    tree
        The newer tree.
    old_size
        How many leaves the older one had. With none or with all there is nothing to show, and the
        proof is empty.
    """
    if not 0 <= old_size <= tree.size:
        raise UsageError(f"the older size must be 0 up to {tree.size}. Got {old_size} instead.")
    return b"".join(tree.node(level, place) for level, place, _ in _steps(old_size, tree.size))


def check_consistency(
    old_size: int, old_root: bytes, new_size: int, new_root: bytes, path: bytes
) -> None:
    """Check that the newer tree begins with the older one.

    Parameters
    ----------
    old_size, old_root, new_size, new_root
        Of two signed heads.
    path
        What `consistency` returned; not believed.

    Raises
    ------
    IntegrityError
        When it does not, or when the path is not one for these sizes.
    """
    if not 0 <= old_size <= new_size < MOST_LEAVES:
        raise IntegrityError("the sizes are none of a tree that grew")
    if len(old_root) != HASH or len(new_root) != HASH:
        raise IntegrityError(f"a root must have {HASH} bytes")
    if old_size == new_size and old_root != new_root:
        raise IntegrityError(f"two trees of {new_size} leaves have different roots")
    steps = list(_steps(old_size, new_size))
    if len(path) != HASH * len(steps):
        raise IntegrityError(
            f"the proof of growth has {len(path)} bytes; from {old_size} to {new_size} leaves it "
            f"must have {HASH * len(steps)}"
        )
    older, newer = _roots(old_size, old_root, new_root, steps, path)
    if older != old_root:
        raise IntegrityError("the proof of growth does not lead to the root of the older tree")
    if newer != new_root:
        raise IntegrityError("the proof of growth does not lead to the root of the newer tree")


# Level, place on it, and whose the hash is: 'first' begins, 'both' stands to the left in either
# tree, 'newer' to the right in the newer one.
_Step = tuple[int, int, str]


def _steps(old_size: int, new_size: int) -> Iterator[_Step]:
    """Which hashes a proof has, from the bottom up."""
    if old_size in (0, new_size):
        return
    level, old, new = 0, old_size - 1, new_size - 1
    while old & 1:
        level, old, new = level + 1, old >> 1, new >> 1
    if old:
        # Else the older tree is whole in the newer one, and its root is known.
        yield level, old, "first"
    while new:
        if old & 1:
            yield level, old - 1, "both"
        elif old < new:
            yield level, old + 1, "newer"
        level, old, new = level + 1, old >> 1, new >> 1


def _roots(
    old_size: int, old_root: bytes, new_root: bytes, steps: list[_Step], path: bytes
) -> tuple[bytes, bytes]:
    """Compute both roots; with no steps they are what sizes alone say of them."""
    if not old_size:
        return sha256().digest(), new_root
    older = newer = old_root
    for number, (_, _, whose) in enumerate(steps):
        given = path[HASH * number : HASH * (number + 1)]
        if whose == "first":
            older = newer = given
        elif whose == "both":
            older = sha256(NODE + given + older).digest()
            newer = sha256(NODE + given + newer).digest()
        else:
            newer = sha256(NODE + newer + given).digest()
    return older, newer
