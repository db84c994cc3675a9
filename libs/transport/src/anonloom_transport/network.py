"""Network: carries envelopes between engines inside one process, with faults, meter and trace."""

import heapq
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Generic, Protocol, TypeVar

import attrs

from anonloom import short_repr
from anonloom_transport.engines import ClientEngine, Envelope
from anonloom_transport.entropy import SteppedClock
from anonloom_transport.faults import Delivery, Fault
from anonloom_transport.meter import Meter
from anonloom_transport.rounds import Party
from anonloom_transport.trace import SeenEnvelope, Trace

#: How long an envelope travels.
_LATENCY = 1.0


class Server(Protocol):
    """What a network needs of a server: of a round's engine, or of one that runs many rounds."""

    def receive(self, envelope: Envelope, /) -> list[Envelope]:
        """Take what was sent; return what is to be sent."""

    def resend(self) -> list[Envelope]:
        """Return what others may have missed."""


AnyServer = TypeVar("AnyServer", bound=Server)


def _faults(faults: Iterable[Fault]) -> list[Fault]:
    return list(faults)


@short_repr
@attrs.define(eq=False)
class Network(Generic[AnyServer]):
    """Servers, clients, and what is on its way between them.

    Envelopes are delivered in the order in which they were sent, unless a fault delays them.

    Attributes
    ----------
    servers, clients
        The engines, each at its number; a server that is restarted is put in its place.
    faults
        What the network does to envelopes, in a row; can be changed between steps.
    trace
        Where to note who saw what; None where nobody asks.
    """

    servers: list[AnyServer] = attrs.field(factory=list, kw_only=True)
    clients: list[ClientEngine] = attrs.field(factory=list, kw_only=True)
    faults: list[Fault] = attrs.field(factory=list, converter=_faults, kw_only=True)
    trace: Trace | None = attrs.field(default=None, kw_only=True)
    clock: SteppedClock = attrs.field(factory=SteppedClock, kw_only=True)
    meter: Meter = attrs.field(factory=Meter, kw_only=True)
    _waiting: list[tuple[float, int, Envelope]] = attrs.field(factory=list, init=False, repr=False)
    _numbers: Iterator[int] = attrs.field(factory=itertools.count, init=False, repr=False)

    def act(self, party: Party, work: Callable[[], list[Envelope]]) -> None:
        """Let a party do something, count the time that it takes, and send what it returns."""
        with self.meter.work(party):
            envelopes = work()
        self.send(party, envelopes)

    def send(self, sender: Party, envelopes: Iterable[Envelope]) -> None:
        """Put envelopes on their way."""
        for envelope in envelopes:
            # The channel says who speaks, not the envelope.
            if envelope.sender != sender:
                envelope = attrs.evolve(envelope, sender=sender)
            self.meter.count_bytes(sender, envelope.receiver, envelope.size)
            self._note(sender, envelope)
            self._note(None, envelope)
            deliveries = [Delivery(self.clock.now() + _LATENCY, envelope)]
            for fault in self.faults:
                deliveries = [left for delivery in deliveries for left in fault(delivery)]
            for delivery in deliveries:
                # First sent, first delivered, at equal times.
                heapq.heappush(self._waiting, (delivery.at, next(self._numbers), delivery.envelope))

    @property
    def on_the_way(self) -> int:
        """Number of envelopes that have not arrived yet."""
        return len(self._waiting)

    @property
    def next_delivery(self) -> Delivery | None:
        """The envelope that arrives next, and when; None if none is on its way."""
        if not self._waiting:
            return None
        time, _, envelope = self._waiting[0]
        return Delivery(time, envelope)

    def deliver_one(self) -> None:
        """Carry the envelope that arrives next."""
        time, _, envelope = heapq.heappop(self._waiting)
        self.clock.move_to(time)
        receiver = envelope.receiver
        engines: Sequence[ClientEngine | AnyServer] = (
            self.servers if receiver.role == "server" else self.clients
        )
        if receiver.index >= len(engines):
            return  # nobody is there
        self._note(receiver, envelope)
        self.act(receiver, lambda: engines[receiver.index].receive(envelope))

    def deliver(self) -> None:
        """Carry envelopes until none is on its way."""
        while self._waiting:
            self.deliver_one()

    def resend(self) -> None:
        """Let everybody send again what may have been lost."""
        for index, client in enumerate(self.clients):
            self.send(Party("client", index), client.resend())
        for index, server in enumerate(self.servers):
            self.send(Party("server", index), server.resend())

    def _note(self, party: Party | None, envelope: Envelope) -> None:
        if self.trace is not None:
            self.trace.seen.append(SeenEnvelope(self.clock.now(), party, envelope))
