"""`anonloom new` writes plugins that install as they are and fail only where their author writes."""

import json
import re
import shutil
import subprocess
import sys
import sysconfig
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from anonloom import Classes, Guard, Registry, StageContext, Table
from anonloom_cli import main

KINDS = Registry.empty().kinds

PAPER = 'A. Author, B. "Bee" Writer: A title that is long enough to need a second line. Venue 2020'

# One package with every kind in it, two of them twice, and names that need care.
TOGETHER = "together"
MORE = [f"{kind}:more-{kind}" for kind in KINDS if kind != "partitioner"]
MORE += ["partitioner:more-cuts", "auditor:together", "source:row"]

# Names that come before and after the kit's in sorted imports, and one that fills its lines.
NAMES = ("a", "tests", "testing-kit", "zebra", "a-name-that-is-so-long-that-it-fills-lines")

# Where a generated method does nothing yet, beyond its verb: the checks that say so.
TO_WRITE = {kind: ["check_copes_with_every_table"] for kind in KINDS} | {
    "sampler": ["check_copes_with_every_table", "check_least_kept_is_possible"],
    "transport": ["check_copes_with_every_table", "check_says_what_it_guarantees"],
    "engine": [
        "check_what_is_published_satisfies_the_declared_privacy",
        "check_undeclared_columns_are_not_published",
        "check_a_broken_promise_is_refused_and_nothing_is_written",
        "check_broken_data_are_refused_and_nothing_is_written",
        "check_run_writes_nothing",
        "check_an_existing_folder_is_replaced_only_when_asked",
        "check_same_seed_same_release",
    ],
}


def named(kind):
    return f"demo-{kind}"


@pytest.fixture(scope="module")
def generated(tmp_path_factory):
    """One plugin of every kind, side by side."""
    place = tmp_path_factory.mktemp("plugins")
    for kind in KINDS:
        assert 0 == main(["new", kind, named(kind), "--into", str(place), "--paper", PAPER])
    return place


@pytest.fixture(scope="module")
def together(tmp_path_factory):
    """Several methods in one package."""
    place = tmp_path_factory.mktemp("together")
    more = [word for pair in MORE for word in ("--also", pair)]
    words = ["new", "partitioner", TOGETHER, *more, "--into", str(place), "--paper", PAPER]
    assert 0 == main(words)
    return place / TOGETHER


@pytest.fixture(scope="module")
def oddly_named(tmp_path_factory):
    """Plugins whose names sort differently, or are long."""
    place = tmp_path_factory.mktemp("names")
    for name in NAMES:
        for kind in KINDS:
            (place / kind).mkdir(exist_ok=True)
            assert 0 == main(["new", kind, name, "--into", str(place / kind)])
    return place


