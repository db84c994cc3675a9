"""Driver: n servers, any number of clients and a network, in one process."""

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

import attrs

from anonloom import short_repr
from anonloom.errors import TransportError
from anonloom.kinds import Guarantees
from anonloom_transport.engine_transport import EngineTransport
from anonloom_transport.engines import ClientEngine, Entropy, Envelope, ServerEngine
from anonloom_transport.entropy import SystemEntropy, is_simulated
from anonloom_transport.faults import Fault
from anonloom_transport.meter import Meter
from anonloom_transport.network import Network
from anonloom_transport.progress import ProgressCallback, ignore_progress
from anonloom_transport.rounds import Erasure, Party, Round
from anonloom_transport.server_config import Identity, ServerConfig
from anonloom_transport.slots import SlotKey, SlotSecret
from anonloom_transport.trace import Link, Trace
from anonloom_transport.vault import MemoryVault

#: Makes an engine that deviates out of one that does not; `anonloom_testing.transport` has some.
Corruption = Callable[[ServerEngine, ServerConfig], ServerEngine]


#: Envelopes of uploads that are delivered between two reports.
_REPORTED = 1000


@short_repr
@attrs.define(eq=False)
class Driver:
    """Carries the envelopes of one round.

    Parameters
    ----------
    transport, round
        What is driven.
    identities
        The servers' long-term keys; new ones if they are not given.
    slot_keys, erasure
        Of a deposit, what the servers know of the positions and of what will be erased.
    invited
        Who may send, where only some of those who have an invitation may; see `ServerConfig`.
    entropy
        Where ids, keys and coins come from; the system's randomness if it is not given.
    faults
        What the network does, in a row; can be changed between steps.
    corrupted
        Servers that deviate from the protocol, by their number.
    traced
        Whether to keep a trace; a round of a million senders may not want one.
    on_progress
        Told what is done, and how much of how much of it.
    """

    transport: EngineTransport
    round: Round
    identities: tuple[Identity, ...] = attrs.field(default=(), kw_only=True, repr=False)
    slot_keys: tuple[SlotKey, ...] = attrs.field(default=(), kw_only=True, repr=False)
    erasure: Erasure | None = attrs.field(default=None, kw_only=True, repr=False)
    invited: frozenset[bytes] | None = attrs.field(default=None, kw_only=True, repr=False)
    entropy: Entropy = attrs.field(factory=SystemEntropy, kw_only=True)
    _faults: Iterable[Fault] = attrs.field(default=(), kw_only=True, repr=False)
    corrupted: Mapping[int, Corruption] = attrs.field(factory=dict, kw_only=True)
    traced: bool = attrs.field(default=True, kw_only=True)
    on_progress: ProgressCallback = attrs.field(default=ignore_progress, kw_only=True, repr=False)
    network: Network[ServerEngine] = attrs.field(init=False)
    trace: Trace = attrs.field(factory=Trace, init=False)
    configs: list[ServerConfig] = attrs.field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        """Make the servers and let them begin.

        Raises
        ------
        TransportError
            When the transport cannot carry such a round.
        """
        problem = self.transport.problem(self.round)
        if problem is not None:
            raise TransportError(problem)
        everyone = range(self.round.servers)
        if not self.identities:
            self.identities = tuple(self.transport.identity(self.entropy) for _ in everyone)
        self.configs = [
            ServerConfig(
                index=index,
                identity=self.identities[index],
                pins=self.pins,
                vault=MemoryVault(),
                slot_keys=self.slot_keys,
                erasure=self.erasure,
                invited=self.invited,
            )
            for index in everyone
        ]
        self.network = Network(faults=self._faults, trace=self.trace if self.traced else None)
        self.network.servers.extend(self._server(index) for index in everyone)
        self._all_servers("begin", lambda server: server.begin())

    @property
    def servers(self) -> list[ServerEngine]:
        """The servers' engines."""
        return self.network.servers

    @property
    def clients(self) -> list[ClientEngine]:
        """The clients' engines, in the order in which they came."""
        return self.network.clients

    @property
    def meter(self) -> Meter:
        """What the round has cost so far."""
        return self.network.meter

    @property
    def pins(self) -> tuple[bytes, ...]:
        """The servers' public keys."""
        return tuple(identity.public for identity in self.identities)

    @property
    def is_simulated(self) -> bool:
        """Whether keys and coins came from a seeded source."""
        return is_simulated(self.entropy)

    @property
    def guarantees(self) -> Guarantees:
        """What the round promises."""
        return self.transport.guarantees(self.round)

    # --- what clients do ------------------------------------------------------------------------

    def client(self, asked: int = 0, invitation: bytes = b"") -> ClientEngine:
        """Return a new client, which has asked one of the servers for the round's description.

        Raises
        ------
        TransportError
            When the server has none, or none that all servers have signed.
        """
        notice = self.servers[asked].notice
        if notice is None:
            raise TransportError(self.servers[asked].stop_reason or "the round has not begun")
        client = self.transport.client(
            notice, self.pins, entropy=self.entropy, clock=self.network.clock, invitation=invitation
        )
        self.clients.append(client)
        return client

    def post(
        self, messages: Iterable[bytes], invitations: Sequence[bytes] = ()
    ) -> list[ClientEngine]:
        """Let one new client send each message, and deliver."""
        messages = list(messages)
        first, new = len(self.clients), self._clients(len(messages), invitations)
        self.trace.sent |= dict(enumerate(messages, first))
        self._upload(first, self.transport.post_all(new, messages))
        return new

    def deposit(
        self,
        records: Iterable[tuple[SlotSecret, bytes]],
        invitations: Sequence[bytes] = (),
    ) -> list[ClientEngine]:
        """Let one new client send each record to the position of its secret, and deliver."""
        records = list(records)
        first, new = len(self.clients), self._clients(len(records), invitations)
        place = {slot: position for position, slot in enumerate(self.round.slots)}
        for index, (secret, record) in enumerate(records, first):
            self.trace.sent[index] = record
            if secret.slot in place:
                self.trace.positions[index] = place[secret.slot]
        self._upload(first, self.transport.deposit_all(new, records))
        return new

    def spoil(self, senders: int, invitations: Sequence[bytes] = ()) -> list[ClientEngine]:
        """Let new clients do the worst to a `post` that passes all checks, and deliver."""
        first, new = len(self.clients), self._clients(senders, invitations)
        self._upload(first, self.transport.spoil_all(new, self.round, self.entropy))
        return new

    def decoy(self, senders: int, invitations: Sequence[bytes] = ()) -> list[ClientEngine]:
        """Let new clients send to a `deposit` what leaves nothing, and deliver."""
        first, new = len(self.clients), self._clients(senders, invitations)
        self._upload(first, (client.decoy() for client in new))
        return new

    def absent(self, senders: int, invitations: Sequence[bytes] = ()) -> list[ClientEngine]:
        """Let new clients stay away, who belong to the cohort; the network sees that they do."""
        first, new = len(self.clients), self._clients(senders, invitations)
        self.trace.absent |= set(range(first, first + senders))
        return new

    def prepare_decoy(self, invitation: bytes = b"") -> list[Envelope]:
        """Return the decoy of somebody who may be missing later; servers keep it until then."""
        self.meter.phase = "upload"
        with self.meter.work(Party("client", 0)):
            client = self.client(invitation=invitation)
            self.clients.pop()
            return client.decoy()

    def stand_in(self, index: int, envelopes: Iterable[Envelope]) -> None:
        """Let every server take the decoy that it kept of a client who stays away."""
        for envelope in envelopes:
            server = envelope.receiver
            known = attrs.evolve(envelope, sender=Party("client", index))
            with self.meter.work(server):
                self.servers[server.index].receive(known)

    def retry(self) -> int:
        """Let everybody send again what was not confirmed; return how many clients still lack one.

        Servers repeat to each other what may have been lost.
        """
        self.network.resend()
        self.deliver()
        return sum(not client.is_acknowledged for client in self.clients)

    def inject(self, envelope: Envelope) -> None:
        """Put an envelope of somebody else's making into the network, and deliver."""
        self.network.send(envelope.sender, [envelope])
        self.deliver()

    def _clients(self, number: int, invitations: Sequence[bytes]) -> list[ClientEngine]:
        self.meter.phase = "upload"
        codes = [*invitations, *itertools.repeat(b"", number - len(invitations))]
        with self.meter.work(Party("client", 0)):
            return [self.client(invitation=code) for code in codes]

    def _upload(self, first: int, sending: Iterator[list[Envelope]]) -> None:
        for index in itertools.count(first):
            party = Party("client", index)
            with self.meter.work(party):
                envelopes = next(sending, None)
            if envelopes is None:
                break
            self.network.send(party, envelopes)
            if index % _REPORTED == 0:
                self.on_progress("upload", index, len(self.clients))
        self._deliver_uploads()

    def _deliver_uploads(self) -> None:
        """Deliver, and tell how far that is; every envelope is answered with a receipt."""
        waiting = self.network.on_the_way
        for delivered in itertools.count():
            if not self.network.on_the_way:
                break
            if delivered % _REPORTED == 0:
                self.on_progress("receive", min(delivered, 2 * waiting), 2 * waiting)
            self.deliver_one()

    # --- what servers do ------------------------------------------------------------------------

    def close(self) -> None:
        """Close the round on every server, and deliver; raises as `ServerEngine.close` does."""
        self._all_servers("close", lambda server: server.close())

    def settle(self) -> None:
        """Settle on every server, and deliver."""
        self._all_servers("settle", lambda server: server.settle())

    def count(self, groups: Sequence[Sequence[int]]) -> tuple[int, ...]:
        """Return how many positions of each group are filled; raises as `ServerEngine.count` does.

        So it does when envelopes were lost: asked again, they are sent again.
        """
        self._all_servers("count", lambda server: server.count(groups))
        self._go_on()
        first, *others = (server.counts for server in self.servers)
        if first is None or None in others:
            raise TransportError("the servers have not counted yet")
        if any(results != first for results in others):
            raise TransportError("the servers do not agree on how many positions are filled")
        return first

    def erase(self, positions: Iterable[int]) -> None:
        """Erase the same further positions on every server."""
        positions = list(positions)
        for server in self.servers:
            server.erase(positions)

    def open(self) -> None:
        """Open on every server, and deliver."""
        self._all_servers("open", lambda server: server.open())

    def abandon(self, reason: str) -> None:
        """Give the round up on every server that has not ended it, and deliver."""
        self._all_servers("abandon", lambda server: server.abandon(reason))

    def finish(self) -> Sequence[bytes | None]:
        """Close, settle and open; return what became public. Raises as these do."""
        self.close()
        self._go_on()
        self.settle()
        self._go_on()
        self.open()
        return self.result()

    def result(self) -> Sequence[bytes | None]:
        """Return what became public.

        Raises
        ------
        TransportError
            When nothing did, or not the same on every server.
        """
        self._go_on()
        results = [server.result for server in self.servers]
        first = results[0]
        if first is None or any(result is None for result in results):
            raise TransportError("the round has not ended on every server")
        if any(result != first for result in results):
            raise TransportError("the servers do not agree on what became public")
        self.trace.published = tuple(first)
        return first

    def count_refusals(self) -> Counter[str]:
        """Count what all servers refused, by reason."""
        return sum((server.refusals for server in self.servers), Counter())

    def restart(self, index: int) -> None:
        """Stop a server and start it again from what it had saved.

        Raises
        ------
        TransportError
            When what it had saved cannot be read any more.
        """
        self.servers[index] = self._server(index, self.servers[index].save())

    def _go_on(self) -> None:
        stopped = next((server.stop_reason for server in self.servers if server.stop_reason), "")
        if stopped:
            raise TransportError(f"the round has stopped: {stopped}")

    def _server(self, index: int, saved: bytes | None = None) -> ServerEngine:
        config, party = self.configs[index], Party("server", index)
        server = self.transport.server(
            self.round, config, entropy=self.entropy, clock=self.network.clock, saved=saved
        )
        server.on_progress = lambda done, total: self.on_progress(self.meter.phase, done, total)
        if self.traced:
            links = self.trace.links.setdefault(party, [])
            server.on_link = lambda one, other: links.append(Link(one, other))
        corrupt = self.corrupted.get(index)
        return corrupt(server, config) if corrupt else server

    def _all_servers(self, phase: str, act: Callable[[ServerEngine], list[Envelope]]) -> None:
        self.meter.phase = phase
        for index, server in enumerate(self.servers):
            self.network.act(Party("server", index), partial(act, server))
            self.on_progress(phase, index + 1, len(self.servers))
        self.deliver()

    # --- the network ----------------------------------------------------------------------------

    def deliver(self) -> None:
        """Carry envelopes until none is on its way."""
        while self.network.on_the_way:
            self.deliver_one()

    def deliver_one(self) -> None:
        """Carry the envelope that arrives next."""
        self.network.deliver_one()
