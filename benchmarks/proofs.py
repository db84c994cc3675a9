#!/usr/bin/env python3
"""Trees over a million rows and proofs from them, beside pymerkle and bare SHA-256 of the same run.

    python benchmarks/proofs.py [--quick] [--rows 1000000]

A tree is everything from the bytes of the rows to all levels. Proofs are made from levels in a file
that is mapped into memory, at random positions; checking begins with the bytes of the rows. A
release is a CSV file of as many rows, sealed and verified, and a range of it as a file. Prints a
table, writes benchmarks/results/proofs.json, prints every goal beside its figure, and ends with 1
if one is missed.
"""

import argparse
import json
import mmap
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import attrs
import sealed_release
from environments import ROOT, Failed, environment, run
from goal import Goal, verdicts
from measure import repeated

from anonloom_merkle.consistency import check_consistency, consistency
from anonloom_merkle.tree import Tree, leaf_hashes

Record = dict[str, Any]

MILLION, WIDTH = 1_000_000, 64
#: Rows that a range query finds; its proof shows the row on either side, too.
FOUND = 1_000
#: Proofs per call that is timed: one alone is below the clock's resolution.
PROOFS, RANGES = 2_000, 20
#: A missed goal is measured again so often: the machine may have been busy.
AGAIN = 2

#: How many times as fast as pymerkle a tree is built.
LEAST_TIMES = 5.0
#: CPU microseconds of one inclusion proof from stored levels.
MOST_PROOF_US = 50.0
#: CPU milliseconds to check a proof of a range.
MOST_RANGE_MS = 20.0

PEER = "pymerkle"
REQUIRED = ("pymerkle==7.0.0",)
MOST_SECONDS = 600.0
_PYMERKLE = """
import json, random, resource, sys, time
from pymerkle import InmemoryTree, verify_inclusion
count, width, proofs = map(int, sys.argv[1:])
data = random.Random(1).randbytes(count * width)
rows = [data[at : at + width] for at in range(0, len(data), width)]
positions = [random.Random(2).randrange(count) + 1 for _ in range(proofs)]
tree = InmemoryTree(algorithm="sha256")
clock = [time.process_time()]
tree.append_entries(rows)
root = tree.get_root()
clock.append(time.process_time())
made = [tree.prove_inclusion(at) for at in positions]
clock.append(time.process_time())
for at, proof in zip(positions, made):
    verify_inclusion(tree.get_leaf(at), root, proof)
clock.append(time.process_time())
built, proved, checked = (after - before for before, after in zip(clock, clock[1:]))
print(json.dumps({
    "cpu": built,
    "root": root.hex(),
    "proof_us": 1e6 * proved / proofs,
    "check_us": 1e6 * checked / proofs,
    "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
}))
"""


def cpu(call: Callable[[], object]) -> float:
    """CPU seconds of one call."""
    start = time.process_time()
    call()
    return time.process_time() - start


