"""One hop of a cascade beside what the machine can do, in one process.

    python benchmarks/transport_hop.py SUITE

Opens and shuffles a batch of packets of two sizes. Prints JSON.
"""

import json
import sys
from functools import partial
from typing import Any, cast

from transport_limits import compared, kem_rate

from anonloom_mixnet.cascade import mix
from anonloom_mixnet.layers import Opener
from anonloom_mixnet.packets import Route, generate, public
from anonloom_transport import Suite, SystemEntropy

PACKETS, MESSAGES = 2_000, (64, 1024)


def hop(suite: Suite) -> dict[str, Any]:
    """Return the share of the KEM rate at which a server of a cascade opens packets."""
    entropy = SystemEntropy()
    private = [generate(suite, entropy) for _ in range(2)]
    results = {}
    for size in MESSAGES:
        route = Route(bytes(32), suite, [public(suite, own) for own in private], size)
        packets = [route.pack(bytes(size), entropy).sealed for _ in range(PACKETS)]
        opener = Opener(route.place("mix", 0), private[0].mix)
        once = partial(opened, packets, route.packet_size(), opener, entropy)
        results[size] = compared(once, partial(kem_rate, suite, 1))
    return {
        "suite": suite,
        "limit": max(limit for _, limit, _ in results.values()),
        "per_second": {size: reached for size, (reached, _, _) in results.items()},
        "share": {size: share for size, (_, _, share) in results.items()},
    }


def opened(packets: list[bytes], size: int, opener: Opener, entropy: SystemEntropy) -> int:
    """Open and shuffle a batch; return how many packets came out."""
    return len(mix(packets, size, opener, set(), entropy).outputs)


if __name__ == "__main__":
    print(json.dumps(hop(cast(Suite, sys.argv[1]))))
