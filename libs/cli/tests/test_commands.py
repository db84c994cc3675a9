"""The command `run`, as a user meets it."""

import os
import signal
import subprocess
import sys
import time
import types

import pytest

from anonloom.api import API_VERSION, Command, hookimpl
from anonloom_cli import main


def test_run_publishes_and_says_where(shop, capsys):
    assert 0 == main(["run", "pipeline.yaml"])

    printed = capsys.readouterr()
    assert (
        "clinic: 12 of 12 rows published\n"
        "  verdict: green\n"
        "  size (k: 3) holds in 3 classes\n"
        "  not covered: Columns that are published as they are: 'bill'.\n"
        "  not covered: Sensitive values of which no privacy model speaks: 'illness'. A group may "
        "share one.\n"
        "  not covered: What somebody knows besides the quasi-identifiers, and whether the roles of "
        "the columns were chosen rightly.\n"
        "  not covered: Other releases about the same persons: two of them can be intersected.\n"
        "  suppressed 0 rows (0.00%)\n"
    ) == printed.out[: printed.out.index("  loss")]
    assert printed.out.endswith("release: out/public\nreport: out/public/report.txt\n")
    assert "partitioner: 12 rows, 3 classes (0.0 s)\n" in printed.err


def test_one_class_is_said_in_the_singular(shop, capsys):
    assert 0 == main(["run", "pipeline.yaml", "--quiet", "--set", "privacy.size.k=12"])
    assert (
        "clinic: 12 of 12 rows published\n  verdict: green\n  size (k: 12) holds in 1 class\n"
        == (capsys.readouterr().out.partition("  not covered")[0])
    )


def test_quiet_shows_no_progress(shop, capsys):
    assert 0 == main(["run", "pipeline.yaml", "--quiet"])
    assert "" == capsys.readouterr().err


def test_a_dry_run_checks_everything_and_writes_nothing(shop, capsys):
    assert 0 == main(["run", "pipeline.yaml", "--dry-run", "--quiet"])
    assert capsys.readouterr().out.endswith("dry run: nothing was written\n")
    assert ["clinic.csv", "pipeline.yaml"] == shop.file_names()

    assert 3 == main(["run", "pipeline.yaml", "--dry-run", "--quiet", "--set", "privacy.size.k=13"])


def test_set_changes_a_value_for_one_run(shop, capsys):
    assert 0 == main(["run", "pipeline.yaml", "--quiet", "--set", "privacy.size.k=4"])
    assert "size (k: 4) holds in 3 classes" in capsys.readouterr().out


def test_a_refusal_exits_with_3(shop, capsys):
    code = main(["run", "pipeline.yaml", "--quiet", "--set", "privacy.size.k=13"])

    assert 3 == code
    assert (
        "anonloom: the whole table does not satisfy size: it has 12 usable rows, and k: 12 would "
        "pass\n    Nothing was written. No partition can satisfy what the whole table does not.\n"
        == capsys.readouterr().err
    )
    assert ["clinic.csv", "pipeline.yaml"] == shop.file_names()


def test_broken_data_exit_with_4(shop, capsys):
    (shop.folder / "clinic.csv").unlink()
    code = main(["run", "pipeline.yaml", "--quiet"])

    assert 4 == code
    assert "anonloom: clinic.csv: there is no such file\n" == capsys.readouterr().err
    assert ["pipeline.yaml"] == shop.file_names()


def test_jobs_must_be_positive(shop, capsys):
    assert 2 == main(["run", "pipeline.yaml", "--jobs", "0"])
    assert "anonloom: --jobs must be at least 1. Got 0 instead.\n" == capsys.readouterr().err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_in_the_middle_leaves_nothing_half_written(clinic, number):
    """In a process of its own, with a stage that waits to be interrupted."""
    clinic.write(
        """
        version: 1
        data:
          source: csv
          with: {path: clinic.csv}
          columns: {age: {role: quasi, type: number}}
        privacy: none
        stages:
          - mechanism: ./wait.py:Wait
        publish: {to: out, reporters: []}
        """
    )
    (clinic.folder / "wait.py").write_text(
        "import time\n"
        "import attrs\n"
        "from pathlib import Path\n"
        "from anonloom.kinds._mechanism import Mechanism\n"
        "@attrs.frozen(kw_only=True)\n"
        "class Wait(Mechanism):\n"
        "    def protect(self, table, run):\n"
        "        Path('waiting').touch()\n"
        "        time.sleep(60)\n"
    )
    command = [sys.executable, "-m", "anonloom", "run", "pipeline.yaml", "--quiet"]
    with subprocess.Popen(
        [*command, "--allow-local-code"],
        cwd=clinic.folder,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        # Shells start background jobs with SIGINT ignored, which children inherit.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        while not (clinic.folder / "waiting").exists():
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.01)
        process.send_signal(number)
        errors = process.stderr.read()

    assert (130, "anonloom: interrupted\n") == (process.returncode, errors)
    assert ["clinic.csv", "pipeline.yaml", "wait.py", "waiting"] == clinic.file_names()


def test_an_experiment_needs_a_package_that_runs_it(shop, capsys):
    shop.file.write_text(shop.file.read_text() + "vary: {privacy.size.k: [2, 3]}\n")
    assert 2 == main(["run", "pipeline.yaml", "--quiet"])
    assert (
        "anonloom: no installed package runs the experiments that 'vary' asks for\n"
        "    `pip install anonloom` brings the one of Anonloom itself\n"
    ) == capsys.readouterr().err
    assert not shop.out.exists()


def _runner(registry, monkeypatch, distribution, execute):
    """Register a package whose module runs experiments."""
    name = f"{distribution}_runner"
    monkeypatch.setitem(sys.modules, name, types.SimpleNamespace(execute=execute))
    command = Command(name="vary", target=name, summary="Runs.")
    plugin = types.SimpleNamespace(
        ANONLOOM_API=API_VERSION,
        anonloom_register_experiment_runners=hookimpl(lambda: [command]),
    )
    assert registry.register(plugin, distribution=distribution), registry.broken


def test_an_experiment_is_handed_to_the_package_that_runs_it(shop, registry, monkeypatch, capsys):
    shop.file.write_text(shop.file.read_text() + "vary: {privacy.size.k: [2, 3]}\n")
    calls = []

    def execute(arguments, pipeline):
        calls.append((arguments.file, [case.label for case in pipeline.spec.grid]))
        return 7

    _runner(registry, monkeypatch, "acme", execute)
    assert 7 == main(["run", "pipeline.yaml"])
    assert [("pipeline.yaml", ["privacy.size.k=2", "privacy.size.k=3"])] == calls

    _runner(registry, monkeypatch, "other", execute)
    assert 2 == main(["run", "pipeline.yaml"])
    assert (
        "anonloom: several packages run the experiments that 'vary' asks for: acme, other\n"
        "    remove all but one of them\n"
    ) == capsys.readouterr().err


@pytest.mark.parametrize(
    ("answer", "text"), [(None, "NoneType"), (256, "256")], ids=["nothing", "too large"]
)
def test_a_runner_that_returns_no_exit_code_is_no_success(
    shop, registry, monkeypatch, capsys, answer, text
):
    shop.file.write_text(shop.file.read_text() + "vary: {privacy.size.k: [2, 3]}\n")
    _runner(registry, monkeypatch, "acme", lambda arguments, pipeline: answer)
    assert 1 == main(["run", "pipeline.yaml"])
    assert (
        "anonloom: this is a bug of command 'vary' of acme: it must return an exit code, a number "
        f"from 0 to 255. Got {text} instead.\n"
    ) == capsys.readouterr().err
