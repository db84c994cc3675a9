#!/usr/bin/env python3
"""Pins what CI uses: constraints.txt, one plain name==version line for each package.

    python tools/make_constraints.py           # write constraints.txt: the newest that fit
    python tools/make_constraints.py --apply   # make `uv sync` install exactly these versions

Versions come from the lock file of uv, which is not committed because it names hosts. Where a
newer version of a package does not support the oldest Python of the workspace, the one that does
is pinned. With pip: `pip install -c constraints.txt ...`.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

from check_workspace import CONSTRAINTS, ROOT

HEADER = "# Written by tools/make_constraints.py: the versions with which CI runs.\n"


def constraints(lock: str) -> str:
    """The text of constraints.txt for the text of a lock file."""
    pinned: dict[str, str] = {}
    for package in tomllib.loads(lock)["package"]:
        if "registry" not in package["source"]:
            continue  # a package of the workspace
        name, version = package["name"], package["version"]
        pinned[name] = min(pinned.get(name, version), version, key=_release)
    return HEADER + "".join(f"{name}=={pinned[name]}\n" for name in sorted(pinned))


def _release(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version)]


def lock_command(uv: str, text: str) -> list[str]:
    """The command that locks the versions that a text of constraints names."""
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [uv, "lock", "--quiet", *(word for line in lines for word in ("-P", line))]


def find_uv() -> str:
    """The program uv: beside this Python, or on the path."""
    beside = Path(sys.executable).with_name("uv")
    return str(beside) if beside.is_file() else shutil.which("uv") or "uv"


def main() -> int:
    """Write constraints.txt, or lock what it says."""
    parser = argparse.ArgumentParser(description="Pin the versions that CI uses.")
    parser.add_argument("--apply", action="store_true", help="lock what constraints.txt says")
    file = ROOT / CONSTRAINTS
    if parser.parse_args().apply:
        command = lock_command(find_uv(), file.read_text(encoding="utf-8"))
        return subprocess.run(command, cwd=ROOT, check=False).returncode
    done = subprocess.run([find_uv(), "lock", "--quiet", "--upgrade"], cwd=ROOT, check=False)
    if not done.returncode:
        text = constraints((ROOT / "uv.lock").read_text(encoding="utf-8"))
        file.write_text(text, encoding="utf-8")
        print(file.relative_to(ROOT))
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
