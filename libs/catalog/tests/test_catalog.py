"""The catalogue is data that core can read, and costs nothing until a method is missing."""

import subprocess
import sys

from anonloom import Registry
from anonloom_catalog import known_plugins, plugin


def test_the_hook_gives_what_the_lists_hold():
    assert known_plugins() == plugin.anonloom_register_known_plugins()
    by_name = {known.distribution: known for known in known_plugins()}
    assert ("anonloom_register_partitioners", "mondrian") in by_name["anonloom-mondrian"].methods
    assert "pip install ./docs/tutorial/median-cut" == by_name["anonloom-median-cut"].install


def test_a_registry_reads_it_when_it_is_asked():
    registry = Registry.empty()
    assert registry.register(plugin, distribution="anonloom-catalog")
    assert tuple(known_plugins()) == registry.known_plugins() == registry.known_plugins()


def test_the_lists_are_not_read_before():
    code = "import sys; from anonloom import Registry; Registry.installed(); print('anonloom_catalog.plugin' in sys.modules, 'json' in sys.modules)"
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert "True False\n" == answer.stdout
