"""The kit's checks of transports: an open relay passes, each broken one fails one check."""

import hashlib
import hmac
import json
from collections import Counter

import attrs
import pytest

from anonloom.errors import TransportError
from anonloom_testing import TransportConformance
from anonloom_testing.sample_guarantees import guarantees
from anonloom_testing.transport import SeededEntropy
from anonloom_transport import (
    ClientEngine,
    EngineTransport,
    Envelope,
    Identity,
    Party,
    Round,
    ServerEngine,
    is_simulated,
    read_row,
    require_operation,
    require_size,
    row_size,
    slot_of,
    write_row,
)

# The relay's signatures are worth nothing: its public keys are its secret ones. What counts here is
# that it does everything that the contract asks for, with no more than the standard library.
MAC = 32
#: In the place of alpha: a decoy.
NOWHERE = bytes(16)


def mac(key, *parts):
    return hmac.digest(key, json.dumps([part.hex() for part in parts]).encode(), "sha256")


class RelayClient(ClientEngine):
    def __init__(self, notice, pins, entropy):
        self.round, self.pins, self.id = self.read(notice, pins), pins, entropy.bytes(16)
        self.body, self.confirmed = None, set()

    def read(self, notice, pins):
        end = len(notice) - len(pins) * MAC
        described, macs = notice[:end], notice[end:]
        if macs != b"".join(mac(pin, described) for pin in pins):
            raise TransportError("not signed by all servers")
        return Round.decode(described)

    def post(self, message):
        require_operation(self.round, "post")
        require_size(self.round, message)
        return self._send(message)

    def deposit(self, secret, record):
        require_operation(self.round, "deposit")
        require_size(self.round, record)
        if secret.slot not in self.round.slots:
            raise TransportError("no position of the secret")
        row = write_row(secret, self.round.iteration, self.round.iterations, record)
        return self._send(secret.alpha + row)

    def decoy(self):
        require_operation(self.round, "deposit")
        return self._send(NOWHERE + bytes(row_size(self.round.message_size)))

    def _send(self, content):
        body = content + mac(b"", content)
        if self.body not in (None, body):
            raise TransportError("another message was sent before")
        self.body = body
        return self.resend()

    def resend(self):
        return [
            Envelope(
                sender=Party("client", 0),
                receiver=server,
                step="upload",
                round=self.round.digest,
                upload=self.id,
                body=self.body,
            )
            for server in self.round.everyone
            if server not in self.confirmed and self.body is not None
        ]

    def receive(self, envelope):
        server = envelope.sender.index
        if envelope.body == mac(self.pins[server], self.id, self.body or b""):
            self.confirmed.add(envelope.sender)
        return []

    @property
    def is_acknowledged(self):
        return self.confirmed == set(self.round.everyone)


