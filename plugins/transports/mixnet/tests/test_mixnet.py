"""Whole rounds through the cascade: what honest senders send arrives, and nothing else shows."""

from collections import Counter

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom.errors import TransportError
from anonloom_mixnet.items import write_item
from anonloom_mixnet.layers import Opener
from anonloom_mixnet.transport import Mixnet
from anonloom_testing.transport import SeededEntropy, adversaries
from anonloom_transport import (
    Driver,
    Party,
    Round,
    Signer,
    SlotSecret,
    faults,
    pack,
    unpack,
    write_row,
    write_signed,
)

SERVERS = [2, 3]
SUITES = ["x25519", "mlkem768-x25519"]

both = pytest.mark.parametrize("suite", SUITES)
some = pytest.mark.parametrize("servers", SERVERS)


# --- delivery -------------------------------------------------------------------------------------


@both
@some
def test_a_post_delivers_every_message_once(begin, servers, suite):
    round = begin("post", 9, servers=servers, suite=suite)
    sent = round.texts(9)
    clients = round.driver.post(sent)
    assert sorted(sent) == list(round.driver.finish())
    assert [True] * 9 == [client.arrived for client in clients]
    assert Counter() == round.driver.count_refusals()


@both
@some
def test_a_deposit_delivers_to_positions_what_was_not_erased(begin, servers, suite):
    round = begin("deposit", 8, servers=servers, suite=suite, planned=[1, 7])
    sent = dict(enumerate(round.texts(7)))
    round.deposit(sent)
    round.driver.close()
    round.driver.settle()
    round.driver.erase([4])
    round.driver.open()
    expected = [None if index in (1, 4, 7) else sent[index] for index in range(8)]
    assert expected == list(round.driver.result())
    assert Counter() == round.driver.count_refusals()


@settings(max_examples=15, deadline=None)
@given(
    servers=st.integers(2, 4),
    senders=st.integers(1, 12),
    size=st.integers(1, 400),
    traps=st.integers(0, 3),
    operation=st.sampled_from(["post", "deposit"]),
)
def test_any_round_delivers(begin, servers, senders, size, traps, operation):
    round = begin(operation, senders, servers=servers, size=size, traps=traps)
    sent = round.texts(senders)
    if operation == "post":
        round.driver.post(sent)
        assert sorted(sent) == list(round.driver.finish())
    else:
        round.deposit(dict(enumerate(sent)))
        assert sent == list(round.driver.finish())


def test_equal_messages_are_as_many_as_were_sent(begin):
    round = begin("post", 5)
    round.driver.post([b"s" * 24] * 4 + [b"t" * 24])
    assert [b"s" * 24] * 4 + [b"t" * 24] == list(round.driver.finish())


def test_a_later_iteration_is_opened_with_its_own_link(begin):
    round = begin("deposit", 3, more={"iteration": 2, "iterations": 4})
    sent = dict(enumerate(round.texts(3)))
    round.deposit(sent)
    assert list(sent.values()) == list(round.driver.finish())


def test_one_server_alone_is_refused():
    plan = Round(id="r", operation="post", servers=1, message_size=1, min_batch=1, capacity=1)
    message = "transport 'mixnet' needs at least 2 servers: one alone would see who sent what"
    with pytest.raises(TransportError, match=f"^{message}$"):
        Driver(Mixnet(), plan)


def test_a_network_that_fails_changes_no_result(begin):
    round = begin("post", 8, servers=3)
    unreliable = faults.chance(0.3, SeededEntropy("network"))
    round.driver.network.faults = [faults.drop(unreliable), faults.duplicate(unreliable)]
    sent = round.texts(8)
    round.driver.post(sent)
    for act in (lambda: None, round.driver.close, round.driver.settle, round.driver.open):
        act()
        for _ in range(12):
            round.driver.retry()
    assert sorted(sent) == list(round.driver.result())


# --- what is refused ------------------------------------------------------------------------------


def upload(round, packet, **changes):
    """Let somebody send a packet under an id; return what the first hop refused."""
    client = round.driver.client()
    contents = [packet] + [b""] * (round.driver.round.servers - 1)
    sent = client.send(b"crafted", contents)
    round.send(client, [attrs.evolve(element, **changes) for element in sent])
    return round.driver.servers[0].refusals


