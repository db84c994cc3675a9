"""Products in GF(2^128), against numbers multiplied bit by bit and against GHASH."""

from functools import reduce
from operator import xor

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom_dpf import gf128
from anonloom_dpf.gf128 import inner, multiply

POLYNOMIAL = 1 << 128 | 1 << 7 | 1 << 2 | 1 << 1 | 1

numbers = st.one_of(
    st.integers(0, 2**128 - 1),
    st.sampled_from([0, 1, 2, 2**63, 2**64 - 1, 2**64, 2**127, 2**128 - 1]),
    st.integers(0, 127).map(lambda bit: 1 << bit),
)


def product_of(left, right):
    """Bit by bit."""
    total = 0
    while right:
        if right & 1:
            total ^= left
        left <<= 1
        if left >> 128:
            left ^= POLYNOMIAL
        right >>= 1
    return total


def elements(values):
    text = b"".join(value.to_bytes(16, "little") for value in values)
    return np.frombuffer(text, np.uint8).reshape(len(values), 16)


def values(elements):
    return [int.from_bytes(element.tobytes(), "little") for element in elements]


def mirrored(text):
    """The bits of every byte in the opposite order: from GHASH's elements to ours, and back."""
    return bytes(int(f"{byte:08b}"[::-1], 2) for byte in text)


@settings(max_examples=300, deadline=None)
@given(pairs=st.lists(st.tuples(numbers, numbers), min_size=1, max_size=8))
def test_products_are_those_made_bit_by_bit(pairs):
    left, right = zip(*pairs, strict=True)
    expected = [product_of(a, b) for a, b in pairs]
    assert expected == values(multiply(elements(left), elements(right)))
    summed = reduce(xor, expected).to_bytes(16, "little")
    assert summed == inner(elements(left), elements(right))


@pytest.mark.parametrize("ones", [64, 128])
def test_most_coinciding_bits_that_a_product_can_have(ones):
    """All bits set: sixteen of every comb meet at one place, and none is carried."""
    full = 2**ones - 1
    assert [product_of(full, full)] == values(multiply(elements([full]), elements([full])))


def test_arrays_longer_than_a_part_and_no_multiple_of_it():
    rng = np.random.default_rng(0)
    count = 2 * gf128.CHUNK + 5
    left, right = rng.integers(0, 256, (2, count, 16), dtype=np.uint8)
    products = multiply(left, right)
    for index in (0, gf128.CHUNK - 1, gf128.CHUNK, count - 1):
        expected = product_of(*values(np.stack([left[index], right[index]])))
        assert [expected] == values(products[index : index + 1])
    summed = np.bitwise_xor.reduce(products, axis=0).tobytes()
    assert summed == inner(left, right)
    shaped = (3, count // 3, 16)
    assert inner(
        left[: count // 3 * 3].reshape(shaped), right[: count // 3 * 3].reshape(shaped)
    ) == (inner(left[: count // 3 * 3], right[: count // 3 * 3]))


def test_shapes_are_broadcast_and_nothing_is_an_answer():
    rng = np.random.default_rng(1)
    row, column = (
        rng.integers(0, 256, (3, 16), np.uint8),
        rng.integers(0, 256, (2, 1, 16), np.uint8),
    )
    products = multiply(row, column)
    assert (2, 3, 16) == products.shape
    assert multiply(row[1], column[1, 0]).tobytes() == products[1, 1].tobytes()
    nothing = np.empty((0, 16), np.uint8)
    assert bytes(16) == inner(nothing, nothing)
    assert (0, 16) == multiply(nothing, nothing).shape


def test_factors_stay_as_they_are():
    left, right = np.random.default_rng(2).integers(0, 256, (2, 5, 16), dtype=np.uint8)
    kept = left.copy(), right.copy()
    multiply(left, right)
    inner(left, right)
    assert kept[0].tobytes() == left.tobytes()
    assert kept[1].tobytes() == right.tobytes()


def ghash(key, blocks):
    """GHASH of whole blocks with our products."""
    total = np.zeros(16, np.uint8)
    for block in blocks:
        total = multiply(total ^ np.frombuffer(mirrored(block), np.uint8), key)
    return mirrored(total.tobytes())


def test_ghash_of_the_gcm_specification():
    """McGrew and Viega, "The Galois/Counter Mode of Operation", test case 2."""
    key = np.frombuffer(mirrored(bytes.fromhex("66e94bd4ef8a2c3b884cfa59ca342b2e")), np.uint8)
    ciphertext = bytes.fromhex("0388dace60b6a392f328c2b971b2fe78")
    assert "5e2ec746917062882c85b0685353deb7" == ghash(key, [ciphertext]).hex()
    lengths = (128).to_bytes(16, "big")
    assert "f38cbb1ad69223dcc3457ae5b6b0f885" == ghash(key, [ciphertext, lengths]).hex()


@settings(max_examples=30, deadline=None)
@given(key=st.binary(min_size=16, max_size=16), text=st.binary(min_size=1, max_size=100))
def test_tags_of_aes_gcm(key, text):
    """With our products in GHASH, AES-GCM gives the tags that OpenSSL gives."""
    nonce = bytes(range(12))
    encrypt = Cipher(algorithms.AES(key), modes.ECB()).encryptor().update
    padded = text + bytes(-len(text) % 16)
    blocks = [padded[index : index + 16] for index in range(0, len(padded), 16)]
    blocks.append((8 * len(text)).to_bytes(8, "big") + bytes(8))
    hash_key = np.frombuffer(mirrored(encrypt(bytes(16))), np.uint8)
    mask = encrypt(nonce + (1).to_bytes(4, "big"))
    tag = bytes(a ^ b for a, b in zip(ghash(hash_key, blocks), mask, strict=True))
    assert AESGCM(key).encrypt(nonce, b"", text) == tag


def test_refusals():
    good = np.zeros((2, 16), np.uint8)
    with pytest.raises(ValueError) as refused:  # noqa: PT011 - the whole text is compared
        multiply(good, np.zeros((2, 15), np.uint8))
    assert "elements must be bytes of shape (..., 16). Got uint8 of shape (2, 15) instead." == str(
        refused.value
    )
    with pytest.raises(ValueError) as refused:  # noqa: PT011 - the whole text is compared
        inner(good, good[:1])
    assert "shapes must be equal. Got (2, 16) and (1, 16) instead." == str(refused.value)
