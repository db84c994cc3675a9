"""Packets arrive whole or not at all, and all look alike."""

import hashlib

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom_mixnet.layers import Opener, Place, Sealer, UnopenedLayer, decrypt, overhead
from anonloom_mixnet.packets import Keys, Route, generate, public
from anonloom_mixnet.suites import SUITES

suites = st.sampled_from(sorted(SUITES))


@settings(max_examples=40, deadline=None)
@given(suite=suites, servers=st.integers(1, 4), size=st.integers(1, 4096), data=st.data())
def test_every_message_arrives_once(cascade, suite, servers, size, data):
    messages = data.draw(st.lists(st.binary(min_size=size, max_size=size), max_size=4))
    servers_of_round = cascade(suite, servers, size)
    packets = servers_of_round.pack(messages)

    assert sorted(messages) == servers_of_round.delivered([packet.sealed for packet in packets])


@settings(max_examples=60, deadline=None)
@given(suite=suites, servers=st.integers(1, 3), size=st.integers(1, 64), data=st.data())
def test_a_bit_flipped_at_any_hop_makes_the_packet_fail_at_that_hop(
    cascade, suite, servers, size, data
):
    servers_of_round = cascade(suite, servers, size)
    packet = servers_of_round.pack([bytes(size)])[0].sealed
    index = data.draw(st.integers(0, 2 * servers - 1), label="layer")
    for layer in range(index):
        packet = _opener(servers_of_round, layer).open(packet).inside
    bit = data.draw(st.integers(0, 8 * len(packet) - 1), label="bit")
    changed = bytearray(packet)
    changed[bit // 8] ^= 1 << bit % 8

    with pytest.raises(UnopenedLayer):
        _opener(servers_of_round, index).open(bytes(changed))
    assert _opener(servers_of_round, index).open(packet)


def _opener(servers_of_round, layer):
    hops = servers_of_round.route.hops
    return servers_of_round.opener("mix" if layer < hops else "peel", layer % hops)


@pytest.mark.parametrize("suite", sorted(SUITES))
@pytest.mark.parametrize("bit", [*range(248, 256)])
def test_bits_that_x25519_ignores_are_authenticated_too(cascade, suite, bit):
    servers_of_round = cascade(suite, 1, 8)
    packet = bytearray(servers_of_round.pack([bytes(8)])[0].sealed)
    point = SUITES[suite].head_size - 32
    packet[point + bit // 8] ^= 1 << bit % 8

    with pytest.raises(UnopenedLayer):
        servers_of_round.opener("mix", 0).open(bytes(packet))


@pytest.mark.parametrize("suite", sorted(SUITES))
def test_a_point_of_low_order_does_not_open(cascade, suite):
    servers_of_round = cascade(suite, 1, 8)
    packet = servers_of_round.pack([bytes(8)])[0].sealed
    head = SUITES[suite].head_size

    with pytest.raises(UnopenedLayer):
        servers_of_round.opener("mix", 0).open(packet[: head - 32] + bytes(32) + packet[head:])


@pytest.mark.parametrize("suite", sorted(SUITES))
def test_all_senders_packets_have_one_size_at_every_hop(cascade, suite):
    servers_of_round = cascade(suite, 3, 100)
    packets = [
        packet.sealed for packet in servers_of_round.pack([bytes([n]) * 100 for n in range(5)])
    ]
    step = overhead(suite)

    assert {100 + 6 * step} == {len(packet) for packet in packets}
    for hop, batch in enumerate(servers_of_round.mixed(packets)):
        assert {100 + (5 - hop) * step} == {len(output) for output in batch.outputs}


def test_what_a_layer_costs():
    assert {"x25519": 64, "mlkem768-x25519": 1152} == {suite: overhead(suite) for suite in SUITES}


def test_a_message_of_another_size_is_not_packed(cascade):
    with pytest.raises(
        ValueError, match=r"^what a packet carries must have 9 bytes\. Got 8 instead\.$"
    ):
        cascade("x25519", 2, 9).pack([bytes(8)])


@pytest.mark.parametrize("suite", sorted(SUITES))
@pytest.mark.parametrize(
    ("field", "value"), [("round", b"other"), ("phase", "peel"), ("hop", 1), ("public", None)]
)
def test_a_layer_opens_nowhere_but_in_its_place(cascade, suite, field, value):
    servers_of_round = cascade(suite, 1, 8)
    here = servers_of_round.route.place("mix", 0)
    private = servers_of_round.private[0].mix
    fields = {name: getattr(here, name) for name in ("round", "phase", "hop", "suite", "public")}
    if field == "public":
        private = servers_of_round.private[0].peel
        value = SUITES[suite].public(private)
    sealed = Sealer(here).seal(b"inside", servers_of_round.entropy).sealed

    with pytest.raises(UnopenedLayer):
        Opener(Place(**{**fields, field: value}), private).open(sealed)


def test_every_layer_has_a_key_of_its_own(cascade):
    servers_of_round = cascade("x25519", 3, 8)
    packets = servers_of_round.pack([bytes(8)] * 4)
    keys = [
        key
        for batch in servers_of_round.mixed([p.sealed for p in packets])
        for key in batch.keys.values()
    ]
    heads = {packet.layers[hop].sealed[:32] for packet in packets for hop in range(3)}

    assert 12 == len(set(keys)) == len(heads)


def test_a_layer_is_written_as_documented(cascade):
    """The same layer, made by hand."""
    servers_of_round = cascade("x25519", 1, 5)
    place = servers_of_round.route.place("peel", 0)
    layer = Sealer(place).seal(b"hello", servers_of_round.entropy)
    ephemeral = X25519PrivateKey.from_private_bytes(layer.ephemeral)
    head = ephemeral.public_key().public_bytes_raw()
    shared = ephemeral.exchange(X25519PublicKey.from_public_bytes(place.public))
    words = [b"anonloom mixnet 1", place.round, b"peel", b"x25519", place.public]
    context = hashlib.blake2b(
        b"".join(len(word).to_bytes(4, "big") + word for word in words) + bytes(4),
        digest_size=32,
        person=b"loom mix place 1",
    ).digest()
    key = hashlib.blake2b(
        context + head, key=shared, digest_size=48, person=b"loom mix layer 1"
    ).digest()[:32]
    sealed = ChaCha20Poly1305(key).encrypt(bytes(12), bytes(16) + b"hello", None)

    assert head + sealed == layer.sealed


def test_what_was_sealed_without_the_zeros_does_not_open():
    key = bytes(range(32))
    sealed = ChaCha20Poly1305(key).encrypt(bytes(12), bytes(15) + b"\1hello", None)

    with pytest.raises(UnopenedLayer):
        decrypt(key, sealed)


@pytest.mark.parametrize("key", [b"", bytes(31), bytes(32), bytes(64)])
def test_a_wrong_key_of_any_size_does_not_open(key):
    with pytest.raises(UnopenedLayer):
        decrypt(key, bytes(100))


@pytest.mark.parametrize("suite", sorted(SUITES))
def test_a_private_key_opens_only_with_its_public_key(cascade, suite):
    servers_of_round = cascade(suite, 1, 8)

    with pytest.raises(ValueError, match=r"^the private key does not belong to the public one$"):
        Opener(servers_of_round.route.place("mix", 0), servers_of_round.private[0].peel)


@pytest.mark.parametrize("suite", sorted(SUITES))
def test_malformed_public_keys_are_refused(suite):
    with pytest.raises(ValueError, match=r"."):
        Route(b"round", suite, [Keys(b"short", b"short", b"short")], 8)


def test_secrets_are_in_no_repr(cascade):
    servers_of_round = cascade("x25519", 1, 8)
    packet = servers_of_round.pack([b"a secret"])[0]
    shown = repr([packet, servers_of_round.private, servers_of_round.opener("mix", 0)])
    shown += repr(servers_of_round.mixed([packet.sealed]))

    for secret in (packet.layers[0].ephemeral, servers_of_round.private[0].mix, b"a secret"):
        assert repr(secret)[2:-1] not in shown


def test_keys_depend_on_entropy_alone(cascade):
    """The same entropy gives the same keys; another one gives others."""
    first, again, other = (cascade("mlkem768-x25519", 1, 8, seed) for seed in (1, 1, 2))

    assert first.private == again.private
    assert first.private != other.private
    assert public("mlkem768-x25519", first.private[0]) == public(
        "mlkem768-x25519", again.private[0]
    )
    assert 3 == len({*vars_of(generate("x25519", first.entropy))})


def vars_of(keys):
    return keys.mix, keys.peel, keys.share
