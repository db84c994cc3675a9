"""The root binds leaves, order and size; proofs show it, and nothing else passes for one."""

from hashlib import sha256
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonloom.errors import IntegrityError, UsageError
from anonloom_seals.structure import HASH, Structure
from anonloom_skip_list.skiplist import SkipList


def leaf(number):
    return sha256(b"\0" + number.to_bytes(8)).digest()


def leaves_of(*numbers):
    return [leaf(number) for number in numbers]


def built(leaves):
    return SkipList.build(b"".join(leaves))


# The definition once more: recursive, on slices, with levels from the text of the bits.


def slow_level(one):
    bits = "".join(f"{byte:08b}" for byte in sha256(b"level" + one).digest())
    return len(bits) - len(bits.rstrip("0"))


def slow_cut(leaves):
    return max(range(1, len(leaves)), key=lambda at: (slow_level(leaves[at]), -at))


def slow_root(leaves):
    if not leaves:
        return sha256(b"\x02").digest()
    if len(leaves) == 1:
        return leaves[0]
    cut = slow_cut(leaves)
    node = b"\x02" + bytes([slow_level(leaves[cut])])
    node += cut.to_bytes(8) + (len(leaves) - cut).to_bytes(8)
    return sha256(node + slow_root(leaves[:cut]) + slow_root(leaves[cut:])).digest()


def slow_path(leaves, shown):
    if not shown:
        return slow_root(leaves)
    if len(leaves) == 1:
        return b""
    cut = slow_cut(leaves)
    width = next(bytes_ for bytes_ in count(1) if len(leaves) - 1 < 256**bytes_)
    node = bytes([slow_level(leaves[cut])]) + cut.to_bytes(width)
    node += slow_path(leaves[:cut], {index for index in shown if index < cut})
    return node + slow_path(leaves[cut:], {index - cut for index in shown if index >= cut})


some_leaves = st.lists(st.integers(0, 400).map(leaf), max_size=40)


@st.composite
def proofs(draw, at_least=1):
    """Leaves, some of their positions, and the proof for them."""
    leaves = draw(st.lists(st.integers(0, 400).map(leaf), min_size=at_least, max_size=40))
    shown = sorted(draw(st.sets(st.integers(0, len(leaves) - 1), min_size=1)))
    return leaves, shown, built(leaves).prove(shown)


def outcome(size, shown, path):
    """The root that comes out of a proof; none if it is refused."""
    try:
        return SkipList.recompute(size, shown, path)
    except IntegrityError:
        return None


def test_it_is_a_structure():
    assert issubclass(SkipList, Structure)


def test_the_empty_list_has_a_root_of_its_own():
    empty = SkipList.build(b"")
    assert (0, sha256(b"\x02").digest()) == (empty.size, empty.root)


def test_one_leaf_is_its_own_root_and_needs_no_path():
    single = SkipList.build(leaf(7))
    assert (1, leaf(7), b"") == (single.size, single.root, single.prove([0]))
    assert leaf(7) == SkipList.recompute(1, {0: leaf(7)}, b"")


def test_the_root_stays_what_it_was():
    """A vector: whoever changes the format changes what was signed."""
    expected = "9c477a8b8c9beb321c37e205a4670ed8c11a1950b20ab7427a9a001d166d4acb"
    leaves = leaves_of(*range(10))
    assert (expected, expected) == (slow_root(leaves).hex(), built(leaves).root.hex())


@given(some_leaves)
def test_size_and_root_are_those_of_the_definition(leaves):
    made = built(leaves)
    assert (len(leaves), slow_root(leaves)) == (made.size, made.root)


@given(proofs())
def test_paths_are_those_of_the_definition(proof):
    leaves, shown, path = proof
    assert slow_path(leaves, set(shown)) == path


@given(proofs())
def test_every_proof_gives_the_root(proof):
    leaves, shown, path = proof
    assert slow_root(leaves) == SkipList.recompute(
        len(leaves), {index: leaves[index] for index in shown}, path
    )


def test_three_thousand_leaves():
    leaves = leaves_of(*range(3000))
    made = built(leaves)
    assert slow_root(leaves) == made.root
    for shown in ([0], [2999], [1500, 1501, 1502], list(range(3000)), list(range(0, 3000, 7))):
        path = made.prove(shown)
        assert made.root == SkipList.recompute(
            3000, {index: leaves[index] for index in shown}, path
        )


