"""The driver carries envelopes, with faults, and keeps a trace of who saw what."""

from collections import Counter

import attrs
import pytest

from anonloom.errors import TransportError
from anonloom_testing.sample_guarantees import guarantees
from anonloom_testing.transport import SeededEntropy
from anonloom_transport import EngineTransport, faults
from anonloom_transport.driver import Driver
from anonloom_transport.engines import ClientEngine, Envelope, ServerEngine
from anonloom_transport.rounds import Party, Round
from anonloom_transport.server_config import Identity, ServerConfig
from anonloom_transport.slots import SlotSecret, slot_of
from anonloom_transport.trace import Link

ROUND = Round(id="r", operation="post", servers=2, message_size=1, min_batch=1, capacity=50)
SLOTS = tuple(sorted(slot_of(bytes([index])) for index in range(3)))
DEPOSIT = Round(
    id="r", operation="deposit", servers=2, message_size=1, min_batch=1, slots=SLOTS, iterations=2
)

SECRET = SlotSecret(b"a" * 16, b"s" * 16)

GUARANTEES = guarantees()


@attrs.define(eq=False)
class Sender(ClientEngine):
    round: Round
    invitation: bytes = b""
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

    def deposit(self, secret, record):
        return self.post(record)

    def decoy(self):
        return self.post(b"nothing")

    def receive(self, envelope):
        self.heard[envelope.sender] += 1
        return []

    def resend(self):
        return [envelope for envelope in self.sent if not self.heard[envelope.receiver]]

    @property
    def is_acknowledged(self):
        return len(self.heard) == self.round.servers


@attrs.define(eq=False)
class Hearer(ServerEngine):
    round: Round
    config: ServerConfig
    saved: bytes | None
    heard: list = attrs.field(factory=list)
    refusals: Counter = attrs.field(factory=Counter)
    result: tuple | None = None
    stop_reason: str = ""
    erased: tuple = ()
    asked: list = attrs.field(factory=list)
    notice: bytes | None = b"a notice"

    def begin(self):
        return self._ask("begin")

    def receive(self, envelope):
        self.heard.append((envelope.sender, envelope.body))
        if envelope.step != "upload":
            return []
        if self.on_link is not None:
            self.on_link(envelope.upload, envelope.body)
        return [
            attrs.evolve(
                envelope, sender=envelope.receiver, receiver=envelope.sender, step="receipt"
            )
        ]

    def _ask(self, phase):
        self.asked.append(phase)
        return []

    @property
    def accepted_count(self):
        return len(self.heard)

    def close(self):
        return self._ask("close")

    def settle(self):
        return self._ask("settle")

    def erase(self, positions):
        self.erased = tuple(positions)

    def open(self):
        self.result = tuple(body for _, body in self.heard)
        return self._ask("open")

    def resend(self):
        return self._ask("again")

    def save(self):
        return b"saved"


@attrs.frozen(kw_only=True)
class Toy(EngineTransport):
    def identity(self, entropy):
        return Identity(b"secret", entropy.bytes(4))

    def client(self, notice, pins, *, entropy, clock, invitation=b""):
        return Sender(ROUND, invitation)

    def server(self, round, config, *, entropy, clock, saved=None):
        return Hearer(round, config, saved)

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
    assert [True, True] == [client.is_acknowledged for client in net.clients]
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
    sent = [bytes([index]) for index in range(20)]
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
    net.network.faults.clear()
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
    net.settle()
    net.erase(iter([1, 2]))
    net.open()
    assert [(1, 2), (1, 2)] == [server.erased for server in net.servers]
    assert [["begin", "close", "settle", "open"]] * 2 == [server.asked for server in net.servers]
    assert (b"a",) == net.result()
    net.servers[1].result = (b"b",)
    assert "the servers do not agree on what became public" == message_of(net.result)
    net.servers[1].stop_reason = "a reason"
    assert "the round has stopped: a reason" == message_of(net.result)
    net.servers[0].refusals["x"] = 2
    net.servers[1].refusals["x"] = 1
    assert Counter(x=3) == net.count_refusals()


