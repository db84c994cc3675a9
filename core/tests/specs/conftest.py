"""A registry of core's own methods, of files and of toys: no test depends on another plugin."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from anonloom import Registry
from anonloom._registry import builtin
from anonloom_tables import plugin as tables

HERE = Path(__file__).parent


def _toys() -> ModuleType:
    # Tests are no package: the toys get a name under which their targets can be imported.
    name = "anonloom_toys"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, HERE / "toys.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]


@pytest.fixture
def toys() -> ModuleType:
    return _toys()


@pytest.fixture
def registry() -> Registry:
    return _filled()


@pytest.fixture(scope="session")
def shared_registry() -> Registry:
    """For tests that only read."""
    return _filled()


def _filled() -> Registry:
    registry = Registry.empty()
    assert registry.register(builtin, distribution="anonloom-core", version="0.1.0")
    assert registry.register(tables, distribution="anonloom-tables", version="0.1.0")
    assert registry.register(_toys(), distribution="anonloom-toys", version="1.0")
    return registry


@pytest.fixture
def folder() -> Path:
    return HERE
