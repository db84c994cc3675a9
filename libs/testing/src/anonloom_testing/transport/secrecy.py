"""Checks of what a transport tells and keeps: signed notices, receipts, sizes, saved states."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import attrs

from anonloom.errors import TransportError
from anonloom_testing.conformance import refuse_problems
from anonloom_testing.transport.entropy import SeededEntropy
from anonloom_testing.transport.plans import Plan, make_driver, send, slot_secrets
from anonloom_transport import Driver, EngineTransport, Envelope, MemoryVault, Round

#: How many bytes of a notice or a saved state are changed, one at a time.
_CHANGES = 24


@attrs.frozen
class WatchedRound:
    """A round that went well, with what its servers saved on the way.

    Attributes
    ----------
    saved
        What each server saved after each phase, by the name of the phase.
    altered
        Phases after which a server went on from a state that somebody had changed.
    shown
        How engines, seats and the driver show themselves, by the name of the phase.
    """

    driver: Driver
    plan: Plan
    sent: dict[int, bytes]
    saved: dict[str, list[bytes]] = attrs.field(factory=dict)
    altered: list[str] = attrs.field(factory=list)
    shown: dict[str, str] = attrs.field(factory=dict)

    @property
    def transport(self) -> EngineTransport:
        """What is tried."""
        return self.driver.transport

    @property
    def secrets(self) -> Iterator[bytes]:
        """Yield what nobody may see who looks at an engine or at what it saved."""
        yield from self.sent.values()
        yield from (identity.secret for identity in self.driver.identities)
        if self.plan.operation == "deposit":
            for secret in slot_secrets(self.plan.senders):
                yield from (secret.alpha, secret.seed)

    def resume(self, saved: bytes, *, index: int = 0, vault: MemoryVault | None = None) -> Any:
        """Return a server that goes on from a saved state, with its own vault or another one."""
        driver, config = self.driver, self.driver.configs[index]
        return driver.transport.server(
            driver.round,
            config if vault is None else attrs.evolve(config, vault=vault),
            entropy=SeededEntropy("resumed"),
            clock=driver.network.clock,
            saved=saved,
        )


def watch(transport: Any, round: Round, plan: Plan) -> WatchedRound:
    """Drive a round and write down what its servers save."""
    driver = make_driver(transport, round, plan)
    watched = WatchedRound(driver, plan, {})
    _look(watched, "begin")
    watched.sent.update(send(driver, plan))
    _look(watched, "upload")
    driver.close()
    _look(watched, "close")
    driver.settle()
    _look(watched, "settle")
    driver.open()
    _look(watched, "open")
    return watched


def _look(watched: WatchedRound, phase: str) -> None:
    driver = watched.driver
    watched.saved[phase] = [server.save() for server in driver.servers]
    if phase != "open" and any(
        _refusal(partial(watched.resume, changed)) is None
        for changed in _corrupt_copies(watched.saved[phase][0])
    ):
        watched.altered.append(phase)
    objects = [driver, driver.transport, *driver.servers, *driver.clients, *driver.configs]
    seen = [sight.envelope for sight in driver.trace.seen]
    watched.shown[phase] = " ".join(
        f"{item!r} {item}" for item in [*objects, *driver.identities, *seen]
    )


def _corrupt_copies(data: bytes) -> Iterator[bytes]:
    """Yield copies with one byte changed, and a shorter one."""
    for index in range(0, len(data), max(1, len(data) // _CHANGES)):
        yield data[:index] + bytes([data[index] ^ 1]) + data[index + 1 :]
    yield data[:-1]


def _refusal(act: Callable[[], Any]) -> str | None:
    """Return how something was refused; None if it was not."""
    try:
        act()
    except TransportError as error:
        return str(error)
    return None


def check_client_acts_on_what_all_servers_signed(watched: WatchedRound) -> None:
    """A client refuses a round description that is changed or not signed by all pinned servers."""
    driver = watched.driver
    notice, pins = driver.servers[0].notice, driver.pins
    assert notice is not None, "the round has no description"

    def accepts(notice: bytes, pins: Iterable[bytes]) -> bool:
        make = driver.transport.client
        entropy = SeededEntropy("client")
        return (
            _refusal(lambda: make(notice, tuple(pins), entropy=entropy, clock=driver.network.clock))
            is None
        )

    assert accepts(notice, pins), "a client refuses what all servers have signed"
    stranger = driver.transport.identity(SeededEntropy("stranger")).public
    refuse_problems(
        (
            f"server {index} is somebody else"
            for index in range(len(pins))
            if accepts(notice, (*pins[:index], stranger, *pins[index + 1 :]))
        ),
        "a client believes a description that not all servers have signed",
    )
    assert not accepts(notice, (*pins, stranger)), "a client misses no signature"
    assert not accepts(notice, pins[:-1]), "a client believes fewer servers than there are"
    altered = sum(accepts(changed, pins) for changed in _corrupt_copies(notice))
    assert not altered, "a client believes a description that was changed"


def check_client_believes_its_own_receipts_only(watched: WatchedRound) -> None:
    """Receipts of other uploads, of other servers and garbage acknowledge nothing."""
    driver = watched.driver
    receipts = [
        sight.envelope
        for sight in driver.trace.network
        if sight.envelope.sender.role == "server" and sight.envelope.receiver.role == "client"
    ]
    entropy = SeededEntropy("receipts")
    client, own = driver.client(), b""
    if watched.plan.operation == "post":
        sent = client.post(next(iter(watched.sent.values())))
    else:
        secret = slot_secrets(watched.plan.senders)[0]
        sent = client.deposit(secret, next(iter(watched.sent.values())))
    own = sent[0].upload
    for receipt in receipts:
        for body in (receipt.body, entropy.bytes(len(receipt.body)), b""):
            client.receive(attrs.evolve(receipt, upload=own, body=body))
    assert not client.is_acknowledged, "a receipt for something else acknowledged a message"


def check_senders_look_alike(watched: WatchedRound) -> None:
    """All senders send and get equally many envelopes of the same sizes."""
    # By server: a transport may tell one server more than another, if all senders do.
    sizes: dict[tuple[str, str, int], set[int]] = defaultdict(set)
    numbers: dict[tuple[str, str, int], Counter[int]] = defaultdict(Counter)
    for envelope in _with_clients(watched.driver):
        client, server = envelope.sender, envelope.receiver
        if client.role != "client":
            client, server = server, client
        kind = (envelope.step, envelope.sender.role, server.index)
        sizes[kind].add(envelope.size)
        numbers[kind][client.index] += 1
    # Of a deposit some send decoys.
    senders = watched.plan.senders
    refuse_problems(
        (
            f"{step}, sent by a {role}, server {server}: {len(sizes[step, role, server])} sizes, "
            f"{len(numbers[step, role, server])} of {senders} senders"
            for step, role, server in sizes
            if len(sizes[step, role, server]) > 1
            or len(set(numbers[step, role, server].values())) > 1
            or len(numbers[step, role, server]) != senders
        ),
        "the network can tell senders apart",
    )


def _with_clients(driver: Driver) -> Iterator[Envelope]:
    return (
        sight.envelope
        for sight in driver.trace.network
        if "client" in (sight.envelope.sender.role, sight.envelope.receiver.role)
    )


def check_shows_no_secret(watched: WatchedRound) -> None:
    """No message, key or secret is in what engines, seats or the transport show of themselves."""
    shows = _forms(watched.secrets)
    refuse_problems(
        (
            f"after {phase}"
            for phase, text in watched.shown.items()
            if any(form in text for form in shows)
        ),
        "a secret is in a repr",
    )


def _forms(secrets: Iterable[bytes]) -> list[str]:
    """Return all the ways in which bytes are shown."""
    return [
        form
        for secret in secrets
        for form in (secret.hex(), repr(secret)[2:-1], str(list(secret))[1:-1])
    ]


def check_saved_state_needs_its_key(watched: WatchedRound) -> None:
    """What is saved holds no secret and no message, and is nothing without the vault's key."""
    phases = [phase for phase in watched.saved if phase != "open"]
    refuse_problems(
        (
            f"after {phase}"
            for phase, saved in watched.saved.items()
            if any(_holds(watched, phase, item) for item in saved)
        ),
        "a secret is in what was saved",
    )
    refuse_problems(
        (
            f"after {phase}"
            for phase in phases
            if _refusal(partial(watched.resume, watched.saved[phase][0], vault=MemoryVault()))
            is None
        ),
        "what was saved can be read without the key",
    )
    refuse_problems(
        (f"after {phase}" for phase in watched.altered),
        "what was saved can be changed and is believed",
    )


