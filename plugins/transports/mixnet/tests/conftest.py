"""Cascades of any length to send packets through, and rounds that begin with one call."""

from collections.abc import Callable, Iterable, Sequence

import attrs
import pytest

from anonloom_mixnet.cascade import Batch, mix, peel, sealed_list
from anonloom_mixnet.layers import Opener, Phase
from anonloom_mixnet.packets import Keys, Packet, Route, generate, public
from anonloom_mixnet.transport import Mixnet
from anonloom_testing.transport import SeededEntropy, slot_secrets
from anonloom_transport import Channel, Driver, Erasure, Party, Round, SlotSecret

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


# --- whole rounds ---------------------------------------------------------------------------------


@attrs.frozen
class Begun:
    """A round whose servers have begun, with what senders know."""

    driver: Driver
    secrets: list[SlotSecret] = attrs.field(repr=False)

    def texts(self, number: int) -> list[bytes]:
        entropy = SeededEntropy("texts")
        return [entropy.bytes(self.driver.round.message_size) for _ in range(number)]

    def deposit(self, records: dict[int, bytes]) -> list:
        return self.driver.deposit(
            [(self.secrets[index], record) for index, record in records.items()]
        )

    def join(self, kind: type, message: bytes):
        """Let a client of some kind post a message."""
        client = self.driver.client()
        client.__class__ = kind
        self.send(client, client.post(message))
        return client

    def send(self, client, envelopes) -> None:
        sender = Party("client", self.driver.clients.index(client))
        for envelope in envelopes:
            self.driver.inject(attrs.evolve(envelope, sender=sender))

    @property
    def stopped(self) -> list[str]:
        return [server.stop_reason for server in self.driver.servers]

    @property
    def results(self) -> list:
        return [server.result for server in self.driver.servers]

    @property
    def opened_by(self) -> set[str]:
        """Which words were said by which anything could be opened."""
        messages = {sight.envelope.step for sight in self.driver.trace.network}
        return messages & {"named", "peel", "shares", "shares commit"}

    def finish(self) -> set[str]:
        """Play a round to its end; return why servers stopped, whoever of them found it first."""
        for act in (self.driver.close, self.driver.settle, self.driver.open):
            if not any(self.stopped):
                act()
        return {message.split("stopped the round: ")[-1] for message in self.stopped}


@pytest.fixture(scope="session")
def begin() -> Callable[..., Begun]:
    """Begin a round: `begin(operation, senders, servers=2, traps=2, planned=(), driver=Driver)`."""

    def make(
        operation: str,
        senders: int,
        *,
        servers: int = 2,
        suite: str = "x25519",
        size: int = 24,
        traps: int = 2,
        planned: Iterable[int] = (),
        driver: type[Driver] = Driver,
        more: dict | None = None,
        **given: object,
    ) -> Begun:
        described = {"id": "round", "operation": operation, "servers": servers, "suite": suite}
        described |= {"message_size": size, "min_batch": 1, **(more or {})}
        secrets, erasure = [], None
        if operation == "post":
            described["capacity"] = senders
        else:
            secrets = slot_secrets(senders)
            erasure = Erasure(frozenset(planned), bytes(32)) if planned else None
            described["slots"] = [secret.slot for secret in secrets]
            described["erasure"] = erasure.commitment if erasure else b""
        plan = Round(**described)
        keys = tuple(secret.key(plan.iterations) for secret in secrets)
        given = {"entropy": SeededEntropy("round"), **given}
        begun = driver(Mixnet(traps=traps), plan, slot_keys=keys, erasure=erasure, **given)
        return Begun(begun, secrets)

    return make


def bends(step: str, change: Callable) -> Callable:
    """Make a server that deviates from within: it says and believes `change(server, word)`."""

    def corrupt(server, config):
        class Bent(Channel):
            __slots__ = ()

            def send(self, sent, body):
                new = sent == step and not self.has_sent(step)
                Channel.send(self, sent, change(server, body) if new else body)

        server.channel.__class__ = Bent
        return server

    return corrupt


@pytest.fixture(scope="session")
def bent() -> Callable:
    """Make servers that deviate: `bent(step, change)`."""
    return bends
