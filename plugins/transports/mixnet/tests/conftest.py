"""Cascades of any length to send packets through."""

from collections.abc import Callable, Sequence

import attrs
import pytest

from anonloom.testing.entropy import SeededEntropy
from anonloom_mixnet.cascade import Batch, mix, peel, sealed_list
from anonloom_mixnet.layers import Opener, Phase
from anonloom_mixnet.packets import Keys, Packet, Route, generate, public

ROUND = b"a round's digest, thirty-two by."


@attrs.frozen
class Cascade:
    """All servers of one round, with their private keys."""

    suite: str
    route: Route
    private: tuple[Keys, ...]
    entropy: SeededEntropy

    def opener(self, phase: Phase, hop: int) -> Opener:
        return Opener(self.route.place(phase, hop), getattr(self.private[hop], phase))

    def pack(self, messages: Sequence[bytes]) -> list[Packet]:
        return [self.route.pack(message, self.entropy) for message in messages]

    def mixed(self, packets: Sequence[bytes]) -> list[Batch]:
        """Send packets through all hops."""
        batches: list[Batch] = []
        for hop in range(self.route.hops):
            size = self.route.packet_size(hop)
            batches.append(mix(packets, size, self.opener("mix", hop), set(), self.entropy))
            packets = batches[-1].outputs
        return batches

    def peeled(self, cores: Sequence[bytes]) -> list[Batch]:
        """Take all layers off sealed cores."""
        batches: list[Batch] = []
        for hop in range(self.route.hops):
            size = self.route.core_size(hop)
            batches.append(peel(cores, size, self.opener("peel", hop), set()))
            cores = batches[-1].outputs
        return batches

    def delivered(self, packets: Sequence[bytes]) -> list[bytes]:
        """Return what arrives of packets, in order of the bytes."""
        cores = sealed_list(self.mixed(packets)[-1].outputs)
        return sorted(self.peeled(cores)[-1].outputs)


def build(suite: str, servers: int, size: int, seed: object = 0) -> Cascade:
    entropy = SeededEntropy(seed)
    private = tuple(generate(suite, entropy) for _ in range(servers))
    route = Route(ROUND, suite, [public(suite, keys) for keys in private], size)
    return Cascade(suite, route, private, entropy)


@pytest.fixture(scope="session")
def cascade() -> Callable[..., Cascade]:
    """Build a cascade: `cascade(suite, servers, size, seed)`."""
    return build
