"""A replay refuses and warns as a run does, and reads hostile files as mistakes in the data."""

import json

import pandas as pd
import pytest

from anonloom.errors import DataError, PrivacyError
from anonloom_replay.publish import apply_file
from anonloom_replay.transformation import Transformation
from anonloom_testing.clinic import public_bytes
from anonloom_testing.hospital import REFUSED, alone, patients


def test_names_among_new_rows_stop_apply(hospital):
    clinic = hospital("other")
    patients(name=alone(0)).to_csv(clinic.folder / "clinic.csv", index=False)
    clinic.pipeline().publish()
    patients(name=alone(300)).to_csv(clinic.folder / "new.csv", index=False)
    with pytest.raises(PrivacyError) as refused:
        apply_file(
            clinic.out / "private" / "transformation.json",
            clinic.folder / "new.csv",
            clinic.folder / "applied",
            clinic.registry,
        )
    assert REFUSED == refused.value.what
    assert not (clinic.folder / "applied").exists()


def test_what_the_first_release_accepted_apply_accepts_and_says(hospital):
    clinic = hospital("other", ", accept: unique")
    clinic.pipeline().publish()
    for cells, tone in ((alone(300), "amber"), (alone(0), "green")):
        patients(name=cells).to_csv(clinic.folder / "new.csv", index=False)
        report = apply_file(
            clinic.out / "private" / "transformation.json",
            clinic.folder / "new.csv",
            clinic.folder / "applied",
            clinic.registry,
            replace=True,
        )
        assert tone == report["verdict"]["tone"]


# --- hostile files ----------------------------------------------------------------------------------


@pytest.fixture
def transformation(clinic):
    clinic.pipeline().publish()
    return json.loads((clinic.out / "private" / "transformation.json").read_text())


@pytest.mark.parametrize(
    "suppression",
    [
        {"at_most": float("nan"), "rows": "star"},
        {"at_most": 7, "rows": "star"},
        {"at_most": "1", "rows": "star"},
        {"at_most": True, "rows": "star"},
        {"at_most": 0.1, "rows": "keep"},
        {"at_most": 0.1, "rows": "star", "keep": "bill"},
        {"at_most": 0.1, "rows": "drop", "keep": ["bill"]},
        {"at_most": 0.1, "rows": "star", "keep": ["illness"]},
        {"at_most": 0.1},
        {},
    ],
)
def test_a_transformation_without_a_true_limit_is_refused(transformation, suppression):
    with pytest.raises(DataError):
        Transformation.read({**transformation, "suppression": suppression})


@pytest.mark.parametrize(
    "privacy", [["size"], [{"model": "size"}], [{"model": "size", "parameters": 3}], 4]
)
def test_a_transformation_without_true_models_is_refused(transformation, privacy):
    with pytest.raises(DataError):
        Transformation.read({**transformation, "privacy": privacy})


def test_wrong_parameters_of_a_model_are_a_mistake_in_the_data(clinic, transformation):
    path = clinic.folder / "t.json"
    transformation["privacy"][0]["parameters"] = {"k": "many"}
    path.write_text(json.dumps(transformation))
    with pytest.raises(DataError) as refused:
        apply_file(path, clinic.folder / "clinic.csv", clinic.folder / "new", clinic.registry)
    assert "the transformation is damaged: these are no parameters of size" == refused.value.what


def test_a_deeply_nested_transformation_is_a_mistake_in_the_data(clinic):
    path = clinic.folder / "t.json"
    path.write_text("[" * 100_000)
    with pytest.raises(DataError) as refused:
        apply_file(path, clinic.folder / "clinic.csv", clinic.folder / "new", clinic.registry)
    assert f"{path}: cannot be read as JSON" == refused.value.what


def test_a_replay_without_models_says_so_and_is_not_named_after_its_input(clinic, transformation):
    path = clinic.folder / "t.json"
    path.write_text(json.dumps({**transformation, "privacy": []}))
    report = apply_file(path, clinic.folder / "clinic.csv", clinic.folder / "new", clinic.registry)
    text = "No privacy model was declared ('privacy: none')."
    assert [{"stage": "", "text": text, "privacy": True}] == report["warnings"]
    assert ("amber", [text]) == (report["verdict"]["tone"], report["verdict"]["reasons"])
    assert "new" == report["name"]
    assert b"clinic" not in public_bytes(clinic.folder / "new")


# --- text ---------------------------------------------------------------------------------------


def spell(clinic, column, spelling):
    """Give the first cell of a column, and all like it, another spelling."""
    path = clinic.folder / "clinic.csv"
    frame = pd.read_csv(path, dtype=str)
    frame.loc[0, column] = spelling
    frame.to_csv(path, index=False)


def replayed(clinic):
    report = apply_file(
        clinic.out / "private" / "transformation.json",
        clinic.folder / "clinic.csv",
        clinic.folder / "applied",
        clinic.registry,
    )
    frame = pd.read_csv(clinic.folder / "applied" / "public" / "release.csv", dtype=str)
    return report, sorted(frame[["age", "sex"]].to_numpy().tolist())


def test_apply_reads_text_alike(clinic):
    clinic.pipeline().publish()
    first = pd.read_csv(clinic.out / "public" / "release.csv", dtype=str)
    spell(clinic, "sex", "f\u200b")
    spell(clinic, "illness", "Flu")
    report, cells = replayed(clinic)
    assert sorted(first[["age", "sex"]].to_numpy().tolist()) == cells
    assert [0, 1, 0, 0] == [column["normalized_cells"] for column in report["columns"]]
    assert "amber" == report["verdict"]["tone"]


def test_regions_of_an_earlier_version_are_read_alike(clinic):
    clinic.change(
        "sex: {role: quasi}", "sex: {role: quasi, hierarchy: {build: tree, tree: {any: [f, m]}}}"
    )
    clinic.pipeline().publish()
    first = pd.read_csv(clinic.out / "public" / "release.csv", dtype=str)
    path = clinic.out / "private" / "transformation.json"
    regions = json.loads(path.read_text())
    values = regions["regions"]["sex"]["values"]
    regions["regions"]["sex"]["values"] = [f"{value}\u200b" for value in values]
    column = next(region for region in regions["columns"] if region["name"] == "sex")
    rows = column["hierarchy"]["rows"]
    column["hierarchy"]["rows"] = [[f"{label}\u2060" for label in row] for row in rows]
    path.write_text(json.dumps(regions))
    assert sorted(first[["age", "sex"]].to_numpy().tolist()) == replayed(clinic)[1]