class RelayServer(ServerEngine):
    stop_reason = ""

    def __init__(self, round, config, entropy, saved):
        self.round, self.config, self.entropy, self.refusals = round, config, entropy, Counter()
        self.uploads, self.asked = {}, []
        self.erased = set(config.erasure.positions if config.erasure else ())
        self.final = self.groups = None
        if saved is not None:
            self.load(saved)

    def __repr__(self):
        return f"{type(self).__name__}({self.asked})"

    # --- saving: nothing is secret before the beginning and after the opening -------------------

    def begin(self):
        self.asked.append("begin")
        self.config.vault.keep("relay", self.entropy.bytes(32))
        return []

    def state(self):
        uploads = {upload.hex(): body.hex() for upload, body in self.uploads.items()}
        state = [uploads, self.asked, sorted(self.erased), self.refusals, self.groups]
        return json.dumps(state).encode()

    def save(self):
        if self.final is not None:
            shown = [None if item is None else item.hex() for item in self.final]
            return b"public" + json.dumps([self.asked, shown, self.refusals]).encode()
        key, state = self.config.vault.fetch("relay"), self.state()
        return b"secret" + mac(key, state) + self.hidden(key, state)

    def hidden(self, key, state):
        stream = hashlib.shake_256(key).digest(len(state))
        return bytes(a ^ b for a, b in zip(state, stream, strict=True))

    def load(self, saved):
        if saved[:6] == b"public":
            self.asked, shown, refused = json.loads(saved[6:])
            self.final = [None if item is None else bytes.fromhex(item) for item in shown]
        else:
            key = self.config.vault.fetch("relay")
            if key is None or saved[:6] != b"secret":
                raise TransportError("cannot be read")
            state = self.hidden(key, saved[6 + MAC :])
            self.check(saved[6 : 6 + MAC], mac(key, state))
            try:
                uploads, self.asked, erased, refused, self.groups = json.loads(state)
                self.uploads = {bytes.fromhex(k): bytes.fromhex(v) for k, v in uploads.items()}
            except ValueError:
                raise TransportError("cannot be read") from None
            self.erased = set(erased)
        self.refusals = Counter(refused)

    def check(self, found, expected):
        if found != expected:
            raise TransportError("cannot be read")

    # --- collecting -----------------------------------------------------------------------------

    @property
    def notice(self):
        described = self.round.encode()
        return described + b"".join(mac(pin, described) for pin in self.config.pins)

    def receive(self, envelope):
        reason = self.judge(envelope)
        if reason:
            self.refusals[reason] += 1
            return []
        self.keep(envelope.upload, envelope.body)
        return [
            Envelope(
                sender=Party("server", self.config.index),
                receiver=envelope.sender,
                step="receipt",
                round=self.round.digest,
                upload=envelope.upload,
                body=self.receipt(envelope),
            )
        ]

    def receipt(self, envelope):
        return mac(self.config.pins[self.config.index], envelope.upload, envelope.body)

    def judge(self, envelope):
        if envelope.round != self.round.digest or envelope.step != "upload":
            return "not of this round"
        content, mark = envelope.body[:-MAC], envelope.body[-MAC:]
        if mark != mac(b"", content) or not self.fits(content):
            return "not a message"
        return ""

    def keep(self, upload, body):
        self.uploads[upload] = body

    def fits(self, content):
        if self.round.operation == "post":
            return len(content) == self.round.message_size
        size = 16 + row_size(self.round.message_size)
        known = content[:16] == NOWHERE or slot_of(content[:16]) in self.round.slots
        return len(content) == size and known

    @property
    def accepted_count(self):
        return len(self.uploads)

    # --- the end --------------------------------------------------------------------------------

    def close(self):
        if self.accepted_count < self.round.min_batch:
            raise TransportError("too few senders")
        self.asked.append("close")
        return []

    def settle(self):
        self.asked.append("settle")
        return []

    def erase(self, positions):
        self.erased |= set(positions)

    def count(self, groups):
        groups = [sorted(group) for group in groups]
        named = [position for group in groups for position in group]
        if self.final is not None or "settle" not in self.asked or not self.round.counted:
            raise TransportError("not the time")
        if len({*named}) < len(named) or not {*named} <= {*range(len(self.round.slots))}:
            raise TransportError("no such groups")
        if self.groups not in (None, groups):
            raise TransportError("counted before")
        self.groups = groups
        return []

    @property
    def counts(self):
        if self.groups is None:
            return None
        alphas = [body[:16] for body in self.uploads.values() if body[:16] != NOWHERE]
        filled = {self.round.slots.index(slot_of(alpha)) for alpha in alphas}
        return tuple(len(filled & {*group}) for group in self.groups)

    def open(self):
        if self.final is None:
            contents = [body[:-MAC] for body in self.uploads.values()]
            post = self.round.operation == "post"
            self.final = self.posted(contents) if post else self.deposited(contents)
            self.uploads.clear()
            self.config.vault.destroy("relay")
        return []

    def resend(self):
        return []

    @property
    def result(self):
        return self.final

    def posted(self, contents):
        return sorted(contents)

    def deposited(self, contents):
        place = {slot: index for index, slot in enumerate(self.round.slots)}
        real = [content for content in contents if content[:16] != NOWHERE]
        results = {place[slot_of(content[:16])]: content[16:] for content in real}
        return [self.record(index, results.get(index)) for index in range(len(self.round.slots))]

    def record(self, at, row):
        if row is None or at in self.erased:
            return None
        return read_row(self.config.slot_keys[at].head, self.round.iteration, row)


