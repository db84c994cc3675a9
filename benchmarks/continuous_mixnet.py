#!/usr/bin/env python3
"""What a continuous mixnet hides, against waits and cover traffic, beside a closed batch.

    python benchmarks/continuous_mixnet.py [--packets 4000] [--users 100] [--seed 1]

An experiment in simulated time (poisson_mixes.py), no transport: a continuous net has no closed
batch and cannot keep a transport's contract, so no pipeline can select it. Prints a table and
writes benchmarks/results/continuous_mixnet.json.
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

import attrs
import numpy as np
from poisson_mixes import Measured, Net, batch_wait, large_pool_entropy, simulate

RESULTS = Path(__file__).parent / "results" / "continuous_mixnet.json"

DELAYS = (0.1, 0.3, 1.0, 3.0, 10.0)
COVERS = (0.0, 1.0, 3.0, 9.0)


def settings(users: int) -> Iterator[tuple[str, Net]]:
    """Yield what is simulated: one thing is varied at a time."""
    for delay in DELAYS:
        yield "one mix, longer waits", Net(users=users, hops=1, width=1, delay=delay)
    for delay in DELAYS:
        yield "three layers, longer waits", Net(users=users, delay=delay)
    for cover in COVERS:
        yield "three layers, more cover", Net(users=users, cover=cover)
    for corrupted in range(3):
        yield "three layers, some tell", Net(users=users, corrupted=corrupted)


def row(name: str, net: Net, found: Measured) -> dict[str, object]:
    """Return what is written of one setting."""
    return {
        "experiment": name,
        **attrs.asdict(net),
        "lambda_over_mu": net.pool,
        **{f"measured_{key}": value for key, value in attrs.asdict(found).items()},
        "large_pool_entropy": large_pool_entropy(net) if net.hops == 1 else None,
        "closed_batch": float(2**found.entropy),
        "closed_batch_wait": batch_wait(found.entropy, net.packets_a_second),
        "closed_batch_of_users_entropy": float(np.log2(net.users)),
    }


COLUMNS = (
    ("delay", "wait", "{:.1f}"),
    ("cover", "cover", "{:.0f}"),
    ("corrupted", "tell", "{:d}"),
    ("lambda_over_mu", "lam/mu", "{:.2f}"),
    ("measured_pool", "pool", "{:.2f}"),
    ("measured_entropy", "H", "{:.2f}"),
    ("measured_entropy_low", "H 5 %", "{:.2f}"),
    ("measured_min_entropy", "H min", "{:.2f}"),
    ("large_pool_entropy", "log2 e lam/mu", "{:.2f}"),
    ("measured_sender_entropy", "H sender", "{:.2f}"),
    ("closed_batch_of_users_entropy", "log2 U", "{:.2f}"),
    ("measured_latency", "latency s", "{:.2f}"),
    ("measured_latency_high", "95 %", "{:.2f}"),
    ("measured_overhead", "packets", "{:.1f}"),
    ("closed_batch", "equal batch", "{:.0f}"),
    ("closed_batch_wait", "its wait s", "{:.2f}"),
)


def shown(rows: list[dict[str, object]]) -> Iterator[str]:
    """Yield the lines of the table."""
    last = None
    for item in rows:
        if item["experiment"] != last:
            last = item["experiment"]
            yield f"\n{last}"
            yield " ".join(f"{title:>{max(len(title), 7)}}" for _, title, _ in COLUMNS)
        yield " ".join(
            f"{'' if item[key] is None else form.format(item[key]):>{max(len(title), 7)}}"
            for key, title, form in COLUMNS
        )


def main() -> None:
    """Simulate all settings."""
    parser = argparse.ArgumentParser(description="Entropy and cost of a continuous mixnet.")
    parser.add_argument("--packets", type=int, default=4000, help="packets of each setting")
    parser.add_argument("--users", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    rows = [
        row(name, net, simulate(net, asked.packets, np.random.default_rng(asked.seed)))
        for name, net in settings(asked.users)
    ]
    print("\n".join(shown(rows)))
    print(
        "\nH: bits that lack to know which packet a message was; a closed batch of B has log2 B."
        "\nequal batch: the closed batch that hides as well, and the mean wait until it is full."
    )
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps({"packets": asked.packets, "seed": asked.seed, "rows": rows}))


if __name__ == "__main__":
    main()
