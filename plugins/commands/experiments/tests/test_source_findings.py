"""Findings of the source are compared, and are figures of an experiment."""

import pytest

from anonloom import Finding, Registry
from anonloom.sources import Csv
from anonloom_cli import main
from anonloom_experiments import Recipe, run_grid


@pytest.fixture
def noticed(clinic, monkeypatch):
    """The clinic, whose source has something to say."""
    load = Csv.load

    def said(self, schema, run):
        run.find(Finding(name="simulated", value=1, meaning="Rows are simulated."))
        return load(self, schema, run)

    monkeypatch.setattr(Csv, "load", said)
    return clinic


def test_findings_of_the_source_are_compared(noticed, registry, monkeypatch, capsys):
    monkeypatch.setattr(Registry, "_environment", registry)
    monkeypatch.chdir(noticed.folder)
    assert 0 == main(["run", "pipeline.yaml", "--quiet", "--to", "one"])
    assert 0 == main(["run", "pipeline.yaml", "--quiet", "--to", "two"])
    capsys.readouterr()
    assert 0 == main(["compare", "one", "two"])
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["source.simulated", "1", "1"] in lines


def test_findings_of_the_source_are_figures_of_an_experiment(noticed):
    noticed.file.write_text(noticed.file.read_text() + "vary:\n  privacy.size.k: [2, 3]\n")
    report = run_grid(Recipe(noticed.file), noticed.registry, noticed.out)
    assert [1, 1] == [run["findings"]["source.simulated"] for run in report["runs"]]
