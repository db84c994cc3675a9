"""Other packages beside the transports, each in an environment of its own; for information."""

import json
from typing import Any

from environments import Failed, environment, run

MOST_SECONDS = 300.0

_SYCRET = """
import json, time
import numpy as np
import sycret
eq = sycret.EqFactory(n_threads=1)
points = 1 << 14
one, other = eq.keygen(1)
key = np.repeat(one, points, axis=0)
at = np.arange(points, dtype=np.int64)
eq.eval(0, at, key)
began = time.process_time()
eq.eval(0, at, key)
spent = time.process_time() - began
print(json.dumps({"points_per_second": points / spent}))
"""

_SPHINXMIX = """
import json, time
from sphinxmix.SphinxClient import create_forward_message, Nenc, rand_subset, Dest_flag
from sphinxmix.SphinxNode import sphinx_process
from sphinxmix.SphinxParams import SphinxParams
params = SphinxParams(body_len=1024)
secrets, public = {}, {}
for node in range(3):
    secrets[node] = params.group.gensecret()
    public[node] = params.group.expon(params.group.g, [secrets[node]])
route = [Nenc(node) for node in range(3)]
header, delta = create_forward_message(
    params, route, [public[node] for node in range(3)], b"dest", b"message"
)
began = time.process_time()
for _ in range(200):
    sphinx_process(params, secrets[0], header, delta)
print(json.dumps({"packets_per_second": 200 / (time.process_time() - began)}))
"""

PEERS: dict[str, tuple[tuple[str, ...], str]] = {
    "sycret": (("sycret==0.2.8", "numpy<2"), _SYCRET),
    "sphinxmix": (("sphinxmix==0.0.7",), _SPHINXMIX),
}


def measured() -> list[dict[str, Any]]:
    """Measure every peer that can be installed; say why one can't be."""
    results: list[dict[str, Any]] = []
    for name, (required, program) in PEERS.items():
        try:
            message = run([str(environment(required)), "-c", program], MOST_SECONDS)
        except Failed as why:
            results.append({"name": name, "left_out": str(why).strip().splitlines()[-1]})
        else:
            results.append({"name": name, **json.loads(message.splitlines()[-1])})
        print(results[-1], flush=True)
    return results
