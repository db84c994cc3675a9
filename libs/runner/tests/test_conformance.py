"""The local engine keeps the promise of engines."""

from anonloom_runner.engine import LocalEngine
from anonloom_testing import EngineConformance


class TestLocalEngine(EngineConformance):
    method = LocalEngine
