"""A tree can be shown to have grown from another one exactly if it did."""

import json
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from merkle_second_implementation import PROOF

from anonloom.errors import IntegrityError, UsageError
from anonloom_merkle.consistency import check_consistency, consistency
from anonloom_merkle.tree import Tree, leaf_hashes

VECTORS = json.loads((Path(__file__).parent / "vectors" / "rfc9162.json").read_text())

OLDER = "the proof of growth does not lead to the root of the older tree"
NEWER = "the proof of growth does not lead to the root of the newer tree"


def rows_of(size):
    return [b"row %d" % number for number in range(size)]


def tree_of(rows):
    return Tree.build(leaf_hashes(rows))


def root_of(size):
    return tree_of(rows_of(size)).root


@st.composite
def growths(draw, most=70):
    """Two sizes, the older at least one, their roots and the path."""
    new = draw(st.integers(1, most))
    old = draw(st.integers(1, new))
    return old, root_of(old), new, root_of(new), consistency(tree_of(rows_of(new)), old)


def refusal(*growth):
    with pytest.raises(IntegrityError) as caught:
        check_consistency(*growth)
    assert 5 == caught.value.exit_code
    return str(caught.value)


class TestRfc:
    @pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: len(vector["leaves"]))
    def test_vectors(self, vector):
        rows = [leaf.encode() for leaf in vector["leaves"]]
        roots = {len(other["leaves"]): bytes.fromhex(other["root"]) for other in VECTORS}
        tree = tree_of(rows)
        for old, path in enumerate(vector["consistency"], start=1):
            assert path == consistency(tree, old).hex()
            if old in roots:
                check_consistency(old, roots[old], len(rows), tree.root, bytes.fromhex(path))

    def test_all_proofs_are_those_of_the_second_implementation(self):
        for new in range(1, 40):
            rows = rows_of(new)
            for old in range(1, new + 1):
                assert b"".join(PROOF(old, rows)) == consistency(tree_of(rows), old)


class TestGrowth:
    @given(growths(most=3000))
    def test_every_growth_is_shown(self, growth):
        check_consistency(*growth)

    def test_every_small_growth_is_shown(self):
        roots = [root_of(size) for size in range(40)]
        for new, root in enumerate(roots):
            tree = tree_of(rows_of(new))
            for old in range(new + 1):
                check_consistency(old, roots[old], new, root, consistency(tree, old))

    def test_from_nothing_and_from_itself_there_is_nothing_to_show(self):
        tree = tree_of(rows_of(6))
        assert b"" == consistency(tree, 0)
        assert b"" == consistency(tree, 6)

    @pytest.mark.parametrize("old", [-1, 7])
    def test_sizes_that_the_tree_never_had(self, old):
        with pytest.raises(UsageError) as caught:
            consistency(tree_of(rows_of(6)), old)
        expected = f"the older size must be 0 up to 6. Got {old} instead."
        assert expected == str(caught.value)


class TestForgery:
    @given(st.integers(1, 70), st.data())
    def test_an_old_row_that_was_changed_is_noticed(self, new, data):
        old = data.draw(st.integers(1, new))
        rows = rows_of(new)
        rows[data.draw(st.integers(0, old - 1))] = b"another"
        tree = tree_of(rows)
        with pytest.raises(IntegrityError):
            check_consistency(old, root_of(old), new, tree.root, consistency(tree, old))

    @given(growths(), st.data())
    def test_any_bit_of_the_path_is_noticed(self, growth, data):
        old, old_root, new, new_root, path = growth
        assume(path)
        other = flipped(path, data.draw(st.integers(0, 8 * len(path) - 1)))
        assert refusal(old, old_root, new, new_root, other) in (OLDER, NEWER)

    @given(growths(), st.integers(0, 255))
    def test_any_bit_of_a_root_is_noticed(self, growth, bit):
        old, old_root, new, new_root, path = growth
        refusal(old, flipped(old_root, bit), new, new_root, path)
        refusal(old, old_root, new, flipped(new_root, bit), path)

    @given(growths(), st.data())
    def test_a_hash_more_or_less_is_refused(self, growth, data):
        old, old_root, new, new_root, path = growth
        index = 32 * data.draw(st.integers(0, len(path) // 32))
        sizes = f"from {old} to {new} leaves it must have {len(path)}"
        more = f"the proof of growth has {len(path) + 32} bytes; {sizes}"
        assert more == refusal(
            old, old_root, new, new_root, path[:index] + bytes(32) + path[index:]
        )
        if index < len(path):
            less = f"the proof of growth has {len(path) - 32} bytes; {sizes}"
            assert less == refusal(old, old_root, new, new_root, path[:index] + path[index + 32 :])

    @given(growths(), st.integers(0, 90))
    def test_another_older_size_is_noticed(self, growth, said):
        old, old_root, new, new_root, path = growth
        assume(said != old)
        with pytest.raises(IntegrityError):
            check_consistency(said, old_root, new, new_root, path)


class TestHostileProof:
    @pytest.mark.parametrize(
        "sizes", [(-1, 3), (4, 3), (1, 1 << 64), (1 << 100_000, 1 << 100_000)], ids=range(4)
    )
    def test_sizes_that_do_not_grow(self, sizes):
        old, new = sizes
        expected = "the sizes are none of a tree that grew"
        assert expected == refusal(old, bytes(32), new, bytes(32), b"")

    @pytest.mark.parametrize("roots", [(bytes(31), bytes(32)), (bytes(32), b"")])
    def test_roots_of_another_length(self, roots):
        assert "a root must have 32 bytes" == refusal(1, roots[0], 2, roots[1], bytes(32))

    def test_the_same_size_with_another_root(self):
        expected = "two trees of 3 leaves have different roots"
        assert expected == refusal(3, bytes(32), 3, root_of(3), b"")

    def test_an_empty_tree_has_one_root(self):
        assert OLDER == refusal(0, bytes(32), 3, root_of(3), b"")
        expected = "the proof of growth has 32 bytes; from 0 to 3 leaves it must have 0"
        assert expected == refusal(0, root_of(0), 3, root_of(3), bytes(32))

    def test_each_root_is_named(self):
        tree = tree_of(rows_of(7))
        path = consistency(tree, 3)
        assert OLDER == refusal(3, root_of(4), 7, tree.root, path)
        assert NEWER == refusal(3, root_of(3), 7, root_of(6), path)

    @given(
        st.integers(-3, 1 << 66), st.integers(-3, 1 << 66), st.binary(max_size=3000), st.binary()
    )
    def test_nothing_but_a_refusal_comes_out(self, old, new, path, root):
        refusal(old, root, new, bytes(32), path)


def flipped(data, bit):
    changed = bytearray(data)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)
