"""No method, however wrong, gets a release past the check by changing what is checked."""

import attrs
import numpy as np
import pandas as pd
import pytest

from anonloom import (
    Auditor,
    Collector,
    Finding,
    Findings,
    Generalizer,
    Mechanism,
    Partitioner,
    Release,
    Schema,
    Table,
    param,
)
from anonloom.errors import PluginError, PrivacyError


@attrs.frozen(kw_only=True)
class Changed(Generalizer):
    """Publishes honest cells, and then changes the release."""

    how: str = param(help="Name of the change.")

    def generalize(self, table, classes, context):
        lo, hi = classes.extents(table.codes)
        cells = [axis.publish(lo[:, index], hi[:, index]) for index, axis in enumerate(table.axes)]
        return CHANGES[self.how](Release.from_cells(table, classes, cells, truthful=True), table)


@attrs.frozen(kw_only=True)
class Protected(Mechanism):
    """Changes the table as it is told."""

    how: str = param(help="Name of the change.")

    def protect(self, table, context):
        return CHANGES[self.how](table)


@attrs.frozen(kw_only=True)
class Collected(Collector):
    """Runs the stages, and then changes the release."""

    how: str = param(help="Name of the change.")

    def collect(self, table, stages, guard, context):
        collection = stages.run(table, guard)
        return attrs.evolve(collection, release=CHANGES[self.how](collection.release, table))


def swapped(clinic, kind, method):
    """The clinic's pipeline with another method in the stage of a kind."""
    pipeline = clinic.pipeline()
    spec = pipeline.spec
    if kind == "collector":
        spec = attrs.evolve(spec, collect=attrs.evolve(spec.collect, method=method))
    elif kind == "auditor":
        audits = tuple(attrs.evolve(use, method=method) for use in spec.audit)
        spec = attrs.evolve(spec, audit=audits)
    else:
        stages = tuple(
            attrs.evolve(use, method=method) if use.kind == kind else use for use in spec.stages
        )
        spec = attrs.evolve(spec, stages=stages)
    return attrs.evolve(pipeline, spec=spec)


def with_roles(schema, **roles):
    return Schema(
        tuple(
            attrs.evolve(column, role=roles[column.name], publish=None)
            if column.name in roles
            else column
            for column in schema
        )
    )


def raw(release, table):
    """Every quasi-identifier as it was, under a role that no model looks at."""
    rows = release.rows_in(table)
    frame = release.frame.copy()
    frame["age"] = table.frame["age"].to_numpy()[rows]
    return attrs.evolve(
        release, frame=frame, schema=with_roles(release.schema, age="other", sex="other")
    )


def extra(release, table):
    return attrs.evolve(release, frame=release.frame.assign(row=np.arange(len(release))))


