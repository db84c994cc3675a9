"""Hall: the servers of a study in one process, and the words that they say to each other."""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
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
    Identity,
    MemoryVault,
    Meter,
    Round,
    Seat,
)

#: Makes a server that deviates out of one that does not; see `anonloom_anonify.adversaries`.
Corruption = Callable[[Aggregator], Aggregator]

#: Called after a step with its name.
After = Callable[[Any, str], None]

_LOST = "the servers have not agreed on what comes next"


def _nothing(hall: "Hall", step: str) -> None:
    """Let everything take its course."""


@attrs.define(eq=False, kw_only=True)
class Hall:
    """Lets the servers of a study talk.

    Parameters
    ----------
    works
        What each server computes with.
    corrupted
        Servers that deviate between the rounds, by their number.
    traced
        Whether to keep all words.
    after
        Called after every step with its name: the place to stop, restart or corrupt somebody.

    Attributes
    ----------
    meter
        What servers compute and say between the rounds.
    """

    transport: EngineTransport
    study: Study
    works: Sequence[Work] = attrs.field(repr=False)
    entropy: Entropy = attrs.field(repr=False)
    corrupted: Mapping[int, Corruption] = attrs.field(factory=dict, repr=False)
    traced: bool = False
    after: After = attrs.field(default=_nothing, repr=False)
    meter: Meter = attrs.field(factory=Meter, init=False, repr=False)
    words: list[Envelope] = attrs.field(factory=list, init=False, repr=False)
    servers: list[Aggregator] = attrs.field(factory=list, init=False, repr=False)
    identities: tuple[Identity, ...] = attrs.field(init=False, repr=False)
    _seats: list[Seat] = attrs.field(init=False, repr=False)
    _waiting: deque[Envelope] = attrs.field(factory=deque, init=False, repr=False)
    _joining: bytes = attrs.field(default=b"", init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        everyone = range(self.study.servers)
        self.identities = tuple(self.transport.identity(self.entropy) for _ in everyone)
        self._seats = [
            Seat(index=index, identity=self.identities[index], pins=self.pins, vault=MemoryVault())
            for index in everyone
        ]
        self.servers = [self._server(index) for index in everyone]

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
        self._carry(index, self.servers[index].resume(saved))

    def tell(self, act: Callable[[Aggregator], list[Envelope]], step: str) -> None:
        """Let all servers do something, and carry what they say about it."""
        for index, server in enumerate(self.servers):
            with self.meter.work(self.study.everyone[index]):
                envelopes = act(server)
            self._carry(index, envelopes)
        self._deliver(step)

    def _carry(self, index: int, envelopes: Sequence[Envelope]) -> None:
        for envelope in envelopes:
            self.meter.sent(self.study.everyone[index], envelope.receiver, envelope.size)
        self._waiting.extend(envelopes)
        # Truth, to tell whose records are published: servers forget it at the end.
        if self.servers[index].council.secret is not None:
            self._joining = self.servers[index].council.derived("join")
        if self.traced:
            self.words.extend(envelopes)

    def _deliver(self, step: str) -> None:
        while self._waiting:
            self.deliver_one()
        self.after(self, step)
        while self._waiting:  # what a restart has sent again
            self._deliver(step)

    def deliver_one(self) -> None:
        """Carry the word of a server that arrives next."""
        envelope = self._waiting.popleft()
        with self.meter.work(envelope.receiver):
            answers = self.servers[envelope.receiver.index].take(envelope)
        self._carry(envelope.receiver.index, answers)

    def retry(self) -> None:
        """Let servers repeat to each other what may have been lost."""
        for index, server in enumerate(self.servers):
            self._carry(index, server.again())

    def _server(self, index: int) -> Aggregator:
        server = Aggregator(self.study, self._seats[index], self.works[index], self.entropy)
        corrupt = self.corrupted.get(index)
        return corrupt(server) if corrupt else server

    def now(self) -> Round | None:
        """Return the round that all servers want to run; None at the end of the study."""
        self._go_on()
        rounds = {server.round for server in self.servers}
        round = rounds.pop()
        if rounds or (round is None and not all(server.over for server in self.servers)):
            raise self._lost()
        return round

    def _lost(self) -> TransportError:
        """Return what is wrong when servers wait for each other."""
        result = waits([[] if server.over else server.council.waiting for server in self.servers])
        return TransportError(f"{_LOST}: {'; '.join(result)}" if result else _LOST)

    def _go_on(self) -> None:
        stopped = next((server.stopped for server in self.servers if server.stopped), "")
        if stopped:
            raise TransportError(f"the study has stopped: {stopped}")

    def first(self, what: str) -> bytes:
        """Return what the first server shows, which all have signed."""
        self._go_on()
        shown: bytes | None = getattr(self.servers[0], what)
        if shown is None:
            raise self._lost()
        return shown


def waits(waiting: Sequence[Sequence[tuple[int, str]]]) -> list[str]:
    """Say for which words each server waits."""
    return [
        f"server {index} waits for the word '{step}' of server {other}"
        for index, words in enumerate(waiting)
        for other, step in words
    ]
