"""The tree is that of RFC 9162, and nothing but what is in it can be shown to be in it."""

import json
import mmap
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from merkle_second_implementation import MTH, MULTIPATH, PATH, turns

from anonloom.errors import IntegrityError, UsageError
from anonloom_merkle.tree import LEAF, Tree, leaf_hashes

VECTORS = json.loads((Path(__file__).parent / "vectors" / "rfc9162.json").read_text())

#: The tree of the tests of Certificate Transparency, and its roots with 1, 2, ... leaves.
KNOWN_LEAVES = [
    bytes.fromhex(leaf)
    for leaf in (
        "",
        "00",
        "10",
        "2021",
        "3031",
        "40414243",
        "5051525354555657",
        "606162636465666768696a6b6c6d6e6f",
    )
]
KNOWN_ROOTS = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]


def rows_of(size):
    return [b"row %d" % number for number in range(size)]


def tree_of(rows):
    return Tree.build(leaf_hashes(rows))


def shown(rows, positions):
    return {index: sha256(b"\0" + rows[index]).digest() for index in positions}


@st.composite
def proofs(draw, most=70):
    """Rows, some positions among them, and the path of these."""
    rows = rows_of(draw(st.integers(1, most)))
    positions = sorted(draw(st.sets(st.integers(0, len(rows) - 1), min_size=1, max_size=12)))
    return rows, positions, tree_of(rows).prove(positions)


def recomputed(size, leaves, path):
    """Return the root that comes out, or None where the proof is refused."""
    try:
        return Tree.recompute(size, leaves, path)
    except IntegrityError:
        return None


def refusal(size, leaves, path):
    with pytest.raises(IntegrityError) as caught:
        Tree.recompute(size, leaves, path)
    assert 5 == caught.value.exit_code
    return str(caught.value)


