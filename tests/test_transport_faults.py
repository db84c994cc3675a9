"""Every fault, every transport, every step, both operations: nothing lost, nothing twice, no lie believed.

The steps of a transport are those that an honest round takes; a transport is tried as soon as it is
installed. A server that deviates is server 1.
"""

import functools
import importlib
import importlib.util
import re
from collections import Counter

import attrs
import pytest

from anonloom.errors import TransportError
from anonloom_testing.transport import SeededEntropy, adversaries
from anonloom_transport import Driver, Erasure, Party, Round, SlotSecret, faults

TRANSPORTS = {
    "direct": ("anonloom_direct.transport", "Direct"),
    "dpf": ("anonloom_dpf.transport", "Dpf"),
    "mixnet": ("anonloom_mixnet.transport", "Mixnet"),
}
INSTALLED = [
    name
    for name, (module, _) in TRANSPORTS.items()
    if importlib.util.find_spec(module.split(".")[0])
]
OPERATIONS = ("post", "deposit")
#: A deposit whose filled positions are counted before it is opened: tried where it takes other steps.
COUNTED = "counted deposit"
SENDERS = 8
LIAR = 1

#: Planned, and withdrawn before the opening.
PLANNED, WITHDRAWN = (1,), (4,)

#: What is counted, and the sums: all positions are filled.
GROUPS, SUMS = ((0, 1, 2), (3, 4, 5, 6), ()), (3, 4, 0)


def transport(name):
    module, cls = TRANSPORTS[name]
    return getattr(importlib.import_module(module), cls)()


def message(number):
    return f"message of sender {number:02}".encode()


@functools.cache
def secrets():
    entropy = SeededEntropy("slots")
    drawn = (SlotSecret(entropy.bytes(16), entropy.bytes(16)) for _ in range(SENDERS))
    return sorted(drawn, key=lambda secret: secret.slot)


def described(operation, servers):
    given = {"id": "matrix", "servers": servers, "message_size": len(message(0)), "min_batch": 4}
    if operation == "post":
        return Round(operation="post", capacity=2 * SENDERS, **given)
    return Round(
        operation="deposit",
        slots=[secret.slot for secret in secrets()],
        erasure=Erasure(PLANNED, b"s" * 32).commitment,
        counted=operation == COUNTED,
        **given,
    )


def driver(name, operation, servers=2, cls=Driver, **more):
    """Return a driver whose servers have begun, if they can."""
    deposit, round, carrier = operation != "post", described(operation, servers), transport(name)
    problem = carrier.problem(round)
    if problem is not None:
        pytest.skip(problem)
    net = cls(
        carrier,
        round,
        slot_keys=tuple(secret.key() for secret in secrets()) if deposit else (),
        erasure=Erasure(PLANNED, b"s" * 32) if deposit else None,
        **{"entropy": SeededEntropy(name), **more},
    )
    insist(net, lambda: all(server.notice is not None for server in net.servers))
    return net


def insist(net, done, tries=12):
    for _ in range(tries):
        if done() or any(server.stop_reason for server in net.servers):
            return
        net.retry()


def through(net, act):
    """Ask for a step until no server says that it is too early; give up when the round stops."""
    for _ in range(12):
        try:
            return act()
        except TransportError:
            if any(server.stop_reason for server in net.servers):
                return None
            net.retry()
    return None


def upload(net, senders=SENDERS):
    if net.round.operation == "post":
        net.post([message(index) for index in range(senders)])
    else:
        net.deposit([(secrets()[index], message(index)) for index in range(senders)])


def counted(net):
    """Count what went wrong and what was put right, by reason."""
    return sum((server.remarks for server in net.servers), net.count_refusals())


def to_the_end(net):
    """Upload and go as far as the servers let; return what each of them says is public."""
    if any(server.notice is None or server.stop_reason for server in net.servers):
        return [server.result for server in net.servers]
    upload(net)
    insist(net, lambda: all(client.is_acknowledged for client in net.clients))
    through(net, net.close)
    # Whoever is shown a list in two steps gets the time to answer.
    through(net, net.settle)
    if net.round.counted:
        sums = through(net, lambda: net.count(GROUPS))
        assert net.corrupted or sums == SUMS
    if net.round.operation == "deposit" and not any(server.stop_reason for server in net.servers):
        net.erase(WITHDRAWN)
    through(net, net.open)
    insist(net, lambda: all(server.result is not None for server in net.servers))
    return [server.result for server in net.servers]


def expected(operation):
    if operation == "post":
        return sorted(message(index) for index in range(SENDERS))
    gone = {*PLANNED, *WITHDRAWN}
    return [None if index in gone else message(index) for index in range(SENDERS)]


def comparable(operation, result):
    """The order of a post says nothing."""
    return sorted(result) if operation == "post" else list(result)


