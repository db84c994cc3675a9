"""The workspace's own tools: what they accept, and the whole text of what they refuse."""

import datetime
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from queue import SimpleQueue

import alone
import bump_version
import check_workspace
import compiled_wheels
import copy_shared_headers
import make_constraints
import make_metapackage
import pytest
import sanitize_kernels
import yaml

from anonloom import Registry

ROOT = Path(__file__).parents[1]

PACKAGE = """\
[build-system]
requires = ["hatchling>=1.26"]
build-backend = "hatchling.build"

[project]
name = "anonloom-{name}"
version = "0.1.0"
readme = "README.md"
license = "Apache-2.0"
requires-python = ">=3.11"
dependencies = [{needs}]
"""

METAPACKAGE = "metapackage/pyproject.toml"

ENTRY = """
[project.entry-points.anonloom]
{name} = "{hooks}"
"""


def write(path: Path, text: str = "") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def package(root: Path, path: str, module: str, hooks: str, needs: str) -> None:
    name = path.rsplit("/", 1)[-1]
    entry = ENTRY.format(name=name, hooks=hooks) if hooks else ""
    write(root / path / "pyproject.toml", PACKAGE.format(name=name, needs=needs) + entry)
    write(root / path / "README.md")
    write(root / path / "src" / module / "__init__.py")
    write(root / path / "src" / module / "py.typed")
    write(root / path / "tests" / "test_it.py", "def test_it():\n    assert True\n")


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A workspace of core, kernels, one plugin and one of the tutorial that agrees with itself."""
    core = '"anonloom-core>=0.1,<0.2"'
    package(tmp_path, "core", "anonloom", "anonloom._registry.builtin", "")
    package(tmp_path, "libs/kernels", "anonloom_kernels", "", core)
    package(
        tmp_path,
        "plugins/samplers/two-coins",
        "anonloom_two_coins",
        "anonloom_two_coins.plugin",
        core,
    )
    package(tmp_path, "docs/tutorial/first", "anonloom_first", "anonloom_first.plugin", core)
    write(
        tmp_path / "pyproject.toml",
        '[tool.uv.workspace]\nmembers = ["core", "libs/*", "plugins/*/*", "docs/tutorial/*"]\n'
        "[tool.uv.sources]\n"
        "anonloom-core = { workspace = true }\n"
        "anonloom-kernels = { workspace = true }\n"
        '[dependency-groups]\ndev = ["pytest>=8.3"]\n'
        '[tool.pytest.ini_options]\naddopts = ["--import-mode=importlib"]\n'
        'testpaths = ["tests"]\nfilterwarnings = ["error"]\nxfail_strict = true\n',
    )
    write(tmp_path / "constraints.txt", "# what CI uses\npytest==8.3.1\n")
    write(tmp_path / METAPACKAGE, make_metapackage.metapackage(tmp_path))
    write(tmp_path / "VERSION", "0.1.0\n")
    write(tmp_path / "CHANGELOG.md", "# Changelog\n\n## Unreleased\n\n- A coin.\n")
    write(tmp_path / "conftest.py")
    return tmp_path


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count(old) >= 1
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_this_workspace_agrees_with_itself():
    assert [] == check_workspace.problems(ROOT)


def test_a_workspace_that_agrees_has_no_problems(workspace):
    assert [] == check_workspace.problems(workspace)


COINS_SOURCE = "src/anonloom_two_coins"


def extension(sources="_kernels.c", depends="", **changed):
    """What a package with C code says about it in its pyproject.toml."""
    words = {"optional": "true", "py-limited-api": "true"} | changed
    keys = ", ".join(f'{{ file = "{name}" }}' for name in check_workspace.CACHE_KEYS)
    named = {"sources": sources.split(), "depends": depends.split()}
    lists = [
        f"{key} = {[f'{COINS_SOURCE}/{name}' for name in names]}" for key, names in named.items()
    ]
    return "\n".join(
        [
            "[[tool.setuptools.ext-modules]]",
            'name = "anonloom_two_coins._kernels"',
            *lists,
            *(f"{key} = {value}" for key, value in words.items()),
            '[tool.distutils.bdist_wheel]\npy_limited_api = "cp311"',
            f"[tool.uv]\ncache-keys = [{keys}]\n",
        ]
    )


@pytest.fixture
def with_c(workspace):
    """The workspace, whose plugin has C code that includes two shared headers, and its folder."""
    folder = workspace / "plugins/samplers/two-coins" / COINS_SOURCE
    shared = workspace / check_workspace.SHARED_HEADERS
    write(shared / "kernel.h", "/* views */\n")
    write(shared / "losses.h", '#include "kernel.h"\n')
    write(shared / "unused.h")
    library = workspace / "libs/kernels/src/anonloom_kernels/_kernels.c"
    write(library, '#include "losses.h"\n')
    names = ("_kernels.c", "kernel.h", "losses.h", "unused.h")
    with (workspace / LIBRARY).open("a") as file:
        text = extension(names[0], " ".join(names[1:])).replace("two_coins", "kernels")
        file.write(text)
    change(workspace / LIBRARY, "hatchling.build", "setuptools.build_meta")
    write(folder / "_kernels.c", '#include "coin.h"\n')
    write(folder / "coin.h", '#include "shared/losses.h"\n')
    for name in ("kernel.h", "losses.h"):
        write(folder / "shared" / name, (shared / name).read_text())
    change(workspace / COINS, "hatchling.build", "setuptools.build_meta")
    with (workspace / COINS).open("a") as file:
        file.write(extension(depends="coin.h shared/kernel.h shared/losses.h"))
    return workspace, folder


def test_a_workspace_with_compiled_code_that_agrees_has_no_problems(with_c):
    assert [] == check_workspace.problems(with_c[0])


SAID_OF_C = {
    "build-backend": (
        "setuptools.build_meta", "hatchling.build",
        "build-backend must be setuptools.build_meta. Got hatchling.build instead.",
    ),
    "cache": (
        ', { file = "src/**/*.h" }', "",
        '[tool.uv] cache-keys must hold { file = "src/**/*.h" }',
    ),
    "a header that is not named": (
        f", '{COINS_SOURCE}/shared/losses.h'", "",
        f"no extension names {COINS_SOURCE}/shared/losses.h",
    ),
    "a file that is not there": (
        f"'{COINS_SOURCE}/coin.h'", f"'{COINS_SOURCE}/coin.h', '{COINS_SOURCE}/more.h'",
        f"there is no {COINS_SOURCE}/more.h",
    ),
    "not optional": (
        "optional = true", "optional = false",
        "extension anonloom_two_coins._kernels must say optional = true",
    ),
    "one Python only": (
        "py-limited-api = true\n", "",
        "extension anonloom_two_coins._kernels must say py-limited-api = true",
    ),
    "a wheel for one Python only": (
        'py_limited_api = "cp311"', 'py_limited_api = "cp312"',
        '[tool.distutils.bdist_wheel] must say py_limited_api = "cp311"',
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", SAID_OF_C)
def test_what_a_package_says_of_its_compiled_code_is_checked(with_c, case):
    old, new, message = SAID_OF_C[case]
    change(with_c[0] / COINS, old, new)
    assert [f"{COINS}: {message}"] == check_workspace.problems(with_c[0])


def test_copies_of_shared_headers_must_be_as_the_library_has_them(with_c):
    workspace, folder = with_c
    (folder / "shared/losses.h").write_text("/* another */\n")
    (folder / "shared/kernel.h").unlink()
    (folder / "shared/unused.h").write_text("")
    where, advice = COINS.rpartition("/")[0], "run tools/copy_shared_headers.py"
    names = ("kernel.h", "losses.h", "unused.h")
    copies = [f"{where}/{COINS_SOURCE}/shared/{name}" for name in names]
    expected = [f"{copy}: is not as libs/kernels has it; {advice}" for copy in copies]
    assert expected == [p for p in check_workspace.problems(workspace) if advice in p]


def test_shared_headers_are_copied_with_what_they_include(with_c, monkeypatch, capsys):
    workspace, folder = with_c
    (folder / "shared/losses.h").write_text("/* another */\n")
    (folder / "shared/kernel.h").unlink()
    (folder / "shared/unused.h").write_text("")
    monkeypatch.setattr(copy_shared_headers, "ROOT", workspace)

    assert 0 == copy_shared_headers.main()

    assert [] == check_workspace.problems(workspace)
    names = {line.rpartition("/")[2] for line in capsys.readouterr().out.splitlines()}
    assert {"kernel.h", "losses.h", "unused.h"} == names


LIBRARY = "libs/kernels/pyproject.toml"
COINS = "plugins/samplers/two-coins/pyproject.toml"

# File, what is replaced by what, and all that the check then says.
MISTAKES = {
    "version of a package": (
        COINS, 'version = "0.1.0"', 'version = "0.1.1"',
        ["plugins/samplers/two-coins/pyproject.toml: version must be 0.1.0. Got 0.1.1 instead."],
    ),
    "name against folder": (
        COINS, 'name = "anonloom-two-coins"', 'name = "anonloom-coins"',
        ["plugins/samplers/two-coins/pyproject.toml: name must be anonloom-two-coins. Got anonloom-coins instead."],
    ),
    "entry point": (
        COINS, 'two-coins = "anonloom_two_coins.plugin"', 'coins = "anonloom_two_coins.hooks"',
        ['plugins/samplers/two-coins/pyproject.toml: the entry points of group anonloom must be exactly two-coins = "anonloom_two_coins.plugin". Got coins = "anonloom_two_coins.hooks" instead.'],
    ),
    "no entry point": (
        COINS, "[project.entry-points.anonloom]", "[project.entry-points.other]",
        ['plugins/samplers/two-coins/pyproject.toml: the entry points of group anonloom must be exactly two-coins = "anonloom_two_coins.plugin". Got none instead.'],
    ),
    "no licence": (
        COINS, 'license = "Apache-2.0"\n', "",
        ["plugins/samplers/two-coins/pyproject.toml: license must be Apache-2.0. Got nothing instead."],
    ),
    "build backend": (
        COINS, "hatchling.build", "setuptools.build_meta",
        ["plugins/samplers/two-coins/pyproject.toml: build-backend must be hatchling.build. Got setuptools.build_meta instead."],
    ),
    "range of core": (
        COINS, "anonloom-core>=0.1,<0.2", "anonloom-core>=0.1",
        ["plugins/samplers/two-coins/pyproject.toml: dependencies must hold anonloom-core>=0.1,<0.2"],
    ),
    "a plugin on a plugin": (
        COINS, '<0.2"]', '<0.2", "anonloom-first>=0.1"]',
        ["plugins/samplers/two-coins/pyproject.toml: a plugin depends on no other plugin. Got anonloom-first>=0.1 instead."],
    ),
    "range of kernels": (
        COINS, '<0.2"]', '<0.2", "anonloom-kernels"]',
        ["plugins/samplers/two-coins/pyproject.toml: kernels must be asked for as anonloom-kernels>=0.1,<0.2. Got anonloom-kernels instead."],
    ),
    "the library on a plugin": (
        LIBRARY, '<0.2"]', '<0.2", "anonloom-two-coins>=0.1"]',
        ["libs/kernels/pyproject.toml: a library depends on no plugin. Got anonloom-two-coins>=0.1 instead."],
    ),
    "the library with another hook module": (
        LIBRARY, '<0.2"]\n', '<0.2"]\n[project.entry-points.anonloom]\nkernels = "anonloom_kernels.hooks"\n',
        ['libs/kernels/pyproject.toml: the entry points of group anonloom must be exactly kernels = "anonloom_kernels.plugin". Got kernels = "anonloom_kernels.hooks" instead.'],
    ),
    "a library missing in the sources": (
        "pyproject.toml", "anonloom-kernels = { workspace = true }\n", "",
        ["pyproject.toml: [tool.uv.sources]: lacks anonloom-kernels"],
    ),
    "a plugin in the sources": (
        "pyproject.toml", "[dependency-groups]", "anonloom-two-coins = { workspace = true }\n[dependency-groups]",
        ["pyproject.toml: [tool.uv.sources]: must not hold anonloom-two-coins"],
    ),
    "order of the sources": (
        "pyproject.toml", "anonloom-core = { workspace = true }\nanonloom-kernels = { workspace = true }\n", "anonloom-kernels = { workspace = true }\nanonloom-core = { workspace = true }\n",
        ["pyproject.toml: [tool.uv.sources]: is not in order"],
    ),
    "a source elsewhere": (
        "pyproject.toml", "anonloom-core = { workspace = true }", 'anonloom-core = { path = "core" }',
        ["pyproject.toml: [tool.uv.sources] must say anonloom-core = { workspace = true }"],
    ),
    "a package that no pattern finds": (
        "pyproject.toml", '"libs/*", ', "",
        ["pyproject.toml: no pattern in [tool.uv.workspace] members matches libs/kernels"],
    ),
    "version of the metapackage": (
        METAPACKAGE, 'version = "0.1.0"', 'version = "0.0.9"',
        ["metapackage/pyproject.toml: version must be 0.1.0. Got 0.0.9 instead."],
    ),
    "missing in the metapackage": (
        METAPACKAGE, '  "anonloom-two-coins>=0.1,<0.2",\n', "",
        ["metapackage/pyproject.toml: extra all: lacks anonloom-two-coins>=0.1,<0.2"],
    ),
    "too much in the metapackage": (
        METAPACKAGE, "all = [\n", 'all = [\n  "anonloom-gone>=0.1,<0.2",\n',
        ["metapackage/pyproject.toml: extra all: must not hold anonloom-gone>=0.1,<0.2"],
    ),
    "twice in the metapackage": (
        METAPACKAGE, '  "anonloom-two-coins>=0.1,<0.2",\n', '  "anonloom-two-coins>=0.1,<0.2",\n' * 2,
        ["metapackage/pyproject.toml: extra all: holds anonloom-two-coins>=0.1,<0.2 twice"],
    ),
    "a constraint that is none": (
        "constraints.txt", "pytest==8.3.1", "pytest==8.3.1\nother>=1",
        ["constraints.txt: a line must read name==version. Got other>=1 instead."],
    ),
    "nothing pinned": (
        "constraints.txt", "pytest==8.3.1\n", "",
        ["constraints.txt: lacks pytest"],
    ),
}  # fmt: skip


def test_a_plugin_may_depend_on_core_and_on_kernels(workspace):
    change(workspace / COINS, '<0.2"]', '<0.2", "anonloom-kernels>=0.1,<0.2"]')
    assert [] == check_workspace.problems(workspace)


def test_a_library_may_offer_commands(workspace):
    entry = '[project.entry-points.anonloom]\nkernels = "anonloom_kernels.plugin"\n'
    change(workspace / LIBRARY, '<0.2"]\n', f'<0.2"]\n{entry}')
    assert [] == check_workspace.problems(workspace)


def test_the_metapackage_asks_for_what_the_quickstart_uses():
    pipeline = yaml.safe_load((ROOT / "examples/quickstart.yaml").read_text(encoding="utf-8"))
    names = {name for model in pipeline["privacy"] for name in model}
    names |= {name for stage in pipeline["stages"] for name in stage.values()}
    names |= {auditor["auditor"] for auditor in pipeline["audit"]} | {"page"}
    used = {e.distribution for e in Registry.installed().entries if e.name in names}
    wanted = {f"anonloom-{name}" for name in check_workspace.QUICKSTART}
    assert wanted == used


def test_the_metapackage_of_this_workspace_is_what_the_tool_writes():
    assert make_metapackage.metapackage(ROOT) == (ROOT / METAPACKAGE).read_text(encoding="utf-8")


LOCK = """
[[package]]
name = "numpy"
version = "2.10.0"
source = { registry = "https://example.org/simple" }

