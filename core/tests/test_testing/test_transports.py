"""The kit's checks of transports: an open relay passes, each broken one fails one check."""

import hashlib
import os
from collections import Counter

import attrs
import pytest

from anonloom.errors import TransportError
from anonloom.kinds.engines import (
    ClientEngine,
    Envelope,
    Party,
    ServerEngine,
    require_operation,
    require_size,
    slot_of,
)
from anonloom.kinds.transport import Guarantees, Transport
from anonloom.protocol.entropy import simulated
from anonloom.testing import TransportConformance
from anonloom.testing.entropy import SeededEntropy


def summed(content):
    return hashlib.sha256(content).digest() + content


def unsummed(body):
    """Return the content of a body, or None if it was corrupted."""
    return body[32:] if body[:32] == hashlib.sha256(body[32:]).digest() else None


class RelayClient(ClientEngine):
    def __init__(self, round, entropy):
        self.round, self.id = round, entropy.bytes(16)
        self.content, self.confirmed = None, set()

    def post(self, message):
        require_operation(self.round, "post")
        require_size(self.round, message)
        return self._send(message)

    def deposit(self, position, secret, record):
        require_operation(self.round, "deposit")
        require_size(self.round, record)
        return self._send(position.to_bytes(4, "big") + secret + record)

    def _send(self, content):
        if self.content not in (None, content):
            raise TransportError("another message was sent before")
        self.content = content
        return self.again()

    def again(self):
        return [
            Envelope(
                sender=Party("client", 0),
                receiver=server,
                step="upload",
                round=self.round.digest,
                upload=self.id,
                body=summed(self.content),
            )
            for server in self.round.everyone
            if server not in self.confirmed
        ]

    def take(self, envelope):
        if (envelope.upload, envelope.body) == (self.id, summed(b"got it")):
            self.confirmed.add(envelope.sender)
        return []

    @property
    def acknowledged(self):
        return self.confirmed == set(self.round.everyone)


class RelayServer(ServerEngine):
    stopped = ""

    def __init__(self, round, index):
        self.round, self.index, self.refused = round, index, Counter()
        self.uploads, self.closed, self.opened, self.erased = {}, False, False, set()

    def take(self, envelope):
        content = unsummed(envelope.body)
        if envelope.round != self.round.digest or envelope.step != "upload" or content is None:
            self.refused["not of this round"] += 1
            return []
        if not self.fits(content):
            self.refused["not a message"] += 1
            return []
        self.keep(envelope.upload, content)
        return [
            Envelope(
                sender=Party("server", self.index),
                receiver=envelope.sender,
                step="receipt",
                round=self.round.digest,
                upload=envelope.upload,
                body=summed(b"got it"),
            )
        ]

    def keep(self, upload, content):
        self.uploads[upload] = content

    def fits(self, content):
        if self.round.operation == "post":
            return len(content) == self.round.message_size
        if len(content) != 20 + self.round.message_size:
            return False
        return slot_of(content[4:20]) == self.round.slots[int.from_bytes(content[:4], "big")]

    @property
    def accepted(self):
        return len(self.uploads)

    def close(self):
        if self.accepted < self.round.min_batch:
            raise TransportError("too few senders")
        self.closed = True
        return []

    def erase(self, positions):
        self.erased |= set(positions)

    def open(self):
        self.opened = True
        return []

    @property
    def result(self):
        if self.round.operation == "post":
            return self.posted() if self.closed else None
        return self.deposited() if self.opened else None

    def posted(self):
        return sorted(self.uploads.values())

    def deposited(self):
        found = {int.from_bytes(c[:4], "big"): c[20:] for c in self.uploads.values()}
        return [None if at in self.erased else found.get(at) for at in range(len(self.round.slots))]


@attrs.frozen(kw_only=True)
class Relay(Transport):
    """Sends everything to everybody."""

    client_engine = RelayClient
    server_engine = RelayServer

    def client(self, round, *, entropy, clock):
        return self.client_engine(round, entropy)

    def server(self, round, index, *, entropy, clock):
        return self.server_engine(round, index)

    def guarantees(self, round):
        return Guarantees(
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
            delivery="all",
            lost_server="the round does not end",
            measured_or_argued="argued",
        )


