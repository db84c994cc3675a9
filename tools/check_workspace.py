#!/usr/bin/env python3
"""The workspace agrees with itself: one list of packages, one version, one naming rule.

    python tools/check_workspace.py

Compares the packages in the tree with the root `pyproject.toml` and with `requirements-dev.txt`,
and each package's own `pyproject.toml` with its folder. Prints every problem and exits 1, or says
how many packages agree. Needs nothing but the standard library.
"""

import re
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]

# Folders under plugins/: what a plugin is for, in the words of those who look for one.
GROUPS = (
    "anonymizers",
    "auditors",
    "collectors",
    "integrity",
    "learners",
    "reporters",
    "samplers",
    "sources",
    "transports",
)


# Packages that plugins may import and that are none; each may lean on those before it.
LIBRARIES = ("kernels", "linkage", "proofs", "rounds")
# What a plugin may depend on among our own packages.
SHARED = ("anonloom-core", *(f"anonloom-{library}" for library in LIBRARIES))


@dataclass(frozen=True)
class Member:
    """A package of the workspace: core, a library, a plugin, or a finished plugin of the tutorial.

    Attributes
    ----------
    root
        The folder of the workspace.
    path
        The package's folder below it, with forward slashes.
    project
        Its parsed `pyproject.toml`.
    """

    root: Path
    path: str
    project: dict[str, Any]

    @property
    def is_core(self) -> bool:
        """Whether it is the core, which follows a naming rule of its own."""
        return self.path == "core"

    @property
    def is_library(self) -> bool:
        """Whether it is a library, which plugins may import and which is none."""
        return self.path in LIBRARIES

    @property
    def is_tutorial(self) -> bool:
        """Whether it belongs to the tutorial: tested, but not part of `pip install .`."""
        return self.path.startswith("docs/")

    @property
    def folder(self) -> Path:
        """Where it lies."""
        return self.root / self.path

    @property
    def short(self) -> str:
        """Its name without the prefix: the name of its folder."""
        return self.path.rsplit("/", 1)[-1]

    @property
    def distribution(self) -> str:
        """The name under which it must be installed."""
        return f"anonloom-{self.short}"

    @property
    def module(self) -> str:
        """The name under which it must be imported."""
        return "anonloom" if self.is_core else "anonloom_" + self.short.replace("-", "_")

    @property
    def hooks(self) -> str:
        """The module that its entry point must name."""
        return "anonloom.builtin" if self.is_core else f"{self.module}.plugin"


def members(root: Path = ROOT) -> list[Member]:
    """List the packages that the tree holds: core, libraries, plugins, then the tutorial's."""
    folders = [root / "core", *(root / library for library in LIBRARIES)]
    folders += sorted(p for p in root.glob("plugins/*/*") if p.is_dir())
    folders += sorted(p for p in root.glob("docs/tutorial/*") if p.is_dir())
    return [
        Member(root, folder.relative_to(root).as_posix(), _read(folder / "pyproject.toml"))
        for folder in folders
        if (folder / "pyproject.toml").is_file()
    ]


def problems(root: Path = ROOT) -> list[str]:
    """Say everything in which the workspace disagrees with itself."""
    found: list[str] = []
    packages = members(root)
    version = (root / "VERSION").read_text(encoding="utf-8").strip()
    found += _strays(root)
    found += _root_list(root, [m for m in packages if not m.is_tutorial])
    found += _editable_list(root, packages)
    workspace = _read(root / "pyproject.toml")["project"]
    if workspace["version"] != version:
        found.append(f"pyproject.toml: version is {workspace['version']}, VERSION says {version}")
    for member in packages:
        found += [
            f"{member.path}/{problem}"
            for problem in _package(member, version, workspace["requires-python"])
        ]
    return found


def range_of(distribution: str, version: str) -> str:
    """The range of core or a library that a plugin asks for: they may change with the minor."""
    major, minor = (int(part) for part in version.split(".")[:2])
    return f"{distribution}>={major}.{minor},<{major}.{minor + 1}"