@attrs.frozen(kw_only=True)
class Relay(EngineTransport):
    """Sends everything to everybody."""

    client_engine = RelayClient
    server_engine = RelayServer

    def identity(self, entropy):
        return self.shown(entropy.bytes(32))

    def shown(self, secret):
        # What is shown of an identity is its public key, which is not the secret here either.
        return Identity(secret, hashlib.sha256(secret).digest())

    def client(self, notice, pins, *, entropy, clock, invitation=b""):
        return self.client_engine(notice, pins, entropy)

    def server(self, round, config, *, entropy, clock, saved=None):
        return self.server_engine(round, config, entropy, saved)

    def guarantees(self, round):
        return guarantees(
            honest_senders_min=1,
            colluding_servers=0,
            server_behaviour="follows",
            donors="honest",
            eligibility="none",
            presence_visible_to="everybody",
            presence_visible_when="at once",
            presence_of_erased_visible=True,
            exclusion="possible",
            erasure_condition="nobody listened",
            post_quantum=False,
            not_covered=(),
        )


def broken(**members):
    """Return a relay whose server does something else."""
    return type("BrokenServer", (RelayServer,), members)


class Deaf(Relay):
    """Never tells anybody."""

    server_engine = broken(receive=lambda self, envelope: RelayServer.receive(self, envelope)[:0])


class Loses(Relay):
    server_engine = broken(
        posted=lambda self, contents: RelayServer.posted(self, contents)[1:],
        deposited=lambda self, contents: [*RelayServer.deposited(self, contents)[:-1], None],
    )


class Doubles(Relay):
    server_engine = broken(posted=lambda self, contents: sorted([*contents, min(contents)]))


class Invents(Relay):
    server_engine = broken(posted=lambda self, contents: sorted([*contents, b"x" * 24]))


class Moves(Relay):
    server_engine = broken(
        deposited=lambda self, contents: RelayServer.deposited(self, contents)[::-1]
    )


class Remembers(Relay):
    server_engine = broken(erase=lambda self, positions: None)


class Careless(Relay):
    """Does not erase what the round planned to erase."""

    def server(self, round, config, *, entropy, clock, saved=None):
        config = attrs.evolve(config, erasure=None)
        return super().server(round, config, entropy=entropy, clock=clock, saved=saved)


class OrderedServer(RelayServer):
    def __init__(self, *given):
        self.came = {}
        super().__init__(*given)

    def receive(self, envelope):
        self.came.setdefault(envelope.body[:-MAC], envelope.sender.index)
        return super().receive(envelope)

    def posted(self, contents):
        return sorted(contents, key=lambda content: (self.came.get(content, 0), content))


class InOrder(Relay):
    server_engine = OrderedServer


class Uncounted(Relay):
    server_engine = broken(refusals=property(lambda self: Counter(), lambda self, value: None))


class ClosesEarly(Relay):
    server_engine = broken(close=lambda self: [])


class Talkative(RelayClient):
    def _send(self, content):
        self.body = content + mac(b"", content)
        return self.resend()


class SendsTwice(Relay):
    client_engine = Talkative


class SendsAnywhere(Relay):
    client_engine = type(
        "Anywhere",
        (RelayClient,),
        {
            "deposit": lambda self, secret, record: (
                RelayClient.deposit(self, secret, record)
                if secret.slot in self.round.slots or self.round.operation == "post"
                else []
            )
        },
    )


class Silent(Relay):
    def guarantees(self, round):
        return attrs.evolve(super().guarantees(round), delivery=" ")


class Fragile(Relay):
    """Fails on what it does not know."""

    server_engine = broken(
        receive=lambda self, envelope: {"upload": RelayServer.receive}[envelope.step](
            self, envelope
        )
    )


class Forgetful(Relay):
    """Starts again without the last upload."""

    def server(self, round, config, *, entropy, clock, saved=None):
        server = super().server(round, config, entropy=entropy, clock=clock, saved=saved)
        if saved is not None and len(server.uploads) == 5:
            server.uploads.popitem()
        return server


class Gullible(Relay):
    """Believes what one server has signed."""

    client_engine = type(
        "GullibleClient",
        (RelayClient,),
        {
            "read": lambda self, notice, pins: RelayClient.read(
                self, notice[: len(notice) - MAC * (len(pins) - 1)], pins[:1]
            )
        },
    )


class Credulous(Relay):
    """Takes any receipt for one of its own."""

    client_engine = type(
        "CredulousClient",
        (RelayClient,),
        {
            "receive": lambda self, envelope: (
                self.confirmed.add(envelope.sender) or [] if len(envelope.body) == MAC else []
            )
        },
    )


