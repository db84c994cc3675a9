"""Server: the part of a server engine that every transport shares.

It begins the round with the others, takes uploads and confirms them, agrees on what was accepted,
hears objections, and ends the round when everything is public. What happens in between is the
transport's: `place`, `reveal` and `conclude`.

All that the engine does follows from facts that only grow: what it drew, what it was sent, what
servers said, what its operator asked for. `_go_on` does whatever the facts allow and nothing twice.
So a server that is started again from the saved facts is where it was.
"""

import hashlib
import math
import re
from abc import abstractmethod
from collections.abc import Iterable, Sequence, Set
from typing import ClassVar

import attrs

from anonloom.errors import TransportError
from anonloom_transport.channel import COMMIT, STOP, TOLD_BYTES
from anonloom_transport.codec import pack, packed_size
from anonloom_transport.counting import Counting
from anonloom_transport.engines import ID_BYTES, Envelope
from anonloom_transport.objections import objection_size
from anonloom_transport.rounds import Erasure, require_operation, require_positions
from anonloom_transport.saving import load, save
from anonloom_transport.signing import SIGNATURE_BYTES, signed, write_signed
from anonloom_transport.uploads import HASH_BYTES

#: Steps that every round has; a transport adds its own.
STEPS = frozenset(
    (
        "key",
        "sign notice",
        "held",
        "sign accepted",
        "objections",
        "sign admitted",
        "coin",
        "groups",
        "counted",
        "erased",
        "sign result",
        STOP,
    )
)

#: More than the keys of any transport; why a round stops is cut, and believed at any length.
_LONGEST = 2**16

_NUMBER = re.compile(r" (0|[1-9][0-9]?)\Z")


