"""What is sealed opens at one server, in one round, under one upload id, and nowhere else."""

import attrs
import pytest
from rounds_plain import deposit_round, post_round

from anonloom_testing.transport import SeededEntropy
from anonloom_transport.rounds import SUITES
from anonloom_transport.sealing import Lock, SealingKey, context_of, overhead


def drawn(suite, seed=1):
    return SealingKey.draw(suite, SeededEntropy(seed))


@pytest.mark.parametrize("suite", SUITES)
def test_what_is_sealed_opens_with_the_key_in_its_context(suite):
    key = drawn(suite)
    lock = Lock.read(suite, key.public)
    for content in (b"", b"x", bytes(1000)):
        sealed = lock.seal(content, b"context")
        assert len(content) + overhead(suite) == len(sealed)
        assert content == key.open(sealed, b"context")
        assert key.open(sealed, b"Context") is None
        assert drawn(suite, 2).open(sealed, b"context") is None


@pytest.mark.parametrize("suite", SUITES)
def test_what_was_changed_or_cut_does_not_open(suite):
    key = drawn(suite)
    sealed = Lock.read(suite, key.public).seal(b"content", b"")
    for index in (0, 31, 32, len(sealed) // 2, len(sealed) - 1):
        assert (
            key.open(sealed[:index] + bytes([sealed[index] ^ 1]) + sealed[index + 1 :], b"") is None
        )
    for short in (sealed[:-1], sealed[:40], b"x", b""):
        assert key.open(short, b"") is None


@pytest.mark.parametrize("suite", SUITES)
def test_the_same_content_is_never_sealed_alike(suite):
    lock = Lock.read(suite, drawn(suite).public)
    assert lock.seal(b"content", b"") != lock.seal(b"content", b"")


@pytest.mark.parametrize("suite", SUITES)
def test_keys_come_from_the_entropy_and_stay_hidden(suite):
    assert drawn(suite).public == drawn(suite).public
    assert drawn(suite).public != drawn(suite, 2).public
    assert f"SealingKey(suite={suite!r}, public={drawn(suite).public!r})" == repr(drawn(suite))
    assert f"Lock(suite={suite!r})" == repr(Lock.read(suite, drawn(suite).public))


def test_the_hybrid_is_larger_by_an_ml_kem_ciphertext():
    assert (48, 1136) == (overhead("x25519"), overhead("mlkem768-x25519"))


@pytest.mark.parametrize(
    ("suite", "public"),
    [
        ("x25519", b""),
        ("x25519", bytes(31)),
        ("x25519", bytes(33)),
        ("mlkem768-x25519", bytes(32)),
        ("mlkem768-x25519", b"\xff" * (1184 + 31)),
    ],
)
def test_bytes_that_are_no_key(suite, public):
    with pytest.raises(ValueError, match=r"."):
        Lock.read(suite, public)


GIVEN = {"round": post_round(), "bound": b"bound", "server": 0, "upload": b"u" * 16}


@pytest.mark.parametrize(
    "change",
    [
        {"bound": b"other"},
        {"server": 1},
        {"upload": b"v" * 16},
        {"round": deposit_round()},
        {"round": attrs.evolve(post_round(), iterations=2, iteration=2)},
        {"round": post_round(suite="mlkem768-x25519")},
    ],
)
def test_every_part_of_the_context_counts(change):
    """A key opens what was sealed for it only where it was meant to be opened."""
    key = drawn("x25519")
    sealed = Lock.read("x25519", key.public).seal(b"content", context_of(**GIVEN))
    assert b"content" == key.open(sealed, context_of(**GIVEN))
    assert key.open(sealed, context_of(**{**GIVEN, **change})) is None