def _read(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def _strays(root: Path) -> list[str]:
    found = []
    for folder in sorted(p for p in root.glob("plugins/*") if p.is_dir()):
        if folder.name not in GROUPS:
            found.append(
                f"plugins/{folder.name}: not a folder for plugins; choose among {', '.join(GROUPS)}"
            )
        for package in sorted(p for p in folder.iterdir() if p.is_dir()):
            # A folder with nothing but caches is what git leaves behind when a branch is changed.
            if (package / "pyproject.toml").is_file() or not any(package.rglob("*.py")):
                continue
            found.append(f"plugins/{folder.name}/{package.name}: has no pyproject.toml")
    return found


def _compare(where: str, listed: list[str], wanted: list[str]) -> list[str]:
    found = [f"{where}: lacks the line {line}" for line in wanted if line not in listed]
    found += [
        f"{where}: has a line without a package in the tree: {line}"
        for line in listed
        if line not in wanted
    ]
    found += [
        f"{where}: has the line {line} more than once" for line in wanted if listed.count(line) > 1
    ]
    if not found and listed != wanted:
        found.append(f"{where}: is not in order: core and libraries first, then by path")
    return found


def _root_list(root: Path, packages: list[Member]) -> list[str]:
    listed = _read(root / "pyproject.toml")["project"]["dependencies"]
    wanted = [f"{m.distribution} @ {{root:uri}}/{m.path}" for m in packages]
    return _compare("pyproject.toml", listed, wanted)


def _editable_list(root: Path, packages: list[Member]) -> list[str]:
    text = (root / "requirements-dev.txt").read_text(encoding="utf-8")
    listed = [line.strip() for line in text.splitlines() if line.startswith("-e")]
    return _compare("requirements-dev.txt", listed, [f"-e ./{m.path}" for m in packages])


def _package(member: Member, version: str, python: str) -> list[str]:
    project = member.project["project"]
    wanted = {
        "name": member.distribution,
        "version": version,
        "requires-python": python,
        "license": "Apache-2.0",
        "readme": "README.md",
    }
    found = [
        f"pyproject.toml: {key} must be {value}. Got {project.get(key, 'nothing')} instead."
        for key, value in wanted.items()
        if project.get(key) != value
    ]
    entries = project.get("entry-points", {}).get("anonloom", {})
    if member.is_library:
        if entries:
            found.append(
                "pyproject.toml: a library has no entry points of group anonloom. "
                f"Got {_entries(entries)} instead."
            )
    elif entries != {member.short: member.hooks}:
        found.append(
            "pyproject.toml: the entry points of group anonloom must be exactly "
            f'{member.short} = "{member.hooks}". Got {_entries(entries)} instead.'
        )
    backend = member.project.get("build-system", {}).get("build-backend")
    # Compiled code is what a setup.py is for; hatchling builds none.
    compiled = (member.folder / "setup.py").is_file()
    builds = "setuptools.build_meta" if compiled else "hatchling.build"
    if backend != builds:
        found.append(f"pyproject.toml: build-backend must be {builds}. Got {backend} instead.")
    needs = project.get("dependencies", [])
    if not member.is_core:
        found += _dependencies(needs, version, "library" if member.is_library else "plugin")
    for file in ("README.md", f"src/{member.module}/__init__.py", f"src/{member.module}/py.typed"):
        if not (member.folder / file).is_file():
            found.append(f"{file}: is missing")
    if not any((member.folder / "tests").glob("test_*.py")):
        found.append("tests: holds no test_*.py")
    return found


def _entries(entries: dict[str, str]) -> str:
    return ", ".join(f'{name} = "{value}"' for name, value in entries.items()) or "none"


def _dependencies(needs: list[str], version: str, what: str) -> list[str]:
    """Whatever is not core depends on core, may depend on libraries, and on no plugin."""
    found = []
    if range_of(SHARED[0], version) not in needs:
        found.append(f"pyproject.toml: dependencies must hold {range_of(SHARED[0], version)}")
    for need in needs:
        name = re.split(r"[^A-Za-z0-9._-]", need, maxsplit=1)[0]
        if name in SHARED[1:] and need != range_of(name, version):
            library, asked = name.removeprefix("anonloom-"), range_of(name, version)
            found.append(
                f"pyproject.toml: {library} must be asked for as {asked}. Got {need} instead."
            )
        elif name.startswith("anonloom-") and name not in SHARED:
            other = "other plugin" if what == "plugin" else "plugin"
            found.append(f"pyproject.toml: a {what} depends on no {other}. Got {need} instead.")
    return found


def main() -> int:
    """Print all problems, or how many packages agree."""
    found = problems()
    for problem in found:
        print(problem, file=sys.stderr)
    if found:
        print(f"{len(found)} problem(s) in the workspace", file=sys.stderr)
        return 1
    print(f"{len(members())} packages agree with the workspace")
    return 0


if __name__ == "__main__":
    sys.exit(main())
