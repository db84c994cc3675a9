"""One key of the tree says nothing about leaf and payload: by enumeration, and by a coupling.

SECRECY.md has the argument that these tests execute. AES output would pass any
statistical test, whatever leaks structurally; so the expansion is replaced here. The code under
test is `generation.generate`, the one that makes keys in use.
"""

from itertools import product

import numpy as np
import pytest

from anonloom_dpf import generation
from anonloom_dpf.aes import BLOCK
from anonloom_dpf.prime_field import MODULUS
from anonloom_dpf.shape import Shape
from anonloom_dpf.tree import AesExpansion, Tree

# --- (i) every random tape of toy parameters: the exact distribution of what one party sees -------


class Bits:
    """Every value of some random bits: row i holds the i-th combination."""

    def __init__(self, count):
        self.rows = np.arange(1 << count)
        self.used = 0

    def draw(self, count):
        value = self.rows >> self.used & ((1 << count) - 1)
        self.used += count
        return value.astype(np.uint8)


class Tape:
    """A random table for the expansion, of depth 1, with one seed bit beside the control bit.

    An entry belongs to a node and to the state that it expands. Party `adversary` can look up her own
    seed with either control bit; the other party's entry is one she cannot look up, unless the other
    party's seed is hers: then the very entries that she sees are used.
    """

    TAPE_BITS = 2 + 12 + 5

    def __init__(self, adversary, hashed):
        bits = Bits(self.TAPE_BITS)
        self.adversary, self.hashed = adversary, hashed
        self.seeds = np.stack([bits.draw(1) << 1, bits.draw(1) << 1])[:, :, None]
        self.root = np.stack([bits.draw(4) for _ in ("own, bit 0", "own, bit 1", "other")])
        self.own_leaves = np.stack([[bits.draw(1) for _ in range(2)] for _ in range(2)])
        self.other_leaf = bits.draw(1)
        self.met = np.zeros(len(bits.rows), bool)

    def entry(self, states):
        """Which of own with bit 0, own with bit 1, other (0, 1, 2); notes where the seeds meet."""
        two = states[:, 0].reshape(2, -1)
        own, other = two[self.adversary], two[1 - self.adversary]
        result = np.empty_like(two)
        result[self.adversary] = own & 1
        met = own >> 1 == other >> 1
        result[1 - self.adversary] = np.where(met, other & 1, 2)
        self.met |= met
        return result.reshape(-1)

    def children(self, nodes, states):
        raw = self.root[self.entry(states), np.tile(np.arange(self.root.shape[1]), 2)]
        return (raw & 3)[:, None], (raw >> 2)[:, None]

    def leaf(self, number, states):
        tape = np.tile(np.arange(self.root.shape[1]), 2)
        entry = self.entry(states)
        own = self.own_leaves[number, np.minimum(entry, 1), tape]
        return np.where(entry == 2, self.other_leaf[tape], own)[:, None]

    def payload(self, nodes, states):
        return np.zeros((len(states), 1), np.uint8) if self.hashed else self.leaf(nodes - 2, states)

    def digest(self, leaves, states):
        return self.leaf(leaves, states) if self.hashed else np.zeros((len(states), 0), np.uint8)


class WithoutControlBits(Tape):
    """A planted fault: control bits of children are not random, so nothing hides the turn."""

    def children(self, nodes, states):
        left, right = super().children(nodes, states)
        return left & 2, right & 2


def packed(*columns):
    """Columns of small numbers as one number per row."""
    out = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        out = out << 4 | column.astype(np.int64)
    return out


def views(tape, index, payload, seeds=None):
    """What the adversary sees, over all tapes on which the two seeds never meet by chance."""
    seeds = tape.seeds if seeds is None else seeds
    m = seeds.shape[1]
    path = np.full((m, 1), index, np.uint8)
    payloads = np.full((m, 1), payload, np.uint8)
    tape.met[:] = False
    public = generation.generate(tape, path, np.full(m, index), payloads, seeds)
    seen = packed(
        seeds[tape.adversary, :, 0], public.corrections[:, 0, 0], public.right_bits[:, 0],
        public.last[:, 0], *public.check.T, tape.root[0], tape.root[1], *tape.own_leaves.reshape(4, -1),
    )  # fmt: skip
    return np.unique(seen[~tape.met], return_counts=True)


def secret(make, seeds_of=lambda tape: None):
    """Whether the exact distribution of the view is the same for every leaf and payload."""
    for adversary, hashed in product((0, 1), (False, True)):
        tape = make(adversary, hashed)
        cases = product((0, 1), (0,) if hashed else (0, 1))
        results = [views(tape, *case, seeds_of(tape)) for case in cases]
        if not len(results[0][0]):
            return False  # the two parties' seeds always meet
        for seen, counts in results[1:]:
            if not (np.array_equal(results[0][0], seen) and np.array_equal(results[0][1], counts)):
                return False
    return True