def acknowledged(net):
    return [client.is_acknowledged for client in net.clients]


@functools.cache
def steps(name, operation):
    """Return the steps of an honest round with the roles of sender and receiver."""
    net = driver(name, operation)
    to_the_end(net)
    return tuple(
        dict.fromkeys(
            (sight.envelope.step, sight.envelope.sender.role, sight.envelope.receiver.role)
            for sight in net.trace.network
        )
    )


def other_steps(name):
    """Return the steps of a counted deposit that differ from those of any other."""
    # Of the opening of layers too: it happens while nothing is open yet.
    known = {*steps(name, "deposit")} - {
        step for step in steps(name, "deposit") if step[0] in EARLY
    }
    return tuple(step for step in steps(name, COUNTED) if step not in known)


EARLY = ("missing", "named", "peel", "claims 0", "claims 0 commit")
ROUNDS = [(name, operation) for name in INSTALLED for operation in OPERATIONS]
TAKEN = [(name, operation, step) for name, operation in ROUNDS for step in steps(name, operation)]
TAKEN += [(name, COUNTED, step) for name in INSTALLED for step in other_steps(name)]
EVERYWHERE = [(name, operation, step) for name, operation, (step, _, _) in TAKEN]
BETWEEN = [
    (name, operation, step)
    for name, operation, (step, sender, receiver) in TAKEN
    if (sender, receiver) == ("server", "server")
]
everywhere = pytest.mark.parametrize(("name", "operation", "step"), list(dict.fromkeys(EVERYWHERE)))
between = pytest.mark.parametrize(("name", "operation", "step"), BETWEEN)
each = pytest.mark.parametrize(("name", "operation"), ROUNDS)


# --- the network ----------------------------------------------------------------------------


def first(number, when):
    """Concern the first few envelopes that `when` concerns: a network that recovers."""
    seen = 0

    def concerned(envelope):
        nonlocal seen
        seen += when(envelope)
        return when(envelope) and seen <= number

    return concerned


FAULTS = {
    "drop": lambda when: faults.drop(first(5, when)),
    "corrupt": lambda when: faults.corrupt(SeededEntropy("bits"), first(5, when)),
    "duplicate": lambda when: faults.duplicate(when, times=3),
    "delay": lambda when: faults.delay(40, faults.every(2, when)),
    "reorder": lambda when: faults.reorder(SeededEntropy("order"), 30, when),
}


@everywhere
@pytest.mark.parametrize("fault", FAULTS)
def test_a_bad_network_loses_nothing_and_doubles_nothing(name, operation, step, fault):
    net = driver(name, operation, faults=[FAULTS[fault](faults.step(step))])
    results = to_the_end(net)
    assert [True] * SENDERS == acknowledged(net)
    assert ["", ""] == [server.stop_reason for server in net.servers]
    assert [expected(operation)] * 2 == [comparable(operation, result) for result in results]
    if fault == "corrupt" and (step, "server") in {
        (known, receiver) for known, _, receiver in steps(name, operation)
    }:
        assert sum(net.count_refusals().values()) > 0


# --- restarts -------------------------------------------------------------------------------


@attrs.define(eq=False)
class RestartingAt(Driver):
    """Starts servers again around every envelope of one step."""

    step: str = attrs.field(default="", kw_only=True)
    restarts: int = attrs.field(default=0, init=False)

    def deliver_one(self):
        envelope = self.network.next_delivery.envelope
        concerned = envelope.step == self.step
        self._again(envelope.receiver, concerned)
        super().deliver_one()
        self._again(envelope.receiver, concerned)
        self._again(envelope.sender, concerned)

    def _again(self, party, concerned):
        if concerned and party.role == "server":
            self.restart(party.index)
            self.restarts += 1


@everywhere
def test_a_server_that_starts_again_ends_with_the_same_result(name, operation, step):
    net = driver(name, operation, cls=RestartingAt, step=step)
    results = to_the_end(net)
    assert net.restarts > 0
    assert [True] * SENDERS == acknowledged(net)
    assert [expected(operation)] * 2 == [comparable(operation, result) for result in results]


# --- servers that deviate -------------------------------------------------------------------


def blamed(net, server):
    """Return whom an honest server blames, or nobody; what the liar says is the liar's."""
    text = net.servers[server].stop_reason
    while told := re.match(r"server (\d+) stopped the round: (.*)", text):
        if int(told[1]) == LIAR:
            return LIAR
        text = told[2]
    match = re.search(r"server (\d+)", text)
    return int(match[1]) if match else None


