"""The uploads of one round: each id once, with one content."""

import hashlib
import hmac
from collections.abc import Iterator, Sequence
from typing import Literal

import attrs

from anonloom_transport.codec import cut, is_ascending
from anonloom_transport.engines import ID_BYTES

HASH_BYTES = 32

#: Bytes of the mark on a body's hashes, and of the key that it is made with.
MARK_BYTES = 16


@attrs.frozen
class Body:
    """What a client sends to one server.

    Attributes
    ----------
    hashes
        Of what was sealed to each of the servers, this one too: a receipt covers them all.
    sealed
        What was sealed to this server; it begins with a key that only client and server know.
    mark
        Made with that key, it binds the hashes to what was sealed: otherwise an accident on the way
        could change the hash of another server's part, and the upload would stand in a form that
        its sender never sent.
    """

    hashes: bytes = attrs.field(repr=False)
    sealed: bytes = attrs.field(repr=False)
    mark: bytes = attrs.field(default=b"", repr=False, eq=False)

    @classmethod
    def of_all(cls, sealed: Sequence[bytes], keys: Sequence[bytes] = ()) -> list["Body"]:
        """Return the bodies for all servers, marked if the keys are known."""
        hashes = b"".join(hashlib.sha256(item).digest() for item in sealed)
        bodies = [cls(hashes, item) for item in sealed]
        return (
            [body.with_mark(key) for body, key in zip(bodies, keys, strict=True)]
            if keys
            else bodies
        )

    @classmethod
    def read(cls, data: bytes, servers: int) -> "Body":
        """Read a body whose size was found right."""
        end = servers * HASH_BYTES
        return cls(data[:end], data[end + MARK_BYTES :], data[end : end + MARK_BYTES])

    def __bytes__(self) -> bytes:
        return self.hashes + self.mark + self.sealed

    def with_mark(self, key: bytes) -> "Body":
        """Return the body with the mark of a key."""
        mark = hmac.digest(key, b"anonloom body 1\0" + self.hashes, "sha256")[:MARK_BYTES]
        return Body(self.hashes, self.sealed, mark)

    def is_for(self, server: int) -> bool:
        """Whether the hash for a server is that of what was sealed."""
        index = server * HASH_BYTES
        return hashlib.sha256(self.sealed).digest() == self.hashes[index : index + HASH_BYTES]

    @property
    def fingerprint(self) -> bytes:
        """What all servers compare, and what receipts confirm."""
        return hashlib.sha256(self.hashes).digest()


def body_size(servers: int, sealed: int) -> int:
    """Bytes of every body of a round."""
    return servers * HASH_BYTES + MARK_BYTES + sealed


@attrs.define
class Uploads:
    """What a server has accepted, so that whatever comes twice counts once.

    A sender whose receipt was lost sends the same bytes again and gets the same receipt. Other
    bytes under an id that is known come from a mistake or from somebody else: they are refused, and
    what was accepted first stands.
    """

    _bodies: dict[bytes, Body] = attrs.field(factory=dict, repr=False)

    def judge(self, upload: bytes, body: Body) -> Literal["new", "again", "other"]:
        """Say whether an upload is new, comes again, or has other bytes than before."""
        if upload not in self._bodies:
            return "new"
        return "again" if self._bodies[upload] == body else "other"

    def add(self, upload: bytes, body: Body) -> None:
        """Keep a new upload."""
        if self.judge(upload, body) != "new":
            raise ValueError("an upload is added once")
        self._bodies[upload] = body

    def __len__(self) -> int:
        return len(self._bodies)

    def __getitem__(self, upload: bytes) -> Body:
        return self._bodies[upload]

    def __contains__(self, upload: bytes) -> bool:
        return upload in self._bodies

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._bodies)

    def write_held(self) -> bytes:
        """Write ids and fingerprints in the order of the ids: what servers tell each other."""
        return b"".join(
            upload + self._bodies[upload].fingerprint for upload in sorted(self._bodies)
        )

    def forget(self) -> None:
        """Forget everything."""
        self._bodies.clear()


def read_held(data: bytes) -> set[tuple[bytes, bytes]] | None:
    """Read what a server says that it holds; None when no honest server wrote it."""
    try:
        pieces = cut(data, ID_BYTES + HASH_BYTES)
    except ValueError:
        return None
    if not is_ascending(piece[:ID_BYTES] for piece in pieces):
        return None
    return {(piece[:ID_BYTES], piece[ID_BYTES:]) for piece in pieces}
