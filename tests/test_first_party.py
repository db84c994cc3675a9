"""Core can name the folder of every method of this repository that is not installed."""

import importlib.util
from pathlib import Path

from anonloom import Registry
from anonloom._registry.firstparty import FIRST_PARTY

PLUGINS = Path(__file__).parent.parent / "plugins"


def test_the_table_of_our_methods_is_that_of_the_tree():
    results = {}
    for file in sorted(PLUGINS.glob("*/*/src/*/plugin.py")):
        spec = importlib.util.spec_from_file_location(f"hooks_of_{file.parent.name}", file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        registry = Registry.empty()
        assert registry.register(module, distribution=file.parent.name), registry.broken
        folder = file.parents[2].relative_to(PLUGINS).as_posix()
        results |= {(entry.kind, entry.name): folder for entry in registry.entries}
    assert results == FIRST_PARTY
