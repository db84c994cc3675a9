"""How stages hand over: mechanisms, merging, sampling, withholding, holdout, narrowing."""

import numpy as np
import pytest

from anonloom.errors import UsageError
from anonloom.hierarchies import STAR
from anonloom.kinds import stream
from anonloom_runner.reporting import record_text
from anonloom_testing import toy_methods


def test_each_stage_has_random_numbers_of_its_own():
    """They depend on seed and id alone, so that adding a stage shifts no other."""
    assert stream(1, "a").integers(1 << 30) == stream(1, "a").integers(1 << 30)
    assert stream(1, "a").integers(1 << 30) != stream(1, "b").integers(1 << 30)
    assert stream(1, "a").integers(1 << 30) != stream(2, "a").integers(1 << 30)


def test_a_mechanism_without_a_generalizer_publishes_its_table(clinic):
    clinic.change(
        "  - partitioner: runs\n  - generalizer: as-declared\n", "  - mechanism: add-one\n"
    )
    clinic.change("privacy:\n  - size: {k: 3}\n", "privacy: none\n")
    outcome = clinic.pipeline().run()

    ages = sorted(int(cell) for cell in outcome.release.frame["age"])
    assert [23, 28, 30, 32, 34, 39, 42, 46, 49, 53, 58, 61] == ages
    assert not outcome.release.truthful
    assert [
        ("No privacy model was declared ('privacy: none').", True),
        ("Published cells do not cover the originals: values were changed.", False),
        (
            "The information loss (GCP) is not measured: it says how wide published cells are, not "
            "how far they are from the originals, and these columns were changed: 'age'.",
            False,
        ),
    ] == [(item["text"], item["privacy"]) for item in outcome.report["warnings"]]
    assert outcome.report["summary"]["gcp"] is None
    assert [("age", None), ("sex", 0.0)] == [
        (column["name"], column["loss"])
        for column in outcome.report["columns"]
        if column["role"] == "quasi"
    ]
    assert "  loss (GCP) not measured: values were changed\n" in record_text(outcome.report)


def test_classes_of_a_method_that_knows_sizes_only_are_merged_until_admitted(clinic):
    clinic.change("  - size: {k: 3}\n", "  - size: {k: 3}\n  - two-values: {of: illness}\n")
    text = (clinic.folder / "clinic.csv").read_text()
    # The four youngest have one illness; only a merge can mix it.
    for person in ("person 1,22,m,cold", "person 3,27,m,cold"):
        text = text.replace(person, person.replace("cold", "flu"))
    (clinic.folder / "clinic.csv").write_text(
        text.replace("person 9,29,m,cold", "person 9,29,m,flu")
    )
    outcome = clinic.pipeline().run()

    frame = outcome.release.frame
    assert (frame.groupby(["age", "sex"], observed=True)["illness"].nunique() >= 2).all()
    assert [4, 8] == sorted(outcome.collection.classes.sizes.tolist())


def test_sampling_after_the_generalizer_keeps_k_rows_of_every_class(clinic):
    clinic.change(
        "  - generalizer: as-declared\n", "  - generalizer: as-declared\n  - sampler: first-half\n"
    )
    outcome = clinic.pipeline("stages.partitioner.length=6").run()

    assert [3, 3] == sorted(outcome.release.frame.groupby(["age", "sex"], observed=True).size())
    assert 12 == len(outcome.collection.sampling.before)


def test_a_class_that_fails_after_sampling_is_withheld_whole(clinic):
    clinic.change(
        "  - generalizer: as-declared\n", "  - generalizer: as-declared\n  - sampler: first-half\n"
    )
    clinic.change("  - size: {k: 3}\n", "  - size: {k: 3}\n  - two-values: {of: illness}\n")
    clinic.change("privacy:", "suppression: {at_most: 0.5}\nprivacy:")
    text = (clinic.folder / "clinic.csv").read_text()
    # Sampling keeps the first rows of the file: the first three of the six youngest have flu.
    rows = text.splitlines()
    young = [index for index, row in enumerate(rows[1:], 1) if int(row.split(",")[1]) <= 38]
    for index in young[:3]:
        rows[index] = rows[index].replace("cold", "flu")
    (clinic.folder / "clinic.csv").write_text("\n".join(rows) + "\n")
    outcome = clinic.pipeline("stages.partitioner.length=6").run()

    kept = outcome.release.frame[~outcome.release.suppressed_rows]
    assert 3 == int(outcome.release.suppressed_rows.sum())
    assert (kept.groupby(["age", "sex"], observed=True)["illness"].nunique() >= 2).all()