[[package]]
name = "numpy"
version = "2.9.1"
source = { registry = "https://example.org/simple" }

[[package]]
name = "anonloom-core"
version = "0.1.0"
source = { editable = "core" }

[[package]]
name = "attrs"
version = "25.1.0"
source = { registry = "https://example.org/simple" }
"""


def test_constraints_name_the_version_for_the_oldest_python_and_none_of_our_packages():
    text = make_constraints.constraints(LOCK)
    assert make_constraints.HEADER + "attrs==25.1.0\nnumpy==2.9.1\n" == text


def test_constraints_are_applied_by_locking_them():
    text = "# what CI uses\nattrs==25.1.0\nnumpy==2.9.1\n"
    command = ["uv", "lock", "--quiet", "-P", "attrs==25.1.0", "-P", "numpy==2.9.1"]
    assert command == make_constraints.lock_command("uv", text)


@pytest.mark.parametrize("mistake", MISTAKES)
def test_each_mistake_has_its_message(workspace, mistake):
    file, old, new, expected = MISTAKES[mistake]
    change(workspace / file, old, new)
    assert expected == check_workspace.problems(workspace)


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("README.md", "README.md: is missing"),
        ("src/anonloom_two_coins/py.typed", "src/anonloom_two_coins/py.typed: is missing"),
        ("tests/test_it.py", "tests: holds no test_*.py"),
    ],
)
def test_each_missing_file_has_its_message(workspace, file, message):
    (workspace / "plugins/samplers/two-coins" / file).unlink()
    assert [f"plugins/samplers/two-coins/{message}"] == check_workspace.problems(workspace)


def test_folders_that_are_no_packages_are_named(workspace):
    write(workspace / "plugins/samplers/half/src/anonloom_half/__init__.py")
    (workspace / "plugins/samplers/left-over/__pycache__").mkdir(parents=True)
    (workspace / "plugins/mixers").mkdir()
    groups = "anonymizers, auditors, collectors, commands, integrity, reporters, samplers, sources, transports"
    assert [
        f"plugins/mixers: not a folder for plugins; choose among {groups}",
        "plugins/samplers/half: has no pyproject.toml",
    ] == check_workspace.problems(workspace)


def test_the_check_as_a_program_says_how_many_agree():
    done = subprocess.run(
        [sys.executable, ROOT / "tools/check_workspace.py"],
        capture_output=True,
        text=True,
        check=False,
    )
    count = len(check_workspace.members(ROOT))
    assert (0, f"{count} packages agree with the workspace\n", "") == (
        done.returncode,
        done.stdout,
        done.stderr,
    )


def test_the_check_as_a_program_fails_with_all_problems(workspace):
    (workspace / "tools").mkdir()
    shutil.copy(ROOT / "tools/check_workspace.py", workspace / "tools")
    change(workspace / COINS, 'version = "0.1.0"', 'version = "0.1.1"')
    done = subprocess.run(
        [sys.executable, workspace / "tools/check_workspace.py"],
        capture_output=True,
        text=True,
        check=False,
    )
    expected = (
        "plugins/samplers/two-coins/pyproject.toml: version must be 0.1.0. Got 0.1.1 instead.\n"
        "1 problem(s) in the workspace\n"
    )
    assert (1, "", expected) == (done.returncode, done.stdout, done.stderr)


DAY = datetime.date(2030, 1, 31)


def test_a_bumped_workspace_agrees_with_itself_and_closes_the_changelog(workspace):
    change(workspace / COINS, '<0.2"]', '<0.2", "anonloom-kernels>=0.1,<0.2"]')
    changed = bump_version.bump(workspace, "0.2.0", DAY)
    assert [] == check_workspace.problems(workspace)
    assert "0.2.0\n" == (workspace / "VERSION").read_text()
    needs = 'dependencies = ["anonloom-core>=0.2,<0.3", "anonloom-kernels>=0.2,<0.3"]'
    assert needs in (workspace / COINS).read_text()
    assert (
        "# Changelog\n\n## Unreleased\n\n## 0.2.0 - 2030-01-31\n\n- A coin.\n"
        == (workspace / "CHANGELOG.md").read_text()
    )
    assert [
        "CHANGELOG.md",
        "VERSION",
        "core/pyproject.toml",
        "docs/tutorial/first/pyproject.toml",
        "libs/kernels/pyproject.toml",
        "metapackage/pyproject.toml",
        "plugins/samplers/two-coins/pyproject.toml",
    ] == sorted(path.relative_to(workspace).as_posix() for path in changed)


@pytest.mark.parametrize(
    ("new", "message"),
    [
        ("0.2", "the version must be three numbers such as 1.2.0. Got 0.2 instead."),
        ("0.1.0", "the version must be later than 0.1.0. Got 0.1.0 instead."),
        ("0.0.9", "the version must be later than 0.1.0. Got 0.0.9 instead."),
    ],
)
def test_a_version_that_is_none_or_not_later_is_refused(workspace, new, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        bump_version.bump(workspace, new, DAY)


def test_a_workspace_that_disagrees_is_not_bumped(workspace):
    change(workspace / COINS, 'version = "0.1.0"', 'version = "0.1.1"')
    before = (workspace / COINS).read_text()
    with pytest.raises(
        ValueError, match=r"^the workspace disagrees with itself; first mend this:\nplugins"
    ):
        bump_version.bump(workspace, "0.2.0", DAY)
    assert (before, "0.1.0\n") == (
        (workspace / COINS).read_text(),
        (workspace / "VERSION").read_text(),
    )


class Recorder:
    """Stands in for running commands: remembers them, prints what it is told."""

    def __init__(self, prints: str = "", fails: str = "") -> None:
        self.prints, self.fails = prints, fails
        self.commands: list[list[str]] = []
        self.settings: dict[str, str] = {}

    def __call__(self, command: list[str], cwd: Path | None = None, **settings: str) -> str:
        self.commands.append(command)
        self.settings |= settings
        if self.fails and self.fails in command:
            raise alone.CommandFailedError("it broke")
        return self.prints


@pytest.fixture
def coins(workspace):
    return next(m for m in check_workspace.members(workspace) if m.short == "two-coins")


@pytest.fixture
def wheels(tmp_path):
    folder = tmp_path / "wheels"
    write(folder / "anonloom_core-0.1.0-py3-none-any.whl")
    write(folder / "anonloom_kernels-0.1.0-py3-none-any.whl")
    write(folder / "anonloom_testing-0.1.0-py3-none-any.whl")
    write(folder / "anonloom_two_coins-0.1.0-py3-none-any.whl")
    return folder


def test_a_plugin_alone_gets_core_the_kit_itself_and_the_testing_tools_only(coins, wheels):
    assert [
        str(wheels / "anonloom_core-0.1.0-py3-none-any.whl"),
        str(wheels / "anonloom_testing-0.1.0-py3-none-any.whl"),
        f"anonloom-two-coins @ {(wheels / 'anonloom_two_coins-0.1.0-py3-none-any.whl').as_uri()}",
        "pytest>=8.3",
        "hypothesis>=6.115",
    ] == alone.requirements(coins, wheels)


def test_a_plugin_that_asks_for_the_library_of_kernels_gets_its_wheel_too(coins, wheels):
    coins.project["project"]["dependencies"].append("anonloom-kernels>=0.1,<0.2")
    assert [
        str(wheels / "anonloom_core-0.1.0-py3-none-any.whl"),
        str(wheels / "anonloom_testing-0.1.0-py3-none-any.whl"),
        str(wheels / "anonloom_kernels-0.1.0-py3-none-any.whl"),
        f"anonloom-two-coins @ {(wheels / 'anonloom_two_coins-0.1.0-py3-none-any.whl').as_uri()}",
    ] == alone.requirements(coins, wheels)[:4]


def test_a_plugin_gets_the_libraries_that_its_library_leans_on(workspace, coins, wheels):
    write(wheels / "anonloom_linkage-0.1.0-py3-none-any.whl")
    needs = '"anonloom-core>=0.1,<0.2", "anonloom-kernels>=0.1,<0.2"'
    package(workspace, "libs/linkage", "anonloom_linkage", "", needs)
    coins.project["project"]["dependencies"].append("anonloom-linkage>=0.1,<0.2")
    assert [
        str(wheels / "anonloom_kernels-0.1.0-py3-none-any.whl"),
        str(wheels / "anonloom_linkage-0.1.0-py3-none-any.whl"),
    ] == alone.requirements(coins, wheels)[2:4]


def test_a_plugin_gets_no_library_that_it_does_not_ask_for(workspace, coins, wheels):
    write(wheels / "anonloom_transport-0.1.0-py3-none-any.whl")
    package(workspace, "libs/transport", "anonloom_transport", "", '"anonloom-core>=0.1,<0.2"')
    coins.project["project"]["dependencies"].append("anonloom-transport>=0.1,<0.2")
    assert [
        str(wheels / "anonloom_core-0.1.0-py3-none-any.whl"),
        str(wheels / "anonloom_testing-0.1.0-py3-none-any.whl"),
        str(wheels / "anonloom_transport-0.1.0-py3-none-any.whl"),
        f"anonloom-two-coins @ {(wheels / 'anonloom_two_coins-0.1.0-py3-none-any.whl').as_uri()}",
    ] == alone.requirements(coins, wheels)[:4]


def test_core_gets_the_kit_and_the_libraries_that_the_kit_leans_on(workspace, wheels):
    write(wheels / "anonloom_tables-0.1.0-py3-none-any.whl")
    write(wheels / "anonloom_runner-0.1.0-py3-none-any.whl")
    core, tables, runner = (f'"anonloom-{n}>=0.1,<0.2"' for n in ("core", "tables", "runner"))
    package(workspace, "libs/tables", "anonloom_tables", "", core)
    package(workspace, "libs/runner", "anonloom_runner", "", f"{core}, {tables}")
    package(workspace, "libs/testing", "anonloom_testing", "", f"{core}, {runner}")
    own = next(m for m in check_workspace.members(workspace) if m.is_core)
    own.project["project"]["optional-dependencies"] = {"test": ["anonloom-kernels>=0.1,<0.2"]}
    assert [
        str(wheels / "anonloom_tables-0.1.0-py3-none-any.whl"),
        str(wheels / "anonloom_runner-0.1.0-py3-none-any.whl"),
        str(wheels / "anonloom_testing-0.1.0-py3-none-any.whl"),
        str(wheels / "anonloom_kernels-0.1.0-py3-none-any.whl"),
        f"anonloom-core[test] @ {(wheels / 'anonloom_core-0.1.0-py3-none-any.whl').as_uri()}",
        "pytest>=8.3",
        "hypothesis>=6.115",
    ] == alone.requirements(own, wheels)


def test_a_plugin_with_test_oracles_gets_them_through_its_extra(coins, wheels):
    coins.project["project"]["optional-dependencies"] = {"test": ["pycanon"]}
    assert alone.requirements(coins, wheels)[2].startswith("anonloom-two-coins[test] @ file://")


def test_the_copy_holds_tests_and_settings_but_no_sources(coins, tmp_path):
    write(coins.folder / "tests/__pycache__/test_it.pyc")
    alone.copy_tests(coins, tmp_path / "copy")
    results = sorted(
        p.relative_to(tmp_path / "copy").as_posix()
        for p in (tmp_path / "copy").rglob("*")
        if p.is_file()
    )
    assert ["README.md", "conftest.py", "pytest.ini", "tests/test_it.py"] == results
    assert (
        "[pytest]\naddopts =\n    --import-mode=importlib\nfilterwarnings =\n    error\nxfail_strict = true\n"
        == (tmp_path / "copy/pytest.ini").read_text()
    )


@pytest.fixture
def slots(tmp_path):
    """One place for environments."""
    places = SimpleQueue()
    places.put(tmp_path / "one")
    return places


def test_what_runs_for_a_plugin_with_uv(coins, wheels, tmp_path, slots):
    recorder = Recorder("...\n3 passed, 1 skipped in 0.12s\n")
    result = alone.check(coins, wheels, tmp_path, alone.Uv("uv", recorder), slots)
    python = str(tmp_path / "one/bin/python")
    assert [
        ["uv", "venv", "--quiet", "--python", sys.executable, str(tmp_path / "one")],
        [
            "uv",
            "pip",
            "install",
            "--quiet",
            "--python",
            python,
            "--no-config",
            *alone.requirements(coins, wheels),
        ],
        [
            python,
            "-I",
            "-X",
            f"pycache_prefix={tmp_path / 'translated sources'}",
            "-m",
            "pytest",
            "-q",
            "-m",
            "not long",
            "--hypothesis-profile=quick",
            "tests",
        ],
    ] == recorder.commands
    assert ("two-coins", "3 passed, 1 skipped", True) == (
        result.name,
        result.summary,
        result.passed,
    )


def test_what_is_kept_between_packages_lies_in_no_package_s_folder(coins, wheels, tmp_path, slots):
    recorder = Recorder("3 passed in 0.12s\n")
    alone.check(coins, wheels, tmp_path, alone.Uv("uv", recorder), slots)
    kept = [word.partition("=")[2] for word in recorder.commands[-1] if "pycache_prefix" in word]
    names = {member.short for member in check_workspace.members(ROOT)}
    assert 1 == len(kept)
    assert set() == names & {Path(folder).name for folder in kept}


def test_packages_with_the_most_tests_are_tried_first(coins, tmp_path):
    for name, lines in (("few", 1), ("most", 50), ("some", 9)):
        (tmp_path / name / "tests").mkdir(parents=True)
        (tmp_path / name / "tests/test_it.py").write_text("pass\n" * lines)
    few, most, some = (
        check_workspace.Member(tmp_path, name, coins.project) for name in ("few", "most", "some")
    )
    assert [most, some, few] == alone.longest_first([few, most, some])


def test_a_plugin_that_fails_keeps_its_output_and_leaves_its_place(coins, wheels, tmp_path, slots):
    (tmp_path / "one").mkdir()
    result = alone.check(coins, wheels, tmp_path, alone.Uv("uv", Recorder(fails="pytest")), slots)
    assert ("FAILED", "it broke", False) == (result.summary, result.output, result.passed)
    assert not (tmp_path / "one").exists()
    assert tmp_path / "one" == slots.get_nowait()


def test_pip_builds_the_wheels_where_uv_is_missing(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert isinstance(alone.installer(), alone.Pip)
    recorder = Recorder()
    alone.Pip(recorder).build(tmp_path / "core", tmp_path / "wheels")
    pip = [str(tmp_path / "python"), "-m", "pip", "wheel", "--quiet", "--no-deps"]
    folders = ["--wheel-dir", str(tmp_path / "wheels"), str(tmp_path / "core")]
    assert [[*pip, *folders]] == recorder.commands


def test_the_table_lines_up():
    results = [
        alone.Result("direct", 2.34, "9 passed"),
        alone.Result("privacy-models", 11.0, "FAILED", "why"),
    ]
    assert (
        "plugin          seconds  tests\n"
        "direct              2.3  9 passed\n"
        "privacy-models     11.0  FAILED"
    ) == alone.table(results)


def test_commands_run_without_the_callers_python_settings(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "/somewhere")
    script = "import os; print(os.environ.get('PYTHONPATH'))"
    assert "None\n" == alone.run([sys.executable, "-c", script])


def test_a_failing_command_raises_what_it_printed():
    command = [sys.executable, "-c", "import sys; print('oh'); sys.exit(3)"]
    with pytest.raises(alone.CommandFailedError, match=r"(?s)^\$ .*\noh\n$"):
        alone.run(command)


def test_an_unknown_name_is_refused_before_anything_is_built():
    known = ", ".join(member.short for member in check_workspace.members(ROOT))
    message = f"alone: no package nothing; there are {known}"
    with pytest.raises(SystemExit, match=f"^{re.escape(message)}$"):
        alone.main(["--only", "nothing"])


def test_wheels_without_their_compiled_code_are_found(with_c, tmp_path):
    """Extensions are optional, so that a build without them does not fail."""
    workspace, _ = with_c
    coins = next(m for m in check_workspace.members(workspace) if m.short == "two-coins")
    wheels = {}
    for name, held in (
        ("with", "_kernels.abi3.so"),
        ("windows", "_kernels.pyd"),
        ("without", "a.py"),
    ):
        wheels[name] = tmp_path / f"{name}.whl"
        with zipfile.ZipFile(wheels[name], "w") as wheel:
            wheel.writestr(f"anonloom_two_coins/{held}", "")

    assert ["kernels", "two-coins"] == [
        m.short for m in compiled_wheels.compiled(check_workspace.members(workspace))
    ]
    assert [] == compiled_wheels.missing(wheels["with"], coins)
    assert [] == compiled_wheels.missing(wheels["windows"], coins)
    assert ["anonloom_two_coins._kernels"] == compiled_wheels.missing(wheels["without"], coins)


def test_every_extension_is_sanitized_and_every_package_with_c_has_tests_for_it():
    compiled = compiled_wheels.compiled(check_workspace.members(ROOT))
    tested = sanitize_kernels.chosen([])
    for member in compiled:
        assert sanitize_kernels.extensions(member), member.short
        assert any(Path(file).is_relative_to(member.folder) for file in tested), member.short
