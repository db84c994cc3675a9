"""A registry of toy methods, and a small clinic to publish."""

import importlib.util
import sys
import textwrap
from pathlib import Path

import pandas as pd
import pytest

import anonloom._registry.builtin
from anonloom import Pipeline, Registry


def _toys():
    """Import the toys under a name of their own, so that their targets can be found."""
    name = "anonloom_toy_methods"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(
            name, Path(__file__).with_name("toy_methods.py")
        )
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]


def make_registry():
    """Return a registry of core's own methods and the toys."""
    registry = Registry.empty()
    registry.register(anonloom._registry.builtin, distribution="anonloom-core", version="0.1.0")
    registry.register(_toys(), distribution="anonloom-core", version="0.1.0")
    assert registry.broken == ()
    return registry


@pytest.fixture
def registry():
    """Core's own methods and the toys."""
    return make_registry()


CLINIC = pd.DataFrame(
    {
        "name": [f"person {index}" for index in range(12)],
        "age": [31, 22, 45, 27, 38, 52, 60, 41, 33, 29, 57, 48],
        "sex": list("fmfmffmmfmfm"),
        "illness": ["flu", "cold"] * 6,
        "bill": [100, 200, 150, 120, 80, 310, 90, 70, 65, 230, 180, 40],
    }
)

BASE = """
version: 1
name: clinic
seed: 7
data:
  source: csv
  with: {path: clinic.csv}
  columns:
    age: {role: quasi, type: number}
    sex: {role: quasi}
    illness: {role: sensitive}
    bill: {role: other}
privacy:
  - size: {k: 3}
stages:
  - partitioner: runs
  - generalizer: as-declared
audit:
  - counting
publish:
  to: out
"""


class Clinic:
    """A folder with data and a pipeline that tests change."""

    def __init__(self, folder, registry):
        self.folder = folder
        self.registry = registry
        CLINIC.to_csv(folder / "clinic.csv", index=False)
        self.write(BASE)

    @property
    def file(self):
        return self.folder / "pipeline.yaml"

    @property
    def out(self):
        return self.folder / "out"

    def write(self, text):
        self.file.write_text(textwrap.dedent(text))

    def change(self, old, new):
        text = self.file.read_text()
        assert old in text
        self.file.write_text(text.replace(old, new))

    def pipeline(self, *settings):
        return Pipeline.load(self.file, settings=settings, registry=self.registry)

    def left(self):
        """Names of all that is in the folder, hidden files included."""
        return sorted(path.name for path in self.folder.iterdir())


@pytest.fixture
def clinic(tmp_path, registry):
    """A clinic of twelve patients, whose pipeline publishes."""
    return Clinic(tmp_path, registry)
