#!/usr/bin/env python3
"""Each plugin alone: only core, the libraries it asks for, and itself: it passes its own tests.

    python tools/alone.py [--only NAME ...] [--jobs N]

In the workspace all plugins share one environment, so one that imports what another brings goes
unnoticed there. Here all packages are built as wheels once; then each plugin gets a fresh
environment with core's wheel, those of the conformance kit and of the libraries it depends on, its
own, pytest, hypothesis and what its extra `test` names, and its tests run from a copy of its folder
outside the tree, without its sources. uv makes this quick; where it is missing, venv and pip do the
same. Prints a table and exits 1 if a plugin failed.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
import venv
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

from check_workspace import SHARED, Member, members

# What every plugin's tests may use; anything else is an extra of its own.
TESTING = ("pytest>=8.3", "hypothesis>=6.115")

# The conformance kit, a library that tests use and no package depends on.
KIT = "anonloom-testing"

# Settings of pytest that hold everywhere; the others are about the workspace's folders.
SETTINGS = ("addopts", "filterwarnings", "markers", "xfail_strict")

Run = Callable[..., str]
Slots = SimpleQueue[Path]


class CommandFailedError(Exception):
    """A command ended with another exit code than 0; the text is what it printed."""


@dataclass(frozen=True)
class Result:
    """How it went for one package."""

    name: str
    seconds: float
    summary: str
    output: str = ""

    @property
    def passed(self) -> bool:
        """Whether nothing was printed that needs a look."""
        return not self.output


def run(command: list[str], cwd: Path | None = None, **settings: str) -> str:
    """Run a command without the caller's Python settings; return what it printed.

    Raises
    ------
    CommandFailedError
        If it fails.
    """
    # A path to the workspace in any of these would let a plugin see more than it declares.
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "VIRTUAL_ENV"))}
    kept |= settings
    done = subprocess.run(
        command,
        cwd=cwd,
        env=kept,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        raise CommandFailedError(f"$ {' '.join(command)}\n{done.stdout}")
    return done.stdout


class Uv:
    """Builds and installs with uv."""

    def __init__(self, program: str, run: Run = run) -> None:
        self.program = program
        self.run = run

    def build(self, package: Path, wheels: Path) -> None:
        """Build the wheel of `package` into `wheels`."""
        self.run(
            [self.program, "build", "--quiet", "--wheel", "--out-dir", str(wheels), str(package)]
        )

    def environment(self, folder: Path, requirements: list[str]) -> Path:
        """Make an environment in `folder`; return its Python."""
        self.run([self.program, "venv", "--quiet", "--python", sys.executable, str(folder)])
        python = _python(folder)
        install = [self.program, "pip", "install", "--quiet", "--python", str(python)]
        # Neither the workspace nor its settings may have a say in what is installed.
        self.run([*install, "--no-config", *requirements], cwd=folder)
        return python


class Pip:
    """Builds and installs with venv and pip, which every Python has."""

    def __init__(self, run: Run = run) -> None:
        self.run = run

    def build(self, package: Path, wheels: Path) -> None:
        """Build the wheel of `package` into `wheels`."""
        pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
        self.run([*pip, "--wheel-dir", str(wheels), str(package)])

    def environment(self, folder: Path, requirements: list[str]) -> Path:
        """Make an environment in `folder`; return its Python."""
        venv.create(folder, with_pip=True, symlinks=os.name != "nt")
        python = _python(folder)
        self.run([str(python), "-m", "pip", "install", "--quiet", *requirements], cwd=folder)
        return python


Installer = Uv | Pip


def installer() -> Installer:
    """Choose uv, beside this Python or on the path; pip where there is none."""
    beside = Path(sys.executable).with_name("uv")
    program = str(beside) if beside.is_file() else shutil.which("uv")
    return Uv(program) if program else Pip()


def requirements(member: Member, wheels: Path) -> list[str]:
    """What the environment of `member` is made of."""
    extras = (
        "[test]" if "test" in member.project["project"].get("optional-dependencies", {}) else ""
    )
    own = _wheel(wheels, member.distribution).as_uri()
    shared = [] if member.is_core else ["anonloom-core"]
    shared += _libraries(member)
    others = [str(_wheel(wheels, name)) for name in shared]
    return [*others, f"{member.distribution}{extras} @ {own}", *TESTING]


def _libraries(member: Member) -> list[str]:
    """Distributions of the libraries that `member` asks for, and of those that they lean on."""
    packages = {package.distribution: package for package in members(member.root)}
    extras = member.project["project"].get("optional-dependencies", {})
    asked = _asked(member) | _named_in(extras.get("test", [])) | {KIT}
    # A library may lean on those before it, never on those after it.
    for name in reversed(SHARED[1:]):
        if name in asked and name in packages:
            asked |= _asked(packages[name])
    return [name for name in SHARED[1:] if name in asked and name != member.distribution]


def _asked(member: Member) -> set[str]:
    return _named_in(member.project["project"].get("dependencies", []))


def _named_in(needs: list[str]) -> set[str]:
    return {name for name in SHARED[1:] if any(need.startswith(name) for need in needs)}


def settings(root: Path) -> str:
    """Write the workspace's settings of pytest, as far as they hold outside it, as a pytest.ini."""
    text = (root / "pyproject.toml").read_text(encoding="utf-8")
    options = tomllib.loads(text)["tool"]["pytest"]["ini_options"]
    lines = ["[pytest]"]
    for name in SETTINGS:
        value = options.get(name)
        if isinstance(value, list):
            lines += [f"{name} =", *(f"    {item}" for item in value)]
        elif value is not None:
            lines.append(f"{name} = {str(value).lower()}")
    return "\n".join(lines) + "\n"


