"""Traps: packets of a server's own making, by which it notices that others were dropped.

A trap is a packet like any other and goes the same way, so that nobody but its maker can tell it
from a sender's. A server that drops d of N packets, of which T are traps of a server that it does
not work with, goes unseen with a probability of about (1 - T/N)^d: detection, not prevention.

Traps leave the list before it is opened. Every server commits to its traps before the first hop
mixes and names them when the list has been signed. By then it can't name a sender's core in their
place: before the mixing, nobody but the sender has seen her core.
"""

import hashlib
import hmac
from collections.abc import Collection, Sequence

import attrs

from anonloom_mixnet.packets import Packet, Route
from anonloom_transport import Entropy

_PERSON = b"loom mix traps 1"
_SALT = 32
_FINGERPRINT = 32

#: Most packets of its own making that a server sends along.
MOST_TRAPS = 4096


def fingerprint(core: bytes) -> bytes:
    """Return the hash by which a sealed core is named."""
    return hashlib.blake2b(core, digest_size=_FINGERPRINT, person=b"loom mix core 1").digest()


@attrs.frozen
class Traps:
    """The traps of one server.

    Attributes
    ----------
    packets
        What it sends like any sender.
    salt
        Keeps the commitment from telling which cores it is about.
    """

    packets: tuple[Packet, ...] = attrs.field(repr=False)
    salt: bytes = attrs.field(repr=False)

    @property
    def fingerprints(self) -> tuple[bytes, ...]:
        """What the server names when the list has been signed."""
        return tuple(sorted(fingerprint(packet.core) for packet in self.packets))

    @property
    def commitment(self) -> bytes:
        """What the server says before the first hop mixes."""
        return commitment(self.salt, self.fingerprints)

    def missing(self, cores: Collection[bytes]) -> tuple[int, ...]:
        """Return the numbers of the traps that are not in the list."""
        present = frozenset(cores)
        return tuple(
            number for number, packet in enumerate(self.packets) if packet.core not in present
        )


def lay(route: Route, number: int, entropy: Entropy) -> Traps:
    """Make traps; they carry random bytes."""
    packets = tuple(route.pack(entropy.bytes(route.size), entropy) for _ in range(number))
    return Traps(packets, entropy.bytes(_SALT))


def commitment(salt: bytes, fingerprints: Sequence[bytes]) -> bytes:
    """Return the commitment to traps with these fingerprints."""
    named = b"".join(sorted(fingerprints))
    return hashlib.blake2b(named, key=salt, digest_size=32, person=_PERSON).digest()


def struck(
    cores: Sequence[bytes], committed: bytes, salt: bytes, fingerprints: Sequence[bytes]
) -> tuple[bytes, ...] | None:
    """Return the list without the traps of a server; None when it did not commit to these."""
    if len(salt) != _SALT or any(len(named) != _FINGERPRINT for named in fingerprints):
        return None
    if not hmac.compare_digest(committed, commitment(salt, fingerprints)):
        return None
    named = frozenset(fingerprints)
    return tuple(core for core in cores if fingerprint(core) not in named)


def unseen(packets: int, traps: int, dropped: int) -> float:
    """Return how likely it is that none of the dropped packets is a trap.

    Exact for a server that drops packets blindly; about (1 - T/N)^d for small d.
    """
    chance = 1.0
    for already in range(dropped):
        chance *= max(packets - traps - already, 0) / (packets - already)
    return chance
