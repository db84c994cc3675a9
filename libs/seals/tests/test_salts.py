"""Salts are AES of the row's number, and leaves are hashes of all three."""

import hashlib

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import ECB
from hypothesis import given
from hypothesis import strategies as st

from anonloom_seals.salts import Seeds, leaf_hash, leaf_hashes, new_seed, salt, salts

seeds = st.binary(min_size=32, max_size=32)
numbers = st.integers(0, 2**64 - 100) | st.sampled_from([0, 255, 2**32 - 2, 2**63 - 2])


def slow_salt(seed, number):
    block = Cipher(AES(seed), ECB()).encryptor()
    return block.update(number.to_bytes(16, "big"))


@given(seed=seeds, start=numbers, count=st.integers(0, 5))
def test_all_salts_at_once_are_those_that_can_be_had_alone(seed, start, count):
    expected = [slow_salt(seed, start + index) for index in range(count)]
    assert b"".join(expected) == salts(seed, start, count)
    assert expected == [salt(seed, start + index) for index in range(count)]


@given(seed=seeds, start=numbers, rows=st.lists(st.binary(max_size=100), max_size=7))
def test_leaves_of_many_rows(seed, start, rows):
    def slow(number, row):
        return hashlib.sha256(
            bytes(1) + slow_salt(seed, number) + number.to_bytes(8, "big") + row
        ).digest()

    expected = [slow(start + index, row) for index, row in enumerate(rows)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("anonloom_seals.salts._CHUNK", 3)
        assert b"".join(expected) == leaf_hashes(seed, rows, start)
    assert expected == [
        leaf_hash(salt(seed, start + index), start + index, row) for index, row in enumerate(rows)
    ]


def test_a_known_answer_of_aes():
    """FIPS 197, appendix C.3: what the block cipher is, so that no other can take its place."""
    seed = bytes(range(32))
    number = int("00112233445566778899aabbccddeeff", 16)
    assert "8ea2b7ca516745bfeafc49904b496089" == salt(seed, number).hex()


def test_the_same_row_elsewhere_or_with_another_seed_is_another_leaf():
    leaves = leaf_hashes(bytes(32), [b"x", b"x"]) + leaf_hashes(bytes([1] * 32), [b"x"])
    assert 3 == len({leaves[index : index + 32] for index in (0, 32, 64)})


def test_seeds_are_new_and_long():
    assert 32 == len(new_seed())
    assert new_seed() != new_seed()
    with pytest.raises(ValueError, match=r"^a seed has 32 bytes$"):
        salts(bytes(16), 0, 1)


# --- the seeds of a release that grew -------------------------------------------------------------


@given(st.lists(st.integers(0, 4), max_size=3), st.lists(st.binary(max_size=4), max_size=9))
def test_every_row_has_the_seed_of_the_version_that_brought_it(added, rows):
    starts = [0]
    made = Seeds(((0, bytes(32)),))
    for count in added:
        starts.append(starts[-1] + count)
        made = made.for_next_version(starts[-1])
    # A version that added nothing gave its seed to no row.
    seeds = dict(made.stretches)
    assert sorted(set(starts)) == list(seeds)
    assert len(seeds) == len(set(seeds.values()))
    expected = []
    for number, row in enumerate(rows):
        seed = seeds[max(start for start in starts if start <= number)]
        assert slow_salt(seed, number) == made.salt(number)
        expected.append(leaf_hash(slow_salt(seed, number), number, row))
    assert b"".join(expected) == made.leaves(rows)
    assert made == Seeds.read(made.write())


def test_an_older_version_does_not_hold_the_seeds_of_newer_rows():
    older = Seeds.new()
    newer = older.for_next_version(5)
    assert older.stretches == newer.stretches[:1]
    assert newer.stretches[1][1].hex() not in older.write().decode()
    assert [older.salt(index) == newer.salt(index) for index in range(7)] == [True] * 5 + [
        False
    ] * 2


def test_seeds_are_not_shown():
    assert "Seeds()" == repr(Seeds.new())


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        b"0 " + b"0" * 64,
        b"0" * 64 + b"\n",
        b"00 " + b"0" * 64 + b"\n",
        b"1 " + b"0" * 64 + b"\n",
        b"0 " + b"A" * 64 + b"\n",
        b"0 " + b"0" * 62 + b"\n",
        b"0 " + b"0" * 64 + b"\r\n",
        b"0 " + b"0" * 64 + b"\n\n",
        (b"0 " + b"0" * 64 + b"\n") * 2,
        b"0 %b\n5 %b\n3 %b\n" % ((b"0" * 64,) * 3),
        b"0 %b\n%b %b\n" % (b"0" * 64, b"9" * 19, b"0" * 64),
        b"\xff" * 67,
    ],
)
def test_what_holds_no_seeds(data):
    with pytest.raises(ValueError):  # noqa: PT011  # what it says is said by the seal
        Seeds.read(data)
