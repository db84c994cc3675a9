"""Registration: from posted quasi-identifiers to classes that every donor can look herself up in.

Algorithm 1 of the paper, steps 3 to 6, on the servers' side.
"""

import hashlib
import json
from functools import lru_cache

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom.errors import TransportError
from anonloom_anonify.study import PID_BYTES
from anonloom_anonify.work import ClassAssignment
from anonloom_transport import cut, pack, unpack

_HEAD = b"anonloom classes 1"


@attrs.frozen(eq=False)
class Registrations:
    """Who registered, in an order that all servers find by themselves.

    Attributes
    ----------
    pids
        Identifiers, one per record.
    records
        Encoded quasi-identifiers, in the order of their bytes: positions in a table of a transport
        are random, and stages whose result depends on the order of rows must not depend on them.
    repeated
        Messages whose identifier came more than once: whose they are cannot be told apart, and
        they are left out.
    """

    pids: list[bytes] = attrs.field(repr=False)
    records: NDArray[np.uint8] = attrs.field(repr=False)
    repeated: int

    @classmethod
    def of(cls, messages: list[bytes], size: int) -> "Registrations":
        """Sort what donors posted."""
        times: dict[bytes, int] = {}
        for message in messages:
            pid = message[:PID_BYTES]
            times[pid] = times.get(pid, 0) + 1
        once = [message for message in messages if times[message[:PID_BYTES]] == 1]
        once.sort(key=lambda message: (message[PID_BYTES:], message[:PID_BYTES]))
        records = np.frombuffer(b"".join(message[PID_BYTES:] for message in once), np.uint8)
        return cls(
            [message[:PID_BYTES] for message in once],
            records.reshape(len(once), size),
            len(messages) - len(once),
        )

    @property
    def digest(self) -> bytes:
        """Hash of what the classes are made of."""
        return hashlib.sha256(pack(*self.pids, self.records.tobytes())).digest()


@attrs.frozen(eq=False)
class Classes:
    """What is broadcast: each class with the identifiers of those in it, and what it publishes.

    Attributes
    ----------
    members
        Identifiers of each class in rising order; first of those that are suppressed.
    cells
        What is published of each class.
    """

    members: tuple[tuple[bytes, ...], ...] = attrs.field(repr=False)
    cells: tuple[tuple[str | None, ...], ...] = attrs.field(repr=False)

    @classmethod
    def of(cls, registered: Registrations, assignment: ClassAssignment) -> "Classes":
        """Put everybody into the class that was found for the record."""
        members: list[list[bytes]] = [[] for _ in assignment.cells]
        for pid, number in zip(registered.pids, assignment.numbers.tolist(), strict=True):
            if number >= 0:
                members[number].append(pid)
        return cls(tuple(tuple(sorted(of)) for of in members), assignment.cells)

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many are in each class."""
        return tuple(len(of) for of in self.members)

    def encode(self) -> bytes:
        """Return the bytes that all servers sign."""
        return pack(_HEAD, json.dumps(self.cells).encode(), *(b"".join(of) for of in self.members))

    @classmethod
    def decode(cls, data: bytes) -> "Classes":
        """Read a broadcast.

        Raises
        ------
        TransportError
            When no broadcast is written like that.
        """
        try:
            head, cells, *members = unpack(data)
            read = tuple(tuple(of) for of in json.loads(cells))
            result = cls(tuple(tuple(cut(of, PID_BYTES)) for of in members), read)
        except (ValueError, TypeError, RecursionError):
            raise TransportError("the classes cannot be read") from None
        if head != _HEAD or len(result.cells) != len(result.members) or result.encode() != data:
            raise TransportError("the classes cannot be read")
        return result


# Thousands of donors in one process are shown the same bytes: they are read once.
@lru_cache(maxsize=4)
def class_of_everybody(data: bytes) -> dict[bytes, int]:
    """Return the class of every identifier in a broadcast; raises as `Classes.decode` does."""
    members = Classes.decode(data).members
    return {pid: number for number, of in enumerate(members) for pid in of}
