#!/usr/bin/env python3
"""What an authenticated skip list costs: building, updating, proving, checking.

    python benchmarks/skip_list.py [--leaves 100000]

Random leaves and positions, CPU time of one process, the best of three. Prints a table.
"""

import argparse
import random
import time
from collections.abc import Callable

from measure import repeated

from anonloom_merkle.tree import Tree
from anonloom_skip_list.skiplist import SkipList

#: Calls that are timed together: one alone is below the clock's resolution.
CALLS, NEIGHBOURS = 1_000, 1_000


def cpu(call: Callable[[], object]) -> float:
    """CPU seconds of the best of three calls."""

    def once() -> float:
        start = time.process_time()
        call()
        return time.process_time() - start

    return min(repeated(once, once=False))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--leaves", type=int, default=100_000, metavar="N")
    count = max(parser.parse_args().leaves, NEIGHBOURS)
    drawn = random.Random(1)
    leaves = drawn.randbytes(32 * count)
    start = time.process_time()
    table = SkipList.build(leaves)
    root = table.root
    print(f"{count:,} leaves")
    print(f"build and root              {time.process_time() - start:.2f} s")

    positions = [drawn.randrange(count) for _ in range(CALLS)]
    new = [drawn.randbytes(32) for _ in range(CALLS)]

    def insert() -> None:
        for index, leaf in zip(positions, new, strict=True):
            table.insert(index, leaf)
            _ = table.root

    def replace() -> None:
        for index, leaf in zip(positions, reversed(new), strict=True):
            table.replace(index, leaf)
            _ = table.root

    def remove() -> None:
        for index in positions:
            table.remove(index)
            _ = table.root

    for name, update in (("insert", insert), ("replace", replace), ("remove", remove)):
        print(f"{name + ', new root':28}{1e6 * cpu(update) / CALLS:.0f} us")

    fixed = SkipList.build(leaves)
    if fixed.root != root:
        raise SystemExit("the same leaves have another root")
    paths = [fixed.prove([index]) for index in positions]
    single = Tree.build(leaves).prove([0])

    def prove() -> None:
        for index in positions:
            fixed.prove([index])

    def check() -> None:
        for index, path in zip(positions, paths, strict=True):
            leaf = leaves[32 * index : 32 * index + 32]
            if SkipList.recompute(count, {index: leaf}, path) != root:
                raise SystemExit(f"the path of leaf {index} is wrong")

    print(f"prove one leaf              {1e6 * cpu(prove) / CALLS:.0f} us")
    print(f"check it                    {1e6 * cpu(check) / CALLS:.0f} us")
    lengths = list(map(len, paths))
    print(f"its path, mean and longest  {sum(lengths) / CALLS:.0f} B, {max(lengths)} B")
    print(f"its path in a Merkle tree   {len(single)} B")
    first = (count - NEIGHBOURS) // 2
    near = range(first, first + NEIGHBOURS)
    path = fixed.prove(near)
    shown = {index: leaves[32 * index : 32 * index + 32] for index in near}
    print(f"prove {NEIGHBOURS:,} neighbours      {1e3 * cpu(lambda: fixed.prove(near)):.1f} ms")
    checked = cpu(lambda: SkipList.recompute(count, shown, path))
    print(f"check them                  {1e3 * checked:.1f} ms")
    print(f"their path                  {len(path)} B")


if __name__ == "__main__":
    main()
