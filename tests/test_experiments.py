"""Experiments with the real plugins: parallel runs, interruptions, identical bytes."""

import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"

VARY = """
vary:
  privacy.k-anonymity.k: [3, 5]
  stages.partitioner.cut: [widest, best-loss]
"""


@pytest.fixture
def experiment(tmp_path):
    """The quickstart as an experiment of four runs."""
    shutil.copytree(EXAMPLES / "data", tmp_path / "data")
    shutil.copytree(EXAMPLES / "hierarchies", tmp_path / "hierarchies")
    text = (EXAMPLES / "quickstart.yaml").read_text()
    (tmp_path / "experiment.yaml").write_text("seed: 5\n" + text + VARY)
    return tmp_path


def command(folder, *words):
    return [sys.executable, "-m", "anonloom", "run", "experiment.yaml", "--to", folder, *words]


def releases(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.glob("runs/*/public/release.*"))
    }


@pytest.mark.long
def test_the_same_seed_gives_the_same_bytes_however_many_jobs(experiment):
    formats = ("--set", "publish.formats=[csv, parquet]", "--quiet")
    for jobs in ("1", "2"):
        subprocess.run(command(f"out{jobs}", "--jobs", jobs, *formats), cwd=experiment, check=True)

    one, two = releases(experiment / "out1"), releases(experiment / "out2")
    assert 8 == len(one)
    assert one == two
    assert 4 == len({content for name, content in one.items() if name.endswith(".csv")})


def test_an_interrupted_parallel_experiment_goes_on_where_it_stopped(experiment):
    with subprocess.Popen(
        command("out", "--jobs", "2"),
        cwd=experiment,
        stderr=subprocess.PIPE,
        text=True,
        # Shells start background jobs with SIGINT ignored, which children inherit.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        results = experiment / "out" / "private" / "results"
        while not list(results.glob("*.json")):
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        errors = process.stderr.read()
        process.wait()
    assert process.returncode in (0, 130), errors
    before = {path.name for path in results.glob("*.json")}
    if process.returncode == 130:
        assert not (experiment / "out" / "public" / "grid.json").exists()
        assert not list((experiment / "out" / "runs").glob(".*"))
        again = subprocess.run(
            command("out"), cwd=experiment, check=True, capture_output=True, text=True
        )
        assert again.stderr.count("done before") == len(before)

    table = pd.read_csv(experiment / "out" / "public" / "grid.csv")
    assert ["published"] * 4 == table["status"].tolist()
    assert [3, 3, 5, 5] == table["privacy.k-anonymity.k"].tolist()


def test_the_page_of_an_experiment_is_written(experiment):
    subprocess.run(command("out", "--quiet"), cwd=experiment, check=True)

    page = (experiment / "out" / "public" / "grid.html").read_text(encoding="utf-8")
    assert "stages.partitioner.cut" in page
    report = json.loads((experiment / "out" / "public" / "grid.json").read_text())
    assert 4 == len(report["runs"])
