#!/usr/bin/env python3
"""What models learn from target-aware releases of Adult, beside releases that know no target.

    python benchmarks/target_aware.py [--splits 10] [--ks 10 50 100] [--chains ...] [--rows 30162]
    python benchmarks/target_aware.py --cpu     # only kl-tree beside Mondrian on 1,000,000 rows

The people are divided again and again; every division's learning part is anonymized by every chain,
and models that learned from it are judged by original rows of the others. Differences between two
chains are paired by division. Every accuracy is written to benchmarks/results/target_aware.json as
soon as it is known; a run that was broken off goes on where it stopped. After a change of the code
name another file with --out, or remove the old one.
"""

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from adult_table import ALL_ROWS
from goal import Goal, verdicts
from target_lessons import (
    CHAINS,
    MODELS,
    PAIRS,
    TRAIN,
    UNPROTECTED,
    Division,
    adult_with_label,
    guard_of,
)

from anonloom import Guard, StageContext, Table
from anonloom_learning.scores import interval
from anonloom_mondrian.mondrian import Mondrian
from anonloom_privacy_models.k_anonymity import KAnonymity
from anonloom_tada.kl_tree import KLTree

RESULTS = Path(__file__).resolve().parent / "results"
#: Rows whose cost is compared, how often, and the most that kl-tree may cost.
COSTLY, TIMES, LIMIT = 1_000_000, 3, 3.0
WARM_UP = 2000

Record = dict[str, Any]
Key = tuple[int, int, str]


def main() -> int:
    """Run what is missing, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--ks", type=int, nargs="+", default=[10, 50, 100])
    parser.add_argument("--chains", nargs="+", choices=[*CHAINS], default=[*CHAINS])
    parser.add_argument("--rows", type=int, default=ALL_ROWS)
    parser.add_argument("--out", type=Path, default=RESULTS / "target_aware.json")
    parser.add_argument("--cpu", action="store_true")
    parser.add_argument("--table", action="store_true", help="Only print what is known.")
    options = parser.parse_args()
    if options.cpu:
        return cost(options.out.with_stem(options.out.stem + "-cpu"))
    result = _load(options.out, options.rows)
    if not options.table:
        table = adult_with_label(options.rows)
        for split in range(options.splits):
            division = Division.of(table, split)
            for k, chain in _wanted(options.ks, options.chains):
                if (split, k, chain) not in result:
                    result[split, k, chain] = measured(division, k, chain)
                    _save(options.out, options.rows, result)
    print(tables(result))
    return 0


def _wanted(ks: list[int], chains: list[str]) -> list[tuple[int, str]]:
    return [(0, UNPROTECTED), *((k, chain) for k in ks for chain in chains)]


def measured(division: Division, k: int, chain: str) -> Record:
    """Anonymize a division's learning part, and let every model learn from it."""
    if chain == UNPROTECTED:
        release, loss = division.unprotected(), 0.0
    else:
        release, loss = division.anonymized(chain, k)
    lesson = division.lesson(release)
    accuracy = {model: division.accuracy(lesson, model) for model in MODELS}
    labels = lesson.versions[0].labels[division.judging]
    accuracy["majority"] = float(np.bincount(labels).max() / len(labels))
    return {"gcp": loss, "accuracy": accuracy}


def _load(path: Path, rows: int) -> dict[Key, Record]:
    if not path.is_file():
        return {}
    kept = json.loads(path.read_text(encoding="utf-8"))
    if kept["rows"] != rows:
        raise SystemExit(f"{path} holds results of {kept['rows']} rows; name another with --out")
    return {(item["split"], item["k"], item["chain"]): item["found"] for item in kept["records"]}


