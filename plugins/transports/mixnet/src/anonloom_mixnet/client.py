"""The sender's side of transport mixnet: one packet, and a look at the list of sealed cores."""

from collections.abc import Sequence
from functools import lru_cache

import attrs

from anonloom import short_repr
from anonloom_mixnet.blame_messages import HOP_BYTES, read_failed
from anonloom_mixnet.items import NOWHERE, write_item
from anonloom_mixnet.packets import Route
from anonloom_mixnet.route_claims import LISTED, KeptPacket, list_entry, name_of, route_of
from anonloom_mixnet.traps import MOST_TRAPS
from anonloom_transport import (
    SECRET_BYTES,
    Envelope,
    RoundClient,
    SlotSecret,
    cut,
    pack,
    row_size,
    signed_size,
    unpack,
    verify_signature,
    write_row,
)


@short_repr
@attrs.define(eq=False)
class MixnetClient(RoundClient):
    """Seals its message in layers, hands it to the first hop, and checks that it arrived.

    Attributes
    ----------
    arrived
        Whether its sealed core is in the list that all servers have signed; None before it has seen
        one.
    """

    arrived: bool | None = attrs.field(default=None, init=False)
    _kept: KeptPacket | None = attrs.field(default=None, init=False, repr=False)
    _listed: bytes = attrs.field(default=b"", init=False, repr=False)

    @property
    def _route(self) -> Route:
        return route_of(self.notice)

    def for_post(self, message: bytes) -> list[bytes]:
        """Return the packet for the first hop, and nothing for the others."""
        packet = self._route.pack(message, self._entropy)
        self._kept, self._listed = KeptPacket.of(packet), list_entry(packet.core)
        return [packet.sealed] + [b""] * (self.round.servers - 1)

    def for_deposit(self, position: int, secret: SlotSecret, record: bytes) -> list[bytes]:
        """Return the packet for the first hop; it carries a share of the row for every server."""
        row = write_row(secret, self.round.iteration, self.round.iterations, record)
        bound, alpha = self.notice.binding, secret.alpha
        return self.for_post(write_item(self._route, bound, position, alpha, row, self._entropy))

    def for_decoy(self) -> list[bytes]:
        """Return the packet of an item that belongs nowhere."""
        size = row_size(self.round.message_size)
        row, alpha = self._entropy.bytes(size), self._entropy.bytes(SECRET_BYTES)
        return self.for_post(
            write_item(self._route, self.notice.binding, NOWHERE, alpha, row, self._entropy)
        )

    def new_id(self, contents: Sequence[bytes]) -> bytes:
        """Return the name of the packet: so all servers know what the first hop confirms."""
        return name_of(contents[0])

    def take_document(self, step: str, envelope: Envelope) -> list[Envelope]:
        """Look for the own core in the signed list; answer a hop that could not open the packet."""
        if step == "mixed":
            return self._take_mixed(envelope.body)
        if step == "blamed":
            answer = self.take_blame(envelope.body)
            return [self.to(envelope.sender.index, "layer", answer)] if answer else []
        return []

    def _take_mixed(self, data: bytes) -> list[Envelope]:
        if self.arrived is not None or self._kept is None:
            return []
        servers = self.round.servers
        most = self.round.capacity + servers * MOST_TRAPS
        if len(data) > signed_size(most * LISTED, servers):
            return []
        document = self.signed_by_all("mixed", data)
        if document is None:
            return []
        self.arrived = self._listed in _pieces(document)
        if self.arrived or not self.is_acknowledged:
            return []
        claim = bytes(self._kept)
        return [self.to(server, "missing", claim) for server in range(self.round.servers)]

    def take_blame(self, data: bytes) -> bytes:
        """Return what shows the layer that a hop could not open; nothing if no hop says so.

        Only a hop that has signed that it failed gets an answer: what is shown then it must know
        already, or it lies, and the round ends with nothing opened.
        """
        try:
            number, signature, word = unpack(data, 3)
        except ValueError:
            return b""
        hop = int.from_bytes(number, "big")
        if self._kept is None or len(number) != HOP_BYTES or hop >= self.round.servers:
            return b""
        pin, bound = self.notice.pins[hop], self.notice.binding
        result = self._kept.layers(self._route)
        if result is None or not verify_signature(pin, signature, "word failed", bound, word):
            return b""
        layer = result[0][hop]
        if all(failed.name != name_of(layer.sealed) for failed in read_failed(word) or ()):
            return b""
        return pack(number, layer.ephemeral, layer.kem)


# What thousands of clients in one process are shown is read once.
@lru_cache(maxsize=4)
def _pieces(document: bytes) -> frozenset[bytes]:
    return frozenset(cut(document, LISTED))
