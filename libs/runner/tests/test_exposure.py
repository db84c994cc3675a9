"""Columns that are published as they are: what names people stops a release, or turns it amber."""

import numpy as np
import pandas as pd
import pytest

from anonloom import Column, Release, Schema, Table
from anonloom.errors import PrivacyError, UsageError
from anonloom_runner.exposure import examine_exposures
from anonloom_testing.hospital import PATIENTS, REFUSED, alone, patients

RNG = np.random.default_rng(5)


def looked_at(cells, persons=None, **options):
    column = Column(name="c", role=options.pop("role", "other"), **options)
    schema = Schema((Column(name="sex", role="other"), column))
    table = Table.build(patients(len(cells), c=cells), schema)
    *_, result = examine_exposures(Release.as_it_is(table), persons)
    return result


@pytest.mark.parametrize(
    ("cells", "options", "outcome"),
    [
        (alone(19), {}, "fine"),
        (alone(20), {}, "amber"),
        (alone(79), {}, "amber"),
        (alone(80), {}, "stop"),
        (alone(49, 200), {}, "amber"),
        (alone(50, 200), {}, "stop"),
        ([*range(199), *([-1] * 201)], {"type": "number"}, "amber"),
        ([*range(200), *([-1] * 200)], {"type": "number"}, "stop"),
        ([f"2{index:03d}-01-01" for index in range(PATIENTS)], {"type": "date"}, "stop"),
        (alone(12, 12), {}, "amber"),
        ([str(index) for index in range(12)], {}, "fine"),
        ([""] * PATIENTS, {}, "fine"),
        (["he came in by night"] * 390 + alone(10, 10, "she fell down {} stairs"), {}, "fine"),
        (alone(4, 12, "she fell down {} stairs"), {}, "stop"),
        (["flu"] * 397 + ["a@b.example"] * 3, {}, "fine"),
        (["flu"] * 296 + ["a@b.example"] * 4, {}, "stop"),
        (["flu"] * 298 + ["a@b.example"] * 2, {}, "fine"),
        ([9434765919] * 4 + [5] * 196, {"type": "number"}, "fine"),
        ([7903345311, 6744776746, 5674765456, 7183652505, 6883690328] + [5] * 195,
         {"type": "number"}, "stop"),
    ],
)  # fmt: skip
def test_a_column_is_judged_by_what_its_values_give_away(cells, options, outcome):
    assert outcome == looked_at(cells, **options).outcome


def test_a_value_that_one_person_has_in_many_rows_is_theirs_alone():
    persons = np.repeat(np.arange(PATIENTS // 4, dtype=np.int32), 4)
    cells = [f"file {person}" for person in persons]
    assert (0, "fine") == (looked_at(cells).alone, looked_at(cells).outcome)
    result = looked_at(cells, persons)
    assert (PATIENTS, "stop") == (result.alone, result.outcome)


def test_counts_agree_with_counting_by_hand():
    values = RNG.integers(0, 300, PATIENTS).astype(str)
    persons = RNG.integers(0, 100, PATIENTS).astype(np.int32)
    holders = {}
    for value, person in zip(values, persons, strict=True):
        holders.setdefault(value, set()).add(person)
    expected = sum(len(holders[value]) == 1 for value in values)
    assert expected == looked_at(list(values), persons).alone


HINT = (
    "Nothing was written. Declare it 'role: quasi', make it coarser in the data, or leave it out. "
    "Where such values must be published, 'accept: unique' on the column says so, and the report "
    "with it:\n    --set data.columns.name.accept=unique"
)


@pytest.mark.parametrize("role", ["sensitive", "label", "other"])
def test_names_stop_a_release_whatever_they_are_declared_to_be(hospital, role):
    clinic = hospital(role)
    with pytest.raises(PrivacyError) as refused:
        clinic.pipeline().publish()
    assert (REFUSED, HINT) == (refused.value.what, refused.value.hint)
    assert 3 == refused.value.exit_code
    assert not clinic.out.exists()


def test_the_line_that_the_message_gives_lifts_the_stop_and_stays_visible(hospital):
    outcome = hospital().pipeline("data.columns.name.accept=unique").run()
    reason = "Column 'name': 300 of 400 published rows have a value that nobody else has."
    assert ("amber", [reason]) == (
        outcome.report["verdict"]["tone"],
        outcome.report["verdict"]["reasons"],
    )
    (name,) = [item for item in outcome.report["columns"] if item["name"] == "name"]
    assert (0.75, "stop") == (name["alone"], name["exposure"])


def test_without_privacy_nothing_stops_and_everything_is_said(hospital):
    outcome = hospital().pipeline("privacy=none").run()
    reasons = outcome.report["verdict"]["reasons"]
    assert "Column 'name': 300 of 400 published rows have a value that nobody else has." in reasons


@pytest.mark.parametrize(
    ("column", "why"),
    [("sex", "it is generalized"), ("name", "0 of 400 published rows have a value that nobody else has")],
)  # fmt: skip
def test_an_acceptance_that_nothing_asks_for_is_refused(hospital, column, why):
    clinic = hospital()
    patients(name=alone(0)).to_csv(clinic.folder / "clinic.csv", index=False)
    with pytest.raises(UsageError) as refused:
        clinic.pipeline(f"data.columns.{column}.accept=unique").run()
    assert f"column '{column}' says 'accept: unique' and needs no acceptance: {why}" == (
        refused.value.what
    )


def test_columns_that_single_out_only_together_are_named_together(clinic):
    two = {
        "town": RNG.integers(0, 20, PATIENTS).astype(str),
        "job": RNG.integers(0, 20, PATIENTS).astype(str),
    }
    patients(**two).to_csv(clinic.folder / "clinic.csv", index=False)
    clinic.change("    illness: {role: sensitive}\n    bill: {role: other}\n",
                  "    town: {role: other}\n    job: {role: label}\n")  # fmt: skip
    seen = pd.Series(list(zip(two["town"], two["job"], strict=True))).value_counts()
    (reason,) = clinic.pipeline("audit=[]").run().report["verdict"]["reasons"]
    assert (
        "Columns that are published as they are (town, job) together single out "
        f"{int((seen == 1).sum())} of {PATIENTS} published rows." == reason
    )


def test_pseudonyms_turn_the_verdict_amber(clinic):
    clinic.change("    bill: {role: other}\n", "    name: {role: identifier, pseudonymize: true}\n")
    assert [
        "Column 'name' is published as pseudonyms: rows of one person stay linked, and whoever has "
        "the key can undo them."
    ] == clinic.pipeline().run().report["verdict"]["reasons"]