def _save(path: Path, rows: int, found: dict[Key, Record]) -> None:
    records = [
        {"split": split, "k": k, "chain": chain, "found": record}
        for (split, k, chain), record in found.items()
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_suffix(".part")
    fresh.write_text(json.dumps({"rows": rows, "records": records}, indent=1) + "\n")
    fresh.replace(path)


def tables(found: dict[Key, Record]) -> str:
    """Accuracies of every chain, then paired differences, as Markdown."""
    ks = sorted({k for _, k, chain in found if chain != UNPROTECTED})
    lines = ["| k | release | divisions | GCP | " + " | ".join(MODELS) + " |"]
    lines.append("| --- " * (4 + len(MODELS)) + "|")
    for k, chain in _wanted(ks, [*CHAINS]):
        own = [record for (_, index, name), record in found.items() if (index, name) == (k, chain)]
        if own:
            loss = np.mean([record["gcp"] for record in own])
            means = [f"{_of(own, model).mean():.4f}" for model in MODELS]
            shown = k or ""
            cells = [shown, chain, len(own), f"{loss:.4f}", *means]
            lines.append("| " + " | ".join(map(str, cells)) + " |")
    lines += ["", "| k | difference | " + " | ".join(MODELS) + " |"]
    lines.append("| --- " * (2 + len(MODELS)) + "|")
    for k in ks:
        for plain, aware in PAIRS:
            cells = [_difference(found, k, plain, aware, model) for model in MODELS]
            if any(cells):
                lines.append(f"| {k} | {aware} less {plain} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _of(records: list[Record], model: str) -> Any:
    return np.array([record["accuracy"][model] for record in records])


def _difference(found: dict[Key, Record], k: int, plain: str, aware: str, model: str) -> str:
    """Mean paired difference with its 95 % interval, and how many divisions it is positive in."""
    splits = sorted(
        split
        for split, index, name in found
        if (index, name) == (k, plain) and (split, k, aware) in found
    )
    pairs = [(found[split, k, plain], found[split, k, aware]) for split in splits]
    differences = np.array(
        [after["accuracy"][model] - before["accuracy"][model] for before, after in pairs]
    )
    ends = interval(differences, (1 - TRAIN) / TRAIN) if len(splits) > 1 else None
    if ends is None:
        return ""
    sure = "**" if ends[0] > 0 or ends[1] < 0 else ""
    mean = f"{sure}{differences.mean():+.4f}{sure}"
    wins = int((differences > 0).sum())
    return f"{mean} ({ends[0]:+.4f} to {ends[1]:+.4f}), {wins}/{len(splits)}"


def cost(path: Path) -> int:
    """CPU of kl-tree beside Mondrian's, by turns in one process, best of a few."""
    table = adult_with_label(COSTLY)
    guards = {"k": Guard((KAnonymity(k=10),)), "k and l": guard_of(10)}
    methods = {
        "mondrian": Mondrian(),
        "mondrian widest": Mondrian(cut="widest"),
        "kl-tree": KLTree(),
        "kl-tree reuse": KLTree(reuse=True),
        "kl-tree clustering": KLTree(task="clustering"),
    }
    small = table.take(np.arange(WARM_UP))
    seconds: dict[str, dict[str, list[float]]] = {}
    for demand, guard in guards.items():
        seconds[demand] = {name: [] for name in methods}
        for method in methods.values():
            _seconds(method, small, guard)
        for _ in range(TIMES):
            for name, method in methods.items():
                seconds[demand][name].append(_seconds(method, table, guard))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"rows": COSTLY, "seconds": seconds}, indent=1) + "\n")
    goals = []
    for demand, taken in seconds.items():
        best = {name: min(own) for name, own in taken.items()}
        print(demand, {name: round(own, 2) for name, own in best.items()})
        for name in ("kl-tree", "kl-tree reuse", "kl-tree clustering"):
            ratio = best[name] / best["mondrian"]
            goals.append(Goal.at_most(f"{name} over strict Mondrian, {demand}", ratio, LIMIT))
        # The rule of Mondrian's paper looks at less before it cuts, and costs less.
        ratio = best["kl-tree"] / best["mondrian widest"]
        goals.append(Goal.at_most(f"kl-tree over strict Mondrian widest, {demand}", ratio, LIMIT))
    print(verdicts(goals))
    return 0 if all(goal.met for goal in goals) else 1


def _seconds(method: Any, table: Table, guard: Guard) -> float:
    start = time.process_time()
    method.partition(table, table.whole(), guard, StageContext(seed=1))
    return time.process_time() - start


if __name__ == "__main__":
    sys.exit(main())