class Varying(Relay):
    """Sends as many bytes as the message needs."""

    client_engine = type(
        "VaryingClient",
        (RelayClient,),
        {
            "resend": lambda self: [
                attrs.evolve(item, body=item.body + bytes(item.body[0] % 2))
                for item in RelayClient.resend(self)
            ]
        },
    )
    server_engine = broken(
        judge=lambda self, envelope: RelayServer.judge(self, trimmed(self.round, envelope)),
        keep=lambda self, upload, body: RelayServer.keep(self, upload, fitting(self.round, body)),
        receipt=lambda self, envelope: RelayServer.receipt(self, trimmed(self.round, envelope)),
    )


def fitting(round, body):
    post = round.operation == "post"
    size = round.message_size if post else 16 + row_size(round.message_size)
    return body[: size + MAC] if len(body) == size + MAC + 1 else body


def trimmed(round, envelope):
    return attrs.evolve(envelope, body=fitting(round, envelope.body))


class Shows(Relay):
    """Has all that it holds in its repr."""

    server_engine = broken(__repr__=lambda self: f"Server({self.uploads})")


class Plain(Relay):
    """Saves everything as it is."""

    server_engine = broken(
        hidden=lambda self, key, state: state, check=lambda self, found, expected: None
    )


class Unsure(Relay):
    """Believes a saved state that was changed."""

    server_engine = broken(check=lambda self, found, expected: None)


class Keeps(Relay):
    """Does not destroy its key."""

    server_engine = broken(
        open=lambda self: (
            (key := self.config.vault.fetch("relay")),
            RelayServer.open(self),
            self.config.vault.keep("relay", key),
        )[1]
    )


class Amnesiac(Relay):
    """Loses the result with a restart."""

    def server(self, round, config, *, entropy, clock, saved=None):
        server = super().server(round, config, entropy=entropy, clock=clock, saved=saved)
        if entropy.seed == "resumed":
            server.final = None
        return server


class Mute(Relay):
    """Says why it cannot count."""

    server_engine = broken(count=ServerEngine.count)

    def problem(self, round):
        return "a relay does not count" if round.counted else None


class Boasts(Relay):
    """Cannot count, and does not say so."""

    server_engine = broken(count=ServerEngine.count)


class Miscounts(Relay):
    server_engine = broken(
        counts=property(lambda self: self.groups and tuple(map(len, self.groups)))
    )


class CountsAgain(Relay):
    """Lets everybody subtract: other groups, as often as they are asked for."""

    def server(self, round, config, *, entropy, clock, saved=None):
        made = super().server(round, config, entropy=entropy, clock=clock, saved=saved)
        true = made.count

        def count(groups):
            made.groups = None
            return true(groups)

        made.count = count
        return made


class LosesGroups(Relay):
    """Forgets with a restart what was asked for."""

    def server(self, round, config, *, entropy, clock, saved=None):
        made = super().server(round, config, entropy=entropy, clock=clock, saved=saved)
        made.groups = None
        return made


class AnnouncingServer(RelayServer):
    """Announces a key to the others, which do nothing with it but look at it."""

    change = staticmethod(lambda keys: keys)

    def begin(self):
        message = json.dumps([key.hex() for key in self.change((b"four",))]).encode()
        own = self.config.index
        return super().begin() + [
            Envelope(
                sender=Party("server", own),
                receiver=server,
                step="key",
                round=self.round.digest,
                body=message + mac(self.config.pins[own], message),
            )
            for server in self.round.everyone
            if server.index != own
        ]

    def receive(self, envelope):
        if envelope.step != "key" or envelope.sender.role != "server":
            return super().receive(envelope)
        message, mark, sender = envelope.body[:-MAC], envelope.body[-MAC:], envelope.sender
        if mark == mac(self.config.pins[sender.index], message) and self.wrong(json.loads(message)):
            self.stop_reason = f"{sender} announced a wrong key"
        return []

    def wrong(self, keys):
        return [8] != [len(key) for key in keys]

    @property
    def notice(self):
        return None if self.stop_reason else super().notice


