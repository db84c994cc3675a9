"""What a run publishes, and what it never does."""

import json
import os
import stat
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from anonloom.errors import IntegrityError, PluginError, PrivacyError, UsageError


def test_a_run_leaves_public_and_private_outputs(clinic):
    outcome = clinic.pipeline().publish()

    assert outcome.folder == clinic.out
    assert ["manifest.json", "release.csv", "report.json", "report.txt"] == sorted(
        path.name for path in (clinic.out / "public").iterdir()
    )
    assert ["counting-first.csv", "run.json", "transformation.json"] == sorted(
        path.name for path in (clinic.out / "private").iterdir()
    )
    assert "row\n1\n" == (clinic.out / "private" / "counting-first.csv").read_text()
    assert 0o700 == stat.S_IMODE((clinic.out / "private").stat().st_mode)
    assert ["clinic.csv", "out", "pipeline.yaml"] == clinic.file_names()


def test_published_classes_have_k_rows_and_cells_cover_the_originals(clinic):
    clinic.pipeline().publish()

    release = pd.read_csv(clinic.out / "public" / "release.csv")
    assert (release.groupby(["age", "sex"]).size() >= 3).all()
    assert "name" not in release.columns
    assert sorted(release["bill"]) == sorted(
        [100, 200, 150, 120, 80, 310, 90, 70, 65, 230, 180, 40]
    )


def test_rows_are_shuffled_unless_the_order_is_asked_for(clinic):
    outcome = clinic.pipeline().run()
    kept = clinic.pipeline("publish.shuffle=false").run()

    assert not (np.diff(outcome.release.origin) > 0).all()
    assert list(range(12)) == kept.release.origin.tolist()
    text = "Rows are in the order of the input ('shuffle: false')."
    assert [text] == kept.report["verdict"]["reasons"]


def test_the_same_seed_gives_the_same_bytes(clinic):
    clinic.pipeline("publish.formats=[csv, parquet]").publish(to=clinic.folder / "a")
    clinic.pipeline("publish.formats=[csv, parquet]").publish(to=clinic.folder / "b")
    other = clinic.pipeline("seed=8").publish(to=clinic.folder / "c")

    for name in ("release.csv", "release.parquet"):
        first, second = ((clinic.folder / run / "public" / name) for run in "ab")
        assert first.read_bytes() == second.read_bytes()
    one = (clinic.folder / "a" / "public" / "release.csv").read_text()
    assert one != (other.folder / "public" / "release.csv").read_text()


def test_without_a_seed_one_is_drawn_and_kept_private(clinic):
    clinic.change("seed: 7\n", "")
    clinic.pipeline().publish()

    seed = json.loads((clinic.out / "private" / "run.json").read_text())["seed"]
    public = "".join(path.read_text() for path in (clinic.out / "public").iterdir())
    assert str(seed) not in public


def test_the_seed_the_input_digest_and_paths_stay_private(clinic):
    clinic.change("seed: 7", "seed: 8675309")
    clinic.pipeline().publish()

    private = json.loads((clinic.out / "private" / "run.json").read_text())
    public = "".join(path.read_text() for path in (clinic.out / "public").iterdir())
    assert 8675309 == private["seed"]
    assert "8675309" not in public
    assert private["input_digest"] not in public
    assert str(clinic.folder) not in public


def test_a_parquet_file_holds_no_values_of_unpublished_rows(clinic):
    clinic.change(
        "  - generalizer: as-declared\n", "  - outliers: first-out\n  - generalizer: as-declared\n"
    )
    clinic.change("privacy:", "suppression: {at_most: 1, rows: drop}\nprivacy:")
    clinic.change(
        "illness: {role: sensitive}", "illness: {role: sensitive}\n    name: {role: other}"
    )
    clinic.pipeline("publish.formats=[parquet]").publish()

    table = pq.read_table(clinic.out / "public" / "release.parquet")
    frame = table.to_pandas()
    assert len(frame) == 8
    for name in table.column_names:
        column = table.column(name).combine_chunks()
        if hasattr(column, "dictionary"):
            assert set(column.dictionary.to_pylist()) == set(frame[name])
            assert column.dictionary.to_pylist() == sorted(column.dictionary.to_pylist())


