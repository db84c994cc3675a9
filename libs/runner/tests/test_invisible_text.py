"""Characters that nobody sees hold no privacy model, wherever they come in."""

import attrs
import pandas as pd
import pytest

from anonloom import Column, Generalizer, Mechanism, Registry, Release, Schema, Table
from anonloom.errors import PrivacyError
from anonloom_cli import main
from anonloom_runner import check

#: Ten rows of one person with one illness, told apart by what nobody sees.
UNSEEN = [
    "",
    "\u200b",
    "\u00ad",
    "\ufeff",
    "\u2066",
    "\ufe0f",
    "\u034f",
    "\u115f",
    "\x01",
    "\u2065",
]
ALONE = pd.DataFrame(
    {
        "who": [f"an{unseen}na" for unseen in UNSEEN],
        "zip": ["12345"] * 10,
        "illness": [f"flu{unseen}" for unseen in UNSEEN],
    }
)

PIPELINE = """
version: 1
name: alone
seed: 7
data:
  source: csv
  with: {path: alone.csv}
  columns:
    who: {role: person}
    zip: {role: quasi}
    illness: {role: sensitive}
privacy:
  - size: {k: 3}
  - two-values: {of: illness}
stages:
  - partitioner: runs
  - generalizer: as-declared
publish: {to: out}
"""


@pytest.fixture
def alone(clinic):
    clinic.write(PIPELINE)
    return clinic


def refused(run):
    with pytest.raises(PrivacyError) as error:
        run()
    assert 3 == error.value.exit_code
    return error.value.what


@pytest.mark.parametrize("source", ["csv", "parquet", "frame"])
@pytest.mark.parametrize(
    ("change", "what"),
    [
        (
            {},
            "the whole table does not satisfy size: it has 10 usable rows of 1 person, and k: 1 "
            "would pass",
        ),
        (
            {"who": [f"person {index}" for index in range(10)]},
            "the whole table does not satisfy two-values: it has 10 usable rows of 10 persons, and "
            "one value would pass",
        ),
    ],
)
def test_one_person_and_one_illness_are_one_from_every_source(alone, source, change, what):
    frame = ALONE.assign(**change)
    if source == "csv":
        frame.to_csv(alone.folder / "alone.csv", index=False)
    else:
        frame.to_parquet(alone.folder / "alone.parquet")
        alone.change("source: csv", f"source: {source}")
        alone.change("alone.csv", "alone.parquet")
    if source == "frame":
        alone.change("  with: {path: alone.parquet}\n", "")
    given = frame if source == "frame" else None
    assert what == refused(lambda: alone.pipeline().run(given))


# --- the final check trusts nobody ----------------------------------------------------------------


@attrs.frozen(kw_only=True)
class Tampering(Generalizer):
    """Publishes honest cells, some of them with what nobody sees."""

    def generalize(self, table, classes, context):
        lo, hi = classes.extents(table.codes)
        cells = [axis.publish(lo[:, index], hi[:, index]) for index, axis in enumerate(table.axes)]
        release = Release.from_cells(table, classes, cells, truthful=True)
        return attrs.evolve(release, frame=self.tampered(release.frame.copy()))

    def tampered(self, frame):
        raise NotImplementedError


class HidesInQuasi(Tampering):
    def tampered(self, frame):
        frame["sex"] = frame["sex"].cat.rename_categories(lambda cell: f"{cell}\u200b")
        return frame


class Decomposes(Tampering):
    def tampered(self, frame):
        cells = frame["sex"].astype(object)
        cells.iloc[0] = "e\u0301"
        frame["sex"] = cells.astype("category")
        return frame


class HidesInSensitive(Tampering):
    def tampered(self, frame):
        unseen = [UNSEEN[index % len(UNSEEN)] for index in range(len(frame))]
        frame["illness"] = [f"flu{item}" for item in unseen]
        return frame


@attrs.frozen(kw_only=True)
class HidesInTable(Mechanism):
    """Hides in a table whose sensitive values nobody has brought to their form.

    The codes by which classes are made are those of the honest values.
    """

    def protect(self, table, context):
        assert 2 == len(set(table.encode_column("illness").codes.tolist()))
        frame = table.frame.copy()
        frame["illness"] = [f"flu{UNSEEN[index % len(UNSEEN)]}" for index in range(len(frame))]
        return attrs.evolve(table, frame=frame)


def swapped(clinic, kind, method):
    pipeline = clinic.pipeline()
    stages = tuple(
        attrs.evolve(use, method=method) if use.kind == kind else use
        for use in pipeline.spec.stages
    )
    return attrs.evolve(pipeline, spec=attrs.evolve(pipeline.spec, stages=stages))


@pytest.mark.parametrize(
    ("method", "cells"), [(HidesInQuasi(), "12 cells"), (Decomposes(), "1 cell")]
)
@pytest.mark.parametrize("privacy", ["privacy:\n  - size: {k: 3}", "privacy: none"])
def test_no_quasi_identifier_is_published_with_what_nobody_sees(clinic, method, cells, privacy):
    clinic.change("privacy:\n  - size: {k: 3}", privacy)
    with pytest.raises(PrivacyError) as error:
        swapped(clinic, "generalizer", method).publish()
    assert (
        "the release is not published: there are characters that nobody sees, or text that is not "
        f"in Unicode's form NFC, in {cells} of column 'sex'; a machine tells such cells apart\n"
        "    Nothing was written. The data were read without them: a mechanism, the generalizer or "
        "the collector put them in. Cells must be in the form of "
        "anonloom.data.normalize_text."
    ) == str(error.value)
    assert 3 == error.value.exit_code
    assert not clinic.out.exists()