def test_a_sampler_before_the_partitioner_samples_the_table(clinic):
    clinic.change("  - partitioner: runs\n", "  - sampler: first-half\n  - partitioner: runs\n")
    outcome = clinic.pipeline("stages.sampler.promise=false").run()

    assert list(range(6)) == sorted(outcome.release.origin.tolist())
    assert outcome.collection.sampling.before is None
    drawn = outcome.collection.sampling.presample
    assert (list(range(12)), list(range(6))) == (drawn.among.tolist(), drawn.kept.tolist())


def test_several_samplers_before_the_partitioner_are_one_draw(clinic):
    first = "  - {id: one, sampler: first-half}\n  - {id: two, sampler: first-half}\n"
    clinic.change("  - partitioner: runs\n", first + "  - partitioner: runs\n")
    outcome = clinic.pipeline().run()

    drawn = outcome.collection.sampling.presample
    assert (list(range(12)), [0, 1, 2]) == (drawn.among.tolist(), drawn.kept.tolist())


def test_held_out_rows_are_in_no_release_and_reach_the_auditors(clinic):
    clinic.change("  with: {path: clinic.csv}\n", "  with: {path: clinic.csv}\n  holdout: 0.25\n")
    clinic.change("  - counting\n", "  - counting\n  - needs-control\n")
    outcome = clinic.pipeline().run()

    assert 9 == len(outcome.release)
    assert 3 == outcome.findings["needs-control"]["control"].value


def test_other_releases_reach_the_auditors(clinic):
    (clinic.folder / "earlier.csv").write_text('age,sex\n"[20, 40]",f\n*,m\n')
    clinic.change("data:\n", "data:\n  other_releases: [earlier.csv]\n")
    clinic.change("  - counting\n", "  - counting\n  - needs-others\n")

    assert 2 == clinic.pipeline().run().findings["needs-others"]["others"].value


@pytest.mark.parametrize(("age", "value"), [("20-40", 1), (">=30", 1), ("from 20 to 40", None)])
def test_other_releases_are_read_as_other_tools_write_them(clinic, age, value):
    (clinic.folder / "earlier.csv").write_text(f"age,sex\n{age},f\n")
    clinic.change("data:\n", "data:\n  other_releases: [earlier.csv]\n")
    clinic.change("  - counting\n", "  - counting\n  - needs-others\n")

    assert value == clinic.pipeline().run().findings["needs-others"]["others"].value


def test_incomplete_rows_are_published_as_stars(clinic):
    clinic.change("sex: {role: quasi}", "sex: {role: quasi, missing: suppress}")
    clinic.change("privacy:", "suppression: {at_most: 0.2}\nprivacy:")
    text = (clinic.folder / "clinic.csv").read_text().replace("person 3,27,m", "person 3,27,")
    (clinic.folder / "clinic.csv").write_text(text)
    release = clinic.pipeline().run().release

    starred = release.frame[release.suppressed_rows]
    assert [3] == release.origin[release.suppressed_rows].tolist()
    assert [STAR, STAR] == starred[["age", "sex"]].iloc[0].tolist()
    assert [True, True] == starred[["illness", "bill"]].isna().iloc[0].tolist()


def test_an_identifier_is_published_as_a_keyed_hash_when_it_says_so(clinic):
    clinic.change(
        "    bill: {role: other}",
        "    bill: {role: other}\n    name: {role: identifier, pseudonymize: true}",
    )
    first, second = clinic.pipeline().run(), clinic.pipeline().run()

    assert 12 == first.release.frame["name"].nunique()
    assert not set(first.release.frame["name"]) & set(second.release.frame["name"])
    assert not any("person" in text for text in first.release.frame["name"])
    assert 64 == len(first.private["pseudonym_keys"]["name"])


def test_quasi_identifiers_that_no_model_speaks_of_are_published_and_announced(clinic, registry):
    model = registry.load("privacy", "size")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model, "combinations", lambda self, schema: (("age",),))
        outcome = clinic.pipeline().run()

    assert {"f", "m"} == set(outcome.release.frame["sex"])
    text = (
        "No privacy model speaks of these quasi-identifiers, which are published as they are: sex"
    )
    warning = {"stage": "", "text": text, "privacy": True}
    assert warning in outcome.report["warnings"]


