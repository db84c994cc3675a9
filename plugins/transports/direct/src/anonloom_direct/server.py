"""The server's side of transport direct: collect, agree on what all have, erase, open."""

from collections import Counter
from collections.abc import Iterable, Sequence

import attrs

from anonloom.errors import TransportError
from anonloom.kinds.engines import (
    ID_BYTES,
    Clock,
    Envelope,
    Party,
    Round,
    ServerEngine,
    require_operation,
    slot_of,
)
from anonloom.protocol.uploads import Uploads
from anonloom_direct import wire


@attrs.define(eq=False)
class DirectServer(ServerEngine):
    """Keeps what it is sent; the round's result is what all servers have alike.

    A message with a receipt from every server is held by every server, hence in what they agree
    on; an id stands in it once. That is the whole argument for 'exactly once'.
    """

    round: Round
    index: int
    _clock: Clock = attrs.field(repr=False)
    refused: Counter[str] = attrs.field(factory=Counter, init=False)
    _uploads: Uploads = attrs.field(factory=Uploads, init=False, repr=False)
    _owner: dict[int, bytes] = attrs.field(factory=dict, init=False, repr=False)
    _lists: dict[Party, bytes] = attrs.field(factory=dict, init=False, repr=False)
    _erasures: dict[Party, bytes] = attrs.field(factory=dict, init=False, repr=False)
    _erased: set[int] = attrs.field(factory=set, init=False, repr=False)
    _agreed: bool = attrs.field(default=False, init=False)
    _result: tuple[bytes | None, ...] | None = attrs.field(default=None, init=False, repr=False)
    _stopped: str = attrs.field(default="", init=False)

    def __attrs_post_init__(self) -> None:
        if self.index not in range(self.round.servers):
            raise TransportError(
                f"the round has the servers 0 to {self.round.servers - 1}. "
                f"Got {self.index} instead."
            )

    @property
    def _self(self) -> Party:
        return self.round.everyone[self.index]

    @property
    def _closed(self) -> bool:
        return self._self in self._lists

    @property
    def accepted(self) -> int:
        """Number of uploads that stand."""
        return len(self._uploads)

    @property
    def result(self) -> Sequence[bytes | None] | None:
        """What became public; None before that."""
        return self._result

    @property
    def stopped(self) -> str:
        """Why the round cannot end; empty as long as it can."""
        return self._stopped

    # --- what arrives ---------------------------------------------------------------------------

    def take(self, envelope: Envelope) -> list[Envelope]:
        """Take what a client or another server sent; what is wrong with it is counted."""
        if envelope.round != self.round.digest:
            return self._refuse("not of this round")
        if envelope.receiver != self._self:
            return self._refuse("not for this server")
        if envelope.step == "upload":
            return self._take_upload(envelope)
        if envelope.step in ("list", "erased"):
            return self._take_word(envelope)
        return self._refuse("unknown step")

    def _refuse(self, reason: str) -> list[Envelope]:
        self.refused[reason] += 1
        return []

    def _take_upload(self, envelope: Envelope) -> list[Envelope]:
        upload, body = envelope.upload, envelope.body
        if envelope.sender.role != "client":
            return self._refuse("not from a client")
        if len(upload) != ID_BYTES or len(body) != wire.upload_size(self.round):
            return self._refuse("wrong size")
        if not wire.undamaged(self.round, b"upload", upload, body):
            return self._refuse("damaged")
        match self._uploads.judge(upload, body):
            case "other":
                return self._refuse("other bytes under a known id")
            case "new":
                wrong = self._wrong_with(wire.read_upload(self.round, body))
                if wrong:
                    return self._refuse(wrong)
                self._uploads.add(upload, body)
                if self.round.operation == "deposit":
                    self._owner[wire.read_upload(self.round, body).position] = upload
        # What stands gets its receipt, also when it comes again after the round was closed.
        return [
            self._envelope(
                envelope.sender,
                "receipt",
                wire.receipt(self.round, self.index, upload, body),
                upload,
            )
        ]

    def _wrong_with(self, content: wire.Upload) -> str:
        """Say why a new upload is refused, or nothing."""
        if self._closed:
            return "after the close"
        if self.round.deadline is not None and self._clock.now() > self.round.deadline:
            return "after the deadline"
        if self.round.operation == "deposit":
            if content.position >= len(self.round.slots):
                return "no such position"
            if slot_of(content.secret) != self.round.slots[content.position]:
                return "not the position's secret"
            if content.position in self._owner:
                return "position already filled"
        return ""

    def _take_word(self, envelope: Envelope) -> list[Envelope]:
        """Take another server's list of uploads, or what it has erased."""
        sender, body = envelope.sender, envelope.body
        if sender not in self.round.everyone or sender == self._self:
            return self._refuse("not from another server")
        if not wire.undamaged(self.round, envelope.step.encode(), b"", body):
            return self._refuse("damaged")
        if envelope.step == "list" and wire.read_list(body) is None:
            return self._refuse("malformed list")
        said = self._lists if envelope.step == "list" else self._erasures
        if said.setdefault(sender, body) != body:
            self._stopped = f"{sender} said two different things"
            return self._refuse("another word of the same server")
        self._go_on()
        return []

    # --- what the operator does -----------------------------------------------------------------

    def close(self) -> list[Envelope]:
        """End the collection; see `ServerEngine.close`."""
        if not self._closed:
            if self.accepted < self.round.min_batch:
                raise TransportError(
                    f"the round has {self.accepted} uploads, it closes with at least "
                    f"{self.round.min_batch}"
                )
            fingerprints = self._uploads.fingerprints()
            self._lists[self._self] = wire.write_list(self.round, fingerprints)
            self._go_on()
        return self._tell("list", self._lists[self._self])

    def erase(self, positions: Iterable[int]) -> None:
        """Forget records; see `ServerEngine.erase`."""
        require_operation(self.round, "deposit")
        if not self._closed:
            raise TransportError("the round is not closed: nothing can be erased yet")
        if self._self in self._erasures:
            raise TransportError("the round is open: nothing can be erased any more")
        asked = set(positions)
        unknown = sorted(asked - set(range(len(self.round.slots))))
        if unknown:
            raise TransportError(
                f"the round has the positions 0 to {len(self.round.slots) - 1}. "
                f"Got {unknown[0]} instead."
            )
        self._erased |= asked
        self._forget_erased()

    def open(self) -> list[Envelope]:
        """Open the rest; see `ServerEngine.open`."""
        require_operation(self.round, "deposit")
        if self._stopped:
            raise TransportError(f"the round has stopped: {self._stopped}")
        if not self._agreed:
            raise TransportError("the servers have not agreed on the uploads yet")
        if self._self not in self._erasures:
            self._erasures[self._self] = wire.write_erased(self.round, self._erased)
            self._go_on()
        return self._tell("erased", self._erasures[self._self])

    # --- agreement ------------------------------------------------------------------------------

    def _go_on(self) -> None:
        """Do what the words of all servers allow."""
        if self._stopped or self._result is not None:
            return
        if not self._agreed and len(self._lists) == self.round.servers:
            self._agree()
        if self._agreed and self.round.operation == "post":
            messages = [
                wire.read_upload(self.round, self._uploads[u]).message for u in self._uploads
            ]
            # Sorted by content: the order of arrival says who sent what.
            self._result = tuple(sorted(messages))
        elif self._agreed and len(self._erasures) == self.round.servers:
            if len(set(self._erasures.values())) > 1:
                self._stopped = "the servers do not agree on what is erased"
            else:
                self._result = self._opened()

    def _agree(self) -> None:
        """Keep the uploads that all servers have with the same bytes."""
        lists = [wire.read_list(body) or {} for body in self._lists.values()]
        common = set.intersection(*(set(entries.items()) for entries in lists))
        if len(common) < self.round.min_batch:
            self._stopped = (
                f"{len(common)} uploads are held by every server, it takes {self.round.min_batch}"
            )
            return
        kept = {upload for upload, _ in common}
        lost = self._uploads.keep(kept)
        if lost:  # a reason with a count of zero would read like a refusal
            self.refused["not held alike by every server"] += lost
        self._owner = {at: upload for at, upload in self._owner.items() if upload in kept}
        self._forget_erased()
        self._agreed = True

    def _forget_erased(self) -> None:
        gone = {self._owner.pop(at) for at in self._erased if at in self._owner}
        if gone:
            self._uploads.keep(set(self._uploads) - gone)

    def _opened(self) -> tuple[bytes | None, ...]:
        return tuple(
            self._message(self._owner[at]) if at in self._owner else None
            for at in range(len(self.round.slots))
        )

    def _message(self, upload: bytes) -> bytes:
        return wire.read_upload(self.round, self._uploads[upload]).message

    def _tell(self, step: str, body: bytes) -> list[Envelope]:
        return [self._envelope(s, step, body) for s in self.round.everyone if s != self._self]

    def _envelope(self, to: Party, step: str, body: bytes, upload: bytes = b"") -> Envelope:
        return Envelope(
            sender=self._self,
            receiver=to,
            step=step,
            round=self.round.digest,
            upload=upload,
            body=body,
        )
