"""The server's side of transport dpf: evaluates keys, checks them, and shows its share at the end.

A `post` and a `deposit` differ in their tables and in what is checked: `Posting`, `Depositing`.
"""

import hashlib
import math
from collections.abc import Sequence
from typing import ClassVar

import attrs

from anonloom_dpf.counted import CountedDepositing
from anonloom_dpf.depositing import Depositing
from anonloom_dpf.layout import Settings, deposit_layout, post_layout
from anonloom_dpf.posting import Posting
from anonloom_dpf.presence import COMMITMENT_BYTES, TOSS_BYTES, toss_commitment
from anonloom_dpf.prime import MODULUS
from anonloom_transport import Entropy, Round, RoundServer, pack


@attrs.define(eq=False)
class DpfServer(RoundServer):
    """One of the servers, none of which sees anything but its own share of the tables."""

    steps: ClassVar[frozenset[str]] = frozenset(
        ("check", "toss", "sketch", "proof", "claims", "share")
    )

    settings: Settings = attrs.field(kw_only=True)
    _work: Posting | Depositing = attrs.field(init=False, repr=False)
    _toss: bytes = attrs.field(default=b"", init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        if self.round.operation == "post":
            self._work = Posting(self, post_layout(self.round, self.settings))
        else:
            kind = CountedDepositing if self.round.counted else Depositing
            self._work = kind(self, deposit_layout(self.round))

    @property
    def content_size(self) -> int:
        """Bytes of what a client seals to this server."""
        return self._work.layout.content_size

    def draw_keys(self, entropy: Entropy) -> tuple[bytes, ...]:
        """Draw what this server will toss for counting; return what binds it to that."""
        if not self.round.counted:
            return ()
        self._toss = entropy.bytes(TOSS_BYTES)
        return (toss_commitment(self._toss),)

    def tossed(self) -> bytes | None:
        """Return 32 bytes that nobody knew when uploads were made; None as long as one is missing.

        Announced with the round: unlike `coins`, they cannot become others when a server is made to
        go on from an older saved state.
        """
        self.channel.send("toss", self._toss)
        words = self.channel.all("toss")
        for server, word in enumerate(words or ()):
            if self.described.keys[server][1:] != (toss_commitment(word),):
                self.channel.stop(f"server {server} tosses something else than it announced")
                return None
        return None if words is None else hashlib.sha256(pack(b"tossed", *words)).digest()

    def place(self) -> None:
        """Add up the evaluations of all keys, and take out those that are wrong."""
        wrong = self._work.evaluate()
        if wrong is None or self.stopped:
            return
        if not self.tolerates(len(wrong)):
            self.channel.stop(
                f"{len(wrong)} of {len(self.admitted or ())} uploads fail the check, more than "
                f"the tolerated share of {self.settings.tolerated:g}: one of the servers deviates, "
                "or that many senders do"
            )
            return
        left = len(self.admitted or ()) - len(wrong)
        if left < self.round.min_batch:
            self.channel.stop(
                f"{left} uploads pass the check, it takes {self.round.min_batch}: nothing is opened"
            )
            return
        missing = self._before() - left
        if wrong and 0 < missing < self.round.min_leave:
            self.channel.stop(
                f"{missing} senders are missing without the uploads that fail the check: with "
                f"fewer than {self.round.min_leave}, what is absent would show whose it is"
            )
            return
        for reason, uploads in self._work.reasons(wrong).items():
            self.exclude(uploads, reason)
        self._work.remove(wrong)
        self.settled = True

    def tolerates(self, wrong: int) -> bool:
        """Whether so many uploads may be taken out."""
        return wrong <= math.ceil(self.settings.tolerated * len(self.admitted or ()))

    def tally(self, groups: Sequence[Sequence[int]]) -> list[int]:
        """Return this server's part of each group's sum, which by itself says nothing."""
        assert isinstance(self._work, CountedDepositing)
        return self._work.tally(groups)

    def tallied(self, parts: Sequence[Sequence[int]]) -> list[int]:
        """Add the parts of both servers."""
        return [sum(part) % MODULUS for part in zip(*parts, strict=True)]

    def _before(self) -> int:
        """Return how many senders there were before wrong uploads are taken out.

        Of a deposit those whom this very round has admitted: a position that stays empty is that of
        whoever was taken out, and a server can fail an honest upload on purpose. Of a post only
        those of the phase before it: a message that is not there shows nothing by itself.
        """
        if self.round.operation == "post":
            return self.round.cohort
        return max(self.round.cohort, len(self.admitted or ()))

    def reveal(self) -> None:
        """Show this server's share of what was not erased."""
        self.channel.exchange("share", self._work.shown, self.subject)
        if self.channel.has_sent("share"):
            self.end()

    def conclude(self) -> None:
        """Add the shares of all servers."""
        shares = self.channel.exchange_result("share", self.subject)
        if shares is not None:
            self._work.combine(shares)

    def forget(self) -> None:
        """Forget this server's share of what was erased."""
        self._work.forget()
        self._toss = b""


def wrong_announcement(round: Round, keys: tuple[bytes, ...]) -> str:
    """Say what is wrong with what a server announced of what it will toss, or nothing."""
    wanted = 1 if round.counted else 0
    if len(keys) != wanted:
        return f"{len(keys)} commitments to what is tossed for counting instead of {wanted}"
    if any(len(key) != COMMITMENT_BYTES for key in keys):
        return f"a commitment to what is tossed for counting has {COMMITMENT_BYTES} bytes"
    return ""
