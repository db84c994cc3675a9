"""Beginning: the servers of a round announce their keys and sign its description."""

from collections import Counter
from collections.abc import Sequence
from typing import ClassVar

import attrs

from anonloom.errors import TransportError
from anonloom_transport.base import ServerConfig
from anonloom_transport.channel import Channel, readable
from anonloom_transport.codec import pack, unpack
from anonloom_transport.engines import Clock, Entropy, ServerEngine
from anonloom_transport.notice import MOST_KEYS, KeyJudge, Notice, wrong_keys
from anonloom_transport.recorded_entropy import RecordedEntropy
from anonloom_transport.rounds import Round, require_positions
from anonloom_transport.sealing import SealingKey
from anonloom_transport.signing import write_signed
from anonloom_transport.state_vault import StateVault


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
    config: ServerConfig
    _software: bytes
    _entropy: RecordedEntropy = attrs.field(repr=False)
    _clock: Clock = attrs.field(repr=False)
    refused: Counter[str] = attrs.field(factory=Counter, init=False)
    remarks: Counter[str] = attrs.field(factory=Counter, init=False)
    remembered: dict[str, bytes] = attrs.field(factory=dict, init=False, repr=False)
    judge_keys: KeyJudge = attrs.field(default=no_keys, init=False, repr=False)
    channel: Channel = attrs.field(init=False, repr=False)
    _vault: StateVault = attrs.field(init=False, repr=False)
    _key: SealingKey | None = attrs.field(default=None, init=False, repr=False)
    _described: Notice | None = attrs.field(default=None, init=False, repr=False)
    _notice: bytes | None = attrs.field(default=None, init=False, repr=False)
    _erased: set[int] = attrs.field(factory=set, init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        if self.config.index not in range(self.round.servers):
            raise TransportError(
                f"the round has the servers 0 to {self.round.servers - 1}. "
                f"Got {self.config.index} instead."
            )
        if len(self.config.pins) != self.round.servers:
            raise TransportError(
                f"a round of {self.round.servers} servers needs the public key of each. "
                f"Got {len(self.config.pins)} instead."
            )
        self._check_slots()
        self.channel = Channel(self.round, self.config)
        self._vault = StateVault(self.round, self.config.index, self.config.vault)

    def _check_slots(self) -> None:
        """Refuse to sign what this server does not know: whose slots, and what will be erased."""
        known = tuple(key.slot for key in self.config.slot_keys)
        if known != self.round.slots:
            raise TransportError("the keys of the slots are not those of the round")
        planned = self.config.erasure.commitment if self.config.erasure else b""
        if planned != self.round.erasure:
            raise TransportError("what is planned to be erased is not what the round says")
        if self.config.erasure:
            require_positions(self.round, self.config.erasure.positions)
            self._erased |= self.config.erasure.positions

    def draw_keys(self, entropy: Entropy) -> tuple[bytes, ...]:
        """Draw the transport's own keys of this round; return their public parts."""
        return ()

    @property
    def binding(self) -> bytes:
        """Hash of the round description."""
        return self.channel.binding

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
        return self.channel.stopped

    def learn(self, one: bytes, other: bytes) -> None:
        """Note for audits that two byte strings belong together."""
        if self.on_link is not None:
            self.on_link(one, other)

    def _describe(self) -> None:
        """Announce keys, and sign the description that the keys of all give."""
        if self._key is None:
            self._vault.prepare(self._entropy)
            self.channel.prepare(self._entropy.bytes(32))
            self._key = SealingKey.draw(self.round.suite, self._entropy)
            own = self.draw_keys(self._entropy)
            self.channel.send("key", pack(self._software, self._key.public, *own))
        words = self.channel.all("key")
        if self._described is None and words is not None:
            self._described = self._description(words)
            if self._described is None:
                return
        if self._notice is None and self._described is not None:
            document = self._described.document
            signatures = self.channel.sign("notice", document, "key", self.round.digest)
            if signatures is not None:
                self._notice = write_signed(document, signatures)
                self.channel.binding = self._described.binding

    def _description(self, words: Sequence[bytes]) -> Notice | None:
        keys = []
        for server, word in enumerate(words):
            try:
                software, *own = unpack(word, 1 + MOST_KEYS)
            except ValueError:
                software, own = b"", []
            if software != self._software:
                message = readable(software)
                self.channel.stop(
                    f"server {server} runs {message}, and server {self.config.index} "
                    f"{self._software.decode()}: all must run the same"
                )
                return None
            keys.append(tuple(own))
        wrong = wrong_keys(self.round, keys, self.judge_keys)
        if wrong:
            self.channel.stop(wrong)
            return None
        return Notice(self.round, self._software, tuple(keys), self.config.pins)
