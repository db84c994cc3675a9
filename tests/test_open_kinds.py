"""A plugin from elsewhere adds a kind of method, with a hook and a kit of its own, and it runs."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import anonloom_scaffold.plugin as scaffold_hooks
from anonloom import Pipeline, Registry
from anonloom._registry import builtin
from anonloom._spec.pipeline import load_pipeline
from anonloom.api import API_VERSION, Kind, Method, hookimpl
from anonloom.errors import PluginError, PrivacyError, SpecError
from anonloom_cli import main
from anonloom_cli.plan import plan
from anonloom_editor_schema.schema import editor_schema
from anonloom_runner import plugin as runner
from anonloom_tables import plugin as tables

FILES = {
    "plugin.py": f"""
from anonloom.api import Kind, Method, hookimpl

ANONLOOM_API = {API_VERSION}


@hookimpl
def anonloom_register_kinds():
    return [
        Kind(
            key="notary",
            name="notary",
            plural="notaries",
            base="acme_notary.notary:Notary",
            kit="acme_notary.kit:NotaryConformance",
            where="section",
        )
    ]


@hookimpl
def anonloom_register_notaries():
    return [
        Method(
            name="row-count",
            target="acme_notary.notary:RowCount",
            summary="Certifies how many rows are published.",
        )
    ]
""",
    "notary.py": """
from abc import abstractmethod

import attrs

from anonloom import Finding, Findings, param
from anonloom.errors import PrivacyError
from anonloom.kinds import SectionMethod


class Notary(SectionMethod):
    @abstractmethod
    def certified_rows(self, release):
        ...

    def examine(self, case, context):
        return Findings.of(
            Finding(
                name="certified",
                value=self.certified_rows(case.release),
                meaning="Rows of the release.",
            )
        )


@attrs.frozen(kw_only=True)
class RowCount(Notary):
    at_least: int = param(help="Fewer rows are not published.", default=1)

    def certified_rows(self, release):
        if len(release) < self.at_least:
            raise PrivacyError(f"the notary certifies no release of {len(release)} rows")
        return len(release)
""",
    "kit.py": """
from anonloom_testing.conformance import Conformance


def check_it_is_a_notary(subject):
    "A notary certifies rows."
    assert hasattr(subject.method, "certified_rows")


class NotaryConformance(Conformance):
    kind = "notary"
    checks = (check_it_is_a_notary,)
""",
}

PIPELINE = """
version: 1
data:
  source: csv
  with: {path: people.csv}
  columns:
    age: {role: other, type: number}
