"""A decoy looks like a deposit and leaves nothing, whatever the transport."""

from importlib import import_module

import pytest

from anonloom.errors import TransportError
from anonloom_testing.transport import Plan, make_round, messages, slot_secrets
from anonloom_transport import Driver, Round

TRANSPORTS = {"direct": "Direct", "dpf": "Dpf", "mixnet": "Mixnet"}
SENDERS, DECOYS = 12, 5


def transport(name):
    return getattr(import_module(f"anonloom_{name}.transport"), TRANSPORTS[name])()


def begun(name, servers, capacity=SENDERS + DECOYS):
    secrets = slot_secrets(SENDERS)
    plan = Plan(operation="deposit", senders=SENDERS, more={"capacity": capacity})
    keys = tuple(secret.key() for secret in secrets)
    return Driver(transport(name), make_round(servers, plan), slot_keys=keys), secrets


@pytest.mark.parametrize("name", TRANSPORTS)
@pytest.mark.parametrize("servers", [2, 3])
def test_decoys_leave_nothing_and_look_like_deposits(name, servers):
    driver, secrets = begun(name, servers)
    records = messages(SENDERS)
    clients = driver.decoy(DECOYS)
    driver.deposit(zip(secrets, records, strict=True))
    assert all(client.is_acknowledged for client in clients)
    assert records == list(driver.finish())
    assert not driver.count_refusals()
    sizes = {}
    for sight in driver.trace.network:
        envelope = sight.envelope
        if envelope.sender.role == "client":
            who = (envelope.sender.index, envelope.receiver.index, envelope.step)
            sizes.setdefault(who[1:], {})[who[0]] = envelope.size
    assert all(len(set(result.values())) == 1 for result in sizes.values())
    assert all(set(range(SENDERS + DECOYS)) == set(result) for result in sizes.values())


@pytest.mark.parametrize("name", TRANSPORTS)
def test_a_decoy_is_sent_again_as_it_was_and_by_nobody_who_has_sent(name):
    driver, secrets = begun(name, 2)
    (client,) = driver.decoy(1)
    assert [] == client.decoy()
    with pytest.raises(TransportError) as caught:
        client.deposit(secrets[0], messages(SENDERS)[0])
    assert "a sender has one message per round, and another one was sent" == str(caught.value)


@pytest.mark.parametrize("name", TRANSPORTS)
def test_a_post_has_no_decoys(name):
    described = Round(id="r", operation="post", servers=2, message_size=8, min_batch=1, capacity=2)
    driver = Driver(transport(name), described)
    with pytest.raises(TransportError) as caught:
        driver.decoy(1)
    assert "this round is for 'post', not for 'deposit'" == str(caught.value)
