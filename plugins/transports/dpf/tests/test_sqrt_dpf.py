"""The shares of all servers sum to the point function, at every index, for every shape."""

import json
from itertools import combinations
from math import ceil, factorial
from pathlib import Path

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom_dpf import sqrt_dpf as module
from anonloom_dpf.aes import fixed_key
from anonloom_dpf.sqrt_dpf import CHUNK, Square, arrangements
from anonloom_testing.transport import SeededEntropy
from anonloom_transport import SystemEntropy

SERVERS = (2, 3, 4)
VECTORS = json.loads((Path(__file__).parent / "vectors" / "square.json").read_text())


def expanded(seed, size):
    """G in plain Python: one block after the other, as numbers."""
    encrypt = Cipher(algorithms.AES(fixed_key("square")), modes.ECB()).encryptor().update
    stream = b""
    for counter in range(ceil(size / 16)):
        block = (int.from_bytes(seed, "little") ^ counter).to_bytes(16, "little")
        stream += bytes(a ^ b for a, b in zip(encrypt(block), block, strict=True))
    return stream[:size]


def evaluated(square, key):
    """Eval in plain Python: leaf by leaf, straight from the bytes of the key."""
    held, row_size = 2 ** (square.servers - 2), square.columns * square.width
    seeds, rest = key[: square.rows * held * 16], key[square.rows * held * 16 :]
    bits, correction = rest[: ceil(square.rows / 8)], rest[ceil(square.rows / 8) :]
    table = bytearray()
    for row in range(square.rows):
        line = bytearray(row_size)
        for number in range(row * held, (row + 1) * held):
            for index, byte in enumerate(expanded(seeds[number * 16 : number * 16 + 16], row_size)):
                line[index] ^= byte
        if bits[row // 8] >> row % 8 & 1:
            for index, byte in enumerate(correction):
                line[index] ^= byte
        table += line
    return bytes(table[: square.leaves * square.width])


def batch(square, count, seed):
    rng = np.random.default_rng(seed)
    indices = rng.integers(0, square.leaves, count)
    return indices, rng.integers(0, 256, (count, square.width), dtype=np.uint8)


def summed(square, keys):
    """The sum of all servers' shares."""
    shares = np.zeros((square.servers, square.leaves, square.width), np.uint8)
    for party, share in enumerate(shares):
        square.accumulate(party, keys[party], share)
    return np.bitwise_xor.reduce(shares, axis=0)


def points(square, indices, payloads):
    table = np.zeros((square.leaves, square.width), np.uint8)
    for index, payload in zip(indices, payloads, strict=True):
        table[index] ^= payload
    return table


shapes = st.builds(
    Square,
    st.sampled_from(SERVERS),
    st.integers(1, 400),
    st.one_of(st.integers(1, 70), st.integers(71, 4096)),
)
small_shapes = st.builds(Square, st.sampled_from(SERVERS), st.integers(1, 30), st.integers(1, 40))


@settings(max_examples=60, deadline=None)
@given(square=shapes, count=st.integers(0, 3), seed=st.integers(0, 2**32))
def test_shares_sum_to_the_point_functions_at_every_index(square, count, seed):
    indices, payloads = batch(square, count, seed)
    keys = square.keys(indices, payloads, SeededEntropy(seed))
    assert points(square, indices, payloads).tobytes() == summed(square, keys).tobytes()


@settings(max_examples=40, deadline=None)
@given(square=small_shapes, seed=st.integers(0, 2**32))
def test_every_share_is_what_plain_python_makes_of_the_key(square, seed):
    keys = square.keys(*batch(square, 1, seed), SeededEntropy(seed))
    for party in range(square.servers):
        share = np.zeros((square.leaves, square.width), np.uint8)
        square.accumulate(party, keys[party], share)
        assert evaluated(square, keys[party].tobytes()) == share.tobytes()


@settings(max_examples=40, deadline=None)
@given(square=small_shapes, seed=st.integers(0, 2**32))
def test_any_bytes_are_a_key_that_all_implementations_read_alike(square, seed):
    key = np.random.default_rng(seed).integers(0, 256, (1, square.key_size), dtype=np.uint8)
    share = np.zeros((square.leaves, square.width), np.uint8)
    square.accumulate(0, key, share)
    assert evaluated(square, key.tobytes()) == share.tobytes()


@pytest.mark.parametrize("servers", SERVERS)
@pytest.mark.parametrize(
    ("leaves", "width"),
    [
        pytest.param(20_011, 48, id="several parts, last row cut"),
        pytest.param(3, 4096, id="few wide leaves"),
        pytest.param(13, 300_007, id="a row longer than a part"),
        pytest.param(4099, 1, id="many narrow leaves"),
        pytest.param(1, 1, id="one byte"),
    ],
)
def test_large_and_extreme_tables(servers, leaves, width):
    square = Square(servers, leaves, width)
    indices, payloads = batch(square, 3, 0)
    indices[:2] = 0, leaves - 1
    keys = square.keys(indices, payloads, SystemEntropy())
    assert points(square, indices, payloads).tobytes() == summed(square, keys).tobytes()


def test_the_large_tables_above_are_really_walked_in_parts():
    assert 20_011 * 48 > 3 * CHUNK
    assert Square(3, 13, 300_007).row_size > CHUNK


@pytest.mark.parametrize("servers", SERVERS)
def test_every_index_of_a_table(servers):
    square = Square(servers, 23, 50)
    assert square.rows > 1
    assert square.rows * square.columns > 23, "the last row is cut"
    for index in range(23):
        payload = np.full((1, 50), 255, np.uint8)
        keys = square.keys(np.array([index]), payload, SeededEntropy(index))
        assert points(square, [index], payload).tolist() == summed(square, keys).tolist()


@pytest.mark.parametrize("servers", SERVERS)
def test_shares_are_added_to_what_is_there_and_keys_stay_as_they_are(servers):
    square = Square(servers, 100, 33)
    keys = square.keys(*batch(square, 4, 1), SeededEntropy())[1]
    before = np.random.default_rng(2).integers(0, 256, (100, 33), dtype=np.uint8)
    at_once, one_by_one, kept = before.copy(), before.copy(), keys.copy()
    square.accumulate(1, keys, at_once)
    for key in keys:
        square.accumulate(1, key[None], one_by_one)
    assert one_by_one.tobytes() == at_once.tobytes()
    assert before.tobytes() != at_once.tobytes()
    assert kept.tobytes() == keys.tobytes()
    # Keys may be a part of a larger array, as they come from an upload.
    wider = np.hstack([keys, keys])[:, : square.key_size]
    square.accumulate(1, wider, at_once)
    assert before.tobytes() == at_once.tobytes()


@settings(max_examples=100, deadline=None)
@given(servers=st.sampled_from(SERVERS), leaves=st.integers(1, 1000), width=st.integers(1, 1000))
def test_no_other_fold_of_the_table_gives_shorter_keys(servers, leaves, width):
    square = Square(servers, leaves, width)
    sizes = [
        ceil(leaves / columns) * 16 * 2 ** (servers - 2)
        + ceil(ceil(leaves / columns) / 8)
        + columns * width
        for columns in range(1, leaves + 1)
    ]
    assert min(sizes) == square.key_size
    assert ceil(leaves / square.columns) == square.rows


@pytest.mark.parametrize("servers", SERVERS)
def test_all_keys_of_all_servers_have_one_size(servers):
    square = Square(servers, 1000, 40)
    keys = square.keys(*batch(square, 5, 0), SystemEntropy())
    assert [(5, square.key_size)] * servers == [key.shape for key in keys]


@pytest.mark.parametrize("servers", SERVERS)
def test_arrangements_hold_every_word_of_their_parity_once_and_come_in_every_order(servers):
    columns = 2 ** (servers - 1)
    arranged = arrangements(servers)
    assert (2, factorial(columns), servers, columns // 2) == arranged.held.shape
    for parity in (0, 1):
        ones = np.zeros((factorial(columns), servers, columns), np.int64)
        np.put_along_axis(ones, arranged.held[parity].astype(np.int64), 1, axis=2)
        words = (ones << np.arange(servers)[:, None]).sum(axis=1)
        of_parity = [word for word in range(2**servers) if word.bit_count() % 2 == parity]
        assert (np.sort(words, axis=1) == of_parity).all()
        assert factorial(columns) == len(np.unique(words, axis=0))
        assert (ones[:, :, -1] == arranged.last[parity]).all()


@pytest.mark.long
@pytest.mark.parametrize("servers", SERVERS)
def test_lines_of_any_servers_but_one_are_equally_distributed_for_both_parities(servers):
    """So nobody sees which row is odd; every order of columns is counted."""
    arranged = arrangements(servers)
    for coalition in combinations(range(servers), servers - 1):
        lines = [arranged.held[parity][:, coalition] for parity in (0, 1)]
        even, odd = (np.unique(line, axis=0, return_counts=True) for line in lines)
        assert even[0].tolist() == odd[0].tolist()
        assert even[1].tolist() == odd[1].tolist()


class Scripted:
    def __init__(self, *words):
        self.words = list(words)

    def bytes(self, n):
        drawn, self.words = self.words[: n // 4], self.words[n // 4 :]
        return b"".join(word.to_bytes(4, "little") for word in drawn)


def test_numbers_of_orders_are_drawn_without_bias():
    """2^32 is no multiple of 24: words at or above its last multiple are drawn again."""
    last = 2**32 // 24 * 24
    assert [5, 1, 23] == module._below(24, 3, Scripted(5, 49, last - 1)).tolist()
    assert [2, 0, 3] == module._below(24, 3, Scripted(2, last, 3, 2**32 - 1, 24)).tolist()


def test_randomness_shows_in_no_text():
    square = Square(3, 10, 4)
    assert "Coins()" == repr(square.coins(1, SystemEntropy()))
    assert "Square(servers=3, leaves=10, width=4, rows=1, columns=10)" == repr(square)


@pytest.mark.parametrize("case", VECTORS["cases"], ids=lambda case: case["name"])
def test_vectors(case):
    """Keys and shares of fixed coins stay the same bytes in every version."""
    square = Square(case["servers"], case["leaves"], case["width"])
    assert case["key_size"] == square.key_size
    payload = np.frombuffer(bytes.fromhex(case["payload"]), np.uint8)[None]
    keys = square.keys(np.array([case["index"]]), payload, SeededEntropy(case["name"]))
    assert case["keys"] == [key.tobytes().hex() for key in keys]
    for party, expected in enumerate(case["shares"]):
        share = np.zeros((square.leaves, square.width), np.uint8)
        square.accumulate(party, keys[party], share)
        assert expected == share.tobytes().hex()


def test_refusals():
    square = Square(3, 10, 4)
    payload, share = np.zeros((1, 4), np.uint8), np.zeros((10, 4), np.uint8)
    keys = square.keys(np.array([1]), payload, SystemEntropy())[0]

    def refusal(call, *arguments):
        with pytest.raises(ValueError) as refused:  # noqa: PT011 - the whole text is compared
            call(*arguments)
        return str(refused.value)

    for indices in ([10], [-1], [[1]]):
        assert "indices must be a list of numbers from 0 to 9" == refusal(
            square.keys, np.array(indices), payload, SystemEntropy()
        )
    assert "payloads must be bytes of shape (1, 4). Got uint8 of shape (1, 5) instead." == refusal(
        square.keys, np.array([1]), np.zeros((1, 5), np.uint8), SystemEntropy()
    )
    assert "party must be below 3. Got 3 instead." == refusal(square.accumulate, 3, keys, share)
    assert (
        f"keys must be bytes of shape (any, {square.key_size}). "
        f"Got uint8 of shape (1, {square.key_size - 1}) instead."
        == refusal(square.accumulate, 0, keys[:, 1:], share)
    )
    assert "share must be bytes of shape (10, 4). Got uint8 of shape (9, 4) instead." == refusal(
        square.accumulate, 0, keys, share[1:]
    )
    assert "share must be contiguous: it is changed in place" == refusal(
        square.accumulate, 0, keys, np.zeros((4, 10), np.uint8).T
    )
    for servers in (1, 5):
        with pytest.raises(ValueError, match="'servers' must be in"):
            Square(servers, 10, 4)
