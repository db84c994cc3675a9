"""Carrying one round for the checks of transports: who sends what, over which network."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from anonloom.errors import TransportError
from anonloom_testing.transport.entropy import SeededEntropy
from anonloom_transport import (
    ID_BYTES,
    SECRET_BYTES,
    Corruption,
    Driver,
    Envelope,
    Erasure,
    Fault,
    Party,
    Round,
    RoundOperation,
    SlotSecret,
)

#: Bytes of every message.
SIZE = 24
#: Senders of an ordinary round.
SENDERS = 40
#: How often everybody tries again; each time about a third of the envelopes is lost.
TRIES = 30
#: Which of how many iterations the rounds are that ask for one in the middle.
ITERATION, ITERATIONS = 2, 3

#: Somebody who is no sender of the round.
STRANGER = Party("client", 10_000)

Network = Callable[[SeededEntropy], list[Fault]]


def good_network(entropy: SeededEntropy) -> list[Fault]:
    """Lose and change nothing."""
    return []


@attrs.frozen(kw_only=True)
class Plan:
    """How a round goes.

    Attributes
    ----------
    network
        Makes the faults.
    planned, withdrawn
        Of a deposit, the positions that are erased because the round says so, and those that are
        erased because their donors asked for it.
    noise
        Whether somebody sends garbage all the time.
    restarts
        Whether servers are stopped and started again after everything that they get.
    """

    operation: RoundOperation
    network: Network = good_network
    senders: int = SENDERS
    min_batch: int = 5
    planned: tuple[int, ...] = ()
    withdrawn: tuple[int, ...] = ()
    noise: bool = False
    restarts: bool = False
    more: dict[str, Any] = attrs.field(factory=dict)

    @property
    def erased_positions(self) -> set[int]:
        """All positions that are erased."""
        return {*self.planned, *self.withdrawn}


@attrs.frozen
class CarriedRound:
    """What one round did, in plain data.

    Attributes
    ----------
    sent
        Messages in the order of their senders; of a deposit by position.
    acknowledged
        Whether each sender was told that all servers have its message.
    result
        What became public.
    refused
        What was refused, by reason.
    garbage
        Number of envelopes with garbage that reached a server.
    """

    sent: dict[int, bytes]
    acknowledged: dict[int, bool]
    result: list[bytes | None]
    refused: Counter[str]
    garbage: int


@attrs.define(eq=False)
class RestartingDriver(Driver):
    """A driver whose servers are started again before and after everything that they get."""

    def deliver(self) -> None:
        """Start every server again, then carry envelopes, and start their receivers again."""
        for index in range(self.round.servers):
            self.restart(index)
        super().deliver()

    def deliver_one(self) -> None:
        """Carry one envelope, and start its receiver again."""
        upcoming = self.network.next_delivery
        assert upcoming is not None
        receiver = upcoming.envelope.receiver
        super().deliver_one()
        if receiver.role == "server" and receiver.index < self.round.servers:
            self.restart(receiver.index)


def messages(number: int = SENDERS) -> list[bytes]:
    """Return messages of one size; two of them would betray whoever compresses."""
    entropy = SeededEntropy("messages")
    plain = [bytes(SIZE), b"\xff" * SIZE]
    return [*(entropy.bytes(SIZE) for _ in range(number - len(plain))), *plain]


def slot_secrets(number: int = SENDERS) -> list[SlotSecret]:
    """Return the secrets of a deposit's positions, in their order."""
    entropy = SeededEntropy("secrets")
    drawn = (
        SlotSecret(entropy.bytes(SECRET_BYTES), entropy.bytes(SECRET_BYTES)) for _ in range(number)
    )
    return sorted(drawn, key=lambda secret: secret.slot)


def make_round(servers: int, plan: Plan) -> Round:
    """Return the description of a round."""
    described: dict[str, Any] = {
        "id": f"kit-{plan.operation}",
        "operation": plan.operation,
        "servers": servers,
        "message_size": SIZE,
        "min_batch": plan.min_batch,
        **plan.more,
    }
    if plan.operation == "post":
        return Round(capacity=max(plan.senders, plan.min_batch), **described)
    erasure = _erasure(plan)
    return Round(
        slots=[secret.slot for secret in slot_secrets(plan.senders)],
        erasure=erasure.commitment if erasure else b"",
        **described,
    )


