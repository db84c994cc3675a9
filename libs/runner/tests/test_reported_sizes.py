"""The class sizes of a report are those that a reader counts in the release."""

from collections import Counter

import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from anonloom import Column, Release, Schema
from anonloom_runner.reporting import published_sizes

SCHEMA = Schema((Column(name="age", role="quasi"), Column(name="sex", role="quasi")))
CELLS = st.sampled_from(["*", "1", "[1, 2]", None])


@given(st.lists(st.tuples(CELLS, CELLS), max_size=15))
def test_sizes_are_counts_of_equal_rows_without_starred_ones(rows):
    frame = pd.DataFrame(
        {
            "age": pd.Series([row[0] for row in rows], dtype="category"),
            "sex": pd.Series([row[1] for row in rows], dtype="category"),
        }
    )
    # A class is listed where its first row is met.
    expected = list(Counter(row for row in rows if row != ("*", "*")).values())
    assert expected == published_sizes(Release(schema=SCHEMA, frame=frame)).tolist()
