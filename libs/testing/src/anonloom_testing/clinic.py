"""A small clinic to publish with toy methods: fixtures for tests of runs and commands.

A `conftest.py` imports those that it needs.
"""

import textwrap
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from anonloom import Finding, Pipeline, Registry, Schema, StageContext, Table
from anonloom_tables import Csv
from anonloom_testing.toy_registry import toy_registry

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

    def __init__(self, folder: Path, registry: Registry) -> None:
        self.folder = folder
        self.registry = registry
        CLINIC.to_csv(folder / "clinic.csv", index=False)
        self.write(BASE)

    @property
    def file(self) -> Path:
        """The pipeline."""
        return self.folder / "pipeline.yaml"

    @property
    def out(self) -> Path:
        """Where it publishes to."""
        return self.folder / "out"

    def write(self, text: str) -> None:
        """Replace the pipeline."""
        self.file.write_text(textwrap.dedent(text))

    def change(self, old: str, new: str) -> None:
        """Replace a part of the pipeline, which must be there."""
        text = self.file.read_text()
        assert old in text
        self.file.write_text(text.replace(old, new))

    def pipeline(self, *settings: Any) -> Pipeline:
        """Load the pipeline."""
        return Pipeline.load(self.file, settings=settings, registry=self.registry)

    def file_names(self) -> list[str]:
        """Names of all that is in the folder, hidden files included."""
        return sorted(path.name for path in self.folder.iterdir())


def public_bytes(folder: Path) -> bytes:
    """All that others may see of an output: names of files, and their bytes."""
    private = list(folder.rglob("private"))
    seen = [
        path
        for path in folder.rglob("*")
        if not any(path.is_relative_to(hidden) for hidden in private)
    ]
    names = b"\n".join(str(path.relative_to(folder)).encode() for path in seen)
    return names + b"\n".join(path.read_bytes() for path in seen if path.is_file())


@pytest.fixture
def registry() -> Registry:
    """Core's own methods and the toys."""
    return toy_registry()


@pytest.fixture
def clinic(tmp_path: Path, registry: Registry) -> Clinic:
    """A clinic of twelve patients, whose pipeline publishes."""
    return Clinic(tmp_path, registry)


@pytest.fixture
def simulated_clinic(clinic: Clinic, monkeypatch: pytest.MonkeyPatch) -> Clinic:
    """The clinic, whose source has a finding: that its rows are simulated."""
    load = Csv.load

    def load_with_finding(self: Csv, schema: Schema, context: StageContext) -> Table:
        context.find(Finding(name="simulated", value=1, meaning="Rows are simulated."))
        return load(self, schema, context)

    monkeypatch.setattr(Csv, "load", load_with_finding)
    return clinic


@pytest.fixture
def shop(clinic: Clinic, registry: Registry, monkeypatch: pytest.MonkeyPatch) -> Clinic:
    """The clinic, with the toys as everything that is installed."""
    monkeypatch.setattr(Registry, "_environment", registry)
    monkeypatch.chdir(clinic.folder)
    return clinic
