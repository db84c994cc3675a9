"""Experiments: one tidy table, resumed where they stopped, refusals as results."""

import json
import os

import pandas as pd
import pytest

from anonloom import Findings
from anonloom.errors import UsageError
from anonloom_experiments import Recipe, grid, run_grid
from anonloom_testing import toy_methods

VARY = """
vary:
  privacy.size.k: [2, 3, 13]
  stages.partitioner.length: [4, 6]
"""


@pytest.fixture
def experiment(clinic):
    clinic.file.write_text(clinic.file.read_text() + VARY)
    return clinic


def run(experiment, **options):
    reports = []
    report = run_grid(
        Recipe(experiment.file),
        experiment.registry,
        experiment.out,
        tell=lambda label, status: reports.append((label, status)),
        **options,
    )
    return report, reports


def test_an_experiment_leaves_one_tidy_table_and_every_release(experiment):
    report, reports = run(experiment)

    table = pd.read_csv(experiment.out / "public" / "grid.csv")
    assert 6 == len(table) == len(reports)
    assert [2, 2, 3, 3, 13, 13] == table["privacy.size.k"].tolist()
    assert [4, 6] * 3 == table["stages.partitioner.length"].tolist()
    assert ["published"] * 4 + ["refused"] * 2 == table["status"].tolist()
    assert [12.0] * 4 == table["counting.rows"].tolist()[:4]
    assert table["counting.rows"].isna().tolist()[4:] == [True, True]
    parquet = pd.read_parquet(experiment.out / "public" / "grid.parquet")
    assert [12] * 4 + [None] * 2 == parquet["counting.rows"].astype(object).where(
        parquet["counting.rows"].notna(), None
    ).tolist()
    counts = pd.read_csv(experiment.out / "public" / "grid.csv", dtype=str)["counting.rows"]
    assert ["12"] * 4 == counts.tolist()[:4]
    assert table.columns.tolist() == parquet.columns.tolist()
    assert 4 == len(list((experiment.out / "runs").iterdir()))
    assert report == json.loads((experiment.out / "public" / "grid.json").read_text())


def test_the_message_of_a_refused_run_is_in_the_table(experiment):
    report, _ = run(experiment)

    assert (
        "the whole table does not satisfy size: it has 12 usable rows, and k: 12 would pass"
        == report["runs"][-1]["message"]
    )


def test_auditors_summarize_the_whole_experiment(experiment):
    report, _ = run(experiment)

    assert ["counting"] == [summary["auditor"] for summary in report["summaries"]]
    assert 12 == report["summaries"][0]["findings"][0]["value"]


def test_a_summary_can_be_drawn_from_the_charts_of_all_runs(experiment):
    report, _ = run(experiment)

    charts = report["summaries"][0]["charts"]
    assert ["sizes"] * 4 == [chart["name"] for chart in charts]
    assert {"labels": ["a"], "n": [1]} == charts[0]["data"]


def test_a_summary_sees_what_the_other_auditors_of_a_run_found(experiment, monkeypatch):
    seen = []

    def summarize(self, grid):
        seen.extend(grid)
        return Findings()

    counting = toy_methods.RowCounter
    monkeypatch.setattr(counting, "summarize", summarize)
    report, _ = run(experiment)

    published = [item for item in report["runs"] if item["status"] == "published"]
    assert [item["label"] for item in published] == [row.label for row in seen]
    assert {"counting"} == {audit for row in seen for audit in row.others}
    assert all(row.findings == row.others["counting"] for row in seen)


def test_results_of_an_earlier_version_have_no_charts_and_are_still_good(experiment):
    run(experiment)
    for path in (experiment.out / "private" / "results").iterdir():
        result = json.loads(path.read_text())
        del result["charts"]
        path.write_text(json.dumps(result))
    (experiment.out / "public" / "grid.json").unlink()

    report, reports = run(experiment)

    assert ["done before"] * 6 == [status for _, status in reports]
    assert 12 == report["summaries"][0]["findings"][0]["value"]
    assert [] == report["summaries"][0]["charts"]


