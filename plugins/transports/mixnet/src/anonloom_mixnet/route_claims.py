"""Ways: what a sender keeps of its packet, and how it shows which way the packet should have gone.

An upload is named by a hash of its packet, and the first hop confirms it only when it opens. So all
servers know by name what the first hop was given, and none can say later that it was something
else. A sender whose core is missing shows the ephemeral keys of the outer layers of her own packet:
whoever has them can follow this packet from hop to hop, and no other.
"""

import hashlib
import hmac
from functools import lru_cache

import attrs

from anonloom_mixnet.items import item_size
from anonloom_mixnet.layers import Layer, UnopenedLayer, decrypt, derive
from anonloom_mixnet.packets import Keys, Packet, Route
from anonloom_mixnet.suites import POINT, SUITES
from anonloom_mixnet.traps import fingerprint
from anonloom_transport import ID_BYTES, Notice, Round, row_size

#: Bytes by which a core is named in the list that clients look at.
LISTED = 16


def name_of(packet: bytes) -> bytes:
    """Return the name of a packet: the id of the upload that brought it."""
    return hashlib.sha256(b"anonloom mixnet packet 1\0" + packet).digest()[:ID_BYTES]


def list_entry(core: bytes) -> bytes:
    """Return what stands for a sealed core in the signed list."""
    return fingerprint(core)[:LISTED]


def carried_size(round: Round) -> int:
    """Bytes of what every packet of a round carries."""
    if round.operation == "post":
        return round.message_size
    return item_size(round.suite, round.servers, row_size(round.message_size))


def route_of(notice: Notice) -> Route:
    """Return the way of all packets of a round.

    Raises
    ------
    ValueError
        When a server's key is malformed.
    """
    keys = tuple(own[1:] for own in notice.keys)
    return _route(notice.binding, notice.round.suite, keys, carried_size(notice.round))


# Thousands of clients in one process share the keys that they have read.
@lru_cache(maxsize=16)
def _route(bound: bytes, suite: str, keys: tuple[tuple[bytes, ...], ...], size: int) -> Route:
    if any(len(own) != len(attrs.fields(Keys)) for own in keys):
        raise ValueError("a server has one key for each phase")
    return Route(bound, suite, [Keys(*own) for own in keys], size)


@attrs.frozen
class KeptPacket:
    """What a sender keeps of a packet: little, because many senders may live in one process.

    Shown to the servers it is the claim that the packet's core is missing, and it proves itself.
    Only the sender knows the ephemeral keys, so nobody else can have her packet followed; and
    whoever follows it finds a core that is not in the list, so that nothing that was delivered is
    connected with anybody.

    Attributes
    ----------
    packet
        What went to the first hop.
    secrets
        Ephemeral key and ML-KEM's part of each outer layer.
    """

    packet: bytes = attrs.field(repr=False)
    secrets: tuple[tuple[bytes, bytes], ...] = attrs.field(repr=False)

    @classmethod
    def of(cls, packet: Packet) -> "KeptPacket":
        """Keep what matters of a packet."""
        return cls(packet.sealed, tuple((layer.ephemeral, layer.kem) for layer in packet.layers))

    @classmethod
    def read(cls, route: Route, data: bytes) -> "KeptPacket | None":
        """Read what `bytes` wrote; None when it has another size."""
        size, width = route.packet_size(), _secret_size(route)
        if len(data) != size + route.hops * width:
            return None
        secrets = (data[index : index + width] for index in range(size, len(data), width))
        return cls(data[:size], tuple((secret[:POINT], secret[POINT:]) for secret in secrets))

    def __bytes__(self) -> bytes:
        return self.packet + b"".join(ephemeral + kem for ephemeral, kem in self.secrets)

    @property
    def name(self) -> bytes:
        """Id of the upload that brought it."""
        return name_of(self.packet)

    def layers(self, route: Route) -> tuple[tuple[Layer, ...], bytes] | None:
        """Return the outer layers by hop, and the core; None if the secrets are not its own."""
        sealed, result = self.packet, []
        for hop, (ephemeral, kem) in enumerate(self.secrets):
            place = route.place("mix", hop)
            head, inside = sealed[: place.kem.head_size], sealed[place.kem.head_size :]
            try:
                point, shared = place.kem.recompute_head(place.public, ephemeral, kem)
                if not hmac.compare_digest(point, head[-POINT:]):
                    return None
                result.append(Layer(sealed, ephemeral, kem))
                sealed = decrypt(derive(place, head, shared)[0], inside)
            except (ValueError, UnopenedLayer):
                return None
        return tuple(result), sealed

    def way(self, route: Route) -> tuple[bytes, ...] | None:
        """Return the packet as each hop should get it, and at last its core."""
        result = self.layers(route)
        return None if result is None else (*(layer.sealed for layer in result[0]), result[1])


def _secret_size(route: Route) -> int:
    return POINT if SUITES[route.suite].provable else 2 * POINT
