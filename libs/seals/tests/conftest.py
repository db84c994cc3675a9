"""What several tests of the library share."""

import importlib.util
import sys
from pathlib import Path

_NAME = "proofs_toys"

# Tests are no package: the toys are made importable under a name of their own.
if _NAME not in sys.modules:
    _file = Path(__file__).with_name("toys.py")
    _spec = importlib.util.spec_from_file_location(_NAME, _file)
    sys.modules[_NAME] = importlib.util.module_from_spec(_spec)
    _spec.loader.exec_module(sys.modules[_NAME])
