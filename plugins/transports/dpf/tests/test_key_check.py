"""The check of keys: honest ones pass, forged ones are refused, and what each part of it is for."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from forged_keys import FORGERIES, LEAF, honest
from hypothesis import given
from hypothesis import strategies as st
from slow_tree import SlowKey

from anonloom_dpf.tree import Tree

REFUSALS = json.loads((Path(__file__).parent / "vectors" / "refusals.json").read_text())["refusals"]


class Named:
    def __init__(self, name):
        self.name = name

    def bytes(self, n):
        return hashlib.shake_256(self.name.encode()).digest(n)


def tags_of(tree, first, second, check_key):
    results = []
    for party, key in enumerate((first, second)):
        share = np.zeros((tree.leaves, tree.width), np.uint8)
        results.append(tree.accumulate(party, key[None], share, check_key=check_key).tobytes())
    return results


def written(tree, first, second):
    table = tree.evaluate(0, first) ^ tree.evaluate(1, second)
    return np.flatnonzero(table.any(axis=1)).tolist()


@given(leaves=st.integers(1, 2100), width=st.integers(1, 50), seed=st.integers(0, 2**32))
def test_honest_keys_pass_under_every_check_key(leaves, width, seed):
    tree = Tree(leaves, width, checked=True)
    payloads = np.full((2, width), 3, np.uint8)
    keys = tree.keys(np.array([0, leaves - 1]), payloads, Named(f"{seed}"))
    for b in range(2):
        check_key = Named(f"{seed} {b}").bytes(32)
        assert 1 == len(set(tags_of(tree, keys[0][b], keys[1][b], check_key)))


def test_the_refusals_are_all_there():
    assert list(FORGERIES) == [vector["name"] for vector in REFUSALS]


@pytest.mark.parametrize("vector", REFUSALS, ids=lambda vector: vector["name"])
def test_refusal_vectors(vector):
    """vectors/refusals.json: the tags are the recorded ones, and they differ."""
    tree = Tree(vector["leaves"], vector["width"], checked=True)
    first, second = (np.frombuffer(bytes.fromhex(key), np.uint8) for key in vector["keys"])
    tags = tags_of(tree, first, second, bytes.fromhex(vector["check_key"]))
    assert vector["tags"] == [tag.hex() for tag in tags]
    assert tags[0] != tags[1]
    if "unequal" in vector["name"]:
        assert tree.public(first[None]).tobytes() != tree.public(second[None]).tobytes()
    else:
        assert tree.public(first[None]).tobytes() == tree.public(second[None]).tobytes()
        assert len(vector["written"]) > 1
        assert vector["written"] == written(tree, first, second)


def test_a_check_without_the_control_bit_accepts_a_key_that_writes_two_leaves():
    """Why the bit is hashed: `twin by the bit` against a check of the seeds alone."""
    tree, first, second = FORGERIES["twin by the bit"](Named("seeds only"))
    assert 2 == len(written(tree, first, second))
    slow = [SlowKey(k.tobytes(), b, tree.leaves, tree.width) for b, k in enumerate((first, second))]
    apart = []
    for leaf in range(tree.leaves):
        states = [key.state(leaf) for key in slow]
        if len({bytes([x[0] & 0xFE]) + x[1:] for x in states}) > 1:
            apart.append(leaf)
    assert 1 == len(apart)  # and a check word may be fitted to one leaf
    assert 2 == len(set(tags_of(tree, first, second, bytes(32))))


@pytest.mark.parametrize("at", range(16, 16 + 6 * 16 + 1 + 6 + 64, 3))
def test_no_changed_byte_of_one_public_part_passes(at):
    tree, first, second = honest(Named("changed"))
    second[at] ^= 0x10
    tags = tags_of(tree, first, second, Named("key").bytes(32))
    assert tags[0] != tags[1]


@pytest.mark.parametrize("at", range(16, 16 + 6 * 16 + 1))
def test_no_changed_byte_of_both_corrections_passes_while_it_writes_elsewhere(at):
    tree, first, second = honest(Named("changed"))
    for key in (first, second):
        key[at] ^= 0x10
    assert at == 16 + 6 * 16 or len(written(tree, first, second)) > 1
    tags = tags_of(tree, first, second, Named("key").bytes(32))
    assert tags[0] != tags[1] or [LEAF] == written(tree, first, second)
