"""What several tests across packages share."""

import importlib.util
import sys
from pathlib import Path

# Tests are no package: the studies that they play, and those who deviate in them, are made
# importable under names of their own.
for _name in ("donations", "donation_adversaries", "donation_storage_attack"):
    if _name not in sys.modules:
        _path = Path(__file__).with_name(f"{_name}.py")
        _spec = importlib.util.spec_from_file_location(_name, _path)
        sys.modules[_name] = importlib.util.module_from_spec(_spec)
        _spec.loader.exec_module(sys.modules[_name])
