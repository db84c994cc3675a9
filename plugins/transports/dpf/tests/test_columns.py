"""Numbers beside the bytes of a leaf: what a slow oracle says, the same with every kernel."""

import math
import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonloom_dpf import native, prime_field
from anonloom_dpf.aes import one_way
from anonloom_dpf.columns import WEIGHT_BITS
from anonloom_dpf.prime_field import MODULUS
from anonloom_dpf.tree import Tree


class Drawn:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def bytes(self, n):
        return self.rng.bytes(n)

    def elements(self, *shape):
        return prime_field.draw(self, *shape)


@pytest.fixture(autouse=True)
def _as_found(monkeypatch):
    monkeypatch.delenv(native.VARIABLE, raising=False)


def using(kernel, act):
    before = os.environ.get(native.VARIABLE)
    os.environ[native.VARIABLE] = kernel
    try:
        return act()
    finally:
        if before is None:
            del os.environ[native.VARIABLE]
        else:
            os.environ[native.VARIABLE] = before


# --- the field ------------------------------------------------------------------------------------

EDGES = [0, 1, 2, 26, 27, 1 << 24, 1 << 25, (1 << 32) - 1, 1 << 49, MODULUS - 1]
elements = st.sampled_from(EDGES) | st.integers(0, MODULUS - 1)


def one(value):
    return np.array([value], np.uint64)


@given(elements, elements)
def test_the_field_is_that_of_whole_numbers_modulo_the_prime(a, b):
    assert (a + b) % MODULUS == int(prime_field.add(one(a), one(b))[0])
    assert a * b % MODULUS == int(prime_field.multiply(one(a), one(b))[0])
    assert -a % MODULUS == int(prime_field.minus(one(a))[0])


@given(
    st.sampled_from([*EDGES, MODULUS, MODULUS + 1, 2**50 - 1, 2**64 - 1])
    | st.integers(0, 2**64 - 1)
)
def test_every_number_of_64_bits_is_reduced(number):
    assert number % MODULUS == int(prime_field.reduce(one(number))[0])


@given(st.lists(elements))
def test_sums_of_many_are_exact(numbers):
    assert sum(numbers) % MODULUS == prime_field.total(np.array(numbers, np.uint64))


