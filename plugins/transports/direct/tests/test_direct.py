"""Transport direct delivers under every fault, refuses what is wrong, and promises no more."""

from collections import Counter

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom.errors import TransportError
from anonloom_direct.content import Content
from anonloom_direct.server import DirectServer
from anonloom_direct.transport import Direct
from anonloom_testing.transport import SeededEntropy, adversaries
from anonloom_transport import (
    Authority,
    Driver,
    Erasure,
    MemoryVault,
    Party,
    Round,
    SlotSecret,
    StorageAttack,
    faults,
)

POSITIONS = 6


def message(number):
    return f"msg {number:04}".encode()


def secrets():
    entropy = SeededEntropy("slots")
    drawn = (SlotSecret(entropy.bytes(16), entropy.bytes(16)) for _ in range(POSITIONS))
    return sorted(drawn, key=lambda secret: secret.slot)


def post_round(servers=2, **more):
    given = {"id": "r", "message_size": 8, "min_batch": 2, "capacity": 20, **more}
    return Round(operation="post", servers=servers, **given)


def deposit_round(servers=2, erase=(), **more):
    erasure = Erasure(erase, b"s" * 32).commitment if erase else b""
    slots = [secret.slot for secret in secrets()]
    given = {"id": "r", "message_size": 8, "min_batch": 1, "erasure": erasure, **more}
    return Round(operation="deposit", servers=servers, slots=slots, **given)


def driver(round, erase=(), **more):
    keys = tuple(secret.key(round.iterations) for secret in secrets()) if round.slots else ()
    erasure = Erasure(erase, b"s" * 32) if erase else None
    given = {"entropy": SeededEntropy(), "slot_keys": keys, "erasure": erasure, **more}
    return Driver(Direct(), round, **given)


def records(positions):
    return [(secrets()[index], message(100 + index)) for index in positions]


def refusal(act):
    with pytest.raises(TransportError) as caught:
        act()
    assert 5 == caught.value.exit_code
    return str(caught.value)


# --- delivery -------------------------------------------------------------------------------


@pytest.mark.parametrize("servers", [1, 2, 3, 5])
@pytest.mark.parametrize("suite", ["x25519", "mlkem768-x25519"])
def test_posted_messages_become_public_once_each_in_an_order_of_their_own(servers, suite):
    sent = [message(number) for number in (5, 1, 4, 1, 3)]
    net = driver(post_round(servers, suite=suite))
    clients = net.post(sent)
    assert all(client.is_acknowledged for client in clients)
    assert tuple(sorted(sent)) == net.finish()
    assert Counter() == net.count_refusals()


@pytest.mark.parametrize("servers", [1, 2, 3])
def test_deposits_are_opened_unless_they_were_erased(servers):
    net = driver(deposit_round(servers, erase=(1,)), erase=(1,))
    net.deposit(records([0, 1, 3, 4]))
    net.close()
    net.settle()
    net.erase([2, 4])
    net.erase([4])
    assert [server.result for server in net.servers] == [None] * servers
    net.open()
    assert (message(100), None, None, message(103), None, None) == net.result()


@pytest.mark.parametrize("iteration", [1, 2, 3])
def test_a_position_serves_for_several_iterations(iteration):
    net = driver(deposit_round(iteration=iteration, iterations=3))
    net.deposit(records([2, 5]))
    expected = (None, None, message(102), None, None, message(105))
    assert expected == net.finish()


FAULTS = {
    "drop": lambda coins: faults.drop(faults.chance(0.3, coins)),
    "duplicate": lambda coins: faults.duplicate(faults.chance(0.5, coins), times=3),
    "delay": lambda coins: faults.delay(50, faults.chance(0.5, coins)),
    "reorder": lambda coins: faults.reorder(coins, within=100),
    "corrupt": lambda coins: faults.corrupt(coins, faults.chance(0.3, coins)),
}


def insist(net, done):
    """Let everybody try again until it is done; a fault of 30 % gives in long before."""
    for _ in range(200):
        if done():
            return
        net.retry()
    raise AssertionError("the network never gave in")


def through(net, act):
    """Ask for a step until no server says that it is too early."""
    for _ in range(200):
        try:
            return act()
        except TransportError:
            net.retry()
    raise AssertionError("the network never gave in")


def finish(net):
    net.close()
    through(net, net.settle)
    through(net, net.open)
    insist(net, lambda: all(server.result is not None for server in net.servers))
    return net.result()


def begun(round, chosen, seed, **more):
    coins = SeededEntropy(seed)
    net = driver(round, faults=[FAULTS[name](coins) for name in chosen], **more)
    insist(net, lambda: all(server.notice is not None for server in net.servers))
    return net