def test_parquet_can_carry_the_ends_of_intervals(clinic):
    clinic.pipeline("publish.formats=[parquet]", "publish.intervals=bounds").publish()

    frame = pq.read_table(clinic.out / "public" / "release.parquet").to_pandas()
    assert ["age_min", "age_max", "sex", "illness", "bill"] == list(frame.columns)
    assert (frame["age_min"] <= frame["age_max"]).all()
    assert 22 == frame["age_min"].min()
    assert 60 == frame["age_max"].max()


def with_times(clinic, publish):
    """Give the clinic a column of times, at most a few hours apart, and one that is `other`."""
    frame = pd.read_csv(clinic.folder / "clinic.csv")
    seen = pd.Timestamp("2024-03-01 14:05:00") + pd.to_timedelta(frame["age"] * 617, unit="s")
    frame.assign(seen=seen, left=seen.dt.normalize()).to_csv(
        clinic.folder / "clinic.csv", index=False
    )
    clinic.change(
        "    age: {role: quasi, type: number}",
        f"    seen: {{role: quasi, type: time, publish: {publish}}}\n    left: "
        "{role: other, type: time}",
    )
    return seen


def test_times_are_published_as_intervals(clinic):
    seen = with_times(clinic, "interval")
    clinic.pipeline("publish.formats=[csv, parquet]", "publish.intervals=bounds").publish()

    written = pd.read_csv(clinic.out / "public" / "release.csv")
    ends = written["seen"].str.extract(r"\[(\S+ \S+), (\S+ \S+)\]")
    table = pq.read_table(clinic.out / "public" / "release.parquet")
    assert ["seen_min", "seen_max", "left", "sex", "illness", "bill"] == table.column_names
    for side, name in enumerate(("seen_min", "seen_max")):
        assert "timestamp" in str(table.schema.field(name).type)
        assert ends[side].tolist() == table[name].to_pandas().dt.strftime("%F %T").tolist()
    assert (str(seen.min()), str(seen.max())) == (ends[0].min(), ends[1].max())
    # A midnight is a time too.
    assert {"2024-03-01 00:00:00", "2024-03-02 00:00:00"} >= set(written["left"])
    assert "timestamp" in str(table.schema.field("left").type)


def test_times_are_published_as_units_of_the_calendar(clinic):
    with_times(clinic, "nodes")
    clinic.pipeline().publish()

    written = pd.read_csv(clinic.out / "public" / "release.csv")
    assert {"2024-03-01 18-24h", "2024-03-01", "2024-03"} >= set(written["seen"])


def test_an_existing_folder_is_refused_before_any_work(clinic):
    clinic.pipeline().publish()
    before = (clinic.out / "public" / "release.csv").stat().st_mtime_ns

    with pytest.raises(UsageError) as refused:
        clinic.pipeline().publish()

    assert (
        f"'{clinic.out}' exists already\n    Use --replace, or publish to another folder."
        == str(refused.value)
    )
    assert before == (clinic.out / "public" / "release.csv").stat().st_mtime_ns


def test_replace_replaces_an_output_folder(clinic):
    clinic.pipeline().publish()
    clinic.pipeline("publish.formats=[parquet]").publish(replace=True)

    assert not (clinic.out / "public" / "release.csv").exists()
    assert (clinic.out / "public" / "release.parquet").exists()
    assert ["clinic.csv", "out", "pipeline.yaml"] == clinic.file_names()


def test_replace_never_touches_a_folder_of_somebody_else(clinic):
    clinic.out.mkdir()
    (clinic.out / "thesis.txt").write_text("years of work")

    with pytest.raises(UsageError) as refused:
        clinic.pipeline().publish(replace=True)

    assert (
        f"'{clinic.out}' is not an output folder of Anonloom and is not replaced\n"
        "    Publish to another folder." == str(refused.value)
    )
    assert "years of work" == (clinic.out / "thesis.txt").read_text()