def test_the_first_hop_confirms_only_what_it_can_open(begin):
    round = begin("post", 9)
    size = round.driver.servers[0].strategy.content_size
    assert {"packet cannot be opened": 1} == upload(round, bytes(size))
    assert 1 == upload(round, bytes(size - 1))["wrong size"]
    (client,) = round.driver.post(round.texts(1))
    good = client._kept.packet
    changed = good[:-1] + bytes([good[-1] ^ 1])
    assert 2 == upload(round, changed)["packet cannot be opened"]
    assert not round.driver.clients[-1].is_acknowledged


def test_a_packet_is_taken_under_its_own_name_only(begin):
    round = begin("post", 9)
    (client,) = round.driver.post(round.texts(1))
    packet, other = client._kept.packet, round.driver.client()
    other.__class__ = type("Renaming", (type(other),), {"__slots__": (), "new_id": _any_id})
    round.send(other, other.send(b"copy", [packet, b""]))
    assert {"packet of another name": 1} == round.driver.servers[0].refusals
    assert not other.is_acknowledged


def _any_id(self, contents):
    return bytes(16)


def test_a_replayed_upload_counts_once(begin):
    round = begin("post", 9)
    clients = round.driver.post(round.texts(3))
    copy = round.driver.client()
    round.send(copy, copy.send(b"copy", [clients[0]._kept.packet, b""]))
    first, second = (server.refusals for server in round.driver.servers)
    assert {"other bytes under a known id": 1} == first == second
    for sight in list(round.driver.trace.network):
        if sight.envelope.step == "upload" and sight.envelope.sender.index < 3:
            round.driver.inject(sight.envelope)
    assert sorted(round.texts(3)) == list(round.driver.finish())


def test_two_packets_with_one_head_are_one_too_many(begin):
    """Whoever uses an ephemeral key twice is refused by the first hop."""
    round = begin("post", 9)
    (client,) = round.driver.post(round.texts(1))
    route, kept = client._route, client._kept

    class Same:
        def bytes(self, n):
            return kept.secrets[0][0]

    again = route.sealer("mix", 0).seal(bytes(route.packet_size(1)), Same()).sealed
    assert {"packet repeats another": 1} == upload(round, again)


def item(round, position, secret, record):
    """Let somebody who claims a position send a row."""
    client = round.driver.client()
    route, bound = client._route, client.notice.binding
    row = write_row(secret, 1, 1, record)
    inside = write_item(route, bound, position, secret.alpha, row, SeededEntropy("item"))
    round.send(client, client.send(b"item", client.for_post(inside)))


def test_deposits_at_positions_of_others_are_not_opened(begin):
    round = begin("deposit", 4)
    sent = dict(enumerate(round.texts(2)))
    round.deposit(sent)
    stranger = SlotSecret(bytes(16), bytes(16))
    item(round, 0, stranger, b"x" * 24)
    item(round, 4, stranger, b"x" * 24)
    assert [*sent.values(), None, None] == list(round.driver.finish())
    expected = {"not the position's secret": 1, "no such position": 1}
    assert [expected] * 2 == [server.refusals for server in round.driver.servers]


def test_a_row_of_somebody_who_knows_alpha_takes_nothing_from_the_owner(begin):
    """Servers know alpha; without the link of the chain theirs is never published."""
    round = begin("deposit", 3)
    sent = dict(enumerate(round.texts(1)))
    round.deposit(sent)
    item(round, 0, attrs.evolve(round.secrets[0], seed=bytes(16)), b"x" * 24)
    item(round, 1, attrs.evolve(round.secrets[1], seed=bytes(16)), b"y" * 24)
    assert [sent[0], None, None] == list(round.driver.finish())
    refused = {"not from the position's owner": 2, "contested": 1}
    assert [refused] * 2 == [server.refusals for server in round.driver.servers]


def test_two_records_of_one_owner_are_contested(begin):
    round = begin("deposit", 3)
    round.deposit(dict(enumerate(round.texts(1))))
    item(round, 0, round.secrets[0], b"x" * 24)
    assert [None, None, None] == list(round.driver.finish())


# --- what shows -----------------------------------------------------------------------------------


