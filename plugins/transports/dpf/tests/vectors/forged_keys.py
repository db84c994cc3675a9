"""Keys that no honest sender makes: what the check has to refuse.

Each forger gives a tree and a pair of keys that write more than one leaf, or keys that differ where
they must be equal. They are made with full knowledge of the construction.
"""

import numpy as np
from slow_tree import SlowKey, one_way, turns_to, xor

from anonloom_dpf.tree import Tree

LEAVES, WIDTH, DEPTH = 50, 6, 6
LEAF = 10  # its sibling in the last level is leaf 42
BITS_AT = 16 + 16 * DEPTH
LAST_AT = BITS_AT + 1
CHECK_AT = LAST_AT + WIDTH


def honest(entropy, index=LEAF):
    tree = Tree(LEAVES, WIDTH, checked=True)
    payload = np.full((1, WIDTH), 0x5A, np.uint8)
    first, second = tree.keys(np.array([index]), payload, entropy)
    return tree, first[0], second[0]


def _states(first, second, leaf):
    keys = (first.tobytes(), second.tobytes())
    return [SlowKey(key, b, LEAVES, WIDTH).state(leaf) for b, key in enumerate(keys)]


def _refit(first, second, leaf):
    """The check word that is right for one leaf of a changed pair."""
    text = b""
    states = _states(first, second, leaf)
    for j in range(4):
        mark = leaf.to_bytes(4, "little").rjust(4 * j + 4, b"\0").ljust(16, b"\0")
        text += xor(*(one_way(f"check {j}", xor(x, mark)) for x in states))
    for key in (first, second):
        key[CHECK_AT:] = np.frombuffer(text, np.uint8)


def equal_roots(entropy):
    """Equal roots, zero seed corrections, control bits (1, 1): the bits differ at the root."""
    tree, first, second = honest(entropy)
    second[:16] = first[:16]
    for key in (first, second):
        key[16:BITS_AT] = 0
        key[16:BITS_AT:16] = 1
        key[BITS_AT] = (1 << DEPTH) - 1
    _refit(first, second, 0)
    return tree, first, second


def twin_by_the_bit(entropy):
    """Honest but for the last level: the sibling's seeds agree, its control bits do not.

    A check that hashes the seed without the bit accepts this pair, which writes two leaves.
    """
    tree, first, second = honest(entropy)
    turn = turns_to(LEAF, LEAVES)[-1]
    for key in (first, second):
        if turn:
            key[16 + 16 * (DEPTH - 1)] ^= 1
        else:
            key[BITS_AT] ^= 1 << (DEPTH - 1)
    return tree, first, second


def two_points(entropy):
    """The last correction of the path is dropped: both children of the last node differ."""
    tree, first, second = honest(entropy)
    for key in (first, second):
        key[16 + 16 * (DEPTH - 1) + 5] ^= 0x40
    _refit(first, second, LEAF)
    return tree, first, second


def sub_tree(entropy):
    """A correction word half way down is wrong: all leaves below the node differ."""
    tree, first, second = honest(entropy)
    for key in (first, second):
        key[16 + 16 * 2 + 9] ^= 0x01
    _refit(first, second, LEAF)
    return tree, first, second


def unequal_words(entropy):
    """One server holds another last correction word: a different payload, maybe everywhere."""
    tree, first, second = honest(entropy)
    second[LAST_AT] ^= 1
    return tree, first, second


def unequal_check(entropy):
    """One server holds another check word."""
    tree, first, second = honest(entropy)
    second[CHECK_AT + 63] ^= 0x80
    return tree, first, second


FORGERIES = {
    "equal roots": equal_roots,
    "twin by the bit": twin_by_the_bit,
    "two points": two_points,
    "a whole sub-tree": sub_tree,
    "unequal last words": unequal_words,
    "unequal check words": unequal_check,
}
