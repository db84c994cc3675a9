"""Collect: a server takes uploads, opens them, and confirms each with a receipt."""

import hmac

import attrs

from anonloom import short_repr
from anonloom_transport.engines import ID_BYTES, Envelope
from anonloom_transport.invitations import PROOF_BYTES, verify_invitation
from anonloom_transport.receipts import write_receipt
from anonloom_transport.sealing import context_of, overhead
from anonloom_transport.state import RoundState
from anonloom_transport.strategy import ServerStrategy
from anonloom_transport.uploads import MARK_BYTES, Body, body_size

#: A fact: somebody who may send was refused because the round was full.
_OVERFLOW = "overflow"


@short_repr
@attrs.define(eq=False)
class CollectPhase:
    """A server's part in taking uploads."""

    state: RoundState
    strategy: ServerStrategy

    @property
    def sealed_sizes(self) -> tuple[int, ...]:
        """Bytes of what a client sends to each server, sealed."""
        around = MARK_BYTES + self._proof_size + overhead(self.state.round.suite)
        return tuple(
            around + self.strategy.content_size_of(index)
            for index in range(self.state.round.servers)
        )

    def receive(self, envelope: Envelope) -> str:
        """Take an upload; return why it is refused, or nothing."""
        upload, data = envelope.upload, envelope.body
        if envelope.sender.role != "client":
            return "not from a client"
        if self.state.notice is None:
            return "before the round has begun"
        size = self.sealed_sizes[self.state.config.index]
        if len(upload) != ID_BYTES or len(data) != body_size(self.state.round.servers, size):
            return "wrong size"
        body = Body.read(data, self.state.round.servers)
        match self.state.uploads.judge(upload, body):
            case "other":
                return "other bytes under a known id"
            case "new":
                wrong = self._too_late() or self.keep(upload, body, limited=True)
                if wrong:
                    return wrong
        # What stands gets its receipt, also when it comes again after the round was closed.
        self.state.clients[upload] = envelope.sender
        receipt = write_receipt(
            self.state.channel.signer, self.state.binding, upload, body.fingerprint
        )
        self.state.send_to_client(envelope.sender, "receipt", upload, receipt)
        return ""

    def _too_late(self) -> str:
        if self.state.stop_reason:
            return "the round has stopped"
        if "close" in self.state.requests:
            return "after the close"
        if (
            self.state.round.deadline is not None
            and self.state.clock.now() > self.state.round.deadline
        ):
            return "after the deadline"
        return ""

    @property
    def has_overflow(self) -> bool:
        """Whether somebody who may send was refused because the round was full."""
        return _OVERFLOW in self.state.remembered

    @property
    def _proof_size(self) -> int:
        return PROOF_BYTES if self.state.round.authority else 0

    def keep(
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
        assert self.state.key is not None
        if not body.is_for(self.state.config.index):
            return "damaged"
        context = context_of(self.state.round, self.state.binding, self.state.config.index, upload)
        opened = self.state.key.open(body.sealed, context)
        if opened is None:
            return "cannot be opened"
        marked, opened = body.with_mark(opened[:MARK_BYTES]), opened[MARK_BYTES:]
        if not proven and not hmac.compare_digest(marked.mark, body.mark):
            return "damaged"
        proof, content = opened[: self._proof_size], opened[self._proof_size :]
        authority, study = self.state.round.authority, self.state.round.study
        sender = verify_invitation(authority, proof, context, study) if proof else b""
        if sender is None:
            return "no invitation"
        if sender in self.state.invitations:
            return "invitation already used"
        if self.state.config.invited is not None and sender not in self.state.config.invited:
            # Equal numbers are not enough: who came for somebody else would show whose is missing.
            return "not in the phase before"
        # Only now: somebody who may not send takes nobody's place, and is no overflow either.
        if limited and len(self.state.uploads) >= self.state.round.capacity:
            self.state.remembered[_OVERFLOW] = b"1"
            return "the round is full"
        wrong = self.strategy.judge(upload, content)
        if wrong:
            return wrong
        if sender:
            self.state.invitations[sender] = upload
        self.state.uploads.add(upload, marked)
        self.state.contents[upload] = content
        self.state.learn(body.sealed, content)
        return ""
