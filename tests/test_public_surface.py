"""Packages outside core import only what docs/stability.md calls public, by whatever way."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
STABILITY = ROOT / "docs" / "stability.md"

# Core and the libraries: what others may import, each by rules.
CORE = "anonloom"
LIBRARIES = sorted(file.parent.name for file in ROOT.glob("libs/*/src/*/__init__.py"))

FOLDERS = ("plugins/*/*/src", "libs/*/src", "papers", "examples", "docs/tutorial/*/src")

#: Why a break is still there -> importing package -> modules. What is fixed must leave the table,
#: and nothing may be added.
BREAKS_BY_REASON: dict[str, dict[str, list[str]]] = {}

KNOWN_BREAKS = {
    (package, module)
    for packages in BREAKS_BY_REASON.values()
    for package, modules in packages.items()
    for module in modules
}

_MODULE_TEXT = re.compile(r"anonloom(_\w+)?(\.\w+)*(:\w+)?")
_PUBLIC_ROW = re.compile(r"^\| `(anonloom[\w.]*)` \|", re.M)


class Import(NamedTuple):
    """A name that a file takes from a module; no name if it takes the module itself."""

    file: Path
    line: int
    module: str
    name: str


def public_modules() -> list[str]:
    """Return the modules that the page lists."""
    return _PUBLIC_ROW.findall(STABILITY.read_text(encoding="utf-8"))


def python_files(*patterns: str) -> list[Path]:
    return sorted(
        file
        for pattern in patterns
        for folder in ROOT.glob(pattern)
        for file in folder.rglob("*.py")
        if "fixtures" not in file.parts
    )


def package_of(file: Path) -> str:
    """Return the package that a file belongs to, or the folder of one that is none."""
    parts = file.relative_to(ROOT).parts
    return parts[parts.index("src") + 1] if "src" in parts else parts[0]


def imports_of(file: Path, text: str | None = None) -> Iterator[Import]:
    """Return all that a file imports of ours: by statement, by function, by text, by attribute."""
    tree = ast.parse(file.read_text(encoding="utf-8") if text is None else text)
    aliases: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                bound = alias.name if alias.asname else alias.name.partition(".")[0]
                aliases[alias.asname or bound] = bound
                yield Import(file, node.lineno, alias.name, "")
        elif isinstance(node, ast.ImportFrom) and not node.level:
            for alias in node.names:
                yield Import(file, node.lineno, node.module or "", alias.name)
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and _MODULE_TEXT.fullmatch(node.value)
            and ("." in node.value or "_" in node.value)
        ):
            # What import_module, __import__ and descriptors take.
            module, _, name = node.value.partition(":")
            yield Import(file, node.lineno, module, name)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            dotted = _dotted(node)
            first, _, rest = dotted.partition(".")
            if first in aliases and any(part.startswith("_") for part in rest.split(".")):
                yield Import(file, node.lineno, f"{aliases[first]}.{rest}", "")


def _dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        above = _dotted(node.value)
        return f"{above}.{node.attr}" if above else ""
    return node.id if isinstance(node, ast.Name) else ""


def wrong(found: Import) -> str:
    """Return what is wrong with an import, or an empty text."""
    package = found.module.partition(".")[0]
    if package == package_of(found.file) or package not in (CORE, *LIBRARIES):
        return ""
    # `from anonloom import data` takes a module by its name.
    whole = f"{found.module}.{found.name}" if found.name else found.module
    if package == CORE and whole in public_modules():
        return ""
    private = any(re.match(r"_(?!_)", part) for part in whole.split("."))
    if package == CORE and not private and found.module in public_modules():
        if not found.name or found.name in exports_of(found.module):
            return ""
        return f"{found.name} is not in {found.module}.__all__"
    if package in LIBRARIES and not private and _is_module(found.module):
        if not found.name or found.name in exports_of(found.module) or _is_module(whole):
            return ""
        return f"{found.name} is not in {found.module}.__all__"
    return "is private" if private else f"{found.module} is not public"


def _is_module(name: str) -> bool:
    try:
        import_module(name)
    except ModuleNotFoundError:
        return False
    return True


def exports_of(module: str) -> frozenset[str]:
    # '__version__' and the like belong to every package.
    names = getattr(import_module(module), "__all__", ())
    return frozenset((*names, "__version__"))


def breaks(files: list[Path]) -> dict[tuple[str, str], list[str]]:
    """Return every break, by package and module, with the places."""
    results: dict[tuple[str, str], list[str]] = {}
    for file in files:
        for found in imports_of(file):
            reason = wrong(found)
            if reason:
                place = f"{file.relative_to(ROOT)}:{found.line}: {reason}"
                results.setdefault((package_of(file), found.module), []).append(place)
    return results


def test_the_page_lists_at_most_fifteen_modules_and_each_says_what_it_exports():
    modules = public_modules()
    assert ["anonloom", "anonloom.api"] == modules[:2]
    assert 2 < len(modules) <= 15
    for module in modules:
        names = import_module(module).__all__
        assert names, module
        assert [] == [name for name in names if name.startswith("_")], module
        assert [] == [name for name in names if not hasattr(import_module(module), name)], module


def test_every_module_of_core_that_is_not_on_the_page_is_private():
    """What has no underscore is on the page, or is what core's own commands and plugins are."""
    found = {
        f"anonloom.{path.stem}" for path in (ROOT / "core" / "src" / "anonloom").glob("[a-z]*.py")
    } | {
        f"anonloom.{path.parent.name}"
        for path in (ROOT / "core" / "src" / "anonloom").glob("[a-z]*/__init__.py")
    }
    assert found - set(public_modules()) <= {"anonloom.hookspecs"}


