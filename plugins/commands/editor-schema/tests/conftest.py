"""The toys of core's own tests, with this package installed beside them."""

import importlib.util
from pathlib import Path

import pytest

from anonloom_editor_schema import plugin

_CORE = Path(__file__).resolve().parents[4] / "core" / "tests" / "specs" / "conftest.py"
_SPEC = importlib.util.spec_from_file_location("anonloom_core_spec_tests", _CORE)
core = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(core)

folder, toys = core.folder, core.toys


def _with_this_package():
    registry = core._filled()
    assert registry.register(plugin, distribution="anonloom-editor-schema", version="0.1.0")
    return registry


@pytest.fixture
def registry():
    return _with_this_package()


@pytest.fixture(scope="session")
def shared_registry():
    """For tests that only read."""
    return _with_this_package()
