"""The source that core offers: a frame, given from Python."""

import numpy as np
import pandas as pd
import pytest

from anonloom import Column, Schema, StageContext
from anonloom.errors import UsageError
from anonloom.sources import Frame

SCHEMA = Schema(
    [
        Column(name="age", role="quasi", type="number"),
        Column(name="zip", role="quasi"),
        Column(name="illness", role="sensitive"),
    ]
)


def cells(table):
    frame = table.frame
    return [
        [None if pd.isna(cell) else cell for cell in row]
        for row in frame.astype(object).itertuples(index=False)
    ]


def test_a_frame_is_given_from_python_and_not_modified():
    frame = pd.DataFrame({"age": [1, 2], "zip": ["a", None], "illness": ["c", "d"]}, index=[7, 7])
    before = frame.copy(deep=True)
    source = Frame.of(frame)
    table = source.load(SCHEMA, StageContext())
    assert [[1.0, "a", "c"], [2.0, None, "d"]] == cells(table)
    assert ("age", "zip", "illness") == source.columns()
    assert source.has_frame
    pd.testing.assert_frame_equal(before, frame)


def test_a_frame_that_was_not_given():
    source = Frame()
    assert source.columns() is None
    assert not source.has_frame
    with pytest.raises(UsageError) as caught:
        source.load(SCHEMA, StageContext())
    assert (
        "source 'frame' takes its table from Python, and none was given\n"
        '    anonloom.Pipeline.load("pipeline.yaml").run(frame), or another source'
        == str(caught.value)
    )


def test_something_else_than_a_frame():
    with pytest.raises(UsageError) as caught:
        Frame.of(np.zeros((2, 2)))
    assert "the table must be a pandas data frame. Got ndarray instead." == str(caught.value)


def test_a_frame_is_not_shown_with_the_source():
    assert "Frame()" == repr(Frame.of(pd.DataFrame({"secret": [1]})))


def test_a_frame_is_read_without_what_nobody_sees_and_not_changed():
    cells_as_spelt = [["a\u200b", "x"], ["a", "x\ufe0f"], ["NA\u00ad", "\u2060"]]
    frame = pd.DataFrame(cells_as_spelt, columns=["zi\u200bp", "illness"])
    before = frame.copy()
    table = Frame.of(frame).load(Schema(SCHEMA.columns[1:]), StageContext())
    assert [["a", "x"], ["a", "x"], ["NA", ""]] == cells(table)
    assert {"zip": 2, "illness": 2} == table.normalized
    pd.testing.assert_frame_equal(before, frame)
