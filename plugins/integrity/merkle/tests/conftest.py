"""What several tests of the tree share."""

import importlib.util
import sys
from pathlib import Path

_NAME = "merkle_second_implementation"

# Tests are no package: the second implementation is made importable under a name of its own.
if _NAME not in sys.modules:
    _file = Path(__file__).with_name("second_implementation.py")
    _spec = importlib.util.spec_from_file_location(_NAME, _file)
    sys.modules[_NAME] = importlib.util.module_from_spec(_spec)
    _spec.loader.exec_module(sys.modules[_NAME])
