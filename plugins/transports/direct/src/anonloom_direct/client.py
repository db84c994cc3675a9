"""The sender's side of transport direct."""

import attrs

from anonloom.kinds.slots import SlotSecret, write_row
from anonloom_direct.content import Content
from anonloom_rounds.client import RoundClient


@attrs.define(eq=False)
class DirectClient(RoundClient):
    """Tells every server everything."""

    def for_post(self, message: bytes) -> list[bytes]:
        """Return the message, for each server."""
        return [bytes(Content(message))] * self.round.servers

    def for_deposit(self, position: int, secret: SlotSecret, record: bytes) -> list[bytes]:
        """Return the row, its position and alpha, for each server."""
        row = write_row(secret, self.round.iteration, self.round.iterations, record)
        return [bytes(Content(row, position, secret.alpha))] * self.round.servers