def test_equal_leaves_make_a_chain_but_no_error():
    """Three thousand nodes below one another: nothing depends on the depth of recursion."""
    leaves = [leaf(1)] * 3000
    made = built(leaves)
    made.insert(1500, leaf(1))
    made.remove(0)
    for shown in ([0], [2999]):
        path = made.prove(shown)
        assert made.root == SkipList.recompute(3000, {index: leaf(1) for index in shown}, path)


@given(some_leaves, some_leaves)
def test_other_lists_have_other_roots(one, other):
    assert (one == other) == (built(one).root == built(other).root)


@given(st.integers(1, 12))
def test_every_flipped_bit_of_a_path_is_refused_or_gives_another_root(size):
    leaves = leaves_of(*range(size))
    made = built(leaves)
    for index in range(size):
        path = made.prove([index])
        for bit in range(8 * len(path)):
            changed = bytearray(path)
            changed[bit // 8] ^= 1 << bit % 8
            assert made.root != outcome(size, {index: leaves[index]}, bytes(changed))


@given(proofs(), st.data())
def test_every_flipped_bit_of_a_leaf_is_refused_or_gives_another_root(proof, data):
    leaves, shown, path = proof
    index = data.draw(st.sampled_from(shown))
    bit = data.draw(st.integers(0, 8 * HASH - 1))
    changed = bytearray(leaves[index])
    changed[bit // 8] ^= 1 << bit % 8
    given_leaves = {index: leaves[index] for index in shown} | {index: bytes(changed)}
    assert slow_root(leaves) != outcome(len(leaves), given_leaves, path)


@given(proofs(at_least=2), st.data())
def test_every_dropped_or_added_byte_is_refused_or_gives_another_root(proof, data):
    leaves, shown, path = proof
    shown_leaves = {index: leaves[index] for index in shown}
    place = data.draw(st.integers(0, len(path)))
    extra = data.draw(st.binary(min_size=1, max_size=1))
    for changed in (path[:place] + path[place + 1 :], path[:place] + extra + path[place:]):
        if changed != path:
            assert slow_root(leaves) != outcome(len(leaves), shown_leaves, changed)


@given(st.integers(2, 40), st.data())
def test_a_leaf_at_another_position_is_refused_or_gives_another_root(size, data):
    leaves = leaves_of(*range(size))
    shown = data.draw(st.integers(0, size - 1))
    claimed = data.draw(st.integers(0, size - 1).filter(lambda at: at != shown))
    made = built(leaves)
    for proved in (shown, claimed):
        assert made.root != outcome(size, {claimed: leaves[shown]}, made.prove([proved]))


@given(st.integers(3, 40), st.data())
def test_neighbours_are_neighbours(size, data):
    """Leaves that are not next to each other pass in no proof for positions that are."""
    leaves = leaves_of(*range(size))
    made = built(leaves)
    one, other = data.draw(
        st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)).filter(
            lambda pair: pair[0] + 1 < pair[1]
        )
    )
    shown = {one: leaves[one], one + 1: leaves[other]}
    for proved in ([one, other], [one, one + 1], [other - 1, other]):
        assert made.root != outcome(size, shown, made.prove(proved))


@given(proofs(), st.integers(-2, 300))
def test_another_size_is_refused_or_gives_another_root(proof, size):
    leaves, shown, path = proof
    if size != len(leaves):
        assert slow_root(leaves) != outcome(size, {index: leaves[index] for index in shown}, path)


@given(
    st.integers(-1, 2**65),
    st.dictionaries(st.integers(-1, 50), st.binary(min_size=31, max_size=33), max_size=5),
    st.binary(max_size=200),
)
def test_whatever_comes_is_a_root_or_refused(size, shown, path):
    root = outcome(size, shown, path)
    assert root is None or len(root) == HASH


def test_a_path_may_be_deep():
    """Each node cuts one leaf off, 16,383 times: nothing depends on the depth of recursion."""
    size = 2**14
    last = next(leaf(number) for number in count() if slow_level(leaf(number)) == 0)
    path = b"".join(
        b"\0" + (1).to_bytes(2 if rest > 256 else 1) + leaf(0) for rest in range(size, 1, -1)
    )
    root = last
    for after in range(1, size):
        root = sha256(b"\x02\0" + (1).to_bytes(8) + after.to_bytes(8) + leaf(0) + root).digest()
    assert root == SkipList.recompute(size, {size - 1: last}, path)


