"""A whole donation in one process: what its servers compute, over what they must compute.

    python benchmarks/donation.py --transport dpf --donors 100000
    python benchmarks/donation.py --transport mixnet --donors 100000 --out results/donation.json

The donors' rows are those of source `diabetes`; classes of 250 by level-order, half of each class
is erased. The release is compared, cell by cell, with what a trusted curator publishes with the
same classes and the same erased rows. Limits are measured before and after in the same process: AES
of all keys and one HPKE opening per upload (dpf), one key encapsulation per opened layer (mixnet).
Prints JSON.
"""

import argparse
import json
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from transport_limits import aes_rate, hpke_rate, kem_rate
from transport_round import aes_bytes_of, transport

from anonloom import Classes, Guard, Registry, Release, StageContext, Table
from anonloom.spec import load_pipeline
from anonloom_anonify.campaign import Campaign
from anonloom_anonify.collector import Anonify
from anonloom_anonify.donor_data import DonorData
from anonloom_anonify.planning import named_rounds
from anonloom_runner.stage_log import StageLog
from anonloom_runner.stages import PipelineStages

PIPELINE = Path(__file__).resolve().parent / "donation.yaml"


def main() -> None:
    """Play a study, and print what it cost."""
    asked = _asked()
    registry = Registry.installed()
    settings = [f"data.with.rows={asked.donors}", f"privacy[0].k-anonymity.k={asked.k}"]
    spec = load_pipeline(PIPELINE, registry, settings=settings)
    stages = PipelineStages(spec.stages, StageLog(registry, "benchmark", 1), spec.privacy)
    sampler = stages.sampler()
    assert sampler is not None
    guard = Guard(tuple(use.method for use in spec.privacy), sampler.method.least_kept)
    table = spec.data.source.method.load(spec.data.schema, StageContext(seed=1))
    collector = Anonify(
        transport=transport(asked.transport, {}),
        servers=asked.servers,
        min_batch=asked.donors,
        suite=asked.suite,
    )
    before = _limits(asked)
    campaign, donor_data = collector.campaign(
        table, stages, guard, StageContext(seed=1, report=_report())
    )
    began = time.process_time()
    recipient = campaign.run()
    whole = time.process_time() - began
    released = donor_data.release(campaign, recipient)
    limits = {name: max(rate, before[name]) for name, rate in _limits(asked).items()}
    results = {
        "asked": {name: str(value) for name, value in vars(asked).items()},
        "whole_cpu": whole,
        "limits": limits,
        "kernel": import_module("anonloom_dpf.native").kernel_name(),
        "published": len(released),
        "differs_from_curator": _differences(campaign, table, stages, donor_data, released),
        "rounds": {entry.name: _entry(entry) for entry in campaign.ledger.entries},
        "council": dict(_servers(campaign.meter, asked.servers)),
        "needed": _needed(campaign, asked, limits),
    }
    results["server_cpu"] = sum(item["server_cpu"] for item in results["rounds"].values()) + max(
        results["council"].values()
    )
    results["ratio"] = results["server_cpu"] / results["needed"]["total"]
    text = json.dumps(results, indent=1)
    print(text)
    if asked.out:
        asked.out.write_text(text)


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--transport", choices=("direct", "dpf", "mixnet"), default="dpf")
    parser.add_argument("--donors", type=int, default=5000)
    parser.add_argument("--servers", type=int, default=2)
    parser.add_argument("--suite", choices=("x25519", "mlkem768-x25519"), default="x25519")
    parser.add_argument("--k", type=int, default=250)
    parser.add_argument("--out", type=Path, help="a file for the figures")
    return parser.parse_args()


def _report() -> Any:
    """Print how far it is, with the share of wall time that has passed since."""
    began, last = time.time(), [-1]

    def report(done: int, total: int | None) -> None:
        if total and done * 20 // total != last[0]:
            last[0] = done * 20 // total
            print(f"# {done / total:.0%} after {time.time() - began:.0f} s", flush=True)

    return report


def _limits(asked: argparse.Namespace) -> dict[str, float]:
    return {
        "aes_bytes": aes_rate(),
        "hpke": hpke_rate(asked.suite, 2048),
        "kem": kem_rate(asked.suite),
    }


def _entry(entry: Any) -> dict[str, Any]:
    servers = dict(_servers(entry.meter, entry.servers))
    return {
        "accepted": entry.accepted,
        "server_cpu": max(servers.values()),
        "phases": {
            phase: max(entry.meter.cpu[phase, server] for server in servers)
            for phase in dict.fromkeys(phase for phase, _ in entry.meter.cpu)
        },
        "client_cpu": sum(cpu for (_, who), cpu in entry.meter.cpu.items() if who == "clients"),
        "refused": dict(entry.refused),
    }


def _servers(meter: Any, servers: int) -> list[tuple[str, float]]:
    names = [f"server {index}" for index in range(servers)]
    return [
        (name, sum(cpu for (_, who), cpu in meter.cpu.items() if who == name)) for name in names
    ]


def _needed(
    campaign: Campaign, asked: argparse.Namespace, limits: dict[str, float]
) -> dict[str, float]:
    """CPU seconds that one server needs at the least, at the rates of this run."""
    needed = {"aes": 0.0, "hpke": 0.0, "kem": 0.0}
    for round in named_rounds(campaign.study).values():
        if asked.transport == "dpf":
            work = aes_bytes_of(campaign.transport, round) * asked.donors
            needed["aes"] += work / limits["aes_bytes"]
        if asked.transport == "mixnet":
            costs = import_module("anonloom_mixnet.costs")
            work = costs.server_work(round, campaign.transport.traps)
            opened = sum(times for key, times in work.items() if "opened" in key.name)
            needed["kem"] += (opened + asked.donors) / limits["kem"]
        else:
            needed["hpke"] += asked.donors / limits["hpke"]
    return {**needed, "total": sum(needed.values())}


def _differences(
    campaign: Campaign,
    table: Table,
    stages: PipelineStages,
    donor_data: DonorData,
    released: Release,
) -> int:
    """Count cells that differ from what a curator publishes of the same classes and rows."""
    rows = donor_data.rows[0]
    labels = np.full(len(table), -1, np.int64)
    labels[rows] = [-1 if number is None else number - 1 for number in campaign.numbers]
    curators = stages.generalize(table, Classes.from_labels(labels)).take(rows[campaign.owners[1]])
    return sum(
        int((released.frame[name].astype(str) != curators.frame[name].astype(str)).sum())
        for name in released.frame.columns
    )


if __name__ == "__main__":
    main()