def test_one_key_has_the_same_distribution_for_every_leaf_and_payload():
    assert secret(Tape)


def test_planted_a_reused_seed_is_caught():
    assert not secret(Tape, lambda tape: np.stack([tape.seeds[0], tape.seeds[0]]))


def test_planted_an_uncorrected_bit_is_caught():
    assert not secret(WithoutControlBits)


def test_planted_equal_roots_are_caught(monkeypatch):
    monkeypatch.setattr(generation, "root_states", lambda seeds: np.stack([seeds[0], seeds[0]]))
    tape = Tape(0, False)
    assert not secret(lambda adversary, hashed: tape)
    tape.met[:] = False  # and not only because the seeds meet: the payload stands in the key
    public = generation.generate(
        tape, np.zeros((tape.seeds.shape[1], 1), np.uint8), np.zeros(tape.seeds.shape[1], np.int64),
        np.ones((tape.seeds.shape[1], 1), np.uint8), tape.seeds,
    )  # fmt: skip
    assert {1} == set(public.last[:, 0].tolist())


class TwoLevels:
    """A random table of depth 2 for states that are a control bit alone: 2^20 tapes."""

    def __init__(self):
        bits = Bits(20)
        self.tables = {node: np.stack([bits.draw(2), bits.draw(2)]) for node in (1, 2, 3)}
        self.leaves = np.stack([[bits.draw(1), bits.draw(1)] for _ in range(4)])
        self.tape = np.arange(len(bits.rows))

    def children(self, nodes, states):
        raw = self.tables[int(nodes[0])][states[:, 0], np.tile(self.tape, 2)]
        return (raw & 1)[:, None], (raw >> 1)[:, None]

    def payload(self, nodes, states):
        return self.leaves[int(nodes[0]) - 4, states[:, 0], np.tile(self.tape, 2)][:, None]

    def digest(self, leaves, states):
        return np.zeros((len(states), 0), np.uint8)

    def seen(self, party, public):
        """The key, and every table entry that the party meets when it evaluates all leaves."""
        columns = [public.corrections[:, 0, 0], public.corrections[:, 1, 0]]
        columns += [public.right_bits[:, 0], public.right_bits[:, 1], public.last[:, 0]]
        states = {1: np.full(len(self.tape), party, np.uint8)}
        for node in (1, 2, 3):
            level = node.bit_length() - 1
            raw = self.tables[node][states[node], self.tape]
            columns.append(raw)
            states[2 * node] = raw & 1 ^ (states[node] & public.corrections[:, level, 0])
            states[2 * node + 1] = raw >> 1 ^ (states[node] & public.right_bits[:, level])
        columns += [self.leaves[node - 4, states[node], self.tape] for node in (4, 5, 6, 7)]
        return packed(*columns)


@pytest.mark.long
@pytest.mark.parametrize("party", [0, 1])
def test_two_levels_have_the_same_distribution_too(party):
    table = TwoLevels()
    m = len(table.tape)
    results = []
    for index, payload in product(range(4), (0, 1)):
        path = np.tile(np.array([index >> 1, index & 1], np.uint8), (m, 1))
        public = generation.generate(
            table, path, np.full(m, index), np.full((m, 1), payload, np.uint8), np.zeros((2, m, 1), np.uint8)
        )  # fmt: skip
        results.append(np.unique(table.seen(party, public), return_counts=True))
    for seen, counts in results[1:]:
        assert np.array_equal(results[0][0], seen)
        assert np.array_equal(results[0][1], counts)


