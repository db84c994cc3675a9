"""Driver: n servers, any number of clients and a network, in one process."""

import heapq
import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import attrs

from anonloom.errors import TransportError
from anonloom.kinds.engines import ClientEngine, Entropy, Envelope, Party, Round, ServerEngine
from anonloom.kinds.transport import Guarantees, Transport
from anonloom.protocol.entropy import SteppedClock, SystemEntropy, simulated
from anonloom.protocol.faults import Delivery, Fault

#: How long an envelope travels.
_LATENCY = 1.0


@attrs.frozen
class Seen:
    """One envelope as somebody saw it.

    Attributes
    ----------
    at
        When.
    by
        The party that sent or received it; None for the network, which sees every envelope that is
        sent, lost ones too.
    """

    at: float
    by: Party | None
    envelope: Envelope


@attrs.frozen
class Trace:
    """What each party and the network saw, in order."""

    seen: list[Seen] = attrs.field(factory=list, repr=False)

    def of(self, *parties: Party) -> list[Seen]:
        """Return what these parties saw together."""
        return [sight for sight in self.seen if sight.by in parties]

    @property
    def network(self) -> list[Seen]:
        """What an observer of all lines saw."""
        return [sight for sight in self.seen if sight.by is None]


@attrs.define(eq=False)
class Driver:
    """Carries the envelopes of one round.

    Parameters
    ----------
    transport, round
        What is driven.
    entropy
        Where ids, keys and coins come from; the system's randomness if it is not given.
    faults
        What the network does, in a row; can be changed between steps.
    traced
        Whether to keep a trace; a round of a million senders may not want one.
    """

    transport: Transport
    round: Round
    entropy: Entropy = attrs.field(factory=SystemEntropy, kw_only=True)
    faults: list[Fault] = attrs.field(factory=list, converter=list, kw_only=True)
    traced: bool = attrs.field(default=True, kw_only=True)
    clock: SteppedClock = attrs.field(factory=SteppedClock, init=False)
    trace: Trace = attrs.field(factory=Trace, init=False)
    servers: list[ServerEngine] = attrs.field(init=False)
    clients: list[ClientEngine] = attrs.field(factory=list, init=False)
    _waiting: list[tuple[float, int, Envelope]] = attrs.field(factory=list, init=False, repr=False)
    _sent: Iterator[int] = attrs.field(factory=itertools.count, init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        """Make the servers.

        Raises
        ------
        TransportError
            When the transport cannot carry such a round.
        """
        problem = self.transport.problem(self.round)
        if problem is not None:
            raise TransportError(problem)
        self.servers = [
            self.transport.server(self.round, index, entropy=self.entropy, clock=self.clock)
            for index in range(self.round.servers)
        ]

    @property
    def simulated(self) -> bool:
        """Whether keys and coins came from a seeded source."""
        return simulated(self.entropy)

    @property
    def guarantees(self) -> Guarantees:
        """What the round promises."""
        return self.transport.guarantees(self.round)

    # --- what clients do ------------------------------------------------------------------------

    def post(self, messages: Iterable[bytes]) -> list[ClientEngine]:
        """Let one new client send each message, and deliver."""
        new = []
        for message in messages:
            party, client = self._client()
            self._send(party, client.post(message))
            new.append(client)
        self.deliver()
        return new

    def deposit(self, records: Mapping[int, tuple[bytes, bytes]]) -> list[ClientEngine]:
        """Let one new client send each record, given as position -> (secret, record); deliver."""
        new = []
        for position, (secret, record) in records.items():
            party, client = self._client()
            self._send(party, client.deposit(position, secret, record))
            new.append(client)
        self.deliver()
        return new

    def retry(self) -> int:
        """Let clients without all confirmations send again; return how many still lack one."""
        for index, client in enumerate(self.clients):
            self._send(Party("client", index), client.again())
        self.deliver()
        return sum(not client.acknowledged for client in self.clients)

    def inject(self, envelope: Envelope) -> None:
        """Put an envelope of somebody else's making into the network, and deliver."""
        self._send(envelope.sender, [envelope])
        self.deliver()

    def _client(self) -> tuple[Party, ClientEngine]:
        client = self.transport.client(self.round, entropy=self.entropy, clock=self.clock)
        self.clients.append(client)
        return Party("client", len(self.clients) - 1), client

    # --- what servers do ------------------------------------------------------------------------

    def close(self) -> None:
        """Close the round on every server, and deliver; raises as `ServerEngine.close` does."""
        self._all_servers(lambda server: server.close())

    def erase(self, positions: Iterable[int]) -> None:
        """Erase the same positions on every server."""
        positions = list(positions)
        for server in self.servers:
            server.erase(positions)

    def open(self) -> None:
        """Open on every server, and deliver."""
        self._all_servers(lambda server: server.open())

    def result(self) -> Sequence[bytes | None]:
        """Return what became public.

        Raises
        ------
        TransportError
            When nothing did, or not the same on every server.
        """
        stopped = next((server.stopped for server in self.servers if server.stopped), "")
        if stopped:
            raise TransportError(f"the round has stopped: {stopped}")
        results = [server.result for server in self.servers]
        first = results[0]
        if first is None or any(result is None for result in results):
            raise TransportError("the round has not ended on every server")
        if any(result != first for result in results):
            raise TransportError("the servers do not agree on what became public")
        return first

    def refused(self) -> Counter[str]:
        """Count what all servers refused, by reason."""
        return sum((server.refused for server in self.servers), Counter())

    def _all_servers(self, act: Callable[[ServerEngine], list[Envelope]]) -> None:
        for index, server in enumerate(self.servers):
            self._send(Party("server", index), act(server))
        self.deliver()

    # --- the network ----------------------------------------------------------------------------

    def deliver(self) -> None:
        """Carry envelopes until none is on its way."""
        while self._waiting:
            at, _, envelope = heapq.heappop(self._waiting)
            self.clock.move_to(at)
            receiver = envelope.receiver
            engines: Sequence[ClientEngine | ServerEngine] = (
                self.servers if receiver.role == "server" else self.clients
            )
            if receiver.index >= len(engines):
                continue  # nobody is there
            self._note(receiver, envelope)
            self._send(receiver, engines[receiver.index].take(envelope))

    def _send(self, sender: Party, envelopes: Iterable[Envelope]) -> None:
        for envelope in envelopes:
            # The channel says who speaks, not the envelope.
            if envelope.sender != sender:
                envelope = attrs.evolve(envelope, sender=sender)
            self._note(sender, envelope)
            self._note(None, envelope)
            deliveries = [Delivery(self.clock.now() + _LATENCY, envelope)]
            for fault in self.faults:
                deliveries = [left for delivery in deliveries for left in fault(delivery)]
            for delivery in deliveries:
                # First sent, first delivered, at equal times.
                heapq.heappush(self._waiting, (delivery.at, next(self._sent), delivery.envelope))

    def _note(self, party: Party | None, envelope: Envelope) -> None:
        if self.traced:
            self.trace.seen.append(Seen(self.clock.now(), party, envelope))
