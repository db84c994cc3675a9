"""The recursive definitions of RFC 9162, written down as they stand: slow, and independent of ours.

Lists of leaves are Python lists of bytes, before hashing. Nothing is imported but SHA-256.
"""

from hashlib import sha256


def HASH(data):
    return sha256(data).digest()


def split(n):
    """Return the largest power of two smaller than n: k < n <= 2k."""
    k = 1
    while 2 * k < n:
        k *= 2
    return k


def MTH(leaves):
    """2.1.1: the Merkle Tree Hash of a list."""
    n = len(leaves)
    if n == 0:
        return HASH(b"")
    if n == 1:
        return HASH(b"\x00" + leaves[0])
    k = split(n)
    return HASH(b"\x01" + MTH(leaves[:k]) + MTH(leaves[k:]))


def PATH(m, leaves):
    """2.1.3.1: the inclusion proof of leaf m."""
    n = len(leaves)
    if n == 1:
        return []
    k = split(n)
    if m < k:
        return [*PATH(m, leaves[:k]), MTH(leaves[k:])]
    return [*PATH(m - k, leaves[k:]), MTH(leaves[:k])]


def PROOF(m, leaves):
    """2.1.4.1: the consistency proof from the first m leaves."""
    return SUBPROOF(m, leaves, True)


def SUBPROOF(m, leaves, b):
    """2.1.4.1: b says whether the first m leaves are a tree whose root is known."""
    n = len(leaves)
    if m == n:
        return [] if b else [MTH(leaves)]
    k = split(n)
    if m <= k:
        return [*SUBPROOF(m, leaves[:k], b), MTH(leaves[k:])]
    return [*SUBPROOF(m - k, leaves[k:], False), MTH(leaves[:k])]


def turns(m, n):
    """On which side each hash of PATH(m, leaves) with n leaves stands, from the leaf up."""
    if n == 1:
        return ""
    k = split(n)
    if m < k:
        return turns(m, k) + "R"
    return turns(m - k, n - k) + "L"


def MULTIPATH(positions, leaves):
    """What, beside the leaves at these positions, is needed: from the leaves up, left to right.

    Not of the RFC, but in the order of its PATH when there is one position.
    """
    return [node for _, _, node in sorted(missing(set(positions), 0, leaves, None))]


def missing(positions, first, leaves, height):
    """Return height, first leaf and hash of every largest subtree without any of the positions."""
    n = len(leaves)
    if not positions & set(range(first, first + n)):
        return [(height, first, MTH(leaves))]
    if n == 1:
        return []
    k = split(n)
    left, right = (
        missing(positions, first, leaves[:k], k),
        missing(positions, first + k, leaves[k:], k),
    )
    return left + right
