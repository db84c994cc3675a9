"""Documents say what is true: all is documented and tested, links lead somewhere, examples run."""

import ast
import re
import shutil
from pathlib import Path

import attrs
import pytest
from error_messages import CLASSES, messages_of
from make_reference import CORE, PAGES, all_commands, first_party, signature, stale

from anonloom import Registry, hookspecs
from anonloom._spec.pipeline import load_pipeline
from anonloom.kinds import Guarantees
from anonloom_catalog import first_party_folders
from anonloom_cli import main
from anonloom_testing import AuditorConformance, PartitionerConformance, TransportConformance

KINDS = Registry.empty().kinds
ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
# Whose messages every user meets, whatever is installed besides.
SPEAKING = (CORE, ROOT / "libs" / "tables" / "src" / "anonloom_tables")
# Templates hold placeholders; hidden folders, environments and outputs are not ours.
NOT_OURS = re.compile(r"(^|/)(\.[^/]+|templates|out|build|node_modules)/")
PAGES_OF_ALL = sorted(
    path for path in ROOT.rglob("*.md") if not NOT_OURS.search(path.relative_to(ROOT).as_posix())
)
TESTS = [
    path
    for folder in ("core/tests", "tests", "libs", "plugins", "docs")
    for path in (ROOT / folder).rglob("*.py")
    if path != Path(__file__) and ("tests" in path.parts)
]
HOOKS = [
    node
    for node in ast.parse(Path(hookspecs.__file__).read_text(encoding="utf-8")).body
    if isinstance(node, ast.FunctionDef)
]


def relative(path):
    return path.relative_to(ROOT).as_posix()


def text_of(name):
    return (PAGES / name).read_text(encoding="utf-8")


def blocks(path, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", path.read_text(encoding="utf-8"), re.M | re.S)


@pytest.fixture(scope="module")
def tests_text():
    return "\n".join(path.read_text(encoding="utf-8") for path in TESTS)


@pytest.fixture
def examples(tmp_path, monkeypatch):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "examples"


def test_the_reference_is_what_the_code_says():
    """Otherwise: python tools/make_reference.py."""
    assert [] == stale()


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: hook.name)
def test_a_hook_is_documented_with_its_signature_and_its_two_sections(hook):
    page = text_of("hooks.md")
    heading = f"### `{signature(hook)}`\n"
    assert heading in page
    section = page.split(heading)[1].split("\n### ")[0]
    assert "**When it is called.**" in section
    assert "**What it must not do.**" in section


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: hook.name)
def test_a_hook_is_named_in_a_test(hook, tests_text):
    assert re.search(rf"\b{hook.name}\b", tests_text)


@pytest.mark.parametrize("command", all_commands())
def test_a_command_is_documented(command):
    assert f"## `anonloom {command}`\n" in text_of("commands.md")


@pytest.mark.parametrize("command", all_commands())
def test_a_command_is_called_in_a_test(command, tests_text):
    # main(["run", ...]), anonloom("run", ...), [python, "-m", "anonloom", "run"] and the like.
    assert re.search(rf"[\[(]\s*\"{command}\"", tests_text)


@pytest.mark.parametrize("kind", KINDS)
def test_a_method_is_documented_below_its_kind(kind):
    page = text_of("methods.md")
    entries = first_party(Registry.installed())[kind]
    section = page.split(f"\n## {KINDS[kind].plural.capitalize()}\n")[1].split("\n## ")[0]
    assert [f"### `{entry.name}`" for entry in entries] == re.findall("### `.*`", section)


def test_every_method_that_the_repository_names_is_installed_and_documented():
    shown = {
        (entry.kind, entry.name)
        for entries in first_party(Registry.installed()).values()
        for entry in entries
    }
    assert set() == set(first_party_folders()) - shown


def test_every_raised_message_of_core_and_of_files_with_words_is_in_the_catalogue():
    page = text_of("errors.md")
    messages = [message for folder in SPEAKING for message in messages_of(folder)]
    assert len(messages) > 80
    for message in messages:
        if message.speaks:
            assert " ".join(message.text.split()).replace("|", "\\|") in page