chosen_faults = st.lists(st.sampled_from(sorted(FAULTS)), max_size=3)


@settings(max_examples=40, deadline=None)
@given(
    chosen=chosen_faults,
    seed=st.integers(0, 2**32),
    servers=st.integers(1, 4),
    senders=st.integers(2, 8),
)
def test_every_acknowledged_message_arrives_exactly_once(chosen, seed, servers, senders):
    net = begun(post_round(servers), chosen, seed)
    sent = [message(number % 3) for number in range(senders)]
    net.post(sent)
    insist(net, lambda: all(client.is_acknowledged for client in net.clients))
    assert tuple(sorted(sent)) == finish(net)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32), servers=st.integers(1, 3), tries=st.integers(0, 2))
def test_nothing_that_was_acknowledged_is_lost_when_the_round_closes_early(seed, servers, tries):
    coins = SeededEntropy(seed)
    net = driver(post_round(servers, min_batch=1))
    net.network.faults.append(faults.drop(faults.chance(0.3, coins)))
    net.post([message(number) for number in range(6)])
    for _ in range(tries):
        net.retry()
    certain = {message(index) for index, client in enumerate(net.clients) if client.is_acknowledged}
    net.network.faults.clear()
    try:
        public = net.finish()
    except TransportError:
        assert set() == certain
    else:
        assert certain <= set(public) <= {message(number) for number in range(6)}
        assert len(set(public)) == len(public)


@settings(max_examples=40, deadline=None)
@given(
    chosen=chosen_faults,
    seed=st.integers(0, 2**32),
    servers=st.integers(1, 3),
    erased=st.sets(st.integers(0, 5)),
)
def test_deposits_survive_the_same_faults(chosen, seed, servers, erased):
    net = begun(deposit_round(servers), chosen, seed)
    net.deposit(records([0, 2, 3, 5]))
    insist(net, lambda: all(client.is_acknowledged for client in net.clients))
    net.close()
    through(net, net.settle)
    net.erase(erased)
    through(net, net.open)
    insist(net, lambda: all(server.result is not None for server in net.servers))
    expected = [
        message(100 + index) if index in {0, 2, 3, 5} - erased else None for index in range(6)
    ]
    assert tuple(expected) == net.result()


# --- deposits of others ---------------------------------------------------------------------


def write(net, position, secret, record=b"msg evil"):
    """Deposit with any secret at any position; return what was refused, by reason."""
    client = net.client()
    for envelope in client.send(record, client.for_deposit(position, secret, record)):
        net.inject(attrs.evolve(envelope, sender=Party("client", len(net.clients) - 1)))
    return dict(net.servers[0].refusals)


def test_only_the_owner_fills_a_position():
    net = driver(deposit_round())
    mine, hers = secrets()[1], secrets()[2]
    assert {"not the position's secret": 1} == write(net, 2, mine)
    assert 1 == write(net, POSITIONS, mine)["no such position"]
    # A server knows alpha and may tell it; the chain it does not know.
    text = attrs.evolve(hers, seed=b"x" * 16)
    assert 1 == write(net, 2, text)["not from the position's owner"]
    net.deposit(records([2]))
    assert 1 == write(net, 2, hers)["position already filled"]
    assert (None, None, message(102), None, None, None) == net.finish()


def test_a_filled_position_stays_filled_across_a_restart():
    net = driver(deposit_round())
    net.deposit(records([2]))
    net.restart(0)
    assert 1 == write(net, 2, secrets()[2])["position already filled"]


def test_a_sender_cannot_tell_servers_different_things():
    """One could otherwise end any round: servers would show different messages."""
    net = driver(post_round(3))
    net.post([message(1), message(2)])
    client = net.client()
    contents = [bytes(Content(b"s" * 16, message(index))) for index in (3, 4, 3)]
    for envelope in client.send(b"", contents):
        net.inject(envelope)
    assert not client.is_acknowledged
    assert (message(1), message(2)) == net.finish()
    refused = {"not what its id says": 1, "not held alike by every server": 2}
    assert refused == dict(net.count_refusals())


# --- servers that deviate -------------------------------------------------------------------


@attrs.define(eq=False)
class Forgetting(DirectServer):
    """Shows all messages but the last, and is committed to that."""

    def _rows(self):
        return super()._rows()[:-16]


@attrs.frozen(kw_only=True)
class OneForgets(Direct):
    """One of its servers leaves a message out."""

    def make_server(self, state):
        return Forgetting(state) if state.index == 1 else DirectServer(state)