def test_the_modulus_is_prime():
    """By Pocklington: a factor of p - 1 above its root, and a witness for each prime in it."""
    rest, primes, factor = MODULUS - 1, [], 2
    while factor * factor <= rest:
        while rest % factor == 0:
            rest //= factor
            primes.append(factor)
        factor += 1
    primes.append(rest)
    assert MODULUS - 1 == math.prod(primes)
    for prime_factor in set(primes):
        assert any(
            pow(base, MODULUS - 1, MODULUS) == 1
            and math.gcd(pow(base, (MODULUS - 1) // prime_factor, MODULUS) - 1, MODULUS) == 1
            for base in range(2, 50)
        )


# --- the oracle -----------------------------------------------------------------------------------


def numbers_of(tree, party, key):
    """Both numbers of every leaf by the definition, one leaf after the other, with whole numbers."""
    parts = tree.parts(key[None])
    words = [
        int(word) & (1 << 50) - 1 for word in np.ascontiguousarray(parts.numbers).view("<u8")[0]
    ]
    results = []
    for path in tree.shape.path(np.arange(tree.leaves)):
        state = key[:16].copy()
        state[0] = state[0] & 0xFE | party
        for level, turn in enumerate(path):
            bit = state[0] & 1
            child = one_way("right" if turn else "left", 0, state[None])[0]
            word = parts.corrections[0, level].copy()
            if turn:
                word[0] = word[0] & 0xFE | parts.right_bits[0, level]
            state = child ^ word * bit
        raw = one_way("numbers", 0, state[None])[0].tobytes()
        halves = [int.from_bytes(half, "little") & (1 << 50) - 1 for half in (raw[:8], raw[8:])]
        results.append(
            [
                (half + int(state[0] & 1) * word) % MODULUS
                for half, word in zip(halves, words, strict=True)
            ]
        )
    return results


def sketch_of(numbers, weights):
    pairs = [(int(weight), *both) for weight, both in zip(weights, numbers, strict=True)]
    return [
        sum(weight * first for weight, first, _ in pairs) % MODULUS,
        sum(weight * second for weight, _, second in pairs) % MODULUS,
        sum(weight * weight * first for weight, first, _ in pairs) % MODULUS,
    ]


def drawn_weights(entropy, leaves):
    return entropy.rng.integers(0, 1 << WEIGHT_BITS, leaves, dtype=np.uint32)


@pytest.mark.parametrize("kernel", native.available())
@pytest.mark.parametrize("leaves", [1, 2, 3, 37, 1024, 1100])
@pytest.mark.parametrize("party", [0, 1])
def test_columns_are_what_the_definition_says(kernel, leaves, party):
    entropy = Drawn(leaves)
    tree = Tree(leaves, 20, counted=True)
    indices, payloads = entropy.rng.integers(0, leaves, 3), np.ones((3, 20), np.uint8)
    numbers = entropy.elements(3, 2)
    keys = using(kernel, lambda: tree.keys(indices, payloads, entropy, numbers))[party]
    keys[2, tree.public_size :] ^= 255  # bytes that nobody made are a key as well
    weights, sums = drawn_weights(entropy, leaves), entropy.elements(leaves)
    slow = [numbers_of(tree, party, key) for key in keys]
    expected = [
        (int(before) + sum(own[index][0] for own in slow)) % MODULUS
        for index, before in enumerate(sums)
    ]
    share = np.zeros((leaves, 20), np.uint8)
    sketches = using(kernel, lambda: tree.count(party, keys, share, sums, weights))
    assert expected == sums.tolist()
    assert [sketch_of(own, weights) for own in slow] == sketches.tolist()


@given(
    leaves=st.integers(1, 80) | st.integers(1, 3000),
    width=st.integers(1, 100),
    m=st.integers(0, 20),
    seed=st.integers(0, 2**32),
)
def test_what_party_0_has_less_what_party_1_has_are_the_numbers(leaves, width, m, seed):
    """At the chosen leaves, zero at all others; bytes are what they are without numbers."""
    entropy = Drawn(seed)
    tree = Tree(leaves, width, counted=True)
    indices = entropy.rng.integers(0, leaves, m)
    payloads = entropy.rng.integers(0, 256, (m, width), dtype=np.uint8)
    numbers, weights = entropy.elements(m, 2), drawn_weights(entropy, leaves)
    keys = tree.keys(indices, payloads, entropy, numbers)
    sums, shares = np.zeros((2, leaves), np.uint64), np.zeros((2, leaves, width), np.uint8)
    sketches = [tree.count(b, keys[b], shares[b], sums[b], weights) for b in (0, 1)]
    apart = prime_field.add(sums[0], prime_field.minus(sums[1]))
    expected, table = [0] * leaves, np.zeros((leaves, width), np.uint8)
    for index, (first, _), payload in zip(indices, numbers, payloads, strict=True):
        expected[index] = (expected[index] + int(first)) % MODULUS
        table[index] ^= payload
    assert expected == apart.tolist()
    assert table.tobytes() == (shares[0] ^ shares[1]).tobytes()
    sketched = prime_field.add(sketches[0], prime_field.minus(sketches[1])).tolist()
    chosen = [int(weight) for weight in weights[indices]]
    assert [
        [q * int(a) % MODULUS, q * int(b) % MODULUS, q * q * int(a) % MODULUS]
        for q, (a, b) in zip(chosen, numbers, strict=True)
    ] == sketched


@pytest.mark.skipif(len(native.available()) == 1, reason="no C kernel here")
@given(
    leaves=st.integers(1, 80) | st.integers(1, 3000),
    width=st.integers(1, 100),
    m=st.integers(0, 20),
    party=st.integers(0, 1),
    seed=st.integers(0, 2**32),
)
def test_every_kernel_gives_the_same(leaves, width, m, party, seed):
    tree = Tree(leaves, width, counted=True)

    def outcome():
        entropy = Drawn(seed)
        indices = entropy.rng.integers(0, leaves, m)
        payloads = entropy.rng.integers(0, 256, (m, width), dtype=np.uint8)
        keys = tree.keys(indices, payloads, entropy, entropy.elements(m, 2))
        keys[party][m // 2 :, -16:] ^= 255
        share = entropy.rng.integers(0, 256, (leaves, width), dtype=np.uint8)
        sums, weights = entropy.elements(leaves), drawn_weights(entropy, leaves)
        sketches = tree.count(party, keys[party], share, sums, weights)
        return [
            keys[0].tobytes(),
            keys[1].tobytes(),
            share.tobytes(),
            sums.tolist(),
            sketches.tolist(),
        ]

    first, *others = (using(kernel, outcome) for kernel in native.available())
    assert all(first == other for other in others)


def test_largest_weights_and_numbers_fit():
    """Nothing overflows where every weight is as large as it can be."""
    leaves, entropy = 1024, Drawn(1)
    tree = Tree(leaves, 16, counted=True)
    keys = tree.keys(
        np.zeros(9, np.int64), np.zeros((9, 16), np.uint8), entropy, entropy.elements(9, 2)
    )[0]
    weights = np.full(leaves, (1 << WEIGHT_BITS) - 1, np.uint32)
    for kernel in native.available():
        sums = np.full(leaves, MODULUS - 1, np.uint64)
        share = np.zeros((leaves, 16), np.uint8)
        sketches = using(
            kernel, lambda sums=sums, share=share: tree.count(0, keys, share, sums, weights)
        )
        assert sketch_of(numbers_of(tree, 0, keys[4]), weights) == sketches[4].tolist()
        assert (sums < MODULUS).all()


# --- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"sums": np.zeros(4, np.uint64)}, "sums must be 5 contiguous numbers of 64 bits."),
        ({"sums": np.zeros(10, np.uint64)[::2]}, "sums must be 5 contiguous numbers of 64 bits."),
        ({"weights": np.zeros(5, np.int64)}, "weights must be 5 numbers of 32 bits."),
        (
            {"weights": np.full(5, 1 << WEIGHT_BITS, np.uint32)},
            "weights must be contiguous and below 2^22.",
        ),
    ],
)
def test_columns_of_another_size_are_refused(change, said):
    tree = Tree(5, 3, counted=True)
    given = {"sums": np.zeros(5, np.uint64), "weights": np.zeros(5, np.uint32), **change}
    keys, share = np.zeros((1, tree.key_size), np.uint8), np.zeros((5, 3), np.uint8)
    with pytest.raises(ValueError) as caught:  # noqa: PT011 -- the message is compared whole
        tree.count(0, keys, share, **given)
    assert said == str(caught.value)


def test_a_tree_without_numbers_is_not_counted():
    tree, entropy = Tree(5, 3), Drawn(0)
    with pytest.raises(ValueError) as caught:  # noqa: PT011 -- the message is compared whole
        tree.count(
            0, np.zeros((1, tree.key_size), np.uint8), np.zeros((5, 3), np.uint8), None, None
        )
    assert "Only a tree with counted=True can be counted." == str(caught.value)
    index, payload = np.zeros(1, np.int64), np.zeros((1, 3), np.uint8)
    for other, numbers in ((tree, entropy.elements(1, 2)), (Tree(5, 3, counted=True), None)):
        with pytest.raises(ValueError) as caught:  # noqa: PT011 -- the message is compared whole
            other.keys(index, payload, entropy, numbers)
        assert "A counted tree has numbers, and no other." == str(caught.value)
    for wrong in (entropy.elements(1, 1), np.full((1, 2), MODULUS, np.uint64)):
        with pytest.raises(ValueError) as caught:  # noqa: PT011 -- the message is compared whole
            Tree(5, 3, counted=True).keys(index, payload, entropy, wrong)
        assert "numbers must be 2 elements of the field per payload." == str(caught.value)
