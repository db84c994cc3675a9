#!/usr/bin/env python3
"""What the tests ran through, as a table with a line for each package.

    python -m pytest --cov --cov-report= ...
    python tools/coverage_table.py

Reads `.coverage` through `coverage json`, so that the table can stand in a summary of a run.
"""

import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parent.parent


def package_of(path: str) -> str:
    """The folder of the package that a source file belongs to: what stands before ``src``."""
    parts = PurePosixPath(path.replace("\\", "/")).parts
    return "/".join(parts[: parts.index("src")]) if "src" in parts else ""


def table(files: dict[str, dict[str, dict[str, float]]]) -> str:
    """The table, from what ``coverage json`` calls `files`."""
    covered: dict[str, float] = defaultdict(float)
    lines: dict[str, float] = defaultdict(float)
    for path, entry in files.items():
        for name in {package_of(path), "all"} - {""}:
            covered[name] += entry["summary"]["covered_lines"]
            lines[name] += entry["summary"]["num_statements"]
    rows = [
        f"| {name} | {lines[name]:.0f} | {100 * covered[name] / max(lines[name], 1):.1f} |"
        for name in sorted(lines, key=lambda name: (name == "all", name))
    ]
    return "\n".join(["| package | statements | covered, % |", "| --- | ---: | ---: |", *rows])


def main() -> int:
    """Print the table."""
    command = [sys.executable, "-m", "coverage", "json", "-q", "-o", "-"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stdout + done.stderr, file=sys.stderr)
        return done.returncode
    print(table(json.loads(done.stdout)["files"]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
