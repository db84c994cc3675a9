#!/usr/bin/env python3
"""Every anonymizer beside its peers: CPU, memory and loss on Adult, in one run.

    python benchmarks/anonymizers.py [--quick] [--only NAME ...] [--ks 5 10] [--rows 2000 62500]
        [--hierarchies FOLDER] [--publish interval|nodes] [--ten-million] [--continuous]
        [--update]

All chains and peers run on all 30,162 complete rows for every k, and for k = 10 on samples and
resampled tables of other sizes. Prints a table, writes JSON and two plots to benchmarks/results/,
prints every goal beside its figure, and ends with 1 if one is missed. Goals of loss are judged if
--hierarchies names ARX's example hierarchies of Adult: those of this repository are other trees.
"""

import argparse
import json
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import attrs
import peers
import plot
from adult_table import ALL_ROWS, QUASI, ROOT, TREES, adult_file, hierarchy_file
from chains import CHAINS, Asked
from goal import Goal, verdicts
from goals import (
    GROWING,
    KS,
    MILLION,
    WHOLE_RUNS,
    Record,
    Results,
    goals,
    key,
)
from measure import measure

ROWS = (2_000, 10_000, 62_500, 125_000, 250_000, 500_000, MILLION)
#: Chains whose growth is shown; the others are measured up to all rows of Adult.
GROWTH = tuple(dict.fromkeys(GROWING.values()))
#: A time that misses its limit is measured again so often: the machine may have been busy.
AGAIN = 2