def judged(net, results):
    """Hold what must be true whatever one server does; return whom the honest ones blame."""
    operation, honest = (
        net.round.operation,
        [index for index in range(net.round.servers) if index != LIAR],
    )
    wanted, confirmed = expected(operation), acknowledged(net)
    for server in honest:
        assert blamed(net, server) in (None, LIAR), net.servers[server].stop_reason
        result = results[server]
        if result is None:
            continue
        if operation == "post":
            assert not Counter(result) - Counter(wanted), "something became public that nobody sent"
            lost = [
                index
                for index, is_confirmed in enumerate(confirmed)
                if is_confirmed and message(index) not in result
            ]
        else:
            assert all(found in (None, right) for found, right in zip(result, wanted, strict=True))
            lost = [
                index
                for index, is_confirmed in enumerate(confirmed)
                if is_confirmed and wanted[index] is not None and result[index] is None
            ]
        assert [] == lost, "what was acknowledged is lost, and the round did not stop"
    shown = {tuple(results[index]) for index in honest if results[index] is not None}
    assert len(shown) <= 1, "honest servers publish different results"
    return {blamed(net, server) for server in honest if net.servers[server].stop_reason}


def deviating(name, operation, corruption, servers=2):
    net = driver(name, operation, servers, corrupted={LIAR: corruption})
    results = to_the_end(net)
    net.retry()
    return net, [
        server.result or result for server, result in zip(net.servers, results, strict=True)
    ]


@between
@pytest.mark.parametrize("servers", [2, 3])
def test_a_server_that_says_two_things_is_named(name, operation, step, servers):
    net, results = deviating(name, operation, adversaries.contradicts(step), servers)
    judged(net, results)
    for server in range(servers):
        if server != LIAR and net.servers[server].result is None:
            assert net.servers[server].stop_reason.endswith(
                f"server {LIAR} said two different things"
            )


def flip_first(said):
    """Change the first bit: of what is signed by all, the signature."""
    return bytes([said[0] ^ 128]) + said[1:] if said else b"x"


@between
@pytest.mark.parametrize("change", [adversaries.flip, flip_first])
def test_a_server_that_tells_servers_different_things_is_named(name, operation, step, change):
    """Either it made no difference, or all honest servers name it, and no other.

    A hop that claims to have removed packets, and never says which, is waited for like one that
    says nothing.
    """
    lie = adversaries.equivocates(step, change, to=[2])
    net, results = deviating(name, operation, lie, servers=3)
    blame = judged(net, results)
    right = [result is not None for result in (results[0], results[2])] == [True, True]
    waiting = (name, step) == ("mixnet", "mix") and not any((blame, results[0], results[2]))
    assert right or waiting or {LIAR} == blame


@between
@pytest.mark.parametrize("servers", [2, 3])
@pytest.mark.parametrize(
    "change", [adversaries.flip, lambda said: b"", lambda said: bytes(len(said))]
)
def test_a_server_that_says_something_wrong_changes_no_record(
    name, operation, step, servers, change
):
    judged(*deviating(name, operation, adversaries.substitutes(step, change), servers))


@between
def test_a_server_that_says_nothing_makes_nothing_public(name, operation, step):
    net, results = deviating(name, operation, adversaries.stalls(step))
    assert set() == judged(net, results)
    assert results[0] is None


EXCHANGES = [
    (name, operation, step.removesuffix(" commit"))
    for name, operation, step in BETWEEN
    if step.endswith(" commit") and not step.startswith("coin")
]


@pytest.mark.parametrize(("name", "operation", "exchange"), EXCHANGES)
@pytest.mark.parametrize("change", [adversaries.flip, lambda said: bytes(len(said))])
def test_a_share_that_was_changed_before_it_was_committed_to(name, operation, exchange, change):
    """With two servers it is one of them, unless its word proves it; no record is altered."""
    lie = adversaries.miscomputes(exchange, change)
    net = driver(name, operation, corrupted={LIAR: lie})
    results = to_the_end(net)
    assert blamed(net, 0) in (None, LIAR)
    wanted = expected(operation)
    for result in results:
        if result is not None and operation == "post":
            assert not Counter(result) - Counter(wanted)
        elif result is not None:
            assert all(found in (None, right) for found, right in zip(result, wanted, strict=True))
    complete = all(
        result is not None and comparable(operation, result) == wanted for result in results
    )
    noticed = any(server.stop_reason for server in net.servers) or counted(net)
    assert complete or noticed


# --- uploads that servers lose --------------------------------------------------------------


@each
@pytest.mark.parametrize("servers", [2, 3])
def test_what_a_server_confirmed_and_lost_is_handed_to_it_again(name, operation, servers):
    lost = adversaries.loses(lambda envelope: envelope.sender.index < 3)
    net, results = deviating(name, operation, lost, servers)
    assert [True] * SENDERS == acknowledged(net)
    assert [expected(operation)] * servers == [comparable(operation, result) for result in results]
    remark = f"server {LIAR} did not hold an upload that it had confirmed"
    assert {remark: 3} == dict(net.servers[0].remarks)


