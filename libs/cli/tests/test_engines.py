"""Which engine runs a pipeline, and what happens without one."""

import sys
import types

import attrs
import pytest

from anonloom import Engine, Pipeline, Registry
from anonloom._registry import builtin
from anonloom.api import API_VERSION, KnownPlugin, Method, hookimpl
from anonloom.errors import PluginError
from anonloom_cli import main
from anonloom_tables import plugin as tables
from anonloom_testing import toy_methods


@attrs.frozen
class Postponing(Engine):
    """Runs nothing."""

    def run(self, spec, registry, *, workers=None):
        return "later"

    def publish(self, spec, registry, *, to, replace=False, workers=None):
        sys.exit(0)


def offering(name, *, default):
    """A plugin with an engine."""
    sys.modules.setdefault("acme_engines", types.ModuleType("acme_engines"))
    sys.modules["acme_engines"].Postponing = Postponing
    method = Method(name=name, target="acme_engines:Postponing", summary="Later.", default=default)
    plugin = types.SimpleNamespace(ANONLOOM_API=API_VERSION)
    plugin.anonloom_register_engines = hookimpl(lambda: [method])
    return plugin


@pytest.fixture
def bare(clinic):
    """A registry with core's methods, files and the toys, and no engine."""
    registry = Registry.empty()
    for module in (builtin, toy_methods):
        assert registry.register(module, distribution="anonloom-core", version="0.1.0")
    assert registry.register(tables, distribution="anonloom-tables", version="0.1.0")
    clinic.registry = registry
    return registry


def test_without_an_engine_nothing_runs_and_the_package_that_brings_one_is_named(clinic, bare):
    with pytest.raises(PluginError) as caught:
        clinic.pipeline().run()
    expected = (
        "no engine is installed\n    `pip install anonloom` brings the one of Anonloom itself"
    )
    assert expected == str(caught.value)

    known = KnownPlugin(
        distribution="acme-engine",
        install="pip install acme-engine",
        methods=[("anonloom_register_engines", "postponing")],
    )
    catalogue = types.SimpleNamespace(ANONLOOM_API=API_VERSION)
    catalogue.anonloom_register_known_plugins = hookimpl(lambda: [known])
    assert bare.register(catalogue, distribution="acme-catalogue", version="1.0")
    with pytest.raises(PluginError) as caught:
        clinic.pipeline().run()
    assert "no engine is installed\n    pip install acme-engine" == str(caught.value)
    assert not clinic.out.exists()


def test_an_engine_of_a_plugin_runs_pipelines_if_it_is_the_only_one_that_offers_to(clinic, bare):
    assert bare.register(offering("unasked", default=False), distribution="acme", version="2.0")
    with pytest.raises(PluginError):
        clinic.pipeline().run()
    assert bare.register(offering("postponing", default=True), distribution="acme", version="2.0")
    assert "later" == clinic.pipeline().run()


def test_of_two_engines_that_offer_to_run_pipelines_none_does(clinic, registry):
    plugin = offering("postponing", default=True)
    assert registry.register(plugin, distribution="acme", version="2.0")
    expected = (
        "several engines want to be used where none is named: engine 'local' of anonloom-runner "
        "0.1.0, engine 'postponing' of acme 2.0\n    remove all but one of them"
    )
    for work in (Pipeline.run, Pipeline.publish):
        with pytest.raises(PluginError) as caught:
            work(clinic.pipeline())
        assert expected == str(caught.value)
    assert not clinic.out.exists()


def test_an_engine_that_exits_is_a_bug_of_it(clinic, bare, monkeypatch, capsys):
    assert bare.register(offering("postponing", default=True), distribution="acme", version="2.0")
    monkeypatch.setattr(Registry, "_environment", bare)
    monkeypatch.chdir(clinic.folder)
    assert 1 == main(["run", "pipeline.yaml", "--quiet"])
    answer = capsys.readouterr()
    line = Postponing.publish.__wrapped__.__code__.co_firstlineno + 1
    expected = (
        "anonloom: this is a bug of engine 'postponing' of acme 2.0: SystemExit in "
        f"{__file__}:{line}\n"
    )
    assert ("", expected) == (answer.out, answer.err)
