"""The server's side of transport dpf: evaluates keys, checks them, and shows its share at the end.

A `post` and a `deposit` differ in their tables and in what is checked: `PostTable`, `DepositTable`.
"""

import hashlib
import math
from collections.abc import Sequence
from typing import ClassVar

import attrs

from anonloom import short_repr
from anonloom_dpf.count_proof import COMMITMENT_BYTES, TOSS_BYTES, toss_commitment
from anonloom_dpf.counted_table import CountedDepositTable
from anonloom_dpf.deposit_table import DepositTable
from anonloom_dpf.layout import Settings, deposit_layout, post_layout
from anonloom_dpf.post_table import PostTable
from anonloom_dpf.prime_field import MODULUS
from anonloom_transport import Entropy, Round, ServerStrategy, pack


@short_repr
@attrs.define(eq=False)
class DpfServer(ServerStrategy):
    """One of the servers, none of which sees anything but its own share of the tables."""

    steps: ClassVar[frozenset[str]] = frozenset(
        ("check", "toss", "sketch", "proof", "claims", "share")
    )

    settings: Settings = attrs.field(kw_only=True)
    work: PostTable | DepositTable = attrs.field(init=False, repr=False)
    _toss: bytes = attrs.field(default=b"", init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        round = self.state.round
        if round.operation == "post":
            self.work = PostTable(self.state, post_layout(round, self.settings))
        elif round.counted:
            self.work = CountedDepositTable(
                self.state, deposit_layout(round), toss=self.toss, tolerates=self.tolerates
            )
        else:
            self.work = DepositTable(self.state, deposit_layout(round))

    @property
    def content_size(self) -> int:
        """Bytes of what a client seals to this server."""
        return self.work.layout.content_size

    def draw_keys(self, entropy: Entropy) -> tuple[bytes, ...]:
        """Draw what this server will toss for counting; return what binds it to that."""
        if not self.state.round.counted:
            return ()
        self._toss = entropy.bytes(TOSS_BYTES)
        return (toss_commitment(self._toss),)

    def toss(self) -> bytes | None:
        """Return 32 bytes that nobody knew when uploads were made; None as long as one is missing.

        Announced with the round: unlike `coins`, they cannot become others when a server is made to
        go on from an older saved state.
        """
        self.state.channel.send("toss", self._toss)
        words = self.state.channel.all("toss")
        for server, word in enumerate(words or ()):
            if self.state.require_description().keys[server][1:] != (toss_commitment(word),):
                self.state.channel.stop(f"server {server} tosses something else than it announced")
                return None
        return None if words is None else hashlib.sha256(pack(b"tossed", *words)).digest()

    def place(self) -> bool:
        """Add up the evaluations of all keys, and take out those that are wrong."""
        state = self.state
        wrong = self.work.evaluate()
        if wrong is None or state.stop_reason:
            return False
        if not self.tolerates(len(wrong)):
            state.channel.stop(
                f"{len(wrong)} of {len(state.admitted or ())} uploads fail the check, more than "
                f"the tolerated share of {self.settings.tolerated:g}: one of the servers deviates, "
                "or that many senders do"
            )
            return False
        left = len(state.admitted or ()) - len(wrong)
        if left < state.round.min_batch:
            state.channel.stop(
                f"{left} uploads pass the check, it takes {state.round.min_batch}: "
                "nothing is opened"
            )
            return False
        missing = self._before() - left
        if wrong and 0 < missing < state.round.min_leave:
            state.channel.stop(
                f"{missing} senders are missing without the uploads that fail the check: with "
                f"fewer than {state.round.min_leave}, what is absent would show whose it is"
            )
            return False
        for reason, uploads in self.work.reasons(wrong).items():
            state.exclude(uploads, reason)
        self.work.remove(wrong)
        return True

    def tolerates(self, wrong: int) -> bool:
        """Whether so many uploads may be taken out."""
        return wrong <= math.ceil(self.settings.tolerated * len(self.state.admitted or ()))

    def tally(self, groups: Sequence[Sequence[int]]) -> list[int]:
        """Return this server's part of each group's sum, which by itself says nothing."""
        assert isinstance(self.work, CountedDepositTable)
        return self.work.tally(groups)

    def add_tallies(self, parts: Sequence[Sequence[int]]) -> list[int]:
        """Add the parts of both servers."""
        return [sum(part) % MODULUS for part in zip(*parts, strict=True)]

    def _before(self) -> int:
        """Return how many senders there were before wrong uploads are taken out.

        Of a deposit those whom this very round has admitted: a position that stays empty is that of
        whoever was taken out, and a server can fail an honest upload on purpose. Of a post only
        those of the phase before it: a message that is not there shows nothing by itself.
        """
        if self.state.round.operation == "post":
            return self.state.round.cohort
        return max(self.state.round.cohort, len(self.state.admitted or ()))

    def reveal(self) -> bool:
        """Show this server's share of what was not erased."""
        self.state.channel.exchange("share", self.work.own_share, self.state.subject)
        return self.state.channel.has_sent("share")

    def conclude(self) -> Sequence[bytes | None] | None:
        """Add the shares of all servers, and return what they hold together."""
        shares = self.state.channel.exchange_result("share", self.state.subject)
        return None if shares is None else self.work.combine(shares)

    def forget(self) -> None:
        """Forget this server's share of what was erased."""
        self.work.forget()
        self._toss = b""


def wrong_announcement(round: Round, keys: tuple[bytes, ...]) -> str:
    """Say what is wrong with what a server announced of what it will toss, or nothing."""
    wanted = 1 if round.counted else 0
    if len(keys) != wanted:
        return f"{len(keys)} commitments to what is tossed for counting instead of {wanted}"
    if any(len(key) != COMMITMENT_BYTES for key in keys):
        return f"a commitment to what is tossed for counting has {COMMITMENT_BYTES} bytes"
    return ""
