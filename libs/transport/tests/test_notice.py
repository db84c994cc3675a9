"""Clients act on a description that all servers have signed, and on no other."""

import attrs
import pytest
from rounds_plain import Plain, make_driver, post_round, refusal

from anonloom_testing.transport import SeededEntropy, adversaries
from anonloom_transport.codec import pack, unpack
from anonloom_transport.notice import Notice, describe, read_notice
from anonloom_transport.signing import Signer, new_identity, write_signed

NET = make_driver(post_round())
NOTICE = NET.servers[0].notice
DOCUMENT, *SIGNATURES = unpack(NOTICE)
SOFTWARE = Plain().software

UNREADABLE = "the round description cannot be read"
UNSIGNED = "the round description is not signed by all servers"


def read(data=NOTICE, pins=None, software=SOFTWARE):
    known = NET.pins if pins is None else tuple(pins)
    return read_notice(data, known, software, Plain().judge_keys)


def signed_by_all(document, identities=None):
    """Return a document with signatures of all servers, as colluding servers could make it."""
    bound = NET.round.digest
    signers = [Signer(identity) for identity in identities or NET.identities]
    return write_signed(document, [signer.sign("notice", bound, document) for signer in signers])


def test_all_servers_hold_the_same_description():
    assert {NOTICE} == {server.notice for server in NET.servers}
    notice = read()
    assert (NET.round, SOFTWARE, NET.pins) == (notice.round, notice.software, notice.pins)
    assert {NET.servers[0].state.binding, NET.servers[1].state.binding} == {notice.binding}
    assert 2 == len(notice.locks)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"x" * 50,
        pack(),
        pack(b""),
        pack(pack(b"head")),
        NOTICE[:-1],
        NOTICE + b"x",
    ],
)
def test_bytes_that_are_no_description(data):
    assert UNREADABLE == refusal(lambda: read(data))


@pytest.mark.parametrize(
    "described",
    [
        b"no round",
        bytes(6) + b"\xff\xff" + b"[" * 65535,
        NET.round.encode().replace(b'"servers": 2', b'"servers": 2000000000'),
    ],
)
def test_what_not_all_have_signed_is_not_even_read(described):
    """A server alone must not keep clients busy with a description of its own making."""
    document, *signatures = unpack(NOTICE)
    head, _, *rest = unpack(document)
    data = pack(pack(head, described, *rest), *signatures)
    assert UNSIGNED == refusal(lambda: read(data))


def changed(at, value):
    parts = unpack(DOCUMENT)
    parts[at] = value
    return pack(*parts)


@pytest.mark.parametrize(
    "data",
    [
        write_signed(DOCUMENT, SIGNATURES[:1]),
        write_signed(DOCUMENT, SIGNATURES[::-1]),
        write_signed(DOCUMENT, [SIGNATURES[0], bytes(64)]),
        write_signed(changed(1, post_round(min_batch=3).encode()), SIGNATURES),
        write_signed(changed(4, changed(4, b"")), SIGNATURES),
        # Signed by all of them, and yet not as this library writes it.
        signed_by_all(changed(0, b"another head")),
        signed_by_all(changed(3, pack(b"other", b"pins"))),
    ],
)
def test_a_description_that_not_all_servers_have_signed(data):
    assert UNSIGNED == refusal(lambda: read(data))


def test_the_servers_are_those_that_the_client_knows():
    strangers = [new_identity(SeededEntropy("strangers")) for _ in NET.pins]
    pins = NET.pins
    for known in (pins[::-1], pins[:1], (*pins, pins[0]), (pins[0], strangers[0].public), ()):
        assert UNSIGNED == refusal(lambda known=known: read(pins=known))
    forged = signed_by_all(DOCUMENT, strangers)
    assert UNSIGNED == refusal(lambda: read(forged))
    publics = [stranger.public for stranger in strangers]
    assert UNSIGNED == refusal(lambda: read(forged, publics))


def test_another_software_is_named():
    other = attrs.evolve(Plain(), depth=4)
    assert (
        "the servers run plain 0.1.0 (depth=3), and this client plain 0.1.0 (depth=4): both must "
        "be the same" == refusal(lambda: read(software=other.software))
    )
    assert b"a 1 (x='y', z=1)" == describe("a", "1", [("x", "y"), ("z", 1)])


