"""Strategy: what a transport adds to a server of a round."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import attrs

from anonloom import short_repr
from anonloom.errors import TransportError
from anonloom_transport.engines import Entropy, Envelope
from anonloom_transport.state import RoundState


@short_repr
@attrs.define(eq=False)
class ServerStrategy(ABC):
    """What a transport says; `RoundServer` asks, phase by phase.

    It says what uploads contain (`content_size`, `judge`), how what was admitted is put in its
    place and checked (`place`), how filled positions are counted (`tally`), how it is opened
    (`reveal`) and how the result follows from messages that are public by then (`conclude`).
    """

    #: The transport's own steps; those that end with a number are listed without it.
    steps: ClassVar[frozenset[str]] = frozenset()

    #: Steps in which clients speak, beyond uploads and objections.
    claims: ClassVar[frozenset[str]] = frozenset()

    state: RoundState

    # --- begin ----------------------------------------------------------------------------------

    def draw_keys(self, entropy: Entropy) -> tuple[bytes, ...]:
        """Draw the transport's own keys of this round; return their public parts."""
        return ()

    # --- collect --------------------------------------------------------------------------------

    @property
    @abstractmethod
    def content_size(self) -> int:
        """Bytes of what a client seals to this server, without the invitation."""

    def content_size_of(self, server: int) -> int:
        """Bytes of what a client seals to one of the servers: the same for all, unless said."""
        return self.content_size

    def judge(self, upload: bytes, content: bytes) -> str:
        """Say why an upload is refused under its id, or nothing."""
        return ""

    def receive_claim(self, envelope: Envelope) -> str:
        """Take what a client says in one of the steps `claims`; return why it is refused."""
        return "unknown step"

    # --- settle ---------------------------------------------------------------------------------

    @abstractmethod
    def place(self) -> bool:
        """Put what was admitted in its place and check it; return whether that is done."""

    def show_again(self) -> None:  # noqa: B027 - most transports show clients nothing then
        """Show clients again what they may have missed since everything was placed."""

    # --- count ----------------------------------------------------------------------------------

    def ready_to_count(self) -> bool:
        """Do what has to be done before this server knows its part; return whether it is."""
        return True

    def tally(self, groups: Sequence[Sequence[int]]) -> list[int]:
        """Return this server's part of each group's sum, below 2^64."""
        raise TransportError("this transport cannot count")

    def add_tallies(self, parts: Sequence[Sequence[int]]) -> list[int]:
        """Return the sums that all servers' parts make.

        Where every server sees which positions are filled, all parts are the sums. What is no
        number of filled positions stops the round.
        """
        if any(part != parts[0] for part in parts):
            self.state.channel.stop("the servers do not count the same: one of them deviates")
        return list(parts[0])

    # --- open -----------------------------------------------------------------------------------

    def request_before_open(self) -> str:
        """Return what is requested instead when the operator asks to open; nothing to open."""
        return ""

    @abstractmethod
    def reveal(self) -> bool:
        """Show this server's part to the others; return whether it was shown.

        When it was, everything that is not public is forgotten.
        """

    @abstractmethod
    def conclude(self) -> Sequence[bytes | None] | None:
        """Return the result, made out of messages that all servers have; None before that."""

    def forget(self) -> None:  # noqa: B027 - not every transport has secrets of its own
        """Forget the transport's own secrets."""