def test_a_whole_round_at_once():
    net = Driver(Toy(), ROUND)
    net.post([b"a", b"b"])
    assert (b"a", b"b") == net.finish()
    assert (b"a", b"b") == net.trace.published
    assert {0: b"a", 1: b"b"} == net.trace.sent


def test_a_whole_round_goes_no_further_than_where_a_server_stops():
    net = Driver(Toy(), ROUND)
    net.servers[1].stop_reason = "a reason"
    assert "the round has stopped: a reason" == message_of(net.finish)
    assert [["begin", "close"]] * 2 == [server.asked for server in net.servers]


def test_every_server_has_a_seat_with_all_pins_and_a_vault_of_its_own():
    net = Driver(Toy(), ROUND, slot_keys=(SECRET.key(),), entropy=SeededEntropy())
    assert [0, 1] == [config.index for config in net.configs]
    assert [net.pins, net.pins] == [config.pins for config in net.configs]
    assert net.pins == tuple(config.identity.public for config in net.configs)
    assert net.configs[0].vault is not net.configs[1].vault
    assert (SECRET.key(),) == net.configs[1].slot_keys
    given = (Identity(b"1", b"one"), Identity(b"2", b"two"))
    assert (b"one", b"two") == Driver(Toy(), ROUND, identities=given).pins


def test_invitations_go_to_clients_in_their_order():
    net = Driver(Toy(), ROUND)
    first, second, third = net.post([b"a", b"b", b"c"], [b"one", b"two"])
    assert [b"one", b"two", b""] == [item.invitation for item in (first, second, third)]


def test_deposits_are_traced_with_their_positions():
    secrets = sorted(
        (SlotSecret(bytes([index]) * 16, b"") for index in range(3)), key=lambda s: s.slot
    )
    round = attrs.evolve(DEPOSIT, slots=[secret.slot for secret in secrets])
    net = Driver(Toy(), round)
    net.deposit([(secrets[2], b"a"), (secrets[0], b"b"), (SECRET, b"c")])
    assert {0: b"a", 1: b"b", 2: b"c"} == net.trace.sent
    assert {0: 2, 1: 0} == net.trace.positions


def test_what_a_server_connects_is_in_the_trace():
    net = Driver(Toy(), ROUND)
    net.post([b"a"])
    assert [Link(b"", b"a")] == net.trace.links[Party("server", 0)]
    untraced = Driver(Toy(), ROUND, traced=False)
    untraced.post([b"a"])
    assert {} == untraced.trace.links


def test_a_client_needs_a_description_of_the_round():
    net = Driver(Toy(), ROUND)
    net.servers[1].notice = None
    net.client(0)
    assert "the round has not begun" == message_of(lambda: net.client(1))
    net.servers[1].stop_reason = "a reason"
    assert "a reason" == message_of(lambda: net.client(1))


def test_a_restarted_server_goes_on_from_what_it_saved_in_the_same_seat():
    net = Driver(Toy(), ROUND)
    before = net.servers[1]
    net.restart(1)
    assert (None, b"saved") == (before.saved, net.servers[1].saved)
    assert before.config is net.servers[1].config


def test_a_corrupted_server_deviates_from_the_beginning_and_after_a_restart():
    made = []

    def corrupt(server, config):
        made.append(config.index)
        return server

    net = Driver(Toy(), ROUND, corrupted={1: corrupt})
    net.restart(0)
    net.restart(1)
    assert [1, 1] == made


def test_envelopes_can_be_carried_one_by_one():
    net = Driver(Toy(), ROUND)
    envelope = Envelope(
        sender=Party("client", 0), receiver=Party("server", 0), step="x", round=b"", body=b"1"
    )
    net.network.send(envelope.sender, [envelope, envelope])
    assert (2, []) == (net.network.on_the_way, bodies(net))
    net.deliver_one()
    assert (1, [b"1"]) == (net.network.on_the_way, bodies(net))
    net.deliver()
    assert (0, [b"1"] * 2) == (net.network.on_the_way, bodies(net))


