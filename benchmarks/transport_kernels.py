"""The inner loops of the transports beside what the machine can do, each measured in one process.

    python benchmarks/transport_kernels.py evaluation|hop ARGUMENT

`evaluation` adds keys of a table of 2^20 slots of 16 bytes to a share; ARGUMENT is the number of
slots per leaf. `hop` opens and shuffles a batch of packets; ARGUMENT is the suite. Prints JSON.
"""

import json
import sys
import time
from collections.abc import Callable
from typing import Any, cast

import numpy as np
from transport_limits import aes_rate, kem_rate

from anonloom.kinds.rounds import Suite
from anonloom.protocol.entropy import SystemEntropy
from anonloom_dpf import native
from anonloom_dpf.tree import Tree
from anonloom_mixnet.cascade import mix
from anonloom_mixnet.layers import Opener
from anonloom_mixnet.packets import Route, generate, public

SLOTS, SLOT = 1 << 20, 16
PACKETS, MESSAGES = 2_000, (64, 1024)
_TIMES = 7


def best(call: Callable[[], object], times: int = _TIMES) -> float:
    """Return the least CPU seconds of a few calls."""
    spent = []
    for _ in range(times):
        began = time.process_time()
        call()
        spent.append(time.process_time() - began)
    return min(spent)


def evaluation(slots_per_leaf: int) -> dict[str, Any]:
    """Return the share of the AES rate at which a whole table is evaluated."""
    tree = Tree(SLOTS // slots_per_leaf, slots_per_leaf * SLOT)
    payloads = np.ones((1, tree.width), np.uint8)
    keys, _ = tree.keys(np.array([5]), payloads, SystemEntropy())
    share = np.zeros((tree.leaves, tree.width), np.uint8)
    tree.accumulate(0, keys, share)
    limit = aes_rate()
    cpu = best(lambda: tree.accumulate(0, keys, share))
    limit = max(limit, aes_rate())
    return {
        "kernel": native.chosen(),
        "cpu": cpu,
        "limit": limit,
        "share": tree.aes_bytes / cpu / limit,
        "share_payload": SLOTS * SLOT / cpu / limit,
    }


def hop(suite: str) -> dict[str, Any]:
    """Return the share of the KEM rate at which a server of a cascade opens packets."""
    entropy = SystemEntropy()
    private = [generate(suite, entropy) for _ in range(2)]
    limit, found = kem_rate(cast(Suite, suite)), {}
    for size in MESSAGES:
        route = Route(bytes(32), suite, [public(suite, own) for own in private], size)
        packets = [route.pack(bytes(size), entropy).sealed for _ in range(PACKETS)]
        opener = Opener(route.place("mix", 0), private[0].mix)
        whole = route.packet_size()
        cpu = best(lambda p=packets, o=opener, w=whole: mix(p, w, o, set(), entropy))  # type: ignore[misc]
        found[size] = PACKETS / cpu
    limit = max(limit, kem_rate(cast(Suite, suite)))
    return {
        "suite": suite,
        "limit": limit,
        "per_second": found,
        "share": {size: rate / limit for size, rate in found.items()},
    }


if __name__ == "__main__":
    name, argument = sys.argv[1:]
    print(json.dumps(evaluation(int(argument)) if name == "evaluation" else hop(argument)))
