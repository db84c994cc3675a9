"""The script runs an experiment, draws it, and draws it again without running it."""

from pathlib import Path

import yaml

from anonloom.errors import UsageError
from anonloom_cli import main as anonloom_main
from papers.anonify.__main__ import main
from papers.anonify.claim_checks import ARX
from papers.anonify.experiment import CURATOR, PROTOCOL

EXPERIMENT = """
version: 1
name: small
seed: 1
data:
  source: diabetes
  with: {rows: 200, which: simulated, seed: 1}
  columns:
    age: {role: quasi, type: number}
    diabetes: {role: label}
privacy:
  - k-anonymity: {k: 10}
stages:
  - partitioner: mondrian
  - generalizer: hierarchy
publish: {to: out}
"""
VARIED = """
vary:
  - {label: "mondrian, k = 10", set: {privacy.k-anonymity.k: 10}}
  - {label: "mondrian, k = 20", set: {privacy.k-anonymity.k: 20}}
"""


def test_one_script_runs_the_experiment_and_draws_it_and_draws_it_again(tmp_path, capsys):
    file = tmp_path / "small.yaml"
    file.write_text(EXPERIMENT + VARIED, encoding="utf-8")
    assert 0 == main([str(file)])
    first = capsys.readouterr()
    assert "[2/2] mondrian, k = 20: published\n" in first.err
    assert (
        "On simulated persons: 1 of 23 claims hold, 0 do not, 22 cannot be compared." in first.out
    )
    page = tmp_path / "out/public/figures/grid.html"
    assert "Figure 6: NCP and k" in page.read_text(encoding="utf-8")
    assert "simulated persons" in page.read_text(encoding="utf-8")

    page.unlink()
    assert 0 == main([str(file)])
    assert f"'{tmp_path / 'out'}' is finished; --replace runs it again\n" == capsys.readouterr().err
    assert page.is_file()


def test_a_pipeline_that_is_no_experiment_is_refused(tmp_path, capsys):
    file = tmp_path / "small.yaml"
    file.write_text(EXPERIMENT, encoding="utf-8")
    assert UsageError.exit_code == main([str(file)])
    assert f"anonloom: '{file}' is no experiment\n" in capsys.readouterr().err
    assert 2 == main([str(file), "--jobs", "0"])
    assert "--jobs must be at least 1. Got 0 instead." in capsys.readouterr().err


def test_the_papers_experiment_has_all_its_runs():
    file = Path(__file__).parents[3] / "examples/anonify-diabetes.yaml"
    assert 0 == anonloom_main(["check", str(file)])
    cases = {case["label"]: case["set"] for case in yaml.safe_load(file.read_text())["vary"]}
    methods = {
        "mondrian": "mondrian",
        "OKA": "one-pass-kmeans",
        "full-domain": "full-domain",
        "local-recoding": "local-recoding",
        "level-order": "level-order",
    }
    losses = {
        f"{name}, k = {k}": {
            "stages.partitioner": method,
            "privacy.k-anonymity.k": k,
            "audit": [],
        }
        for name, method in methods.items()
        for k in range(50, 501, 50)
    }
    # One more than a class of the paper's k has after sampling: all then need the same classes.
    kept = {90: 226, 70: 176, 50: 126, 30: 76}
    needed = {
        share: next(n for n in range(999) if -(-share * n // 100) >= k) for share, k in kept.items()
    }
    assert {251} == set(needed.values())
    samples = {
        f"{share} % sampled, run {run}": {
            "stages.sampler.share": share / 100,
            "privacy.k-anonymity.k": k,
            "seed": run,
        }
        for share, k in kept.items()
        for run in range(1, 6)
    }
    expected = {**losses, **samples}
    assert expected == {label: cases.get(label) for label in expected}
    assert {f"{ARX}, k = {k}" for k in range(50, 501, 50)} | {CURATOR, PROTOCOL} == (
        set(cases) - set(expected)
    )
