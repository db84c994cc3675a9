"""Objections: a client proves that all servers confirmed what is missing from their list."""

from collections.abc import Sequence

import attrs

from anonloom_transport.codec import pack, packed_size, unpack
from anonloom_transport.engines import ID_BYTES
from anonloom_transport.receipts import confirms
from anonloom_transport.signing import SIGNATURE_BYTES
from anonloom_transport.uploads import Body


@attrs.frozen
class Objection:
    """An upload with the receipts of all servers, and again what was sealed to each of them.

    Whoever reads it can check it, and a server that has lost its part finds it here.
    """

    upload: bytes = attrs.field(repr=False)
    receipts: tuple[bytes, ...] = attrs.field(repr=False)
    sealed: tuple[bytes, ...] = attrs.field(repr=False)

    @classmethod
    def read(cls, data: bytes, sizes: Sequence[int]) -> "Objection | None":
        """Read an objection; None when nobody wrote it.

        Parameters
        ----------
        sizes
            Bytes of what a client seals to each server: all objections of a round are equally
            long, and what has another length is not looked at.
        """
        if len(data) != objection_size(sizes):
            return None
        servers = len(sizes)
        try:
            upload, receipts, sealed = unpack(data, 3)
            result = cls(upload, tuple(unpack(receipts, servers)), tuple(unpack(sealed, servers)))
        except ValueError:
            return None
        complete = len(result.receipts) == servers == len(result.sealed)
        return result if complete else None

    def __bytes__(self) -> bytes:
        return pack(self.upload, pack(*self.receipts), pack(*self.sealed))

    def body(self, server: int) -> Body:
        """Return what the client sent to a server."""
        return Body.of_all(self.sealed)[server]

    def is_founded(self, bound: bytes, pins: Sequence[bytes]) -> bool:
        """Whether every server has confirmed exactly this upload."""
        fingerprint = self.body(0).fingerprint
        return all(
            confirms(pin, receipt, bound, self.upload, fingerprint)
            for pin, receipt in zip(pins, self.receipts, strict=True)
        )


def objection_size(sizes: Sequence[int]) -> int:
    """Return the bytes of an objection, given those of what is sealed to each server."""
    receipts = packed_size(*(SIGNATURE_BYTES for _ in sizes))
    return packed_size(ID_BYTES, receipts, packed_size(*sizes))