class TestRfc:
    def test_roots_known_from_certificate_transparency(self):
        results = [tree_of(KNOWN_LEAVES[:n]).root.hex() for n in range(1, 9)]
        assert KNOWN_ROOTS == results
        empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        assert empty == tree_of([]).root.hex()

    @pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: len(vector["leaves"]))
    def test_vectors(self, vector):
        rows = [leaf.encode() for leaf in vector["leaves"]]
        tree, root = tree_of(rows), bytes.fromhex(vector["root"])
        assert root == tree.root
        assert len(rows) == tree.size
        for index, path in enumerate(vector["inclusion"]):
            assert path == tree.prove([index]).hex()
            assert root == Tree.recompute(len(rows), shown(rows, [index]), bytes.fromhex(path))
        for some in vector["some"]:
            leaves, path = shown(rows, some["positions"]), bytes.fromhex(some["path"])
            assert path == tree.prove(some["positions"])
            assert root == Tree.recompute(len(rows), leaves, path)

    def test_vectors_are_those_of_the_second_implementation(self):
        for vector in VECTORS:
            rows = [leaf.encode() for leaf in vector["leaves"]]
            assert vector["root"] == MTH(rows).hex()
            paths = [b"".join(PATH(index, rows)).hex() for index in range(len(rows))]
            assert vector["inclusion"] == paths

    @given(st.lists(st.binary(max_size=40), max_size=70))
    def test_root_and_inclusion_are_those_of_the_second_implementation(self, rows):
        tree = tree_of(rows)
        assert MTH(rows) == tree.root
        for index in range(len(rows)):
            assert b"".join(PATH(index, rows)) == tree.prove([index])

    @pytest.mark.parametrize("size", [1023, 1024, 1025, 2047, 2048, 2049, 2050, 2051, 4099])
    def test_levels_longer_than_what_is_hashed_at_once(self, size):
        rows = rows_of(size)
        tree = tree_of(rows)
        assert MTH(rows) == tree.root
        for index in (0, size // 2, size - 1):
            assert b"".join(PATH(index, rows)) == tree.prove([index])

    @given(proofs())
    def test_some_leaves_are_proved_by_the_fewest_hashes(self, proof):
        rows, positions, path = proof
        assert b"".join(MULTIPATH(positions, rows)) == path


class TestProof:
    @given(proofs(most=3000))
    def test_every_proof_leads_to_the_root(self, proof):
        rows, positions, path = proof
        root = Tree.recompute(len(rows), shown(rows, positions), path)
        assert tree_of(rows).root == root

    def test_all_leaves_need_no_path(self):
        for size in range(1, 40):
            rows = rows_of(size)
            tree = tree_of(rows)
            assert b"" == tree.prove(range(size))
            assert tree.root == Tree.recompute(size, shown(rows, range(size)), b"")

    @given(st.integers(1, 3000), st.data())
    def test_a_range_needs_at_most_two_hashes_per_level(self, size, data):
        first = data.draw(st.integers(0, size - 1))
        last = data.draw(st.integers(first, size - 1))
        path = Tree.build(bytes(32 * size)).prove(range(first, last + 1))
        assert len(path) <= 2 * 32 * (size - 1).bit_length()

    def test_order_of_the_mapping_is_of_no_matter(self):
        rows = rows_of(11)
        path = tree_of(rows).prove([2, 3, 9])
        assert tree_of(rows).root == Tree.recompute(11, shown(rows, [9, 2, 3]), path)

    @pytest.mark.parametrize("positions", [[], [-1], [5], [1, 1], [2, 1], [0, 7]])
    def test_positions_that_are_none(self, positions):
        with pytest.raises(UsageError) as caught:
            tree_of(rows_of(5)).prove(positions)
        message = "positions must be at least one, ascending, each once and below 5"
        assert message == str(caught.value)


class TestForgery:
    @given(proofs(), st.data())
    def test_any_bit_of_a_path_changes_the_root(self, proof, data):
        rows, positions, path = proof
        assume(path)
        bit = data.draw(st.integers(0, 8 * len(path) - 1))
        other = flipped(path, bit)
        root = Tree.recompute(len(rows), shown(rows, positions), other)
        assert tree_of(rows).root != root

    @given(proofs(), st.data())
    def test_any_bit_of_a_leaf_changes_the_root(self, proof, data):
        rows, positions, path = proof
        leaves = shown(rows, positions)
        index = data.draw(st.sampled_from(positions))
        leaves[index] = flipped(leaves[index], data.draw(st.integers(0, 255)))
        assert tree_of(rows).root != Tree.recompute(len(rows), leaves, path)

    def test_every_bit_of_one_proof(self):
        rows = rows_of(13)
        root, leaves = tree_of(rows).root, shown(rows, [4, 5, 12])
        path = tree_of(rows).prove([4, 5, 12])
        for bit in range(8 * len(path)):
            assert root != Tree.recompute(13, leaves, flipped(path, bit))

    @given(proofs(), st.data())
    def test_a_hash_more_or_less_is_refused(self, proof, data):
        rows, positions, path = proof
        index = 32 * data.draw(st.integers(0, len(path) // 32))
        leaves = shown(rows, positions)
        added = path[:index] + data.draw(st.binary(min_size=32, max_size=32)) + path[index:]
        assert recomputed(len(rows), leaves, added) is None
        if index < len(path):
            assert recomputed(len(rows), leaves, path[:index] + path[index + 32 :]) is None

    @given(proofs(), st.data())
    def test_hashes_in_another_order_change_the_root(self, proof, data):
        rows, positions, path = proof
        hashes = [path[index : index + 32] for index in range(0, len(path), 32)]
        other = data.draw(st.permutations(hashes))
        assume(other != hashes)
        root = Tree.recompute(len(rows), shown(rows, positions), b"".join(other))
        assert tree_of(rows).root != root

    @given(proofs(), st.data())
    def test_a_leaf_at_another_position_is_no_proof(self, proof, data):
        rows, positions, path = proof
        leaves = shown(rows, positions)
        moved = data.draw(st.sampled_from(positions))
        to = data.draw(st.integers(0, len(rows) - 1))
        assume(to not in leaves)
        leaves[to] = leaves.pop(moved)
        assert tree_of(rows).root != recomputed(len(rows), leaves, path)

    @given(proofs(), st.data())
    def test_two_leaves_cannot_change_places(self, proof, data):
        rows, positions, path = proof
        assume(len(positions) > 1)
        one, other = data.draw(st.permutations(positions))[:2]
        leaves = shown(rows, positions)
        leaves[one], leaves[other] = leaves[other], leaves[one]
        assert tree_of(rows).root != recomputed(len(rows), leaves, path)

    @given(proofs(), st.data())
    def test_a_leaf_that_is_not_shown_is_missed(self, proof, data):
        rows, positions, path = proof
        assume(len(positions) > 1)
        leaves = shown(rows, positions)
        del leaves[data.draw(st.sampled_from(positions))]
        assert tree_of(rows).root != recomputed(len(rows), leaves, path)

    def test_another_size_is_noticed_unless_the_way_up_is_the_same(self):
        """What the root does not bind; so the size is signed beside it."""
        for size in range(1, 35):
            rows = rows_of(size)
            tree = tree_of(rows)
            for index in range(size):
                leaf, path = shown(rows, [index]), tree.prove([index])
                for claimed in range(index + 1, 70):
                    same = turns(index, size) == turns(index, claimed)
                    assert same == (tree.root == recomputed(claimed, leaf, path))

    @given(st.integers(2, 70), st.integers(1, 90), st.data())
    def test_a_node_cannot_be_shown_as_a_leaf(self, size, said, data):
        """Second preimages: of what is below a node nobody can make a row."""
        rows = rows_of(size)
        tree = tree_of(rows)
        level = data.draw(st.integers(1, (size - 1).bit_length()))
        place = data.draw(st.integers(0, (size - 1) >> level))
        first = place << level
        assume(min(size, first + (1 << level)) - first > 1)
        below = [bytes(tree.node(level - 1, 2 * place + side)) for side in (0, 1)]
        forged = leaf_hashes([b"".join(below)])
        assert forged != bytes(tree.node(level, place))
        path = tree.prove(range(first, min(size, first + (1 << level))))
        for index in {place, first}:
            assert tree.root != recomputed(said, {index: forged}, path)

    def test_a_node_taken_as_a_leaf_hash_needs_another_size(self):
        """The hash of a node leads to the root as a leaf only in a tree that is said to be smaller."""
        rows = rows_of(8)
        tree = tree_of(rows)
        node, path = bytes(tree.node(1, 1)), tree.prove([2, 3])
        assert tree.root == Tree.recompute(4, {1: node}, path)
        assert [None] * 8 == [recomputed(8, {index: node}, path) for index in range(8)]
        # And it is no leaf of a smaller tree either: it would have to be the hash of a row.
        assert node != sha256(LEAF + tree.levels_buffer()[64:128]).digest()


class TestHostileProof:
    def test_no_leaf(self):
        assert "the proof shows no leaf" == refusal(3, {}, b"")

    @pytest.mark.parametrize(
        "size", [-1, 1 << 64, 1 << 100_000], ids=["negative", "too large", "far too large"]
    )
    def test_sizes_of_no_tree(self, size):
        expected = "the size is none of a tree: it must be from 0 up to 2^64 - 1"
        assert expected == refusal(size, {0: bytes(32)}, b"")

    @pytest.mark.parametrize("at", [-1, 3, 1 << 100_000], ids=["before", "behind", "far behind"])
    def test_positions_outside(self, at):
        expected = "the proof shows a leaf outside of a tree of 3 leaves"
        assert expected == refusal(3, {0: bytes(32), at: bytes(32)}, bytes(32))
        assert "the proof shows a leaf outside of a tree of 0 leaves" == refusal(0, {0: b""}, b"")

    @pytest.mark.parametrize("length", [0, 31, 33])
    def test_hashes_of_another_length(self, length):
        expected = f"the hash of leaf 1 has {length} bytes, not 32"
        assert expected == refusal(2, {0: bytes(32), 1: bytes(length)}, b"")

    @pytest.mark.parametrize("length", [1, 31, 33])
    def test_a_path_of_no_whole_hashes(self, length):
        expected = f"the path is no row of hashes: it has {length} bytes"
        assert expected == refusal(2, {0: bytes(32)}, bytes(length))

    def test_too_few_and_too_many_hashes(self):
        short = "the path has 2 hashes; the leaves that are shown, in a tree of 8, ask for more"
        assert short == refusal(8, {5: bytes(32)}, bytes(64))
        long = "the path has 4 hashes; the leaves that are shown, in a tree of 8, ask for 3"
        assert long == refusal(8, {5: bytes(32)}, bytes(128))

    def test_the_largest_size_takes_as_many_steps_as_it_has_bits(self):
        last = (1 << 64) - 2
        size = (1 << 64) - 1
        ask = f"in a tree of {size}, ask for"
        short = f"the path has 63 hashes; the leaves that are shown, {ask} more"
        assert short == refusal(size, {0: bytes(32)}, bytes(32 * 63))
        assert 32 == len(Tree.recompute(size, {0: bytes(32)}, bytes(32 * 64)))
        # The last leaf has no neighbour on the first level.
        assert 32 == len(Tree.recompute(size, {last: bytes(32)}, bytes(32 * 63)))

    @given(
        st.integers(-3, 1 << 70),
        st.dictionaries(st.integers(-3, 1 << 66), st.binary(max_size=40), max_size=6),
        st.binary(max_size=3000),
    )
    def test_nothing_but_a_root_or_a_refusal_comes_out(self, size, leaves, path):
        root = recomputed(size, leaves, path)
        assert root is None or len(root) == 32


class TestStored:
    @given(st.integers(0, 300), st.data())
    def test_proofs_from_stored_levels_are_the_same(self, size, data):
        tree = tree_of(rows_of(size))
        again = Tree.from_buffer(bytes(tree.levels_buffer()), size)
        assert (tree.size, tree.root) == (again.size, again.root)
        if size:
            index = data.draw(st.integers(0, size - 1))
            assert tree.prove([index]) == again.prove([index])

    def test_from_a_mapped_file(self, tmp_path):
        rows = rows_of(100)
        tree = tree_of(rows)
        (tmp_path / "levels").write_bytes(tree.levels_buffer())
        with (tmp_path / "levels").open("rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            again = Tree.from_buffer(mapped, 100)
            path = again.prove([3, 70])
            assert tree.root == Tree.recompute(100, shown(rows, [3, 70]), path)
            del again
            mapped.close()

    def test_leaves_come_first_and_all_levels_are_about_twice_as_many(self):
        hashes = leaf_hashes(rows_of(1000))
        stored = Tree.build(hashes).levels_buffer()
        assert hashes == stored[: len(hashes)]
        assert 2000 <= len(stored) // 32 <= 2000 + 10
        assert stored.readonly

    @pytest.mark.parametrize(("size", "wrong"), [(0, 32), (1, 0), (5, 0), (5, 352 - 1), (5, 384)])
    def test_another_number_of_bytes_is_refused(self, size, wrong):
        right = {0: 0, 1: 32, 5: 352}[size]
        Tree.from_buffer(bytes(right), size)
        with pytest.raises(IntegrityError) as caught:
            Tree.from_buffer(bytes(wrong), size)
        expected = f"the stored tree has {wrong} bytes; one of {size} leaves has {right}"
        assert expected == str(caught.value)

    def test_a_size_of_no_tree_is_refused(self):
        with pytest.raises(IntegrityError) as caught:
            Tree.from_buffer(b"", -1)
        expected = "the size is none of a tree: it must be from 0 up to 2^64 - 1"
        assert expected == str(caught.value)


def test_leaf_hashes_are_read_once_from_whatever_gives_rows():
    rows = rows_of(2500)
    expected = b"".join(sha256(b"\0" + row).digest() for row in rows)
    assert expected == leaf_hashes(rows)
    assert expected == leaf_hashes(row for row in rows)
    assert b"" == leaf_hashes([])


def test_half_a_leaf_hash_is_refused():
    with pytest.raises(UsageError) as caught:
        Tree.build(bytes(33))
    assert "leaf hashes must have 32 bytes each. Got 33 in all." == str(caught.value)


def flipped(data, bit):
    changed = bytearray(data)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)
