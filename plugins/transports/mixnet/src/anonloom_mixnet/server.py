"""The server's side of transport mixnet: one hop of a cascade of all servers."""

from collections.abc import Sequence
from typing import ClassVar

import attrs

from anonloom import short_repr
from anonloom_mixnet.blame_protocol import BlameProtocol
from anonloom_mixnet.mix_phase import MixPhase
from anonloom_mixnet.open_phase import OpenPhase
from anonloom_transport import Entropy, Envelope, ServerStrategy


@short_repr
@attrs.define(eq=False)
class MixnetServer(ServerStrategy):
    """One hop: it mixes (`mix`), finds out who is to blame for failures (`blame`) and opens.

    Attributes
    ----------
    traps
        How many packets of its own making every server sends along.
    """

    steps: ClassVar[frozenset[str]] = frozenset(
        (
            "traps",
            "mix",
            "sign mixed",
            "given",
            "failed",
            "trace",
            "answers",
            "missing",
            "named",
            "peel",
            "shares",
        )
    )
    claims: ClassVar[frozenset[str]] = frozenset(("missing", "layer"))

    traps: int = attrs.field(kw_only=True)
    mix: MixPhase = attrs.field(init=False, repr=False)
    blame: BlameProtocol = attrs.field(init=False, repr=False)
    opening: OpenPhase = attrs.field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        self.mix = MixPhase(self.state, self.traps)
        self.blame = BlameProtocol(self.state, self.mix)
        self.opening = OpenPhase(self.state, self.mix, self.blame)

    def draw_keys(self, entropy: Entropy) -> tuple[bytes, ...]:
        """Draw the keys of all phases; return their public parts."""
        return self.mix.draw_keys(entropy)

    # --- uploads, and what clients say afterwards -----------------------------------------------

    @property
    def content_size(self) -> int:
        """Bytes of what a client seals to this server."""
        return self.mix.content_size_of(self.state.index)

    def content_size_of(self, server: int) -> int:
        """Bytes of what a client seals to one of the servers: only the first hop gets packets."""
        return self.mix.content_size_of(server)

    def judge(self, upload: bytes, content: bytes) -> str:
        """Say why an upload is refused, or nothing."""
        return self.mix.judge(upload, content)

    def receive_claim(self, envelope: Envelope) -> str:
        """Take what a client says about its packet; return why it is refused, or nothing."""
        state = self.state
        if state.over or state.stop_reason or state.admitted is None:
            return "not the time for objections"
        if envelope.step == "missing":
            return self.opening.receive_missing(envelope)
        return self.blame.receive_layer(envelope)

    # --- mix ------------------------------------------------------------------------------------

    def place(self) -> bool:
        """Mix when it is this server's turn; return whether all have signed what came out."""
        return self.mix.run(self.blame.removed_packets)

    def show_again(self) -> None:
        """Show the list of sealed cores again, or ask again why a packet does not open."""
        self.blame.ask_again()
        if self.mix.shown:
            self.state.broadcast("mixed", self.mix.shown)

    # --- count and open -------------------------------------------------------------------------

    def ready_to_count(self) -> bool:
        """Peel: what is counted lies in the layers that all servers open together."""
        return self.opening.ready_to_count()

    def tally(self, groups: Sequence[Sequence[int]]) -> list[int]:
        """Count: every server sees which positions are filled, and not with what."""
        return self.opening.tally(groups)

    def request_before_open(self) -> str:
        """Return what ends the time for answers of senders, if some are awaited."""
        return self.blame.request_before_open()

    def reveal(self) -> bool:
        """Peel, and show shares of kept rows."""
        return self.opening.reveal()

    def conclude(self) -> Sequence[bytes | None] | None:
        """Return what all keys together open."""
        return self.opening.conclude()

    def forget(self) -> None:
        """Forget all keys and who sent what."""
        self.mix.forget()
