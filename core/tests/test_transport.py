"""The contract of transports: rounds, guarantees, the driver and its faults."""

import re
from collections import Counter

import attrs
import pytest

from anonloom.errors import TransportError
from anonloom.kinds.engines import (
    ClientEngine,
    Envelope,
    Party,
    Round,
    ServerEngine,
    require_operation,
    require_size,
    slot_of,
)
from anonloom.kinds.transport import Guarantees, Transport, swap_sentence
from anonloom.protocol import faults
from anonloom.protocol.driver import Driver
from anonloom.protocol.entropy import SteppedClock, SystemClock, SystemEntropy, simulated
from anonloom.protocol.uploads import Uploads
from anonloom.testing.entropy import SeededEntropy

ROUND = Round(id="r", operation="post", servers=2, message_size=1, min_batch=1)

GUARANTEES = Guarantees(
    honest_senders_min=1000,
    colluding_servers=1,
    server_behaviour="detected after open",
    donors="contained up to 1 %",
    eligibility="one upload per credential",
    presence_visible_to="every server",
    presence_visible_when="with the opening",
    presence_of_erased_visible=False,
    exclusion="attributable",
    erasure_condition="one server forgets its key",
    post_quantum=True,
    delivery="every confirmed message, exactly once",
    lost_server="the round is repeated",
    measured_or_argued="argued",
    not_covered=("coercion",),
)


