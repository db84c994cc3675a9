"""What a client of transport direct tells every server."""

import hashlib

import attrs

from anonloom_transport import ID_BYTES, SECRET_BYTES, Round, row_size

SALT_BYTES = 16
_POSITION = 8

#: Where decoys belong.
NOWHERE = (1 << 8 * _POSITION) - 1


@attrs.frozen
class Content:
    """A message; of a deposit a row with its position, and alpha, which admits to it.

    The salt hides the message from whoever sees the upload's id, which is a hash of it all.
    """

    salt: bytes = attrs.field(repr=False)
    message: bytes = attrs.field(repr=False)
    position: int = 0
    alpha: bytes = attrs.field(default=b"", repr=False)

    def __bytes__(self) -> bytes:
        head = self.position.to_bytes(_POSITION, "big") + self.alpha if self.alpha else b""
        return self.salt + head + self.message

    @classmethod
    def read(cls, round: Round, data: bytes) -> "Content":
        """Read content whose size was found right."""
        salt, rest = data[:SALT_BYTES], data[SALT_BYTES:]
        if round.operation == "post":
            return cls(salt, rest)
        end = _POSITION + SECRET_BYTES
        position = int.from_bytes(rest[:_POSITION], "big")
        return cls(salt, rest[end:], position, rest[_POSITION:end])


def content_size(round: Round) -> int:
    """Bytes of every content of a round."""
    if round.operation == "post":
        return SALT_BYTES + round.message_size
    return SALT_BYTES + _POSITION + SECRET_BYTES + row_size(round.message_size)


def id_of(content: bytes) -> bytes:
    """Return the id of an upload: one id has one content, whichever server it goes to."""
    return hashlib.sha256(b"anonloom direct 1\0" + content).digest()[:ID_BYTES]