@each
def test_who_is_ignored_is_not_acknowledged(name, operation):
    ignored = adversaries.ignores(lambda envelope: envelope.sender.index < 3)
    net, results = deviating(name, operation, ignored)
    assert [False] * 3 + [True] * 5 == acknowledged(net)
    judged(net, results)
    assert all(message(index) not in results[0] for index in range(3))


# --- what clients are shown -----------------------------------------------------------------


@each
@pytest.mark.parametrize(
    "change",
    [
        {"min_batch": 1},
        {"message_size": 3},
        {"context": b"another schema"},
        {"suite": "mlkem768-x25519"},
        {"cohort": 3},
    ],
)
def test_a_server_that_shows_another_round_gets_nothing(name, operation, change):
    lie = adversaries.misdescribes(lambda round: attrs.evolve(round, **change))
    net = driver(name, operation, corrupted={LIAR: lie})
    with pytest.raises(TransportError) as caught:
        net.client(LIAR)
    assert "the round description is not signed by all servers" == str(caught.value)
    assert [] == [sight for sight in net.trace.network if sight.envelope.step == "upload"]


SHOWN = [
    (name, operation, step)
    for name, operation in ROUNDS
    for step, sender, receiver in steps(name, operation)
    if (sender, receiver) == ("server", "client") and step != "receipt"
]


@pytest.mark.parametrize(("name", "operation", "step"), SHOWN)
def test_a_list_that_one_server_made_up_is_not_believed(name, operation, step):
    lie = adversaries.shows_lists(lambda document: document[16:], step)
    net, results = deviating(name, operation, lie)
    assert set() == judged(net, results)
    assert [expected(operation)] * 2 == [comparable(operation, result) for result in results]


# --- clients that deviate -------------------------------------------------------------------


@everywhere
def test_garbage_under_every_word_is_refused_and_counted(name, operation, step):
    net = driver(name, operation)
    sent = adversaries.garbage(net.round, SeededEntropy(step), [step], Party("client", 99))
    for envelope in sent:
        net.inject(envelope)
    assert len(sent) == sum(net.count_refusals().values())
    results = to_the_end(net)
    assert [expected(operation)] * 2 == [comparable(operation, result) for result in results]


@each
def test_nonsense_that_is_sealed_well_touches_nobody_else(name, operation):
    net = driver(name, operation)
    client = net.client()
    upload(net)
    size = net.servers[0].strategy.content_size
    for envelope in adversaries.nonsense(client, size, SeededEntropy("nonsense")):
        net.inject(attrs.evolve(envelope, sender=Party("client", 0)))
    net.close()
    net.settle()
    if operation == "deposit":
        net.erase(WITHDRAWN)
    net.open()
    wanted = expected(operation)
    if operation == "post":
        strange = Counter(net.result()) - Counter(wanted)
        assert not Counter(wanted) - Counter(net.result())
        # One message of its own, or none and a count.
        assert strange.total() + sum(net.count_refusals().values()) > 0
        assert strange.total() <= 1
    else:
        assert wanted == list(net.result())
        assert sum(net.count_refusals().values()) > 0


def foreign(net, position, secret):
    """Write to a position with a secret that is not its owner's; return the client."""
    client = net.client()
    index = len(net.clients) - 1
    contents = client.for_deposit(position, secret, b"forged record of nobody"[: len(message(0))])
    for envelope in client.send(b"forged", contents):
        net.inject(attrs.evolve(envelope, sender=Party("client", index)))
    return client


@pytest.mark.parametrize("name", INSTALLED)
@pytest.mark.parametrize("early", [True, False])
@pytest.mark.parametrize("helped", [True, False])
def test_a_foreign_write_never_alters_a_record(name, early, helped):
    """Without a server's help it changes nothing; with alpha told by one it may destroy a row."""
    net = driver(name, "deposit")
    hers, mine = secrets()[2], secrets()[3]
    secret = attrs.evolve(hers if helped else mine, seed=b"x" * 16)
    if early:
        foreign(net, 2, secret)
    first = len(net.clients)
    # One stays away: a deposit takes no more uploads than it has positions.
    upload(net, SENDERS - 1)
    if not early:
        foreign(net, 2, secret)
    confirmed = net.clients[first + 2].is_acknowledged
    net.close()
    net.settle()
    net.erase(WITHDRAWN)
    net.open()
    wanted = [*expected("deposit")[:-1], None]
    results = list(net.result())
    assert wanted[:2] + wanted[3:] == results[:2] + results[3:]
    assert results[2] in (wanted[2], None)
    if not helped:
        assert (True, wanted[2]) == (confirmed, results[2])
    assert counted(net)
