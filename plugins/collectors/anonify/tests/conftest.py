"""What several tests of the collector share."""

import importlib.util
import sys
from pathlib import Path

_NAME = "anonify_play"

# Tests are no package: what they play with is made importable under a name of its own.
if _NAME not in sys.modules:
    _spec = importlib.util.spec_from_file_location(_NAME, Path(__file__).with_name("play.py"))
    sys.modules[_NAME] = importlib.util.module_from_spec(_spec)
    _spec.loader.exec_module(sys.modules[_NAME])
