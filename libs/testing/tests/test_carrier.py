"""The carrier of tests carries, and does what it is told."""

import pytest

from anonloom import Registry
from anonloom.errors import TransportError
from anonloom_testing.transport import GUARANTEES, Carrier, SeededEntropy, carrier
from anonloom_transport import Driver, Erasure, Round, Signer, SlotSecret, verify_signature


def message(number):
    return f"msg {number:04}".encode()


def secrets(number):
    entropy = SeededEntropy("slots")
    fresh = (SlotSecret(entropy.bytes(16), entropy.bytes(16)) for _ in range(number))
    return sorted(fresh, key=lambda secret: secret.slot)


def refusal(act):
    with pytest.raises(TransportError) as caught:
        act()
    return str(caught.value)


POST = Round(id="p", operation="post", servers=2, message_size=8, min_batch=2, capacity=9)
SLOTS = secrets(4)
ERASED = Erasure([2], b"s" * 32)


def deposit(**more):
    return Round(
        id="d",
        operation="deposit",
        servers=2,
        message_size=8,
        min_batch=2,
        slots=[secret.slot for secret in SLOTS],
        iteration=2,
        iterations=3,
        **more,
    )


def filled(round, asked=None, erasure=None, numbers=(0, 1, 3)):
    net = Driver(
        asked or Carrier(),
        round,
        slot_keys=tuple(secret.key(3) for secret in SLOTS),
        erasure=erasure,
        entropy=SeededEntropy(),
    )
    net.deposit([(SLOTS[index], message(index)) for index in numbers])
    return net


def test_messages_arrive_sorted():
    net = Driver(Carrier(), POST)
    sent = net.post([message(3), message(1), message(2)])
    assert all(client.is_acknowledged for client in sent)
    assert [message(1), message(2), message(3)] == net.finish()


def test_every_second_message_is_lost_when_it_is_told_so():
    net = Driver(Carrier(loses=2), POST)
    net.post([message(index) for index in range(1, 6)])
    assert [message(1), message(3), message(5)] == net.finish()


def test_records_lie_where_their_secrets_say_and_decoys_nowhere():
    net = filled(deposit())
    net.decoy(1)
    assert [message(0), message(1), None, message(3)] == net.finish()


def test_planned_and_further_positions_are_erased():
    net = filled(deposit(erasure=ERASED.commitment), erasure=ERASED, numbers=range(4))
    net.erase([0])
    assert [None, message(1), None, message(3)] == net.finish()


def test_filled_positions_are_counted():
    net = filled(deposit(counted=True))
    assert (2, 1) == net.count([[0, 1], [2, 3]])
    assert "the carrier cannot count" == refusal(
        lambda: Driver(Carrier(counts=False), deposit(counted=True))
    )


def test_it_withholds_and_spoils_what_it_is_told_to():
    net = filled(deposit(), Carrier(withholds=True, spoils=True, grumbles=True))
    assert [None, message(1), None, b"\xff" * 8] == net.finish()
    assert {"said it too loudly": 6} == net.count_refusals()


def test_it_does_not_close_with_too_few():
    net = filled(deposit(), numbers=[0])
    assert "1 were heard, and it takes 2" == refusal(net.finish)


def test_it_is_held_when_somebody_alone_is_missing():
    net = filled(deposit(cohort=4, min_leave=2))
    assert "the round has stopped: 1 of 4 are missing" == refusal(net.finish)
    assert 4 == len(filled(deposit(cohort=4, min_leave=2), numbers=[0, 1]).finish())


def test_its_servers_have_keys_to_sign_with():
    identity = Carrier().identity(SeededEntropy())
    signature = Signer(identity).sign("a kind", b"", b"a word")
    assert verify_signature(identity.public, signature, "a kind", b"", b"a word")


def test_it_promises_other_things_of_a_post():
    assert GUARANTEES == Carrier().guarantees(deposit())
    promised = Carrier().guarantees(POST)
    assert (2, "follows", "most") == (
        promised.honest_senders_min,
        promised.server_behaviour,
        promised.delivery,
    )


def test_a_registry_knows_it_when_it_is_registered():
    registry = Registry.empty()
    assert [] == list(registry.methods("transport"))
    assert registry.register(carrier, distribution="anonloom-transport", version="0.1.0")
    assert Carrier is registry.load("transport", "carrier")


@pytest.mark.parametrize(("servers", "expected"), [(3, None), (4, "the carrier has three horses")])
def test_it_has_three_horses(servers, expected):
    round = Round(
        id="p", operation="post", servers=servers, message_size=8, min_batch=2, capacity=9
    )
    assert expected == Carrier().problem(round)