def broken(**members):
    """Return a relay whose server does something else."""
    return type("BrokenServer", (RelayServer,), members)


class Deaf(Relay):
    """Never tells anybody."""

    server_engine = broken(take=lambda self, envelope: RelayServer.take(self, envelope)[:0])


class Loses(Relay):
    server_engine = broken(
        posted=lambda self: RelayServer.posted(self)[1:],
        deposited=lambda self: [*RelayServer.deposited(self)[:-1], None],
    )


class Doubles(Relay):
    server_engine = broken(
        posted=lambda self: sorted([*RelayServer.posted(self), RelayServer.posted(self)[0]])
    )


class Invents(Relay):
    server_engine = broken(posted=lambda self: [*RelayServer.posted(self), b"x" * 24])


class Moves(Relay):
    server_engine = broken(deposited=lambda self: RelayServer.deposited(self)[::-1])


class Remembers(Relay):
    server_engine = broken(erase=lambda self, positions: None)


class OrderedServer(RelayServer):
    def take(self, envelope):
        self.senders = {envelope.upload: envelope.sender.index, **getattr(self, "senders", {})}
        return super().take(envelope)

    def posted(self):
        return [self.uploads[upload] for upload in sorted(self.uploads, key=self.senders.get)]


class InOrder(Relay):
    server_engine = OrderedServer


class Uncounted(Relay):
    server_engine = broken(refused=property(lambda self: Counter(), lambda self, value: None))


class ClosesEarly(Relay):
    server_engine = broken(close=lambda self: setattr(self, "closed", True) or [])


class Talkative(RelayClient):
    def _send(self, content):
        self.content = content
        return self.again()


class SendsTwice(Relay):
    client_engine = Talkative


class Silent(Relay):
    def guarantees(self, round):
        return attrs.evolve(super().guarantees(round), delivery=" ")


class Fragile(Relay):
    """Fails on what it does not know."""

    server_engine = broken(
        take=lambda self, envelope: {"upload": RelayServer.take}[envelope.step](self, envelope)
    )


class Varies(Relay):
    server_engine = broken(
        refused=property(lambda self: Counter({os.urandom(4).hex(): 1}), lambda self, value: None)
    )


CASES = [
    (Relay, None),
    (Deaf, "check_everybody_is_acknowledged"),
    (Loses, "check_acknowledged_messages_arrive"),
    (Doubles, "check_messages_arrive_once"),
    (Invents, "check_nothing_is_invented"),
    (Moves, "check_records_are_at_their_positions"),
    (Remembers, "check_erased_records_stay_unknown"),
    (InOrder, "check_order_says_nothing_about_senders"),
    (Uncounted, "check_foreign_envelopes_are_counted"),
    (ClosesEarly, "check_small_rounds_do_not_close"),
    (SendsTwice, "check_client_refuses_what_it_cannot_send"),
    (Silent, "check_says_what_it_guarantees"),
    (Fragile, "check_copes_with_every_table"),
    (Varies, "check_same_seed_same_result"),
]


@pytest.mark.parametrize(("cls", "check"), CASES, ids=[cls.__name__ for cls, _ in CASES])
def test_each_broken_transport_fails_exactly_the_check_that_it_breaks(judged, cls, check):
    found = judged(TransportConformance, cls).failed

    assert [check] * (check is not None) == list(found), found


def test_seeded_entropy_repeats_itself_and_says_that_it_protects_nobody():
    first, second, other = SeededEntropy(1), SeededEntropy(1), SeededEntropy(2)

    assert [first.bytes(8), first.bytes(3)] == [second.bytes(8), second.bytes(3)]
    assert SeededEntropy(1).bytes(8) != other.bytes(8)
    assert first.bytes(8) != first.bytes(8)
    assert simulated(first)


def test_every_check_of_transports_is_broken_by_some_toy():
    from anonloom.testing.conduct import CONDUCT
    from anonloom.testing.declaring import DECLARED

    own = {check.__name__ for check in set(TransportConformance.checks) - {*CONDUCT, *DECLARED}}

    assert set() == own - {check for _, check in CASES}
