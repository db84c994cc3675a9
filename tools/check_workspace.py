#!/usr/bin/env python3
"""The workspace agrees with itself: every package is found, one version, one naming rule.

    python tools/check_workspace.py

Compares each package's `pyproject.toml` with its folder, the sources in the root `pyproject.toml`
with core and the libraries, the metapackage with the plugins in the tree, `constraints.txt` with
what the packages ask for, and the catalogue with the methods of the plugins. Prints every problem
and exits 1, or says how many packages agree.
Needs nothing but the standard library.
"""

import ast
import json
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
    "commands",
    "integrity",
    "reporters",
    "samplers",
    "sources",
    "transports",
)


# Packages under libs/ that plugins may import; each may depend on those before it.
LIBRARIES = (
    "catalog",
    "charts",
    "loss",
    "tables",
    "runner",
    "cli",
    "testing",
    "columns",
    "kernels",
    "linkage",
    "risk",
    "seals",
    "transport",
)
# What the quickstart in README.md uses; a test compares it with the pipeline.
QUICKSTART = ("disclosure", "mondrian", "page", "privacy-models", "recoding", "utility")
# What the metapackage brings besides: it names the package of a method that is missing.
ALWAYS = ("core", "catalog", "cli")
# uv builds a package with C code again when one of these has changed.
CACHE_KEYS = ("pyproject.toml", "src/**/*.c", "src/**/*.h")
# Where the C headers lie that several packages share; each has copies, see shared_headers.
SHARED_HEADERS = "libs/kernels/src/anonloom_kernels"
METAPACKAGE = "metapackage"
CONSTRAINTS = "constraints.txt"
EMPTY_CATALOGUE = '{\n  "plugins": []\n}\n'
CATALOGUE = "libs/catalog/src/anonloom_catalog/first_party.json"
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
        """Whether it is a library, which plugins may import."""
        return self.path.startswith("libs/")

    @property
    def is_command(self) -> bool:
        """Whether it brings a command that was core's: whoever installs Anonloom expects it."""
        return self.path.startswith("plugins/commands/")

    @property
    def is_tutorial(self) -> bool:
        """Whether it belongs to the tutorial: tested, but not published."""
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
        return "anonloom._registry.builtin" if self.is_core else f"{self.module}.plugin"


def members(root: Path = ROOT) -> list[Member]:
    """List the packages that the tree holds: core, libraries, plugins, then the tutorial's."""
    folders = [root / "core", *(root / "libs" / library for library in LIBRARIES)]
    folders += sorted(p for p in root.glob("plugins/*/*") if p.is_dir())
    folders += sorted(p for p in root.glob("docs/tutorial/*") if p.is_dir())
    return [
        Member(root, folder.relative_to(root).as_posix(), _read(folder / "pyproject.toml"))
        for folder in folders
        if (folder / "pyproject.toml").is_file()
    ]


def problems(root: Path = ROOT) -> list[str]:
    """Say everything in which the workspace disagrees with itself."""
    packages = members(root)
    version = (root / "VERSION").read_text(encoding="utf-8").strip()
    python = next(m.project["project"]["requires-python"] for m in packages if m.is_core)
    results = _strays(root)
    results += _sources(root, packages)
    for member in packages:
        results += [f"{member.path}/{problem}" for problem in _package(member, version, python)]
    results += _metapackage(root, packages, version, python)
    results += _constraints(root, packages)
    results += _catalogue(root)
    results += _copies(root)
    return results


def range_of(distribution: str, version: str) -> str:
    """The range of core or a library that a plugin asks for: they may change with the minor."""
    major, minor = (int(part) for part in version.split(".")[:2])
    return f"{distribution}>={major}.{minor},<{major}.{minor + 1}"


