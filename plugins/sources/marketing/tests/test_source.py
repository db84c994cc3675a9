"""The source: its columns, its parameters, and what the same seed gives."""

import numpy as np
import pandas as pd
import pytest

from anonloom import Column, Schema, StageContext
from anonloom.errors import DataError, ParameterError
from anonloom.params import build
from anonloom_marketing.source import COLUMNS, Marketing

TYPES = {"age": "number", "days_after_ad": "number", "purchase_time": "time"}


def schema(*names):
    return Schema(
        [
            Column(name=name, role="other", type=TYPES.get(name, "category"))
            for name in names or COLUMNS
        ]
    )


def load(seed=1, names=(), **options):
    return Marketing(**options).load(schema(*names), StageContext(stage="source", seed=seed)).frame


def test_a_table_has_the_columns_of_the_papers_table_9():
    frame = load(rows=500)
    assert COLUMNS == tuple(frame.columns) == Marketing().columns()
    assert 500 == frame["person_id"].nunique()
    assert ("p0000001", "p0000500") == (frame["person_id"].iloc[0], frame["person_id"].iloc[-1])
    assert frame["age"].between(18, 80).all()
    assert (frame["age"] % 1 == 0).all()
    assert {"M", "F", "Other"} == set(frame["gender"])
    assert 12 == frame["region"].nunique()
    assert {"Search", "Social", "Video", "Display", "Email"} == set(frame["ad_channel"])
    assert frame["days_after_ad"].between(0.1, 45).all()
    assert np.allclose(frame["days_after_ad"] * 10, (frame["days_after_ad"] * 10).round())
    assert "datetime64[s]" == str(frame["purchase_time"].dtype)
    assert 0 == frame.isna().sum().sum()


def test_the_same_seed_gives_the_same_rows_and_another_seed_others():
    first = load(seed=7, rows=300, outliers=0.1)
    pd.testing.assert_frame_equal(first, load(seed=7, rows=300, outliers=0.1))
    assert not first.equals(load(seed=8, rows=300, outliers=0.1))


def test_a_declaration_changes_no_cell():
    whole = load(rows=300)
    for name in COLUMNS:
        pd.testing.assert_series_equal(whole[name], load(rows=300, names=[name])[name])


def test_a_time_that_is_declared_as_a_category_is_text():
    column = Column(name="purchase_time", role="other")
    frame = Marketing(rows=5).load(Schema([column]), StageContext(stage="source", seed=1)).frame
    moments = load(rows=5, names=["purchase_time"])["purchase_time"]
    assert moments.dt.strftime("%Y-%m-%d %H:%M:%S").tolist() == frame["purchase_time"].tolist()


def test_a_single_row_is_enough():
    assert 1 == len(load(rows=1, outliers=1.0))


def test_products_are_named_by_popularity():
    names = load(rows=3000, products=120)["brand_product"]
    assert "product-01" == names.mode()[0]
    assert {"product-01", "product-120"} <= {*names.cat.categories}


def test_a_column_that_there_is_not_is_refused():
    with pytest.raises(DataError) as refused:
        load(names=["age", "gendre"])
    listed = ", ".join(f"'{name}'" for name in COLUMNS)
    assert (
        f"the data have no column 'gendre'; they have: {listed}\n    'gendre': did you mean 'gender'?"
        == str(refused.value)
    )


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("rows", 0, "an integer of at least 1"),
        ("rows", 1.5, "an integer of at least 1"),
        ("outliers", 1.5, "a number from 0 to 1"),
        ("outliers", -0.1, "a number from 0 to 1"),
        ("products", 9, "an integer from 10 to 1000"),
    ],
)
def test_parameters_out_of_range_are_refused(name, value, words):
    with pytest.raises(ParameterError) as refused:
        Marketing(**{name: value})
    assert f"The '{name}' parameter of Marketing must be {words}. Got {value} instead." == str(
        refused.value
    )


def test_parameters_can_be_built_from_plain_values():
    assert Marketing(rows=5, outliers=0.05) == build(Marketing, {"rows": 5, "outliers": 0.05})