def test_no_error_is_raised_with_a_message_that_the_catalogue_cannot_see():
    """A call of an error class has its text as first argument, where the catalogue looks."""
    for path in sorted(path for folder in SPEAKING for path in folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            name = getattr(getattr(node, "func", None), "id", "")
            if isinstance(node, ast.Call) and name in CLASSES:
                assert node.args, f"{relative(path)}:{node.lineno}"


def anchors(path):
    titles = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES_OF_ALL, ids=relative)
def test_links_lead_to_something(page):
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        result = (page.parent / path) if path else page
        assert result.exists(), target
        assert not anchor or anchor in anchors(result), target


SHOWN_TO_CONTRIBUTORS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]


@pytest.mark.parametrize("page", SHOWN_TO_CONTRIBUTORS, ids=relative)
def test_paths_of_the_repository_that_are_named_exist(page):
    text = page.read_text(encoding="utf-8")
    tops = r"core|libs|plugins|docs|tools|benchmarks|examples|papers|\.ci|\.github"
    paths = set(re.findall(rf"(?<![\w/.-])(?:\./)?((?:{tops})/[\w./*-]*\w)", text))
    assert len(paths) > 8
    # The second column of the examples of style shows how not to name a module.
    missing = {path for path in paths if not any(ROOT.glob(path))}
    assert missing <= {"core/src/anonloom/data/utils.py"}


@pytest.mark.parametrize("page", SHOWN_TO_CONTRIBUTORS, ids=relative)
def test_commands_that_are_named_exist(page):
    text = page.read_text(encoding="utf-8")
    named = set(re.findall(r"(?:`|/|^ {4})anonloom ([a-z]+)", text, re.M))
    assert {"run", "new", "plugins"} <= named <= set(all_commands())


def pipelines(page):
    return [block for block in blocks(page, "yaml") if block.startswith("version:")]


@pytest.mark.parametrize("page", PAGES_OF_ALL, ids=relative)
def test_a_pipeline_that_is_shown_is_well_formed(page, examples):
    for number, block in enumerate(pipelines(page)):
        file = examples / f"shown-{number}.yaml"
        file.write_text(block, encoding="utf-8")
        load_pipeline(file)


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=relative)
def test_a_pipeline_that_the_guides_show_runs(page, examples, capsys):
    for number, block in enumerate(pipelines(page)):
        file = examples / f"shown-{number}.yaml"
        file.write_text(block, encoding="utf-8")
        assert 0 == main(["run", str(file), "--quiet"]), capsys.readouterr().err


def test_the_guides_show_pipelines():
    assert 5 <= sum(len(pipelines(page)) for page in DOCS.glob("*.md"))


def test_the_python_that_is_shown_runs(examples, capsys):
    names: dict[str, object] = {}
    shown = blocks(DOCS / "python.md", "python")
    assert len(shown) >= 8
    for block in shown:
        exec(compile(block, "docs/python.md", "exec"), names)


def test_what_the_guide_to_prism_shows_runs_on_its_example(examples, capsys):
    """Its stages and its audit, put into the example in place of those that are there."""
    (shown,) = blocks(DOCS / "prism.md", "yaml")
    whole = (examples / "prism.yaml").read_text(encoding="utf-8")
    rest = re.sub(r"^(stages|audit):\n(  .*\n)+", "", whole, flags=re.M)
    file = examples / "shown.yaml"
    file.write_text(f"{rest}\n{shown}", encoding="utf-8")
    assert 0 == main(["run", str(file), "--quiet"]), capsys.readouterr().err


def test_the_python_that_the_guide_to_prism_shows_runs(examples):
    (shown,) = blocks(DOCS / "prism.md", "python")
    names: dict[str, object] = {}
    exec(compile(shown, "docs/prism.md", "exec"), names)
    model = names["model"]
    assert {"age", "cost"} - set(model.attributes_in_)
    assert "diagnosis" not in model.attributes_in_


def test_the_partitioner_of_contributing_keeps_the_promises_of_its_kind():
    """All but those of a package: it is not installed here."""
    block, _ = blocks(ROOT / "CONTRIBUTING.md", "python")
    names: dict[str, object] = {"__name__": "shown_in_contributing"}
    exec(compile(block, "CONTRIBUTING.md", "exec"), names)
    shown = type("TestHalving", (PartitionerConformance,), {"method": names["Halving"]})
    failed = [result.check for result in shown().results() if not result.good]
    assert {"check_method_is_registered", "check_method_is_picklable"} >= set(failed)


