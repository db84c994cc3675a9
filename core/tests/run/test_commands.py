"""The commands that run, audit, replay and verify, as a user meets them."""

import json
import os
import signal
import subprocess
import sys
import time
import types

import pandas as pd
import pytest

from anonloom import Registry
from anonloom._cli import main
from anonloom.api import API_VERSION, Command, hookimpl
from anonloom.errors import PluginError


@pytest.fixture
def shop(clinic, registry, monkeypatch):
    """The clinic, with the toys as everything that is installed."""
    monkeypatch.setattr(Registry, "_environment", registry)
    monkeypatch.chdir(clinic.folder)
    return clinic


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
    assert ["clinic.csv", "pipeline.yaml"] == shop.left()

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
    assert ["clinic.csv", "pipeline.yaml"] == shop.left()


def test_broken_data_exit_with_4(shop, capsys):
    (shop.folder / "clinic.csv").unlink()
    code = main(["run", "pipeline.yaml", "--quiet"])

    assert 4 == code
    assert "anonloom: clinic.csv: there is no such file\n" == capsys.readouterr().err
    assert ["pipeline.yaml"] == shop.left()


def test_jobs_must_be_positive(shop, capsys):
    assert 2 == main(["run", "pipeline.yaml", "--jobs", "0"])
    assert "anonloom: --jobs must be at least 1. Got 0 instead.\n" == capsys.readouterr().err


def test_apply_replays_a_transformation(shop, capsys):
    main(["run", "pipeline.yaml", "--quiet"])
    capsys.readouterr()
    arguments = ["apply", "out/private/transformation.json", "clinic.csv", "--to", "again"]

    assert 0 == main(arguments)
    assert capsys.readouterr().out.endswith("release: again/public\n")
    assert 2 == main(arguments)


@pytest.mark.parametrize("share", ["7", "-0.1", "nan", "half"])
def test_apply_takes_a_share_from_0_to_1(shop, capsys, share):
    given = f"--suppress-at-most={share}"
    assert 2 == main(["apply", "t.json", "clinic.csv", "--to", "again", given])
    assert capsys.readouterr().err.endswith(
        "anonloom apply: error: argument --suppress-at-most: must be a number from 0 to 1. "
        f"Got '{share}' instead.\n"
    )


def test_audit_guesses_the_columns_and_says_so(shop, capsys):
    main(["run", "pipeline.yaml", "--quiet"])
    capsys.readouterr()
    assert 0 == main(["audit", "clinic.csv", "out/public/release.csv"])

    printed = capsys.readouterr().out
    assert printed.startswith(
        "columns guessed from what differs: age (quasi, number), sex (quasi, category), "
        "illness (other, category), bill (other, number)\n"
    )
    assert printed.endswith(
        """
counting (utility): Counts rows; can be told to find nothing.
  rows: 12
      Rows published.
  share: 1
      Share of rows published.

price was not run: it measures what something costs, not the release; --auditor price runs it

needs-control was not run: it needs control, which two tables lack; give it with --control FILE

needs-others was not run: it needs other_releases, which two tables lack; give them with --also FILE

needs-trace was not run: it needs trace, which two tables lack
"""
    )


def test_an_auditor_of_costs_runs_when_it_is_named(shop, capsys):
    main(["run", "pipeline.yaml", "--quiet"])
    capsys.readouterr()
    assert 0 == main(["audit", "clinic.csv", "out/public/release.csv", "--auditor", "price"])
    assert "\n  price: 1\n      Price of counting.\n" in capsys.readouterr().out


def test_audit_takes_the_columns_and_auditors_of_a_pipeline(shop, capsys):
    main(["run", "pipeline.yaml", "--quiet"])
    capsys.readouterr()
    arguments = ["audit", "clinic.csv", "out/public/release.csv", "--pipeline", "pipeline.yaml"]
    assert 0 == main([*arguments, "--json"])

    result = json.loads(capsys.readouterr().out)
    assert {"age": "quasi", "sex": "quasi", "illness": "sensitive", "bill": "other"} == result[
        "columns"
    ]
    assert ["counting"] == [audit["auditor"] for audit in result["audits"]]


def test_audit_counts_the_cells_that_it_cannot_read(shop, capsys):
    """Cells of other tools must not pass for a release without use."""
    (shop.folder / "arx.csv").write_text("age;sex\n" + "20 until 40;f\n" * 11 + "31;?\n")
    arguments = ["audit", "clinic.csv", "arx.csv", "--pipeline", "pipeline.yaml"]
    assert 0 == main(arguments)

    why = (
        "neither a value of the original, nor in its hierarchy, nor '[a, b]', "
        "'{\"a\", \"b\"}' or '*', and counted as entirely lost"
    )
    assert [
        f"warning: column 'age': 11 cells are {why}",
        f"warning: column 'sex': 1 cell is {why}",
    ] == capsys.readouterr().out.splitlines()[1:3]

    assert 0 == main([*arguments, "--json"])
    assert {"age": 11, "sex": 1} == json.loads(capsys.readouterr().out)["unread"]


