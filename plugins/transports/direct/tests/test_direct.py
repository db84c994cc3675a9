"""Transport direct delivers under every fault, refuses what is wrong, and promises no more."""

from collections import Counter

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonloom.errors import TransportError
from anonloom.kinds.engines import ID_BYTES, SECRET_BYTES, Envelope, Party, Round, slot_of
from anonloom.protocol import faults
from anonloom.protocol.driver import Driver
from anonloom.testing.entropy import SeededEntropy
from anonloom_direct import wire
from anonloom_direct.transport import Direct


def post_round(servers=2, size=8, min_batch=2, **more):
    return Round(
        id="r", operation="post", servers=servers, message_size=size, min_batch=min_batch, **more
    )


def secret(position):
    return position.to_bytes(SECRET_BYTES, "big")


def deposit_round(positions=5, servers=2, min_batch=1, **more):
    return Round(
        id="r",
        operation="deposit",
        servers=servers,
        message_size=8,
        min_batch=min_batch,
        slots=[slot_of(secret(at)) for at in range(positions)],
        **more,
    )


def driver(round, **more):
    return Driver(Direct(), round, entropy=SeededEntropy(), **more)


def message(number):
    return number.to_bytes(8, "big")


def records(positions):
    return {at: (secret(at), message(100 + at)) for at in positions}


# --- delivery -------------------------------------------------------------------------------


@pytest.mark.parametrize("servers", [1, 2, 3, 5])
def test_posted_messages_become_public_once_each_in_an_order_of_their_own(servers):
    sent = [message(number) for number in (5, 1, 4, 1, 3)]
    net = driver(post_round(servers))
    clients = net.post(sent)
    assert all(client.acknowledged for client in clients)
    net.close()
    assert tuple(sorted(sent)) == net.result()
    assert Counter() == net.refused()


@pytest.mark.parametrize("servers", [1, 2, 3])
def test_deposits_are_opened_unless_they_were_erased(servers):
    net = driver(deposit_round(5, servers))
    net.deposit(records([0, 1, 3, 4]))
    net.close()
    net.erase([1, 2, 4])
    net.erase([4])
    assert [server.result for server in net.servers] == [None] * servers
    net.open()
    assert (message(100), None, None, message(103), None) == net.result()


def test_an_erased_record_is_in_no_server_any_more():
    net = driver(deposit_round(3))
    net.deposit(records([0, 1]))
    net.close()
    net.erase([1])
    held = [server._uploads[upload] for server in net.servers for upload in server._uploads]
    assert [] == [body for body in held if message(101) in body]


FAULTS = {
    "drop": lambda coins: faults.drop(faults.chance(0.4, coins)),
    "duplicate": lambda coins: faults.duplicate(faults.chance(0.5, coins), times=3),
    "delay": lambda coins: faults.delay(50, faults.chance(0.5, coins)),
    "reorder": lambda coins: faults.reorder(coins, within=100),
    "corrupt": lambda coins: faults.corrupt(coins, faults.chance(0.4, coins)),
}


def keep_trying(act, done):
    """Repeat a step until it is done; a fault of 40 % gives in long before."""
    for _ in range(200):
        act()
        if done():
            return
    raise AssertionError("the network never gave in")


@given(
    chosen=st.lists(st.sampled_from(sorted(FAULTS)), max_size=3),
    seed=st.integers(0, 2**32),
    servers=st.integers(1, 4),
    senders=st.integers(2, 8),
)
def test_every_acknowledged_message_arrives_exactly_once(chosen, seed, servers, senders):
    coins = SeededEntropy(seed)
    net = driver(post_round(servers), faults=[FAULTS[name](coins) for name in chosen])
    sent = [message(number % 3) for number in range(senders)]
    net.post(sent)
    keep_trying(net.retry, lambda: all(client.acknowledged for client in net.clients))
    keep_trying(net.close, lambda: all(server.result is not None for server in net.servers))
    assert tuple(sorted(sent)) == net.result()