class Announces(Relay):
    """Judges what servers announce; zeros are as good as any key."""

    server_engine = AnnouncingServer

    def corrupt_announcement(self, change):
        def corrupt(server, config):
            server.change = change
            return server

        return corrupt


class SignsAnything(Announces):
    server_engine = type(
        "Unjudging", (AnnouncingServer,), {"wrong": lambda self, keys: len(keys) > 1}
    )


class NamesNobody(Announces):
    server_engine = type(
        "Vague",
        (AnnouncingServer,),
        {
            "receive": lambda self, envelope: (
                AnnouncingServer.receive(self, envelope),
                setattr(self, "stop_reason", self.stop_reason and "a key is wrong"),
            )[0]
        },
    )


class Stumbling(RelayClient):
    def post(self, message):
        if type(self).low:
            type(self).low = False
            raise ValueError("of low order")
        return super().post(message)


class FailsAtTheSender(Announces):
    """Signs a key of zeros, with which no sender can do anything."""

    def corrupt_announcement(self, change):
        self.client_engine.low = change((b"four",)) == (bytes(4),)
        return super().corrupt_announcement(change)

    client_engine = type("StumblingClient", (Stumbling,), {"low": False})


CASES = [
    (Relay, None),
    (Announces, None),
    (SignsAnything, "check_wrong_keys_are_blamed_before_anything_is_signed"),
    (NamesNobody, "check_wrong_keys_are_blamed_before_anything_is_signed"),
    (FailsAtTheSender, "check_wrong_keys_are_blamed_before_anything_is_signed"),
    (Mute, None),
    (Boasts, "check_counts_filled_positions"),
    (Miscounts, "check_counts_filled_positions"),
    (CountsAgain, "check_counts_filled_positions"),
    (LosesGroups, "check_counts_filled_positions"),
    (Deaf, "check_everybody_is_acknowledged"),
    (Loses, "check_acknowledged_messages_arrive"),
    (Doubles, "check_messages_arrive_once"),
    (Invents, "check_nothing_is_invented"),
    (Moves, "check_records_are_at_their_positions"),
    (Remembers, "check_erased_records_stay_unknown"),
    (Careless, "check_erased_records_stay_unknown"),
    (InOrder, "check_order_says_nothing_about_senders"),
    (Uncounted, "check_foreign_envelopes_are_counted"),
    (Forgetful, "check_restarted_servers_go_on"),
    (ClosesEarly, "check_small_rounds_do_not_close"),
    (SendsTwice, "check_client_refuses_what_it_cannot_send"),
    (SendsAnywhere, "check_client_refuses_what_it_cannot_send"),
    (Silent, "check_says_what_it_guarantees"),
    (Fragile, "check_copes_with_every_table"),
    (Gullible, "check_client_acts_on_what_all_servers_signed"),
    (Credulous, "check_client_believes_its_own_receipts_only"),
    (Varying, "check_senders_look_alike"),
    (Shows, "check_shows_no_secret"),
    (Plain, "check_saved_state_needs_its_key"),
    (Unsure, "check_saved_state_needs_its_key"),
    (Keeps, "check_key_dies_with_the_round"),
    (Amnesiac, "check_key_dies_with_the_round"),
]


@pytest.mark.parametrize(("cls", "check"), CASES, ids=[cls.__name__ for cls, _ in CASES])
def test_each_broken_transport_fails_exactly_the_check_that_it_breaks(judged, cls, check):
    result = judged(TransportConformance, cls).failed

    assert [check] * (check is not None) == list(result), result


def test_seeded_entropy_repeats_itself_and_says_that_it_protects_nobody():
    first, second, other = SeededEntropy(1), SeededEntropy(1), SeededEntropy(2)

    assert [first.bytes(8), first.bytes(3)] == [second.bytes(8), second.bytes(3)]
    assert SeededEntropy(1).bytes(8) != other.bytes(8)
    assert first.bytes(8) != first.bytes(8)
    assert is_simulated(first)


def test_every_check_of_transports_is_broken_by_some_toy():
    from anonloom_testing.declaration import DECLARATION_CHECKS
    from anonloom_testing.purity import PURITY_CHECKS

    own = {
        check.__name__
        for check in set(TransportConformance.checks) - {*PURITY_CHECKS, *DECLARATION_CHECKS}
    }

    assert set() == own - {check for _, check in CASES}
