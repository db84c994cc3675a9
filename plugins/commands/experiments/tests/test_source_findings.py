"""Findings of the source are compared, and are figures of an experiment."""

from anonloom import Registry
from anonloom_cli import main
from anonloom_experiments import Recipe, run_grid


def test_findings_of_the_source_are_compared(simulated_clinic, registry, monkeypatch, capsys):
    monkeypatch.setattr(Registry, "_environment", registry)
    monkeypatch.chdir(simulated_clinic.folder)
    assert 0 == main(["run", "pipeline.yaml", "--quiet", "--to", "one"])
    assert 0 == main(["run", "pipeline.yaml", "--quiet", "--to", "two"])
    capsys.readouterr()
    assert 0 == main(["compare", "one", "two"])
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["source.simulated", "1", "1"] in lines


def test_findings_of_the_source_are_figures_of_an_experiment(simulated_clinic):
    simulated_clinic.file.write_text(
        simulated_clinic.file.read_text() + "vary:\n  privacy.size.k: [2, 3]\n"
    )
    report = run_grid(
        Recipe(simulated_clinic.file), simulated_clinic.registry, simulated_clinic.out
    )
    assert [1, 1] == [run["findings"]["source.simulated"] for run in report["runs"]]