@given(seed=st.integers(0, 2**32), servers=st.integers(1, 3), tries=st.integers(0, 2))
def test_nothing_that_was_acknowledged_is_lost_when_the_round_closes_early(seed, servers, tries):
    coins = SeededEntropy(seed)
    net = driver(post_round(servers, min_batch=1), faults=[faults.drop(faults.chance(0.3, coins))])
    net.post([message(number) for number in range(6)])
    for _ in range(tries):
        net.retry()
    certain = {message(at) for at, client in enumerate(net.clients) if client.acknowledged}
    net.faults.clear()
    try:
        net.close()
        public = net.result()
    except TransportError:
        assert set() == certain
    else:
        assert certain <= set(public) <= {message(number) for number in range(6)}
        assert len(set(public)) == len(public)


@given(
    chosen=st.lists(st.sampled_from(sorted(FAULTS)), max_size=2),
    seed=st.integers(0, 2**32),
    servers=st.integers(1, 3),
    erased=st.sets(st.integers(0, 5)),
)
def test_deposits_survive_the_same_faults(chosen, seed, servers, erased):
    coins = SeededEntropy(seed)
    net = driver(deposit_round(6, servers), faults=[FAULTS[name](coins) for name in chosen])
    net.deposit(records([0, 2, 3, 5]))
    keep_trying(net.retry, lambda: all(client.acknowledged for client in net.clients))
    keep_trying(net.close, lambda: all(server._agreed for server in net.servers))
    net.erase(erased)
    keep_trying(net.open, lambda: all(server.result is not None for server in net.servers))
    expected = [message(100 + at) if at in {0, 2, 3, 5} - erased else None for at in range(6)]
    assert tuple(expected) == net.result()


def test_the_same_seed_gives_the_same_trace():
    def run():
        coins = SeededEntropy(3)
        net = Driver(
            Direct(),
            post_round(),
            entropy=coins,
            faults=[faults.reorder(coins), faults.duplicate()],
        )
        net.post([message(1), message(2), message(3)])
        net.close()
        return net.trace.seen

    assert run() == run()


# --- what is refused ------------------------------------------------------------------------


def upload(net, body, *, id=b"i" * ID_BYTES, **changes):
    envelope = Envelope(
        sender=Party("client", 77),
        receiver=Party("server", 0),
        step="upload",
        round=net.round.digest,
        upload=id,
        body=body,
    )
    net.inject(attrs.evolve(envelope, **changes))
    return dict(net.servers[0].refused)


def honest(net, number=1, *, id=b"i" * ID_BYTES, position=0, key=None):
    key = secret(position) if key is None else key
    return wire.write_upload(net.round, id, wire.Upload(message(number), position, key))


def test_uploads_that_are_not_what_they_should_be():
    net = driver(post_round())
    good = honest(net)
    assert {"not of this round": 1} == upload(net, good, round=b"other")
    assert 1 == upload(net, good, step="nonsense")["unknown step"]
    assert 1 == upload(net, good, sender=Party("server", 1))["not from a client"]
    assert 1 == upload(net, good[:-1])["wrong size"]
    assert 2 == upload(net, good + b"x")["wrong size"]
    assert 3 == upload(net, b"")["wrong size"]
    assert 4 == upload(net, good, id=b"short")["wrong size"]
    assert 1 == upload(net, good, id=b"j" * ID_BYTES)["damaged"]
    assert 2 == upload(net, bytes([good[0] ^ 1]) + good[1:])["damaged"]
    assert 0 == net.servers[0].accepted
    assert "other bytes under a known id" not in upload(net, good)
    assert "other bytes under a known id" not in upload(net, good)
    assert 1 == upload(net, honest(net, 2))["other bytes under a known id"]
    assert 1 == net.servers[0].accepted


def test_an_envelope_for_another_server():
    net = driver(post_round())
    envelope = Envelope(
        sender=Party("client", 0),
        receiver=Party("server", 1),
        step="upload",
        round=net.round.digest,
    )
    assert [] == net.servers[0].take(envelope)
    assert {"not for this server": 1} == dict(net.servers[0].refused)


def test_uploads_after_the_deadline_and_after_the_close():
    net = driver(post_round(1, min_batch=1, deadline=10))
    upload(net, honest(net))
    net.clock.move_to(11)
    late = b"j" * ID_BYTES
    assert {"after the deadline": 1} == upload(net, honest(net, id=late), id=late)
    net.close()
    assert 1 == upload(net, honest(net, id=late), id=late)["after the close"]
    # What stands is confirmed again.
    assert 2 == sum(upload(net, honest(net)).values())