@given(st.lists(st.integers(0, 400).map(leaf), min_size=2, max_size=6), st.data())
def test_where_all_leaves_are_shown_only_one_shape_is_accepted(leaves, data):
    """Levels are those of the leaves, and the highest is on top."""

    def shape(part):
        if len(part) == 1:
            return b""
        cut = data.draw(st.integers(1, len(part) - 1))
        level = data.draw(st.sampled_from([slow_level(part[cut]), 9]))
        return bytes([level, cut]) + shape(part[:cut]) + shape(part[cut:])

    path = shape(leaves)
    root = outcome(len(leaves), dict(enumerate(leaves)), path)
    expected = slow_root(leaves) if path == slow_path(leaves, set(range(len(leaves)))) else None
    assert expected == root


TEN = leaves_of(*range(10))
PATH = built(TEN).prove([4])


@pytest.mark.parametrize(
    ("size", "shown", "path", "message"),
    [
        (10, {}, PATH, "the proof shows no leaf"),
        (0, {0: TEN[0]}, b"", "the proof shows position 0 in a list of 0 leaves"),
        (-1, {0: TEN[0]}, b"", "the proof shows position 0 in a list of -1 leaves"),
        (10, {-1: TEN[0]}, PATH, "the proof shows position -1 in a list of 10 leaves"),
        (10, {10: TEN[0]}, PATH, "the proof shows position 10 in a list of 10 leaves"),
        (
            2**64,
            {0: TEN[0]},
            PATH,
            "a list has at most 18446744073709551615 leaves, not 18446744073709551616",
        ),
        (
            10,
            {4: TEN[4][:-1]},
            PATH,
            "the hash of leaf 4 has 31 bytes, not 32",
        ),
        (10, {4: TEN[4]}, b"", "the path is too short: it has 0 bytes and needs at least 2"),
        (
            2,
            {0: TEN[0]},
            b"\0\1" + bytes(31),
            "the path is too short: it has 33 bytes and needs at least 34",
        ),
        (1, {0: TEN[0]}, b"abc", "the path is too long: it has 3 bytes and needs 0"),
        (
            10,
            {4: TEN[4]},
            PATH + b"a",
            f"the path is too long: it has {len(PATH) + 1} bytes and needs {len(PATH)}",
        ),
        (
            10,
            {4: TEN[4]},
            b"\0\0" + PATH[2:],
            "the path divides 10 leaves from position 0 on after 0 of them",
        ),
        (
            10,
            {4: TEN[4]},
            b"\0\x0a" + PATH[2:],
            "the path divides 10 leaves from position 0 on after 10 of them",
        ),
        (
            2,
            {1: TEN[1]},
            bytes([slow_level(TEN[1]) + 1, 1]) + TEN[0],
            f"the leaf at position 1 has level {slow_level(TEN[1])}; "
            f"the path says {slow_level(TEN[1]) + 1}",
        ),
        (
            3,
            {0: TEN[0], 1: TEN[1], 2: TEN[2]},
            b"\x09\1" + bytes([slow_level(TEN[2]), 1]),
            f"the leaf at position 1 has level {slow_level(TEN[1])}; the path says 9",
        ),
        (
            3,
            {0: TEN[0]},
            b"\3\2" + b"\3\1" + TEN[1] + TEN[2],
            "the path has too high a level below level 3",
        ),
        (
            3,
            {2: TEN[2]},
            b"\0\1" + TEN[0] + bytes([slow_level(TEN[2]), 1]) + TEN[1],
            "the path has too high a level below level 0",
        ),
    ],
)
def test_each_malformed_proof_is_refused_with_its_reason(size, shown, path, message):
    with pytest.raises(IntegrityError) as refused:
        SkipList.recompute(size, shown, path)
    assert message == str(refused.value)


def test_leaves_are_whole_hashes():
    with pytest.raises(UsageError) as refused:
        SkipList.build(bytes(33))
    assert "leaf hashes must have 32 bytes each. Got 33 in all." == str(refused.value)


@pytest.mark.parametrize("positions", [[], [-1], [10], [3, 10], [3, 3], [3, 5, 4, 6]])
def test_positions_ascend_and_lie_in_the_list(positions):
    with pytest.raises(UsageError) as refused:
        built(TEN).prove(positions)
    assert "positions must be at least one, ascending, each once and below 10" == str(refused.value)


def test_an_empty_list_proves_nothing():
    with pytest.raises(UsageError) as refused:
        SkipList.build(b"").prove([0])
    assert "positions must be at least one, ascending, each once and below 0" == str(refused.value)
