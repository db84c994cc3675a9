"""What several tests across packages share."""

import importlib.util
import sys
from pathlib import Path

_NAME = "donations"

# Tests are no package: the studies that they play are made importable under a name of their own.
if _NAME not in sys.modules:
    _spec = importlib.util.spec_from_file_location(_NAME, Path(__file__).with_name("donations.py"))
    sys.modules[_NAME] = importlib.util.module_from_spec(_spec)
    _spec.loader.exec_module(sys.modules[_NAME])
