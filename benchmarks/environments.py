"""Environments of other packages: made once under `.data/`, so that none meets another's pins."""

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
INSTALL_SECONDS = 600.0


class Failed(SystemExit):
    """A command failed, or took too long; a benchmark that can do without it goes on."""


def environment(required: Sequence[str]) -> Path:
    """Return the Python of an environment with these packages, made at the first use.

    Raises
    ------
    Failed
        When it can't be made, with the reason.
    """
    digest = hashlib.sha256(" ".join(required).encode()).hexdigest()[:8]
    folder = ROOT / ".data" / f"peers-{digest}"
    python, done = folder / "bin" / "python", folder / "complete"
    if done.is_file():
        return python
    print(f"installing {', '.join(required)} into an environment of their own", flush=True)
    beside = Path(sys.executable).with_name("uv")
    uv = str(beside) if beside.is_file() else shutil.which("uv")
    if uv:
        run([uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(folder)])
        install = [uv, "pip", "install", "--quiet", "--python", str(python), *required]
    else:
        run([sys.executable, "-m", "venv", "--clear", str(folder)])
        install = [str(python), "-m", "pip", "install", "--quiet", *required]
    run(install, INSTALL_SECONDS)
    done.touch()
    return python


def run(command: Sequence[str], most_seconds: float | None = None) -> str:
    """Run a command and return what it prints.

    Raises
    ------
    Failed
        With the end of what it said.
    """
    # One thread, like ours: threads that wait for each other would count as CPU time.
    single = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    start = " ".join(command[:3])
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            env=os.environ | single,
            timeout=most_seconds,
        )
    except subprocess.TimeoutExpired:
        raise Failed(f"{start} ... took more than {most_seconds:g} s") from None
    if done.returncode:
        raise Failed(f"{start} ... failed:\n{done.stderr[-2000:]}")
    return done.stdout
