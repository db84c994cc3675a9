"""Beginning: the servers of a round announce their keys and sign its description."""

from collections import Counter
from collections.abc import Sequence
from typing import ClassVar

import attrs

from anonloom.errors import TransportError
from anonloom_transport.base import Seat
from anonloom_transport.conversation import Conversation, readable
from anonloom_transport.engines import Clock, Entropy, ServerEngine
from anonloom_transport.notice import MOST_KEYS, KeyJudge, Notice, wrong_keys
from anonloom_transport.packing import pack, unpack
from anonloom_transport.recording import Recorded
from anonloom_transport.rounds import Round, require_positions
from anonloom_transport.sealing import SealingKey
from anonloom_transport.signing import write_signed
from anonloom_transport.state import Strongbox


def no_keys(round: Round, keys: tuple[bytes, ...]) -> str:
    """Judge the keys of a transport that has none of its own."""
    return f"{len(keys)} keys of its own instead of none" if keys else ""


@attrs.define(eq=False)
class Beginning(ServerEngine):
    """A server that has or has not begun.

    Attributes
    ----------
    talk
        What it says to the others and hears from them.
    remarks
        What went wrong and was put right, counted.
    remembered
        Facts of the transport's own, by name: saved with everything else, forgotten at the end.
    judge_keys
        The transport's `RoundTransport.judge_keys`: asked of all servers' keys before this one
        signs the description.
    """

    #: The transport's own steps; those that end with a number are listed without it.
    steps: ClassVar[frozenset[str]] = frozenset()

    round: Round
    seat: Seat
    _software: bytes
    _entropy: Recorded = attrs.field(repr=False)
    _clock: Clock = attrs.field(repr=False)
    refused: Counter[str] = attrs.field(factory=Counter, init=False)
    remarks: Counter[str] = attrs.field(factory=Counter, init=False)
    remembered: dict[str, bytes] = attrs.field(factory=dict, init=False, repr=False)
    judge_keys: KeyJudge = attrs.field(default=no_keys, init=False, repr=False)
    talk: Conversation = attrs.field(init=False, repr=False)
    _box: Strongbox = attrs.field(init=False, repr=False)
    _key: SealingKey | None = attrs.field(default=None, init=False, repr=False)
    _described: Notice | None = attrs.field(default=None, init=False, repr=False)
    _notice: bytes | None = attrs.field(default=None, init=False, repr=False)
    _erased: set[int] = attrs.field(factory=set, init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        if self.seat.index not in range(self.round.servers):
            raise TransportError(
                f"the round has the servers 0 to {self.round.servers - 1}. "
                f"Got {self.seat.index} instead."
            )
        if len(self.seat.pins) != self.round.servers:
            raise TransportError(
                f"a round of {self.round.servers} servers needs the public key of each. "
                f"Got {len(self.seat.pins)} instead."
            )
        self._check_slots()
        self.talk = Conversation(self.round, self.seat)
        self._box = Strongbox(self.round, self.seat.index, self.seat.vault)

    def _check_slots(self) -> None:
        """Refuse to sign what this server does not know: whose slots, and what will be erased."""
        known = tuple(key.slot for key in self.seat.slot_keys)
        if known != self.round.slots:
            raise TransportError("the keys of the slots are not those of the round")
        planned = self.seat.erasure.commitment if self.seat.erasure else b""
        if planned != self.round.erasure:
            raise TransportError("what is planned to be erased is not what the round says")
        if self.seat.erasure:
            require_positions(self.round, self.seat.erasure.positions)
            self._erased |= self.seat.erasure.positions

    def draw_keys(self, entropy: Entropy) -> tuple[bytes, ...]:
        """Draw the transport's own keys of this round; return their public parts."""
        return ()

    @property
    def bound(self) -> bytes:
        """Hash of the round description."""
        return self.talk.bound

    @property
    def described(self) -> Notice:
        """The round description; only asked when all servers have announced their keys."""
        assert self._described is not None
        return self._described

    @property
    def notice(self) -> bytes | None:
        """The description of the round, signed by all servers; None before that."""
        return self._notice

    @property
    def stopped(self) -> str:
        """Why the round cannot end; empty if it can."""
        return self.talk.stopped

    def learn(self, one: bytes, other: bytes) -> None:
        """Note for audits that two byte strings belong together."""
        if self.witness is not None:
            self.witness(one, other)

    def _describe(self) -> None:
        """Announce keys, and sign the description that the keys of all give."""
        if self._key is None:
            self._box.prepare(self._entropy)
            self.talk.prepare(self._entropy.bytes(32))
            self._key = SealingKey.draw(self.round.suite, self._entropy)
            own = self.draw_keys(self._entropy)
            self.talk.say("key", pack(self._software, self._key.public, *own))
        words = self.talk.all("key")
        if self._described is None and words is not None:
            self._described = self._description(words)
            if self._described is None:
                return
        if self._notice is None and self._described is not None:
            document = self._described.document
            signatures = self.talk.sign("notice", document, "key", self.round.digest)
            if signatures is not None:
                self._notice = write_signed(document, signatures)
                self.talk.bound = self._described.bound

    def _description(self, words: Sequence[bytes]) -> Notice | None:
        keys = []
        for server, word in enumerate(words):
            try:
                software, *own = unpack(word, 1 + MOST_KEYS)
            except ValueError:
                software, own = b"", []
            if software != self._software:
                message = readable(software)
                self.talk.stop(
                    f"server {server} runs {message}, and server {self.seat.index} "
                    f"{self._software.decode()}: all must run the same"
                )
                return None
            keys.append(tuple(own))
        wrong = wrong_keys(self.round, keys, self.judge_keys)
        if wrong:
            self.talk.stop(wrong)
            return None
        return Notice(self.round, self._software, tuple(keys), self.seat.pins)