class Bench:
    """Measures what is asked and remembers the best of it."""

    def __init__(self, count: int, once: bool, folder: Path) -> None:
        self.once = once
        # pymerkle's process draws the same rows.
        data = random.Random(1).randbytes(count * WIDTH)
        self.rows = [data[index : index + WIDTH] for index in range(0, len(data), WIDTH)]
        self.built = Tree.build(leaf_hashes(self.rows))
        file = folder / "levels"
        file.write_bytes(self.built.levels_buffer())
        with file.open("rb") as opened:
            self.levels = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
        self.records: dict[str, Record] = {}
        self.measures: dict[str, Callable[[], Record]] = {
            "bare SHA-256": self.bare,
            "tree": self.tree,
            PEER: self.pymerkle,
            "inclusion": self.inclusion,
            "range": self.range,
            "growth": self.growth,
            "release": self.release,
        }

    def measure(self, name: str) -> None:
        """Measure one thing, perhaps anew; the best counts. Say why it can't be."""
        try:
            record = {"name": name, "rows": len(self.rows), **self.measures[name]()}
        except Failed as why:
            record = {"name": name, "left_out": str(why).strip().splitlines()[-1]}
        before = self.records.get(name, record)
        for key, value in before.items():
            if isinstance(value, float) and key in record:
                record[key] = min(value, record[key])
        self.records[name] = record
        print(line(record), flush=True)

    def best(self, call: Callable[[], object]) -> float:
        """CPU seconds of the best of some calls."""
        return min(repeated(partial(cpu, call), self.once))

    def bare(self) -> Record:
        """As many hashes as a tree has, of one message of a node's length: the least there is."""
        message, times = bytes(1 + WIDTH), 2 * len(self.rows) - 1
        return {"cpu": self.best(lambda: [sha256(message).digest() for _ in range(times)])}

    def tree(self) -> Record:
        """Hash leaves and levels."""
        leaves = self.best(lambda: leaf_hashes(self.rows))
        hashes = bytes(self.built.levels_buffer()[: 32 * len(self.rows)])
        levels = self.best(lambda: Tree.build(hashes))
        return {
            "cpu": leaves + levels,
            "leaves": leaves,
            "levels": levels,
            "root": self.built.root.hex(),
        }

    def pymerkle(self) -> Record:
        """The same tree by the peer, in memory; it must have the same root."""
        asked = [str(number) for number in (len(self.rows), WIDTH, PROOFS)]
        python = str(environment(REQUIRED))
        output = run([python, "-c", _PYMERKLE, *asked], MOST_SECONDS)
        result: Record = json.loads(output.splitlines()[-1])
        if result["root"] != self.built.root.hex():
            raise SystemExit("pymerkle's tree over the same rows has another root")
        return result

    def inclusion(self) -> Record:
        """Proofs of one row each, from stored levels; opening them; checking."""
        count, root = len(self.rows), self.built.root
        drawn = random.Random(2)
        positions = [drawn.randrange(count) for _ in range(PROOFS)]
        stored = Tree.from_buffer(self.levels, count)
        paths = [stored.prove([index]) for index in positions]

        def check() -> None:
            for index, path in zip(positions, paths, strict=True):
                leaf = leaf_hashes([self.rows[index]])
                if Tree.recompute(count, {index: leaf}, path) != root:
                    raise SystemExit(f"the proof of row {index} is wrong")

        def make() -> None:
            for index in positions:
                stored.prove([index])

        def open_and_make() -> None:
            for index in positions:
                Tree.from_buffer(self.levels, count).prove([index])

        return {
            "proof_us": 1e6 * self.best(make) / PROOFS,
            "opened_us": 1e6 * self.best(open_and_make) / PROOFS,
            "check_us": 1e6 * self.best(check) / PROOFS,
            "proof_bytes": max(map(len, paths)),
        }

    def range(self) -> Record:
        """Proofs of consecutive rows with those on either side; the dearest of some ranges."""
        count, root = len(self.rows), self.built.root
        drawn = random.Random(3)
        shown = min(FOUND, count - 2) + 2
        stored = Tree.from_buffer(self.levels, count)
        made, checked, sizes = [], [], []
        for _ in range(1 if self.once else RANGES):
            first = drawn.randrange(count - shown + 1)
            positions = range(first, first + shown)
            rows = [self.rows[index] for index in positions]
            path = stored.prove(positions)
            check = partial(check_range, count, first, rows, path, root)
            made.append(min(cpu(partial(stored.prove, positions)) for _ in range(5)))
            checked.append(min(cpu(check) for _ in range(5)))
            sizes.append(len(path))
        return {
            "proof_us": 1e6 * max(made),
            "check_us": 1e6 * max(checked),
            "proof_bytes": max(sizes),
        }

    def release(self) -> Record:
        """Seal a release in CSV and verify it; check a range as a recipient of its file does."""
        result = min(FOUND, len(self.rows) - 2)
        with tempfile.TemporaryDirectory() as folder:
            return sealed_release.measured(
                Path(folder), len(self.rows), result, 3 if self.once else 10
            )

    def growth(self) -> Record:
        """Proofs that the tree grew from an older one, made from stored levels and checked."""
        count = len(self.rows)
        old = 2 * count // 3
        leaves = bytes(self.built.levels_buffer()[: 32 * old])
        older = Tree.build(leaves).root
        stored = Tree.from_buffer(self.levels, count)
        path = consistency(stored, old)

        def make() -> None:
            for _ in range(PROOFS):
                consistency(stored, old)

        def check() -> None:
            for _ in range(PROOFS):
                check_consistency(old, older, count, self.built.root, path)

        return {
            "proof_us": 1e6 * self.best(make) / PROOFS,
            "check_us": 1e6 * self.best(check) / PROOFS,
            "proof_bytes": len(path),
        }


