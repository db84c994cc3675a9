"""The clinic and its toy methods, and results of attacks that tests of this folder share."""

import importlib.util
import sys
from pathlib import Path

from anonloom_testing.clinic import clinic, registry, simulated_clinic
from anonloom_testing.hospital import hospital

__all__ = ["clinic", "hospital", "registry", "simulated_clinic"]

spec = importlib.util.spec_from_file_location(
    "runner_attack_results", Path(__file__).with_name("attack_results.py")
)
module = importlib.util.module_from_spec(spec)
sys.modules["runner_attack_results"] = module
spec.loader.exec_module(module)
