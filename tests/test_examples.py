"""Every example runs, and its release is what its own file demands, counted by other means."""

import math
import shutil
import sqlite3
from pathlib import Path

import pandas as pd
import pytest
import yaml
from get_data import find_or_fetch

from anonloom_catalog import first_party_folders
from anonloom_cli import main

EXAMPLES = Path(__file__).parents[1] / "examples"
FILES = sorted(EXAMPLES.glob("*.yaml"))
# Enough for classes of every shape; the whole table is the benchmarks' affair.
ADULT_ROWS = 3000
# An experiment of some hundred runs; its small twin is run instead.
LONG = EXAMPLES / "cvpl-paper.yaml"
# The same of a paper's table of 100,000 rows; what its runs are is checked elsewhere.
CHECKED = EXAMPLES / "anonify-diabetes.yaml"
# Says how a release of another tool is audited, and publishes nothing.
AUDIT_ONLY = EXAMPLES / "audit-only.yaml"
RUNNING = [file for file in FILES if file not in (LONG, CHECKED, AUDIT_ONLY)]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A copy of the examples with the data that the tree does not hold."""
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    patients = pd.read_csv(EXAMPLES / "data/clinic.csv", dtype=str)
    database = sqlite3.connect(tmp_path / "examples/data/clinic.db")
    patients.to_sql("patients", database, index=False)
    database.close()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def adult(folder):
    with find_or_fetch("adult").open(encoding="utf-8") as lines:
        kept = [next(lines) for _ in range(ADULT_ROWS + 1)]
    (folder / ".data").mkdir()
    (folder / ".data/adult.csv").write_text("".join(kept), encoding="utf-8")


def smallest_class(release, spec):
    columns = spec["data"]["columns"]
    quasi = [name for name, column in columns.items() if column["role"] == "quasi"]
    kept = release[(release[quasi] != "*").any(axis=1)]
    return kept.groupby(quasi, dropna=False).size().min()


def demanded_k(spec):
    """What every class must have; a table that only a mechanism protects has no classes."""
    return 1 if spec["privacy"] == "none" else spec["privacy"][0]["k-anonymity"]["k"]


# Several seconds each, and every method in them has an example of its own.
DEAR = ("cvpl-paper-small", "transports")


@pytest.mark.parametrize(
    "file",
    [
        pytest.param(file, id=file.stem, marks=[pytest.mark.long] * (file.stem in DEAR))
        for file in RUNNING
    ],
)
def test_an_example_runs_and_publishes_what_it_demands(file, folder, capsys):
    if ".data/adult.csv" in file.read_text(encoding="utf-8"):
        adult(folder)
    copy = f"examples/{file.name}"
    spec = yaml.safe_load(file.read_text(encoding="utf-8"))
    target = (folder / "examples" / spec["publish"]["to"]).resolve()

    assert 0 == main(["check", copy])
    assert 0 == main(["plan", copy])
    assert 0 == main(["run", copy, "--quiet"])

    if "vary" in spec:
        grid = pd.read_csv(target / "public/grid.csv")
        demanded = grid.get("privacy.k-anonymity.k", demanded_k(spec))
        vary = spec["vary"]
        cases = [vary] if isinstance(vary, list) else vary.values()
        runs = math.prod(map(len, cases))
        assert ["published"] * runs == list(grid["status"])
        assert (grid["smallest_class"] >= demanded).all()
        return
    release = pd.read_csv(target / "public/release.csv", dtype=str)
    assert smallest_class(release, spec) >= demanded_k(spec)
    sealed = (target / "public" / "report.json").read_text().count('"integrity": null') == 0
    assert 0 == main(["verify", str(target), *([] if sealed else ["--unsealed"])])
    assert (target / "public/report.html").is_file()


def test_auditing_without_a_pipeline_works_as_the_notes_say(folder, capsys):
    assert 0 == main(["run", "examples/quickstart.yaml", "--quiet"])
    tables = ["examples/data/clinic.csv", "out/clinic/public/release.csv"]
    assert 0 == main(["audit", *tables])
    assert 0 == main(["audit", *tables, "--pipeline", "examples/quickstart.yaml"])
    assert "columns of examples/quickstart.yaml: age (quasi, number)" in capsys.readouterr().out


def test_the_long_experiment_is_its_small_twin_with_more_cases_and_rows(folder):
    assert 0 == main(["check", f"examples/{LONG.name}"])
    long, small = (
        yaml.safe_load(file.read_text(encoding="utf-8"))
        for file in (LONG, LONG.with_stem("cvpl-paper-small"))
    )
    cases = long["vary"].pop("cases")
    assert 19 == len(cases)
    assert [case for case in small["vary"].pop("cases") if case not in cases] == []
    for spec in (long, small):
        del spec["name"], spec["publish"], spec["vary"], spec["data"]["with"]["rows"]
    assert long == small


def test_a_release_of_another_tool_is_audited_and_never_published(folder, capsys):
    assert 0 == main(["run", "examples/quickstart.yaml", "--quiet"])
    tables = ["examples/data/clinic.csv", "out/clinic/public/release.csv"]
    audited = f"examples/{AUDIT_ONLY.name}"
    assert 0 == main(["audit", *tables, "--pipeline", audited, "--all"])
    printed = capsys.readouterr().out
    asked = yaml.safe_load(AUDIT_ONLY.read_text(encoding="utf-8"))["audit"]
    assert [use["auditor"] for use in asked] == [
        use["auditor"] for use in asked if f"\n{use['auditor']} (" in printed
    ]
    assert 2 == main(["run", audited, "--quiet"])
    assert [] == [path.name for path in (folder / "out").iterdir() if path.name != "clinic"]


def test_the_comparison_of_anonymizers_leaves_no_partitioner_out():
    spec = yaml.safe_load((EXAMPLES / "compare-anonymizers.yaml").read_text(encoding="utf-8"))
    ours = {name for kind, name in first_party_folders() if kind == "partitioner"}
    assert ours == set(spec["vary"]["stages.partitioner"])


def test_every_example_is_listed():
    text = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert [file.name for file in FILES] == [f.name for f in FILES if f"({f.name})" in text]
