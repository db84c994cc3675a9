"""What a source found out stands in the report: which of two tables it read, for example."""

import json

import pytest

from anonloom import Finding, Registry
from anonloom._cli import main
from anonloom._run.grid import Recipe, run_grid
from anonloom._run.reporting import parts
from anonloom.sources import Csv


@pytest.fixture
def noticed(clinic, monkeypatch):
    """The clinic, whose source has something to say."""
    load = Csv.load

    def said(self, schema, run):
        run.find(Finding(name="simulated", value=1, meaning="Rows are simulated."))
        return load(self, schema, run)

    monkeypatch.setattr(Csv, "load", said)
    return clinic


def test_findings_of_the_source_are_in_report_and_text(noticed):
    outcome = noticed.pipeline().publish()
    source = outcome.report["source"]
    assert ("source", "csv") == (source["id"], source["method"])
    assert [("simulated", 1)] == [(f["name"], f["value"]) for f in source["findings"]]
    public = noticed.out / "public"
    assert source == json.loads((public / "report.json").read_text())["source"]
    assert "  source.simulated: 1\n" in (public / "report.txt").read_text()


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


def test_a_report_of_an_earlier_version_says_nothing_of_its_source(noticed):
    report = noticed.pipeline().publish().report
    ids = [part["id"] for part in parts(report)]
    del report["source"]
    assert ids == ["source", *(part["id"] for part in parts(report))]
