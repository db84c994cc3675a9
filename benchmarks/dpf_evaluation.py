"""Evaluation and making of tree keys beside the AES rate of the same run, per kernel.

    python benchmarks/dpf_evaluation.py [--keys 64] [--kernels numpy aesni vaes] [--once]

The unit is the AES that the definition needs: one block per node of the tree, per payload block
and per block of the check's hash (`Tree.aes_bytes`). The rate is that of `cryptography`'s
`update_into`, best of several buffer sizes, measured anew before every figure: other work on the
machine slows both. A peer stands beside it in `transports.py`.
"""

import argparse
import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from transport_limits import aes_rate

from anonloom_dpf import native
from anonloom_dpf.tree import Tree
from anonloom_transport import SystemEntropy

#: Name, leaves, bytes per leaf, checked, keys (None: as asked for).
CASES = [
    ("2^20 x 16 B, one key", 1 << 20, 16, False, 1),
    ("2^20 x 16 B as 2^15 leaves x 32 slots, one key", 1 << 15, 512, False, 1),
    ("100,000 x 96 B", 100_000, 96, False, None),
    ("33,750 x 4 slots x 96 B, checked", 33_750, 384, True, None),
    ("135,000 x 96 B, checked", 135_000, 96, True, None),
    ("135,000 x 24 B, checked", 135_000, 24, True, None),
]
#: Shares of the AES rate that one key on 2^20 slots of 16 bytes has to reach.
GOALS = {"numpy": 0.2, "aesni": 0.6, "vaes": 0.6}
#: How many times the cost of its AES many checked keys may take.
COST_GOALS = {"numpy": 8.0, "aesni": 1.6, "vaes": 1.6}


def cpu(call: Callable[[], object]) -> float:
    """CPU seconds of one call."""
    start = time.process_time()
    call()
    return time.process_time() - start


def evaluation(tree: Tree, keys: int, once: bool) -> dict[str, float]:
    """Median of some: CPU per key and its ratio to AES of the same moment."""
    rng = np.random.default_rng(0)
    indices = rng.integers(0, tree.leaves, keys)
    payloads = rng.integers(0, 256, (keys, tree.width), dtype=np.uint8)
    mine = tree.keys(indices, payloads, SystemEntropy())[0]
    share = np.zeros((tree.leaves, tree.width), np.uint8)
    check_key = os.urandom(32) if tree.checked else None
    results = []
    tree.accumulate(0, mine[:1], share, check_key=check_key)
    for _ in range(1 if once else 5):
        rate = aes_rate(1)
        seconds = cpu(lambda: tree.accumulate(0, mine, share, check_key=check_key)) / keys
        results.append((tree.aes_bytes / seconds / rate, seconds, rate))
    results.sort()
    of_rate, seconds, rate = results[len(results) // 2]
    return {
        "ms_per_key": 1e3 * seconds,
        "of_aes_rate": of_rate,
        "best_of_aes_rate": results[-1][0],
        "cost": 1 / of_rate,
        "aes_gb_s": tree.aes_bytes / seconds / 1e9,
        "payload_gb_s": tree.leaves * tree.width / seconds / 1e9,
        "aes_rate_gb_s": rate / 1e9,
    }


def making() -> dict[str, float]:
    """Keys per CPU second at depth 20 with 16 bytes, in a batch and alone."""
    tree, m = Tree(1 << 20, 16), 20_000
    rng = np.random.default_rng(0)
    indices = rng.integers(0, tree.leaves, m)
    payloads = rng.integers(0, 256, (m, 16), dtype=np.uint8)
    batch = min(cpu(lambda: tree.keys(indices, payloads, SystemEntropy())) for _ in range(3))

    def single() -> None:
        for _ in range(50):
            tree.keys(indices[:1], payloads[:1], SystemEntropy())

    return {"keys_per_second": m / batch, "single_us": 1e6 * min(cpu(single), cpu(single)) / 50}


def verdicts(results: dict[str, dict[str, dict[str, float]]]) -> list[str]:
    """Goals, one line each."""
    lines = []
    for kernel, cases in results.items():
        share = cases[CASES[0][0]]["of_aes_rate"]
        goal = GOALS[kernel]
        lines.append(f"{kernel}: {CASES[0][0]} at {share:.0%} of AES, goal {goal:.0%}")
        for name, _, _, checked, _ in CASES:
            if checked:
                cost, most = cases[name]["cost"], COST_GOALS[kernel]
                lines.append(f"{kernel}: {name} costs {cost:.2f} times its AES, at most {most}")
    return lines


def main() -> None:
    """Print the table and write it to benchmarks/results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keys", type=int, default=64)
    parser.add_argument("--kernels", nargs="+", default=list(native.available()))
    parser.add_argument("--once", action="store_true")
    asked = parser.parse_args()
    results: dict[str, dict[str, dict[str, float]]] = {}
    made: dict[str, dict[str, float]] = {}
    print(f"{'kernel':7}{'case':50}{'ms/key':>9}{'AES GB/s':>10}{'of rate':>9}{'payload GB/s':>14}")
    for kernel in asked.kernels:
        os.environ[native.VARIABLE] = kernel
        results[kernel] = {}
        for name, leaves, width, checked, keys in CASES:
            result = evaluation(
                Tree(leaves, width, checked=checked), keys or asked.keys, asked.once
            )
            results[kernel][name] = result
            print(
                f"{kernel:7}{name:50}{result['ms_per_key']:9.3f}{result['aes_gb_s']:10.2f}"
                f"{result['of_aes_rate']:9.0%}{result['payload_gb_s']:14.2f}"
            )
        made[kernel] = making()
        figures = made[kernel]
        print(
            f"{kernel:7}keys/s {figures['keys_per_second']:,.0f}, one {figures['single_us']:.0f} us"
        )
    print("\n".join(verdicts(results)))
    out = Path(__file__).parent / "results" / "dpf_evaluation.json"
    out.parent.mkdir(exist_ok=True)
    out.write_text(json.dumps({"evaluation": results, "keys": made}, indent=1))


if __name__ == "__main__":
    main()
