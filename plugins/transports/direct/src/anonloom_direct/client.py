"""The sender's side of transport direct."""

import hmac

import attrs

from anonloom.errors import TransportError
from anonloom.kinds.engines import (
    ID_BYTES,
    SECRET_BYTES,
    ClientEngine,
    Entropy,
    Envelope,
    Party,
    Round,
    require_operation,
    require_size,
    slot_of,
)
from anonloom_direct import wire

#: Whoever delivers an envelope puts the sender in; the client has no name of its own.
_SELF = Party("client", 0)


@attrs.define(eq=False)
class DirectClient(ClientEngine):
    """Sends one message to every server and collects their receipts."""

    round: Round
    _entropy: Entropy = attrs.field(repr=False)
    _upload: bytes = attrs.field(default=b"", init=False, repr=False)
    _body: bytes = attrs.field(default=b"", init=False, repr=False)
    _confirmed: set[Party] = attrs.field(factory=set, init=False)

    def post(self, message: bytes) -> list[Envelope]:
        """Send the message of a `post` round; see `ClientEngine.post`."""
        require_operation(self.round, "post")
        require_size(self.round, message)
        return self._send(wire.Upload(message))

    def deposit(self, position: int, secret: bytes, record: bytes) -> list[Envelope]:
        """Send a record to a position of one's own; see `ClientEngine.deposit`."""
        require_operation(self.round, "deposit")
        require_size(self.round, record)
        if not 0 <= position < len(self.round.slots):
            raise TransportError(
                f"the round has the positions 0 to {len(self.round.slots) - 1}. "
                f"Got {position} instead."
            )
        if len(secret) != SECRET_BYTES or slot_of(secret) != self.round.slots[position]:
            raise TransportError("the secret is not that of the position")
        return self._send(wire.Upload(record, position, secret))

    def _send(self, content: wire.Upload) -> list[Envelope]:
        upload = self._upload or self._entropy.bytes(ID_BYTES)
        body = wire.write_upload(self.round, upload, content)
        if self._body not in (b"", body):
            raise TransportError("a sender has one message per round, and another one was sent")
        self._upload, self._body = upload, body
        return self.again()

    def again(self) -> list[Envelope]:
        """Return the same bytes for every server that has not confirmed them."""
        if not self._body:
            return []
        return [
            Envelope(
                sender=_SELF,
                receiver=server,
                step="upload",
                round=self.round.digest,
                upload=self._upload,
                body=self._body,
            )
            for server in self.round.everyone
            if server not in self._confirmed
        ]

    def take(self, envelope: Envelope) -> list[Envelope]:
        """Take a receipt; whatever else comes is ignored."""
        server = envelope.sender
        if envelope.step == "receipt" and server in self.round.everyone and self._body:
            expected = wire.receipt(self.round, server.index, self._upload, self._body)
            if hmac.compare_digest(expected, envelope.body):
                self._confirmed.add(server)
        return []

    @property
    def acknowledged(self) -> bool:
        """Whether every server has confirmed the message."""
        return len(self._confirmed) == self.round.servers
