"""Replaying regions on new rows, under the same final check."""

import json

import numpy as np
import pandas as pd
import pytest
from anonloom.data.schema import Column, Schema
from anonloom.data.table import Table
from anonloom.errors import DataError, PrivacyError
from anonloom.run import transformation
from anonloom.run.replay import apply_file
from anonloom.run.transformation import Transformation
from hypothesis import given
from hypothesis import strategies as st


@pytest.fixture
def published(clinic):
    clinic.pipeline().publish()
    return clinic


def replay(clinic, frame, **options):
    path = clinic.folder / "new.csv"
    frame.to_csv(path, index=False)
    return apply_file(
        clinic.out / "private" / "transformation.json",
        path,
        clinic.folder / "applied",
        clinic.registry,
        **options,
    )


def test_the_same_rows_get_the_same_cells(published):
    replay(published, pd.read_csv(published.folder / "clinic.csv"))

    first = pd.read_csv(published.out / "public" / "release.csv")
    second = pd.read_csv(published.folder / "applied" / "public" / "release.csv")
    names = list(first.columns)
    assert sorted(first[names].to_numpy().tolist()) == sorted(second[names].to_numpy().tolist())


def test_rows_outside_every_region_are_suppressed_within_the_limit(published):
    frame = pd.read_csv(published.folder / "clinic.csv")
    frame = pd.concat([frame, frame.iloc[:1].assign(age=99)])
    with pytest.raises(PrivacyError) as refused:
        replay(published, frame)
    assert "1 of 13 rows are suppressed (7.69%)" in str(refused.value)
    assert not (published.folder / "applied").exists()

    report = replay(published, frame, at_most=0.1)
    assert 1 == report["summary"]["suppressed"]


def test_new_rows_pass_the_same_final_check_or_are_refused(published):
    frame = pd.read_csv(published.folder / "clinic.csv").iloc[:5]
    with pytest.raises(PrivacyError) as refused:
        replay(published, frame)

    assert "size does not hold" in str(refused.value)
    assert not (published.folder / "applied").exists()


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ("[", "cannot be read as JSON"),
        ("{}", "this is no transformation of format 1"),
        ('{"format": 1}', "the transformation is damaged (KeyError)"),
    ],
)
def test_a_damaged_file_is_refused(clinic, content, what):
    path = clinic.folder / "transformation.json"
    path.write_text(content)
    with pytest.raises(DataError) as refused:
        apply_file(path, clinic.folder / "clinic.csv", clinic.out, clinic.registry)

    assert f"{path}: {what}" == str(refused.value)


def test_a_missing_file_is_refused(clinic):
    path = clinic.folder / "transformation.json"
    with pytest.raises(DataError) as refused:
        apply_file(path, clinic.folder / "clinic.csv", clinic.out, clinic.registry)

    assert f"{path}: there is no such file" == str(refused.value)


def test_hierarchies_travel_with_the_transformation(clinic):
    (clinic.folder / "sex.csv").write_text("f;known;*\nm;known;*\nx;other;*\n")
    clinic.change("sex: {role: quasi}", "sex: {role: quasi, hierarchy: sex.csv}")
    clinic.change(
        "age: {role: quasi, type: number}",
        "age: {role: quasi, type: number, hierarchy: {build: quantiles, groups: [4, 2]}}",
    )
    clinic.change("illness: {role: sensitive}", "illness: {role: sensitive}")
    clinic.pipeline().publish()
    (clinic.folder / "sex.csv").unlink()
    report = replay(clinic, pd.read_csv(clinic.folder / "clinic.csv"))

    assert 12 == report["summary"]["rows_out"]
    saved = json.loads((clinic.out / "private" / "transformation.json").read_text())
    assert ["breaks", "rows"] == [c["hierarchy"]["build"] for c in saved["columns"][:2]]


CELLS = st.sampled_from(["*", "[0, 3]", "[2, 5]", "4", "[0, 9]", "7"])
LETTERS = st.sampled_from(["*", "a", '{"a", "c"}', "b", '{"b", "c"}'])


@given(
    st.lists(st.tuples(CELLS, LETTERS), min_size=1, max_size=12),
    st.lists(st.tuples(st.integers(0, 9), st.sampled_from("abc")), min_size=1, max_size=30),
    st.sampled_from([1, 256]),
)
def test_a_row_falls_into_the_first_region_that_covers_it(regions, rows, few):
    """Against trying every region in order, also when the space is divided."""
    members = {"*": set("abc"), '{"a", "c"}': set("ac"), '{"b", "c"}': set("bc")}

    def covers(region, row):
        cell, letter = region
        numbers = range(10) if cell == "*" else None
        if numbers is None:
            ends = json.loads(cell if cell.startswith("[") else f"[{cell}, {cell}]")
            numbers = range(ends[0], ends[1] + 1)
        return row[0] in numbers and row[1] in members.get(letter, {letter})

    expected = [
        next((at for at, region in enumerate(regions) if covers(region, row)), -1) for row in rows
    ]
    schema = Schema((Column(name="n", role="quasi", type="number"), Column(name="c", role="quasi")))
    table = Table.build(pd.DataFrame(rows, columns=["n", "c"]), schema)
    found = Transformation(
        schema,
        {"n": [r[0] for r in regions], "c": [r[1] for r in regions]},
        [],
        {"at_most": 1, "rows": "star"},
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(transformation, "_FEW", few)
        assert expected == found.assign(table).tolist()


def test_many_regions_are_matched_without_trying_every_pair():
    """Ten thousand disjoint regions and as many rows: each row finds its own."""
    schema = Schema((Column(name="n", role="quasi", type="number"),))
    numbers = np.arange(10_000)
    table = Table.build(pd.DataFrame({"n": numbers}), schema)
    found = Transformation(schema, {"n": [str(n) for n in numbers[::-1]]}, [], {})

    assert numbers[::-1].tolist() == found.assign(table).tolist()
