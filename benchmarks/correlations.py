"""Search for sensitive correlations in 40 attributes beside one Gram matrix of the encoded table.

    python benchmarks/correlations.py [--rows 100000] [--attributes 40] [--size 3] [--once]

The table mixes numbers and categories of 2 to 8 levels and has one planted pair: the critical value
depends on whether two numbers lie on the same side of their medians, which neither shows alone. The
unit is `X.T @ X` of the encoded table, a column of float64 for every level of every attribute, in
one thread, measured anew before every search: other work on the machine slows both. A search
starts at the data frame and includes the encoding. The same matrix in single precision, in which
the search counts, is shown for information.
"""

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from goal import Goal, verdicts
from threadpoolctl import threadpool_limits

from anonloom_prism.correlations import Measure
from anonloom_prism.discovery import discover
from anonloom_prism.encoding import encode, types_of

RESULT = Path(__file__).parent / "results" / "correlations.json"
MEASURES: tuple[Measure, ...] = ("cramers-v", "classifier", "multiple-correlation")
PLANTED = frozenset({"number 1", "number 3"})
#: How many times one Gram matrix a search may cost.
LIMIT = 15.0
REPEATS = 7
LETTERS = np.array(list("abcdefgh"))


def planted(rows: int, attributes: int, seed: int = 0) -> pd.DataFrame:
    """Make a table in which one pair of numbers gives the illness away."""
    rng = np.random.default_rng(seed)
    columns = {
        f"number {index}" if index % 2 else f"category {index}": rng.normal(size=rows)
        if index % 2
        else rng.choice(LETTERS[: 2 + index // 2 % 7], rows)
        for index in range(attributes)
    }
    differ = (columns["number 1"] > 0) != (columns["number 3"] > 0)
    ill = np.where(differ, rng.random(rows) < 0.6, rng.random(rows) < 0.05)
    columns["illness"] = np.where(ill, "ill", rng.choice(["flu", "cold"], rows))
    return pd.DataFrame(columns)


def cpu(call: Callable[[], object]) -> float:
    """CPU seconds of one call."""
    start = time.process_time()
    call()
    return time.process_time() - start


def encoded_table(frame: pd.DataFrame) -> np.ndarray:
    """Return a column of 0 and 1 for every level."""
    columns = {str(name): frame[name] for name in frame if name != "illness"}
    encoded = encode(columns, types_of(frame, None), bins=4, levels=8)
    return np.concatenate(
        [
            (codes[:, None] == np.arange(levels)).astype(float)
            for codes, levels in zip(encoded.codes, encoded.levels, strict=True)
        ],
        axis=1,
    )


def main() -> int:
    """Print the table and write it to benchmarks/results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--attributes", type=int, default=40)
    parser.add_argument("--size", type=int, default=3)
    parser.add_argument("--once", action="store_true")
    asked = parser.parse_args()
    frame = planted(asked.rows, asked.attributes)
    table = encoded_table(frame)
    single = table.astype(np.float32)
    print(f"{len(frame):,} rows, {asked.attributes} attributes, {table.shape[1]} levels")
    print(f"{'measure':24}{'Gram s':>9}{'search s':>10}{'times':>8}{'of float32':>12}  found")
    results, goals = {}, []
    for measure in MEASURES:
        result: list[frozenset[str]] = []

        def search(measure: Measure = measure, found: list[frozenset[str]] = result) -> None:
            kept = discover(frame, "illness", ["ill"], measure=measure, size=asked.size)
            found[:] = [item.attributes for item in kept]

        # CPU seconds of threads that wait for each other would say little.
        with threadpool_limits(1):
            pairs = [
                (cpu(lambda: table.T @ table), cpu(lambda: single.T @ single), cpu(search))
                for _ in range(1 if asked.once else REPEATS)
            ]
        unit, half, cost = (statistics.median(times) for times in zip(*pairs, strict=True))
        results[measure] = {"gram": unit, "gram_float32": half, "search": cost}
        listed = "; ".join(" + ".join(sorted(item)) for item in result) or "nothing"
        print(f"{measure:24}{unit:9.3f}{cost:10.3f}{cost / unit:8.2f}{cost / half:12.2f}  {listed}")
        goals.append(Goal.at_most(f"CPU of {measure} over one Gram matrix", cost / unit, LIMIT))
        if measure != "multiple-correlation":
            others = len(result) - 1 if PLANTED in result else len(result) + 1
            goals.append(Goal.at_most(f"sets missed or found by mistake, {measure}", others, 0))
    print(verdicts(goals))
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    return 0 if all(goal.met for goal in goals) else 1


if __name__ == "__main__":
    sys.exit(main())
