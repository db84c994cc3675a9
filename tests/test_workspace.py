"""The workspace's own tools: what they accept, and the whole text of what they refuse."""

import datetime
import re
import shutil
import subprocess
import sys
from pathlib import Path
from queue import SimpleQueue

import alone
import bump_version
import check_workspace
import pytest

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
    package(tmp_path, "core", "anonloom", "anonloom.builtin", "")
    package(tmp_path, "kernels", "anonloom_kernels", "", core)
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
        '[project]\nname = "anonloom-workspace"\nversion = "0.1.0"\nrequires-python = ">=3.11"\n'
        "dependencies = [\n"
        '  "anonloom-core @ {root:uri}/core",\n'
        '  "anonloom-kernels @ {root:uri}/kernels",\n'
        '  "anonloom-two-coins @ {root:uri}/plugins/samplers/two-coins",\n]\n'
        '[tool.pytest.ini_options]\naddopts = ["--import-mode=importlib"]\n'
        'testpaths = ["tests"]\nfilterwarnings = ["error"]\nxfail_strict = true\n',
    )
    write(
        tmp_path / "requirements-dev.txt",
        "# twin\n-e ./core\n-e ./kernels\n-e ./plugins/samplers/two-coins\n"
        "-e ./docs/tutorial/first\npytest\n",
    )
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


def test_a_package_with_compiled_code_is_built_by_setuptools(workspace):
    write(workspace / "plugins/samplers/two-coins/setup.py")
    said = "build-backend must be setuptools.build_meta. Got hatchling.build instead."
    assert [f"{COINS}: {said}"] == check_workspace.problems(workspace)
    change(workspace / COINS, "hatchling.build", "setuptools.build_meta")
    assert [] == check_workspace.problems(workspace)


LIBRARY = "kernels/pyproject.toml"
COINS = "plugins/samplers/two-coins/pyproject.toml"

# File, what is replaced by what, and all that the check then says.
MISTAKES = {
    "version of a package": (
        COINS, 'version = "0.1.0"', 'version = "0.1.1"',
        ["plugins/samplers/two-coins/pyproject.toml: version must be 0.1.0. Got 0.1.1 instead."],
    ),
    "version of the root": (
        "pyproject.toml", 'version = "0.1.0"', 'version = "0.0.9"',
        ["pyproject.toml: version is 0.0.9, VERSION says 0.1.0"],
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
        ["kernels/pyproject.toml: a library depends on no plugin. Got anonloom-two-coins>=0.1 instead."],
    ),
    "the library with hooks": (
        LIBRARY, '<0.2"]\n', '<0.2"]\n[project.entry-points.anonloom]\nkernels = "anonloom_kernels.plugin"\n',
        ['kernels/pyproject.toml: a library has no entry points of group anonloom. Got kernels = "anonloom_kernels.plugin" instead.'],
    ),
    "missing in the root list": (
        "pyproject.toml", '  "anonloom-two-coins @ {root:uri}/plugins/samplers/two-coins",\n', "",
        ["pyproject.toml: lacks the line anonloom-two-coins @ {root:uri}/plugins/samplers/two-coins"],
    ),
    "too much in the root list": (
        "pyproject.toml", "]\n[tool", '  "anonloom-gone @ {root:uri}/plugins/samplers/gone",\n]\n[tool',
        ["pyproject.toml: has a line without a package in the tree: anonloom-gone @ {root:uri}/plugins/samplers/gone"],
    ),
    "missing in the editable list": (
        "requirements-dev.txt", "-e ./docs/tutorial/first\n", "",
        ["requirements-dev.txt: lacks the line -e ./docs/tutorial/first"],
    ),
    "twice in the editable list": (
        "requirements-dev.txt", "-e ./core\n", "-e ./core\n-e ./core\n",
        ["requirements-dev.txt: has the line -e ./core more than once"],
    ),
    "order of the editable list": (
        "requirements-dev.txt", "-e ./core\n-e ./kernels\n-e ./plugins/samplers/two-coins\n", "-e ./core\n-e ./plugins/samplers/two-coins\n-e ./kernels\n",
        ["requirements-dev.txt: is not in order: core and libraries first, then by path"],
    ),
}  # fmt: skip