def check_range(count: int, first: int, rows: list[bytes], path: bytes, root: bytes) -> None:
    """Check a proof of consecutive rows as somebody does who has only the rows."""
    hashes = leaf_hashes(rows)
    leaves = {first + index: hashes[32 * index : 32 * index + 32] for index in range(len(rows))}
    if Tree.recompute(count, leaves, path) != root:
        raise SystemExit(f"the proof of {len(rows)} rows from {first} on is wrong")


HEAD = f"{'':14}{'rows':>10}{'CPU s':>10}{'proof us':>11}{'check us':>11}{'bytes':>8}   more"


def line(record: Record) -> str:
    """Write one row of the table."""
    if "left_out" in record:
        return f"{record['name']:14}   left out: {record['left_out']}"
    columns = (("cpu", ">10.3f"), ("proof_us", ">11.2f"), ("check_us", ">11.2f"))
    start = f"{record['name']:14}{record['rows']:>10}"
    for key, form in columns:
        start += f"{record[key]:{form}}" if key in record else " " * int(form[1:3])
    start += f"{record.get('proof_bytes', ''):>8}"
    words = {
        "leaves": "leaves",
        "levels": "levels",
        "opened_us": "with opening",
        "peak_mb": "MB",
        "verified": "verified in",
    }
    more = (f"{word} {record[key]:.3g}" for key, word in words.items() if key in record)
    return f"{start}   {', '.join(more)}".rstrip()


def goals(records: dict[str, Record]) -> Iterator[Goal]:
    """Compare what was measured with its goals."""
    ours, theirs = records["tree"], records[PEER]
    rows = f"{ours['rows']:,} rows"
    if "cpu" in theirs:
        times = theirs["cpu"] / ours["cpu"]
        name = f"{PEER}'s CPU for the same tree over ours, {rows}"
        yield Goal.at_least(name, times, LEAST_TIMES, ("tree", PEER))
    proof = records["inclusion"]["proof_us"]
    name = f"CPU us of an inclusion proof from stored levels, {rows}"
    yield Goal.at_most(name, proof, MOST_PROOF_US, times=("inclusion",))
    checked = records["range"]["check_us"] / 1e3
    name = f"CPU ms to check a range of {FOUND:,} rows and two more, {rows}"
    yield Goal.at_most(name, checked, MOST_RANGE_MS, times=("range",))
    whole = records["release"]["check_us"] / 1e3
    name = f"CPU ms to check the file of such a proof: JSON, signature, rows of 5 columns, {rows}"
    yield Goal.at_most(name, whole, MOST_RANGE_MS, times=("release",))


def measured(bench: Bench) -> list[Goal]:
    """Measure everything, and what misses its goal again."""
    print(HEAD)
    for name in bench.measures:
        bench.measure(name)
    for _ in range(0 if bench.once else AGAIN):
        missed = [goal for goal in goals(bench.records) if not goal.met]
        for name in sorted({name for goal in missed for name in goal.times}):
            bench.measure(name)
    return list(goals(bench.records))


def main() -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=MILLION, metavar="N")
    parser.add_argument("--quick", action="store_true", help="20,000 rows, one call each")
    options = parser.parse_args()
    count = 20_000 if options.quick else max(options.rows, 3)
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(count, options.quick, Path(folder))
        judged = measured(bench)
    outcome = {
        "cores": os.cpu_count(),
        "records": list(bench.records.values()),
        "goals": [attrs.asdict(goal) for goal in judged],
    }
    file = ROOT / "benchmarks" / "results" / "proofs.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(outcome, indent=1) + "\n")
    print("", verdicts(judged), sep="\n")
    return 0 if all(goal.met for goal in judged) else 1


if __name__ == "__main__":
    sys.exit(main())
