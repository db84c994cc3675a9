"""Populations and toy mechanisms that the tests of this folder share."""

import importlib.util
import sys
from pathlib import Path

for name in ("population", "toy_mechanisms"):
    spec = importlib.util.spec_from_file_location(
        f"membership_{name}", Path(__file__).with_name(f"{name}.py")
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules[f"membership_{name}"] = module
    spec.loader.exec_module(module)