def test_deposits_at_positions_of_others():
    net = driver(deposit_round(3, servers=1))
    wrong = honest(net, position=1, key=secret(2))
    assert {"not the position's secret": 1} == upload(net, wrong)
    assert 1 == upload(net, honest(net, position=3, key=secret(3)))["no such position"]
    upload(net, honest(net, 1, position=1))
    other = b"j" * ID_BYTES
    refused = upload(net, honest(net, 2, id=other, position=1), id=other)
    assert 1 == refused["position already filled"]
    net.close()
    net.open()
    assert (None, message(1), None) == net.result()


def test_a_sender_that_tells_servers_different_things_is_left_out():
    net = driver(post_round(2, min_batch=1))
    net.post([message(5)])
    upload(net, honest(net, 1))
    upload(net, honest(net, 2), receiver=Party("server", 1))
    net.close()
    assert (message(5),) == net.result()
    assert Counter({"not held alike by every server": 2}) == net.refused()


@given(
    body=st.binary(max_size=80),
    step=st.sampled_from(["upload", "list", "erased", "receipt"]),
    role=st.sampled_from(["client", "server"]),
    index=st.integers(0, 3),
    id=st.binary(max_size=20),
)
def test_no_garbage_makes_a_server_fail_or_counts_as_an_upload(body, step, role, index, id):
    net = driver(post_round())
    before = net.servers[0].accepted
    upload(net, body, step=step, sender=Party(role, index), id=id)
    assert before == net.servers[0].accepted


def word(net, step, body, sender=1):
    return upload(net, body, step=step, sender=Party("server", sender), id=b"")


def test_words_of_servers_are_judged_too():
    net = driver(post_round())
    good = wire.write_list(net.round, {b"i" * ID_BYTES: b"f" * 32})
    assert {"not from another server": 1} == word(net, "list", good, sender=0)
    assert 2 == word(net, "list", good, sender=2)["not from another server"]
    assert 3 == upload(net, good, step="list", id=b"")["not from another server"]
    assert 1 == word(net, "list", good[:-1])["damaged"]
    odd = wire.sealed(net.round, b"list", b"", b"x" * 5)
    assert 1 == word(net, "list", odd)["malformed list"]
    row = b"i" * ID_BYTES + b"f" * 32
    twice = wire.sealed(net.round, b"list", b"", row + row)
    assert 2 == word(net, "list", twice)["malformed list"]
    word(net, "list", good)
    assert "another word of the same server" not in word(net, "list", good)
    other = wire.write_list(net.round, {})
    assert 1 == word(net, "list", other)["another word of the same server"]
    assert "server 1 said two different things" == net.servers[0].stopped


# --- the order of things --------------------------------------------------------------------


def refusal(act):
    with pytest.raises(TransportError) as caught:
        act()
    assert 5 == caught.value.exit_code
    return str(caught.value)


def test_a_round_never_closes_below_its_batch():
    net = driver(post_round(min_batch=3))
    net.post([message(1), message(2)])
    assert "the round has 2 uploads, it closes with at least 3" == refusal(net.close)
    net.post([message(3)])
    net.close()
    assert 3 == len(net.result())


def test_a_round_stops_when_too_few_uploads_are_held_by_all():
    net = driver(post_round(min_batch=2))
    lost = faults.step("upload")
    net.faults.append(faults.drop(lambda e: lost(e) and e.receiver.index == 1))
    net.post([message(1)])
    net.faults.clear()
    net.post([message(2)])
    net.faults.append(faults.drop(lambda e: lost(e) and e.receiver.index == 0))
    net.post([message(3)])
    net.close()
    assert "the round has stopped: 1 uploads are held by every server, it takes 2" == refusal(
        net.result
    )


def test_erase_and_open_wait_for_their_turn():
    net = driver(deposit_round(3))
    net.deposit(records([0]))
    assert "the round is not closed: nothing can be erased yet" == refusal(lambda: net.erase([0]))
    assert "the servers have not agreed on the uploads yet" == refusal(net.open)
    net.servers[0].close()
    assert "the servers have not agreed on the uploads yet" == refusal(net.servers[0].open)
    net.close()
    assert "the round has the positions 0 to 2. Got 3 instead." == refusal(lambda: net.erase([3]))
    assert "the round has not ended on every server" == refusal(net.result)
    net.open()
    assert "the round is open: nothing can be erased any more" == refusal(lambda: net.erase([0]))


