"""Packets: a message in n layers to be peeled, inside n layers to be mixed.

The outer layers are taken off one by one by the servers of the cascade, each of which shuffles.
What then remains of every packet is its sealed core. The list of all sealed cores is signed by all
servers, and senders look for theirs, before the first of the inner layers is opened: a server that
drops or substitutes packets is noticed while it can't yet know what they hold.

All packets of a round have one size at every hop, whoever sends them.
"""

from collections.abc import Sequence
from typing import get_args

import attrs

from anonloom_mixnet.layers import Layer, Phase, Place, Sealer, overhead
from anonloom_mixnet.suites import SUITES
from anonloom_transport import Entropy


@attrs.frozen
class Keys:
    """A server's keys of one round, private or public, one for each phase.

    Attributes
    ----------
    mix
        Opens the outer layers. It never leaves the server.
    peel
        Opens the inner layers. The private key is published when the list of sealed cores has been
        signed and nobody objects: then everybody opens all cores alike, and no server can say of
        a message that it dislikes that it did not open.
    share
        Opens the server's shares of deposited rows. It never leaves the server either, so that
        erased rows stay sealed.
    """

    mix: bytes = attrs.field(repr=False)
    peel: bytes = attrs.field(repr=False)
    share: bytes = attrs.field(repr=False)


def generate(suite: str, entropy: Entropy) -> Keys:
    """Draw the private keys of one server for one round."""
    kem = SUITES[suite]
    return Keys(kem.generate(entropy), kem.generate(entropy), kem.generate(entropy))


def public(suite: str, private: Keys) -> Keys:
    """Return the public keys of private ones."""
    kem = SUITES[suite]
    return Keys(kem.public(private.mix), kem.public(private.peel), kem.public(private.share))


def wrong_keys(suite: str, keys: Sequence[bytes]) -> str:
    """Say what is wrong with the public keys that a server announced, or nothing."""
    phases = [field.name for field in attrs.fields(Keys)]
    if len(keys) != len(phases):
        return f"{len(keys)} keys for layers instead of {len(phases)}"
    for phase, key in zip(phases, keys, strict=True):
        try:
            SUITES[suite].sender(key)
        except ValueError:
            return f"its key '{phase}' is none of the suite '{suite}'"
    return ""


@attrs.frozen
class Packet:
    """A packet with what its sender keeps of it.

    Attributes
    ----------
    sealed
        What goes to the first hop.
    core
        The sealed core, for which the sender looks in the signed list.
    layers
        The outer layers by hop: with one of them she can refute a server that says that her packet
        does not open.
    """

    sealed: bytes = attrs.field(repr=False)
    core: bytes = attrs.field(repr=False)
    layers: tuple[Layer, ...] = attrs.field(repr=False)


class Route:
    """The way of every packet of one round.

    Parameters
    ----------
    round
        Digest of the round.
    suite
        Name of the suite of all layers.
    keys
        Public keys of the servers, in order of the cascade.
    size
        Bytes of what a packet carries.

    Raises
    ------
    ValueError
        When a key is malformed.
    """

    def __init__(self, round: bytes, suite: str, keys: Sequence[Keys], size: int) -> None:
        self.suite = suite
        self.size = size
        self.hops = len(keys)
        # Parsed once: reading a public key of ML-KEM costs as much as an encapsulation.
        self._sealers: dict[Phase, tuple[Sealer, ...]] = {}
        for phase in get_args(Phase):
            self._sealers[phase] = tuple(
                Sealer(
                    Place(
                        round=round, phase=phase, hop=hop, suite=suite, public=getattr(key, phase)
                    )
                )
                for hop, key in enumerate(keys)
            )

    def sealer(self, phase: Phase, hop: int) -> Sealer:
        """Return what seals a layer to a server."""
        return self._sealers[phase][hop]

    def place(self, phase: Phase, hop: int) -> Place:
        """Return where the layer of a server belongs."""
        return self._sealers[phase][hop].place

    def core_size(self, peeled: int = 0) -> int:
        """Bytes of a sealed core, of which so many layers were taken off."""
        return self.size + (self.hops - peeled) * overhead(self.suite)

    def packet_size(self, hop: int = 0) -> int:
        """Bytes of a packet when it reaches a hop; the one after the last sends sealed cores."""
        return self.core_size() + (self.hops - hop) * overhead(self.suite)

    def pack(self, message: bytes, entropy: Entropy) -> Packet:
        """Seal a message.

        Raises
        ------
        ValueError
            When it has not the size of all others.
        """
        if len(message) != self.size:
            raise ValueError(
                f"what a packet carries must have {self.size} bytes. Got {len(message)} instead."
            )
        core = message
        for sealer in reversed(self._sealers["peel"]):
            core = sealer.seal(core, entropy).sealed
        inside = core
        layers = []
        for sealer in reversed(self._sealers["mix"]):
            layer = sealer.seal(inside, entropy)
            layers.append(layer)
            inside = layer.sealed
        return Packet(inside, core, tuple(reversed(layers)))
