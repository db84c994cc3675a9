"""How uploads, receipts and lists are written: fixed sizes, and a checksum against accidents.

The checksum notices what a network damages. It is no authentication: whoever wants to change a
message can change the checksum with it.
"""

import hashlib

import attrs

from anonloom.kinds.engines import ID_BYTES, SECRET_BYTES, Round

CHECKSUM_BYTES = 16
POSITION_BYTES = 8
FINGERPRINT_BYTES = 32


@attrs.frozen
class Upload:
    """What a client sends: a message, and for a deposit the position and its secret."""

    message: bytes = attrs.field(repr=False)
    position: int = 0
    secret: bytes = attrs.field(default=b"", repr=False)


def upload_size(round: Round) -> int:
    """Bytes of every upload of a round."""
    head = POSITION_BYTES + SECRET_BYTES if round.operation == "deposit" else 0
    return head + round.message_size + CHECKSUM_BYTES


def write_upload(round: Round, upload: bytes, content: Upload) -> bytes:
    """Write an upload under its id."""
    body = content.message
    if round.operation == "deposit":
        body = content.position.to_bytes(POSITION_BYTES, "big") + content.secret + body
    return sealed(round, b"upload", upload, body)


def read_upload(round: Round, body: bytes) -> Upload:
    """Read an upload whose size and checksum were found right."""
    body = body[:-CHECKSUM_BYTES]
    if round.operation == "post":
        return Upload(body)
    secret = POSITION_BYTES + SECRET_BYTES
    return Upload(
        body[secret:],
        int.from_bytes(body[:POSITION_BYTES], "big"),
        body[POSITION_BYTES:secret],
    )


def receipt(round: Round, server: int, upload: bytes, body: bytes) -> bytes:
    """Write what a server says when it has accepted exactly these bytes under this id."""
    return _hash(round, b"receipt", server.to_bytes(4, "big") + upload, body)


def write_list(round: Round, fingerprints: dict[bytes, bytes]) -> bytes:
    """Write ids with the fingerprints of their contents, in the order of the ids."""
    body = b"".join(upload + fingerprints[upload] for upload in sorted(fingerprints))
    return sealed(round, b"list", b"", body)


def read_list(body: bytes) -> dict[bytes, bytes] | None:
    """Read a list whose checksum was found right; None when no honest server wrote it."""
    body = body[:-CHECKSUM_BYTES]
    width = ID_BYTES + FINGERPRINT_BYTES
    if len(body) % width:
        return None
    rows = [body[at : at + width] for at in range(0, len(body), width)]
    found = {row[:ID_BYTES]: row[ID_BYTES:] for row in rows}
    return found if rows == sorted(rows) and len(found) == len(rows) else None


def write_erased(round: Round, erased: set[int]) -> bytes:
    """Write which positions a server has erased."""
    body = b"".join(position.to_bytes(POSITION_BYTES, "big") for position in sorted(erased))
    return sealed(round, b"erased", b"", hashlib.sha256(body).digest())


def sealed(round: Round, step: bytes, upload: bytes, body: bytes) -> bytes:
    """Append the checksum."""
    return body + _hash(round, step, upload, body)[:CHECKSUM_BYTES]


def undamaged(round: Round, step: bytes, upload: bytes, body: bytes) -> bool:
    """Whether a body carries the checksum of its content."""
    content = body[:-CHECKSUM_BYTES]
    return len(body) >= CHECKSUM_BYTES and sealed(round, step, upload, content) == body


def _hash(round: Round, step: bytes, subject: bytes, body: bytes) -> bytes:
    # No two inputs read alike: the digest has one length, no step holds a zero byte, and the
    # subject comes with its length.
    size = len(subject).to_bytes(4, "big")
    parts = (b"anonloom direct 1\0", round.digest, step, b"\0", size, subject, body)
    return hashlib.sha256(b"".join(parts)).digest()
