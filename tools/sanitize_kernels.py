#!/usr/bin/env python3
"""Run the tests of all C code with AddressSanitizer and UndefinedBehaviorSanitizer.

    python tools/sanitize_kernels.py [PATH ...]

Every extension of the workspace is built once more, with the sanitizers, into a folder of its own;
an environment variable makes Python load these instead of the installed ones. Then the tests that
call kernels run: of every package with C code `test_kernels.py` and what else is listed below, or
the given paths. Needs gcc with its sanitizers' libraries; exits 1 where a test fails, 2 where
nothing could be built.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

from check_workspace import ROOT, Member, members

FLAGS = ("-shared", "-fPIC", "-O1", "-g", "-fno-omit-frame-pointer", "-fwrapv", "-ffp-contract=off",
         "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined")  # fmt: skip
# -fwrapv makes signed overflow defined, as everywhere; a pointer that leaves its array is not.
LIBRARIES = ("libasan.so", "libubsan.so")
# Tests of C code under other names, relative to a package.
TESTS = ("tests/test_kernels.py", "tests/test_kernel.py", "tests/test_binding.py")

# Finds the extensions here before those that are installed.
FINDER = """
import importlib.abc, importlib.util, pathlib, sys

class Sanitized(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        file = pathlib.Path(__file__).with_name(name + ".so")
        return importlib.util.spec_from_file_location(name, file) if file.is_file() else None

sys.meta_path.insert(0, Sanitized())
"""


def extensions(member: Member) -> list[tuple[str, list[Path]]]:
    """Name and sources of every extension of a package."""
    parts = member.project.get("tool", {}).get("setuptools", {}).get("ext-modules", [])
    return [(part["name"], [member.folder / file for file in part["sources"]]) for part in parts]


def build(compiler: str, folder: Path) -> int:
    """Build all extensions into a folder; return how many there are."""
    count = 0
    for member in members():
        for name, sources in extensions(member):
            include = f"-I{sysconfig.get_path('include')}"
            target = ["-o", str(folder / f"{name}.so"), *map(str, sources), "-lm"]
            subprocess.run([compiler, *FLAGS, include, *target], check=True)
            count += 1
    (folder / "sitecustomize.py").write_text(FINDER, encoding="utf-8")
    return count


def environment(compiler: str, folder: Path) -> dict[str, str]:
    """What a process needs to load the extensions in a folder."""
    found = [
        subprocess.run(
            [compiler, f"-print-file-name={name}"], capture_output=True, text=True, check=True
        ).stdout.strip()
        for name in LIBRARIES
    ]
    return os.environ | {
        "LD_PRELOAD": " ".join(found),
        "PYTHONPATH": str(folder),
        # The interpreter keeps memory until it ends; what a kernel forgets would drown in that.
        "ASAN_OPTIONS": "detect_leaks=0",
        "UBSAN_OPTIONS": "print_stacktrace=1",
    }


def chosen(arguments: list[str]) -> list[str]:
    """The tests to run."""
    packages = [member for member in members() if extensions(member)]
    files = [member.folder / name for member in packages for name in TESTS]
    return arguments or [str(file) for file in files if file.is_file()]


def main(arguments: list[str]) -> int:
    """Build, and run the tests."""
    compiler = shutil.which("gcc")
    if compiler is None:
        print("sanitize: there is no gcc, so that nothing was run", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="sanitized-") as made:
        folder = Path(made)
        count = build(compiler, folder)
        print(f"{count} extensions built with sanitizers", flush=True)
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "2"]
        command += ["--hypothesis-profile=quick", *chosen(arguments)]
        return subprocess.run(
            command, env=environment(compiler, folder), cwd=ROOT, check=False
        ).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