def test_the_auditor_of_contributing_keeps_the_promises_of_its_kind():
    """All but those of a package: it is not installed here."""
    _, block = blocks(ROOT / "CONTRIBUTING.md", "python")
    names: dict[str, object] = {"__name__": "shown_in_contributing"}
    exec(compile(block, "CONTRIBUTING.md", "exec"), names)
    attributes = {"method": names["RarestMatch"], "risk_finding": "rarest_risk"}
    shown = type("TestRarestMatch", (AuditorConformance,), attributes)
    failed = [result.check for result in shown().results() if not result.good]
    assert {"check_method_is_registered", "check_method_is_picklable"} >= set(failed)


def test_the_transport_of_rounds_keeps_the_promises_of_its_kind():
    """All but those of a package: it is not installed here."""
    (block,) = blocks(ROOT / "libs" / "transport" / "README.md", "python")
    # The version of a distribution that is installed stands in for its own.
    block = block.replace('"anonloom-relay"', '"anonloom-transport"')
    names: dict[str, object] = {"__name__": "shown_in_transport"}
    exec(compile(block, "libs/transport/README.md", "exec"), names)
    shown = type("TestRelay", (TransportConformance,), {"method": names["Relay"]})
    failed = [result.check for result in shown().results() if not result.good]
    assert {"check_method_is_registered", "check_method_is_picklable"} >= set(failed)


SENDING = sorted((ROOT / "plugins/transports").glob("*/README.md"))


@pytest.mark.parametrize("page", SENDING, ids=relative)
def test_the_round_that_a_transport_shows_ends_as_it_says(page, capsys):
    (block,) = blocks(page, "python")
    exec(compile(block, relative(page), "exec"), {})
    (message,) = re.findall(r"print\(.*finish.*  # (.*)$", block, re.M)
    assert message == capsys.readouterr().out.splitlines()[0]


def test_the_guess_that_traffic_shows_can_be_asked_for():
    page = ROOT / "plugins" / "auditors" / "traffic" / "README.md"
    (block,) = blocks(page, "python")
    names: dict[str, object] = {}
    exec(compile(block, relative(page), "exec"), names)
    assert 1 / 50 == names["found"].top1.chance


WITHIN = {
    page: [block for block in blocks(page, "yaml") if block.startswith("collect:")]
    for page in PAGES_OF_ALL
}


@pytest.mark.parametrize("page", [page for page in WITHIN if WITHIN[page]], ids=relative)
def test_a_collection_that_is_shown_suits_a_pipeline(page, examples):
    whole = (examples / "transports.yaml").read_text(encoding="utf-8")
    for number, block in enumerate(WITHIN[page]):
        plain = re.sub(r"^(collect|audit|vary):\n(  .*\n)+", "", whole, flags=re.M)
        file = examples / f"shown-{number}.yaml"
        file.write_text(f"{plain}\n{block}", encoding="utf-8")
        load_pipeline(file)


def test_every_guarantee_of_a_transport_is_explained():
    page = (DOCS / "threat-model.md").read_text(encoding="utf-8")
    for field in attrs.fields(Guarantees):
        assert f"| `{field.name}` |" in page


def test_every_kind_is_explained():
    page = (DOCS / "kinds.md").read_text(encoding="utf-8")
    for kind in KINDS.values():
        assert f"| {kind.name} |" in page


def test_the_observer_that_the_hook_reference_shows_hears_a_run(examples, monkeypatch, tmp_path):
    (block,) = [block for block in blocks(PAGES / "hooks.md", "python") if "stages.log" in block]
    names: dict[str, object] = {}
    exec(compile(block, "docs/reference/hooks.md", "exec"), names)
    observer = type("Observer", (), {})()
    observer.anonloom_stage_finished = names["anonloom_stage_finished"]
    observers = Registry.installed().observers
    observers.add(observer)
    try:
        assert 0 == main(["run", "examples/quickstart.yaml", "--quiet"])
    finally:
        observers.remove(observer)
    assert "generalizer\t1200\t" in (tmp_path / "stages.log").read_text(encoding="utf-8")
