"""Experiments: one tidy table, resumed where they stopped, refusals as results."""

import json
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool

import pandas as pd
import pytest

from anonloom import Findings, Registry
from anonloom.errors import FaultyPluginError, UsageError
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


class Pool(ThreadPoolExecutor):
    """In place of processes, whose insides a test cannot see: one thread, one run at a time."""

    def __init__(self, most, mp_context):
        self.asked = most, mp_context.get_start_method()
        self.closing = threading.Event()
        super().__init__(1)

    def shutdown(self, wait=True, *, cancel_futures=False):
        super().shutdown(wait=False, cancel_futures=cancel_futures)
        self.closing.set()
        super().shutdown(wait=wait)


@pytest.fixture
def pools(experiment, monkeypatch):
    """The pools that an experiment made, whose runs find the clinic's methods installed."""
    pools = []

    def make(most, mp_context):
        pools.append(Pool(most, mp_context))
        return pools[-1]

    monkeypatch.setattr(grid, "ProcessPoolExecutor", make)
    monkeypatch.setattr(Registry, "_environment", experiment.registry)
    return pools


def test_runs_at_a_time_leave_what_runs_one_after_another_leave(experiment, pools):
    experiment.change("seed: 7", "seed: 8")
    recipe = Recipe(experiment.file, settings=("seed=7",))
    folders = [experiment.folder / name for name in ("one", "many")]
    one, many = (
        run_grid(recipe, experiment.registry, folder, jobs=jobs)
        for folder, jobs in zip(folders, (1, 4), strict=True)
    )

    assert [(4, "spawn")] == [pool.asked for pool in pools]
    assert {**one, "created": ""} == {**many, "created": ""}
    first, second = (
        {
            path.relative_to(folder): path.read_bytes()
            for path in folder.glob("runs/*/public/release.csv")
        }
        for folder in folders
    )
    assert 4 == len(first)
    assert first == second


def test_no_more_processes_are_started_than_there_are_runs_to_do(experiment, pools):
    run(experiment, jobs=50)
    (experiment.out / "public" / "grid.json").unlink()
    results = sorted((experiment.out / "private" / "results").iterdir())
    for path in results[:3]:
        path.unlink()
    run(experiment, jobs=50)
    (experiment.out / "public" / "grid.json").unlink()
    results[0].unlink()
    run(experiment, jobs=50)

    # A single run needs no process of its own.
    assert [6, 3] == [pool.asked[0] for pool in pools]


def test_after_a_process_was_killed_what_is_done_is_kept(experiment, pools, monkeypatch):
    whole = grid.run_case

    def killed(spec, registry, target, index):
        if index == 2:
            raise BrokenProcessPool("a process ended abruptly")
        return whole(spec, registry, target, index)

    monkeypatch.setattr(grid, "run_case", killed)
    with pytest.raises(UsageError) as caught:
        run(experiment, jobs=2)
    monkeypatch.setattr(grid, "run_case", whole)
    _, reports = run(experiment, jobs=2)

    assert (
        "a process of the experiment was killed, perhaps for want of memory\n    run again to go "
        "on, without --replace: runs that are done are kept; fewer --jobs need less memory"
        == str(caught.value)
    )
    assert ["done before"] * 2 == [status for _, status in reports[:2]]


def test_a_bug_of_a_method_ends_the_runs_that_wait(experiment, pools, monkeypatch):
    begun = []

    def faulty(spec, registry, target, index):
        begun.append(index)
        if index == 0:
            raise FaultyPluginError("this is a bug of auditor 'counting'")
        assert pools[0].closing.wait(60)
        return "published"

    monkeypatch.setattr(grid, "run_case", faulty)
    with pytest.raises(FaultyPluginError) as caught:
        run(experiment, jobs=2)

    assert "this is a bug of auditor 'counting'" == str(caught.value)
    # The second may have begun before anybody knew of the first.
    assert [] == begun[2:]


def test_a_column_of_mixed_values_is_text(tmp_path):
    given = [({"n": 3}, 1), ({"n": "all"}, None), ({"n": None}, 2.5)]
    runs = [
        {
            "label": str(index),
            "parameters": parameters,
            "status": "published",
            "verdict": None,
            "message": "",
            "findings": {"count": count},
        }
        for index, (parameters, count) in enumerate(given)
    ]
    table = grid.tidy_table({"runs": runs, "varied": ["n"], "figures": [{"key": "count"}]})
    table.to_parquet(tmp_path / "grid.parquet")

    read = pd.read_parquet(tmp_path / "grid.parquet")
    assert [False, False, True] == read["n"].isna().tolist()
    assert ["3", "all"] == read["n"].dropna().tolist()
    assert [1.0, 2.5] == read["count"].dropna().tolist()
