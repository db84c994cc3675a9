"""What a release that was made elsewhere is taken for."""

import datetime

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anonloom import Column, Schema, Table
from anonloom._run.external import (
    control_table,
    guess_schema,
    naming_everybody,
    other_releases,
    read_cells,
    release_from,
    unread_cells,
    whose,
)
from anonloom.errors import DataError


@pytest.mark.parametrize(
    ("original", "release", "found"),
    [
        (["1", "2.5"], ["[1, 2.5]"] * 2, ("quasi", "number")),
        (["a", "b"], ["*"] * 2, ("quasi", "category")),
        (["2024-03-01", "2024-03-02"], ["2024-03"] * 2, ("quasi", "date")),
        (["2024-03-01 10:00", "2024-03-01T11:00:00"], ["2024-03-01"] * 2, ("quasi", "time")),
        (["2024-03-01", "2024-03-02"], ["2024-03-01", "2024-03-02"], ("other", "date")),
        (["2024-02-30", "2024-03-02"], ["2024"] * 2, ("quasi", "category")),
        (["2024-03-01", "2024-03-01 10:00"], ["2024"] * 2, ("quasi", "category")),
        ([None, None], ["*"] * 2, ("quasi", "category")),
    ],
)
def test_roles_and_types_are_guessed_from_the_cells(original, release, found):
    schema = guess_schema(pd.DataFrame({"it": original}), pd.DataFrame({"it": release}))
    assert found == (schema["it"].role, schema["it"].type)


def test_cells_of_guessed_times_are_read():
    original = pd.DataFrame({"it": ["2024-03-01 10:00", "2024-03-01 11:00", "2024-03-05 00:00"]})
    cells = ["2024-03-01 06-12h", "[2024-03-01 10:00:00, 2024-03-02 00:00:00]", "March"]
    release = pd.DataFrame({"it": cells})
    schema = guess_schema(original, release)
    assert {"it": 1} == unread_cells(release_from(release, schema), Table.build(original, schema))


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
    assert [2, 0, -1] == whose(pd.DataFrame({"who": ["p3", "p1", "px"]}), people).tolist()
    assert None is whose(pd.DataFrame({"who": ["px"]}), people)
    assert None is whose(pd.DataFrame({"age": [1]}), people)


def test_truth_that_several_rows_share_says_nothing():
    frame = pd.DataFrame({"who": ["p1", "p1"], "age": [20, 30], "sex": ["f", "m"]})
    assert None is whose(pd.DataFrame({"who": ["p1"]}), Table.build(frame, PEOPLE))


def test_persons_say_whose_rows_are_when_nothing_else_does():
    schema = Schema([Column(name="id", role="person", type="number"), PEOPLE["age"]])
    table = Table.build(pd.DataFrame({"id": [7, 8], "age": [20, 30]}), schema)
    assert [1, 0] == whose(pd.DataFrame({"id": ["8", "7"]}), table).tolist()


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


def test_a_control_table_needs_what_is_published_and_no_more(tmp_path):
    path = tmp_path / "control.csv"
    path.write_text("age,sex\n50,f\n")
    assert 1 == len(control_table(path, PEOPLE))
    path.write_text("age\n50\n")
    with pytest.raises(DataError) as caught:
        control_table(path, PEOPLE)
    assert f"the control table '{path}': the data have no column 'sex'; they have: 'age'" == str(
        caught.value
    )


def test_the_column_of_truth_is_not_guessed_at():
    cells = pd.DataFrame({"who": ["1", "2"], "age": ["20", "30"]})
    schema = guess_schema(cells, cells, "who")
    assert [("truth", "category"), ("other", "number")] == [(c.role, c.type) for c in schema]
    with pytest.raises(DataError) as caught:
        guess_schema(cells, cells[["age"]], "who")
    assert "the original and the release do not both have a column 'who'" == str(caught.value)


def test_texts_that_name_everybody_are_noticed():
    cells = pd.DataFrame({"id": ["p1", "p2"], "sex": ["f", "f"], "height": ["1", "2"]})
    assert ("id",) == naming_everybody(cells, guess_schema(cells, cells))
