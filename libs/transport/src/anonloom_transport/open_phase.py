"""Open: the servers erase the same, show their parts, and sign what became public."""

from collections.abc import Sequence

import attrs

from anonloom import short_repr
from anonloom_transport.codec import pack
from anonloom_transport.rounds import Erasure
from anonloom_transport.signing import verify_signature, write_signed
from anonloom_transport.state import RoundState
from anonloom_transport.strategy import ServerStrategy


@short_repr
@attrs.define(eq=False)
class OpenPhase:
    """A server's part in opening what was not erased, and the end of the round."""

    state: RoundState
    strategy: ServerStrategy

    def run(self) -> None:
        """Show this server's part when all erase the same, and conclude when all have shown it."""
        if self._agree_on_erasure():
            if self.strategy.reveal():
                self.end()
            self.conclude()

    def _agree_on_erasure(self) -> bool:
        """Return whether the round goes on and all servers erase the same."""
        state = self.state
        if state.round.operation == "post" or state.stop_reason:
            return not state.stop_reason
        # With the salt that only servers know: a short list could be guessed from its hash.
        salt = state.config.erasure.salt if state.config.erasure else state.round.digest
        state.channel.send("erased", Erasure(state.erased, salt).commitment)
        messages = state.channel.all("erased")
        for server, message in enumerate(messages or ()):
            if message != state.channel.of("erased", state.index):
                state.channel.stop(
                    "the servers do not agree on what is erased: "
                    f"server {server} says something else than server {state.index}"
                )
        return messages is not None and not state.stop_reason

    def end(self) -> None:
        """Destroy the round's key and forget everything that is not public, once."""
        if not self.state.over:
            self.state.end()
            self.strategy.forget()

    def conclude(self) -> None:
        """Find out what becomes public when this server has shown its part, and sign it."""
        state = self.state
        if not state.over or state.stop_reason:
            return
        if state.outcome is None:
            state.outcome = self.strategy.conclude()
        if state.outcome is not None:
            self._publish(state.outcome)

    def _publish(self, result: Sequence[bytes | None]) -> None:
        """Make a result public when all servers have signed it."""
        state = self.state
        document = write_result(result)
        own = state.channel.signer.sign("result", state.binding, document)
        state.channel.send("sign result", own)
        signatures = state.channel.all("sign result")
        if signatures is None:
            return
        for server, signature in enumerate(signatures):
            if not verify_signature(
                state.config.pins[server], signature, "result", state.binding, document
            ):
                state.channel.stop(
                    f"server {server} signs something else than what all words give: result"
                )
                return
        state.signed_result = write_signed(document, signatures)
        state.result = tuple(result)


def write_result(result: Sequence[bytes | None]) -> bytes:
    """Write a result as it is signed."""
    return pack(*(b"" if record is None else b"\1" + record for record in result))
