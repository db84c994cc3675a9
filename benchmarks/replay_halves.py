#!/usr/bin/env python3
"""A random half of Adult replayed on the other half: which rows find a region and are published.

    python benchmarks/replay_halves.py                # mondrian and level-order, k = 10, 5 seeds
    python benchmarks/replay_halves.py --k 5 --seeds 1 --method full-domain --public

One line per method and seed: rows of the second half that lie in a region of the first half's
release as it was made; rows that find a region, which the extension to the whole domain gives to
every complete row; rows that are published, not starred; the loss of both releases. Ends with 1
when a mean is below its goal: 95 of 100 rows find a region, 80 are published.
"""

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

from anonloom import Pipeline, Registry
from anonloom_replay.publish import apply_file

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))
from get_data import find_or_fetch  # noqa: E402  # the tools folder is no package

FIND, PUBLISHED = 0.95, 0.80


def main() -> int:
    """Print the shares of every method and seed, and whether the goals are met."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--method", nargs="*", default=["mondrian", "level-order"])
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--public", action="store_true", help="replay what may be published")
    given = parser.parse_args()
    adult = pd.read_csv(find_or_fetch("adult"), dtype=str, keep_default_na=False)
    print("method           seed  inside  found  published  merged        GCP before, after")
    met = True
    for method in given.method:
        shares = np.array(
            [
                replayed(adult, method, given.k, seed, public=given.public)
                for seed in range(given.seeds)
            ]
        )
        result, published = shares.mean(axis=0)
        print(f"{method:16} mean          {result:6.2%}    {published:6.2%}")
        met &= result >= FIND and published >= PUBLISHED
    print("goals met" if met else "goals missed")
    return 0 if met else 1


def replayed(
    adult: pd.DataFrame, method: str, k: int, seed: int, *, public: bool
) -> tuple[float, float]:
    """Publish one half, replay it on the other; return who found a region and was published."""
    order = np.random.default_rng(seed).permutation(len(adult))
    halves = np.array_split(order, 2)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for half, rows in zip(("first", "second"), halves, strict=True):
            adult.iloc[rows].to_csv(folder / f"{half}.csv", index=False)
        (folder / "first.yaml").write_text(
            yaml.safe_dump(pipeline(method, k, public), sort_keys=False)
        )
        first = Pipeline.load(folder / "first.yaml").publish().report["summary"]
        saved = next((folder / "out").rglob("transformation.json"))
        registry = Registry.installed()
        report = apply_file(saved, folder / "second.csv", folder / "again", registry, at_most=1.0)
    summary, replay = report["summary"], report["replay"]
    rows = summary["rows_in"]
    inside = 1 - replay["rows_outside"] / rows
    result = replay["rows_joined"] / rows
    published = summary["rows_out"] / rows
    merged = f"{replay['regions_reached']} -> {replay['classes']}"
    print(
        f"{method:16} {seed:4}  {inside:6.2%} {result:6.2%}    {published:6.2%}  {merged:12}  "
        f"{first['gcp']:.4f}, {summary['gcp']:.4f}",
        flush=True,
    )
    return result, published


def pipeline(method: str, k: int, public: bool) -> dict[str, Any]:
    """Return the example's pipeline for the first half, with another method and k alone."""
    example: dict[str, Any] = yaml.safe_load((ROOT / "examples/adult-mondrian.yaml").read_text())
    for column in example["data"]["columns"].values():
        if "hierarchy" in column:
            column["hierarchy"] = str(ROOT / "examples" / column["hierarchy"])
    example["data"]["with"]["path"] = "first.csv"
    example["privacy"] = [{"k-anonymity": {"k": k}}]
    example["stages"] = [{"partitioner": method}, {"generalizer": "hierarchy"}]
    del example["audit"]
    example["publish"] = {"to": "out", "transformation": public, "reporters": []}
    return example


if __name__ == "__main__":
    sys.exit(main())
