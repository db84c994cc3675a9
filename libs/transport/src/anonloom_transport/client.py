"""Client: the part of a client engine that every transport shares."""

from abc import abstractmethod
from collections.abc import Sequence
from functools import lru_cache

import attrs

from anonloom.errors import TransportError
from anonloom_transport.codec import cut
from anonloom_transport.engines import ID_BYTES, ClientEngine, Entropy, Envelope
from anonloom_transport.invitations import INVITATION_BYTES, prove
from anonloom_transport.notice import Notice
from anonloom_transport.objections import Objection
from anonloom_transport.receipts import confirms
from anonloom_transport.rounds import Party, Round, require_operation, require_size
from anonloom_transport.sealing import context_of
from anonloom_transport.signing import read_signed, signed_size
from anonloom_transport.slots import SlotSecret
from anonloom_transport.uploads import MARK_BYTES, Body

#: Whoever delivers an envelope puts the sender in; the client has no name of its own.
_SELF = Party("client", 0)


@attrs.define(eq=False)
class RoundClient(ClientEngine):
    """One sender in one round.

    A transport derives from it and says what is sealed to each server (`for_post`,
    `for_deposit`).

    Attributes
    ----------
    notice
        The round description; that all servers have signed it was checked.
    listed
        Whether the sender is on the list of what was accepted; None before it has seen one.
    """

    notice: Notice
    _entropy: Entropy = attrs.field(repr=False)
    _invitation: bytes = attrs.field(default=b"", repr=False)
    listed: bool | None = attrs.field(default=None, init=False)
    _message: bytes | None = attrs.field(default=None, init=False, repr=False)
    _upload: bytes = attrs.field(default=b"", init=False, repr=False)
    _bodies: list[Body] = attrs.field(factory=list, init=False, repr=False)
    _receipts: dict[int, bytes] = attrs.field(factory=dict, init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        wanted = INVITATION_BYTES if self.notice.round.authority else 0
        if len(self._invitation) != wanted:
            raise TransportError(
                "this round takes uploads with an invitation of its study only"
                if wanted
                else "this round takes no invitations"
            )

    @property
    def round(self) -> Round:
        """The round's plan."""
        return self.notice.round

    # --- what a transport says ------------------------------------------------------------------

    @abstractmethod
    def for_post(self, message: bytes) -> Sequence[bytes]:
        """Return what is sealed to each server to post a message."""

    @abstractmethod
    def for_deposit(self, position: int, secret: SlotSecret, record: bytes) -> Sequence[bytes]:
        """Return what is sealed to each server to deposit a record."""

    @abstractmethod
    def for_decoy(self) -> Sequence[bytes]:
        """Return what is sealed to each server to deposit nothing."""

    def new_id(self, contents: Sequence[bytes]) -> bytes:
        """Return the id under which the contents are sent; random, or a hash of them."""
        return self._entropy.bytes(ID_BYTES)

    def take_document(self, step: str, envelope: Envelope) -> list[Envelope]:
        """Take something else that servers show to clients."""
        return []

    # --- the contract ---------------------------------------------------------------------------

    def post(self, message: bytes) -> list[Envelope]:
        """Send the message of a `post` round; see `ClientEngine.post`."""
        self.check_post(message)
        return self.send(message, () if self._bodies else self.for_post(message))

    def deposit(self, secret: SlotSecret, record: bytes) -> list[Envelope]:
        """Send a record to a position of one's own; see `ClientEngine.deposit`."""
        position = self.check_deposit(secret, record)
        contents = () if self._bodies else self.for_deposit(position, secret, record)
        return self.send(secret.alpha + record, contents)

    def decoy(self) -> list[Envelope]:
        """Send what looks like a deposit and leaves nothing; see `ClientEngine.decoy`."""
        require_operation(self.round, "deposit")
        return self.send(b"", () if self._bodies else self.for_decoy())

    def check_post(self, message: bytes) -> None:
        """Refuse what cannot be posted; raises as `post` does."""
        require_operation(self.round, "post")
        require_size(self.round, message)

    def check_deposit(self, secret: SlotSecret, record: bytes) -> int:
        """Return the position of a secret, and refuse what cannot be deposited."""
        require_operation(self.round, "deposit")
        require_size(self.round, record)
        position = _positions(self.notice).get(secret.slot)
        if position is None:
            raise TransportError("the secret is not that of a position of this round")
        return position

    def send(self, message: bytes, contents: Sequence[bytes]) -> list[Envelope]:
        """Seal what each server is to get, once, and send it.

        Raises
        ------
        TransportError
            When another message was sent before.
        """
        if self._message not in (None, message):
            raise TransportError("a sender has one message per round, and another one was sent")
        if self._message is None:
            self._message, self._upload = message, self.new_id(contents)
            keys = [self._entropy.bytes(MARK_BYTES) for _ in contents]
            sealed = [
                self._seal(server, key, content)
                for server, (key, content) in enumerate(zip(keys, contents, strict=True))
            ]
            self._bodies = Body.of_all(sealed, keys)
        return self.resend()

    def _seal(self, server: int, key: bytes, content: bytes) -> bytes:
        context = context_of(self.round, self.notice.binding, server, self._upload)
        proof = prove(self._invitation, context) if self._invitation else b""
        return self.notice.locks[server].seal(key + proof + content, context)

    def resend(self) -> list[Envelope]:
        """Return the same bytes for every server that has not confirmed them.

        Who objects does so again: the objection may have been lost as well.
        """
        missing = [
            self.to(server, "upload", bytes(body))
            for server, body in enumerate(self._bodies)
            if server not in self._receipts
        ]
        return missing or self._object_if_left_out()

    def to(self, server: int, step: str, body: bytes) -> Envelope:
        """Address something to a server."""
        return Envelope(
            sender=_SELF,
            receiver=self.round.everyone[server],
            step=step,
            round=self.round.digest,
            upload=self._upload,
            body=body,
        )

    def receive(self, envelope: Envelope) -> list[Envelope]:
        """Take a receipt or a list that all servers have signed; whatever else is ignored."""
        server = envelope.sender
        if not self._bodies or server not in self.round.everyone:
            return []
        if envelope.step == "receipt":
            self._take_receipt(server.index, envelope.body)
            return []
        if envelope.step == "accepted":
            return self._take_list(envelope.body)
        return self.take_document(envelope.step, envelope)

    def _take_receipt(self, server: int, receipt: bytes) -> None:
        pin, fingerprint = self.notice.pins[server], self._bodies[0].fingerprint
        if self.listed is False:
            # Who is not on the list and could not object is out. A receipt that comes only now is
            # from a server that held it back: it would make believe that the message arrives.
            return
        if server not in self._receipts and confirms(
            pin, receipt, self.notice.binding, self._upload, fingerprint
        ):
            self._receipts[server] = receipt

    def _take_list(self, data: bytes) -> list[Envelope]:
        if self.listed is not None:
            return []  # an objection that may be lost is made again by `again` alone
        if len(data) > signed_size(self.round.capacity * ID_BYTES, self.round.servers):
            return []
        document = self.signed_by_all("accepted", data)
        if document is None:
            return []
        self.listed = self._upload in _pieces(document, ID_BYTES)
        return self._object_if_left_out()

    def _object_if_left_out(self) -> list[Envelope]:
        return self._object() if self.listed is False and self.is_acknowledged else []

    def _object(self) -> list[Envelope]:
        receipts = tuple(self._receipts[server] for server in range(self.round.servers))
        sealed = tuple(body.sealed for body in self._bodies)
        objection = bytes(Objection(self._upload, receipts, sealed))
        return [self.to(server, "objection", objection) for server in range(self.round.servers)]

    def signed_by_all(self, kind: str, data: bytes) -> bytes | None:
        """Return a document of this round that all servers have signed, or None."""
        return read_signed(data, kind, self.notice.binding, self.notice.pins)

    @property
    def is_acknowledged(self) -> bool:
        """Whether every server has confirmed the message."""
        return bool(self._bodies) and len(self._receipts) == self.round.servers

    @property
    def stands(self) -> bool:
        """Whether the message counts, by receipts or by the list; see `ClientEngine.stands`."""
        return self.is_acknowledged or bool(self.listed)


# What thousands of clients in one process are shown is read once.
@lru_cache(maxsize=16)
def _pieces(document: bytes, width: int) -> frozenset[bytes]:
    return frozenset(cut(document, width))


@lru_cache(maxsize=4)
def _positions(notice: Notice) -> dict[bytes, int]:
    return {slot: position for position, slot in enumerate(notice.round.slots)}
