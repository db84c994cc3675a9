"""CPU time and peak memory of one command, from outside; and how often a call is repeated."""

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

#: Calls are repeated until they took this many CPU seconds, and at most so often.
ENOUGH_SECONDS = 3.0
MOST_CALLS = 15


def repeated(call: Callable[[], float], once: bool) -> list[float]:
    """Call until enough is known: what takes long needs few repetitions."""
    results = [call()]
    while not once and len(results) < MOST_CALLS and sum(results) < ENOUGH_SECONDS:
        results.append(call())
    return results


def measure(command: Sequence[str], **options: Any) -> dict[str, float]:
    """Run a command in a process of its own and return CPU seconds and peak megabytes.

    CPU time is that of the whole tree of processes, user and system: on a shared machine wall time
    says little. The peak is that of the largest process.
    """
    # A process of its own per measurement: the peak of children never falls within one process.
    inner = [sys.executable, str(Path(__file__)), *command]
    result = subprocess.run(inner, capture_output=True, text=True, check=False, **options)
    if result.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{result.stderr}")
    figures: dict[str, float] = json.loads(result.stdout.splitlines()[-1])
    return figures


def _child() -> int:
    done = subprocess.run(
        sys.argv[1:], stdout=subprocess.DEVNULL, stderr=sys.stderr, env=os.environ, check=False
    )
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = used.ru_utime + used.ru_stime
    print(json.dumps({"cpu_seconds": cpu, "peak_mb": used.ru_maxrss / 1024}))
    return done.returncode


if __name__ == "__main__":
    sys.exit(_child())
