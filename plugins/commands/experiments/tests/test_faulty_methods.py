"""A method that breaks its contract ends an experiment, and its table is not written."""

import subprocess
import sys
import types

import attrs
import pytest

from anonloom import Registry
from anonloom.api import API_VERSION, ROLES, Method, hookimpl
from anonloom.sources import Csv
from anonloom_cli import main
from anonloom_testing import toy_methods

KINDS = Registry.empty().kinds


#: What leaves which entry; empty where all is well.
LEAVING: dict[tuple[str, str], BaseException] = {}


def leave(kind, entry):
    if (kind, entry) in LEAVING:
        raise LEAVING[kind, entry]


PLACE = f"{__file__}:{leave.__code__.co_firstlineno + 2}"


def leaver(kind, base):
    """A class like `base`, every entry of which can be left."""
    body = {}
    public = [name for name in dir(base) if not name.startswith("_")]
    for name in (*public, "__attrs_post_init__"):
        entry = getattr(base, name, None)
        if isinstance(entry, property):
            body[name] = property(_leaving(kind, name, entry.fget))
        elif isinstance(entry, types.FunctionType) or name == "__attrs_post_init__":
            body[name] = _leaving(kind, name, entry)
    return attrs.frozen(kw_only=True)(type(f"Leaving{base.__name__}", (base,), body))


def _leaving(kind, name, inside):
    def entry(self, *args, **options):
        leave(kind, name)
        return inside(self, *args, **options) if inside is not None else None

    return entry


@pytest.fixture
def acme(registry, monkeypatch):
    """A plugin with a method of every kind of a pipeline, each made of a toy."""
    monkeypatch.setattr(sys.modules[__name__], "LEAVING", {})
    monkeypatch.setitem(sys.modules, "acme_methods", types.ModuleType("acme_methods"))
    toys = toy_methods
    plugin = types.SimpleNamespace(ANONLOOM_API=API_VERSION)
    made = {
        "source": Csv,
        "mechanism": toys.AddOne,
        "partitioner": toys.Runs,
        "outliers": toys.FirstOut,
        "generalizer": toys.AsDeclared,
        "sampler": toys.FirstHalf,
        "privacy": toys.SizeAtLeast,
        "collector": toys.Courier,
        "auditor": toys.RowCounter,
        "integrity": toys.Stamp,
        "reporter": toys.Note,
    }
    for kind, base in made.items():
        cls = leaver(kind, base)
        cls.__module__ = "acme_methods"
        setattr(sys.modules["acme_methods"], cls.__name__, cls)
        target = f"acme_methods:{cls.__name__}"
        method = Method(name=f"acme-{kind}", target=target, summary="Leaves.", reads=ROLES)
        setattr(plugin, KINDS[kind].hook, hookimpl(lambda method=method: [method]))
    assert registry.register(plugin, distribution="acme", version="2.0"), registry.broken
    monkeypatch.setattr(Registry, "_environment", registry)
    return plugin


PIPELINE = """
version: 1
name: clinic
seed: 7
data:
  source: acme-source
  with: {path: clinic.csv}
  columns:
    age: {role: quasi, type: number}
    sex: {role: quasi}
    illness: {role: sensitive}
privacy:
  - acme-privacy: {k: 1}
suppression: {at_most: 1}
collect: {collector: acme-collector}
stages:
  - mechanism: acme-mechanism
  - partitioner: acme-partitioner
  - outliers: acme-outliers
  - generalizer: acme-generalizer
  - sampler: acme-sampler
audit:
  - auditor: acme-auditor
publish:
  to: out
  integrity: acme-integrity
  reporters: [acme-reporter]
"""


@pytest.fixture
def shop(clinic, acme, monkeypatch):
    """The clinic, published by methods of the plugin alone."""
    clinic.write(PIPELINE)
    monkeypatch.chdir(clinic.folder)
    return clinic


def told(kind, error="SystemExit"):
    return f"this is a bug of {KINDS[kind].name} 'acme-{kind}' of acme 2.0: {error} in {PLACE}"


@pytest.mark.parametrize("word", ["summarize", "write_grid"])
def test_an_experiment_ends_with_1_and_goes_on_when_the_plugin_is_mended(shop, capsys, word):
    kind = {"summarize": "auditor", "write_grid": "reporter"}[word]
    shop.change("seed: 7\n", "vary:\n  seed: [1, 2]\n")
    LEAVING[kind, word] = SystemExit(0)
    assert 1 == main(["run", "pipeline.yaml", "--quiet"])
    assert f"anonloom: {told(kind)}\n" == capsys.readouterr().err
    assert not (shop.out / "public" / "grid.json").exists()
    LEAVING.clear()
    assert 0 == main(["run", "pipeline.yaml", "--quiet"])


def test_a_run_of_an_experiment_that_a_method_ends_is_no_result(shop, capsys):
    shop.change("seed: 7\n", "vary:\n  seed: [1, 2]\n")
    LEAVING["auditor", "audit"] = SystemExit(0)
    assert 1 == main(["run", "pipeline.yaml", "--quiet"])
    assert f"anonloom: {told('auditor')}\n" == capsys.readouterr().err
    assert ([], []) == (
        list((shop.out / "private" / "results").iterdir()),
        list((shop.out / "runs").iterdir()),
    )


def test_in_a_worker_of_jobs_it_is_the_same(tmp_path, clinic):
    """A fresh process: its workers find the plugin by themselves, as local code."""
    (tmp_path / "quits.py").write_text(
        "import sys\n"
        "from anonloom.findings import Findings\n"
        "from anonloom.kinds._auditor import Auditor\n"
        "import attrs\n\n"
        "@attrs.frozen\n"
        "class Quits(Auditor):\n"
        '    measures = "utility"\n\n'
        "    def audit(self, case, run):\n"
        "        sys.exit(0)\n"
    )
    clinic.write(
        """
        version: 1
        name: clinic
        data:
          source: csv
          with: {path: clinic.csv}
          columns: {sex: {role: other}}
        privacy: none
        audit:
          - ./quits.py:Quits
        publish: {to: out, reporters: []}
        vary: {seed: [1, 2]}
        """
    )
    options = ("--quiet", "--allow-local-code")
    answer = subprocess.run(
        (sys.executable, "-m", "anonloom", "run", "pipeline.yaml", "--jobs", "2", *options),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    bug = f"auditor 'quits' of quits.py: SystemExit in {tmp_path / 'quits.py'}:11"
    assert (1, "", f"anonloom: this is a bug of {bug}\n") == (
        answer.returncode,
        answer.stdout,
        answer.stderr,
    )