class Bench:
    """Measures what is asked, each in a process of its own, and remembers it."""

    def __init__(self, options: argparse.Namespace, kept: list[Record]) -> None:
        self.options = options
        # A later record of the same takes the place of an earlier one.
        self.records = kept
        self.child: tuple[str, subprocess.Popen[str] | None] = ("", None)

    def asked(self, chain: str, rows: int, k: int, **more: bool) -> Asked:
        """Return one measurement under the options of this run."""
        options = self.options
        return Asked(
            chain=chain,
            rows=rows,
            k=k,
            publish=options.publish,
            hierarchies=str(options.hierarchies),
            continuous=options.continuous,
            once=options.quick,
            **more,
        )

    def measure(self, chain: str, rows: int, k: int, whole: bool = False) -> None:
        """Measure one chain or peer, unless it would take too long."""
        if self._hopeless(chain, rows):
            print(f"{chain:30}{rows:>10}{k:>5}   left out: too large or too slow", flush=True)
            return
        figures = self.figures(self.asked(chain, rows, k, whole=whole))
        record = {"chain": chain, "rows": rows, "k": k, "whole": whole, **figures}
        self.records.append(record)
        print(line(record), flush=True)

    def figures(self, asked: Asked) -> dict[str, Any]:
        """Measure in a process of its own."""
        if asked.chain in peers.PEERS:
            return peers.measured(asked)
        child = self._child(asked.chain)
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(json.dumps(attrs.asdict(asked)) + "\n")
        child.stdin.flush()
        message = child.stdout.readline()
        if not message:
            raise SystemExit(f"{asked} failed")
        figures: dict[str, Any] = json.loads(message)
        return figures

    def _child(self, chain: str) -> "subprocess.Popen[str]":
        """Return the process that forks for measurements of one chain; it loads its kernels."""
        name, child = self.child
        if child is None or name != chain:
            self.close()
            child = subprocess.Popen(
                [sys.executable, str(Path(__file__).with_name("chains.py"))],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            self.child = (chain, child)
        return child

    def close(self) -> None:
        """End the process of the last chain."""
        _, child = self.child
        if child is not None:
            child.communicate()
        self.child = ("", None)

    def _hopeless(self, chain: str, rows: int) -> bool:
        """Whether a size takes too long, judged as linear from the largest size before it."""
        if rows > peers.PEERS.get(chain, {}).get("most_rows", rows):
            return True
        before = [r for r in self.records if r["chain"] == chain and r["k"] == 10]
        if not before:
            return False
        last = max(before, key=lambda record: record["rows"])
        if last["rows"] >= rows:
            return False
        return bool(last["cpu"] * rows / last["rows"] > self.options.most_seconds)

    def again(self) -> None:
        """Measure times that look too dear once more; the best of all counts."""
        for _ in range(AGAIN):
            results = Results(self.records)
            missed = [goal for goal in goals(results, "", judge_loss=False) if not goal.met]
            for asked in sorted({asked for goal in missed for asked in goal.times}):
                self._better(results.records[asked])

    def _better(self, record: Record) -> None:
        chain, rows, k, whole = key(record)
        result = self.figures(self.asked(chain, rows, k, whole=whole))
        for part in ("cpu", "cpu_with_cells"):
            if part in record:
                record[part] = min(record[part], result[part])
        for stage, cpu in result.get("stages", {}).items():
            record["stages"][stage] = min(record["stages"][stage], cpu)
        print(f"{line(record)}   again", flush=True)


def line(record: Record) -> str:
    """Write one row of the table."""
    start = f"{record['chain']:30}{record['rows']:>10}{record['k']:>5}{record['cpu']:>10.3f}"
    start += f"{record['peak_mb']:>8.0f}"
    if record.get("whole"):
        return f"{start}   encoded table to Parquet"
    if "gcp" not in record:
        return start
    utility = f"{record['gcp']:>9.4f}{record['gcp_sets']:>9.4f}{record['cavg']:>9.2f}"
    return f"{start}{utility}{record['dm']:>16,}{record['suppressed']:>8}"


HEAD = (
    f"{'':30}{'rows':>10}{'k':>5}{'CPU s':>10}{'MB':>8}{'GCP':>9}{'sets':>9}{'CAVG':>9}"
    f"{'DM':>16}{'suppr.':>8}"
)

PIPELINE = """\
version: 1
name: ten million
seed: 1
data:
  source: csv
  with: {{path: {table}}}
  columns:
{columns}
    salary-class: {{role: sensitive}}
privacy:
  - k-anonymity: {{k: 10}}
suppression: {{at_most: 0.01}}
stages:
{stages}
  - generalizer: hierarchy
publish: {{to: {out}, formats: [parquet]}}
"""

TEN_MILLION = {
    "rayden": "  - partitioner: vp-tree\n    with: {cut: half}\n"
    "  - outliers: cof\n    with: {recovery: {partitioner: vp-tree, with: {cut: half}}}",
    "level-order": "  - partitioner: level-order",
}


def ten_million(options: argparse.Namespace, chains: Iterable[str]) -> list[Record]:
    """Whole runs of the command line, CSV to Parquet, on ten million rows."""
    table = adult_file(10 * MILLION)
    results = []
    for chain in chains:
        columns = [
            f"    {name}: {{role: quasi, hierarchy: {hierarchy_file(name, options.hierarchies)}"
            + (f", type: number, publish: {options.publish}}}" if name == "age" else "}")
            for name in QUASI
        ]
        with tempfile.TemporaryDirectory() as folder:
            spec = Path(folder) / "run.yaml"
            text = PIPELINE.format(
                table=table,
                columns="\n".join(columns),
                stages=TEN_MILLION[chain],
                out=Path(folder) / "out",
            )
            spec.write_text(text)
            used = measure([sys.executable, "-m", "anonloom", "run", str(spec), "--quiet"])
        record = {"chain": chain, "rows": 10 * MILLION, "k": 10, "whole": True}
        results.append(record | {"cpu": used["cpu_seconds"], "peak_mb": used["peak_mb"]})
        print(f"{line(results[-1])}, CSV included", flush=True)
    return results


def parsed() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="*", default=[], metavar="NAME", help="part of a name")
    parser.add_argument("--ks", nargs="*", type=int, default=KS, metavar="K")
    parser.add_argument("--rows", nargs="*", type=int, default=ROWS, metavar="N")
    parser.add_argument("--hierarchies", type=Path, default=TREES, metavar="FOLDER")
    parser.add_argument("--publish", choices=["interval", "nodes"], default="interval")
    parser.add_argument("--quick", action="store_true", help="k = 10, few rows, one call each")
    parser.add_argument("--ten-million", action="store_true", help="whole runs of 10,000,000 rows")
    parser.add_argument("--continuous", action="store_true", help="a number no two rows share")
    parser.add_argument("--most-seconds", type=float, default=60.0, metavar="S")
    parser.add_argument("--name", help="of the files of results")
    parser.add_argument("--update", action="store_true", help="keep what is not measured anew")
    options = parser.parse_args()
    options.hierarchies = options.hierarchies.resolve()
    if options.quick:
        options.ks, options.rows, options.most_seconds = (10,), (2_000, 4_000), 10.0
    return options


