"""What is public names no seed, no path and no withheld class; what is private stays inside."""

import json
from pathlib import Path

import attrs
import numpy as np
import pandas as pd
import pytest

from anonloom import (
    Auditor,
    Finding,
    Findings,
    Generalizer,
    Mechanism,
    Release,
    Schema,
    Table,
    param,
)
from anonloom.errors import UsageError
from anonloom.findings import PrivateRows
from anonloom.params import as_values
from anonloom_runner.outputs import is_output
from anonloom_runner.stage_log import StageLog
from anonloom_runner.stages import PipelineStages
from anonloom_testing.clinic import public_bytes


def test_nothing_public_names_a_path_the_seed_or_the_input(clinic):
    clinic.change("seed: 7", "seed: 81218121")
    clinic.change("to: out", "to: out\n  intervals: bounds\n  formats: [csv, parquet]")
    outcome = clinic.pipeline().publish()

    seen = public_bytes(clinic.out)
    for secret in (
        b"81218121",
        str(clinic.folder).encode(),
        b"clinic.csv",
        outcome.private["input_digest"].encode(),
        outcome.private["seed_salt"].encode(),
        b"person 1",
    ):
        assert secret not in seen


def test_what_python_shows_of_an_outcome_is_short_and_names_no_seed(clinic):
    clinic.change("seed: 7", "seed: 81218121")
    pipeline = clinic.pipeline()
    outcome = pipeline.publish()
    journal = StageLog(clinic.registry, "run", 81218121)
    stages = PipelineStages(pipeline.spec.stages, journal, pipeline.spec.privacy)
    for shown in (outcome, pipeline, pipeline.spec, outcome.collection, stages, journal):
        assert len(repr(shown)) < 1000
        assert "81218121" not in repr(shown)
        assert "person 1" not in repr(shown)


@attrs.frozen(kw_only=True)
class Later(Generalizer):
    """Says how many rows are published, when that is known."""

    def generalize(self, table, classes, context):
        context.find_later(self.published)
        lo, hi = classes.extents(table.codes)
        cells = [axis.publish(lo[:, index], hi[:, index]) for index, axis in enumerate(table.axes)]
        return Release.from_cells(table, classes, cells, truthful=True)

    def published(self, release):
        first = str(release.frame["age"].iloc[0])
        release.frame["age"] = "changed"
        return [Finding(name="rows", value=len(release), meaning=f"Rows, such as {first}.")]


def test_a_stage_speaks_of_the_release_when_it_is_known_and_cannot_change_it(clinic):
    clinic.change("to: out", "to: out\n  formats: [csv]")
    pipeline = clinic.pipeline()
    stages = tuple(
        attrs.evolve(use, method=Later()) if use.kind == "generalizer" else use
        for use in pipeline.spec.stages
    )
    outcome = attrs.evolve(pipeline, spec=attrs.evolve(pipeline.spec, stages=stages)).publish()

    report = json.loads((clinic.out / "public" / "report.json").read_text())
    (stage,) = [item for item in report["stages"] if item["kind"] == "generalizer"]
    assert [("rows", len(outcome.release))] == [
        (item["name"], item["value"]) for item in stage["findings"]
    ]
    first = outcome.release.frame["age"].iloc[0]
    assert f"Rows, such as {first}." == stage["findings"][0]["meaning"]
    assert "changed" not in (clinic.out / "public" / "release.csv").read_text()


@attrs.frozen(kw_only=True)
class Nodes(Generalizer):
    """Publishes nodes, whatever the columns say."""

    def generalize(self, table, classes, context):
        lo, hi = classes.extents(table.codes)
        cells = [
            axis.publish(lo[:, index], hi[:, index], form="nodes")
            for index, axis in enumerate(table.axes)
        ]
        return Release.from_cells(table, classes, cells, truthful=True)


def test_bounds_of_a_node_do_not_show_which_values_occur_under_it(clinic):
    clinic.change(
        "age: {role: quasi, type: number}",
        "age: {role: quasi, type: number, publish: interval, "
        "hierarchy: {build: widths, widths: [50]}}",
    )
    clinic.change("to: out", "to: out\n  intervals: bounds\n  formats: [parquet]")
    clinic.change("publish:\n", "suppression: {at_most: 1}\npublish:\n")
    pipeline = clinic.pipeline()
    stages = tuple(
        attrs.evolve(use, method=Nodes()) if use.kind == "generalizer" else use
        for use in pipeline.spec.stages
    )
    spec = attrs.evolve(pipeline.spec, stages=stages)
    outcome = attrs.evolve(pipeline, spec=spec).publish()
    assert "[0, 50)" in set(outcome.release.frame["age"])
    published = pd.read_parquet(clinic.out / "public" / "release.parquet")
    assert published[["age_min", "age_max"]].isna().all(axis=None)


def test_files_in_the_private_folder_are_for_their_owner_alone(clinic):
    clinic.pipeline().publish()
    modes = {path.stat().st_mode & 0o777 for path in (clinic.out / "private").iterdir()}
    assert {0o600} == modes
    assert 0o700 == (clinic.out / "private").stat().st_mode & 0o777


@attrs.frozen(kw_only=True)
class WithFile:
    """A method with a file."""

    table: Path = param(help="A file.")


def test_a_path_is_recorded_by_its_last_part():
    method = WithFile(table=Path("/home/smith/tables/zip.csv"))
    assert {"table": "zip.csv"} == as_values(method, redact=True)
    assert {"table": "/home/smith/tables/zip.csv"} == as_values(method)


