"""The servers of a study in one process, and the network between them."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import attrs

from anonloom.errors import TransportError
from anonloom_anonify.aggregator import Aggregator
from anonloom_anonify.study import Study
from anonloom_anonify.work import Work
from anonloom_transport import (
    EngineTransport,
    Entropy,
    Envelope,
    Fault,
    Identity,
    MemoryVault,
    Meter,
    Network,
    Round,
    ServerConfig,
    Trace,
)

#: Makes a server that deviates out of one that does not; see `tests/donation_adversaries.py`.
Corruption = Callable[[Aggregator], Aggregator]

#: Called after a step with its name.
After = Callable[[Any, str], None]

_NO_AGREEMENT = "the servers have not agreed on what comes next"


def _nothing(servers: "StudyServers", step: str) -> None:
    """Let everything take its course."""


@attrs.define(eq=False, kw_only=True)
class StudyServers:
    """The servers of a study, and what they send to each other between its rounds.

    Parameters
    ----------
    works
        What each server computes with.
    corrupted
        Servers that deviate between the rounds, by their number.
    traced
        Whether to keep all envelopes.
    faults
        What the network between the servers does to envelopes.
    after
        Called after every step with its name: the place to stop, restart or corrupt somebody.
    """

    transport: EngineTransport
    study: Study
    works: Sequence[Work] = attrs.field(repr=False)
    entropy: Entropy = attrs.field(repr=False)
    corrupted: Mapping[int, Corruption] = attrs.field(factory=dict, repr=False)
    traced: bool = False
    faults: Sequence[Fault] = attrs.field(default=(), repr=False)
    after: After = attrs.field(default=_nothing, repr=False)
    network: Network[Aggregator] = attrs.field(init=False, repr=False)
    identities: tuple[Identity, ...] = attrs.field(init=False, repr=False)
    _configs: list[ServerConfig] = attrs.field(init=False, repr=False)
    _join_secret: bytes = attrs.field(default=b"", init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        everyone = range(self.study.servers)
        self.identities = tuple(self.transport.identity(self.entropy) for _ in everyone)
        self._configs = [
            ServerConfig(
                index=index, identity=self.identities[index], pins=self.pins, vault=MemoryVault()
            )
            for index in everyone
        ]
        self.network = Network(
            servers=[self._server(index) for index in everyone],
            faults=self.faults,
            trace=Trace() if self.traced else None,
        )

    @property
    def servers(self) -> list[Aggregator]:
        """The servers, each at its number."""
        return self.network.servers

    @property
    def meter(self) -> Meter:
        """What servers compute and send between the rounds."""
        return self.network.meter

    @property
    def envelopes(self) -> list[Envelope]:
        """All that servers sent to each other between the rounds, where that was kept."""
        trace = self.network.trace
        return [] if trace is None else [sighting.envelope for sighting in trace.network]

    @property
    def pins(self) -> tuple[bytes, ...]:
        """The servers' public keys."""
        return tuple(identity.public for identity in self.identities)

    def begin(self) -> None:
        """Let all servers begin the study."""
        self.meter.phase = "council"
        self.tell(lambda server: server.begin(), "begin")

    def restart(self, index: int) -> None:
        """Stop a server and start it again from what it had saved.

        Raises
        ------
        TransportError
            When what it had saved cannot be read any more.
        """
        saved = self.servers[index].save()
        self.servers[index] = self._server(index)
        self.network.send(self.study.everyone[index], self.servers[index].resume(saved))

    def tell(self, act: Callable[[Aggregator], list[Envelope]], step: str) -> None:
        """Let all servers do something, and carry what they send because of it."""
        for index, server in enumerate(self.servers):
            self.network.act(self.study.everyone[index], partial(act, server))
        self._deliver()
        self.after(self, step)
        while self.network.on_the_way:  # what a restart has sent again
            self._deliver()
            self.after(self, step)

    def _deliver(self) -> None:
        while self.network.on_the_way:
            self.deliver_one()
        # Truth, to tell whose records are published: servers forget it at the end.
        for server in self.servers:
            if server.agreement.secret is not None:
                self._join_secret = server.agreement.derive("join")

    def deliver_one(self) -> None:
        """Carry the envelope that arrives next."""
        self.network.deliver_one()

    def _server(self, index: int) -> Aggregator:
        server = Aggregator(self.study, self._configs[index], self.works[index], self.entropy)
        corrupt = self.corrupted.get(index)
        return corrupt(server) if corrupt else server

    def now(self) -> Round | None:
        """Return the round that all servers want to run; None at the end of the study."""
        self._go_on()
        rounds = {server.round for server in self.servers}
        round = rounds.pop()
        if rounds or (round is None and not all(server.over for server in self.servers)):
            raise self._disagreement()
        return round

    def _disagreement(self) -> TransportError:
        """Return what is wrong when servers wait for each other."""
        result = waits(
            [[] if server.over else server.agreement.missing_messages for server in self.servers]
        )
        return TransportError(f"{_NO_AGREEMENT}: {'; '.join(result)}" if result else _NO_AGREEMENT)

    def _go_on(self) -> None:
        stopped = next((server.stop_reason for server in self.servers if server.stop_reason), "")
        if stopped:
            raise TransportError(f"the study has stopped: {stopped}")

    def first(self, what: str) -> bytes:
        """Return what the first server shows, which all have signed."""
        self._go_on()
        shown: bytes | None = getattr(self.servers[0], what)
        if shown is None:
            raise self._disagreement()
        return shown


def waits(waiting: Sequence[Sequence[tuple[int, str]]]) -> list[str]:
    """Say for which words each server waits."""
    return [
        f"server {index} waits for the word '{step}' of server {other}"
        for index, words in enumerate(waiting)
        for other, step in words
    ]
