"""What several tests of the library share."""

import importlib.util
import sys
import textwrap
from pathlib import Path

import importlib_metadata
import pytest

from anonloom import Pipeline, Registry

# Tests are no package: their helpers are made importable under names of their own.
for _name, _file in (("proofs_toys", "toys.py"), ("seals_clinic_toys", "clinic_toys.py")):
    if _name not in sys.modules:
        _spec = importlib.util.spec_from_file_location(_name, Path(__file__).with_name(_file))
        sys.modules[_name] = importlib.util.module_from_spec(_spec)
        _spec.loader.exec_module(sys.modules[_name])


@pytest.fixture
def registry():
    """Core, files, the runner, this library and the toys, as if nothing else were installed."""
    registry = Registry.empty()
    points = importlib_metadata.entry_points(group="anonloom")
    ours = ("anonloom-core", "anonloom-tables", "anonloom-runner", "anonloom-seals")
    registry.discover(point for point in points if point.dist.name in ours)
    registry.register(sys.modules["seals_clinic_toys"], distribution="acme", version="2.0")
    assert registry.broken == ()
    return registry


CLINIC = """\
age,sex,illness
31,f,flu
22,m,cold
45,f,flu
27,m,cold
"""

PIPELINE = """
version: 1
name: clinic
data:
  source: csv
  with: {path: clinic.csv}
  columns:
    age: {role: quasi, type: number}
    sex: {role: quasi}
    illness: {role: sensitive}
privacy: none
stages:
  - mechanism: keep
publish:
  to: out
"""


class Clinic:
    """A folder with data and a pipeline."""

    def __init__(self, folder, registry):
        self.folder = folder
        self.registry = registry
        (folder / "clinic.csv").write_text(CLINIC)
        self.file.write_text(textwrap.dedent(PIPELINE))

    @property
    def file(self):
        return self.folder / "pipeline.yaml"

    @property
    def out(self):
        return self.folder / "out"

    def pipeline(self, *settings):
        return Pipeline.load(self.file, settings=settings, registry=self.registry)

    def left(self):
        """Names of all that is in the folder, hidden files included."""
        return sorted(path.name for path in self.folder.iterdir())


@pytest.fixture
def clinic(tmp_path, registry):
    """A clinic of four patients, whose pipeline publishes."""
    return Clinic(tmp_path, registry)
