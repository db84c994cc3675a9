"""A method that breaks its contract ends an experiment, and its table is not written."""

import subprocess
import sys

import pytest

from anonloom_cli import main
from anonloom_testing.leaving_methods import LEAVING, bug_message


@pytest.mark.parametrize("word", ["summarize", "write_grid"])
def test_an_experiment_ends_with_1_and_goes_on_when_the_plugin_is_mended(acme_shop, capsys, word):
    kind = {"summarize": "auditor", "write_grid": "reporter"}[word]
    acme_shop.change("seed: 7\n", "vary:\n  seed: [1, 2]\n")
    LEAVING[kind, word] = SystemExit(0)
    assert 1 == main(["run", "pipeline.yaml", "--quiet"])
    assert f"anonloom: {bug_message(kind)}\n" == capsys.readouterr().err
    assert not (acme_shop.out / "public" / "grid.json").exists()
    LEAVING.clear()
    assert 0 == main(["run", "pipeline.yaml", "--quiet"])


def test_a_run_of_an_experiment_that_a_method_ends_is_no_result(acme_shop, capsys):
    acme_shop.change("seed: 7\n", "vary:\n  seed: [1, 2]\n")
    LEAVING["auditor", "audit"] = SystemExit(0)
    assert 1 == main(["run", "pipeline.yaml", "--quiet"])
    assert f"anonloom: {bug_message('auditor')}\n" == capsys.readouterr().err
    assert ([], []) == (
        list((acme_shop.out / "private" / "results").iterdir()),
        list((acme_shop.out / "runs").iterdir()),
    )


def test_in_a_worker_of_jobs_it_is_the_same(tmp_path, clinic):
    """A fresh process: its workers find the plugin by themselves, as local code."""
    (tmp_path / "quits.py").write_text(
        "import sys\n"
        "from anonloom.findings import Findings\n"
        "from anonloom.kinds._auditor import Auditor\n"
        "import attrs\n\n"
        "@attrs.frozen\n"
        "class Quits(Auditor):\n"
        '    measures = "utility"\n\n'
        "    def audit(self, case, run):\n"
        "        sys.exit(0)\n"
    )
    clinic.write(
        """
        version: 1
        name: clinic
        data:
          source: csv
          with: {path: clinic.csv}
          columns: {sex: {role: other}}
        privacy: none
        audit:
          - ./quits.py:Quits
        publish: {to: out, reporters: []}
        vary: {seed: [1, 2]}
        """
    )
    options = ("--quiet", "--allow-local-code")
    answer = subprocess.run(
        (sys.executable, "-m", "anonloom", "run", "pipeline.yaml", "--jobs", "2", *options),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    bug = f"auditor 'quits' of quits.py: SystemExit in {tmp_path / 'quits.py'}:11"
    assert (1, "", f"anonloom: this is a bug of {bug}\n") == (
        answer.returncode,
        answer.stdout,
        answer.stderr,
    )