def test_the_folder_is_complete(tmp_path, monkeypatch, capsys):
    """A plugin of one's own is written here, with everything that it needs, and says what is next."""
    monkeypatch.chdir(tmp_path)

    assert 0 == main(["new", "partitioner", "demo-cut", "--here"])

    files = sorted(p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*") if p.is_file())
    assert [
        "demo-cut/LICENSE",
        "demo-cut/README.md",
        "demo-cut/example/people.csv",
        "demo-cut/example/pipeline.yaml",
        "demo-cut/pyproject.toml",
        "demo-cut/src/anonloom_demo_cut/__init__.py",
        "demo-cut/src/anonloom_demo_cut/partitioner.py",
        "demo-cut/src/anonloom_demo_cut/plugin.py",
        "demo-cut/src/anonloom_demo_cut/py.typed",
        "demo-cut/tests/test_conformance.py",
        "demo-cut/tests/test_paper.py",
    ] == files
    assert (
        "wrote ./demo-cut\n"
        "write the method in ./demo-cut/src/anonloom_demo_cut/partitioner.py, then:\n"
        "  python -m pip install -e ./demo-cut\n"
        "  anonloom plugins check demo-cut\n"
        "  anonloom run ./demo-cut/example/pipeline.yaml\n"
    ) == capsys.readouterr().out


def test_here_is_the_default(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    main(["new", "outlier-handler", "demo"])

    assert (tmp_path / "demo/src/anonloom_demo/outliers.py").is_file()


def test_a_class_never_takes_the_name_of_something_that_it_imports(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    main(["new", "partitioner", "guard"])

    text = (tmp_path / "guard/src/anonloom_guard/partitioner.py").read_text()
    assert "class GuardMethod(Partitioner):" in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["partitoner", "demo"],
            "there is no kind 'partitoner'\n    did you mean 'partitioner'?\n",
        ),
        (
            ["zebra", "demo"],
            "there is no kind 'zebra'\n"
            "    kinds are: source, mechanism, partitioner, outliers, generalizer, sampler, privacy, "
            "transport, collector, auditor, integrity, reporter, engine\n",
        ),
        (
            ["sampler", "My_Method"],
            "a method's name must be lower-case words joined by '-'. Got 'My_Method' instead.\n"
            "    for example 'my-method'\n",
        ),
        (
            ["sampler", "1"],
            "a method's name must be lower-case words joined by '-'. Got '1' instead.\n"
            "    for example 'median-cut'\n",
        ),
        (
            ["sampler", "anonloom-demo"],
            "the package of 'anonloom-demo' would be named 'anonloom-anonloom-demo'\n"
            "    leave the prefix out: 'demo'\n",
        ),
        (
            ["sampler", "there"],
            "'there' exists already\n    choose another name, or remove it first\n",
        ),
        (
            ["sampler", "demo", "--also", "auditor"],
            "--also must name a kind and a method. Got 'auditor' instead.\n"
            "    for example --also auditor:median-risk\n",
        ),
        (
            ["sampler", "demo", "--also", "auditr:risk"],
            "there is no kind 'auditr'\n    did you mean 'auditor'?\n",
        ),
        (
            ["sampler", "demo", "--also", "sampler:demo"],
            "a package cannot hold two methods of the same kind and name\n",
        ),
        (["sampler", "demo", "--into", "nowhere"], "there is no folder 'nowhere' to write into\n"),
    ],
)
def test_what_cannot_be_written_is_said_whole_and_nothing_is_written(
    words, message, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there").mkdir()

    assert 2 == main(["new", *words])

    assert f"anonloom: {message}" == capsys.readouterr().err
    assert [tmp_path / "there"] == list(tmp_path.iterdir())


@pytest.fixture
def workspace(tmp_path):
    """A workspace that finds its plugins by their folders, and nothing else."""
    (tmp_path / "VERSION").write_text("0.3.1\n")
    (tmp_path / "pyproject.toml").write_text(
        '[tool.uv.workspace]\nmembers = ["core", "plugins/*/*"]\n'
    )
    (tmp_path / "plugins/anonymizers").mkdir(parents=True)
    return tmp_path


def test_a_plugin_of_the_workspace_has_its_version_and_is_written_into_no_list(
    workspace, monkeypatch, capsys
):
    monkeypatch.chdir(workspace)
    before = {p.name: p.read_bytes() for p in workspace.iterdir() if p.is_file()}

    main(["new", "partitioner", "vp-tree", "--into", "plugins/anonymizers"])
    printed = capsys.readouterr().out
    main(["new", "auditor", "attack", "--into", "plugins/auditors"])

    assert before == {p.name: p.read_bytes() for p in workspace.iterdir() if p.is_file()}
    assert "  uv sync --all-packages\n" in printed
    assert (workspace / "plugins/auditors/attack/pyproject.toml").is_file()
    assert (
        'version = "0.3.1"'
        in (workspace / "plugins/anonymizers/vp-tree/pyproject.toml").read_text()
    )
    assert not (workspace / "plugins/anonymizers/vp-tree/LICENSE").exists()


def test_a_plugin_of_the_workspace_belongs_into_a_group(workspace, monkeypatch, capsys):
    monkeypatch.chdir(workspace)

    assert 2 == main(["new", "partitioner", "vp-tree", "--into", "plugins"])

    assert (
        "anonloom: a plugin of this repository lies in plugins/GROUP/NAME, not in 'plugins'\n"
        "    for example --into plugins/anonymizers\n"
    ) == capsys.readouterr().err


# --- one plugin of every kind, as its author finds it --------------------------------------------


def _settings():
    root = Path(__file__).resolve().parents[4] / "pyproject.toml"
    return ["--config", str(root)] if root.is_file() else []


def test_generated_plugins_pass_ruff(generated, together, oddly_named):
    ruff = shutil.which("ruff", path=str(Path(sys.executable).parent)) or shutil.which("ruff")
    if ruff is None:
        pytest.skip("ruff is not installed")
    places = [generated, together, oddly_named]
    for words in (["check"], ["format", "--check"]):
        done = subprocess.run(
            [ruff, *words, *_settings(), "--no-cache", *map(str, places)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert 0 == done.returncode, done.stdout


def test_generated_plugins_pass_mypy(generated, together, tmp_path):
    pytest.importorskip("mypy")
    sources = [str(generated / named(kind) / "src") for kind in KINDS]
    sources.append(str(together / "src"))
    (tmp_path / "mypy.ini").write_text(
        "[mypy]\nstrict = True\n[mypy-pandas.*,pyarrow.*]\nignore_missing_imports = True\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", str(tmp_path / "mypy.ini"), *sources],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )

    assert 0 == done.returncode, done.stdout


def test_comments_name_only_what_there_is(generated):
    """What a comment tells an author to ask of the table, or of what else is given, exists."""
    given = {"table": Table, "classes": Classes, "guard": Guard, "context": StageContext}
    code = "".join(path.read_text() for path in generated.glob("*/src/*/*.py"))
    mentioned = set(re.findall(rf"`({'|'.join(given)})\.(\w+)", code))

    assert ("table", "encode_column") in mentioned
    assert [] == [pair for pair in sorted(mentioned) if not hasattr(given[pair[0]], pair[1])]


@pytest.fixture(scope="module")
def environment(generated, together, tmp_path_factory):
    """A fresh environment in which all of them are installed, beside what this one has."""
    pytest.importorskip("hatchling")
    place = tmp_path_factory.mktemp("environment") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place)], check=True)
    python = place / "bin" / "python"
    paths = sysconfig.get_paths(vars={"base": str(place), "platbase": str(place)})
    # The packages of this environment are lent, editable ones included; nothing is downloaded.
    lent = f"import site; site.addsitedir({sysconfig.get_paths()['purelib']!r})\n"
    (Path(paths["purelib"]) / "lent.pth").write_text(lent)
    folders = [str(generated / named(kind)) for kind in KINDS] + [str(together)]
    uv = shutil.which("uv", path=str(Path(sys.executable).parent)) or shutil.which("uv")
    options = ["install", "--no-deps", "--no-build-isolation", "--no-index", "--quiet"]
    install = (
        [uv, "pip", *options, "--offline", "--python", str(python)]
        if uv
        else [sys.executable, "-m", "pip", "--python", str(python), *options]
    )
    done = subprocess.run([*install, *folders], capture_output=True, text=True, check=False)
    assert 0 == done.returncode, done.stderr
    return python