# --- rounds ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        {"id": "s"},
        {"servers": 3},
        {"message_size": 2},
        {"min_batch": 2},
        {"iteration": 1},
        {"deadline": 5},
        {"operation": "deposit", "slots": [slot_of(b"a")]},
        {"operation": "deposit", "slots": [slot_of(b"b")]},
    ],
)
def test_the_digest_binds_every_part_of_a_round(change):
    assert ROUND.digest == attrs.evolve(ROUND).digest
    assert ROUND.digest != attrs.evolve(ROUND, **change).digest


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"id": ""}, "a round needs an id"),
        ({"slots": [b"a"]}, "a deposit has slots, and a post has none"),
        ({"operation": "deposit"}, "a deposit has slots, and a post has none"),
        ({"operation": "deposit", "slots": [b"a", b"a"]}, "two slots have the same secret"),
        ({"servers": 0}, "'servers' must be >= 1: 0"),
        ({"message_size": 0}, "'message_size' must be >= 1: 0"),
        ({"min_batch": 0}, "'min_batch' must be >= 1: 0"),
    ],
)
def test_rounds_that_make_no_sense(change, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        attrs.evolve(ROUND, **change)


def test_size_and_operation_are_required():
    require_size(ROUND, b"x")
    require_operation(ROUND, "post")
    with pytest.raises(TransportError) as caught:
        require_size(ROUND, b"xy")
    assert "a message of this round must have 1 bytes. Got 2 instead." == str(caught.value)
    with pytest.raises(TransportError) as caught:
        require_operation(ROUND, "deposit")
    assert "this round is for 'post', not for 'deposit'" == str(caught.value)


# --- guarantees -----------------------------------------------------------------------------


def test_a_swap_is_told_by_what_differs():
    other = attrs.evolve(
        GUARANTEES, honest_senders_min=1, presence_of_erased_visible=True, not_covered=()
    )
    assert (
        "With plain instead of hiding: a message hides among at least 1 honest senders (with "
        "hiding: 1,000); servers see before opening which positions were filled: yes (with "
        "hiding: no); not covered: nothing (with hiding: coercion)."
        == swap_sentence("hiding", GUARANTEES, "plain", other)
    )


def test_a_swap_without_a_declared_difference_claims_no_more():
    assert "With b instead of a, no declared guarantee changes." == swap_sentence(
        "a", GUARANTEES, "b", GUARANTEES
    )


@pytest.mark.parametrize("field", [field.name for field in attrs.fields(Guarantees)])
def test_a_change_of_any_guarantee_is_told(field):
    changed = attrs.evolve(GUARANTEES, **{field: ("something else",)})
    assert "something else" in swap_sentence("a", GUARANTEES, "b", changed)


def test_guarantees_in_words_and_for_the_manifest():
    assert len(attrs.fields(Guarantees)) == len(GUARANTEES.sentences())
    assert "a message hides among at least 1,000 honest senders" == GUARANTEES.sentences()[0]
    assert ["coercion"] == GUARANTEES.as_dict()["not_covered"]
    assert 1000 == GUARANTEES.as_dict()["honest_senders_min"]


# --- entropy, clock, uploads ----------------------------------------------------------------


def test_only_the_systems_randomness_is_not_simulated():
    class Mine(SystemEntropy):
        pass

    assert not simulated(SystemEntropy())
    assert simulated(Mine())
    assert simulated(SeededEntropy())
    assert 32 == len(SystemEntropy().bytes(32))
    assert SystemEntropy().bytes(32) != SystemEntropy().bytes(32)


def test_a_stepped_clock_never_goes_back():
    clock = SteppedClock()
    clock.move_to(5)
    clock.move_to(3)
    assert 5 == clock.now()
    assert SystemClock().now() > 0


def test_an_upload_counts_once():
    uploads = Uploads()
    assert "new" == uploads.judge(b"i", b"x")
    uploads.add(b"i", b"x")
    assert "again" == uploads.judge(b"i", b"x")
    assert "other" == uploads.judge(b"i", b"y")
    with pytest.raises(ValueError, match="once"):
        uploads.add(b"i", b"x")
    uploads.add(b"j", b"y")
    assert 1 == uploads.keep({b"j"})
    assert ([b"j"], b"y", 1) == (list(uploads), uploads[b"j"], len(uploads))
    assert [b"j"] == list(uploads.fingerprints())


# --- the driver -----------------------------------------------------------------------------


@attrs.define(eq=False)
class Sender(ClientEngine):
    round: Round
    sent: list = attrs.field(factory=list)
    heard: Counter = attrs.field(factory=Counter)

    def post(self, message):
        self.sent = [
            Envelope(
                sender=Party("client", 99),
                receiver=server,
                step="upload",
                round=self.round.digest,
                body=message,
            )
            for server in self.round.everyone
        ]
        return self.sent

    def deposit(self, position, secret, record):
        return self.post(record)

    def take(self, envelope):
        self.heard[envelope.sender] += 1
        return []

    def again(self):
        return [envelope for envelope in self.sent if not self.heard[envelope.receiver]]

    @property
    def acknowledged(self):
        return len(self.heard) == self.round.servers


@attrs.define(eq=False)
class Hearer(ServerEngine):
    index: int
    heard: list = attrs.field(factory=list)
    refused: Counter = attrs.field(factory=Counter)
    result: tuple | None = None
    stopped: str = ""
    erased: tuple = ()

    def take(self, envelope):
        self.heard.append((envelope.sender, envelope.body))
        return [
            attrs.evolve(
                envelope, sender=envelope.receiver, receiver=envelope.sender, step="receipt"
            )
        ]

    @property
    def accepted(self):
        return len(self.heard)

    def close(self):
        self.result = tuple(body for _, body in self.heard)
        return []

    def erase(self, positions):
        self.erased = tuple(positions)

    def open(self):
        return []


@attrs.frozen(kw_only=True)
class Toy(Transport):
    def client(self, round, *, entropy, clock):
        return Sender(round)

    def server(self, round, index, *, entropy, clock):
        return Hearer(index)

    def guarantees(self, round):
        return GUARANTEES

    def problem(self, round):
        return "two servers at most" if round.servers > 2 else None


def bodies(net, server=0):
    return [body for _, body in net.servers[server].heard]


def test_the_channel_says_who_speaks():
    net = Driver(Toy(), ROUND)
    net.post([b"a", b"b"])
    assert [(Party("client", 0), b"a"), (Party("client", 1), b"b")] == net.servers[0].heard
    assert [True, True] == [client.acknowledged for client in net.clients]
    assert GUARANTEES == net.guarantees


def test_the_trace_tells_the_parties_apart():
    net = Driver(
        Toy(), ROUND, entropy=SeededEntropy(), faults=[faults.drop(faults.step("receipt"))]
    )
    net.post([b"a"])
    assert 4 == len(net.trace.network)
    assert ["upload", "upload"] == [s.envelope.step for s in net.trace.of(Party("client", 0))]
    sights = net.trace.of(Party("server", 0), Party("server", 1))
    assert [(1.0, "upload"), (1.0, "receipt")] * 2 == [(s.at, s.envelope.step) for s in sights]
    silent = Driver(Toy(), ROUND, traced=False)
    silent.post([b"a"])
    assert [] == silent.trace.seen


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (lambda: faults.drop(faults.every(2)), [b"a", b"b", b"c"]),
        (lambda: faults.drop(faults.step("upload")), []),
        (lambda: faults.duplicate(lambda e: e.body == b"b"), [b"a", b"b", b"c", b"b"]),
        (lambda: faults.delay(9, lambda e: e.body == b"a"), [b"b", b"c", b"a"]),
        (
            lambda: (
                faults.chance(0, SeededEntropy()) and faults.drop(faults.chance(0, SeededEntropy()))
            ),
            [b"a", b"b", b"c"],
        ),
        (lambda: faults.drop(faults.chance(1, SeededEntropy())), []),
    ],
)
def test_what_faults_do(fault, expected):
    net = Driver(Toy(), ROUND, faults=[fault()])
    net.post([b"a", b"b", b"c"])
    assert expected == bodies(net)


