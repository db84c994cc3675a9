"""A release says the same in both of its formats."""

import csv
from datetime import date, datetime, time
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anonloom import Column, Release, Schema
from anonloom_runner.table_files import write_csv, write_parquet

NAN = float("nan")
NARROW = np.float32(0.1)
LATE = ["2024-07-01 00:30:05", None, "1969-12-31 23:59:59"]
BERLIN = pa.timestamp("us", "Europe/Berlin")


def both(folder, column, kind="category"):
    """Write a column in both formats, and return its cells in the CSV and in the Parquet file."""
    frame = pd.DataFrame({"cell": column, "other": "x"})
    schema = Schema(
        [Column(name="cell", role="other", type=kind), Column(name="other", role="other")]
    )
    write_csv(frame, folder / "release.csv", schema.of_type("time"))
    write_parquet(Release(schema=schema, frame=frame), folder / "release.parquet")
    with (folder / "release.csv").open(encoding="utf-8", newline="") as file:
        cells = [row[0] for row in csv.reader(file)][1:]
    return cells, pq.read_table(folder / "release.parquet")["cell"].to_pylist()


@pytest.mark.parametrize(
    ("column", "texts", "values"),
    [
        pytest.param([-0.0, 0.0], ["0.0"] * 2, [0.0] * 2, id="zeros"),
        pytest.param(pd.Categorical([-0.0, None]), ["0.0", ""], [0.0, None], id="zero-category"),
        pytest.param(
            pd.Series(pa.array([0.5, NAN, None]), dtype=pd.ArrowDtype(pa.float64())),
            ["0.5", "", ""],
            [0.5, None, None],
            id="not-a-number",
        ),
        pytest.param(
            pd.Series([0.1, None], dtype="float32"),
            ["0.10000000149011612", ""],
            [0.10000000149011612, None],
            id="four-bytes",
        ),
        pytest.param(
            pd.array([0.1, None], dtype="Float32"),
            ["0.10000000149011612", ""],
            [0.10000000149011612, None],
            id="four-bytes-nullable",
        ),
        pytest.param(
            pd.Series([1, 1.5, None], dtype=object),
            ["1", "1.5", ""],
            ["1", "1.5", None],
            id="mixed",
        ),
        pytest.param(
            pd.Series([1, 1.0, True, "1"], dtype=object),
            ["1", "1.0", "True", "1"],
            ["1", "1.0", "True", "1"],
            id="equal-but-not-the-same",
        ),
        pytest.param(
            pd.Series([1, "x", None], dtype=object), ["1", "x", ""], ["1", "x", None], id="words"
        ),
        pytest.param(
            pd.Series([2**70, None], dtype=object), [str(2**70), ""], [str(2**70), None], id="large"
        ),
        pytest.param(
            pd.Series([Decimal("1.0"), Decimal("1.25")], dtype=object),
            ["1.0", "1.25"],
            ["1.0", "1.25"],
            id="decimals",
        ),
        pytest.param(
            pd.Series([datetime(2024, 3, 1, 2, 3, 4), None], dtype=object),
            ["2024-03-01 02:03:04", ""],
            ["2024-03-01 02:03:04", None],
            id="moments-as-objects",
        ),
        pytest.param(
            pd.Series([time(1, 2), None], dtype=object),
            ["01:02:00", ""],
            ["01:02:00", None],
            id="hours",
        ),
        pytest.param(
            pd.to_timedelta(["1 days", None]),
            ["1 days 00:00:00", ""],
            ["1 days 00:00:00", None],
            id="durations",
        ),
        pytest.param(
            pd.Series([date(2024, 3, 1), None], dtype=object),
            ["2024-03-01", ""],
            [date(2024, 3, 1), None],
            id="days",
        ),
        pytest.param(
            pd.Series(pa.array([date(2024, 3, 1), None]), dtype=pd.ArrowDtype(pa.date32())),
            ["2024-03-01", ""],
            [date(2024, 3, 1), None],
            id="arrow-days",
        ),
        pytest.param(
            pd.array([True, None], dtype="boolean"), ["True", ""], [True, None], id="truth-values"
        ),
        pytest.param(pd.Categorical([7, None]), ["7", ""], [7, None], id="integer-category"),
        pytest.param(
            pd.Categorical([1, 2.5, None], pd.Index([1, 2.5], dtype=object)),
            ["1", "2.5", ""],
            ["1", "2.5", None],
            id="mixed-category",
        ),
        pytest.param(
            pd.Categorical([NARROW, None], pd.Index([NARROW], dtype=object)),
            ["0.10000000149011612", ""],
            [0.10000000149011612, None],
            id="four-bytes-category",
        ),
        pytest.param(
            pd.Categorical([date(2024, 3, 1), None]),
            ["2024-03-01", ""],
            [date(2024, 3, 1), None],
            id="days-category",
        ),
    ],
)
def test_cells_are_the_same_in_both_formats(tmp_path, column, texts, values):
    result, cells = both(tmp_path, column)
    assert texts == result
    assert values == cells


@pytest.mark.parametrize(
    "moments",
    [
        pd.to_datetime(pd.Series(LATE)),
        pd.to_datetime(pd.Series(LATE)).dt.tz_localize("Europe/Berlin"),
        pd.to_datetime(pd.Series(LATE)) + pd.Timedelta(milliseconds=750),
        pd.Categorical(pd.to_datetime(LATE).tz_localize("Europe/Berlin")),
        pd.Series(np.array(LATE, "datetime64[s]")),
        pd.Series(pd.to_datetime(LATE).tz_localize("Europe/Berlin"), dtype=pd.ArrowDtype(BERLIN)),
    ],
    ids=["naive", "zone", "fractions", "category", "seconds", "arrow"],
)
def test_moments_are_those_of_the_place_in_both_formats(tmp_path, moments):
    result, cells = both(tmp_path, moments, "time")
    assert ["2024-07-01 00:30:05", "", "1969-12-31 23:59:59"] == result
    assert [datetime(2024, 7, 1, 0, 30, 5), None, datetime(1969, 12, 31, 23, 59, 59)] == cells
    result, cells = both(tmp_path, moments, "date")
    assert ["2024-07-01", "", "1969-12-31"] == result
    assert [date(2024, 7, 1), None, date(1969, 12, 31)] == cells
