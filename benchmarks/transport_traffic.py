#!/usr/bin/env python3
"""Whether auditor `traffic` finds anything in what the transports leave on lines and servers.

    python benchmarks/transport_traffic.py [--rounds 400] [--clients 50] [--only NAME ...]

Every client sends random bytes in every round, as a post and as a deposit at a position drawn
anew; keys and coins come from the system's randomness. 400 rounds of 50 are 20,000 trials. Prints a
table and writes benchmarks/results/transport_traffic.json.
"""

import argparse
import json
import secrets
import time
from collections.abc import Callable
from pathlib import Path

from anonloom_direct.transport import Direct
from anonloom_dpf.transport import Dpf
from anonloom_mixnet.transport import Mixnet
from anonloom_traffic.attack import best_guess
from anonloom_transport import (
    SECRET_BYTES,
    Driver,
    EngineTransport,
    Round,
    Rounds,
    SlotSecret,
    Trace,
)

RESULTS = Path(__file__).parent / "results" / "transport_traffic.json"
SIZE = 32

TRANSPORTS: dict[str, tuple[EngineTransport, int]] = {
    "direct, 2 servers": (Direct(), 2),
    "dpf, 2 servers": (Dpf(), 2),
    "dpf, 3 servers": (Dpf(), 3),
    "mixnet, 2 servers": (Mixnet(), 2),
    "mixnet, 3 servers": (Mixnet(), 3),
}


def post(transport: EngineTransport, servers: int, clients: int, number: int) -> Trace:
    """Carry one round of posts."""
    described = Round(
        id=f"post-{number}", operation="post", servers=servers, message_size=SIZE,
        min_batch=clients, capacity=clients,
    )  # fmt: skip
    driver = Driver(transport, described)
    driver.post([secrets.token_bytes(SIZE) for _ in range(clients)])
    driver.finish()
    return driver.trace


def deposit(transport: EngineTransport, servers: int, clients: int, number: int) -> Trace:
    """Carry one round of deposits; who owns which position is drawn."""
    owned = [
        SlotSecret(secrets.token_bytes(SECRET_BYTES), secrets.token_bytes(SECRET_BYTES))
        for _ in range(clients)
    ]
    places = sorted(owned, key=lambda secret: secret.slot)
    described = Round(
        id=f"deposit-{number}", operation="deposit", servers=servers, message_size=SIZE,
        min_batch=clients, slots=[secret.slot for secret in places],
    )  # fmt: skip
    keys = tuple(secret.key(described.iterations) for secret in places)
    driver = Driver(transport, described, slot_keys=keys)
    driver.deposit([(secret, secrets.token_bytes(SIZE)) for secret in owned])
    driver.finish()
    return driver.trace


OPERATIONS: dict[str, Callable[[EngineTransport, int, int, int], Trace]] = {
    "post": post,
    "deposit": deposit,
}


def main() -> None:
    """Carry and guess."""
    parser = argparse.ArgumentParser(description="The auditor `traffic` on every transport.")
    parser.add_argument("--rounds", type=int, default=400)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--only", nargs="*", choices=list(TRANSPORTS), default=list(TRANSPORTS))
    asked = parser.parse_args()
    print(f"{'':20}{'':9}{'success':>9}  {'99 % interval':<19}{'chance':>7}{'bits':>7}  found")
    rows = []
    for name in asked.only:
        transport, servers = TRANSPORTS[name]
        for operation, carry in OPERATIONS.items():
            began = time.process_time()
            traces = (
                carry(transport, servers, asked.clients, index) for index in range(asked.rounds)
            )
            rounds = Rounds(tuple(traces), servers)
            carried = time.process_time()
            result = best_guess(rounds)
            top1, (low, high) = result.top1, result.top1.interval
            view = result.view if top1.excess else "nothing"
            print(f"{name:20}{operation:9}{top1.value:9.4f}  {f'{low:.4f} to {high:.4f}':<19}"
                  f"{top1.chance:7.4f}{result.shannon:7.3f}  {view}")  # fmt: skip
            rows.append(
                {
                    "transport": name, "operation": operation, "success": top1.value,
                    "interval": [low, high], "chance": top1.chance, "trials": top1.trials,
                    "shannon": result.shannon, "smallest_set": result.smallest, "found": view,
                    "cpu_carrying": carried - began, "cpu_guessing": time.process_time() - carried,
                }
            )  # fmt: skip
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps({"clients": asked.clients, "rounds": asked.rounds, "rows": rows}))


if __name__ == "__main__":
    main()
