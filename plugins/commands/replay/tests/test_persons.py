"""Rows are not taken for persons where the new table says otherwise."""

import json

import numpy as np
import pandas as pd
import pytest

from anonloom.errors import DataError, PrivacyError
from anonloom_replay.publish import apply_file

PATIENTS, VISITS = 60, 5


def visits(seed=1):
    """Sixty patients with five visits each, in no order."""
    rng = np.random.default_rng(seed)
    rows = np.repeat(np.arange(PATIENTS), VISITS)
    return (
        pd.DataFrame(
            {
                "patient": [f"P{number:04}" for number in rows],
                "age": rng.integers(18, 95, PATIENTS)[rows],
                "sex": rng.choice(["f", "m"], PATIENTS)[rows],
                "zip": rng.integers(10, 20, PATIENTS)[rows],
                "illness": rng.choice(["flu", "cold", "gout"], len(rows)),
            }
        )
        .sample(frac=1, random_state=seed)
        .reset_index(drop=True)
    )


PIPELINE = """
version: 1
name: visits
seed: 7
data:
  source: csv
  with: {path: visits.csv}
  columns:
    patient: {role: identifier}
    age: {role: quasi, type: number}
    sex: {role: quasi}
    zip: {role: quasi}
    illness: {role: sensitive}
privacy:
  - size: {k: 5}
stages:
  - partitioner: runs
  - generalizer: as-declared
publish: {to: out}
"""

STOPPED = (
    "rows would be counted as persons: column 'patient' is an identifier, and 300 of 300 rows have "
    "a value of it that another row has, too\n"
    "    Nothing was written. Declare what is so, in one line:\n"
    "    patient: {role: person}  # rows that share a value are one person's\n"
    "    patient: {role: identifier, namesakes: true}  # different people share it\n"
    "    unit: record  # below 'data': records are counted, and nothing is said of persons"
)

NUMBER = (
    "Column 'patient', which is not declared, is probably a person's number, and rows are counted "
    "as persons: 300 of the first 300 rows share a value of it, and 100% of these agree in all "
    "quasi-identifiers but one. Declare it as 'role: person', or as 'role: identifier' with "
    "'namesakes: true', or write 'unit: record' below 'data'."
)


@pytest.fixture
def clinic(clinic):
    """A clinic whose patients come again."""
    visits().to_csv(clinic.folder / "visits.csv", index=False)
    clinic.write(PIPELINE)
    return clinic


def applied(clinic, frame):
    frame.to_csv(clinic.folder / "new.csv", index=False)
    return apply_file(
        clinic.out / "private" / "transformation.json",
        clinic.folder / "new.csv",
        clinic.folder / "applied",
        clinic.registry,
        at_most=1,
    )


def one_visit_each():
    return visits().assign(patient=[f"Q{index}" for index in range(PATIENTS * VISITS)])


def test_an_identifier_that_comes_back_stops_apply(clinic):
    clinic.pipeline().publish(one_visit_each())
    with pytest.raises(PrivacyError) as caught:
        applied(clinic, visits())
    assert STOPPED == str(caught.value)
    assert not (clinic.folder / "applied").exists()


def test_new_rows_may_lack_an_identifier_which_is_not_published(clinic):
    clinic.pipeline().publish(one_visit_each())
    report = applied(clinic, visits().drop(columns="patient"))
    assert [] == [item["text"] for item in report["warnings"] if "person" in item["text"]]


def test_an_undeclared_number_of_persons_turns_the_verdict_of_apply_amber(clinic):
    clinic.change("    patient: {role: identifier}\n", "")
    clinic.pipeline().publish(one_visit_each())
    report = applied(clinic, visits())
    assert [("source", NUMBER)] == [
        (item["stage"], item["text"]) for item in report["warnings"] if "person" in item["text"]
    ]
    assert "amber" == report["verdict"]["tone"]


def test_apply_counts_what_the_earlier_run_counted(clinic):
    clinic.change("data:\n", "data:\n  unit: record\n")
    clinic.pipeline().publish()
    assert "records" == applied(clinic, visits())["unit"]


@pytest.mark.parametrize(("unit", "expected"), [(None, "persons"), ("record", "records")])
def test_files_of_earlier_versions_counted_persons(clinic, unit, expected):
    clinic.pipeline().publish(one_visit_each())
    path = clinic.out / "private" / "transformation.json"
    content = json.loads(path.read_text())
    del content["unit"]
    path.write_text(json.dumps(content if unit is None else {**content, "unit": unit}))
    assert expected == applied(clinic, one_visit_each())["unit"]


def test_a_unit_that_is_none_is_refused(clinic):
    clinic.pipeline().publish(one_visit_each())
    path = clinic.out / "private" / "transformation.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "unit": "household"}))
    with pytest.raises(DataError) as caught:
        applied(clinic, visits())
    assert f"{path}: the transformation is damaged (ValueError)" == str(caught.value)
