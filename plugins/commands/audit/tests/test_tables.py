"""What the columns and cells of a release that was made elsewhere are taken for."""

import pandas as pd
import pytest

from anonloom import Column, Schema, Table
from anonloom.errors import DataError
from anonloom_audit.columns import guess_schema, unique_columns
from anonloom_audit.tables import control_table
from anonloom_runner.external import release_from
from anonloom_runner.unread import unread_cells

PEOPLE = Schema(
    [
        Column(name="who", role="truth"),
        Column(name="age", role="quasi", type="number"),
        Column(name="sex", role="quasi"),
    ]
)


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
    assert ("id",) == unique_columns(cells, guess_schema(cells, cells))