def test_a_failed_run_leaves_an_existing_release_as_it_was(clinic):
    clinic.pipeline().publish()
    before = (clinic.out / "public" / "release.csv").read_bytes()

    with pytest.raises(PrivacyError):
        clinic.pipeline("stages.partitioner.length=2", "stages.partitioner.literal=true").publish(
            replace=True
        )

    assert before == (clinic.out / "public" / "release.csv").read_bytes()
    assert ["clinic.csv", "out", "pipeline.yaml"] == clinic.file_names()


def test_an_interruption_leaves_nothing_half_written(clinic, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("anonloom_runner.outputs.write_json", interrupted)
    with pytest.raises(KeyboardInterrupt):
        clinic.pipeline().publish()

    assert ["clinic.csv", "pipeline.yaml"] == clinic.file_names()


def test_what_a_killed_run_left_aside_is_swept_by_the_next(clinic):
    # No process has this number: it is above the largest that Linux gives.
    left = clinic.folder / ".out.building-4194305"
    left.mkdir()
    clinic.pipeline().publish()

    assert not left.exists()


def test_a_release_that_was_moved_for_one_that_never_arrived_comes_back(clinic):
    """A process that was killed between two renames loses nothing."""
    clinic.pipeline().publish()
    clinic.out.rename(clinic.folder / ".out.replaced-4194305")
    with pytest.raises(UsageError):
        clinic.pipeline().publish()

    assert (clinic.out / "public" / "release.csv").is_file()
    assert ["clinic.csv", "out", "pipeline.yaml"] == clinic.file_names()


def test_what_a_run_that_is_alive_builds_is_left_alone(clinic, monkeypatch):
    """Its process may be somebody else's, to whom no signal may be sent."""

    def not_allowed(process, signal):
        if process == 4194306:
            raise PermissionError
        raise ProcessLookupError

    monkeypatch.setattr(os, "kill", not_allowed)
    names = [".out.building-4194305", ".out.building-4194306", ".out.replaced-4194306"]
    others = [".out.building-soon", ".out.kept-4194305"]
    for name in (*names, *others):
        (clinic.folder / name).mkdir()
    clinic.pipeline().publish()

    assert sorted(["clinic.csv", "out", "pipeline.yaml", *names[1:], *others]) == (
        clinic.file_names()
    )


def test_what_an_earlier_run_of_the_same_process_left_is_swept(clinic):
    """A process that goes on after an error has only one run at a time."""
    (clinic.folder / f".out.building-{os.getpid()}").mkdir()
    clinic.pipeline().publish()

    assert ["clinic.csv", "out", "pipeline.yaml"] == clinic.file_names()


def test_an_interruption_between_the_renames_brings_the_release_back(clinic, monkeypatch):
    clinic.pipeline().publish()
    before = (clinic.out / "public" / "release.csv").read_bytes()
    rename = Path.rename

    def interrupted(path, target):
        if ".building-" in path.name:
            raise KeyboardInterrupt
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", interrupted)
    with pytest.raises(KeyboardInterrupt):
        clinic.pipeline("seed=8").publish(replace=True)
    with pytest.raises(KeyboardInterrupt):
        clinic.pipeline().publish(to=clinic.folder / "new")

    assert before == (clinic.out / "public" / "release.csv").read_bytes()
    assert ["clinic.csv", "out", "pipeline.yaml"] == clinic.file_names()


def test_an_empty_folder_may_be_replaced_and_a_link_or_a_file_may_not(clinic):
    (clinic.folder / "there").mkdir()
    (clinic.folder / "link").symlink_to("there")
    (clinic.folder / "file").write_text("")
    for name in ("link", "file"):
        with pytest.raises(UsageError) as refused:
            clinic.pipeline().publish(to=clinic.folder / name, replace=True)
        assert (
            f"'{clinic.folder / name}' is not an output folder of Anonloom and is not replaced\n"
            "    Publish to another folder." == str(refused.value)
        )
    clinic.pipeline().publish(to=clinic.folder / "there", replace=True)

    assert ["private", "public"] == sorted(
        path.name for path in (clinic.folder / "there").iterdir()
    )


def test_a_folder_that_the_system_does_not_make_is_refused(clinic, monkeypatch):
    """Whoever asks first may still be wrong: a disk is full, or was taken away."""

    def full(path, *_, **__):
        raise OSError(28, "No space left on device")

    pipeline = clinic.pipeline()
    monkeypatch.setattr(Path, "mkdir", full)
    with pytest.raises(UsageError) as refused:
        pipeline.publish()

    assert (
        f"'{clinic.out}' cannot be written: No space left on device\n    Publish to another folder."
        == str(refused.value)
    )


def test_a_frame_can_take_the_place_of_the_source(clinic):
    frame = pd.read_csv(clinic.folder / "clinic.csv")
    (clinic.folder / "clinic.csv").unlink()
    before = frame.copy(deep=True)

    outcome = clinic.pipeline().run(frame)

    assert 12 == len(outcome.release)
    pd.testing.assert_frame_equal(before, frame)


def test_a_pipeline_that_names_no_folder_says_so(clinic):
    clinic.change("publish:\n  to: out\n", "")
    with pytest.raises(UsageError) as refused:
        clinic.pipeline().publish()

    assert "the pipeline does not say where to publish\n    publish: {to: out/name}" == str(
        refused.value
    )


def test_a_dropped_row_is_an_error_of_the_plugin(clinic):
    with pytest.raises(PluginError) as refused:
        clinic.pipeline("stages.partitioner.loses=true").publish()

    assert (
        "partitioner 'runs' of anonloom-core broke its promise: it was given 12 rows and returned "
        "11, not the same ones\n    Report it to its author; `anonloom plugins check runs` shows "
        "more." == str(refused.value)
    )
    assert ["clinic.csv", "pipeline.yaml"] == clinic.file_names()


def test_suppressed_rows_stay_suppressed(clinic):
    clinic.change("sex: {role: quasi}", "sex: {role: quasi, missing: suppress}")
    text = (clinic.folder / "clinic.csv").read_text().replace("person 3,27,m", "person 3,27,")
    (clinic.folder / "clinic.csv").write_text(text)

    with pytest.raises(PluginError) as refused:
        clinic.pipeline("stages.partitioner.revives=true").publish()

    assert (
        "partitioner 'runs' of anonloom-core broke its promise: it put suppressed rows back "
        in str(refused.value)
    )


def test_a_seal_covers_the_folder_and_is_named_in_the_report(clinic):
    clinic.pipeline("publish.integrity=stamp").publish()

    assert "sealed" == (clinic.out / "public" / "stamp").read_text()
    assert "key" == (clinic.out / "private" / "stamp.key").read_text()
    report = json.loads((clinic.out / "public" / "report.json").read_text())
    assert {"scheme": "stamp"} == report["integrity"]


def test_a_seal_that_cannot_be_made_is_refused_before_any_work(clinic, monkeypatch):
    (clinic.folder / "clinic.csv").unlink()
    sealing = clinic.pipeline("publish.integrity=stamp")

    def refuse(self):
        raise IntegrityError("the key is not there")

    monkeypatch.setattr(type(sealing.spec.publish.integrity), "ready", refuse)
    with pytest.raises(IntegrityError) as refused:
        sealing.publish()

    assert "the key is not there" == str(refused.value)
    assert not clinic.out.exists()


def test_declared_reporters_write_into_the_public_folder(clinic):
    clinic.pipeline("publish.reporters=[note]").publish()

    assert "clinic" == (clinic.out / "public" / "note.txt").read_text()


def test_a_folder_that_cannot_be_made_is_refused_before_any_work(clinic, monkeypatch):
    (clinic.folder / "file").write_text("")
    (clinic.folder / "link").symlink_to("nowhere")
    before = clinic.file_names()

    def publish(target):
        clinic.pipeline().publish(to=target)

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
