"""Who is named when a packet does not arrive."""

import os

import attrs
import pytest

from anonloom_mixnet.blame import (
    reveal,
    reveal_packet,
    verify_failure,
    verify_replay,
    verify_reveal,
    verify_trace,
)
from anonloom_mixnet.cascade import mix
from anonloom_mixnet.layers import Sealer
from anonloom_mixnet.suites import SUITES

both = pytest.mark.parametrize("suite", sorted(SUITES))


def run(servers_of_round, number=4):
    packets = servers_of_round.pack([bytes([n]) * 8 for n in range(number)])
    return packets, servers_of_round.mixed([packet.sealed for packet in packets])


@both
def test_a_true_reveal_holds(cascade, suite):
    servers_of_round = cascade(suite, 2, 8)
    packets, (first, _) = run(servers_of_round)
    place = servers_of_round.route.place("mix", 0)

    for output in range(4):
        shown = reveal(first, output)
        verdict = verify_reveal(
            place, packets[shown.packet].sealed, first.outputs[output], shown.key
        )
        assert "nobody" == str(verdict)
        assert shown == reveal_packet(first, shown.packet)


@both
def test_a_server_that_shows_another_key_or_another_output_is_named(cascade, suite):
    servers_of_round = cascade(suite, 2, 8)
    packets, (first, _) = run(servers_of_round)
    place = servers_of_round.route.place("mix", 0)
    shown, other = reveal(first, 0), reveal(first, 1)
    packet = packets[shown.packet].sealed
    verdicts = [
        verify_reveal(place, packet, first.outputs[0], other.key),
        verify_reveal(place, packet, first.outputs[0], b"no key"),
        verify_reveal(place, packet, first.outputs[1], shown.key),
        verify_reveal(place, b"", first.outputs[0], shown.key),
    ]

    assert ["hop 0"] * 4 == [str(verdict) for verdict in verdicts]
    assert {
        "the revealed key does not open the packet",
        "the packet holds something else than the output",
    } == {verdict.reason for verdict in verdicts}


def test_a_packet_is_traced_to_its_upload_and_a_substitution_is_found_on_the_way(cascade):
    servers_of_round = cascade("x25519", 3, 8)
    packets, batches = run(servers_of_round)
    places = [servers_of_round.route.place("mix", hop) for hop in range(3)]
    way, keys, index = [batches[2].outputs[0]], [], 0
    for hop in (2, 1, 0):
        shown = reveal(batches[hop], index)
        index = shown.packet
        taken = batches[hop - 1].outputs if hop else [packet.sealed for packet in packets]
        way.insert(0, taken[index])
        keys.insert(0, shown.key)

    assert "nobody" == str(verify_trace(places, way, keys))
    assert packets[index].core == way[-1]
    substituted = [*way[:2], bytes(len(way[2])), way[3]]
    assert "hop 1" == str(verify_trace(places, substituted, keys))
    with pytest.raises(ValueError, match=r"^a trace has one packet more than servers$"):
        verify_trace(places, way[1:], keys)


@both
def test_of_a_packet_that_did_not_open_nothing_is_revealed(cascade, suite):
    servers_of_round = cascade(suite, 1, 8)
    packet = servers_of_round.pack([bytes(8)])[0].sealed
    broken = packet[:-1] + bytes([packet[-1] ^ 1])
    batch = mix(
        [broken], len(broken), servers_of_round.opener("mix", 0), set(), servers_of_round.entropy
    )

    assert reveal_packet(batch, 0) is None
    with pytest.raises(IndexError, match=r"^no such output$"):
        reveal(batch, 0)


def test_a_revealed_key_opens_no_packet_with_an_equivalent_head(cascade):
    """Points that differ by the bit that X25519 ignores share a secret, but no key."""
    servers_of_round = cascade("x25519", 1, 8)
    packets = servers_of_round.pack([bytes(8)])
    head = bytearray(packets[0].sealed[:32])
    head[31] ^= 0x80
    copy = bytes(head) + packets[0].sealed[32:]
    again = mix(
        [copy], len(copy), servers_of_round.opener("mix", 0), set(), servers_of_round.entropy
    )

    assert {0: "unopened"} == again.failures


@both
@pytest.mark.parametrize(
    ("case", "provable", "unprovable"),
    [
        ("honest", "hop 1", "donor or hop 1"),
        ("silent", "donor or hop 1", "donor or hop 1"),
        ("other packet", "donor or hop 1", "donor or hop 1"),
        ("malformed", "donor or hop 1", "donor or hop 1"),
        ("broken", "donor", "donor or hop 1"),
        ("other secret of ML-KEM", "hop 1", "donor or hop 1"),
        ("low order", "donor", "donor"),
    ],
)
def test_a_word_that_a_packet_does_not_open(cascade, suite, case, provable, unprovable):
    servers_of_round = cascade(suite, 2, 8)
    place = servers_of_round.route.place("mix", 1)
    layer = Sealer(place).seal(b"inside", servers_of_round.entropy)
    packet, objection, head = layer.sealed, layer, SUITES[suite].head_size
    if case == "silent":
        objection = None
    if case == "other packet":
        objection = Sealer(place).seal(b"inside", servers_of_round.entropy)
    if case == "malformed":
        objection = attrs.evolve(layer, ephemeral=b"short", kem=b"short")
    if case == "broken":
        packet = packet[:-1] + bytes([packet[-1] ^ 1])
    if case == "other secret of ML-KEM" and layer.kem:
        objection = attrs.evolve(layer, kem=bytes(32))
    if case == "low order":
        packet = packet[: head - 32] + bytes(32) + packet[head:]

    verdict = verify_failure(place, packet, objection)
    expected = provable if SUITES[suite].provable else unprovable
    assert expected == str(verdict)
    assert (expected == "donor") == verdict.certain_donor


def test_nobody_but_the_sender_can_convict_a_server(cascade):
    """Whoever lacks the ephemeral key gets no server named."""
    servers_of_round = cascade("x25519", 1, 8)
    place = servers_of_round.route.place("mix", 0)
    layer = Sealer(place).seal(b"inside", servers_of_round.entropy)
    for _ in range(20):
        guess = attrs.evolve(layer, ephemeral=os.urandom(32))
        assert "donor or hop 0" == str(verify_failure(place, layer.sealed, guess))


@both
def test_a_word_that_a_packet_repeats_another(cascade, suite):
    servers_of_round = cascade(suite, 1, 8)
    place = servers_of_round.route.place("mix", 0)
    one, two = (packet.sealed for packet in servers_of_round.pack([bytes(8), bytes(8)]))

    assert "donor or hop 0" == str(verify_replay(place, one, one))
    assert "hop 0" == str(verify_replay(place, one, two))
