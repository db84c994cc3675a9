"""Keys of the two-server tree: shares add up to the point function, as an independent oracle says."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from slow_tree import SlowKey, depth_of, turns_to

from anonloom_dpf.shape import Shape
from anonloom_dpf.tree import Tree

VECTORS = json.loads((Path(__file__).parent / "vectors" / "tree.json").read_text())


class Counted:
    """Bytes that are different in every draw and the same in every run."""

    def __init__(self, seed=0):
        self.state = seed

    def bytes(self, n):
        self.state += 1
        return hashlib.shake_256(self.state.to_bytes(8, "big")).digest(n)


def drawn(tree, m, seed=0):
    rng = np.random.default_rng(seed)
    indices = rng.integers(0, tree.leaves, m)
    payloads = rng.integers(0, 256, (m, tree.width), dtype=np.uint8)
    return indices, payloads


def table(tree, indices, payloads):
    out = np.zeros((tree.leaves, tree.width), np.uint8)
    for index, payload in zip(indices, payloads, strict=True):
        out[index] ^= payload
    return out


@given(
    leaves=st.integers(1, 300),
    width=st.integers(1, 40) | st.integers(1, 4096),
    m=st.integers(0, 12),
    checked=st.booleans(),
    seed=st.integers(0, 2**32),
)
def test_shares_of_a_batch_add_up_to_its_points_at_every_leaf(leaves, width, m, checked, seed):
    tree = Tree(leaves, width, checked=checked)
    indices, payloads = drawn(tree, m, seed)
    keys = tree.keys(indices, payloads, Counted(seed))
    shares = []
    for party in (0, 1):
        share = np.zeros((leaves, width), np.uint8)
        assert tree.accumulate(party, keys[party], share) is None
        shares.append(share)
    assert table(tree, indices, payloads).tobytes() == (shares[0] ^ shares[1]).tobytes()


@pytest.mark.parametrize("leaves", [1023, 1024, 1025, 2047, 2049, 3000, 5121, 33750])
def test_shares_add_up_beyond_one_tile(leaves):
    tree = Tree(leaves, 24, checked=True)
    indices, payloads = drawn(tree, 5, leaves)
    indices[:2] = 0, leaves - 1
    keys = tree.keys(indices, payloads, Counted())
    sums = [np.zeros((leaves, 24), np.uint8) for _ in keys]
    tags = [tree.accumulate(b, keys[b], sums[b], check_key=bytes(range(32))) for b in (0, 1)]
    assert table(tree, indices, payloads).tobytes() == (sums[0] ^ sums[1]).tobytes()
    assert tags[0].tobytes() == tags[1].tobytes()


@given(leaves=st.integers(1, 70), width=st.integers(1, 70), seed=st.integers(0, 2**32))
def test_evaluation_is_the_oracles(leaves, width, seed):
    tree = Tree(leaves, width, checked=True)
    indices, payloads = drawn(tree, 2, seed)
    keys = tree.keys(indices, payloads, Counted(seed))
    check_key = Counted(seed).bytes(32)
    for party in (0, 1):
        share = np.zeros((leaves, width), np.uint8)
        tags = tree.accumulate(party, keys[party], share, check_key=check_key)
        slow = [SlowKey(key.tobytes(), party, leaves, width) for key in keys[party]]
        expected = np.frombuffer(slow[0].share(), np.uint8) ^ np.frombuffer(
            slow[1].share(), np.uint8
        )
        assert expected.tobytes() == share.tobytes()
        assert [key.tag(check_key) for key in slow] == [tag.tobytes() for tag in tags]


@pytest.mark.parametrize("leaves", [2500, 4097])
def test_evaluation_is_the_oracles_beyond_one_tile(leaves):
    tree = Tree(leaves, 20)
    keys = tree.keys(np.array([leaves - 1]), np.full((1, 20), 7, np.uint8), Counted())
    for party in (0, 1):
        slow = SlowKey(keys[party][0].tobytes(), party, leaves, 20)
        share = tree.evaluate(party, keys[party][0])
        some = [*range(0, leaves, 37), 1023, 1024, 2047, 2048, leaves - 1]
        assert [slow.payload(leaf) for leaf in some] == [share[leaf].tobytes() for leaf in some]


def test_accumulate_adds_to_what_is_there():
    tree = Tree(37, 5)
    keys = tree.keys(*drawn(tree, 3), Counted())
    before = np.random.default_rng(1).integers(0, 256, (37, 5), dtype=np.uint8)
    share = before.copy()
    tree.accumulate(0, keys[0], share)
    one_by_one = before.copy()
    for key in keys[0]:
        one_by_one ^= tree.evaluate(0, key)
    assert one_by_one.tobytes() == share.tobytes()


def test_a_share_that_is_not_contiguous_is_written_too():
    tree = Tree(9, 16)
    keys = tree.keys(*drawn(tree, 2), Counted())
    wide = np.zeros((9, 32), np.uint8)
    tree.accumulate(0, keys[0], wide[:, ::2])
    plain = np.zeros((9, 16), np.uint8)
    tree.accumulate(0, keys[0], plain)
    assert plain.tobytes() == wide[:, ::2].tobytes()
    assert not wide[:, 1::2].any()


@given(leaves=st.integers(1, 5000))
def test_every_leaf_has_its_own_path_and_no_level_is_longer_than_needed(leaves):
    shape = Shape(leaves)
    assert depth_of(leaves) == shape.depth == (leaves - 1).bit_length()
    paths = shape.path(np.arange(leaves))
    assert leaves == len({row.tobytes() for row in paths})
    assert turns_to(leaves - 1, leaves) == paths[-1].tolist()
    # Nodes that are on the path of some leaf, against nodes that are computed.
    needed = sum(
        len({row[:level].tobytes() for row in paths}) for level in range(1, shape.depth + 1)
    )
    assert needed == shape.nodes


@pytest.mark.parametrize(
    ("leaves", "width", "checked", "size"),
    [
        (1, 1, False, 16 + 1),
        (2**20, 16, False, 16 + 320 + 3 + 16),
        (100_000, 96, False, 16 + 17 * 16 + 3 + 96),
        (33_750, 384, True, 16 + 16 * 16 + 2 + 384 + 64),
    ],
)
def test_keys_grow_with_the_logarithm(leaves, width, checked, size):
    tree = Tree(leaves, width, checked=checked)
    assert (size, size - 16) == (tree.key_size, tree.public_size)
    keys = tree.keys(*drawn(tree, 1), Counted())
    assert [(1, size)] * 2 == [key.shape for key in keys]
    assert tree.public(keys[0]).tobytes() == tree.public(keys[1]).tobytes()


@pytest.mark.parametrize("vector", VECTORS["vectors"], ids=lambda vector: vector["name"])
def test_committed_vectors(vector):
    """Keys, shares and tags of vectors/tree.json (vectors/make_vectors.py wrote it)."""
    tree = Tree(vector["leaves"], vector["width"], checked=vector["checked"])
    seeds = bytes.fromhex(vector["seeds"])

    class Fixed:
        def bytes(self, n):
            assert len(seeds) == n
            return seeds

    payloads = np.frombuffer(bytes.fromhex(vector["payloads"]), np.uint8).reshape(-1, tree.width)
    keys = tree.keys(np.array(vector["indices"]), payloads, Fixed())
    for party in (0, 1):
        assert vector["keys"][party] == [key.tobytes().hex() for key in keys[party]]
        share = np.zeros((tree.leaves, tree.width), np.uint8)
        check_key = bytes.fromhex(vector["check_key"]) if tree.checked else None
        tags = tree.accumulate(party, keys[party], share, check_key=check_key)
        assert vector["share_sha256"][party] == hashlib.sha256(share).hexdigest()
        if tree.checked:
            assert vector["tags"][party] == [tag.tobytes().hex() for tag in tags]


def test_wrong_arguments_are_named():
    tree = Tree(8, 4)
    keys = tree.keys(*drawn(tree, 1), Counted())[0]
    share = np.zeros((8, 4), np.uint8)
    for wrong, message in [
        (lambda: Tree(0, 4), "leaves must be between 1 and 2147483648. Got 0 instead."),
        (lambda: Tree(4, 0), "width must be between 1 and 2147483648. Got 0 instead."),
        (lambda: tree.keys(np.array([8]), share[:1], Counted()), "indices must be between 0 and 7."),
        (lambda: tree.keys(np.array([-1]), share[:1], Counted()), "indices must be between 0 and 7."),
        (lambda: tree.keys(np.array([1, 2]), share[:1], Counted()), "indices must be 1, one per payload. Got (2,) instead."),
        (lambda: tree.keys(np.array([1]), share[:1, :3], Counted()), "payloads must be bytes of shape (any number, 4). Got uint8 of shape (1, 3) instead."),
        (lambda: tree.accumulate(2, keys, share), "party must be 0 or 1. Got 2 instead."),
        (lambda: tree.accumulate(0, keys[:, 1:], share), "keys must be bytes of shape (any number, 69). Got uint8 of shape (1, 68) instead."),
        (lambda: tree.accumulate(0, keys, share[1:]), "share must be bytes of shape (8, 4). Got uint8 of shape (7, 4) instead."),
        (lambda: tree.accumulate(0, keys, share, check_key=bytes(32)), "Only a tree with checked=True can be checked."),
        (lambda: Tree(8, 4, checked=True).accumulate(0, np.zeros((1, 133), np.uint8), share, check_key=bytes(16)), "The check key must be 32 bytes. Got 16 instead."),
    ]:  # fmt: skip
        with pytest.raises(ValueError) as raised:  # noqa: PT011 -- the message is compared whole
            wrong()
        assert message == str(raised.value)


def test_secrets_are_not_in_the_repr_of_parts():
    tree = Tree(8, 4)
    keys = tree.keys(*drawn(tree, 1), Counted())[0]
    assert "Parts()" == repr(tree.parts(keys))