def test_a_plugin_may_depend_on_core_and_on_kernels(workspace):
    change(workspace / COINS, '<0.2"]', '<0.2", "anonloom-kernels>=0.1,<0.2"]')
    assert [] == check_workspace.problems(workspace)


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
    groups = "anonymizers, auditors, collectors, integrity, learners, reporters, samplers, sources, transports"
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
        "kernels/pyproject.toml",
        "plugins/samplers/two-coins/pyproject.toml",
        "pyproject.toml",
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
    write(folder / "anonloom_two_coins-0.1.0-py3-none-any.whl")
    return folder


def test_a_plugin_alone_gets_core_itself_and_the_testing_tools_only(coins, wheels):
    assert [
        str(wheels / "anonloom_core-0.1.0-py3-none-any.whl"),
        f"anonloom-two-coins @ {(wheels / 'anonloom_two_coins-0.1.0-py3-none-any.whl').as_uri()}",
        "pytest>=8.3",
        "hypothesis>=6.115",
    ] == alone.requirements(coins, wheels)


def test_a_plugin_that_asks_for_the_library_of_kernels_gets_its_wheel_too(coins, wheels):
    coins.project["project"]["dependencies"].append("anonloom-kernels>=0.1,<0.2")
    assert [
        str(wheels / "anonloom_core-0.1.0-py3-none-any.whl"),
        str(wheels / "anonloom_kernels-0.1.0-py3-none-any.whl"),
        f"anonloom-two-coins @ {(wheels / 'anonloom_two_coins-0.1.0-py3-none-any.whl').as_uri()}",
    ] == alone.requirements(coins, wheels)[:3]


def test_a_plugin_gets_the_libraries_that_its_library_leans_on(workspace, coins, wheels):
    write(wheels / "anonloom_linkage-0.1.0-py3-none-any.whl")
    needs = '"anonloom-core>=0.1,<0.2", "anonloom-kernels>=0.1,<0.2"'
    package(workspace, "linkage", "anonloom_linkage", "", needs)
    coins.project["project"]["dependencies"].append("anonloom-linkage>=0.1,<0.2")
    assert [
        str(wheels / "anonloom_kernels-0.1.0-py3-none-any.whl"),
        str(wheels / "anonloom_linkage-0.1.0-py3-none-any.whl"),
    ] == alone.requirements(coins, wheels)[1:3]


def test_a_plugin_gets_no_library_that_it_does_not_ask_for(workspace, coins, wheels):
    write(wheels / "anonloom_rounds-0.1.0-py3-none-any.whl")
    package(workspace, "rounds", "anonloom_rounds", "", '"anonloom-core>=0.1,<0.2"')
    coins.project["project"]["dependencies"].append("anonloom-rounds>=0.1,<0.2")
    assert [
        str(wheels / "anonloom_core-0.1.0-py3-none-any.whl"),
        str(wheels / "anonloom_rounds-0.1.0-py3-none-any.whl"),
        f"anonloom-two-coins @ {(wheels / 'anonloom_two_coins-0.1.0-py3-none-any.whl').as_uri()}",
    ] == alone.requirements(coins, wheels)[:3]


def test_a_plugin_with_test_oracles_gets_them_through_its_extra(coins, wheels):
    coins.project["project"]["optional-dependencies"] = {"test": ["pycanon"]}
    assert alone.requirements(coins, wheels)[1].startswith("anonloom-two-coins[test] @ file://")


def test_the_copy_holds_tests_and_settings_but_no_sources(coins, tmp_path):
    write(coins.folder / "tests/__pycache__/test_it.pyc")
    alone.copy_tests(coins, tmp_path / "copy")
    found = sorted(
        p.relative_to(tmp_path / "copy").as_posix()
        for p in (tmp_path / "copy").rglob("*")
        if p.is_file()
    )
    assert ["README.md", "conftest.py", "pytest.ini", "tests/test_it.py"] == found
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
    assert {"NUMBA_CACHE_DIR": str(tmp_path / "compiled kernels")} == recorder.settings
    assert ("two-coins", "3 passed, 1 skipped", True) == (
        result.name,
        result.summary,
        result.passed,
    )


def test_what_is_kept_between_packages_lies_in_no_package_s_folder(coins, wheels, tmp_path, slots):
    recorder = Recorder("3 passed in 0.12s\n")
    alone.check(coins, wheels, tmp_path, alone.Uv("uv", recorder), slots)
    kept = [recorder.settings["NUMBA_CACHE_DIR"]]
    kept += [word.partition("=")[2] for word in recorder.commands[-1] if "pycache_prefix" in word]
    names = {member.short for member in check_workspace.members(ROOT)}
    assert 2 == len(kept)
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
