"""Items: what a packet of a deposit carries.

An item is `position || authenticator || n sealed shares`. The row is cut into n shares of which any
n - 1 are random bytes, and every share is sealed to its server, so that a row can be erased while
the position that it belongs to is already known. The authenticator is a MAC under a key that owner
and servers derive from the position's secret: nobody else can write there.

A server opens its share of a row by revealing the key of that one layer. Everybody then opens the
share by themselves, so a server can't pass off another share for its own.
"""

import hashlib
import hmac
from collections.abc import Sequence

import attrs

from anonloom_mixnet.layers import UnopenedLayer, decrypt, overhead
from anonloom_mixnet.packets import Route
from anonloom_mixnet.suites import SUITES
from anonloom_transport import Entropy

_POSITION = 4
_AUTHENTICATOR = 16

#: Where decoys belong.
NOWHERE = (1 << 8 * _POSITION) - 1


@attrs.frozen
class Item:
    """A deposit with its row still sealed.

    Attributes
    ----------
    position
        Where the row belongs.
    authenticator
        Shows that its sender knows the position's secret.
    shares
        The sealed shares of the row, by server.
    """

    position: int
    authenticator: bytes = attrs.field(repr=False)
    shares: tuple[bytes, ...] = attrs.field(repr=False)

    def authentic(self, round: bytes, secret: bytes) -> bool:
        """Tell whether the item was made by somebody who knows the position's secret."""
        expected = _authenticator(round, secret, self.position, self.shares)
        return hmac.compare_digest(expected, self.authenticator)


def item_size(suite: str, servers: int, row_size: int) -> int:
    """Bytes of every item of a round."""
    return _POSITION + _AUTHENTICATOR + servers * (row_size + overhead(suite))


def write_item(
    route: Route, round: bytes, position: int, secret: bytes, row: bytes, entropy: Entropy
) -> bytes:
    """Share a row among the servers, seal the shares, and authenticate them."""
    shares = [entropy.bytes(len(row)) for _ in range(route.hops - 1)]
    shares.append(_sum([row, *shares]))
    sealed = tuple(
        route.sealer("share", server).seal(share, entropy).sealed
        for server, share in enumerate(shares)
    )
    authenticator = _authenticator(round, secret, position, sealed)
    return position.to_bytes(_POSITION, "big") + authenticator + b"".join(sealed)


def read_item(item: bytes, suite: str, servers: int, row_size: int) -> Item:
    """Read what `write_item` wrote; whether it is authentic is another question.

    Raises
    ------
    ValueError
        When it has not the size of all items.
    """
    if len(item) != item_size(suite, servers, row_size):
        raise ValueError("an item of another size")
    start = _POSITION + _AUTHENTICATOR
    width = row_size + overhead(suite)
    return Item(
        int.from_bytes(item[:_POSITION], "big"),
        item[_POSITION:start],
        tuple(item[index : index + width] for index in range(start, len(item), width)),
    )


def open_row(item: Item, suite: str, keys: Sequence[bytes]) -> bytes:
    """Put a row together from the keys of its shares, as the servers revealed them.

    Raises
    ------
    UnopenedLayer
        When a key does not open its share; `unopened_by` tells whose.
    """
    head = SUITES[suite].head_size
    pairs = zip(keys, item.shares, strict=True)
    return _sum([decrypt(key, share[head:]) for key, share in pairs])


def unopened_by(item: Item, suite: str, keys: Sequence[bytes]) -> tuple[int, ...]:
    """Return the servers whose revealed keys do not open their shares.

    Either such a server lies, or the sender sealed that share badly.
    """
    head = SUITES[suite].head_size
    guilty = []
    for server, (key, share) in enumerate(zip(keys, item.shares, strict=True)):
        try:
            decrypt(key, share[head:])
        except UnopenedLayer:
            guilty.append(server)
    return tuple(guilty)


def _authenticator(round: bytes, secret: bytes, position: int, shares: Sequence[bytes]) -> bytes:
    key = hashlib.blake2b(secret, digest_size=32, person=b"loom mix item k1").digest()
    mac = hashlib.blake2b(key=key, digest_size=_AUTHENTICATOR, person=b"loom mix item 1")
    mac.update(len(round).to_bytes(4, "big") + round + position.to_bytes(_POSITION, "big"))
    for share in shares:
        mac.update(len(share).to_bytes(4, "big") + share)
    return mac.digest()


def _sum(parts: Sequence[bytes]) -> bytes:
    """Add bytes modulo two."""
    total = 0
    for part in parts:
        total ^= int.from_bytes(part, "big")
    return total.to_bytes(len(parts[0]), "big")