@attrs.frozen(kw_only=True)
class Straying(Auditor):
    """Names its private rows like files elsewhere, and two of them alike."""

    measures = "risk"

    def audit(self, case, context):
        rows = np.array([0])
        names = ("../../public/exposed", "/tmp/exposed", "twice", "twice")
        return Findings.of(PrivateRows(name=name, rows=rows, meaning="Exposed.") for name in names)


def test_private_rows_stay_in_the_private_folder_whatever_they_are_called(clinic):
    pipeline = clinic.pipeline()
    audits = tuple(attrs.evolve(use, method=Straying()) for use in pipeline.spec.audit)
    spec = attrs.evolve(pipeline.spec, audit=audits)
    attrs.evolve(pipeline, spec=spec).publish()

    assert [
        "counting--tmp-exposed.csv",
        "counting-..-..-public-exposed.csv",
        "counting-twice-4.csv",
        "counting-twice.csv",
    ] == sorted(path.name for path in clinic.out.glob("private/*.csv"))
    assert [] == list(clinic.out.glob("public/*exposed*"))


def test_only_what_a_run_wrote_is_replaced(clinic):
    """Many projects have a folder `public` with a `manifest.json` in it."""
    website = clinic.out
    (website / "public").mkdir(parents=True)
    (website / "public" / "manifest.json").write_text('{"name": "website", "format": 1}')
    assert not is_output(website)
    with pytest.raises(UsageError) as refused:
        clinic.pipeline().publish(replace=True)
    assert f"'{website}' is not an output folder of Anonloom and is not replaced" == (
        refused.value.what
    )


def test_an_output_beside_which_something_else_lies_is_not_replaced(clinic):
    clinic.pipeline().publish()
    assert is_output(clinic.out)
    (clinic.out / "thesis.tex").write_text("years of work")
    with pytest.raises(UsageError):
        clinic.pipeline().publish(replace=True)
    assert (clinic.out / "thesis.tex").exists()


# --- transformations ---------------------------------------------------------------------------


def test_a_public_transformation_speaks_of_published_classes_only(clinic):
    """A class that was withheld after sampling leaves no ends behind."""
    frame = pd.read_csv(clinic.folder / "clinic.csv").sort_values("age")
    frame = frame.assign(illness=["flu", "flu", "flu", "cold"] + ["flu", "cold"] * 4)
    frame.to_csv(clinic.folder / "clinic.csv", index=False)
    clinic.change("size: {k: 3}", "two-values: {of: illness}")
    clinic.change("as-declared\n", "as-declared\n  - sampler: first-half\n")
    clinic.change("publish:\n", "suppression: {at_most: 0.5, rows: drop}\npublish:\n")
    clinic.pipeline().publish(to=clinic.folder / "all")
    clinic.change("  to: out", "  to: out\n  transformation: true")
    clinic.pipeline().publish()

    whole = json.loads((clinic.folder / "all/private/transformation.json").read_text())
    public = json.loads((clinic.out / "public" / "transformation.json").read_text())
    assert [22.0, 31.0] == whole["regions"]["age"]["values"][:2]
    assert 3 == len(whole["regions"]["age"]["least"])
    assert 2 == len(public["regions"]["age"]["least"])
    assert 22.0 not in public["regions"]["age"]["values"]


def test_a_release_that_a_mechanism_protected_is_not_replayed(clinic):
    """Regions alone would publish new rows without that protection."""
    clinic.change("stages:\n", "stages:\n  - mechanism: add-one\n")
    clinic.pipeline().publish()
    assert ["counting-first.csv", "run.json"] == sorted(
        path.name for path in (clinic.out / "private").iterdir()
    )


@attrs.frozen(kw_only=True)
class Hundreds(Mechanism):
    """Publishes bills as hundreds, or not coarser than they are."""

    truthful = True
    coarse: bool = param(help="Whether they are.", default=True)

    def protect(self, table, context):
        table = table.with_all_columns()
        if not self.coarse:
            return table
        columns = [
            attrs.evolve(column, type="category") if column.name == "bill" else column
            for column in table.schema
        ]
        hundreds = table.frame.assign(
            bill=[f"{int(cell) // 100}.." for cell in table.frame["bill"]]
        )
        return Table.build(hundreds, Schema(columns), table.origin)


@pytest.mark.parametrize("coarse", [True, False])
def test_a_release_with_a_coarser_column_is_not_replayed(clinic, coarse):
    """Its cells cover the originals, but a replay would publish the new ones as they are."""
    clinic.change("bill: {role: other}", "bill: {role: other, type: number}")
    clinic.change("stages:\n", "stages:\n  - mechanism: add-one\n")
    pipeline = clinic.pipeline()
    stages = tuple(
        attrs.evolve(use, method=Hundreds(coarse=coarse)) if use.kind == "mechanism" else use
        for use in pipeline.spec.stages
    )
    attrs.evolve(pipeline, spec=attrs.evolve(pipeline.spec, stages=stages)).publish()
    private = [path.name for path in (clinic.out / "private").iterdir()]
    assert coarse == ("transformation.json" not in private)


def test_cells_that_cover_nothing_are_not_told_in_public(clinic):
    clinic.change("as-declared\n", "as-declared\n    with: {lies: true}\n")
    clinic.change("  to: out", "  to: out\n  transformation: true")
    clinic.pipeline().publish()

    assert [] == [path.name for path in clinic.out.rglob("transformation.json")]
