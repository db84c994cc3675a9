#!/usr/bin/env python3
"""What `anonloom --help` and `anonloom plugins` cost beside a bare interpreter.

    python benchmarks/startup.py [--repeat 9]

Prints a table and writes benchmarks/results/startup.json.
"""

import argparse
import json
import statistics
import sys
from pathlib import Path

from measure import measure

LIMITS = {"--help": 5, "plugins": 15}


def main() -> int:
    """Measure in turn, so that a busy moment hits all alike, and compare medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=9)
    options = parser.parse_args()
    script = str(Path(sys.executable).with_name("anonloom"))
    commands = {"bare": [sys.executable, "-c", "pass"]}
    commands |= {word: [script, word] for word in LIMITS}
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(options.repeat):
        for name, command in commands.items():
            times[name].append(measure(command)["cpu_seconds"])
    medians = {name: statistics.median(seconds) for name, seconds in times.items()}
    passed = True
    for name, seconds in medians.items():
        ratio = seconds / medians["bare"]
        limit = LIMITS.get(name)
        passed &= limit is None or ratio <= limit
        words = f" (limit {limit})" if limit else ""
        print(f"{name:10} {seconds * 1000:7.1f} ms  ratio {ratio:5.2f}{words}")
    results = Path(__file__).parent / "results"
    results.mkdir(exist_ok=True)
    (results / "startup.json").write_text(json.dumps(medians, indent=2) + "\n")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
