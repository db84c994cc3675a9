"""What a release that was made elsewhere is taken for."""

import datetime

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anonloom import Column, Schema, Table
from anonloom.errors import DataError
from anonloom_runner.external import other_releases, read_cells, release_from, rows_in_original


def test_a_midnight_in_a_parquet_file_keeps_its_time_of_day(tmp_path):
    path = tmp_path / "data.parquet"
    midnight, day = datetime.datetime(2024, 3, 1), datetime.date(2024, 3, 1)
    pq.write_table(pa.table({"time": [midnight, None], "day": [day, None]}), path)
    assert [["2024-03-01 00:00:00", "2024-03-01"], [None, None]] == [
        [None if pd.isna(cell) else cell for cell in row]
        for row in read_cells(path).to_numpy().tolist()
    ]


def test_columns_that_are_no_quasi_identifiers_have_their_type_where_they_can():
    schema = Schema([Column(name="a", role="other", type="number"), Column(name="b", role="quasi")])
    cells = pd.DataFrame({"a": ["1", "2.5"], "b": ["x", "*"]})
    assert [1.0, 2.5] == release_from(cells, schema).frame["a"].tolist()
    # Another tool may have generalized them.
    assert ["1", "[2, 3]"] == release_from(pd.DataFrame({"a": ["1", "[2, 3]"]}), schema).frame[
        "a"
    ].tolist()


PEOPLE = Schema(
    [
        Column(name="who", role="truth"),
        Column(name="age", role="quasi", type="number"),
        Column(name="sex", role="quasi"),
    ]
)


@pytest.fixture
def people():
    frame = pd.DataFrame({"who": ["p1", "p2", "p3"], "age": [20, 30, 40], "sex": ["f", "m", "f"]})
    return Table.build(frame, PEOPLE)


def test_a_column_of_truth_says_whose_rows_are(people):
    assert [2, 0, -1] == rows_in_original(
        pd.DataFrame({"who": ["p3", "p1", "px"]}), people
    ).tolist()
    assert None is rows_in_original(pd.DataFrame({"who": ["px"]}), people)
    assert None is rows_in_original(pd.DataFrame({"age": [1]}), people)


def test_truth_that_several_rows_share_says_nothing():
    frame = pd.DataFrame({"who": ["p1", "p1"], "age": [20, 30], "sex": ["f", "m"]})
    assert None is rows_in_original(pd.DataFrame({"who": ["p1"]}), Table.build(frame, PEOPLE))


def test_persons_say_whose_rows_are_when_nothing_else_does():
    schema = Schema([Column(name="id", role="person", type="number"), PEOPLE["age"]])
    table = Table.build(pd.DataFrame({"id": [7, 8], "age": [20, 30]}), schema)
    assert [1, 0] == rows_in_original(pd.DataFrame({"id": ["8", "7"]}), table).tolist()


def test_other_releases_know_their_rows_only_if_they_know_all(people, tmp_path):
    (tmp_path / "known.csv").write_text('who,age\np2,"[20, 30]"\np1,"[20, 30]"\n')
    (tmp_path / "partly.csv").write_text('who,age\np2,"[20, 30]"\npx,"[20, 30]"\n')
    (tmp_path / "unknown.csv").write_text("age,sex\n*,f\n")
    names = ("known.csv", "partly.csv", "unknown.csv")
    known, partly, unknown = other_releases([tmp_path / name for name in names], people)
    assert [1, 0] == known.rows_in(people).tolist()
    assert [None, None] == [partly.rows_in(people), unknown.rows_in(people)]
    assert ["age"] == list(known.frame.columns)
    assert ["age", "sex"] == list(unknown.frame.columns)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (None, "{path}: there is no such file"),
        ("", "{path}: the file is empty"),
        ("age,sex\n", "{path}: the file has no rows"),
        ("height\n180\n", "the other release '{path}' has none of the declared columns"),
    ],
)
def test_an_other_release_that_cannot_be_used_is_named(people, tmp_path, text, expected):
    path = tmp_path / "earlier.csv"
    if text is not None:
        path.write_text(text)
    with pytest.raises(DataError) as caught:
        other_releases([path], people)
    assert expected.format(path=path) == str(caught.value)


def test_a_parquet_file_without_rows_is_refused(tmp_path):
    path = tmp_path / "none.parquet"
    pq.write_table(pa.table({"a": pa.array([], pa.int64())}), path)
    with pytest.raises(DataError) as caught:
        read_cells(path)
    assert f"{path}: the file has no rows" == str(caught.value)
