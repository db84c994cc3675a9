"""Odd reports to compare, and a worker that is killed."""

import json

import pytest

from anonloom.files import MOST_NESTED
from anonloom_testing.commands import PLAIN, run_in_process

DEEP = "[" * 100_000


@pytest.mark.parametrize(
    "text",
    [DEEP, '{"summary": ' * (MOST_NESTED + 1) + "1" + "}" * (MOST_NESTED + 1), "\ufeff{}", "{} x"],
)
def test_compare_with_json_that_is_no_report(anonloom, shop, text):
    (shop.folder / "a").mkdir()
    (shop.folder / "a" / "report.json").write_text(text)
    expected = "anonloom: 'a/report.json' is no report of a run\n"
    assert (2, "", expected) == anonloom("compare", "a", "a")


DYING = """\
import os, pathlib, signal, attrs
from anonloom import Findings
from anonloom import Auditor

@attrs.frozen
class Dying(Auditor):
    measures = "utility"

    def audit(self, case, run):
        if pathlib.Path("deadly").exists() and run.seed == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        return Findings.of()
"""


def test_an_experiment_goes_on_after_a_worker_was_killed(clinic):
    (clinic.folder / "dying.py").write_text(DYING)
    (clinic.folder / "deadly").touch()
    clinic.write(PLAIN.replace("seed: 1", "vary: {seed: [1, 2]}") + "audit: [./dying.py:Dying]\n")
    words = ("run", "pipeline.yaml", "--allow-local-code", "--quiet", "--jobs", "2")
    answer = run_in_process(clinic.folder, *words)
    assert (
        2,
        "",
        "anonloom: a process of the experiment was killed, perhaps for want of memory\n"
        "    run again to go on, without --replace: runs that are done are kept; fewer --jobs need "
        "less memory\n",
    ) == (answer.returncode, answer.stdout, answer.stderr)
    (clinic.folder / "deadly").unlink()
    answer = run_in_process(clinic.folder, *words)
    assert (0, "2 of 2 runs published", "") == (
        answer.returncode,
        answer.stdout.splitlines()[0],
        answer.stderr,
    )


def test_compare_prints_no_lines_of_others(anonloom, shop):
    assert 0 == anonloom("run", "pipeline.yaml", "--quiet")[0]
    path = shop.out / "public" / "report.json"
    report = json.loads(path.read_text())
    report["summary"] = {"rows\x1b[2K": "12\nout: verified"}
    path.write_text(json.dumps({**report, "audits": [], "stages": []}))
    _, out, _ = anonloom("compare", "out", "out")
    assert r"rows\x1b[2K  12\nout: verified  12\nout: verified" == out.splitlines()[1]