@both
@pytest.mark.parametrize("operation", ["post", "deposit"])
def test_all_senders_look_alike(begin, operation, suite):
    round = begin(operation, 6, suite=suite, planned=[2] if operation == "deposit" else ())
    sent = round.texts(6)
    round.driver.post(sent) if operation == "post" else round.deposit(dict(enumerate(sent)))
    round.driver.finish()
    shown = {}
    for sight in round.driver.trace.network:
        envelope = sight.envelope
        sender, receiver, what = envelope.sender, envelope.receiver, (envelope.step, envelope.size)
        if sender.role == "client":
            shown.setdefault(sender, Counter())[*what, "to", receiver.index] += 1
        elif receiver.role == "client":
            shown.setdefault(receiver, Counter())[*what, "from", sender.index] += 1
    assert 6 == len(shown)
    assert 1 == len({frozenset(seen.items()) for seen in shown.values()})


def reached(trace, corrupted, client):
    """Return all byte strings that these servers can connect with a client."""
    neighbours = {}
    for index in corrupted:
        for link in trace.links[Party("server", index)]:
            neighbours.setdefault(link.one, set()).add(link.other)
            neighbours.setdefault(link.other, set()).add(link.one)
    neighbours.pop(b"", None)
    bodies = [
        s.envelope.body for s in trace.network if s.envelope.sender == Party("client", client)
    ]
    results = {string for string in neighbours for body in bodies if string and string in body}
    edge = set(results)
    while edge:
        edge = (
            {other for element in edge for other in neighbours.get(element, ())} - results - {b""}
        )
        results |= edge
    return results


@both
@some
@pytest.mark.parametrize("operation", ["post", "deposit"])
def test_all_servers_can_follow_a_sender_and_any_others_cannot(begin, operation, servers, suite):
    round = begin(operation, 5, servers=servers, suite=suite)
    sent = round.texts(5)
    round.driver.post(sent) if operation == "post" else round.deposit(dict(enumerate(sent)))
    round.driver.finish()
    trace, everyone = round.driver.trace, set(range(servers))
    ends = sent if operation == "post" else [index.to_bytes(8, "big") for index in range(5)]
    for index in range(5):
        assert {ends[index]} == reached(trace, everyone, index) & set(ends)
        for honest in everyone:
            assert set() == reached(trace, everyone - {honest}, index) & set(ends)


def test_secrets_are_in_no_repr(begin):
    round = begin("deposit", 3)
    sent = dict(enumerate(round.texts(3)))
    clients = round.deposit(sent)
    round.driver.close()
    round.driver.settle()
    servers = round.driver.servers
    shown = repr([clients, servers, round.driver, round.driver.trace])
    shown += repr(
        [(s.state, s.strategy, s.strategy.mix, s.strategy.mix.own_traps) for s in servers]
        + [client._kept for client in clients]
    )
    secret = [*sent.values(), *(s.alpha for s in round.secrets), *(s.seed for s in round.secrets)]
    secret += [key for s in servers for key in attrs.astuple(s.strategy.mix.private)]
    secret += [element for client in clients for element, _ in client._kept.secrets]
    for bytes_ in secret:
        assert bytes_.hex() not in shown
        assert repr(bytes_)[2:-1] not in shown


def test_erased_rows_stay_sealed_in_all_that_is_left(begin):
    """No key of an erased row's shares is in any word, memory or saved state after `open`."""
    round = begin("deposit", 4, planned=[1])
    round.deposit(dict(enumerate(round.texts(4))))
    round.driver.close()
    round.driver.settle()
    before = [attrs.astuple(server.strategy.mix.private) for server in round.driver.servers]
    round.driver.open()
    words = b"".join(sight.envelope.body for sight in round.driver.trace.network)
    left = words + b"".join(server.save() for server in round.driver.servers)
    assert [None, None] == [server.strategy.mix.private for server in round.driver.servers]
    for mix, peel, share in before:
        assert [False, True, False] == [key in left for key in (mix, peel, share)]
    for server, (_, _, share) in zip(round.driver.servers, before, strict=True):
        for item_ in server.strategy.opening._items:
            key = _share_key(server, item_, share)
            assert (item_.position != 1) == (key in left)


def _share_key(server, item_, private):
    place = server.strategy.mix.route.place("share", server.state.index)
    return Opener(place, private).open(item_.shares[server.state.index]).key


