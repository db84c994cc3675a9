"""What a client of transport direct tells every server."""

import attrs

from anonloom.kinds.rounds import Round
from anonloom.kinds.slots import SECRET_BYTES, row_size

_POSITION = 8


@attrs.frozen
class Content:
    """A message; of a deposit a row with its position, and alpha, which admits to it."""

    message: bytes = attrs.field(repr=False)
    position: int = 0
    alpha: bytes = attrs.field(default=b"", repr=False)

    def __bytes__(self) -> bytes:
        head = self.position.to_bytes(_POSITION, "big") + self.alpha if self.alpha else b""
        return head + self.message

    @classmethod
    def read(cls, round: Round, data: bytes) -> "Content":
        """Read content whose size was found right."""
        if round.operation == "post":
            return cls(data)
        end = _POSITION + SECRET_BYTES
        return cls(data[end:], int.from_bytes(data[:_POSITION], "big"), data[_POSITION:end])


def content_size(round: Round) -> int:
    """Bytes of every content of a round."""
    if round.operation == "post":
        return round.message_size
    return _POSITION + SECRET_BYTES + row_size(round.message_size)
