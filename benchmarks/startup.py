#!/usr/bin/env python3
"""What commands without data cost beside a bare interpreter, and `check` beside what it imports.

    python benchmarks/startup.py [--repeat 15]

Prints a table and writes benchmarks/results/startup.json. Everything runs from compiled bytecode,
as it does after an installation: a first round, which is not counted, compiles.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
from pathlib import Path

from measure import measure

ROOT = Path(__file__).parents[1]

#: Nothing, and what every pipeline file that is checked needs of other people's packages.
BARE = [sys.executable, "-c", "pass"]
IMPORTS = [sys.executable, "-c", "import numpy, attrs, yaml, pluggy, importlib_metadata"]

#: Words -> what they are compared with, and the limit.
LIMITS = {
    "--help": ("bare", 5),
    "plugins": ("bare", 5),
    "new partitioner halving": ("bare", 5),
    f"check {ROOT / 'examples' / 'quickstart.yaml'}": ("imports", 1.6),
}


def main() -> int:
    """Measure in turn, so that a busy moment hits all alike, and compare medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=15)
    options = parser.parse_args()
    script = str(Path(sys.executable).with_name("anonloom"))
    commands = {"bare": BARE, "imports": IMPORTS}
    commands |= {words: [script, *words.split()] for words in LIMITS}
    times: dict[str, list[float]] = {name: [] for name in commands}
    with tempfile.TemporaryDirectory() as scratch:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": f"{scratch}/bytecode"}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        for count in range(options.repeat + 1):
            # `new` writes a folder, and refuses to write it twice.
            folder = Path(scratch, str(count))
            folder.mkdir()
            for name, command in commands.items():
                seconds = measure(command, cwd=folder, env=environment)["cpu_seconds"]
                if count:
                    times[name].append(seconds)
    medians = {name: statistics.median(seconds) for name, seconds in times.items()}
    passed = True
    figures = {}
    for name, seconds in medians.items():
        base, limit = LIMITS.get(name, ("bare", None))
        ratio = seconds / medians[base]
        passed &= limit is None or ratio <= limit
        figures[name.partition(" ")[0]] = {"cpu_seconds": seconds, "ratio": ratio, "to": base}
        words = f" (limit {limit})" if limit else ""
        short = name.partition(" ")[0]
        print(f"{short:8} {seconds * 1000:7.1f} ms  {ratio:5.2f} times '{base}'{words}")
    results = Path(__file__).parent / "results"
    results.mkdir(exist_ok=True)
    (results / "startup.json").write_text(json.dumps(figures, indent=2) + "\n")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
