"""A transport without any cryptography that can be told to lose, spoil and withhold."""

from collections import Counter

import attrs

from anonloom.api import Method, hookimpl
from anonloom.kinds.engines import ClientEngine, Envelope, ServerEngine
from anonloom.kinds.rounds import Party
from anonloom.kinds.slots import read_row, write_row
from anonloom.kinds.transport import Identity, Transport
from anonloom.params import param
from anonloom.testing.promised import guarantees

ANONLOOM_API = 1

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
    round: object
    heard: int = 0

    def _to_all(self, body):
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

    def post(self, message):
        return self._to_all(message)

    def deposit(self, secret, record):
        return self._to_all(secret.alpha + write_row(secret, 1, 1, record))

    def decoy(self):
        return self._to_all(b"")

    def take(self, envelope):
        self.heard += 1
        return []

    def again(self):
        return []

    @property
    def acknowledged(self):
        return self.heard == self.round.servers


@attrs.define(eq=False)
class Hearer(ServerEngine):
    carrier: object
    round: object
    seat: object
    heard: list = attrs.field(factory=list)
    refused: Counter = attrs.field(factory=Counter)
    result: list | None = None
    stopped: str = ""
    witness: object = None

    def begin(self):
        return []

    @property
    def notice(self):
        return self.round.encoded()

    def take(self, envelope):
        self.heard.append(envelope.body)
        if self.carrier.grumbles:
            self.refused["said it too loudly"] += 1
        return [
            attrs.evolve(
                envelope, sender=envelope.receiver, receiver=envelope.sender, step="receipt"
            )
        ]

    @property
    def accepted(self):
        return len(self.heard)

    def close(self):
        return []

    def settle(self):
        return []

    def erase(self, positions):
        raise AssertionError("what is erased was planned")

    def open(self):
        if self.round.operation == "post":
            self.result = [
                body
                for at, body in enumerate(sorted(self.heard), 1)
                if not self.carrier.loses or at % self.carrier.loses
            ]
        else:
            self.result = self._records()
        return []

    def _records(self):
        keys = {key.alpha: at for at, key in enumerate(self.seat.slot_keys)}
        records = [None] * len(keys)
        for body in filter(None, self.heard):
            at = keys[body[:16]]
            records[at] = read_row(self.seat.slot_keys[at].head, 1, body[16:])
        if self.seat.erasure:
            assert self.round.erasure == self.seat.erasure.commitment
            for at in self.seat.erasure.positions:
                records[at] = None
        if self.carrier.withholds:
            records[0] = None
        if self.carrier.spoils:
            records[-1] = b"\xff" * self.round.message_size
        return records

    def again(self):
        return []

    def save(self):
        return b""


@attrs.frozen(kw_only=True)
class Carrier(Transport):
    loses: int = param(help="Of the keys that are posted, lose every so many.", default=0)
    withholds: bool = param(help="Withhold the first record.", default=False)
    spoils: bool = param(help="Put garbage in the place of the last record.", default=False)
    grumbles: bool = param(help="Count a refusal for everything.", default=False)

    def identity(self, entropy):
        return Identity(b"", b"")

    def client(self, notice, pins, *, entropy, clock, invitation=b""):
        from anonloom.kinds.rounds import Round

        return Sender(Round.decoded(notice))

    def server(self, round, seat, *, entropy, clock, saved=None):
        return Hearer(self, round, seat)

    def guarantees(self, round):
        if round.operation == "post":
            return attrs.evolve(
                GUARANTEES,
                honest_senders_min=round.min_batch,
                server_behaviour="follows",
                presence_of_erased_visible=False,
                delivery="most",
                erasure_condition="not said of a post",
                not_covered=("losses",),
            )
        return GUARANTEES

    def problem(self, round):
        return "the carrier has three horses" if round.servers > 3 else None


@hookimpl
def anonloom_register_transports():
    return [Method(name="carrier", target=f"{__name__}:Carrier", summary="Carries.")]
