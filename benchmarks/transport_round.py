"""One round of posts and one of deposits over a transport, measured from inside one process.

    python benchmarks/transport_round.py '{"transport": "dpf", "users": 10000, "servers": 2}'

Everybody posts the key of a position and then deposits a record there; half of the positions are
erased. Every record is compared with what was sent. Prints JSON: CPU per phase and party, bytes per
user, what was delivered, and the limits of the machine, measured before and after.
"""

import json
import sys
from importlib import import_module
from typing import Any

from transport_limits import aes_rate, hpke_rate, kem_rate

from anonloom_transport import (
    Driver,
    EngineTransport,
    Erasure,
    Round,
    SlotKey,
    SlotSecret,
    SystemEntropy,
)

TRANSPORTS = {
    "dpf": "anonloom_dpf.transport:Dpf",
    "mixnet": "anonloom_mixnet.transport:Mixnet",
    "direct": "anonloom_direct.transport:Direct",
}
ENTROPY = SystemEntropy()


def transport(name: str, parameters: dict[str, Any]) -> EngineTransport:
    """Return a transport by its name."""
    module, _, method = TRANSPORTS[name].partition(":")
    made: EngineTransport = getattr(import_module(module), method)(**parameters)
    return made


def measured(driver: Driver, users: int) -> dict[str, Any]:
    """Return what a round cost: CPU of the busiest server, bytes per user."""
    phases = {phase for phase, _ in driver.meter.cpu}
    servers = [f"server {index}" for index in range(driver.round.servers)]
    return {
        "server_cpu": {
            phase: max(driver.meter.cpu[phase, server] for server in servers) for phase in phases
        },
        "client_cpu": sum(cpu for (_, who), cpu in driver.meter.cpu.items() if who == "clients"),
        "bytes_up": driver.meter.between("client", "server") / users,
        "bytes_down": driver.meter.between("server", "client") / users,
        "bytes_between": driver.meter.between("server", "server") / users,
        "refused": dict(driver.count_refusals()),
    }


def aes_bytes_of(carrier: Any, round: Round) -> int:
    """Return the bytes of AES that one key of a round stands for; none without point functions."""
    if type(carrier).__name__ != "Dpf":
        return 0
    layout, costs = import_module("anonloom_dpf.layout"), import_module("anonloom_dpf.costs")
    if round.operation == "deposit":
        functions = [layout.deposit_layout(round).function]
    else:
        functions = layout.post_layout(round, carrier.settings).functions
    return sum(costs.aes_bytes(function) for function in functions)


def post(carrier: EngineTransport, asked: dict[str, Any], keys: list[SlotKey]) -> dict[str, Any]:
    """Let everybody post a key."""
    users = asked["users"]
    described = Round(
        id=ENTROPY.bytes(8).hex(),
        operation="post",
        servers=asked["servers"],
        message_size=32,
        min_batch=users,
        capacity=users,
        suite=asked["suite"],
    )
    driver = Driver(carrier, described, traced=False)
    driver.post([bytes(key) for key in keys])
    got = driver.finish()
    sent = {bytes(key) for key in keys}
    delivered = sum(message in sent for message in set(got))
    return {
        **measured(driver, users),
        "delivered": delivered,
        "twice": len(got) - len(set(got)),
        "strange": sum(message not in sent for message in got),
        "aes_bytes": aes_bytes_of(carrier, driver.round) * users,
    }


def deposit(
    carrier: EngineTransport, asked: dict[str, Any], secrets: list[SlotSecret]
) -> dict[str, Any]:
    """Let everybody deposit a record; erase every other one."""
    users, size = asked["users"], asked["record"]
    secrets = sorted(secrets, key=lambda secret: secret.slot)
    erasure = Erasure(frozenset(range(0, users, 2)), ENTROPY.bytes(32))
    described = Round(
        id=ENTROPY.bytes(8).hex(),
        operation="deposit",
        servers=asked["servers"],
        message_size=size,
        min_batch=users,
        slots=tuple(secret.slot for secret in secrets),
        erasure=erasure.commitment,
        suite=asked["suite"],
    )
    keys = tuple(secret.key() for secret in secrets)
    driver = Driver(carrier, described, traced=False, slot_keys=keys, erasure=erasure)
    records = [ENTROPY.bytes(size) for _ in secrets]
    driver.deposit(zip(secrets, records, strict=True))
    got = driver.finish()
    expected = [None if index % 2 == 0 else record for index, record in enumerate(records)]
    return {
        **measured(driver, users),
        "delivered": sum(
            item is not None and item == other for item, other in zip(got, expected, strict=True)
        ),
        "erased": sum(
            item is None and other is None for item, other in zip(got, expected, strict=True)
        ),
        "strange": sum(item != other for item, other in zip(got, expected, strict=True)),
        "aes_bytes": aes_bytes_of(carrier, driver.round) * users,
    }


def main() -> None:
    """Run what was asked for, and print it."""
    asked = {"servers": 2, "record": 64, "suite": "x25519", "with": {}, **json.loads(sys.argv[1])}
    carrier = transport(asked["transport"], asked["with"])
    suite = asked["suite"]
    limits = {"aes_bytes": aes_rate(), "hpke": hpke_rate(suite, 1024), "kem": kem_rate(suite)}
    secrets = [SlotSecret(ENTROPY.bytes(16), ENTROPY.bytes(16)) for _ in range(asked["users"])]
    results = {
        "asked": asked,
        "post": post(carrier, asked, [secret.key() for secret in secrets]),
        "deposit": deposit(carrier, asked, secrets),
    }
    # A machine that was slower at one end was shared: the limit is what it can do at its best.
    results["limits"] = {**limits, "aes_bytes": max(limits["aes_bytes"], aes_rate())}
    if asked["transport"] == "dpf":
        results["kernel"] = import_module("anonloom_dpf.native").kernel_name()
    print(json.dumps(results))


if __name__ == "__main__":
    main()