def test_observers_hear_of_every_stage_and_a_broken_one_stops_nothing(clinic, registry, caplog):
    from anonloom.api import hookimpl

    class Listener:
        def __init__(self):
            self.heard = []

        @hookimpl
        def anonloom_run_started(self, stages):
            self.heard.append(("run", *stages))

        @hookimpl
        def anonloom_stage_progress(self, stage, done, total):
            self.heard.append(("progress", stage, done, total))

        @hookimpl
        def anonloom_stage_finished(self, stage, rows, classes, suppressed):
            self.heard.append((stage, rows, classes, suppressed))

        @hookimpl
        def anonloom_release_checked(self, model, holds, classes, rows):
            self.heard.append((model, holds, classes, rows))

        @hookimpl
        def anonloom_run_finished(self, status):
            self.heard.append(status)

    class Broken:
        @hookimpl
        def anonloom_stage_finished(self, stage):
            raise RuntimeError("no")

    listener = Listener()
    registry.observers.add(Broken())
    registry.observers.add(listener)
    clinic.pipeline().publish()

    assert [
        ("run", "source", "collector", "partitioner", "generalizer", "counting"),
        ("source", 12, None, 0),
        ("progress", "partitioner", 1, 1),
        ("partitioner", 12, 3, 0),
        ("generalizer", 12, 3, 0),
        ("collector", 12, None, 0),
        ("size", True, 0, 0),
        ("counting", 12, None, 0),
        "published",
    ] == listener.heard
    assert 1 == sum("RuntimeError" in record.getMessage() for record in caplog.records)


def test_a_refused_run_is_announced_as_refused(clinic, registry):
    from anonloom.api import hookimpl
    from anonloom.errors import PrivacyError

    class Listener:
        status = None

        @hookimpl
        def anonloom_run_finished(self, status):
            self.status = status

    listener = Listener()
    registry.observers.add(listener)
    with pytest.raises(PrivacyError):
        clinic.pipeline("privacy.size.k=13").run()

    assert "refused" == listener.status


def test_stage_findings_and_audit_findings_are_kept_by_id(clinic):
    outcome = clinic.pipeline().run()

    assert 3 == outcome.findings["partitioner"]["runs"].value
    assert 12 == outcome.findings["counting"]["rows"].value
    assert ["sizes"] == [chart.name for chart in outcome.findings["counting"].charts]
    assert np.array_equal([0], outcome.findings["counting"].private[0].rows)


def test_a_mechanism_must_leave_what_a_partitioner_needs(clinic):
    clinic.change("  - partitioner: runs\n", "  - mechanism: add-one\n  - partitioner: runs\n")
    clinic.pipeline("stages.partitioner.needs=illness").run()
    with pytest.raises(UsageError) as refused:
        clinic.pipeline(
            "stages.partitioner.needs=illness", "stages.mechanism.forgets=illness"
        ).publish()

    assert "runs cannot be used: there is no column 'illness'" == str(refused.value)
    assert not (clinic.folder / "out").exists()


def test_the_report_says_of_a_dropped_column_that_it_is_not_published(clinic):
    clinic.change("  - partitioner: runs\n", "  - mechanism: add-one\n  - partitioner: runs\n")

    def published(*changes):
        outcome = clinic.pipeline(*changes).run()
        columns = {item["name"]: item["published"] for item in outcome.report["columns"]}
        assert [name for name in columns if columns[name]] == list(outcome.release.frame.columns)
        return columns["illness"]

    assert published()
    assert not published("stages.mechanism.forgets=illness")


def test_a_mechanism_must_leave_what_a_privacy_model_looks_at(clinic):
    clinic.change("  - partitioner: runs\n", "  - mechanism: add-one\n  - partitioner: runs\n")
    clinic.change("  - size: {k: 3}\n", "  - size: {k: 3}\n  - two-values: {of: illness}\n")
    with pytest.raises(UsageError) as refused:
        clinic.pipeline("stages.mechanism.forgets=illness").publish()

    assert (
        "two-values cannot be judged after the mechanisms: there is no column 'illness'\n"
        "    Keep the columns that a privacy model names." == str(refused.value)
    )
    assert not clinic.pipeline().run().release.truthful


def test_a_partitioner_that_is_half_of_two_says_so_where_no_other_follows(clinic, monkeypatch):
    """The runner knows what follows; a method does not."""
    runs = toy_methods.Runs
    monkeypatch.setattr(runs, "unrefined", property(lambda self: f"Half: {self.length}."))

    alone = clinic.pipeline("stages.partitioner.length=6").run().report["warnings"]
    clinic.change("  - partitioner: runs\n", "  - partitioner: runs\n  - partitioner: runs\n")
    followed = clinic.pipeline("stages[0].length=6").run().report["warnings"]

    assert [("partitioner", "Half: 6.")] == [(item["stage"], item["text"]) for item in alone]
    assert [("partitioner-2", "Half: 4.")] == [(item["stage"], item["text"]) for item in followed]