def _holds(watched: WatchedRound, phase: str, saved: bytes) -> bool:
    # When everything is open the messages are public; keys and secrets are not.
    public = set(watched.sent.values()) if phase == "open" else set()
    return any(secret in saved for secret in watched.secrets if secret not in public)


def check_key_dies_with_the_round(watched: WatchedRound) -> None:
    """After `open` nothing saved before can be read; a restart goes on from public data only."""
    refuse_problems(
        (
            f"server {index}, after {phase}"
            for phase, saved in watched.saved.items()
            if phase != "open"
            for index, item in enumerate(saved)
            if _refusal(partial(watched.resume, item, index=index)) is None
        ),
        "what was saved before the opening can still be read",
    )
    for index, saved in enumerate(watched.saved["open"]):
        server = watched.resume(saved, index=index)
        for envelope in server.resend():
            assert isinstance(envelope, Envelope)
        expected = watched.driver.servers[index].result
        assert server.result is not None, "a server that started again has lost the result"
        assert list(server.result) == list(expected or ()), "a result changed with a restart"


CHECKS = (
    check_client_acts_on_what_all_servers_signed,
    check_client_believes_its_own_receipts_only,
    check_senders_look_alike,
    check_shows_no_secret,
    check_saved_state_needs_its_key,
    check_key_dies_with_the_round,
)
