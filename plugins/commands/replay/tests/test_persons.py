"""Rows are not taken for persons where the new table says otherwise."""

import json

import pytest

from anonloom.errors import DataError, PrivacyError
from anonloom_replay.publish import apply_file
from anonloom_testing.visits import NUMBER, PATIENTS, STOPPED, VISITS, visits, write_visits


@pytest.fixture
def clinic(clinic):
    """A clinic whose patients come again."""
    return write_visits(clinic)


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
