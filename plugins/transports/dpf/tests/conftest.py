"""Rounds over transport dpf that begin with one call."""

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import attrs
import pytest

from anonloom_dpf.transport import Dpf
from anonloom_testing.transport import SeededEntropy, slot_secrets
from anonloom_transport import ClientEngine, Driver, Erasure, Party, Round, SlotSecret

# What makes the vectors is the oracle of the tests, too; the package is also tested outside the tree.
sys.path.append(str(Path(__file__).parent / "vectors"))

SALT = bytes(range(32))


@attrs.frozen
class Begun:
    """A round whose servers have begun, with what senders know."""

    driver: Driver
    secrets: list[SlotSecret] = attrs.field(repr=False)

    @property
    def transport(self) -> Dpf:
        return self.driver.transport

    def records(self, positions: Iterable[int]) -> dict[int, bytes]:
        """Return a record for each of these positions."""
        entropy = SeededEntropy("records")
        return {index: entropy.bytes(self.driver.round.message_size) for index in positions}

    def deposit(self, records: dict[int, bytes]) -> list[ClientEngine]:
        """Let the owners of positions send."""
        return self.driver.deposit(
            [(self.secrets[index], record) for index, record in records.items()]
        )

    def craft(self, contents: Iterable[bytes]) -> ClientEngine:
        """Let somebody seal to each server whatever there is to seal."""
        client = self.driver.client()
        sender = Party("client", len(self.driver.clients) - 1)
        for envelope in client.send(b"crafted", list(contents)):
            self.driver.inject(attrs.evolve(envelope, sender=sender))
        return client

    def words(self) -> dict[tuple[str, str, str], bytes]:
        """Return what servers said to each other of what uploads hold, with nonces and signatures.

        What they said of the sealed bytes is left out: sealing is never twice the same.
        """
        return {
            (sight.envelope.step, str(sight.envelope.sender), str(sight.envelope.receiver)): (
                sight.envelope.body
            )
            for sight in self.driver.trace.network
            if sight.envelope.sender.role == sight.envelope.receiver.role
            and sight.envelope.step not in ("held", "sign accepted")
        }

    def remarks(self) -> list[dict[str, int]]:
        """Return the remarks of every server."""
        return [dict(server.remarks) for server in self.driver.servers]


def _begin(
    operation: str,
    capacity: int,
    *,
    servers: int = 2,
    size: int = 24,
    planned: Iterable[int] = (),
    driver: type[Driver] = Driver,
    corrupted: dict[int, Any] | None = None,
    round: dict[str, Any] | None = None,
    seed: object = 0,
    **params: Any,
) -> Begun:
    erasure = Erasure(frozenset(planned), SALT) if planned else None
    secrets = slot_secrets(capacity) if operation == "deposit" else []
    described: dict[str, Any] = {
        "id": "a round",
        "operation": operation,
        "servers": servers,
        "message_size": size,
        "min_batch": 1,
        "capacity": capacity,
        "slots": [secret.slot for secret in secrets],
        "erasure": erasure.commitment if erasure else b"",
    }
    plan = Round(**{**described, **(round or {})})
    made = driver(
        Dpf(**params),
        plan,
        slot_keys=tuple(secret.key(plan.iterations) for secret in secrets),
        erasure=erasure,
        entropy=SeededEntropy(seed),
        corrupted=corrupted or {},
    )
    return Begun(made, secrets)


@pytest.fixture(scope="session")
def begin() -> Callable[..., Begun]:
    """Return what begins a round: operation, number of senders, and whatever else is not usual."""
    return _begin