def test_reordering_loses_nothing():
    net = Driver(Toy(), ROUND, faults=[faults.reorder(SeededEntropy(1))])
    sent = [bytes([at]) for at in range(20)]
    net.post(sent)
    assert sent != bodies(net)
    assert sent == sorted(bodies(net))


def test_corruption_flips_one_bit():
    net = Driver(Toy(), ROUND, faults=[faults.corrupt(SeededEntropy(1), faults.step("upload"))])
    net.post([b"\0"] * 20)
    assert {1} == {body[0].bit_count() for body in bodies(net)}
    empty = faults.Delivery(0, attrs.evolve(net.trace.network[0].envelope, body=b""))
    assert [empty] == list(faults.corrupt(SeededEntropy())(empty))


def test_retry_sends_again_until_all_are_confirmed():
    net = Driver(Toy(), ROUND, faults=[faults.drop(faults.step("receipt"))])
    net.post([b"a"])
    assert 1 == net.retry()
    net.faults.clear()
    assert 0 == net.retry()
    assert [b"a"] * 3 == bodies(net)


def test_envelopes_to_nobody_are_lost():
    net = Driver(Toy(), ROUND)
    here = Party("client", 0)
    for there in (Party("client", 5), Party("server", 2)):
        net.inject(Envelope(sender=here, receiver=there, step="x", round=b""))
    assert [] == bodies(net)


def message_of(act):
    with pytest.raises(TransportError) as caught:
        act()
    return str(caught.value)


def test_a_round_that_the_transport_cannot_carry():
    assert "two servers at most" == message_of(
        lambda: Driver(Toy(), attrs.evolve(ROUND, servers=3))
    )


def test_a_result_is_what_all_servers_have():
    net = Driver(Toy(), ROUND)
    net.post([b"a"])
    assert "the round has not ended on every server" == message_of(net.result)
    net.close()
    net.open()
    net.erase(iter([1, 2]))
    assert [(1, 2), (1, 2)] == [server.erased for server in net.servers]
    assert (b"a",) == net.result()
    net.servers[1].result = (b"b",)
    assert "the servers do not agree on what became public" == message_of(net.result)
    net.servers[1].stopped = "a reason"
    assert "the round has stopped: a reason" == message_of(net.result)
    net.servers[0].refused["x"] = 2
    net.servers[1].refused["x"] = 1
    assert Counter(x=3) == net.refused()
