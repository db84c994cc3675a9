#!/usr/bin/env python3
"""A million rows from CSV to a k-anonymous Parquet file, beside pandas doing nothing but the I/O.

    python benchmarks/million_rows.py [--rows 1000000] [--repeat 3]

Prints a table and writes benchmarks/results/million_rows.json. The ratio is what counts: both are
measured in the same run on the same file.
"""

import argparse
import json
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
  - partitioner: mondrian
  - generalizer: hierarchy
publish: {{to: {out}, formats: [parquet]}}
"""

PEER = """
import pandas, sys
frame = pandas.read_csv(sys.argv[1], engine="c")
frame.to_parquet(sys.argv[2], index=False)
"""


def main() -> int:
    """Measure both and print the ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    table = find_or_fetch("adult", rows=options.rows, seed=1)
    trees = ROOT / "examples" / "hierarchies" / "adult"
    rounds = []
    with tempfile.TemporaryDirectory() as folder:
        spec = Path(folder) / "million.yaml"
        spec.write_text(PIPELINE.format(table=table, trees=trees, out=Path(folder) / "out"))
        peer = [sys.executable, "-c", PEER, str(table), f"{folder}/peer.parquet"]
        ours = [sys.executable, "-m", "anonloom", "run", str(spec), "--quiet", "--replace"]
        for _ in range(options.repeat):
            rounds.append({"pandas": measure(peer), "anonloom": measure(ours)})
    best = {
        name: {key: min(r[name][key] for r in rounds) for key in ("cpu_seconds", "peak_mb")}
        for name in ("pandas", "anonloom")
    }
    ratio = best["anonloom"]["cpu_seconds"] / best["pandas"]["cpu_seconds"]
    print(f"{options.rows} rows x 8 quasi-identifiers, k = 10, best of {options.repeat}")
    print(f"{'':10} {'CPU s':>8} {'peak MB':>9}")
    for name, figures in best.items():
        print(f"{name:10} {figures['cpu_seconds']:8.2f} {figures['peak_mb']:9.0f}")
    print(f"ratio of CPU: {ratio:.2f} (limit 6), peak below 2048 MB")
    results = ROOT / "benchmarks" / "results"
    results.mkdir(exist_ok=True)
    outcome = {"rows": options.rows, "rounds": rounds, "best": best, "ratio": ratio}
    (results / "million_rows.json").write_text(json.dumps(outcome, indent=2) + "\n")
    return 0 if ratio <= 6 and best["anonloom"]["peak_mb"] < 2048 else 1


if __name__ == "__main__":
    sys.exit(main())