def test_nothing_but_the_public_surface_is_imported():
    result = breaks(python_files(*FOLDERS))
    unknown = {key: places for key, places in result.items() if key not in KNOWN_BREAKS}
    assert {} == unknown
    assert [] == sorted(KNOWN_BREAKS - set(result)), "take them out of the table"


def test_every_library_says_what_it_exports():
    assert [] == [name for name in LIBRARIES if not getattr(import_module(name), "__all__", ())]


def test_hook_modules_import_nothing_of_core_but_its_descriptors():
    files = [file for file in python_files(*FOLDERS) if file.name == "plugin.py"]
    assert len(files) > 30
    found = {
        (str(file.relative_to(ROOT)), item.module)
        for file in files
        for item in imports_of(file)
        if item.module.partition(".")[0] == CORE and item.module != "anonloom.api"
    }
    assert set() == found


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("from anonloom.data._classes import Classes", "is private"),
        ("import anonloom.data._classes", "is private"),
        ("from anonloom import _spec", "is private"),
        ("import anonloom\nanonloom.data._classes", "is private"),
        ("import anonloom as loom\nloom.data._table", "is private"),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import anonloom._spec", "is private"),
        ("from importlib import import_module\nimport_module('anonloom.data._classes')", "is private"),
        ("__import__('anonloom._spec')", "is private"),
        ("TARGET = 'anonloom.kinds._curator:Curator'", "is private"),
        ("TARGET = 'anonloom.kinds._engines:Clock'", "is private"),
        ("from anonloom.kinds import nothing_like_this", "nothing_like_this is not in anonloom.kinds.__all__"),
        ("from anonloom import Tabel", "Tabel is not in anonloom.__all__"),
        ("from anonloom.hookspecs import anonloom_run_started", "anonloom.hookspecs is not public"),
        ("from anonloom_catalog import _read", "is private"),
        ("from anonloom_catalog import Any", "Any is not in anonloom_catalog.__all__"),
        ("from anonloom_seals.ordering import ends", "ends is not in anonloom_seals.ordering.__all__"),
    ],
)  # fmt: skip
def test_no_way_round_is_overlooked(line, what):
    file = ROOT / "plugins" / "samplers" / "sampling" / "src" / "anonloom_sampling" / "some.py"
    assert what in [wrong(item) for item in imports_of(file, line)]


@pytest.mark.parametrize(
    "line",
    [
        "from anonloom import Partitioner, Table, param",
        "from anonloom import data",
        "import anonloom.findings as findings\nfindings.Finding",
        "from anonloom.params import at_least",
        "from anonloom_catalog import known_plugins",
        "from anonloom_sampling._own import anything",
        "NAME = 'anonloom'",
    ],
)
def test_what_is_public_is_not_blamed(line):
    file = ROOT / "plugins" / "samplers" / "sampling" / "src" / "anonloom_sampling" / "some.py"
    assert {""} == {wrong(item) for item in imports_of(file, line)} | {""}


SCRIPT = """
import anonloom
import pandas as pd

frame = pd.DataFrame({{"age": [30]}})
outcome = {line}
reveal_type(anonloom.Pipeline.load("p.yaml"))
reveal_type(outcome)
reveal_type(outcome.release)
reveal_type(outcome.findings["utility"])
reveal_type(Halving().partition)
"""


@pytest.mark.long
def test_a_user_s_script_is_typed_strictly(tmp_path):
    """CONTRIBUTING's own method and README's own line: an editor completes what there is."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    method, _ = re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (line,) = re.findall(r"`(anonloom\.Pipeline\.load\(.*?)`", text)
    file = tmp_path / "script.py"
    file.write_text(method + SCRIPT.format(line=line))
    (tmp_path / "mypy.ini").write_text("[mypy]\n[mypy-pandas.*]\nignore_missing_imports = true\n")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", str(file)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert [
        "anonloom._pipeline.Pipeline",
        "anonloom._outcome.Outcome",
        "anonloom.data._release.Release",
        "anonloom.findings.Findings",
        "def (table: anonloom.data._table.Table, classes: anonloom.data._classes.Classes, "
        "guard: anonloom.kinds._guard.Guard, context: anonloom.kinds._context.StageContext) "
        "-> anonloom.data._classes.Classes",
    ] == re.findall(r'Revealed type is "(.*)"', done.stdout)
    assert 0 == done.returncode, done.stdout