def _read(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def _strays(root: Path) -> list[str]:
    results = []
    for folder in sorted(p for p in root.glob("plugins/*") if p.is_dir()):
        if folder.name not in GROUPS:
            results.append(
                f"plugins/{folder.name}: not a folder for plugins; choose among {', '.join(GROUPS)}"
            )
        for package in sorted(p for p in folder.iterdir() if p.is_dir()):
            # A folder with nothing but caches is what git leaves behind when a branch is changed.
            if (package / "pyproject.toml").is_file() or not any(package.rglob("*.py")):
                continue
            results.append(f"plugins/{folder.name}/{package.name}: has no pyproject.toml")
    return results


def _compare(where: str, listed: list[str], wanted: list[str]) -> list[str]:
    results = [f"{where}: lacks {line}" for line in wanted if line not in listed]
    results += [f"{where}: must not hold {line}" for line in listed if line not in wanted]
    results += [f"{where}: holds {line} twice" for line in wanted if listed.count(line) > 1]
    if not results and listed != wanted:
        results.append(f"{where}: is not in order")
    return results


def _sources(root: Path, packages: list[Member]) -> list[str]:
    """What a package may ask for comes from the workspace; other plugins need no entry."""
    uv = _read(root / "pyproject.toml")["tool"]["uv"]
    wanted = sorted(m.distribution for m in packages if m.is_core or m.is_library)
    results = _compare("pyproject.toml: [tool.uv.sources]", list(uv["sources"]), wanted)
    results += [
        f"pyproject.toml: [tool.uv.sources] must say {name} = {{ workspace = true }}"
        for name, source in uv["sources"].items()
        if source != {"workspace": True}
    ]
    matched = {p for pattern in uv["workspace"]["members"] for p in root.glob(pattern)}
    results += [
        f"pyproject.toml: no pattern in [tool.uv.workspace] members matches {m.path}"
        for m in packages
        if m.folder not in matched
    ]
    return results


def metapackage_lists(packages: list[Member], version: str) -> tuple[list[str], list[str]]:
    """What the metapackage asks for: core, the catalogue, commands, the quickstart's; and all."""
    published = [m for m in packages if not m.is_tutorial]
    quickstart = [m for m in published if m.is_command or m.short in (*ALWAYS, *QUICKSTART)]
    return _ranges(quickstart, version), _ranges(published, version)


def _ranges(packages: list[Member], version: str) -> list[str]:
    return [range_of(name, version) for name in sorted(m.distribution for m in packages)]


def _metapackage(root: Path, packages: list[Member], version: str, python: str) -> list[str]:
    where = f"{METAPACKAGE}/pyproject.toml"
    project = _read(root / where)["project"]
    wanted = {"name": "anonloom", "version": version, "requires-python": python}
    results = [
        f"{where}: {key} must be {value}. Got {project.get(key, 'nothing')} instead."
        for key, value in wanted.items()
        if project.get(key) != value
    ]
    quickstart, everything = metapackage_lists(packages, version)
    extras = project.get("optional-dependencies", {})
    results += _compare(f"{where}: dependencies", project.get("dependencies", []), quickstart)
    results += _compare(f"{where}: extra all", extras.get("all", []), everything)
    return results


def catalogue(root: Path) -> str:
    """The text of the catalogue: every plugin with its methods and commands by hook."""
    plugins = [
        {
            "distribution": member.distribution,
            "folder": member.path,
            "install": f"pip install ./{member.path}",
            "methods": methods,
        }
        for member in members(root)
        if member.path.startswith(("libs/", "plugins/")) and (methods := _methods(member))
    ]
    return json.dumps({"plugins": plugins}, indent=2) + "\n"


def _methods(member: Member) -> dict[str, list[str]]:
    """The names of methods and commands by registration hook, as a hook module writes them."""
    file = member.folder / "src" / member.module / "plugin.py"
    if not file.is_file():
        return {}
    results: dict[str, list[str]] = {}
    for function in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(function, ast.FunctionDef) and function.name.startswith("anonloom_register_"):
            names = [
                str(word.value.value)
                for call in ast.walk(function)
                if isinstance(call, ast.Call)
                and isinstance(call.func, ast.Name)
                and call.func.id in ("Command", "Method")
                for word in call.keywords
                if word.arg == "name"
                and isinstance(word.value, ast.Constant)
                and isinstance(word.value.value, str)
            ]
            if names:
                results[function.name] = names
    return results


def _catalogue(root: Path) -> list[str]:
    file = root / CATALOGUE
    text = file.read_text(encoding="utf-8") if file.is_file() else EMPTY_CATALOGUE
    if text != catalogue(root):
        return [f"{CATALOGUE}: is not what the tree says; run tools/make_catalog.py"]
    return []


def requirement_name(requirement: str) -> str:
    """The normalized name of the distribution that a requirement asks for."""
    name = re.split(r"[^A-Za-z0-9._-]", requirement, maxsplit=1)[0]
    return re.sub(r"[-_.]+", "-", name).lower()


def _constraints(root: Path, packages: list[Member]) -> list[str]:
    lines = [
        line
        for line in (root / CONSTRAINTS).read_text(encoding="utf-8").splitlines()
        if line and not line.startswith("#")
    ]
    results = [
        f"{CONSTRAINTS}: a line must read name==version. Got {line} instead."
        for line in lines
        if not re.fullmatch(r"[a-z0-9-]+==[0-9A-Za-z.!+]+", line)
    ]
    pinned = {requirement_name(line) for line in lines}
    asked = list(_read(root / "pyproject.toml")["dependency-groups"]["dev"])
    for member in packages:
        asked += member.project["project"].get("dependencies", [])
    # A mapping includes another group, whose own requirements are among these.
    named = {requirement_name(need) for need in asked if isinstance(need, str)}
    wanted = named - {m.distribution for m in packages}
    results += [f"{CONSTRAINTS}: lacks {name}" for name in sorted(wanted - pinned)]
    return results


def _package(member: Member, version: str, python: str) -> list[str]:
    project = member.project["project"]
    wanted = {
        "name": member.distribution,
        "version": version,
        "requires-python": python,
        "license": "Apache-2.0",
        "readme": "README.md",
    }
    results = [
        f"pyproject.toml: {key} must be {value}. Got {project.get(key, 'nothing')} instead."
        for key, value in wanted.items()
        if project.get(key) != value
    ]
    entries = project.get("entry-points", {}).get("anonloom", {})
    # A library may offer commands; one that offers none has no entry point.
    if entries != {member.short: member.hooks} and (entries or not member.is_library):
        results.append(
            "pyproject.toml: the entry points of group anonloom must be exactly "
            f'{member.short} = "{member.hooks}". Got {_entries(entries)} instead.'
        )
    backend = member.project.get("build-system", {}).get("build-backend")
    # Compiled code is what setuptools is for; hatchling builds none.
    compiled = any((member.folder / "src").rglob("*.c"))
    builds = "setuptools.build_meta" if compiled else "hatchling.build"
    if backend != builds:
        results.append(f"pyproject.toml: build-backend must be {builds}. Got {backend} instead.")
    if compiled:
        keys = member.project.get("tool", {}).get("uv", {}).get("cache-keys", [])
        results += [
            f'pyproject.toml: [tool.uv] cache-keys must hold {{ file = "{file}" }}'
            for file in CACHE_KEYS
            if {"file": file} not in keys
        ]
        results += _extensions(member)
    needs = project.get("dependencies", [])
    if not member.is_core:
        results += _dependencies(needs, version, "library" if member.is_library else "plugin")
    for file in ("README.md", f"src/{member.module}/__init__.py", f"src/{member.module}/py.typed"):
        if not (member.folder / file).is_file():
            results.append(f"{file}: is missing")
    if not any((member.folder / "tests").glob("test_*.py")):
        results.append("tests: holds no test_*.py")
    return results


def _extensions(member: Member) -> list[str]:
    """Every C file and header is named by an extension; all are optional, for all later Pythons."""
    tools = member.project.get("tool", {})
    extensions = tools.get("setuptools", {}).get("ext-modules", [])
    listed = {file for part in extensions for file in (*part["sources"], *part.get("depends", ()))}
    there = {
        file.relative_to(member.folder).as_posix()
        for pattern in ("*.c", "*.h")
        for file in (member.folder / "src").rglob(pattern)
    }
    results = [f"pyproject.toml: no extension names {file}" for file in sorted(there - listed)]
    results += [f"pyproject.toml: there is no {file}" for file in sorted(listed - there)]
    for part in extensions:
        for key in ("optional", "py-limited-api"):
            if part.get(key) is not True:
                results.append(f"pyproject.toml: extension {part['name']} must say {key} = true")
    if tools.get("distutils", {}).get("bdist_wheel", {}).get("py_limited_api") != "cp311":
        results.append(
            'pyproject.toml: [tool.distutils.bdist_wheel] must say py_limited_api = "cp311"'
        )
    return results


def shared_headers(root: Path) -> dict[Path, Path]:
    """Every copy of a shared header that a package needs, with the header that it copies."""
    source = root / SHARED_HEADERS
    results = {}
    for member in members(root):
        files = [*(member.folder / "src").glob("*/*.c"), *(member.folder / "src").glob("*/*.h")]
        waiting = [name for file in files for name in _included(file, "shared/")]
        while waiting:
            name = waiting.pop()
            copy = member.folder / "src" / member.module / "shared" / name
            if copy not in results and (source / name).is_file():
                results[copy] = source / name
                waiting += _included(source / name, "")
    return results


def _included(file: Path, folder: str) -> list[str]:
    text = file.read_text(encoding="utf-8")
    return re.findall(rf'^#include "{folder}(\w+\.h)"', text, re.MULTILINE)


def _copies(root: Path) -> list[str]:
    """A package is built without any other, so that shared headers are copies, all the same."""
    wanted = shared_headers(root)
    there = {file for member in members(root) for file in member.folder.glob("src/*/shared/*")}
    differ = [
        copy
        for copy, source in wanted.items()
        if not copy.is_file() or copy.read_bytes() != source.read_bytes()
    ]
    return [
        f"{file.relative_to(root).as_posix()}: is not as libs/kernels has it; run "
        "tools/copy_shared_headers.py"
        for file in sorted({*differ, *(there - set(wanted))})
    ]


def _entries(entries: dict[str, str]) -> str:
    return ", ".join(f'{name} = "{value}"' for name, value in entries.items()) or "none"


def _dependencies(needs: list[str], version: str, what: str) -> list[str]:
    """Whatever is not core depends on core, may depend on libraries, and on no plugin."""
    results = []
    if range_of(SHARED[0], version) not in needs:
        results.append(f"pyproject.toml: dependencies must hold {range_of(SHARED[0], version)}")
    for need in needs:
        name = re.split(r"[^A-Za-z0-9._-]", need, maxsplit=1)[0]
        if name in SHARED[1:] and need != range_of(name, version):
            library, asked = name.removeprefix("anonloom-"), range_of(name, version)
            results.append(
                f"pyproject.toml: {library} must be asked for as {asked}. Got {need} instead."
            )
        elif name.startswith("anonloom-") and name not in SHARED:
            other = "other plugin" if what == "plugin" else "plugin"
            results.append(f"pyproject.toml: a {what} depends on no {other}. Got {need} instead.")
    return results


def main() -> int:
    """Print all problems, or how many packages agree."""
    result = problems()
    for problem in result:
        print(problem, file=sys.stderr)
    if result:
        print(f"{len(result)} problem(s) in the workspace", file=sys.stderr)
        return 1
    print(f"{len(members())} packages agree with the workspace")
    return 0


if __name__ == "__main__":
    sys.exit(main())
