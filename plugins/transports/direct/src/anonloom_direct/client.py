"""The sender's side of transport direct."""

from collections.abc import Sequence

import attrs

from anonloom import short_repr
from anonloom_direct.content import NOWHERE, SALT_BYTES, Content, id_of
from anonloom_transport import SECRET_BYTES, RoundClient, SlotSecret, row_size, write_row


@short_repr
@attrs.define(eq=False)
class DirectClient(RoundClient):
    """Tells every server everything."""

    def for_post(self, message: bytes) -> list[bytes]:
        """Return the message, for each server."""
        return [bytes(Content(self._salt(), message))] * self.round.servers

    def for_deposit(self, position: int, secret: SlotSecret, record: bytes) -> list[bytes]:
        """Return the row, its position and alpha, for each server."""
        row = write_row(secret, self.round.iteration, self.round.iterations, record)
        content = Content(self._salt(), row, position, secret.alpha)
        return [bytes(content)] * self.round.servers

    def for_decoy(self) -> list[bytes]:
        """Return a row that belongs nowhere, for each server."""
        row = self._entropy.bytes(row_size(self.round.message_size))
        content = Content(self._salt(), row, NOWHERE, self._entropy.bytes(SECRET_BYTES))
        return [bytes(content)] * self.round.servers

    def new_id(self, contents: Sequence[bytes]) -> bytes:
        """Return a hash of what every server gets."""
        return id_of(contents[0])

    def _salt(self) -> bytes:
        return self._entropy.bytes(SALT_BYTES)