privacy: none
publish: {to: out, reporters: []}
"""


def write(folder: Path, package: str = "acme_notary") -> Path:
    home = folder / "site" / package
    home.mkdir(parents=True)
    (home / "__init__.py").touch()
    for name, text in FILES.items():
        (home / name).write_text(text.replace("acme_notary", package))
    return folder / "site"


def pipeline(folder: Path, text: str) -> Path:
    pd.DataFrame({"age": [30, 40, 50]}).to_csv(folder / "people.csv", index=False)
    file = folder / "pipeline.yaml"
    file.write_text(PIPELINE + text)
    return file


@pytest.fixture
def registry(tmp_path, monkeypatch):
    """A registry with core's methods and the notary's plugin, imported from a folder."""
    monkeypatch.syspath_prepend(write(tmp_path))
    for name in [name for name in sys.modules if name.partition(".")[0] == "acme_notary"]:
        monkeypatch.delitem(sys.modules, name)
    import acme_notary.plugin

    registry = Registry.empty()
    assert registry.register(builtin, distribution="anonloom-core", version="0.1.0")
    assert registry.register(tables, distribution="anonloom-tables", version="0.1.0")
    assert registry.register(runner, distribution="anonloom-runner", version="0.1.0")
    assert registry.register(acme_notary.plugin, distribution="acme-notary", version="1.0")
    monkeypatch.setattr(Registry, "_environment", registry)
    return registry


def plugin(**hooks):
    """Return a hook module with these answers."""

    class Module:
        ANONLOOM_API = API_VERSION

    for name, answer in hooks.items():

        def hook(self, answer=answer):
            return answer

        hook.__name__ = name
        setattr(Module, name, hookimpl(hook))
    return Module()


def kind(**changes):
    fields = {"key": "seer", "name": "seer", "base": "acme:Seer", "where": "section"}
    return Kind(**{**fields, **changes})


# --- it runs -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "section",
    [
        "notary: row-count",
        "notary: {notary: row-count, with: {at_least: 2}}",
        "notary: [row-count]",
    ],
)
def test_a_method_of_a_new_kind_runs_from_a_pipeline_file(registry, tmp_path, section):
    outcome = Pipeline(load_pipeline(pipeline(tmp_path, section), registry), registry).publish()

    assert 3 == outcome.findings["row-count"]["certified"].value
    report = json.loads((tmp_path / "out" / "public" / "report.json").read_text())
    assert ["row-count"] == [audit["auditor"] for audit in report["audits"]]


def test_a_method_of_a_new_kind_can_refuse_a_release(registry, tmp_path):
    file = pipeline(tmp_path, "notary: {notary: row-count, with: {at_least: 4}}")
    with pytest.raises(PrivacyError) as caught:
        Pipeline(load_pipeline(file, registry), registry).publish()

    assert "the notary certifies no release of 3 rows" == str(caught.value)
    assert not (tmp_path / "out").exists()


def test_its_parameters_can_be_set_and_varied(registry, tmp_path):
    file = pipeline(tmp_path, "notary: row-count")
    spec = load_pipeline(file, registry, settings=["notary.at_least=2"])
    assert 2 == spec.sections[0].method.at_least

    file = pipeline(tmp_path, "notary: row-count\nvary: {notary.at_least: [1, 2]}")
    spec = load_pipeline(file, registry)
    assert [1, 2] == [case.spec.sections[0].method.at_least for case in spec.grid]


def test_plan_editor_and_lists_know_the_kind(registry, tmp_path, capsys):
    spec = load_pipeline(pipeline(tmp_path, "notary: row-count"), registry)
    lines = list(plan(spec, registry))
    index = lines.index("notary")
    assert "  notary: row-count (id row-count) {at_least: 1}  [acme-notary 1.0]" == lines[index + 1]

    schema = editor_schema(registry)
    assert "notary" in schema["properties"]
    assert "at_least" in json.dumps(schema["$defs"]["notary"])

    assert 0 == main(["plugins", "list", "--kind", "notaries"])
    assert (
        "notaries\n  row-count  acme-notary 1.0  Certifies how many rows are published.\n"
        == capsys.readouterr().out
    )
    assert 0 == main(["plugins", "show", "row-count"])
    assert capsys.readouterr().out.startswith("notary row-count (acme-notary 1.0)\n")


def test_new_says_that_there_is_no_template_for_it(registry, capsys):
    registry.register(scaffold_hooks, distribution="anonloom-scaffold")
    assert 2 == main(["new", "notary", "double-count"])
    assert (
        "anonloom: there is no template for a notary\n"
        "    derive its class from acme_notary.notary.Notary, and name it with the hook "
        "anonloom_register_notaries\n"
    ) == capsys.readouterr().err


def test_its_kit_checks_its_methods(registry, capsys):
    assert 0 == main(["plugins", "check", "row-count"])
    assert (
        "notary row-count (acme-notary 1.0)\n  passed    check_it_is_a_notary\n  1 passed\n"
        == capsys.readouterr().out
    )


def test_an_installed_plugin_adds_its_kind(tmp_path):
    """With an entry point in a folder on the path, as an installer leaves it."""
    site = write(tmp_path, "zeta_notary")
    info = site / "zeta_notary-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: zeta-notary\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[anonloom]\nzeta = zeta_notary.plugin\n")
    # Somebody else's method of this kind, whose distribution sorts before it.
    (site / "alpha_notary.py").write_text(
        FILES["plugin.py"].split("@hookimpl")[0]
        + "@hookimpl\ndef anonloom_register_notaries():\n    return [Method(name='other-count', "
        "target='zeta_notary.notary:RowCount', summary='The same.')]\n"
    )
    info = site / "alpha_notary-2.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: alpha-notary\nVersion: 2.0\n")
    (info / "entry_points.txt").write_text("[anonloom]\nalpha = alpha_notary\n")
    file = pipeline(tmp_path, "notary: [row-count, other-count]")

    def run(*words):
        return subprocess.run(
            [sys.executable, "-m", "anonloom", *words],
            env={**os.environ, "PYTHONPATH": str(site)},
            capture_output=True,
            text=True,
            check=False,
        )

    done = run("run", str(file))
    assert 0 == done.returncode, done.stderr
    report = json.loads((tmp_path / "out" / "public" / "report.json").read_text())
    assert ["row-count", "other-count"] == [audit["auditor"] for audit in report["audits"]]
    done = run("plugins", "check", "row-count")
    assert (0, "") == (done.returncode, done.stderr)
    assert done.stdout.endswith("  passed    check_it_is_a_notary\n  1 passed\n")


def test_a_stage_of_a_new_kind_runs_as_the_kind_that_it_derives_from(tmp_path, monkeypatch):
    (tmp_path / "acme_stage.py").write_text(
        "from anonloom import Mechanism, short_repr\nimport attrs\n\n\n"
        "class Scrubber(Mechanism):\n    pass\n\n\n"
        "@attrs.frozen(kw_only=True)\nclass Nothing(Scrubber):\n"
        "    def protect(self, table, context):\n"
        "        context.warn('scrubbed')\n        return table\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    registry = Registry.empty()
    assert registry.register(builtin, distribution="anonloom-core", version="0.1.0")
    assert registry.register(tables, distribution="anonloom-tables", version="0.1.0")
    assert registry.register(runner, distribution="anonloom-runner", version="0.1.0")
    module = plugin(
        anonloom_register_kinds=[
            kind(
                key="scrubber",
                name="scrubber",
                base="acme_stage:Scrubber",
                where="stages.mechanism",
            )
        ],
        anonloom_register_scrubbers=[
            Method(name="nothing", target="acme_stage:Nothing", summary="Does nothing.")
        ],
    )
    assert registry.register(module, distribution="acme", version="1.0"), registry.broken
    file = pipeline(tmp_path, "stages: [{scrubber: nothing}]")

    outcome = Pipeline(load_pipeline(file, registry), registry).run()

    assert ["scrubbed"] == [notice.text for notice in outcome.findings["scrubber"].notices]


# --- what is refused ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        (
            {"key": "source"},
            "it registers the kind 'source', and its key is that of the kind 'source' of "
            "anonloom-core",
        ),
        (
            {"key": "stages"},
            "it registers a kind with the key 'stages', a word of pipeline files",
        ),
        (
            {"name": "outlier handler"},
            "it registers the kind 'seer', and its name 'outlier handler' is that of the kind "
            "'outliers' of anonloom-core",
        ),
        (
            {"hook": "anonloom_register_samplers"},
            "it registers the kind 'seer', and its hook 'anonloom_register_samplers' is that of "
            "the kind 'sampler' of anonloom-core",
        ),
        (
            {"hook": "anonloom_register_commands"},
            "it registers the kind 'seer' with the hook 'anonloom_register_commands', which is not "
            "one of a kind",
        ),
        (
            {"base": "anonloom.kinds._sampler:Sampler"},
            "it registers the kind 'seer', and its base anonloom.kinds._sampler:Sampler is that of "
            "the kind 'sampler' of anonloom-core",
        ),
        (
            {"where": "collect"},
            "it registers the kind 'seer', and its place 'collect' is that of the kind 'collector' "
            "of anonloom-core",
        ),
    ],
)
def test_a_kind_that_takes_what_another_has_makes_its_plugin_unusable(changes, reason):
    registry = Registry.empty()
    before = list(registry.kinds)
    module = plugin(anonloom_register_kinds=[kind(**changes)])

    assert not registry.register(module, distribution="acme", version="1.0")
    assert [f"acme 1.0 ({reason})"] == [str(broken) for broken in registry.broken]
    assert before == list(registry.kinds)


def test_two_plugins_with_one_key():
    registry = Registry.empty()
    assert registry.register(plugin(anonloom_register_kinds=[kind()]), distribution="first")
    second = kind(name="other seer", base="other:Seer", hook="anonloom_register_other")
    assert not registry.register(
        plugin(anonloom_register_kinds=[second]), distribution="second", version="2"
    )
    assert [
        "second 2 (it registers the kind 'seer', and its key is that of the kind 'seer' of first)"
    ] == [str(broken) for broken in registry.broken]


def test_nothing_of_a_plugin_that_breaks_after_its_kinds_stays_behind():
    registry = Registry.empty()
    broken = plugin(anonloom_register_kinds=[kind()], anonloom_register_seers=None)
    assert not registry.register(broken, distribution="acme")
    assert "seer" not in registry.kinds

    later = plugin(anonloom_register_seers=[])
    assert not registry.register(later, distribution="later")
    assert "unknown hook 'anonloom_register_seers'" in registry.broken[-1].reason
    whole = plugin(anonloom_register_kinds=[kind()], anonloom_register_seers=[])
    assert registry.register(whole, distribution="whole"), registry.broken


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"key": "Two words"}, "key must be one lower-case word. Got 'Two words' instead."),
        ({"name": "Seer"}, "name must be lower-case words. Got 'Seer' instead."),
        (
            {"hook": "register_seers"},
            "hook must begin with 'anonloom_register_'. Got 'register_seers' instead.",
        ),
        ({"base": "acme"}, "base must read 'package.module:Class'. Got 'acme' instead."),
        ({"kit": "acme"}, "kit must read 'package.module:Class'. Got 'acme' instead."),
        (
            {"where": "anywhere"},
            "where must be a place (data, privacy, collect, stages.mechanism, stages.partitioner, "
            "stages.outliers, stages.generalizer, stages.sampler, audit, publish.integrity, "
            "publish.reporters, engine, section, parameter). Got 'anywhere' instead.",
        ),
    ],
)
def test_a_wrong_kind_is_refused_where_it_is_made(changes, message):
    with pytest.raises(ValueError) as caught:  # noqa: PT011  # the whole text is compared
        kind(**changes)
    assert message == str(caught.value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"base": "acme_nowhere:Seer"},
            "seer 'one' of acme 1.0 cannot be used: the base class of seers, acme_nowhere:Seer, "
            "cannot be imported\n    ModuleNotFoundError: No module named 'acme_nowhere'",
        ),
        (
            {"base": "json:Seer"},
            "seer 'one' of acme 1.0 cannot be used: the base class of seers, json:Seer, is no class",
        ),
        (
            {"base": "json:JSONDecoder"},
            "seer 'one' of acme 1.0 cannot be used: the base class of seers, json:JSONDecoder, "
            "does not fit its place in a pipeline, 'section'\n"
            "    it must derive from anonloom.kinds.SectionMethod",
        ),
    ],
)
def test_a_base_that_cannot_be_used(changes, message):
    registry = Registry.empty()
    one = Method(name="one", target="json:JSONEncoder", summary="One.")
    module = plugin(anonloom_register_kinds=[kind(**changes)], anonloom_register_seers=[one])
    assert registry.register(module, distribution="acme", version="1.0")
    with pytest.raises(PluginError) as caught:
        registry.load("seer", "one")
    assert message == str(caught.value)


@pytest.mark.parametrize(
    ("kit", "message"),
    [
        (
            "",
            "seers cannot be checked: the kind 'seer' of acme 1.0 names no kit\n"
            "    ask its author for a conformance class, which Kind(kit=...) names",
        ),
        (
            "acme_kit.seer:SeerConformance",
            "seers cannot be checked: their kit, acme_kit.seer:SeerConformance, is not installed\n"
            "    pip install acme-kit",
        ),
        (
            "json.seer:SeerConformance",
            "seers cannot be checked: their kit, json.seer:SeerConformance, cannot be imported\n"
            "    ModuleNotFoundError: No module named 'json.seer'",
        ),
        (
            "json:SeerConformance",
            "seers cannot be checked: their kit, json:SeerConformance, is no class",
        ),
    ],
)
def test_a_kit_that_is_missing(kit, message):
    registry = Registry.empty()
    module = plugin(anonloom_register_kinds=[kind(kit=kit)])
    assert registry.register(module, distribution="acme", version="1.0")
    with pytest.raises(PluginError) as caught:
        registry.kit("seer")
    assert message == str(caught.value)


def test_a_method_in_the_wrong_place_is_told_where_it_belongs(registry, tmp_path):
    file = pipeline(tmp_path, "stages: [{notary: row-count}]")
    with pytest.raises(SpecError) as caught:
        load_pipeline(file, registry)
    (problem,) = caught.value.problems
    assert ("a notary is no stage", "it belongs under 'notary'") == (problem.what, problem.hint)
