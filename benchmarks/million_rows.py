#!/usr/bin/env python3
"""A million rows from CSV to a k-anonymous Parquet file, beside pandas doing nothing but the I/O.

    python benchmarks/million_rows.py [--rows 1000000] [--repeat 3]

Prints a table and writes benchmarks/results/million_rows.json. The ratio is what counts: all are
measured in the same run on the same file, after a run each that is not counted: it writes Python's
bytecode, also where the environment says to write none, for otherwise compiling pandas would be
most of what is compared.
"""

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

from measure import measure

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))
from get_data import find_or_fetch  # noqa: E402  # the tools folder is no package

PIPELINE = """\
version: 1
name: million
seed: 1
data:
  source: csv
  with: {{path: {table}}}
  columns:
    age:            {{role: quasi, type: number}}
    sex:            {{role: quasi}}
    race:           {{role: quasi, hierarchy: {trees}/race.csv}}
    marital-status: {{role: quasi, hierarchy: {trees}/marital-status.yaml}}
    education:      {{role: quasi, hierarchy: {trees}/education.yaml}}
    native-country: {{role: quasi, hierarchy: {trees}/native-country.yaml}}
    workclass:      {{role: quasi, hierarchy: {trees}/workclass.yaml}}
    occupation:     {{role: quasi, hierarchy: {trees}/occupation.yaml}}
    salary-class:   {{role: sensitive}}
privacy:
  - k-anonymity: {{k: 10}}
suppression: {{at_most: 0.01}}
stages:
  - partitioner: {method}
  - generalizer: hierarchy
publish: {{to: {out}, formats: [parquet]}}
"""

PEER = """
import pandas, sys
frame = pandas.read_csv(sys.argv[1], engine="c")
frame.to_parquet(sys.argv[2], index=False)
"""


#: How many times pandas' CPU each method may cost.
LIMITS = {"mondrian": 3.0, "level-order": 3.0, "local-recoding": 5.0}


def peak_limit(rows: int) -> int:
    """Megabytes that a run may take: 2 GB for a million rows, 4 GB for ten."""
    return 2048 if rows <= 1_000_000 else 4096


def commands(table: Path, folder: Path) -> dict[str, list[str]]:
    """Return what is measured: pandas, and a pipeline for every method."""
    trees = ROOT / "examples" / "hierarchies" / "adult"
    result = {"pandas": [sys.executable, "-c", PEER, str(table), f"{folder}/peer.parquet"]}
    for method in LIMITS:
        spec = folder / f"{method}.yaml"
        text = PIPELINE.format(table=table, trees=trees, out=folder / method, method=method)
        spec.write_text(text)
        run = ["-m", "anonloom", "run", str(spec), "--quiet", "--replace"]
        result[method] = [sys.executable, *run]
    return result


def main() -> int:
    """Measure all of them and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    table = find_or_fetch("adult", rows=options.rows, seed=1)
    rounds = []
    with tempfile.TemporaryDirectory() as folder:
        env = {name: os.environ[name] for name in os.environ if name != "PYTHONDONTWRITEBYTECODE"}
        env["PYTHONPYCACHEPREFIX"] = f"{folder}/bytecode"
        named = commands(table, Path(folder))
        for _ in range(1 + options.repeat):
            rounds.append({name: measure(command, env=env) for name, command in named.items()})
    del rounds[0]
    best = {
        name: {key: min(r[name][key] for r in rounds) for key in ("cpu_seconds", "peak_mb")}
        for name in named
    }
    ratios = {name: best[name]["cpu_seconds"] / best["pandas"]["cpu_seconds"] for name in LIMITS}
    print(f"{options.rows} rows x 8 quasi-identifiers, k = 10, best of {options.repeat}")
    print(f"{'':15} {'CPU s':>8} {'peak MB':>9} {'ratio':>6} {'limit':>6}")
    for name, figures in best.items():
        line = f"{name:15} {figures['cpu_seconds']:8.2f} {figures['peak_mb']:9.0f}"
        print(f"{line} {ratios[name]:6.2f} {LIMITS[name]:6.1f}" if name in LIMITS else line)
    most = peak_limit(options.rows)
    print(f"peak below {most} MB")
    results = ROOT / "benchmarks" / "results"
    results.mkdir(exist_ok=True)
    outcome = {"rows": options.rows, "rounds": rounds, "best": best, "ratios": ratios}
    (results / "million_rows.json").write_text(json.dumps(outcome, indent=2) + "\n")
    kept = all(ratios[name] <= LIMITS[name] and best[name]["peak_mb"] < most for name in LIMITS)
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
