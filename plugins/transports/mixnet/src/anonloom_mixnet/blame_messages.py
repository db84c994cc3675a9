"""Wordings: what servers of a cascade say to each other when a packet does not open, as bytes."""

import struct
from collections.abc import Iterable, Sequence

import attrs

from anonloom_mixnet.layers import KEY
from anonloom_transport import ID_BYTES

_FAILURE = struct.Struct(f">I{ID_BYTES}sI")
_ORIGIN = struct.Struct(f">I{KEY}s")

#: Bytes of the number of a hop, in what clients are asked and answer.
HOP_BYTES = 4

#: Stands for 'repeats no other packet'.
NONE = 2**32 - 1


@attrs.frozen
class FailedPacket:
    """A packet of which a hop says that it goes no further.

    Attributes
    ----------
    number
        Its place in the list that the hop was given.
    name
        Its hash, by which its sender knows it.
    earlier
        Place of the packet that it repeats; `NONE` when it does not open at all.
    """

    number: int
    name: bytes = attrs.field(repr=False)
    earlier: int = NONE

    @property
    def repeats(self) -> bool:
        """Whether it repeats another packet."""
        return self.earlier != NONE


def write_failed(failed: Iterable[FailedPacket]) -> bytes:
    """Write what a hop says of the packets that it could not open."""
    return b"".join(_FAILURE.pack(item.number, item.name, item.earlier) for item in failed)


def read_failed(word: bytes) -> list[FailedPacket] | None:
    """Read it; None when no honest hop wrote it."""
    if not word or len(word) % _FAILURE.size:
        return None
    return [FailedPacket(*fields) for fields in _FAILURE.iter_unpack(word)]


@attrs.frozen
class Origin:
    """Where a hop got an output from: the number of the packet, and the key of its layer."""

    number: int
    key: bytes = attrs.field(repr=False)


def write_origins(origins: Iterable[Origin]) -> bytes:
    """Write what a hop shows of its outputs."""
    return b"".join(_ORIGIN.pack(origin.number, origin.key) for origin in origins)


def read_origins(word: bytes, number: int) -> list[Origin] | None:
    """Read what a hop shows of so many outputs; None when no honest hop wrote it."""
    if len(word) != number * _ORIGIN.size:
        return None
    return [Origin(*fields) for fields in _ORIGIN.iter_unpack(word)]


def suspects(failed: Sequence[FailedPacket]) -> list[int]:
    """Return the places of all packets that are traced: those that failed, and what they repeat."""
    earlier = {item.earlier for item in failed if item.repeats}
    return [item.number for item in failed] + sorted(earlier - {item.number for item in failed})
