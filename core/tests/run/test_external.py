"""What a release that was made elsewhere is taken for."""

import datetime

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anonloom.data.table import Table
from anonloom.run.external import guess_schema, read_cells, release_from, unread_cells


@pytest.mark.parametrize(
    ("original", "release", "found"),
    [
        (["1", "2.5"], ["[1, 2.5]"] * 2, ("quasi", "number")),
        (["a", "b"], ["*"] * 2, ("quasi", "category")),
        (["2024-03-01", "2024-03-02"], ["2024-03"] * 2, ("quasi", "date")),
        (["2024-03-01 10:00", "2024-03-01T11:00:00"], ["2024-03-01"] * 2, ("quasi", "time")),
        # Published as they are, they can stay what they were: text.
        (["2024-03-01", "2024-03-02"], ["2024-03-01", "2024-03-02"], ("other", "category")),
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