def test_audit_refuses_an_auditor_that_two_tables_cannot_feed(shop, capsys):
    main(["run", "pipeline.yaml", "--quiet"])
    capsys.readouterr()
    arguments = ["audit", "clinic.csv", "out/public/release.csv", "--auditor", "needs-control"]
    assert 2 == main(arguments)
    assert (
        "anonloom: auditor 'needs-control' cannot be used: it needs control, which two tables "
        "lack\n    give it with --control FILE\n" == capsys.readouterr().err
    )


def test_audit_takes_people_outside_and_other_releases(shop, capsys):
    main(["run", "pipeline.yaml", "--quiet"])
    (shop.folder / "strangers.csv").write_text("age,sex,illness,bill\n20,f,flu,3\n21,m,cold,4\n")
    (shop.folder / "earlier.csv").write_text("age,sex\n*,f\n")
    capsys.readouterr()
    arguments = ["audit", "clinic.csv", "out/public/release.csv", "--control", "strangers.csv"]
    arguments += ["--also", "earlier.csv", "--also", "out/public/release.csv", "--json"]
    assert 0 == main([*arguments, "--auditor", "needs-control", "--auditor", "needs-others"])
    result = json.loads(capsys.readouterr().out)["audits"]
    assert [("needs-control", 2), ("needs-others", 13)] == [
        (audit["auditor"], audit["findings"][0]["value"]) for audit in result
    ]


def test_audit_reads_the_other_releases_of_a_pipeline(shop, capsys):
    (shop.folder / "earlier.csv").write_text("age,sex\n*,f\n")
    shop.change("data:\n", "data:\n  other_releases: [earlier.csv]\n")
    arguments = ["audit", "clinic.csv", "clinic.csv", "--pipeline", "pipeline.yaml", "--json"]
    assert 0 == main([*arguments, "--auditor", "needs-others"])
    assert 1 == json.loads(capsys.readouterr().out)["audits"][0]["findings"][0]["value"]


def test_audit_is_told_which_column_says_whose_a_row_is(shop, capsys):
    arguments = ["audit", "clinic.csv", "clinic.csv", "--quiet"]
    assert 0 == main(arguments)
    assert (
        "warning: column 'name': every row has a value of its own, published as it is, which "
        "names everybody; if it only says whose a row is, give --truth"
        == capsys.readouterr().out.splitlines()[1]
    )
    assert 0 == main([*arguments, "--truth", "name"])
    printed = capsys.readouterr().out
    assert printed.startswith("columns guessed from what differs: name (truth, category), age")
    assert "warning" not in printed

    assert 2 == main([*arguments, "--truth", "name", "--pipeline", "pipeline.yaml"])
    assert (
        "anonloom: --truth is for columns that are guessed\n"
        "    Declare the column with the role 'truth' in the pipeline.\n" == capsys.readouterr().err
    )


def test_audit_shows_progress_unless_it_is_to_be_quiet(shop, capsys):
    assert 0 == main(["audit", "clinic.csv", "clinic.csv"])
    assert "counting: 12 rows" == capsys.readouterr().err.rpartition(" (")[0]
    # Observers stay with the registry, which a process of its own would not keep.
    assert 2 == main(["audit", "clinic.csv", "clinic.csv", "--jobs", "0"])
    assert "anonloom: --jobs must be at least 1. Got 0 instead.\n" == capsys.readouterr().err


def test_audit_goes_on_without_an_auditor_that_is_broken(shop, capsys, monkeypatch):
    whole = Registry.load_entry

    def load(self, entry):
        if entry.name == "needs-control":
            raise PluginError("it fell apart")
        return whole(self, entry)

    monkeypatch.setattr(Registry, "load_entry", load)
    assert 0 == main(["audit", "clinic.csv", "clinic.csv", "--quiet"])
    assert "\nneeds-control was not run: it fell apart\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("nowhere.csv", "nowhere.csv: there is no such file"),
        ("empty.csv", "empty.csv: the file is empty"),
        ("header.csv", "header.csv: the file has no rows"),
        ("junk.parquet", "junk.parquet: this is not a Parquet file, or it is damaged"),
    ],
)
@pytest.mark.parametrize("place", ["original", "release", "control", "also"])
def test_audit_says_which_file_cannot_be_used(shop, capsys, given, expected, place):
    (shop.folder / "empty.csv").write_text("")
    (shop.folder / "header.csv").write_text("age,sex\n")
    (shop.folder / "junk.parquet").write_bytes(b"no parquet")
    tables = {"original": "clinic.csv", "release": "clinic.csv", place: given}
    arguments = ["audit", tables.pop("original"), tables.pop("release")]
    assert 4 == main([*arguments, *(f"--{name}={file}" for name, file in tables.items())])
    assert f"anonloom: {expected}\n" == capsys.readouterr().err


def test_audit_wants_tables_with_common_columns(shop, capsys):
    pd.DataFrame({"height": [1, 2]}).to_csv(shop.folder / "other.csv", index=False)
    assert 4 == main(["audit", "clinic.csv", "other.csv"])
    assert (
        "anonloom: the original and the release have no column in common\n"
        == capsys.readouterr().err
    )


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
    assert ["clinic.csv", "pipeline.yaml", "wait.py", "waiting"] == clinic.left()


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
