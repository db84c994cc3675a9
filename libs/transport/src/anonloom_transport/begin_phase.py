"""Begin: the servers of a round announce their keys and sign its description."""

from collections.abc import Sequence

import attrs

from anonloom import short_repr
from anonloom_transport.channel import readable
from anonloom_transport.codec import pack, unpack
from anonloom_transport.notice import MOST_KEYS, Notice, wrong_keys
from anonloom_transport.rounds import Round
from anonloom_transport.sealing import SealingKey
from anonloom_transport.signing import write_signed
from anonloom_transport.state import RoundState
from anonloom_transport.strategy import ServerStrategy


def no_keys(round: Round, keys: tuple[bytes, ...]) -> str:
    """Judge the keys of a transport that has none of its own."""
    return f"{len(keys)} keys of its own instead of none" if keys else ""


@short_repr
@attrs.define(eq=False)
class BeginPhase:
    """A server's part in agreeing on the round's description."""

    state: RoundState
    strategy: ServerStrategy

    def run(self) -> None:
        """Announce keys, and sign the description that the keys of all give."""
        if self.state.key is None:
            self.state.vault.prepare(self.state.entropy)
            self.state.channel.prepare(self.state.entropy.bytes(32))
            self.state.key = SealingKey.draw(self.state.round.suite, self.state.entropy)
            own = self.strategy.draw_keys(self.state.entropy)
            self.state.channel.send("key", pack(self.state.software, self.state.key.public, *own))
        words = self.state.channel.all("key")
        if self.state.description is None and words is not None:
            self.state.description = self._description(words)
            if self.state.description is None:
                return
        if self.state.notice is None and self.state.description is not None:
            document = self.state.description.document
            signatures = self.state.channel.sign("notice", document, "key", self.state.round.digest)
            if signatures is not None:
                self.state.notice = write_signed(document, signatures)
                self.state.channel.binding = self.state.description.binding

    def _description(self, words: Sequence[bytes]) -> Notice | None:
        keys = []
        for server, word in enumerate(words):
            try:
                software, *own = unpack(word, 1 + MOST_KEYS)
            except ValueError:
                software, own = b"", []
            if software != self.state.software:
                message = readable(software)
                self.state.channel.stop(
                    f"server {server} runs {message}, and server {self.state.config.index} "
                    f"{self.state.software.decode()}: all must run the same"
                )
                return None
            keys.append(tuple(own))
        wrong = wrong_keys(self.state.round, keys, self.state.judge_keys)
        if wrong:
            self.state.channel.stop(wrong)
            return None
        return Notice(self.state.round, self.state.software, tuple(keys), self.state.config.pins)
