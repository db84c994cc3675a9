#!/usr/bin/env python3
"""Build the wheels of all packages with C code for this system, and look into them.

    python tools/compiled_wheels.py FOLDER [--here]

cibuildwheel builds on Linux in containers (glibc and musl), on macOS and on Windows as it is; one
wheel serves every Python from 3.11 on. `--here` builds with the compiler of this machine instead,
for a look: such a wheel is for this machine. Extensions are optional, so that a failed build would
go unnoticed: a wheel without them is refused with exit code 1.
"""

import argparse
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

from check_workspace import Member, members


def compiled(packages: list[Member]) -> list[Member]:
    """The packages with C code."""
    return [member for member in packages if any((member.folder / "src").rglob("*.c"))]


def missing(wheel: Path, member: Member) -> list[str]:
    """Extensions of a package that its wheel does not hold."""
    names = zipfile.ZipFile(wheel).namelist()
    wanted = [part["name"] for part in member.project["tool"]["setuptools"]["ext-modules"]]
    files = {re.sub(r"(\.abi3\.so|\.pyd)$", "", name).replace("/", ".") for name in names}
    return [name for name in wanted if name not in files]


def build(member: Member, folder: Path, here: bool) -> None:
    """Build the wheels of one package."""
    target = [str(member.folder), "--output-dir", str(folder)]
    command = [sys.executable, "-m", "cibuildwheel", *target]
    if here:
        command = [
            sys.executable,
            "-m",
            "pip",
            "wheel",
            "-q",
            "--no-deps",
            target[0],
            "-w",
            target[2],
        ]
    subprocess.run(command, env=os.environ | {"CIBW_BUILD": "cp311-*"}, check=True)


def main(arguments: list[str] | None = None) -> int:
    """Build all, and say which lack something."""
    parser = argparse.ArgumentParser(description="Build the wheels of all packages with C code.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--here", action="store_true", help="with this machine's compiler")
    asked = parser.parse_args(arguments)
    lacking = []
    for member in compiled(members()):
        build(member, asked.folder, asked.here)
        for wheel in asked.folder.glob(f"{member.distribution.replace('-', '_')}-*.whl"):
            lacking += [f"{wheel.name}: lacks {name}" for name in missing(wheel, member)]
    for problem in lacking:
        print(problem, file=sys.stderr)
    return 1 if lacking else 0


if __name__ == "__main__":
    sys.exit(main())