def copy_tests(member: Member, folder: Path) -> None:
    """Copy a package's folder without its sources, with the workspace's settings for tests."""
    unwanted = shutil.ignore_patterns("src", "pyproject.toml", "__pycache__", ".*", "dist", "build")
    shutil.copytree(member.folder, folder, ignore=unwanted)
    (folder / "pytest.ini").write_text(settings(member.root), encoding="utf-8")
    shutil.copy(member.root / "conftest.py", folder)


def check(member: Member, wheels: Path, scratch: Path, tool: Installer, slots: Slots) -> Result:
    """Install one package into an environment of its own and run its tests there.

    Environments follow each other in the same few places, one for each that is there at a time:
    what Python has translated for a place is kept for the next one.
    """
    slot = slots.get()
    start = time.monotonic()
    place = scratch / member.short
    try:
        copy_tests(member, place)
        python = tool.environment(slot, requirements(member, wheels))
        # Isolated: neither the folder nor PYTHONPATH becomes importable.
        # What takes long says nothing about what a package needs, and runs in the workspace.
        quick = ["-q", "-m", "not long", "--hypothesis-profile=quick", "tests"]
        # The next environment in this place need not translate what both have installed again.
        # Python looks at each source's time and size before it uses it. Not a name that a package
        # has: their folders lie beside it.
        translated = f"pycache_prefix={scratch / 'translated sources'}"
        tests = [str(python), "-I", "-X", translated, "-m", "pytest", *quick]
        printed = tool.run(tests, cwd=place)
    except CommandFailedError as failure:
        return Result(member.short, time.monotonic() - start, "FAILED", str(failure))
    finally:
        shutil.rmtree(slot, ignore_errors=True)
        slots.put(slot)
    return Result(member.short, time.monotonic() - start, summary(printed))


def longest_first(packages: list[Member]) -> list[Member]:
    """Put those with the most tests first, so that no long one is left over alone in the end."""

    def written(member: Member) -> int:
        return sum(file.stat().st_size for file in (member.folder / "tests").rglob("*.py"))

    return sorted(packages, key=written, reverse=True)


def summary(printed: str) -> str:
    """The last line of pytest's output, without the time that it took."""
    last = printed.strip().splitlines()[-1]
    return re.sub(r" in [\d.]+s.*", "", last)


def table(results: list[Result]) -> str:
    """Lay the results out in columns."""
    width = max(len("plugin"), *(len(result.name) for result in results))
    lines = [f"{'plugin':{width}}  seconds  tests"]
    lines += [f"{r.name:{width}}  {r.seconds:7.1f}  {r.summary}" for r in results]
    return "\n".join(lines)


def _python(environment: Path) -> Path:
    if os.name == "nt":
        return environment / "Scripts" / "python.exe"
    return environment / "bin" / "python"


def _wheel(wheels: Path, distribution: str) -> Path:
    return next(wheels.glob(distribution.replace("-", "_") + "-*.whl"))


def _chosen(packages: list[Member], only: list[str]) -> list[Member]:
    """Packages by name; without names every plugin, but not core, which is in all of them."""
    known = {member.short: member for member in packages}
    unknown = [name for name in only if name not in known]
    if unknown:
        raise SystemExit(f"alone: no package {unknown[0]}; there are {', '.join(known)}")
    return [known[name] for name in only] or [m for m in packages if not m.is_core]


def main(arguments: list[str] | None = None) -> int:
    """Build once, check each, print the table."""
    parser = argparse.ArgumentParser(description="Test each plugin in an environment of its own.")
    parser.add_argument("--only", nargs="+", metavar="NAME", default=[], help="these packages only")
    parser.add_argument("--jobs", type=int, default=2, help="environments at a time (default 2)")
    asked = parser.parse_args(arguments)
    packages = members()
    chosen = _chosen(packages, asked.only)
    tool = installer()
    with (
        tempfile.TemporaryDirectory(prefix="alone-") as made,
        ThreadPoolExecutor(max(1, asked.jobs)) as pool,
    ):
        scratch = Path(made)
        wheels = scratch / "wheels"
        needed = [m for m in packages if m.is_core or m.is_library or m in chosen]
        print(f"building {len(needed)} wheels with {type(tool).__name__.lower()}", flush=True)
        try:
            list(pool.map(lambda member: tool.build(member.folder, wheels), needed))
        except CommandFailedError as failure:
            print(failure, file=sys.stderr)
            return 1
        print(f"testing {len(chosen)} packages, each alone", flush=True)
        slots: Slots = SimpleQueue()
        for number in range(max(1, asked.jobs)):
            slots.put(scratch / f"environment-{number}")
        going = {
            member.short: pool.submit(check, member, wheels, scratch, tool, slots)
            for member in longest_first(chosen)
        }
        results = [going[member.short].result() for member in chosen]
    for result in results:
        if not result.passed:
            print(f"\n{result.name}\n{result.output}")
    print(table(results))
    return 0 if all(result.passed for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())