def test_servers_must_erase_the_same():
    net = driver(deposit_round(3))
    net.deposit(records([0, 1]))
    net.close()
    net.servers[0].erase([0])
    net.servers[1].erase([1])
    net.open()
    assert "the round has stopped: the servers do not agree on what is erased" == refusal(
        net.result
    )
    assert "the round has stopped: the servers do not agree on what is erased" == refusal(net.open)


def test_a_post_has_nothing_to_erase_or_to_open():
    net = driver(post_round())
    assert "this round is for 'post', not for 'deposit'" == refusal(lambda: net.erase([0]))
    assert "this round is for 'post', not for 'deposit'" == refusal(net.open)


def test_a_server_outside_the_round():
    assert "the round has the servers 0 to 1. Got 2 instead." == refusal(
        lambda: Direct().server(post_round(), 2, entropy=SeededEntropy(), clock=None)
    )


# --- the client -----------------------------------------------------------------------------


def client(round):
    return Direct().client(round, entropy=SeededEntropy(), clock=None)


def test_a_client_refuses_what_does_not_fit():
    assert "a message of this round must have 8 bytes. Got 9 instead." == refusal(
        lambda: client(post_round()).post(b"x" * 9)
    )
    assert "this round is for 'deposit', not for 'post'" == refusal(
        lambda: client(deposit_round()).post(b"x" * 8)
    )
    assert "this round is for 'post', not for 'deposit'" == refusal(
        lambda: client(post_round()).deposit(0, secret(0), b"x" * 8)
    )
    assert "the round has the positions 0 to 4. Got 5 instead." == refusal(
        lambda: client(deposit_round()).deposit(5, secret(5), b"x" * 8)
    )
    assert "the secret is not that of the position" == refusal(
        lambda: client(deposit_round()).deposit(1, secret(0), b"x" * 8)
    )


def test_a_client_sends_one_message_however_often_it_is_asked():
    sender = client(post_round())
    assert [] == sender.again()
    first = sender.post(message(1))
    assert first == sender.post(message(1))
    assert first == sender.again()
    assert "a sender has one message per round, and another one was sent" == refusal(
        lambda: sender.post(message(2))
    )


def test_a_receipt_counts_only_for_the_bytes_that_were_sent():
    round = post_round()
    sender = client(round)
    (first, _) = sender.post(message(1))
    right = wire.receipt(round, 0, first.upload, first.body)

    def receipt(server, body):
        return Envelope(
            sender=Party("server", server),
            receiver=Party("client", 0),
            step="receipt",
            round=round.digest,
            upload=first.upload,
            body=body,
        )

    for envelope in (receipt(0, b""), receipt(0, right[:-1]), receipt(1, right), receipt(7, right)):
        assert [] == sender.take(envelope)
    assert 2 == len(sender.again())
    sender.take(receipt(0, right))
    assert [Party("server", 1)] == [envelope.receiver for envelope in sender.again()]
    assert not sender.acknowledged


def test_secrets_and_messages_are_in_no_repr():
    net = driver(deposit_round(2, servers=1))
    (sender,) = net.deposit({0: (secret(0), b"MESSAGE!")})
    shown = repr(sender) + repr(net.servers[0]) + repr(net) + repr(net.trace.seen)
    assert "MESSAGE!" not in shown
    assert repr(secret(0))[2:-1] not in shown


# --- what it promises -----------------------------------------------------------------------


def test_all_uploads_of_a_round_have_one_size():
    net = driver(deposit_round(5))
    net.deposit(records(range(5)))
    assert 1 == len(
        {sight.envelope.size for sight in net.trace.network if sight.envelope.step == "upload"}
    )


def test_it_promises_no_anonymity():
    told = Direct().guarantees(post_round(min_batch=1000))
    assert 1 == told.honest_senders_min
    assert "anonymity: every server and the network see who sent what" in told.not_covered


def test_and_indeed_every_server_sees_who_sent_what():
    net = driver(post_round())
    net.post([message(7), message(8)])
    seen = {
        (sight.envelope.sender.index, wire.read_upload(net.round, sight.envelope.body).message)
        for sight in net.trace.of(Party("server", 0))
        if sight.envelope.step == "upload"
    }
    assert {(0, message(7)), (1, message(8))} == seen


def test_seeded_coins_are_called_simulated():
    assert driver(post_round()).simulated
    assert not Driver(Direct(), post_round()).simulated
