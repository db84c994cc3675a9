"""One hop of a cascade beside what the machine can do, in one process.

    python benchmarks/transport_hop.py SUITE

Opens and shuffles a batch of packets of two sizes. Prints JSON.
"""

import json
import sys
import time
from collections.abc import Callable
from typing import Any, cast

from transport_limits import kem_rate

from anonloom.kinds.rounds import Suite
from anonloom.protocol.entropy import SystemEntropy
from anonloom_mixnet.cascade import mix
from anonloom_mixnet.layers import Opener
from anonloom_mixnet.packets import Route, generate, public

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
    print(json.dumps(hop(sys.argv[1])))