def objects(release, table):
    """Cells that are equal as objects and differ as text: three classes that look like one."""
    mixed = pd.Series([1, 1.0, True] * (len(release) // 3), dtype=object)
    return attrs.evolve(release, frame=release.frame.assign(age=mixed))


def doubled(release, table):
    """The first row of every class in the place of all its rows."""
    first = pd.Series(np.arange(len(release))).groupby(release.classes).transform("min")
    return release.take(first.to_numpy())


def of_nobody(release, table):
    return attrs.evolve(release, origin=None)


def of_no_row(release, table):
    return attrs.evolve(release, origin=np.full(len(release), -1))


def of_other_rows(release, table):
    return attrs.evolve(release, origin=release.origin + 100)


def demoted(table):
    return Table.build(table.frame, with_roles(table.schema, age="other"), table.origin)


def without_persons(table):
    kept = Schema(tuple(column for column in table.schema if column.role != "person"))
    return Table.build(table.frame, kept, table.origin)


CHANGES = {
    change.__name__: change
    for change in (
        raw,
        extra,
        objects,
        doubled,
        of_nobody,
        of_no_row,
        of_other_rows,
        demoted,
        without_persons,
    )
}

BROKEN = {
    "raw": "turned column 'age' from role 'quasi' into 'other'",
    "extra": "published other columns than its schema says",
    "objects": "published the quasi-identifier 'age' as something else than text",
    "doubled": "published other rows than it was given",
}


@pytest.mark.parametrize("how", BROKEN)
def test_a_generalizer_is_held_to_the_table_it_was_given(clinic, how):
    with pytest.raises(PluginError) as caught:
        swapped(clinic, "generalizer", Changed(how=how)).publish()
    result = f"generalizer 'as-declared' of anonloom-core broke its promise: it {BROKEN[how]}"
    assert caught.value.what == result
    assert clinic.file_names() == ["clinic.csv", "pipeline.yaml"]


@pytest.mark.parametrize("how", ["raw", "extra", "objects"])
def test_a_collector_is_held_to_the_declared_columns(clinic, how):
    with pytest.raises(PluginError) as caught:
        swapped(clinic, "collector", Collected(how=how)).publish()
    result = f"collector 'curator' of anonloom-core broke its promise: it {BROKEN[how]}"
    assert caught.value.what == result
    assert clinic.file_names() == ["clinic.csv", "pipeline.yaml"]


def test_rows_that_a_collector_doubled_count_once(clinic):
    with pytest.raises(PrivacyError) as caught:
        swapped(clinic, "collector", Collected(how="doubled")).publish()
    assert caught.value.what == (
        "the release is not published: size does not hold: 3 of 3 published classes "
        "(12 of 12 rows) are refused; k: 1 would pass"
    )


@pytest.mark.parametrize("how", ["of_nobody", "of_no_row", "of_other_rows"])
def test_a_release_of_unknown_rows_is_refused(clinic, how):
    with pytest.raises(PrivacyError) as caught:
        swapped(clinic, "collector", Collected(how=how)).publish()
    assert caught.value.what == (
        "the release is not published: it does not say truly whose rows it has, so that nobody "
        "can count the persons in it"
    )


def test_a_mechanism_is_held_to_the_roles_of_its_columns(clinic):
    clinic.change("stages:\n", "stages:\n  - mechanism: add-one\n")
    with pytest.raises(PluginError) as caught:
        swapped(clinic, "mechanism", Protected(how="demoted")).publish()
    assert caught.value.what == (
        "mechanism 'add-one' of anonloom-core broke its promise: it turned column 'age' from role "
        "'quasi' into 'other'"
    )


def test_persons_are_counted_although_a_mechanism_left_their_column_out(clinic):
    """Four persons of three rows each are enough for the whole table, not for a class."""
    frame = pd.read_csv(clinic.folder / "clinic.csv").sort_values("age")
    frame.assign(who=np.repeat(list("abcd"), 3)).to_csv(clinic.folder / "clinic.csv", index=False)
    clinic.change("    bill:", "    who: {role: person}\n    bill:")
    clinic.change("stages:\n", "stages:\n  - mechanism: add-one\n")
    with pytest.raises(PrivacyError) as caught:
        swapped(clinic, "mechanism", Protected(how="without_persons")).publish()
    assert caught.value.what == (
        "the release is not published: size does not hold: 3 of 3 published classes "
        "(12 of 12 rows) are refused; k: 2 would pass"
    )


@attrs.frozen(kw_only=True)
class Noting(Auditor):
    """Notes down the true values beside the published ones."""

    measures = "risk"

    def audit(self, case, context):
        case.release.frame["truth"] = case.original.frame["age"].to_numpy()[case.truth]
        case.release.frame["sex"] = "known"
        return Findings.of(Finding(name="rows", value=1, meaning="One."))


def test_what_an_auditor_writes_into_its_frame_is_not_published(clinic):
    clinic.pipeline().publish(to=clinic.folder / "honest")
    swapped(clinic, "auditor", Noting()).publish()
    published = (clinic.out / "public" / "release.csv").read_bytes()
    assert (clinic.folder / "honest" / "public" / "release.csv").read_bytes() == published


def test_held_out_and_unsampled_rows_do_not_show_in_breaks_and_ends(clinic):
    """The axes of a release are those of its own rows."""
    frame = pd.read_csv(clinic.folder / "clinic.csv")
    everybody = pd.concat([frame] * 4, ignore_index=True).assign(age=range(48))
    everybody.to_csv(clinic.folder / "clinic.csv", index=False)
    clinic.change("data:\n", "data:\n  holdout: 0.5\n")
    clinic.change("stages:\n", "stages:\n  - sampler: first-half\n")
    outcome = clinic.pipeline().run()
    prepared, original = outcome.collection.prepared, outcome.original
    assert sorted(original.frame["age"]) == original.axes[0].values.tolist()
    assert sorted(prepared.frame["age"]) == prepared.axes[0].values.tolist()
    assert (24, 12) == (len(original), len(prepared))


@attrs.frozen(kw_only=True)
class Leaving(Partitioner):
    """Cuts nothing."""

    def partition(self, table, classes, guard, context):
        return classes


def test_a_table_without_quasi_identifiers_is_refused_when_sampling_undid_a_model(clinic):
    """Nothing can be withheld there; the run must end."""
    clinic.change("stages:\n", "stages:\n  - mechanism: add-one\n    with: {forgets: age}\n")
    clinic.change("sex: {role: quasi}", "sex: {role: other}")
    clinic.change("size: {k: 3}", "two-values: {of: illness}")
    clinic.change("as-declared\n", "as-declared\n  - sampler: first-half\n")
    frame = pd.read_csv(clinic.folder / "clinic.csv").assign(illness=["flu"] * 11 + ["cold"])
    frame.to_csv(clinic.folder / "clinic.csv", index=False)
    with pytest.raises(PrivacyError) as caught:
        swapped(clinic, "partitioner", Leaving()).publish()
    assert caught.value.what == (
        "the release is not published: two-values does not hold: 1 of 1 published classes "
        "(6 of 6 rows) are refused; one value would pass"
    )


def test_a_guessed_seed_finds_nothing_of_the_order_of_the_input(clinic):
    """Two inputs with the same rows in another order, one seed: the same bytes."""
    clinic.change("  - partitioner: runs\n", "  - mechanism: add-one\n")
    clinic.change("  - generalizer: as-declared\n", "")
    clinic.change("  - size: {k: 3}\n", "")
    clinic.change("privacy:\n", "privacy: none\n")
    clinic.pipeline().publish(to=clinic.folder / "one")
    frame = pd.read_csv(clinic.folder / "clinic.csv")
    frame.iloc[::-1].to_csv(clinic.folder / "clinic.csv", index=False)
    clinic.pipeline().publish(to=clinic.folder / "two")
    for name in ("release.csv", "release.parquet"):
        paths = [clinic.folder / run / "public" / name for run in ("one", "two")]
        if paths[0].exists():
            assert paths[0].read_bytes() == paths[1].read_bytes()


@attrs.frozen(kw_only=True)
class Twice(Auditor):
    """Finds the same figure twice."""

    measures = "risk"

    def audit(self, case, context):
        context.find(Finding(name="share", value=0.9, meaning="The truth."))
        return Findings.of(Finding(name="share", value=0.0, meaning="A comfort."))


def test_no_finding_hides_another_of_its_name_from_a_condition(clinic):
    clinic.change("  - counting\n", "  - auditor: counting\n    fail_if: {share: '> 0.5'}\n")
    with pytest.raises(PrivacyError) as caught:
        swapped(clinic, "auditor", Twice()).publish()
    assert caught.value.what == (
        "the release is not published: fail_if holds for counting.share > 0.5 (it is 0.9)"
    )