def measure_all(bench: Bench, name: str, options: argparse.Namespace) -> None:
    """Measure one chain or peer at every size, every k, and up to the published file."""
    # All rows of Adult are one of the sizes, so that what takes too long is known before.
    sizes = {*options.rows, ALL_ROWS} if 10 in options.ks else set(options.rows)
    for rows in sorted(sizes):
        if rows <= ALL_ROWS or name in GROWTH or name in peers.PEERS:
            bench.measure(name, rows, 10)
    for k in options.ks:
        if k != 10 and Results(bench.records).get(name):
            bench.measure(name, ALL_ROWS, k)
    if WHOLE_RUNS.get(name) in sizes:
        bench.measure(name, WHOLE_RUNS[name], 10, whole=True)


def run(bench: Bench, options: argparse.Namespace) -> None:
    """Measure everything that the options ask for."""
    # Peers get the rows of Adult as they are, and some need a hierarchy for every column.
    names = [*CHAINS, *(() if options.continuous else peers.PEERS)]
    chosen = [n for n in names if not options.only or any(word in n for word in options.only)]
    print(HEAD)
    for name in chosen:
        measure_all(bench, name, options)
    bench.again()
    if options.ten_million:
        bench.records += ten_million(options, [name for name in TEN_MILLION if name in chosen])


def summary(results: Results) -> str:
    """Write GCP of every chain at every k, and its CPU seconds at k = 10, as a Markdown table."""
    losses = results.losses()
    ks = sorted({k for _, k in losses})
    rows = [["GCP on all rows", *(f"k = {k}" for k in ks), "CPU s, k = 10"]]
    rows.append(["---", *["---:"] * (len(ks) + 1)])
    for chain in dict.fromkeys(chain for chain, _ in losses):
        cells = [f"{losses[chain, k]:.4f}" if (chain, k) in losses else "" for k in ks]
        measured = results.get(chain)
        rows.append([chain, *cells, f"{measured['cpu']:.3g}" if measured else ""])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def concluded(records: list[Record], options: argparse.Namespace, file: Path) -> list[Goal]:
    """Judge, write and draw what was measured; return the goals that are missed."""
    results, own = Results(records), options.hierarchies == TREES.resolve()
    judged = goals(results, options.publish, judge_loss=not own and not options.continuous)
    outcome = {
        "publish": options.publish,
        "own_hierarchies": own,
        "continuous": options.continuous,
        "records": list(results.records.values()),
        "goals": [attrs.asdict(goal) for goal in judged],
    }
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(outcome, indent=1) + "\n")
    plot.draw(outcome, file.with_suffix(""))
    missed = [goal for goal in judged if not goal.met]
    print("\n".join(["", summary(results), "", verdicts(judged)]))
    return missed


def main() -> int:
    """Measure, print, draw, judge."""
    options = parsed()
    name = options.name or ("anonymizers" if options.publish == "interval" else "anonymizers-nodes")
    file = ROOT / "benchmarks" / "results" / f"{name}.json"
    kept = json.loads(file.read_text())["records"] if options.update and file.is_file() else []
    bench = Bench(options, kept)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended from outside"))
    try:
        run(bench, options)
    finally:
        # Also what was measured before a run was interrupted.
        bench.close()
        missed = concluded(bench.records, options, file)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