class Trits:
    """A random table of depth 1 with one seed bit, whose leaves hold a number of three: every tape.

    As `Tape`, but that the party looks up her own entries only at the control bits that she has.
    """

    def __init__(self, adversary):
        tape = np.arange((1 << 10) * 3**5)
        bits, self.adversary = tape & 1023, adversary
        self.seeds = np.stack([(bits & 1) << 1, bits & 2]).astype(np.uint8)[:, :, None]
        self.own_root, self.other_root = (bits >> 2 & 15), (bits >> 6 & 15)
        trits = tape >> 10
        self.drawn = [(trits // 3**index % 3).astype(np.uint64) for index in range(5)]
        self.met = np.zeros(len(tape), bool)

    def both(self, states, own, other):
        """The entries of both parties; where the seeds meet the tape is not looked at."""
        two = states[:, 0].reshape(2, -1)
        self.met |= two[0] >> 1 == two[1] >> 1
        entries = [own(two[self.adversary] & 1), other]
        return np.concatenate(entries if self.adversary == 0 else entries[::-1])

    def children(self, nodes, states):
        raw = self.both(states, lambda _: self.own_root, self.other_root).astype(np.uint8)
        return (raw & 3)[:, None], (raw >> 2)[:, None]

    def payload(self, nodes, states):
        return np.zeros((len(states), 0), np.uint8)

    digest = payload

    def numbers(self, nodes, states):
        first = 2 * (int(nodes[0]) - 2)
        mine = lambda bit: np.where(bit, self.drawn[first + 1], self.drawn[first])  # noqa: E731
        return self.both(states, mine, self.drawn[4])[:, None]

    def view(self, index, number):
        """What the party sees: her seed, the key, and every entry that she can look up."""
        m = len(self.met)
        self.met[:] = False
        public = generation.generate(
            self, np.full((m, 1), index, np.uint8), np.full(m, index), np.zeros((m, 0), np.uint8),
            self.seeds, np.full((m, 1), number, np.uint64), 3,
        )  # fmt: skip
        seen = packed(
            self.seeds[self.adversary, :, 0], public.corrections[:, 0, 0], public.right_bits[:, 0],
            public.numbers[:, 0], self.own_root, *self.drawn[:4],
        )  # fmt: skip
        return np.unique(seen[~self.met], return_counts=True)


def numbers_are_secret(make):
    for adversary in (0, 1):
        first, *others = (make(adversary).view(*case) for case in product((0, 1), (0, 1, 2)))
        for seen, counts in others:
            if not (np.array_equal(first[0], seen) and np.array_equal(first[1], counts)):
                return False
    return True


def test_one_key_has_the_same_distribution_for_every_number():
    assert numbers_are_secret(Trits)


def test_planted_a_correction_without_one_of_the_raw_numbers_is_caught(monkeypatch):
    true = generation._number_correction

    def only_mine(raw, numbers, first, modulus):
        return true(raw * np.array([1, 0], np.uint64)[:, None, None], numbers, first, modulus)

    monkeypatch.setattr(generation, "_number_correction", only_mine)
    assert not numbers_are_secret(Trits)


def test_planted_numbers_that_are_not_random_are_caught():
    class Plain(Trits):
        def numbers(self, nodes, states):
            return np.zeros_like(super().numbers(nodes, states))

    assert not numbers_are_secret(Plain)


# --- (ii) the hybrid, executed: the same bytes for another leaf and payload -----------------------


class Programmed:
    """AES where the party can look, chosen values at the other party's states on the path."""

    def __init__(self, width):
        self.aes = AesExpansion(width, True)
        self.chosen = {}

    def with_chosen(self, kind, states, plain):
        out = plain.copy()
        for row, state in enumerate(states):
            if (kind, state.tobytes()) in self.chosen:
                out[row] = self.chosen[kind, state.tobytes()]
        return out

    def children(self, nodes, states):
        left, right = self.aes.children(nodes, states)
        return self.with_chosen("left", states, left), self.with_chosen("right", states, right)

    def payload(self, nodes, states):
        return self.with_chosen("payload", states, self.aes.payload(nodes, states))

    def numbers(self, nodes, states):
        return self.with_chosen("numbers", states, self.aes.numbers(nodes, states))

    def digest(self, leaves, states):
        return self.with_chosen("digest", states, self.aes.digest(leaves, states))


def seed_of(state):
    return bytes([state[0, 0] & 0xFE]) + state[0, 1:].tobytes()


def coupled(tree, party, key, index, payload, rng, draw_seed, numbers=(0, 0)):
    """Expansion and seeds that give `key` for (index, payload, numbers), and whether all that was chosen is
    hidden: no chosen value stands at a seed that the party holds itself on the path.
    """
    world = Programmed(tree.width)
    parts = tree.parts(key[None])
    seeds = np.empty((2, 1, BLOCK), np.uint8)
    seeds[party, 0] = key[:BLOCK]
    seeds[1 - party, 0] = np.frombuffer(draw_seed(key), np.uint8)
    own, other = generation.root_states(seeds)[[party, 1 - party]]
    nodes = np.ones(1, np.int64)
    hidden = seed_of(own) != seed_of(other)
    for level, turn in enumerate(Shape(tree.leaves).path(np.array([index]))[0]):
        mine = world.aes.children(nodes, own)
        words = [parts.corrections[:, level].copy(), parts.corrections[:, level].copy()]
        words[1][:, 0] = words[1][:, 0] & 0xFE | parts.right_bits[:, level]
        # What is left behind must meet after correction; what is kept is free but for the bit.
        theirs = [mine[side] ^ words[side] for side in (0, 1)]
        theirs[turn][:] = np.frombuffer(rng.bytes(BLOCK), np.uint8)
        differ = mine[turn][0, 0] ^ words[turn][0, 0] ^ 1
        theirs[turn][0, 0] = theirs[turn][0, 0] & 0xFE | differ & 1
        world.chosen["left", other.tobytes()] = theirs[0][0]
        world.chosen["right", other.tobytes()] = theirs[1][0]
        own = mine[turn] ^ words[turn] * (own[0, 0] & 1)
        other = theirs[turn] ^ words[turn] * (other[0, 0] & 1)
        hidden &= seed_of(own) != seed_of(other)
    leaf = np.array([index])
    world.chosen["payload", other.tobytes()] = (world.aes.payload(leaf, own) ^ parts.last)[
        0
    ] ^ payload
    world.chosen["digest", other.tobytes()] = (world.aes.digest(leaf, own) ^ parts.check)[0]
    if tree.counted:
        # Whoever has the control bit adds the correction: party 0 has the number more than party 1.
        word = np.ascontiguousarray(parts.numbers).view("<u8")[0]
        mine, sign = world.aes.numbers(leaf, own)[0], 1 if party else -1
        world.chosen["numbers", other.tobytes()] = [
            (int(m) + int(own[0, 0] & 1) * int(w) + sign * int(n) - int(other[0, 0] & 1) * int(w))
            % MODULUS
            for m, w, n in zip(mine, word, numbers, strict=True)
        ]
    return world, seeds, hidden


@pytest.mark.parametrize("party", [0, 1])
@pytest.mark.parametrize("leaves", [1, 2, 37, 1500])
def test_every_key_is_as_well_a_key_for_any_other_leaf_and_payload(party, leaves):
    tree = Tree(leaves, 20, checked=True)
    rng = np.random.default_rng(leaves)
    for _ in range(10):
        (one, another), payloads = rng.integers(0, leaves, 2), rng.bytes(40)
        message, other_message = np.frombuffer(payloads, np.uint8).reshape(2, 1, 20)

        class Drawn:
            bytes = staticmethod(rng.bytes)

        key = tree.keys(np.array([one]), message, Drawn())[party][0]
        world, seeds, hidden = coupled(
            tree, party, key, another, other_message[0], rng, lambda key: rng.bytes(BLOCK)
        )
        assert hidden
        public = generation.generate(
            world, tree.shape.path(np.array([another])), np.array([another]), other_message, seeds
        )
        parts = tree.parts(key[None])
        assert parts.corrections.tobytes() == public.corrections.tobytes()
        assert parts.right_bits.tobytes() == public.right_bits.tobytes()
        assert parts.last.tobytes() == public.last.tobytes()
        assert parts.check.tobytes() == public.check.tobytes()


@pytest.mark.parametrize("party", [0, 1])
@pytest.mark.parametrize("leaves", [1, 2, 37, 1500])
def test_every_key_is_as_well_a_key_for_other_numbers_at_another_leaf(party, leaves):
    """A record's key for a decoy's, and for a record's elsewhere."""
    tree = Tree(leaves, 20, checked=True, counted=True)
    rng = np.random.default_rng(leaves)

    class Drawn:
        bytes = staticmethod(rng.bytes)

    for there in ((0, 0), (1, 7), (1, MODULUS - 1)):
        one, another = rng.integers(0, leaves, 2)
        message, other_message = np.frombuffer(rng.bytes(40), np.uint8).reshape(2, 1, 20)
        numbers = np.array([[1, 12345]], np.uint64)
        key = tree.keys(np.array([one]), message, Drawn(), numbers)[party][0]
        world, seeds, hidden = coupled(
            tree, party, key, another, other_message[0], rng, lambda key: rng.bytes(BLOCK), there
        )
        assert hidden
        public = generation.generate(
            world, tree.shape.path(np.array([another])), np.array([another]), other_message, seeds,
            np.array([there], np.uint64),
        )  # fmt: skip
        parts = tree.parts(key[None])
        assert parts.corrections.tobytes() == public.corrections.tobytes()
        assert parts.right_bits.tobytes() == public.right_bits.tobytes()
        assert parts.last.tobytes() == public.last.tobytes()
        assert parts.numbers.tobytes() == public.numbers.tobytes()


def test_planted_a_reused_seed_leaves_nothing_hidden_to_choose():
    """The same coupling fails: what it would choose is what the party can look up."""
    tree = Tree(37, 20, checked=True)
    rng = np.random.default_rng(5)

    class Drawn:
        bytes = staticmethod(rng.bytes)

    payload = np.ones((1, 20), np.uint8)
    key = tree.keys(np.array([3]), payload, Drawn())[0][0]
    _, _, hidden = coupled(tree, 0, key, 4, payload[0], rng, lambda key: key[:BLOCK].tobytes())
    assert not hidden