def test_the_list_that_clients_see_names_cores_by_hashes_only(begin):
    round = begin("post", 4, traps=3)
    round.driver.post(round.texts(4))
    round.driver.close()
    round.driver.settle()
    shown = {s.envelope.body for s in round.driver.trace.network if s.envelope.step == "mixed"}
    (document,) = shown
    cores = round.driver.servers[0].strategy.mix.cores
    assert 4 + 2 * 3 == len(cores)
    assert not any(core in document for core in cores)


def test_another_batch_is_shuffled_in_another_order(begin):
    """Whoever makes a server mix twice in one round, from an old state, learns no order by it."""
    orders = []
    for sent in (bytes(24), b"x" * 24, b"x" * 24):
        round = begin("post", 40, traps=0)
        round.driver.post([sent] * 40)
        round.driver.close()
        round.driver.settle()
        orders.append([server.strategy.mix.batch.origins for server in round.driver.servers])
    zeros, others, again = orders
    assert others == again  # the round's secrets are the same in all three
    assert all(zero != other for zero, other in zip(zeros, others, strict=True))


# --- promises -------------------------------------------------------------------------------------


def test_what_it_promises(begin):
    plan = begin("deposit", 3, servers=3).driver.round
    guarantees = Mixnet(traps=7).guarantees(plan)
    assert (2, "detected before open", "attributable") == (
        guarantees.colluding_servers,
        guarantees.server_behaviour,
        guarantees.exclusion,
    )
    assert guarantees.presence_of_erased_visible
    assert not guarantees.post_quantum
    assert any(
        "(1-T/N)^d" in message and "adds 7 to T" in message for message in guarantees.not_covered
    )
    assert "coercion" in guarantees.not_covered
    hybrid = Mixnet().guarantees(attrs.evolve(plan, suite="mlkem768-x25519"))
    assert hybrid.post_quantum
    assert any(
        "with ML-KEM it is its sender or that hop" in message for message in hybrid.not_covered
    )


# --- keys that nobody can use -------------------------------------------------------------------


def replaced(at, change):
    return lambda keys: (*keys[:at], change(keys[at]), *keys[at + 1 :])


#: What is announced in the place of the key for uploads and those for mixing, peeling and shares.
WRONG = {
    "2 keys for layers instead of 3": lambda keys: keys[:-1],
    "4 keys for layers instead of 3": lambda keys: (*keys, keys[1]),
    "its key 'mix' is none of the suite '{}'": replaced(1, lambda key: key[:-32] + bytes(32)),
    "its key 'peel' is none of the suite '{}'": replaced(2, lambda key: key[:-1]),
    "its key 'share' is none of the suite '{}'": replaced(3, lambda key: key + b"x"),
}


@both
@pytest.mark.parametrize(("why", "change"), list(WRONG.items()))
def test_a_server_whose_mix_keys_cannot_be_used_is_named_before_anything_is_signed(
    begin, suite, why, change
):
    lie = adversaries.misannounces(change)
    round = begin("post", 4, servers=3, suite=suite, corrupted={1: lie})
    expected = f"server 1 announced keys that cannot be used: {why.format(suite)}"
    servers = round.driver.servers
    assert [(expected, None)] * 2 == [
        (servers[index].stop_reason, servers[index].notice) for index in (0, 2)
    ]
    with pytest.raises(TransportError) as caught:
        round.driver.client()
    assert expected == str(caught.value)


@pytest.mark.parametrize(("why", "change"), list(WRONG.items()))
def test_a_client_refuses_mix_keys_that_all_servers_have_signed(begin, why, change):
    driver = begin("post", 4, servers=2).driver
    parts = unpack(unpack(driver.servers[0].notice)[0])
    keys = tuple(unpack(parts[-1]))
    document = pack(*parts[:-1], pack(*change(keys)))
    signers = [Signer(identity) for identity in driver.identities]
    signatures = [signer.sign("notice", driver.round.digest, document) for signer in signers]
    with pytest.raises(TransportError) as caught:
        driver.transport.client(
            write_signed(document, signatures),
            driver.pins,
            entropy=driver.entropy,
            clock=driver.network.clock,
        )
    wrong = why.format("x25519")
    assert f"server 1 announced keys that cannot be used: {wrong}" == str(caught.value)
