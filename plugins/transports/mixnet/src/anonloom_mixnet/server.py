"""The server's side of transport mixnet: one hop of a cascade of all servers."""

from typing import ClassVar

import attrs

from anonloom_mixnet.opening import Opening
from anonloom_transport import Envelope


@attrs.define(eq=False)
class MixnetServer(Opening):
    """One hop: it mixes (`Mixing`), judges failures (`Judging`) and opens (`Opening`)."""

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

    def take_claim(self, envelope: Envelope) -> str:
        """Take what a client says about its packet; return why it is refused, or nothing."""
        if self._over or self.stopped or self.admitted is None:
            return "not the time for objections"
        if envelope.step == "missing":
            return self.take_missing(envelope)
        return self.take_layer(envelope)

    def settle(self) -> list[Envelope]:
        """End the time for objections to what was accepted; see `ServerEngine.settle`.

        Asked again, it shows clients again what they may have missed: the list of sealed cores, or
        that a packet does not open.
        """
        if "settle" in self._asked and not self._over:
            self.ask_again()
            if self._shown:
                self.broadcast("mixed", self._shown)
        return super().settle()
