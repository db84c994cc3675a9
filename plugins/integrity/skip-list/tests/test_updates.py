"""Updates lead to the list that would be built anew, with few hashes."""

import copy
import math
from hashlib import sha256
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonloom.errors import UsageError
from anonloom_skip_list import parts
from anonloom_skip_list.skiplist import SkipList


def leaf(number):
    return sha256(b"\0" + number.to_bytes(8)).digest()


def built(leaves):
    return SkipList.build(b"".join(leaves))


@st.composite
def histories(draw):
    """Leaves to begin with, and updates; few different leaves, so that equal ones meet."""
    some = st.integers(0, 60).map(leaf)
    start = draw(st.lists(some, max_size=30))
    length = len(start)
    steps = []
    for _ in range(draw(st.integers(0, 25))):
        what = draw(st.sampled_from(["insert", "remove", "replace"] if length else ["insert"]))
        place = draw(st.integers(0, length if what == "insert" else length - 1))
        steps.append((what, place, None if what == "remove" else draw(some)))
        length += {"insert": 1, "remove": -1, "replace": 0}[what]
    return start, steps


def update(made, leaves, what, place, new):
    """One step, on the list and on plain leaves."""
    if what == "insert":
        made.insert(place, new)
        leaves.insert(place, new)
    elif what == "remove":
        made.remove(place)
        del leaves[place]
    else:
        made.replace(place, new)
        leaves[place] = new


@given(histories(), st.booleans())
def test_after_any_history_the_list_is_the_one_built_anew(history, look):
    """Also when the root is asked for in between, which settles hashes."""
    leaves, steps = history
    made = built(leaves)
    for step in steps:
        update(made, leaves, *step)
        if look:
            assert built(leaves).root == made.root
    anew = built(leaves)
    assert (anew.size, anew.root) == (made.size, made.root)
    for place in range(len(leaves)):
        assert anew.prove([place]) == made.prove([place])


@given(histories())
def test_a_copy_keeps_the_state_that_it_had(history):
    start, steps = history
    made = built(start)
    kept = copy.copy(made)
    leaves = list(start)
    for step in steps:
        update(made, leaves, *step)
    assert (built(leaves).root, built(start).root) == (made.root, kept.root)


@pytest.fixture
def hashed(monkeypatch):
    """Every hash that is computed, nodes and levels alike."""
    calls = []

    def counting(content):
        calls.append(len(content))
        return sha256(content)

    monkeypatch.setattr(parts, "sha256", counting)
    return calls


@pytest.mark.parametrize("size", [1_000, 8_000])
def test_an_update_costs_a_multiple_of_log_n_hashes(hashed, size):
    """On average of 600 updates; the leaves are fixed, so the figures are, too."""
    leaves = [leaf(number) for number in range(size)]
    made = built(leaves)
    assert size == len(hashed)  # levels
    assert made.root
    assert 2 * size - 1 == len(hashed)  # and nodes
    rng = Random(1)
    spent = {"insert": [], "remove": [], "replace": []}
    for number in range(size, size + 600):
        what = ("insert", "remove", "replace")[number % 3]
        hashed.clear()
        new = None if what == "remove" else leaf(number)
        update(made, leaves, what, rng.randrange(len(leaves)), new)
        assert made.root
        spent[what].append(len(hashed))
    for costs in spent.values():
        assert sum(costs) / len(costs) < 2.5 * math.log2(size)
        assert max(costs) < 6 * math.log2(size)
    assert built(leaves).root == made.root


def test_updates_in_a_row_share_their_hashes(hashed):
    leaves = [leaf(number) for number in range(4_000)]

    def cost(looks):
        made = built(leaves)
        assert made.root
        hashed.clear()
        for number in range(100):
            made.insert(2_000, leaf(10_000 + number))
            if looks:
                assert made.root
        assert made.root
        return len(hashed)

    assert 4 * cost(looks=False) < cost(looks=True)


def test_paths_are_short(hashed):
    """Nodes above a leaf: between one and two times log2(n) on average."""
    size = 4_096
    leaves = [leaf(number) for number in range(size)]
    made = built(leaves)
    places = range(0, size, 16)
    paths = [made.prove([place]) for place in places]
    hashed.clear()
    for place, path in zip(places, paths, strict=True):
        assert made.root == SkipList.recompute(size, {place: leaves[place]}, path)
    nodes = len(hashed) - len(places)  # of each leaf that is shown also the level
    assert 1 < nodes / len(places) / math.log2(size) < 2


@pytest.mark.parametrize(
    ("what", "arguments", "message"),
    [
        ("insert", (4, leaf(9)), "position 4 is none for this in a list of 3 leaves"),
        ("insert", (-1, leaf(9)), "position -1 is none for this in a list of 3 leaves"),
        ("remove", (3,), "position 3 is none for this in a list of 3 leaves"),
        ("remove", (-1,), "position -1 is none for this in a list of 3 leaves"),
        ("replace", (3, leaf(9)), "position 3 is none for this in a list of 3 leaves"),
        ("insert", (0, b"short"), "a leaf hash must have 32 bytes. Got 5 instead."),
        ("replace", (0, b"short"), "a leaf hash must have 32 bytes. Got 5 instead."),
    ],
)
def test_a_refused_update_changes_nothing(what, arguments, message):
    made = built([leaf(1), leaf(2), leaf(3)])
    root = made.root
    with pytest.raises(UsageError) as refused:
        getattr(made, what)(*arguments)
    assert (message, root) == (str(refused.value), made.root)


def test_a_list_can_be_emptied_and_filled_again():
    made = SkipList.build(leaf(1))
    made.remove(0)
    assert (0, SkipList.build(b"").root) == (made.size, made.root)
    made.insert(0, leaf(2))
    assert (1, leaf(2)) == (made.size, made.root)
