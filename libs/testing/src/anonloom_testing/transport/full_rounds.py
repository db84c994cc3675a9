"""A full round and what travelled in it, to compare with what a transport had estimated."""

from collections.abc import Sequence
from typing import Any

from anonloom_testing.transport.entropy import SeededEntropy
from anonloom_testing.transport.plans import slot_secrets
from anonloom_transport import Driver, EngineTransport, Round, RoundOperation, SlotSecret


def full_round(operation: RoundOperation, senders: int, decoys: int = 0, **described: Any) -> Round:
    """Return the description of a round of so many senders.

    Parameters
    ----------
    decoys
        Of a deposit, further senders who have no position.
    described
        Whatever else shall not be as usual.
    """
    slots = [secret.slot for secret in _secrets(operation, senders)]
    usual: dict[str, Any] = {"id": "a full round", "servers": 2, "message_size": 24, "min_batch": 1}
    return Round(
        operation=operation, slots=slots, capacity=senders + decoys, **{**usual, **described}
    )


def run_full_round(
    transport: EngineTransport, round: Round, invitations: Sequence[bytes] = ()
) -> Driver:
    """Return a driver of the round, to the end, with as many senders as the round takes.

    In a round that is counted, every position is a group of its own.
    """
    entropy = SeededEntropy("a full round")
    senders = len(round.slots) or round.capacity
    secrets = _secrets(round.operation, senders)
    keys = tuple(secret.key(round.iterations) for secret in secrets)
    driver = Driver(transport, round, slot_keys=keys, entropy=entropy, traced=False)
    messages = [entropy.bytes(round.message_size) for _ in range(senders)]
    if round.operation == "post":
        driver.post(messages, invitations)
    else:
        records = list(zip(secrets, messages, strict=True))
        driver.deposit(records, invitations[:senders])
        driver.decoy(round.capacity - senders, invitations[senders:])
    driver.close()
    driver.settle()
    if round.counted:
        driver.count([[position] for position in range(senders)])
    driver.open()
    driver.result()
    return driver


def measure_traffic(driver: Driver) -> dict[str, int]:
    """Return the bytes of a round under the names that they have in an `Estimate`."""
    meter, described = driver.meter, driver.servers[0].notice or b""
    senders, servers = len(driver.clients), driver.round.servers
    up, odd = divmod(meter.between("client", "server"), senders)
    down, uneven = divmod(meter.between("server", "client"), senders)
    assert (odd, uneven) == (0, 0), "not all senders send and receive alike"
    return {
        "upload_bytes": up,
        "download_bytes": len(described) + down,
        "server_bytes": -(-meter.between("server", "server") // servers),
    }


def _secrets(operation: RoundOperation, senders: int) -> list[SlotSecret]:
    return slot_secrets(senders) if operation == "deposit" else []
