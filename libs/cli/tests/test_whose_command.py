"""Whose command a word is: nobody becomes `anonloom verify` by being installed."""

import types

import pytest

from anonloom import Registry
from anonloom.api import API_VERSION, Command, KnownPlugin, hookimpl
from anonloom_cli import COMMANDS, main


def offering(*names):
    """A plugin that offers these commands."""
    commands = [Command(name=name, target="acme_commands", summary=f"{name} it") for name in names]
    plugin = types.SimpleNamespace(ANONLOOM_API=API_VERSION)
    plugin.anonloom_register_commands = hookimpl(lambda: commands)
    return plugin


def knowing(name, distribution):
    """A catalogue that knows a command as one package's."""
    known = KnownPlugin(
        distribution=distribution,
        install=f"pip install {distribution}",
        methods=[("anonloom_register_commands", name)],
    )
    plugin = types.SimpleNamespace(ANONLOOM_API=API_VERSION)
    plugin.anonloom_register_known_plugins = hookimpl(lambda: [known])
    return plugin


@pytest.fixture
def installed(registry, monkeypatch):
    """Install plugins in the registry that commands look into."""
    monkeypatch.setattr(Registry, "_environment", registry)

    def install(plugin, distribution):
        assert registry.register(plugin, distribution=distribution, version="1.0")

    return install


@pytest.fixture
def ran(monkeypatch):
    """Whose command was run, instead of running it."""
    labels = []
    monkeypatch.setattr(
        "anonloom_cli.foreign.run_foreign", lambda whose, *_: labels.append(whose) or 0
    )
    return labels


def test_a_command_that_one_plugin_offers_runs(installed, ran):
    installed(offering("weave"), "acme")
    assert 0 == main(["weave"])
    assert ["command 'weave' of acme 1.0"] == ran


@pytest.mark.parametrize("name", COMMANDS)
def test_no_plugin_takes_a_command_of_ours(installed, ran, name):
    installed(offering(name), "acme")
    assert 0 == main([name, "--help"])
    assert [] == ran


def test_a_command_that_two_plugins_offer_is_refused(installed, ran, capsys):
    installed(offering("weave"), "acme")
    installed(offering("weave"), "zeta")
    assert 2 == main(["weave"])
    expected = (
        "anonloom: the command 'weave' is claimed by acme and zeta\n"
        "    uninstall all but one of them\n"
    )
    assert (expected, []) == (capsys.readouterr().err, ran)


def test_a_known_command_is_its_package_s_and_nobody_else_s(installed, ran, capsys):
    installed(knowing("seal-off", "acme-seals"), "acme-catalogue")
    installed(offering("seal-off"), "zeta")
    assert 2 == main(["seal-off"])
    expected = (
        "anonloom: the command 'seal-off' is part of acme-seals, which is not installed\n"
        "    pip install acme-seals\n"
    )
    assert (expected, []) == (capsys.readouterr().err, ran)

    installed(offering("seal-off"), "acme-seals")
    assert 0 == main(["seal-off"])
    assert ["command 'seal-off' of acme-seals 1.0"] == ran


def test_a_plugin_that_claims_a_known_command_in_a_catalogue_of_its_own_gets_nothing(
    installed, ran, capsys
):
    installed(knowing("seal-off", "acme-seals"), "acme-catalogue")
    installed(offering("seal-off"), "acme-seals")
    installed(knowing("seal-off", "zeta"), "zeta-catalogue")
    installed(offering("seal-off"), "zeta")
    assert 2 == main(["seal-off"])
    expected = (
        "anonloom: the command 'seal-off' is claimed by acme-seals and zeta\n"
        "    uninstall all but one of them\n"
    )
    assert (expected, []) == (capsys.readouterr().err, ran)


def test_a_misspelt_command_is_guessed_from_all_that_are_there(installed, ran, capsys):
    installed(offering("weave"), "acme")
    assert 2 == main(["waeve"])
    expected = "anonloom: there is no command 'waeve'; did you mean 'weave'?\n"
    assert expected == capsys.readouterr().err
