"""The smallest transport that uses all of the library: every server gets the message."""

import hmac
from typing import ClassVar

import attrs
import pytest

from anonloom.errors import TransportError
from anonloom_testing.transport import SeededEntropy
from anonloom_transport.client import RoundClient
from anonloom_transport.codec import pack, unpack
from anonloom_transport.driver import Driver
from anonloom_transport.rounds import Erasure, Round
from anonloom_transport.slots import SlotSecret, read_row, row_size, write_row
from anonloom_transport.strategy import ServerStrategy
from anonloom_transport.transport import RoundTransport

SIZE = 8

#: Every step of a round of this transport, in its order.
STEPS = (
    "key",
    "sign notice",
    "held",
    "sign accepted",
    "objections",
    "sign admitted",
    "coin commit",
    "coin",
    "erased",
    "rows commit",
    "rows",
    "sign result",
)


#: Where decoys belong.
NOWHERE = b"\xff" * 4


@attrs.define(eq=False)
class PlainClient(RoundClient):
    def for_post(self, message):
        return [message] * self.round.servers

    def for_deposit(self, position, secret, record):
        row = write_row(secret, self.round.iteration, self.round.iterations, record)
        return [position.to_bytes(4, "big") + secret.alpha + row] * self.round.servers

    def for_decoy(self):
        return [NOWHERE + bytes(16 + row_size(self.round.message_size))] * self.round.servers


@attrs.define(eq=False)
class PlainServer(ServerStrategy):
    steps: ClassVar[frozenset[str]] = frozenset(("rows",))

    tossed: bytes | None = attrs.field(default=None, init=False, repr=False)

    @property
    def content_size(self):
        post = self.state.round.operation == "post"
        return (
            self.state.round.message_size if post else 20 + row_size(self.state.round.message_size)
        )

    def judge(self, upload, content):
        if self.state.round.operation == "post":
            return ""
        position = int.from_bytes(content[:4], "big")
        if NOWHERE == content[:4]:
            return ""
        if position >= len(self.state.round.slots):
            return "no such position"
        alpha = self.state.config.slot_keys[position].alpha
        return "" if hmac.compare_digest(alpha, content[4:20]) else "not the position's secret"

    def place(self):
        self.tossed = self.state.coins()
        return self.tossed is not None

    def reveal(self):
        self.state.channel.exchange("rows", self._rows, self.state.subject)
        return self.state.channel.has_sent("rows")

    def _rows(self):
        contents = [self.state.content(upload) for upload in self.state.admitted]
        if self.state.round.operation == "post":
            return pack(*sorted(contents))
        results = {int.from_bytes(content[:4], "big"): content[20:] for content in contents}
        everywhere = range(len(self.state.round.slots))
        return pack(
            *(
                b"" if index in self.state.erased else results.get(index, b"")
                for index in everywhere
            )
        )

    def conclude(self):
        shown = self.state.channel.exchange_result("rows", self.state.subject)
        if shown is None:
            return None
        if len(set(shown)) > 1:
            self.state.channel.stop("one of the servers shows other rows")
            return None
        rows = unpack(shown[0])
        if self.state.round.operation == "deposit":
            heads = [key.head for key in self.state.config.slot_keys]
            read = zip(heads, rows, strict=True)
            rows = [
                read_row(head, self.state.round.iteration, row) if row else None
                for head, row in read
            ]
        return rows


@attrs.frozen(kw_only=True)
class Plain(RoundTransport):
    name: ClassVar[str] = "plain"
    distribution: ClassVar[str] = "anonloom-transport"

    depth: int = 3

    def make_client(self, notice, entropy, invitation):
        return PlainClient(notice, entropy, invitation)

    def make_server(self, state):
        return PlainServer(state)

    def guarantees(self, round):
        raise AssertionError("nobody asks")


def message(number):
    return f"msg {number:04}".encode()


def post_round(servers=2, **more):
    described = {"id": "r", "message_size": SIZE, "min_batch": 2, "capacity": 20, **more}
    return Round(operation="post", servers=servers, **described)


def secrets(number=4):
    entropy = SeededEntropy("slots")
    drawn = (SlotSecret(entropy.bytes(16), entropy.bytes(16)) for _ in range(number))
    return sorted(drawn, key=lambda secret: secret.slot)


def deposit_round(servers=2, positions=4, erase=(), **more):
    erasure = Erasure(erase, b"s" * 32) if erase else None
    described = {"id": "r", "message_size": SIZE, "min_batch": 2, **more}
    return Round(
        operation="deposit",
        servers=servers,
        slots=[secret.slot for secret in secrets(positions)],
        erasure=erasure.commitment if erasure else b"",
        **described,
    )


def make_driver(round, *, erase=(), cls=Driver, transport=None, **more):
    slots = secrets(len(round.slots))
    return cls(
        transport or Plain(),
        round,
        slot_keys=tuple(secret.key(round.iterations) for secret in slots),
        erasure=Erasure(erase, b"s" * 32) if erase else None,
        **{"entropy": SeededEntropy(), **more},
    )


def uploaded(round, senders=4, **more):
    """Return a driver in which everybody has uploaded."""
    net = make_driver(round, **more)
    if round.operation == "post":
        net.post([message(number) for number in range(senders)])
    else:
        slots = secrets(len(round.slots))
        net.deposit([(slots[index], message(index)) for index in range(senders)])
    return net


def refusal(act):
    with pytest.raises(TransportError) as caught:
        act()
    return str(caught.value)