ONE_ILLNESS = (
    "the release is not published: two-values does not hold: 3 of 3 published classes (12 of 12 "
    "rows) are refused; one value would pass"
)


def test_a_generalizer_cannot_make_one_illness_look_like_many(clinic):
    clinic.change("- size: {k: 3}", "- size: {k: 3}\n  - two-values: {of: illness}")
    pipeline = swapped(clinic, "generalizer", HidesInSensitive())
    assert ONE_ILLNESS == refused(pipeline.run)


def test_a_mechanism_cannot_make_one_illness_look_like_many(clinic):
    clinic.change("- size: {k: 3}", "- size: {k: 3}\n  - two-values: {of: illness}")
    clinic.change("- partitioner: runs", "- mechanism: add-one\n  - partitioner: runs")
    pipeline = swapped(clinic, "mechanism", HidesInTable())
    assert ONE_ILLNESS == refused(pipeline.run)


def test_the_published_frame_alone_decides(clinic):
    """Sensitive values are counted as a reader takes them, whatever the rows were before."""
    outcome = clinic.pipeline().run()
    models = tuple((use.name, use.method) for use in clinic.pipeline().spec.privacy)
    assert all(verdict.holds for verdict in check.judge_models(outcome.release, models))
    hidden = HidesInQuasi().tampered(outcome.release.frame.copy())
    with pytest.raises(PrivacyError):
        check.judge_models(attrs.evolve(outcome.release, frame=hidden), models)


# --- what is said ---------------------------------------------------------------------------------


def spell(clinic, column, spelling):
    """Give the first cell of a column, and all like it, another spelling."""
    path = clinic.folder / "clinic.csv"
    frame = pd.read_csv(path, dtype=str)
    frame.loc[0, column] = spelling
    frame.to_csv(path, index=False)


def test_the_report_counts_the_cells_that_were_changed(clinic):
    spell(clinic, "illness", "f\u200blu")
    spell(clinic, "age", "31\u200e")
    outcome = clinic.pipeline().publish()
    counts = {"age": 1, "sex": 0, "illness": 1, "bill": 0}
    assert counts == {
        column["name"]: column["normalized_cells"] for column in outcome.report["columns"]
    }
    text = (clinic.out / "public" / "report.txt").read_text()
    assert "\n  cells read without invisible characters, in NFC: age 1, illness 1\n" in text
    assert "green" == outcome.report["verdict"]["tone"]
    for file in (clinic.out / "public").iterdir():
        assert b"\xe2\x80\x8b" not in file.read_bytes()


def test_a_report_of_plain_text_does_not_speak_of_it(clinic):
    clinic.pipeline().publish()
    assert "invisible" not in (clinic.out / "public" / "report.txt").read_text()


@pytest.mark.parametrize(
    ("spelling", "how"),
    [
        (
            "Flu",
            "2 of 3 values differ from another one only by capitals, blanks or the form of "
            "Unicode. Models count them as one.",
        ),
        (
            "f1u",
            "2 of 3 values look like another one, with letters of different alphabets, 0 and O, or "
            "1, l and I.",
        ),
    ],
)
def test_values_that_people_take_for_one_another_turn_the_verdict_amber(clinic, spelling, how):
    spell(clinic, "illness", spelling)
    report = clinic.pipeline().run().report
    warning = f"Column 'illness': {how}"
    assert ("amber", [warning]) == (report["verdict"]["tone"], report["verdict"]["reasons"])
    assert [{"stage": "source", "text": warning, "privacy": True}] == report["warnings"]


# --- hierarchies ----------------------------------------------------------------------------------


def test_leaves_and_values_meet_in_their_form(clinic):
    (clinic.folder / "sex.csv").write_text("\u200bf;kno\u00adwn;*\nm;known;*\n", encoding="utf-8")
    clinic.change("sex: {role: quasi}", "sex: {role: quasi, hierarchy: sex.csv}")
    spell(clinic, "sex", "f\u2060")
    cells = set(clinic.pipeline().run().release.frame["sex"])
    assert cells <= {"f", "m", "known", "*"}


def test_a_tree_of_the_pipeline_file_is_read_alike(clinic):
    clinic.change(
        "sex: {role: quasi}",
        'sex: {role: quasi, hierarchy: {build: tree, tree: {"any\u200b": [f, m]}}}',
    )
    assert set(clinic.pipeline().run().release.frame["sex"]) <= {"f", "m", "any", "*"}


def test_a_column_that_is_named_with_what_nobody_sees_is_refused_where_it_is_declared(
    clinic, registry, monkeypatch, capsys
):
    monkeypatch.setattr(Registry, "_environment", registry)
    monkeypatch.chdir(clinic.folder)
    clinic.change("sex: {role: quasi}", '"s\\u200Bex": {role: quasi}')
    assert 2 == main(["check", "pipeline.yaml"])
    assert (
        "a column's name must be in Unicode's form NFC, without characters that nobody sees and "
        "without line breaks. Got 's\\u200bex' instead." in capsys.readouterr().err
    )


def test_a_table_that_is_built_again_counts_nothing_twice():
    frame = pd.DataFrame({"illness": ["flu\u200b"]})
    schema = Schema([Column(name="illness", role="other")])
    table = Table.build(frame, schema)
    assert ({"illness": 1}, {}) == (table.normalized, Table.build(table.frame, schema).normalized)
