#!/usr/bin/env python3
"""How the CPU time of every stage grows when the rows double.

    python benchmarks/scaling.py [--rows 100000] [--stages NAME ...]

Each stage is measured at n, 2n and 4n rows of the resampled Adult table with a continuous number
beside it, so that values and classes grow with the rows. A ratio near 2 is linear, near 4
quadratic. Prints a table and writes benchmarks/results/scaling.json.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from anonloom import AuditInput, Classes, Column, Guard, Schema, StageContext, Table
from anonloom.hierarchies import FromFile
from anonloom_disclosure.auditor import Disclosure
from anonloom_loss import merge_until_admitted
from anonloom_mondrian.mondrian import Mondrian
from anonloom_privacy_models.k_anonymity import KAnonymity
from anonloom_privacy_models.l_diversity import LDiversity
from anonloom_privacy_models.t_closeness import TCloseness
from anonloom_recoding.centroid import Centroid
from anonloom_recoding.hierarchy import ByHierarchy
from anonloom_recoding.outliers import Suppress
from anonloom_recoding.sets import Sets
from anonloom_runner import check
from anonloom_runner.provenance import input_digest
from anonloom_runner.table_files import write_csv, write_parquet
from anonloom_sampling.samplers import StratifiedSampler
from anonloom_utility.auditor import Utility

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))
from get_data import find_or_fetch  # noqa: E402  # the tools folder is no package

TREES = ROOT / "examples" / "hierarchies" / "adult"
NODES = ("marital-status.yaml", "education.yaml", "native-country.yaml", "workclass.yaml")

K = KAnonymity(k=10)
MODELS = {
    "l-distinct": LDiversity(l=3, of="occupation"),
    "l-entropy": LDiversity(l=3, of="occupation", kind="entropy"),
    "l-recursive": LDiversity(l=3, of="occupation", kind="recursive", c=3.0),
    "t-equal": TCloseness(t=0.4, of="occupation"),
    "t-ordered": TCloseness(t=0.2, of="hours-per-week", distance="ordered"),
    "t-hierarchical": TCloseness(t=0.4, of="occupation", distance="hierarchical"),
}


def schema() -> Schema:
    """Quasi-identifiers of every kind, two sensitive columns."""
    nodes = [
        Column(name=Path(name).stem, role="quasi", hierarchy=FromFile(path=TREES / name))
        for name in NODES
    ]
    jobs = FromFile(path=TREES / "occupation.yaml")
    return Schema(
        (
            Column(name="age", role="quasi", type="number"),
            Column(name="income", role="quasi", type="number"),
            Column(name="sex", role="quasi"),
            *nodes,
            Column(name="occupation", role="sensitive", hierarchy=jobs),
            Column(name="hours-per-week", role="sensitive", type="number"),
        )
    )


def stages(frame: pd.DataFrame, folder: Path) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Every stage by its name, ready to be called."""
    table = Table.build(frame, schema())
    whole, run, guard = table.whole(), StageContext(seed=1), Guard((K,))
    yield "table", lambda: Table.build(frame, schema())
    yield "input digest", lambda: input_digest(table)
    classes = Mondrian().partition(table, whole, guard, run)
    yield "mondrian", lambda: Mondrian().partition(table, whole, guard, run)
    for name, model in MODELS.items():
        both = Guard((K, model))
        yield f"mondrian {name}", lambda both=both: Mondrian().partition(table, whole, both, run)
    yield "suppress", lambda: Suppress().handle(table, classes, guard, run)
    diverse = Guard((K, LDiversity(l=5, of="occupation")))
    yield "merge", lambda: merge_until_admitted(table, classes, diverse)
    for method in (ByHierarchy(), Sets(), Centroid()):
        name = type(method).__name__.lower()
        yield name, lambda method=method: method.generalize(table, classes, run)
    yield "stratified", lambda: StratifiedSampler(share=0.7).sample(classes, run)
    for method in (ByHierarchy(), Centroid()):
        yield from after(table, classes, method, folder)


def after(
    table: Table, classes: Classes, method: Any, folder: Path
) -> Iterator[tuple[str, Callable[[], Any]]]:
    """What comes after a generalizer."""
    name, run = type(method).__name__.lower(), StageContext(seed=1)
    release = method.generalize(table, classes, run)
    case = AuditInput(release=release, original=table)
    yield f"{name}: final check", lambda: check.judge_models(release, (("k-anonymity", K),))
    yield f"{name}: utility", lambda: Utility().audit(case, run)
    yield f"{name}: disclosure", lambda: Disclosure().audit(case, run)
    yield f"{name}: csv", lambda: write_csv(release.frame, folder / "release.csv")
    yield f"{name}: parquet", lambda: write_parquet(release, folder / "release.parquet")


def seconds(rows: int, wanted: list[str]) -> dict[str, float]:
    """CPU seconds of every stage."""
    frame = pd.read_csv(find_or_fetch("adult", rows=rows, seed=1))
    frame["income"] = np.random.default_rng(1).normal(size=len(frame))
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, call in stages(frame, Path(folder)):
            if wanted and not any(word in name for word in wanted):
                continue
            start = time.process_time()
            call()
            results[name] = time.process_time() - start
    return results


def main() -> int:
    """Measure at three sizes and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--stages", nargs="*", default=[], metavar="NAME")
    options = parser.parse_args()
    sizes = [options.rows, 2 * options.rows, 4 * options.rows]
    times = {size: seconds(size, options.stages) for size in sizes}
    print(f"{'CPU seconds':28}" + "".join(f"{size:>10}" for size in sizes) + "    ratios")
    for name in times[sizes[0]]:
        n, twice, four = (times[size][name] for size in sizes)
        print(f"{name:28}{n:10.2f}{twice:10.2f}{four:10.2f}   {twice / n:5.2f}{four / twice:6.2f}")
    results = ROOT / "benchmarks" / "results"
    results.mkdir(exist_ok=True)
    (results / "scaling.json").write_text(json.dumps(times, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