def test_a_server_that_shows_another_description_gets_nothing_from_clients():
    """The lie of one server, signed by itself, ends at the client."""
    change = adversaries.misdescribes(lambda round: attrs.evolve(round, min_batch=1, capacity=99))
    net = make_driver(post_round(min_batch=2), corrupted={1: change})
    assert UNSIGNED == refusal(lambda: net.client(1))
    net.client(0)


UNUSABLE = "uploads cannot be sealed with a key of the suite 'x25519'"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda keys: (), UNUSABLE),
        (lambda keys: (b"short",), UNUSABLE),
        (lambda keys: (bytes(32),), UNUSABLE),
        (lambda keys: (b"\1" + bytes(31),), UNUSABLE),
        (lambda keys: (keys[0] + b"x",), UNUSABLE),
        (lambda keys: (*keys, b"own"), "1 keys of its own instead of none"),
    ],
)
def test_a_server_whose_keys_cannot_be_used_is_named_before_anything_is_signed(change, why):
    net = make_driver(post_round(3), corrupted={1: adversaries.misannounces(change)})
    expected = f"server 1 announced keys that cannot be used: {why}"
    assert [expected] * 2 == [net.servers[index].stop_reason for index in (0, 2)]
    assert [None] * 2 == [net.servers[index].notice for index in (0, 2)]
    assert expected == refusal(net.client)


@pytest.mark.parametrize("own", [(), (bytes(32),), (b"x",), (b"\1" * 32, b"more")])
def test_a_client_refuses_keys_that_all_servers_have_signed_and_nobody_can_use(own):
    """All of them may be corrupted: what they sign makes a sender stop, and never fail."""
    keys = [unpack(part) for part in unpack(DOCUMENT)[4:]]
    head = unpack(DOCUMENT)[:4]
    forged = pack(*head, pack(*keys[0]), pack(*own))
    why = "1 keys of its own instead of none" if len(own) == 2 else UNUSABLE
    assert f"server 1 announced keys that cannot be used: {why}" == refusal(
        lambda: read(signed_by_all(forged))
    )


@pytest.mark.parametrize(
    "changed",
    [
        lambda head, keys: pack(*head[:3]),
        lambda head, keys: pack(*head, keys[0]),
        lambda head, keys: pack(*head, *keys, keys[0]),
        lambda head, keys: pack(*head, keys[0], b"x"),
        lambda head, keys: pack(*head[:3], b"x", *keys),
    ],
)
def test_a_client_refuses_what_all_servers_have_signed_and_nobody_can_read(changed):
    parts = unpack(DOCUMENT)
    forged = changed(parts[:4], parts[4:])
    assert UNREADABLE == refusal(lambda: read(signed_by_all(forged)))


def test_servers_with_different_software_refuse_each_other():
    lie = adversaries.lies("key", lambda said: pack(b"plain 9 ()", *unpack(said)[1:]))
    net = make_driver(post_round(), corrupted={1: lie})
    assert (
        "server 1 runs plain 9 (), and server 0 plain 0.1.0 (depth=3): all must run the same"
        == net.servers[0].stop_reason
    )
    lie = adversaries.lies("key", lambda said: said[:-1])
    net = make_driver(post_round(), corrupted={1: lie})
    assert (
        "server 1 runs , and server 0 plain 0.1.0 (depth=3): all must run the same"
        == net.servers[0].stop_reason
    )


def test_a_server_that_signs_another_description_is_named():
    lie = adversaries.substitutes("sign notice", lambda said: bytes(64) + said[64:])
    net = make_driver(post_round(3), corrupted={1: lie})
    # It signs with a key that is its own, and shows what it heard as it was.
    message = "server 1 signs something else than what all words give: notice"
    assert message == net.servers[0].stop_reason
    assert message == net.servers[2].stop_reason


def test_what_is_shown_of_a_description_is_public():
    shown = repr(read())
    assert "keys" not in shown
    assert isinstance(read(), Notice)