def test_other_rows_than_all_hold_are_noticed_and_nothing_becomes_public():
    """A lie to which the server is committed: it is one of the servers, nobody knows which."""
    net = Driver(OneForgets(), post_round(3), entropy=SeededEntropy())
    net.post([message(1), message(2)])
    expected = "the round has stopped: one of the servers does not show what all hold"
    assert expected == refusal(net.finish)
    assert [None] * 3 == [server.result for server in net.servers]


def test_rows_that_were_not_committed_to_name_their_server():
    net = driver(post_round(3), corrupted={2: adversaries.substitutes("rows")})
    net.post([message(1), message(2)])
    expected = "the round has stopped: server 2 shows something else than it committed to: rows"
    assert expected == refusal(net.finish)


# --- erasure --------------------------------------------------------------------------------


def backed_up(**more):
    net = driver(deposit_round(erase=(1,)), erase=(1,), **more)
    net.deposit(records([0, 1, 2]))
    disks = StorageAttack(net)
    for act in (net.close, net.settle, net.open):
        disks.back_up()
        act()
    assert (message(100), None, message(102), None, None, None) == net.result()
    return disks


def test_disks_and_traffic_give_no_erased_record_away():
    """Every server has seen it; everybody else needs a key that is gone."""
    disks = backed_up()
    left = [config.vault for config in disks.driver.configs]
    assert (None, []) == (disks.reopen(left), disks.read(left))
    carried = [sight.envelope.body for sight in disks.driver.trace.network]
    assert [] == [data for data in [*carried, *disks.saved_bytes] if message(101) in data]


def test_a_kept_key_gives_it_away():
    copies = [MemoryVault(), MemoryVault()]
    disks = backed_up(corrupted={index: adversaries.keeps_key(copies[index]) for index in (0, 1)})
    assert message(101) == disks.reopen(copies)[1]
    assert any(message(101) in content for content in disks.read(copies))


# --- what it promises -----------------------------------------------------------------------


def test_all_uploads_of_a_round_have_one_size():
    net = driver(deposit_round())
    net.deposit(records(range(POSITIONS)))
    assert 1 == len(
        {sight.envelope.size for sight in net.trace.network if sight.envelope.step == "upload"}
    )


def test_it_promises_no_anonymity():
    guarantees = Direct().guarantees(post_round(min_batch=20))
    assert (1, 0) == (guarantees.honest_senders_min, guarantees.colluding_servers)
    assert "anonymity: every server sees who sent what, the network who takes part" in (
        guarantees.not_covered
    )


def test_and_indeed_every_server_sees_who_sent_what():
    net = driver(post_round())
    net.post([message(7), message(8)])
    links = {link.one: link.other for link in net.trace.links[Party("server", 0)]}
    sent = {}
    for sight in net.trace.of(Party("server", 0)):
        if sight.envelope.step == "upload":
            sealed = next(link for link in links if sight.envelope.body.endswith(link))
            sent[sight.envelope.sender.index] = Content.read(net.round, links[sealed]).message
    assert {0: message(7), 1: message(8)} == sent


def test_and_the_network_sees_no_message_before_it_is_public():
    net = driver(post_round())
    net.post([message(7), message(8)])
    net.close()
    net.settle()
    carried = [sight.envelope.body for sight in net.trace.network]
    assert [] == [body for body in carried if message(7) in body]


def test_promises_follow_the_round():
    study = Authority.draw(SeededEntropy())
    plain, hybrid = post_round(), post_round(suite="mlkem768-x25519")
    guarantees = Direct().guarantees
    assert (False, True) == (guarantees(plain).post_quantum, guarantees(hybrid).post_quantum)
    assert 1 == len(set(guarantees(plain).not_covered) - set(guarantees(hybrid).not_covered))
    assert "none: Sybils not excluded" == guarantees(plain).eligibility
    asking = attrs.evolve(plain, authority=study.public)
    assert "one upload per invitation of the study" == guarantees(asking).eligibility
    assert "follows" == guarantees(post_round(1)).server_behaviour
    assert "detected after open" == guarantees(plain).server_behaviour


def test_seeded_coins_are_called_simulated():
    assert driver(post_round()).is_simulated
    assert not Driver(Direct(), post_round()).is_simulated


@given(st.binary(min_size=8, max_size=8), st.integers(0, 9), st.binary(min_size=16, max_size=16))
def test_contents_are_read_as_they_were_written(record, position, alpha):
    plain = Content(alpha, record)
    assert plain == Content.read(post_round(), bytes(plain))
    row = Content(alpha, record * 5, position, alpha)
    assert row == Content.read(deposit_round(), bytes(row))
    assert f"Content(position={position})" == repr(row)