@attrs.define(eq=False)
class RoundServer(Counting):
    """One server in one round.

    A transport derives from it and says what uploads contain (`content_size`, `judge`), how what
    was admitted is put in its place and checked (`place`), how filled positions are counted
    (`tally`), how it is opened (`reveal`) and how the result follows from words that are public by
    then (`conclude`).

    Attributes
    ----------
    signed_result
        What became public with the signatures of all servers.
    """

    #: Steps in which clients speak, beyond uploads and objections.
    claims: ClassVar[frozenset[str]] = frozenset()

    signed_result: bytes | None = attrs.field(default=None, init=False, repr=False)
    _over: bool = attrs.field(default=False, init=False)
    _accepted: int = attrs.field(default=0, init=False)
    _left_out: int = attrs.field(default=0, init=False)
    _stood: frozenset[bytes] | None = attrs.field(default=None, init=False, repr=False)
    _found: Sequence[bytes | None] | None = attrs.field(default=None, init=False, repr=False)
    _result: tuple[bytes | None, ...] | None = attrs.field(default=None, init=False, repr=False)

    # --- what a transport says ------------------------------------------------------------------

    @abstractmethod
    def place(self) -> None:
        """Put what was admitted in its place and check it; set `settled` when that is done."""

    @abstractmethod
    def reveal(self) -> None:
        """Show this server's part to the others; call `end` when it was shown."""

    @abstractmethod
    def conclude(self) -> None:
        """Make the result out of words that all servers have heard, and `publish` it."""

    def forget(self) -> None:
        """Forget the transport's own secrets."""

    def take_claim(self, envelope: Envelope) -> str:
        """Take what a client says in one of the steps `claims`; return why it is refused."""
        return "unknown step"

    # --- what a transport asks ------------------------------------------------------------------

    @property
    def erased(self) -> Set[int]:
        """Positions that will not be opened."""
        return self._erased

    def coins(self) -> bytes | None:
        """Return 32 bytes that all servers tossed together; None as long as one is missing."""
        # Tossed for this subject: whoever made a server toss again for another one, from an older
        # saved state, would otherwise know its coin before the list is fixed.
        own, subject = f"coin {self.subject.hex()}", self.subject
        shown = self.channel.exchange("coin", lambda: self.channel.derive(own), subject)
        return None if shown is None else hashlib.sha256(pack(b"coins", *shown)).digest()

    def exclude(self, uploads: Iterable[bytes], reason: str) -> None:
        """Take admitted uploads out again, because all servers saw that they are wrong."""
        gone = set(uploads)
        if gone:
            self.refused[reason] += len(gone)
            self._left_out += len(gone)

    def end(self) -> None:
        """Destroy the round's key and forget everything that is not public.

        From here on a restart goes on from public data only, and records that were erased can't be
        computed from anything that this server still has.
        """
        if self._over:
            return
        self._over = True
        self._accepted = len(self.admitted or ())
        self._stood = self.senders
        self._vault.destroy()
        self._key = None
        self._uploads.forget()
        self._contents.clear()
        self._objections.clear()
        self._invitations.clear()
        self.remembered.clear()
        self._counts = None
        self._entropy.forget()
        self.channel.forget()
        self.forget()

    def publish(self, result: Sequence[bytes | None]) -> None:
        """Make a result public when all servers have signed it."""
        self._found = result
        document = write_result(result)
        own = self.channel.signer.sign("result", self.binding, document)
        self.channel.send("sign result", own)
        signatures = self.channel.all("sign result")
        if signatures is None:
            return
        for server, signature in enumerate(signatures):
            if not signed(self.config.pins[server], signature, "result", self.binding, document):
                self.channel.stop(
                    f"server {server} signs something else than what all words give: result"
                )
                return
        self.signed_result = write_signed(document, signatures)
        self._result = tuple(result)

    @property
    def missing_messages(self) -> list[tuple[int, str]]:
        """Which servers this one waits for, and for which word: for the operator's eyes."""
        return [] if self._result is not None else self.channel.missing_messages

    # --- the contract ---------------------------------------------------------------------------

    @property
    def accepted(self) -> int:
        """Number of uploads that stand."""
        return self._accepted if self._over else len(self._uploads)

    @property
    def left_out(self) -> int:
        """Number of those that were taken out again, because they failed a check."""
        return self._left_out

    @property
    def senders(self) -> frozenset[bytes]:
        """Whose uploads stand, by the public halves of invitations."""
        if self._stood is not None:
            return self._stood
        admitted = set(self._uploads if self.admitted is None else self.admitted)
        return frozenset(who for who, upload in self._invitations.items() if upload in admitted)

    @property
    def result(self) -> Sequence[bytes | None] | None:
        """What became public; None before that."""
        return self._result

    def begin(self) -> list[Envelope]:
        """Announce the server's key of this round.

        Raises
        ------
        TransportError
            When it has begun before and was not started from what it saved: with other keys it
            would contradict itself, and be taken for a liar.
        """
        if self._key is None and self._vault.begun:
            raise TransportError(
                "this server has begun the round before: it goes on from what it saved last"
            )
        return self._ask("begin")

    def close(self) -> list[Envelope]:
        """End the collection; see `ServerEngine.close`."""
        self._require_going()
        if "close" not in self._asked and len(self._uploads) < self.round.min_batch:
            raise TransportError(
                f"the round has {self.accepted} uploads, it closes with at least "
                f"{self.round.min_batch}"
            )
        return self._ask("close")

    def settle(self) -> list[Envelope]:
        """End the time for objections; see `ServerEngine.settle`."""
        self._require_going()
        if self._list is None and not self._over:
            raise TransportError("the servers have not agreed on the uploads yet")
        return self._ask("settle")

    def open(self) -> list[Envelope]:
        """Open what was not erased; see `ServerEngine.open`."""
        self._require_going()
        if not self.settled and not self._over:
            raise TransportError("not everything is settled yet")
        if "count" in self._asked and self._counts is None and not self._over:
            raise TransportError("the servers have not counted yet")
        return self._ask("open")

    def count(self, groups: Sequence[Sequence[int]]) -> list[Envelope]:
        """Learn how many positions of each group are filled; see `ServerEngine.count`."""
        self._require_going()
        self._keep_groups(groups)
        return self._ask("count")

    def erase(self, positions: Iterable[int]) -> None:
        """Erase further positions; see `ServerEngine.erase`."""
        require_operation(self.round, "deposit")
        if "open" in self._asked:
            raise TransportError("the round is open: nothing can be erased any more")
        asked = set(positions)
        require_positions(self.round, asked)
        self._erased |= asked

    def resend(self) -> list[Envelope]:
        """Return what other servers may have missed."""
        self.channel.resend()
        return self.channel.drain()

    def receive(self, envelope: Envelope) -> list[Envelope]:
        """Take what a client or another server sent; what is wrong with it is counted."""
        reason = self._take(envelope)
        if reason:
            self.refused[reason] += 1
        self._discard()
        return self.channel.drain()

    def abandon(self, reason: str) -> list[Envelope]:
        """Give up a round that has not ended; see `ServerEngine.abandon`."""
        if self._result is None:
            self.channel.stop(reason)
            self._discard()
        return self.channel.drain()

    def _discard(self) -> None:
        """End a round that has stopped: what was uploaded may never be opened, by nobody."""
        if self.stopped:
            self.end()

    def _require_going(self) -> None:
        if self.stopped:
            raise TransportError(f"the round has stopped: {self.stopped}")

    def _ask(self, action: str) -> list[Envelope]:
        if action in self._asked:
            self.channel.resend()
            if action == "close" and self._list is not None:
                self.broadcast("accepted", self._list)
        else:
            self._asked.append(action)
            self._go_on()
            self._discard()
        return self.channel.drain()

    def _take(self, envelope: Envelope) -> str:
        if envelope.round != self.round.digest:
            return "not of this round"
        if envelope.receiver != self.round.everyone[self.config.index]:
            return "not for this server"
        if envelope.step == "upload":
            return self._take_upload(envelope)
        if envelope.step == "objection":
            return self._take_objection(envelope)
        if envelope.step in self.claims and envelope.sender.role == "client":
            return self.take_claim(envelope)
        if not self._knows(envelope.step):
            return "unknown step"
        if self._result is not None and envelope.step == STOP:
            return "after the end"  # what all have signed stands
        if len(envelope.body) > SIGNATURE_BYTES + self._longest(envelope.step):
            return "too long"
        reason = self.channel.receive(envelope)
        if not reason:
            self._go_on()
        return reason

    def _longest(self, step: str) -> float:
        """Return the most bytes that an honest server says in a step; the transport knows its own.

        Every word is kept, and many are taken apart: what nobody can have to say is refused first.
        """
        round, text = self.round, self.round.servers * TOLD_BYTES
        if step in ("key", STOP):
            return _LONGEST
        if step.removesuffix(COMMIT) not in STEPS or self._described is None or step == "counted":
            return math.inf  # as many numbers as groups, which another server may know first
        if step == "held":
            return round.capacity * (ID_BYTES + HASH_BYTES)
        if step == "objections":
            return round.capacity * packed_size(objection_size(self.sealed_sizes))
        # Signatures, hashes and coins.
        return text + SIGNATURE_BYTES + HASH_BYTES

    def _knows(self, step: str) -> bool:
        # Few numbers: every step is kept, and a server must not fill the memory of the others.
        own = step.removesuffix(COMMIT)
        return own in STEPS or own in self.steps or _NUMBER.sub("", own) in self.steps

    # --- what follows from the facts ------------------------------------------------------------

    def _go_on(self) -> None:
        """Do whatever the facts allow."""
        if self.stopped or self._result is not None:
            return
        if self._over:
            self._finish()
            return
        if "begin" in self._asked:
            self._describe()
        if "close" in self._asked and self._notice is not None:
            self._agree()
        if "settle" in self._asked and self._list is not None and not self.stopped:
            self._admit()
        if self.admitted is not None and not self.settled and not self.stopped:
            self.place()
        if "count" in self._asked and self.settled and not self.stopped:
            self._count_filled()
        if "open" in self._asked and self.settled and self._erasing():
            self.reveal()
            self._finish()

    def _finish(self) -> None:
        if not self._over or self.stopped:
            return
        if self._found is None:
            self.conclude()
        else:
            self.publish(self._found)

    def _erasing(self) -> bool:
        """Whether the round goes on and all servers erase the same."""
        if self.round.operation == "post" or self.stopped:
            return not self.stopped
        # With the salt that only servers know: a short list could be guessed from its hash.
        salt = self.config.erasure.salt if self.config.erasure else self.round.digest
        self.channel.send("erased", Erasure(self._erased, salt).commitment)
        words = self.channel.all("erased")
        own = self.config.index
        for server, word in enumerate(words or ()):
            if word != self.channel.of("erased", own):
                self.channel.stop(
                    "the servers do not agree on what is erased: "
                    f"server {server} says something else than server {own}"
                )
        return words is not None and not self.stopped

    # --- saving and going on --------------------------------------------------------------------

    def save(self) -> bytes:
        """Return all that a new engine needs to go on; see `ServerEngine.save`."""
        return save(self)

    def resume(self, saved: bytes) -> None:
        """Go on from what was saved.

        Raises
        ------
        TransportError
            When it cannot be read any more.
        """
        load(self, saved)
        self._go_on()
        self._discard()


def write_result(result: Sequence[bytes | None]) -> bytes:
    """Write a result as it is signed."""
    return pack(*(b"" if record is None else b"\1" + record for record in result))
