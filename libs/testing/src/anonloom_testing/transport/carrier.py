"""Carrier: a transport without any cryptography, for the tests of what is built on transports.

It is quick, it hides nothing, and it can be told to lose, spoil and withhold. A package that is
tried alone needs no other transport. It is registered only by who asks for it:
``registry.register(carrier, ...)``.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

import attrs

from anonloom import param
from anonloom.api import Method, hookimpl
from anonloom.errors import TransportError
from anonloom.kinds import Guarantees
from anonloom_testing.sample_guarantees import guarantees
from anonloom_transport import (
    SECRET_BYTES,
    ClientEngine,
    Clock,
    EngineTransport,
    Entropy,
    Envelope,
    Estimate,
    Identity,
    Party,
    Round,
    ServerConfig,
    ServerEngine,
    SlotSecret,
    new_identity,
    read_row,
    write_row,
)

ANONLOOM_API = 2

#: What a deposit promises.
GUARANTEES = guarantees(
    honest_senders_min=1,
    colluding_servers=0,
    server_behaviour="attributed",
    donors="honest",
    presence_of_erased_visible=True,
    delivery="as told",
    not_covered=("anonymity",),
)


@attrs.define(eq=False)
class Sender(ClientEngine):
    """Tells every server everything, in the clear."""

    round: Round
    _heard: int = attrs.field(default=0, init=False)

    def _to_all(self, body: bytes) -> list[Envelope]:
        return [
            Envelope(
                sender=Party("client", 0),
                receiver=server,
                step="upload",
                round=self.round.digest,
                body=body,
            )
            for server in self.round.everyone
        ]

    def post(self, message: bytes) -> list[Envelope]:
        """Send a message."""
        return self._to_all(message)

    def deposit(self, secret: SlotSecret, record: bytes) -> list[Envelope]:
        """Send a record with what admits to its position."""
        row = write_row(secret, self.round.iteration, self.round.iterations, record)
        return self._to_all(secret.alpha + row)

    def decoy(self) -> list[Envelope]:
        """Send nothing at all."""
        return self._to_all(b"")

    def receive(self, envelope: Envelope) -> list[Envelope]:
        """Count receipts."""
        self._heard += 1
        return []

    def resend(self) -> list[Envelope]:
        """Send nothing again: nothing is lost on the way."""
        return []

    @property
    def is_acknowledged(self) -> bool:
        """Whether every server has confirmed."""
        return self._heard == self.round.servers


@attrs.define(eq=False)
class Hearer(ServerEngine):
    """Keeps what it is sent, and shows it."""

    carrier: "Carrier"
    round: Round
    config: ServerConfig
    heard: list[bytes] = attrs.field(factory=list, init=False, repr=False)
    refusals: Counter[str] = attrs.field(factory=Counter, init=False)
    _erased: set[int] = attrs.field(factory=set, init=False)
    _result: list[bytes | None] | None = attrs.field(default=None, init=False, repr=False)
    _stop_reason: str = attrs.field(default="", init=False)
    _counts: tuple[int, ...] | None = attrs.field(default=None, init=False)

    def begin(self) -> list[Envelope]:
        """Say nothing: there are no keys."""
        return []

    @property
    def notice(self) -> bytes:
        """The plan, which nobody signs."""
        return self.round.encode()

    def receive(self, envelope: Envelope) -> list[Envelope]:
        """Keep what a client says, and confirm it."""
        self.heard.append(envelope.body)
        if self.carrier.grumbles:
            self.refusals["said it too loudly"] += 1
        return [
            attrs.evolve(
                envelope, sender=envelope.receiver, receiver=envelope.sender, step="receipt"
            )
        ]

    @property
    def accepted_count(self) -> int:
        """Number of uploads."""
        return len(self.heard)

    def close(self) -> list[Envelope]:
        """Refuse to close with too few, and to go on when somebody is missing alone."""
        if self.accepted_count < self.round.min_batch:
            raise TransportError(
                f"{self.accepted_count} were heard, and it takes {self.round.min_batch}"
            )
        missing = self.round.cohort - self.accepted_count
        if 0 < missing < self.round.min_leave:
            self._stop_reason = f"{missing} of {self.round.cohort} are missing"
        return []

    def settle(self) -> list[Envelope]:
        """Do nothing: everything lies open."""
        return []

    def count(self, groups: Sequence[Sequence[int]]) -> list[Envelope]:
        """Count filled positions."""
        filled = {rank for rank, record in enumerate(self._records()) if record is not None}
        self._counts = tuple(len(filled.intersection(group)) for group in groups)
        return []

    @property
    def counts(self) -> tuple[int, ...] | None:
        """Number of filled positions of each group."""
        return self._counts

    def erase(self, positions: Iterable[int]) -> None:
        """Leave further positions out."""
        self._erased.update(positions)

    def open(self) -> list[Envelope]:
        """Show everything that was neither erased nor lost."""
        if self.round.operation == "post":
            self._result = [
                body
                for index, body in enumerate(sorted(self.heard), 1)
                if not self.carrier.forgets(self.round, index)
            ]
            return []
        self._result = self._records()
        if self.config.erasure is not None:
            assert self.round.erasure == self.config.erasure.commitment
            self._erased |= self.config.erasure.positions
        for index in self._erased:
            self._result[index] = None
        if self.carrier.withholds:
            self._result[0] = None
        if self.carrier.spoils:
            self._result[-1] = b"\xff" * self.round.message_size
        return []

    def _records(self) -> list[bytes | None]:
        place = {key.alpha: index for index, key in enumerate(self.config.slot_keys)}
        records: list[bytes | None] = [None] * len(place)
        for body in filter(None, self.heard):
            index = place[body[:SECRET_BYTES]]
            head = self.config.slot_keys[index].head
            records[index] = read_row(head, self.round.iteration, body[SECRET_BYTES:])
        return records

    @property
    def result(self) -> Sequence[bytes | None] | None:
        """What was shown."""
        return self._result

    @property
    def stop_reason(self) -> str:
        """Why the round cannot end."""
        return self._stop_reason

    def resend(self) -> list[Envelope]:
        """Say nothing again."""
        return []

    def save(self) -> bytes:
        """Save nothing: such a server cannot be started again."""
        return b""


@attrs.frozen(kw_only=True)
class Carrier(EngineTransport):
    """Carries what it is given, in the clear."""

    loses: int = param(help="Of what is posted, lose every so many.", default=0)
    withholds: bool = param(help="Withhold the first record.", default=False)
    spoils: bool = param(help="Put garbage in the place of the last record.", default=False)
    grumbles: bool = param(help="Count a refusal for everything.", default=False)
    counts: bool = param(help="Whether filled positions can be counted.", default=True)

    def forgets(self, round: Round, at: int) -> bool:
        """Whether a post loses the message that comes at this place, counted from 1."""
        return bool(self.loses) and at % self.loses == 0

    def identity(self, entropy: Entropy) -> Identity:
        """Return a key with which servers can sign outside the rounds."""
        return new_identity(entropy)

    def client(
        self,
        notice: bytes,
        pins: Sequence[bytes],
        *,
        entropy: Entropy,
        clock: Clock,
        invitation: bytes = b"",
    ) -> Sender:
        """Return one sender."""
        return Sender(Round.decode(notice))

    def server(
        self,
        round: Round,
        config: ServerConfig,
        *,
        entropy: Entropy,
        clock: Clock,
        saved: bytes | None = None,
    ) -> Hearer:
        """Return one server."""
        return Hearer(self, round, config)

    def guarantees(self, round: Round) -> Guarantees:
        """Promise other things of a post than of a deposit."""
        if round.operation == "deposit":
            return GUARANTEES
        return attrs.evolve(
            GUARANTEES,
            honest_senders_min=round.min_batch,
            server_behaviour="follows",
            presence_of_erased_visible=False,
            delivery="most",
            erasure_condition="not said of a post",
            not_covered=("losses",),
        )

    def problem(self, round: Round) -> str | None:
        """Refuse more than three servers."""
        if round.counted and not self.counts:
            return "the carrier cannot count"
        return "the carrier has three horses" if round.servers > 3 else None


@hookimpl
def anonloom_register_transports() -> list[Method]:
    """Name the transport."""
    return [
        Method(
            name="carrier",
            target="anonloom_testing.transport.carrier:Carrier",
            summary="Carries in the clear; for tests.",
        )
    ]


@attrs.frozen(kw_only=True)
class PricedCarrier(Carrier):
    """A carrier that says beforehand what it costs, in round figures.

    A byte and a second of a server for every sender and byte of a message.
    """

    def estimate(self, round: Round) -> Estimate:
        """Return what the round costs."""
        asked = round.capacity * round.message_size
        return Estimate(
            upload_bytes=asked,
            download_bytes=len(round.slots),
            server_bytes=round.servers,
            server_cpu=asked,
            sender_cpu=1,
            server_memory=asked,
        )