def test_servers_repeat_what_they_said_when_everybody_tries_again():
    net = Driver(Toy(), ROUND)
    assert 0 == net.retry()
    assert [["begin", "again"]] * 2 == [server.asked for server in net.servers]


def test_who_stays_away_is_known_to_the_network_and_sends_nothing():
    net = Driver(Toy(), ROUND)
    net.post([b"a"])
    (away,) = net.absent(1)
    net.post([b"b"])
    assert {1} == net.trace.absent
    assert {0: b"a", 2: b"b"} == net.trace.sent
    assert [(Party("client", 0), b"a"), (Party("client", 2), b"b")] == net.servers[0].heard
    assert [True, False, True] == [client.is_acknowledged for client in net.clients]
    assert away is net.clients[1]
    assert [] == net.absent(0)


def test_a_decoy_that_was_left_before_stands_in_for_who_stays_away():
    net = Driver(Toy(), DEPOSIT)
    left = net.prepare_decoy(b"invited")
    assert ([], []) == (net.clients, bodies(net))
    assert 2 == len(left)
    net.absent(1)
    seen = len(net.trace.seen)
    net.stand_in(0, left)
    # Each server takes the part that it has kept, as from the one who is missing.
    assert [[(Party("client", 0), b"nothing")]] * 2 == [server.heard for server in net.servers]
    assert seen == len(net.trace.seen)
    net.stand_in(0, [])
    assert 1 == net.servers[0].accepted_count


def test_servers_take_what_they_kept_and_nothing_travels():
    net = Driver(Toy(), DEPOSIT)
    left = net.prepare_decoy()
    net.stand_in(0, left)
    assert (0, 0) == (net.network.on_the_way, net.meter.between("client", "server"))


def test_a_decoy_is_left_by_who_is_invited():
    invited = []

    @attrs.frozen(kw_only=True)
    class Doorman(Toy):
        def client(self, notice, pins, *, entropy, clock, invitation=b""):
            invited.append(invitation)
            return Sender(ROUND, invitation)

    Driver(Doorman(), DEPOSIT).prepare_decoy(b"a code")
    assert [b"a code"] == invited


def test_who_waits_is_told_how_far_a_round_is():
    reports = []
    net = Driver(Toy(), ROUND, on_progress=lambda *one: reports.append(one))
    net.post([b"a"] * 3)
    net.finish()
    assert [
        ("begin", 1, 2),
        ("begin", 2, 2),
        ("upload", 0, 3),
        ("receive", 0, 12),
        ("close", 1, 2),
        ("close", 2, 2),
        ("settle", 1, 2),
        ("settle", 2, 2),
        ("open", 1, 2),
        ("open", 2, 2),
    ] == reports


def test_long_uploads_are_told_of_again_and_again():
    reports = []
    net = Driver(
        Toy(),
        attrs.evolve(ROUND, capacity=3000),
        traced=False,
        on_progress=lambda *one: reports.append(one),
    )
    net.post([b"a"] * 2500)
    uploads = [(done, total) for phase, done, total in reports if phase == "upload"]
    assert [(0, 2500), (1000, 2500), (2000, 2500)] == uploads
    received = [(done, total) for phase, done, total in reports if phase == "receive"]
    assert [(index, 10_000) for index in range(0, 10_000, 1000)] == received


def test_what_is_told_of_receiving_never_exceeds_the_whole():
    """A network that repeats everything delivers more than was sent."""
    reports = []
    net = Driver(
        Toy(),
        ROUND,
        faults=[faults.duplicate(lambda envelope: True)] * 3,
        on_progress=lambda *one: reports.append(one),
    )
    net.post([b"a"] * 20)
    assert all(done <= total for phase, done, total in reports)
