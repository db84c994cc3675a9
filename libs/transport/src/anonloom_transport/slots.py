"""Slots: how a position belongs to somebody whom nobody can name.

A donor draws a `SlotSecret` and posts its `SlotKey` anonymously. The servers publish the sorted
hashes of all keys; the rank of her own among them is the donor's position. The first half of the
secret, alpha, is shared with the servers: with it they notice writes of other donors. The second
half stays with the donor; its hash chain proves to everybody, the servers too, that a record is
from whoever posted the key. Link j of the chain is shown with the record of iteration j.
"""

import hashlib
import hmac

import attrs

from anonloom.errors import TransportError

#: Bytes of alpha, of a chain's links, and of the mark that binds a record to its link.
SECRET_BYTES = 16

#: Bytes of what is published of a position's key.
SLOT_BYTES = 32


@attrs.frozen
class SlotKey:
    """What the servers learn of a position: alpha, and the end of its owner's hash chain."""

    alpha: bytes = attrs.field(repr=False)
    head: bytes = attrs.field(repr=False)

    @property
    def slot(self) -> bytes:
        """What is published."""
        return slot_of(self.alpha)

    def __bytes__(self) -> bytes:
        return self.alpha + self.head

    @classmethod
    def read(cls, data: bytes) -> "SlotKey":
        """Read what a donor posted.

        Raises
        ------
        TransportError
            When it has not the size of a key.
        """
        if len(data) != 2 * SECRET_BYTES:
            raise TransportError(
                f"a slot's key must have {2 * SECRET_BYTES} bytes. Got {len(data)} instead."
            )
        return cls(data[:SECRET_BYTES], data[SECRET_BYTES:])


@attrs.frozen
class SlotSecret:
    """What makes a position one's own.

    Parameters
    ----------
    alpha
        16 random bytes, which the servers will know.
    seed
        16 random bytes, which nobody else will ever know.
    """

    alpha: bytes = attrs.field(repr=False)
    seed: bytes = attrs.field(repr=False)

    @property
    def slot(self) -> bytes:
        """What is published of the position."""
        return slot_of(self.alpha)

    def link(self, iteration: int, iterations: int) -> bytes:
        """Return the link of the chain that is shown in an iteration, counted from 1."""
        return chain(self.seed, iterations - iteration)

    def key(self, iterations: int = 1) -> SlotKey:
        """Return what is posted to reserve the position for so many iterations."""
        return SlotKey(self.alpha, chain(self.seed, iterations))


def slot_of(alpha: bytes) -> bytes:
    """Return what is published of a position's alpha."""
    return hashlib.sha256(b"anonloom slot 1\0" + alpha).digest()


def chain(link: bytes, steps: int) -> bytes:
    """Walk a hash chain."""
    for _ in range(steps):
        link = hashlib.sha256(b"anonloom chain 1\0" + link).digest()[:SECRET_BYTES]
    return link


# --- rows: a record with the proof of whose it is -------------------------------------------------


def row_size(message_size: int) -> int:
    """Bytes of a record together with its proof."""
    return message_size + 2 * SECRET_BYTES


def write_row(secret: SlotSecret, iteration: int, iterations: int, record: bytes) -> bytes:
    """Return link, record and the mark that binds them."""
    link = secret.link(iteration, iterations)
    return link + record + _mark(link, record)


def read_row(head: bytes, iteration: int, row: bytes) -> bytes | None:
    """Return the record of a row, or None when it is not from the owner of the chain.

    Whoever changes a row without knowing the link that is still secret cannot make it pass; a row
    that does not pass is withheld, so that a record changed by anybody but its sender is never
    published.
    """
    link, record, mark = row[:SECRET_BYTES], row[SECRET_BYTES:-SECRET_BYTES], row[-SECRET_BYTES:]
    genuine = hmac.compare_digest(chain(link, iteration), head)
    return record if hmac.compare_digest(_mark(link, record), mark) and genuine else None


def _mark(link: bytes, record: bytes) -> bytes:
    return hmac.digest(link, b"anonloom row 1\0" + record, "sha256")[:SECRET_BYTES]
