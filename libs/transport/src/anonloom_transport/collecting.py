"""Collecting: a server takes uploads, opens them, and confirms each with a receipt."""

import hmac
from abc import abstractmethod

import attrs

from anonloom_transport.beginning import Beginning
from anonloom_transport.engines import ID_BYTES, Envelope
from anonloom_transport.invitations import PROOF_BYTES, invited
from anonloom_transport.receipts import write_receipt
from anonloom_transport.rounds import Party
from anonloom_transport.sealing import context_of, overhead
from anonloom_transport.uploads import MARK_BYTES, Body, Uploads, body_size

#: A fact: somebody who may send was refused because the round was full.
_OVERFLOW = "overflow"


@attrs.define(eq=False)
class Collecting(Beginning):
    """A server that takes uploads."""

    _uploads: Uploads = attrs.field(factory=Uploads, init=False, repr=False)
    _contents: dict[bytes, bytes] = attrs.field(factory=dict, init=False, repr=False)
    _senders: dict[bytes, Party] = attrs.field(factory=dict, init=False, repr=False)
    _invitations: dict[bytes, bytes] = attrs.field(factory=dict, init=False, repr=False)
    _asked: list[str] = attrs.field(factory=list, init=False)

    @property
    @abstractmethod
    def content_size(self) -> int:
        """Bytes of what a client seals to this server, without the invitation."""

    def content_size_of(self, server: int) -> int:
        """Bytes of what a client seals to one of the servers: the same for all, unless said."""
        return self.content_size

    @property
    def sealed_sizes(self) -> tuple[int, ...]:
        """Bytes of what a client sends to each server, sealed."""
        around = MARK_BYTES + self._proof_size + overhead(self.round.suite)
        return tuple(around + self.content_size_of(index) for index in range(self.round.servers))

    def judge(self, content: bytes) -> str:
        """Say why an upload is refused, or nothing."""
        return ""

    def judge_as(self, upload: bytes, content: bytes) -> str:
        """Say why an upload is refused under its id, or nothing."""
        return self.judge(content)

    def content(self, upload: bytes) -> bytes:
        """Return what a client sealed to this server."""
        return self._contents[upload]

    def broadcast(self, step: str, body: bytes) -> None:
        """Show something to every client that uploaded."""
        for upload, client in self._senders.items():
            self.channel.outbox.append(self._to_client(client, step, upload, body))

    def _take_upload(self, envelope: Envelope) -> str:
        upload, data = envelope.upload, envelope.body
        if envelope.sender.role != "client":
            return "not from a client"
        if self._notice is None:
            return "before the round has begun"
        size = self.sealed_sizes[self.config.index]
        if len(upload) != ID_BYTES or len(data) != body_size(self.round.servers, size):
            return "wrong size"
        body = Body.read(data, self.round.servers)
        match self._uploads.judge(upload, body):
            case "other":
                return "other bytes under a known id"
            case "new":
                wrong = self._too_late() or self._keep(upload, body, limited=True)
                if wrong:
                    return wrong
        # What stands gets its receipt, also when it comes again after the round was closed.
        self._senders[upload] = envelope.sender
        receipt = write_receipt(self.channel.signer, self.binding, upload, body.fingerprint)
        self.channel.outbox.append(self._to_client(envelope.sender, "receipt", upload, receipt))
        return ""

    def _too_late(self) -> str:
        if self.stopped:
            return "the round has stopped"
        if "close" in self._asked:
            return "after the close"
        if self.round.deadline is not None and self._clock.now() > self.round.deadline:
            return "after the deadline"
        return ""

    @property
    def overflowed(self) -> bool:
        """Whether somebody who may send was refused because the round was full."""
        return _OVERFLOW in self.remembered

    @property
    def _proof_size(self) -> int:
        return PROOF_BYTES if self.round.authority else 0

    def _keep(
        self, upload: bytes, body: Body, *, proven: bool = False, limited: bool = False
    ) -> str:
        """Open an upload and keep it; return why it is refused, or nothing.

        Parameters
        ----------
        proven
            Whether receipts of all servers show that the hashes are those that the client sent.
        limited
            Whether the round's capacity counts: not for what it has accepted before.
        """
        assert self._key is not None
        if not body.is_for(self.config.index):
            return "damaged"
        context = context_of(self.round, self.binding, self.config.index, upload)
        opened = self._key.open(body.sealed, context)
        if opened is None:
            return "cannot be opened"
        marked, opened = body.marked(opened[:MARK_BYTES]), opened[MARK_BYTES:]
        if not proven and not hmac.compare_digest(marked.mark, body.mark):
            return "damaged"
        proof, content = opened[: self._proof_size], opened[self._proof_size :]
        authority, study = self.round.authority, self.round.study
        sender = invited(authority, proof, context, study) if proof else b""
        if sender is None:
            return "no invitation"
        if sender in self._invitations:
            return "invitation already used"
        if self.config.invited is not None and sender not in self.config.invited:
            # Equal numbers are not enough: who came for somebody else would show whose is missing.
            return "not in the phase before"
        # Only now: somebody who may not send takes nobody's place, and is no overflow either.
        if limited and len(self._uploads) >= self.round.capacity:
            self.remembered[_OVERFLOW] = b"1"
            return "the round is full"
        wrong = self.judge_as(upload, content)
        if wrong:
            return wrong
        if sender:
            self._invitations[sender] = upload
        self._uploads.add(upload, marked)
        self._contents[upload] = content
        self.learn(body.sealed, content)
        return ""

    def _to_client(self, client: Party, step: str, upload: bytes, body: bytes) -> Envelope:
        return Envelope(
            sender=self.round.everyone[self.config.index],
            receiver=client,
            step=step,
            round=self.round.digest,
            upload=upload,
            body=body,
        )