def test_an_interrupted_experiment_goes_on_where_it_stopped(experiment, monkeypatch):
    done = []
    whole = grid.run_case

    def interrupted(spec, registry, target, at):
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(at)
        return whole(spec, registry, target, at)

    monkeypatch.setattr(grid, "run_case", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(experiment)
    assert not (experiment.out / "public" / "grid.json").exists()
    monkeypatch.setattr(grid, "run_case", whole)
    _, reports = run(experiment)

    assert ["done before"] * 2 == [status for _, status in reports[:2]]
    refused = (
        "refused: the whole table does not satisfy size: it has 12 usable rows, and k: 12 would "
        "pass"
    )
    assert ["published", "published", refused, refused] == [s for _, s in reports[2:]]


def test_a_changed_run_is_done_again_when_an_experiment_goes_on(experiment, monkeypatch):
    whole = grid._write
    monkeypatch.setattr(grid, "_write", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        run(experiment)
    monkeypatch.setattr(grid, "_write", whole)
    experiment.change("seed: 7", "seed: 8")
    _, reports = run(experiment)

    assert "done before" not in [status for _, status in reports]


def test_a_finished_experiment_is_refused_without_replace(experiment):
    run(experiment)
    with pytest.raises(UsageError) as refused:
        run(experiment)

    assert (
        f"'{experiment.out}' exists already\n    Use --replace, or publish to another folder."
        == str(refused.value)
    )
    assert "done before" not in [status for _, status in run(experiment, replace=True)[1]]


def test_a_folder_of_somebody_else_is_left_alone(experiment):
    experiment.out.mkdir()
    (experiment.out / "thesis.txt").write_text("years of work")
    for replace in (False, True):
        with pytest.raises(UsageError) as refused:
            run(experiment, replace=replace)
        assert (
            f"'{experiment.out}' is not an experiment of Anonloom and is left as it is\n"
            "    Publish to another folder." == str(refused.value)
        )
    assert "years of work" == (experiment.out / "thesis.txt").read_text()


def test_cases_have_their_labels(clinic):
    clinic.file.write_text(
        clinic.file.read_text()
        + "vary:\n  - {label: short runs, set: {stages.partitioner.length: 4}}\n"
        + "  - {label: 'long/runs', set: {stages.partitioner.length: 6}}\n"
    )
    report, _ = run(clinic)

    assert ["short runs", "long/runs"] == [r["label"] for r in report["runs"]]
    assert ["001-short-runs", "002-long-runs"] == sorted(
        path.name for path in (clinic.out / "runs").iterdir()
    )


def test_the_seed_of_a_crossed_case_stays_private(clinic):
    clinic.file.write_text(
        clinic.file.read_text()
        + "vary:\n  cases: [{label: short runs, set: {stages.partitioner.length: 4}}]\n"
        + "  seed: [8123, 9123]\n"
    )
    report, _ = run(clinic)

    assert ["short runs, seed=<private 1>", "short runs, seed=<private 2>"] == [
        r["label"] for r in report["runs"]
    ]
    assert ["case", "stages.partitioner.length", "seed"] == report["varied"]
    assert "8123" not in (clinic.out / "public" / "grid.json").read_text()


def test_reporters_write_the_page_of_the_experiment(experiment):
    experiment.change("  to: out\n", "  to: out\n  reporters: [note]\n")
    run(experiment)

    assert "6 runs" == (experiment.out / "public" / "grid-note.txt").read_text()


def test_a_run_that_failed_is_tried_again(experiment, monkeypatch):
    whole = grid._write
    monkeypatch.setattr(grid, "_write", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    data = (experiment.folder / "clinic.csv").read_bytes()
    (experiment.folder / "clinic.csv").unlink()
    with pytest.raises(KeyboardInterrupt):
        run(experiment)
    monkeypatch.setattr(grid, "_write", whole)
    (experiment.folder / "clinic.csv").write_bytes(data)
    report, _ = run(experiment)

    assert ["published"] * 4 + ["refused"] * 2 == [r["status"] for r in report["runs"]]


def test_a_pipeline_that_is_an_experiment_is_not_run_as_one(experiment):
    with pytest.raises(UsageError) as refused:
        experiment.pipeline().run()

    assert "the pipeline is an experiment of 6 runs\n    `anonloom run` runs all of them." == str(
        refused.value
    )


def test_a_folder_that_cannot_be_made_is_refused_before_any_work(clinic, monkeypatch):
    clinic.file.write_text(clinic.file.read_text() + "vary: {seed: [1, 2]}\n")
    (clinic.folder / "file").write_text("")
    (clinic.folder / "link").symlink_to("nowhere")
    before = clinic.file_names()

    def publish(target):
        run_grid(Recipe(clinic.file), clinic.registry, target)

    def refused(name):
        with pytest.raises(UsageError) as caught:
            publish(clinic.folder / name)
        assert before == clinic.file_names()
        return str(caught.value).replace(str(clinic.folder), "HERE")

    elsewhere = "\n    Publish to another folder."
    assert f"'HERE/link' is a link that leads nowhere{elsewhere}" == refused("link")
    assert f"'HERE/file/out' cannot be written: 'HERE/file' is not a folder{elsewhere}" == refused(
        "file/out"
    )
    long = "x" * 300
    assert f"'HERE/{long}' cannot be written: File name too long{elsewhere}" == refused(long)
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert f"'HERE/out' cannot be written: you may not write in 'HERE'{elsewhere}" == refused("out")
