"""The clinic and the toy methods of core's own tests, with this package installed beside them."""

import importlib.util
from pathlib import Path

import pytest

from anonloom_experiments import plugin

_CORE = Path(__file__).resolve().parents[4] / "core" / "tests" / "run" / "conftest.py"
_SPEC = importlib.util.spec_from_file_location("anonloom_core_run_tests", _CORE)
core = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(core)

clinic = core.clinic


@pytest.fixture
def registry():
    """Core's own methods, the toys, and this package."""
    registry = core.make_registry()
    registry.register(plugin, distribution="anonloom-experiments", version="0.1.0")
    assert registry.broken == ()
    return registry
