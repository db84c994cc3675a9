"""Findings of the collection are compared, and are figures of an experiment."""

import pytest

from anonloom import Registry
from anonloom_cli import main
from anonloom_experiments import Recipe, run_grid


@pytest.fixture
def carried(clinic):
    """The clinic, whose rows are carried."""
    clinic.change("audit:\n", "collect: {collector: courier}\naudit:\n  - needs-trace\n")
    return clinic


def test_findings_of_the_collection_are_compared(carried, registry, monkeypatch, capsys):
    monkeypatch.setattr(Registry, "_environment", registry)
    monkeypatch.chdir(carried.folder)
    assert 0 == main(["run", "pipeline.yaml", "--quiet", "--to", "one"])
    assert 0 == main(["run", "pipeline.yaml", "--quiet", "--to", "two"])
    capsys.readouterr()
    assert 0 == main(["compare", "one", "two"])
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["collector.carried", "12", "12"] in lines


def test_findings_of_the_collection_are_figures_of_an_experiment(carried):
    carried.file.write_text(carried.file.read_text() + "vary:\n  privacy.size.k: [2, 3]\n")
    report = run_grid(Recipe(carried.file), carried.registry, carried.out)
    assert [12, 12] == [run["findings"]["collector.carried"] for run in report["runs"]]
