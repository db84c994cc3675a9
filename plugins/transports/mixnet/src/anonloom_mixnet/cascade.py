"""Cascade: what one server does to a whole batch.

`mix` takes the outermost layer off every packet and shuffles; `peel` takes an inner layer off every
sealed core and keeps the order, which is public by then. Either way a layer counts once: its mark,
a hash of the shared secret, is remembered for as long as the key lives, and a layer with the same
mark is refused, in the same batch or in a later one.

A mark is remembered only when the layer opens. Otherwise somebody who saw a packet's head could put
it before rubbish, come first, and have the true packet refused in its place.
"""

from collections.abc import Sequence
from typing import Literal

import attrs

from anonloom_mixnet.layers import Opener, UnopenedLayer
from anonloom_mixnet.shuffling import random_order
from anonloom_transport import Entropy

#: Why a packet went no further.
Failure = Literal["size", "unopened", "replay"]


@attrs.frozen
class Batch:
    """What became of a batch.

    Attributes
    ----------
    outputs
        What was inside of the packets that opened.
    origins
        Of every output, the number of its packet.
    failures
        Why a packet went no further, by its number.
    keys
        Of every packet that opened, by its number, the key of its layer: kept until the round ends,
        to show of a single packet how it went on.
    """

    outputs: tuple[bytes, ...] = attrs.field(repr=False)
    origins: tuple[int, ...] = attrs.field(repr=False)
    failures: dict[int, Failure] = attrs.field(repr=False)
    keys: dict[int, bytes] = attrs.field(repr=False)


def peel(packets: Sequence[bytes], size: int, opener: Opener, seen: set[bytes]) -> Batch:
    """Take one layer off every packet, in order.

    Parameters
    ----------
    size
        Bytes of every packet; another size is refused.
    seen
        Marks of all layers that this key has opened. It grows; whoever restarts a server must
        restore it.
    """
    outputs: list[bytes] = []
    keys: dict[int, bytes] = {}
    failures: dict[int, Failure] = {}
    open_layer = opener.open
    for number, packet in enumerate(packets):
        if len(packet) != size:
            failures[number] = "size"
            continue
        try:
            layer = open_layer(packet)
        except UnopenedLayer:
            failures[number] = "unopened"
            continue
        if layer.mark in seen:
            failures[number] = "replay"
            continue
        seen.add(layer.mark)
        outputs.append(layer.inside)
        keys[number] = layer.key
    return Batch(tuple(outputs), tuple(keys), failures, keys)


def mix(
    packets: Sequence[bytes], size: int, opener: Opener, seen: set[bytes], entropy: Entropy
) -> Batch:
    """Take one layer off every packet and shuffle what was inside; see `peel`."""
    batch = peel(packets, size, opener, seen)
    order = random_order(len(batch.outputs), entropy)
    return attrs.evolve(
        batch,
        outputs=tuple(batch.outputs[place] for place in order),
        origins=tuple(batch.origins[place] for place in order),
    )


def sealed_list(cores: Sequence[bytes]) -> tuple[bytes, ...]:
    """Return the list that all servers sign: every core once, in order of its bytes.

    The order depends on ciphertexts only, so the last server can't choose it. A core that the last
    server put out twice stands there once.
    """
    return tuple(sorted(set(cores)))