_CHECK_ALL = """
import json, sys
from anonloom import Registry
from anonloom_testing import run_checks
registry = Registry.installed()
failed = {}
for kind in Registry.empty().kinds:
    results = run_checks(kind, "demo-" + kind, registry)
    failed[kind] = {r.check: r.detail for r in results if not r.good}
print(json.dumps(failed))
"""


def test_the_kit_fails_only_where_the_author_has_to_write(environment):
    """Installed as they are, the plugins are found, and fail for what is not written yet."""
    done = subprocess.run(
        [str(environment), "-c", _CHECK_ALL], capture_output=True, text=True, check=False
    )
    assert 0 == done.returncode, done.stderr
    result = json.loads(done.stdout)

    # A source is checked by its own tests, which store rows for it.
    assert TO_WRITE | {"source": []} == {kind: list(failed) for kind, failed in result.items()}
    for failed in result.values():
        assert all("NotImplementedError: write " in detail for detail in failed.values())


def test_their_tests_fail_only_where_the_author_has_to_write(environment, generated, tmp_path):
    """The same under pytest, and the paper's worked example is still to be written."""
    report = tmp_path / "report.xml"
    options = ["-q", "--import-mode=importlib", "-p", "no:cacheprovider", f"--junitxml={report}"]
    folders = [str(generated / named(kind) / "tests") for kind in KINDS]
    subprocess.run(
        [str(environment), "-m", "pytest", *options, f"--rootdir={generated}", *folders],
        capture_output=True,
        check=False,
        cwd=generated,
    )

    failed = {kind: [] for kind in KINDS}
    for case in ElementTree.parse(report).iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            kind = re.search(r"demo-(\w+)", case.get("classname", ""))[1]
            failed[kind].append(re.sub(r"test_conforms\[(.*)\]", r"\1", case.get("name", "")))
    assert {kind: [*checks, "test_worked_example"] for kind, checks in TO_WRITE.items()} == failed


