"""Chains of methods, each measured in a process of its own.

    echo '{"chain": "mondrian", "rows": 2000, "k": 10}' | python benchmarks/chains.py

answers every line with one line of JSON. CPU is that of the calls alone, from the encoded table to
the classes, in one thread, the best of several. Each chain is called on a small sample before, so
that kernels are compiled and loaded; then the process forks for every measurement. The peak is that
of the forked process, table and imports included; code that it does not touch is not counted.
"""

import json
import os
import resource
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from adult_table import TREES, Publish, encoded, rows_of_adult
from measure import repeated

from anonloom import Classes, Guard, Partitioner, StageContext, Table
from anonloom_full_domain.full_domain import FullDomain
from anonloom_full_domain.local_recoding import LocalRecoding
from anonloom_k_member.k_member import KMember
from anonloom_level_order.method import LevelOrder
from anonloom_loss import gcp
from anonloom_mondrian.mondrian import Mondrian
from anonloom_oka.oka import OnePassKMeans
from anonloom_privacy_models.k_anonymity import KAnonymity
from anonloom_rayden.cof import Cof
from anonloom_rayden.vptree import VpTree
from anonloom_recoding.hierarchy import ByHierarchy
from anonloom_regroup.method import Regroup
from anonloom_runner import check
from anonloom_runner.table_files import write_parquet
from anonloom_utility.measures import by_label, set_valued_gcp

WARM_UP = 2000

_HALF = VpTree(cut="half")
_RAYDEN = (_HALF, Cof(recovery=_HALF, unrecovered="suppress"))

#: Every chain by its name; the methods have their defaults unless the name says otherwise.
CHAINS: dict[str, tuple[Any, ...]] = {
    "mondrian": (Mondrian(),),
    "mondrian widest": (Mondrian(cut="widest"),),
    "mondrian + cof": (Mondrian(), Cof(recovery=Mondrian())),
    "mondrian + regroup": (Mondrian(), Regroup()),
    "vp-tree": (VpTree(),),
    "vp-tree hierarchy": (VpTree(categories="hierarchy"),),
    "rayden": _RAYDEN,
    "rayden + regroup": (*_RAYDEN, Regroup()),
    "canon": (VpTree(distance="euclidean", categories="codes", cut="half"),),
    "one-pass-kmeans": (OnePassKMeans(),),
    "k-member": (KMember(),),
    "k-member + regroup": (KMember(), Regroup()),
    "full-domain": (FullDomain(),),
    "local-recoding": (LocalRecoding(),),
    "local-recoding + regroup": (LocalRecoding(), Regroup()),
    "level-order none": (LevelOrder(search="none"),),
    "level-order": (LevelOrder(),),
    "level-order full": (LevelOrder(search="full"),),
    "level-order + regroup": (LevelOrder(), Regroup()),
    "level-order full + regroup": (LevelOrder(search="full"), Regroup()),
}

#: The columns of the UCI file and siblings by label, for the rule that depends on both.
BY_LABEL = "mondrian widest, by label"
CHAINS[BY_LABEL] = CHAINS["mondrian widest"]


@attrs.frozen(kw_only=True)
class Asked:
    """One measurement."""

    chain: str
    rows: int
    k: int
    publish: Publish = "interval"
    hierarchies: str = str(TREES)
    continuous: bool = False
    whole: bool = False
    once: bool = False

    def table(self, rows: int) -> Table:
        """Encode so many rows of Adult."""
        return encoded(
            rows_of_adult(rows),
            Path(self.hierarchies),
            self.publish,
            by_label=self.chain == BY_LABEL,
            continuous=self.continuous,
        )


def stage_names(chain: str) -> list[str]:
    """Name the stages of a chain, as the parts of its name do."""
    # 'rayden' is short for two stages.
    return chain.replace("rayden", "vp-tree half + cof").split(" + ")


def anonymized(chain: str, table: Table, guard: Guard) -> tuple[Classes, list[float]]:
    """Run a chain; return its classes and the CPU seconds of every stage."""
    classes, seconds = table.whole(), []
    for index, method in enumerate(CHAINS[chain]):
        context = StageContext(stage=f"stage-{index}", seed=1)
        work = method.partition if isinstance(method, Partitioner) else method.handle
        start = time.process_time()
        classes = work(table, classes, guard, context)
        seconds.append(time.process_time() - start)
    return classes, seconds


def published(asked: Asked, table: Table, guard: Guard) -> float:
    """Run a chain from the encoded table to a checked Parquet file; return its CPU seconds."""
    with tempfile.TemporaryDirectory() as folder:
        start = time.process_time()
        classes, _ = anonymized(asked.chain, table, guard)
        release = ByHierarchy().generalize(table, classes, StageContext(seed=1))
        check.judge_models(release, (("k-anonymity", KAnonymity(k=asked.k)),))
        write_parquet(release, Path(folder) / "release.parquet")
        return time.process_time() - start


def peak_mb() -> float:
    """Peak memory of this process since it was loaded; a parent's is not counted."""
    status = Path("/proc/self/status")
    if status.is_file():
        lines = [line for line in status.read_text().splitlines() if line.startswith("VmHWM")]
        return int(lines[0].split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def judged(table: Table, classes: Classes, k: int) -> dict[str, float]:
    """Every figure of utility."""
    labels = classes.labels(len(table))
    division = by_label(labels, 0)
    return {
        "gcp": gcp(table, classes),
        "gcp_sets": set_valued_gcp(table, np.arange(len(table)), labels, 0),
        "cavg": division.cavg(k),
        "dm": division.discernibility(),
        "classes": len(classes),
        "smallest": int(classes.sizes.min()),
        "suppressed": len(classes.suppressed),
    }


def measured(asked: Asked) -> dict[str, Any]:
    """Measure one chain."""
    guard = Guard((KAnonymity(k=asked.k),))
    table = asked.table(asked.rows)
    results: dict[str, Any] = {}
    if asked.whole:
        published(asked, asked.table(WARM_UP), guard)
        rounds = repeated(lambda: published(asked, table, guard), asked.once)
        return {"cpu": min(rounds), "calls": len(rounds), "peak_mb": peak_mb()}
    stages: list[list[float]] = []

    def call() -> float:
        results["classes"], seconds = anonymized(asked.chain, table, guard)
        stages.append(seconds)
        return sum(seconds)

    rounds = repeated(call, asked.once)
    best = [min(times) for times in zip(*stages, strict=True)]
    peak = peak_mb()
    return {
        "cpu": min(rounds),
        "calls": len(rounds),
        "stages": dict(zip(stage_names(asked.chain), best, strict=True)),
        "peak_mb": peak,
        **judged(table, results["classes"], asked.k),
    }


def in_a_fork(asked: Asked) -> None:
    """Measure and print in a process of its own, and wait for it."""
    pid = os.fork()
    if pid == 0:
        try:
            print(json.dumps(measured(asked)), flush=True)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    if os.waitpid(pid, 0)[1]:
        raise SystemExit(1)


def main() -> None:
    """Answer every line."""
    warm: set[str] = set()
    for text in sys.stdin:
        asked = Asked(**json.loads(text))
        if asked.chain not in warm:
            warm.add(asked.chain)
            guard = Guard((KAnonymity(k=asked.k),))
            anonymized(asked.chain, asked.table(WARM_UP), guard)
        in_a_fork(asked)


if __name__ == "__main__":
    main()
