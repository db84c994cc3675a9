"""What several tests of the library share."""

import importlib.util
import sys
from pathlib import Path

# Tests are no package: the transport that they drive is made importable under a name of its own.
_spec = importlib.util.spec_from_file_location("rounds_plain", Path(__file__).with_name("plain.py"))
_module = importlib.util.module_from_spec(_spec)
sys.modules["rounds_plain"] = _module
_spec.loader.exec_module(_module)