def _erasure(plan: Plan) -> Erasure | None:
    salt = SeededEntropy("erasure").bytes(32)
    return Erasure(frozenset(plan.planned), salt) if plan.planned else None


def make_driver(
    transport: Any,
    round: Round,
    plan: Plan,
    seed: object = 0,
    corrupted: Mapping[int, Corruption] | None = None,
) -> Driver:
    """Return a driver whose servers have begun, or one of them has stopped the round."""
    secrets = slot_secrets(plan.senders) if plan.operation == "deposit" else []
    driver = (RestartingDriver if plan.restarts else Driver)(
        transport,
        round,
        entropy=SeededEntropy(seed),
        faults=plan.network(SeededEntropy("network")),
        slot_keys=tuple(secret.key(round.iterations) for secret in secrets),
        erasure=_erasure(plan),
        corrupted=corrupted or {},
    )
    insist(driver, lambda: all(server.notice is not None for server in driver.servers))
    return driver


def insist(driver: Driver, done: Callable[[], bool]) -> None:
    """Let everybody send again until something is so, or it is hopeless."""
    for _ in range(TRIES):
        if done() or any(server.stop_reason for server in driver.servers):
            return
        driver.retry()


def step(driver: Driver, act: Callable[[], None]) -> None:
    """Ask all servers for something until none says that it is too early."""
    for _ in range(TRIES):
        try:
            act()
            return
        except TransportError:
            if any(server.stop_reason for server in driver.servers):
                raise
            driver.retry()
    act()


def send(driver: Driver, plan: Plan) -> dict[int, bytes]:
    """Let every client send; return the messages, of a deposit by position."""
    contents = messages(plan.senders)
    if plan.operation == "post":
        driver.post(contents)
        return dict(enumerate(contents))
    # Every seventh position stays empty.
    sent = {index: message for index, message in enumerate(contents) if index % 7}
    secrets = slot_secrets(plan.senders)
    driver.deposit([(secrets[index], record) for index, record in sent.items()])
    # Their owners are there nevertheless.
    driver.decoy(plan.senders - len(sent))
    return sent


def carry(transport: Any, round: Round, plan: Plan, seed: object) -> CarriedRound:
    """Drive a whole round."""
    driver = make_driver(transport, round, plan, seed)
    garbage = _garble(driver, plan)
    sent = send(driver, plan)
    insist(driver, lambda: all(client.is_acknowledged for client in driver.clients))
    garbage += _garble(driver, plan)
    driver.close()
    garbage += _garble(driver, plan)
    step(driver, driver.settle)
    if plan.withdrawn:
        driver.erase(plan.withdrawn)
    garbage += _garble(driver, plan)
    step(driver, driver.open)
    insist(driver, lambda: all(server.result is not None for server in driver.servers))
    # Decoys come after everybody who sends something.
    acknowledged = [client.is_acknowledged for client in driver.clients[: len(sent)]]
    return CarriedRound(
        sent,
        dict(zip(sent, acknowledged, strict=True)),
        list(driver.result()),
        driver.count_refusals(),
        garbage,
    )


def _garble(driver: Driver, plan: Plan) -> int:
    """Send garbage under every word that was ever used; return how many servers got it."""
    if not plan.noise:
        return 0
    steps = {sight.envelope.step for sight in driver.trace.network}
    sending = list(noise(driver.round, ["upload", "nonsense", *sorted(steps)]))
    for envelope in sending:
        driver.inject(envelope)
    return len(sending)


def noise(round: Round, steps: Sequence[str]) -> Iterator[Envelope]:
    """Yield envelopes that no honest client sends."""
    entropy = SeededEntropy("noise")
    for index, word in enumerate(steps):
        for receiver in round.everyone:
            for digest, size in ((round.digest, 0), (round.digest, 150), (entropy.bytes(32), 150)):
                yield Envelope(
                    sender=STRANGER,
                    receiver=receiver,
                    step=word,
                    round=digest,
                    upload=entropy.bytes((0, 3, ID_BYTES)[index % 3]),
                    body=entropy.bytes(size),
                )