_CHECK_EXAMPLES = """
import sys
from anonloom_cli import main
sys.exit(max(main(["check", path]) for path in sys.argv[1:]))
"""


def test_their_examples_are_pipelines(environment, generated):
    """Each example names the new method where a pipeline has a place for its kind."""
    for package in ("anonloom_mondrian", "anonloom_recoding", "anonloom_privacy_models"):
        pytest.importorskip(package)
    # Checking a pipeline asks its sampler what it keeps at least, which is still to be written.
    kinds = [kind for kind in KINDS if kind != "sampler"]
    examples = [generated / named(kind) / "example" / "pipeline.yaml" for kind in kinds]

    done = subprocess.run(
        [str(environment), "-c", _CHECK_EXAMPLES, *map(str, examples)],
        capture_output=True,
        text=True,
        check=False,
    )

    assert 0 == done.returncode, done.stdout + done.stderr
    for kind, path in zip(kinds, examples, strict=True):
        # Once in the pipeline's own name, once as the method.
        assert 2 == path.read_text().count(named(kind))


# --- several methods in one package --------------------------------------------------------------


def test_several_methods_share_one_package(tmp_path, monkeypatch, capsys):
    """Each has a module, a test class and an example; one hook per kind names them."""
    monkeypatch.chdir(tmp_path)

    main(["new", "auditor", "cut-risk", "--also", "auditor:cut-use", "--also", "sampler:cut-risk"])

    package = tmp_path / "cut-risk/src/anonloom_cut_risk"
    assert {
        "__init__.py",
        "cut_risk_auditor.py",
        "cut_use_auditor.py",
        "plugin.py",
        "py.typed",
        "sampler.py",
    } == {path.name for path in package.iterdir()}
    examples = {path.name for path in (tmp_path / "cut-risk/example").iterdir()}
    assert {"people.csv", "pipeline.yaml", "cut-use-auditor.yaml", "sampler.yaml"} == examples
    hooks = (package / "plugin.py").read_text()
    assert 1 == hooks.count("def anonloom_register_auditors()")
    assert 'target="anonloom_cut_risk.cut_use_auditor:CutUse"' in hooks
    assert 'target="anonloom_cut_risk.sampler:CutRiskSampler"' in hooks
    assert (
        "write the methods in ./cut-risk/src/anonloom_cut_risk/cut_risk_auditor.py, "
        "./cut-risk/src/anonloom_cut_risk/cut_use_auditor.py, "
        "./cut-risk/src/anonloom_cut_risk/sampler.py, then:\n"
        "  python -m pip install -e ./cut-risk\n"
        "  anonloom plugins check cut-risk\n"
        "  anonloom plugins check cut-use\n"
        "  anonloom run ./cut-risk/example/pipeline.yaml\n"
        "  anonloom run ./cut-risk/example/cut-use-auditor.yaml\n"
        "  anonloom run ./cut-risk/example/sampler.yaml\n"
    ) in capsys.readouterr().out


def test_every_example_of_a_package_publishes_into_a_folder_of_its_own(tmp_path, monkeypatch):
    """Run one after another, as the command says, none finds the folder of another."""
    monkeypatch.chdir(tmp_path)

    main(["new", "auditor", "cut-risk", "--also", "auditor:cut-use", "--also", "sampler:cut-risk"])

    folders = {
        path.name: re.search(r"^publish:\n  to: (.*)$", path.read_text(), re.M)[1]
        for path in (tmp_path / "cut-risk/example").glob("*.yaml")
    }
    assert {
        "pipeline.yaml": "out",
        "cut-use-auditor.yaml": "out-cut-use-auditor",
        "sampler.yaml": "out-sampler",
    } == folders


_FIND_ALL = """
import json, sys
from anonloom import Registry
registry = Registry.installed()
print(json.dumps([registry.load(*pair.split(":")).__name__ for pair in sys.argv[1:]]))
"""


def test_all_methods_of_one_package_are_found(environment):
    pairs = ["partitioner:together", *MORE]
    done = subprocess.run(
        [str(environment), "-c", _FIND_ALL, *pairs], capture_output=True, text=True, check=False
    )

    assert 0 == done.returncode, done.stderr
    names = json.loads(done.stdout)
    assert len(pairs) == len(set(names))
    assert {"Together", "TogetherAuditor", "MoreCuts"} <= set(names)
