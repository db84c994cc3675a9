"""Laying traps: how a server keeps its own over a restart, and what it says of them to the others.

Packets with ML-KEM can't be made twice, so traps are remembered with the other facts of the round.
"""

import hashlib

import attrs

from anonloom_mixnet.layers import Layer
from anonloom_mixnet.packets import Packet, Route
from anonloom_mixnet.suites import POINT
from anonloom_mixnet.traps import Traps
from anonloom_transport import cut, pack, unpack

COMMITMENT = 32


#: The type: inside the class the name is that of a method.
_Bytes = bytes


@attrs.define
class Stream:
    """Entropy that follows from 32 secret bytes of this round, so that a restart has it again."""

    _seed: _Bytes = attrs.field(repr=False)
    _drawn: int = attrs.field(default=0, init=False)

    def bytes(self, n: int, /) -> _Bytes:
        """Return `n` bytes that nobody can guess who has not the seed."""
        self._drawn += 1
        drawn = hashlib.shake_256(self._seed + self._drawn.to_bytes(8, "big"))
        return drawn.digest(n)


def write_traps(traps: Traps) -> bytes:
    """Write traps with all that their maker must remember."""
    return pack(
        traps.salt,
        *(
            pack(
                packet.sealed,
                packet.core,
                *(layer.ephemeral + layer.kem for layer in packet.layers),
            )
            for packet in traps.packets
        ),
    )


def read_traps(data: bytes) -> Traps:
    """Read what `write_traps` wrote."""
    salt, *packets = unpack(data)
    return Traps(tuple(_packet(*unpack(packet)) for packet in packets), salt)


def _packet(sealed: bytes, core: bytes, *secrets: bytes) -> Packet:
    layers = (Layer(b"", secret[:POINT], secret[POINT:]) for secret in secrets)
    return Packet(sealed, core, tuple(layers))


def write_laid(traps: Traps) -> bytes:
    """Write what a server tells the others before the first hop mixes."""
    return traps.commitment + b"".join(packet.sealed for packet in traps.packets)


def read_laid(word: bytes, route: Route, number: int) -> tuple[bytes, list[bytes]] | None:
    """Return commitment and packets; None when no honest server wrote that."""
    if len(word) != COMMITMENT + number * route.packet_size():
        return None
    return word[:COMMITMENT], cut(word[COMMITMENT:], route.packet_size())
