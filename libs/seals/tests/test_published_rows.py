"""The rows of a release are the same from CSV and from Parquet, and damage is said."""

import contextlib
import json
import tempfile
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom import Column, Release, Schema
from anonloom.errors import IntegrityError
from anonloom_runner.table_files import write_csv, write_parquet
from anonloom_seals.encoding import decode_rows, encode_cell
from anonloom_seals.published_rows import read_published, read_types


def manifest(**types):
    return {"spec": {"columns": {name: {"type": kind} for name, kind in types.items()}}}


def publish(folder, frame, types):
    """Write a frame as core does."""
    schema = Schema([Column(name=name, role="other", type=kind) for name, kind in types.items()])
    write_csv(frame, folder / "release.csv", schema.of_type("time"))
    write_parquet(Release(schema=schema, frame=frame), folder / "release.parquet")
    (folder / "manifest.json").write_text(json.dumps(manifest(**types)))


def decoded(published):
    return decode_rows(published.rows(), published.layout)


# --- both formats -----------------------------------------------------------------------------

# What CSV itself cannot carry is a lone surrogate; hypothesis draws none for UTF-8.
tricky = ["", "*", "nan", "NA", "null", "1", "1.0", "01", "-0.0", "e\u0301", "\u00e9", "\0", " x "]
quoted = ['a"b', '""', "a,b", "a\nb", "a\r\nb", "\r", "\n"]
forms = ["[54, 75]", "2024-03-01", "2024-03-01 14:05:00"]
words = st.text(st.characters(codec="utf-8"), max_size=6) | st.sampled_from(
    [*tricky, *quoted, *forms]
)
floats = st.floats(width=64) | st.sampled_from(
    [0.0, -0.0, 5e-324, 1.7e308, 1e16, 2.0**53, 2.0**53 + 2, 0.1, 1e22]
)
days = st.dates(date(1, 1, 1), date(9999, 12, 31))
times = st.datetimes(datetime(1678, 1, 1), datetime(2261, 1, 1))
anything = words | floats | st.integers() | st.booleans() | days | st.decimals(allow_nan=False)


def maybe(values):
    return st.lists(st.none() | values, min_size=1, max_size=8)


def seconds(values):
    return pd.Series(np.array([None if v is None else np.datetime64(v) for v in values], "M8[s]"))


COLUMNS = {
    "words": maybe(words).map(lambda v: pd.Series(v, dtype="str")),
    "objects": maybe(words).map(lambda v: pd.Series(v, dtype=object)),
    "categories": maybe(words).map(lambda v: pd.Series(pd.Categorical(v))),
    "floats": st.lists(floats, min_size=1, max_size=8).map(lambda v: pd.Series(v, dtype=float)),
    "nullable floats": maybe(floats).map(lambda v: pd.Series(v, dtype="Float64")),
    "short floats": maybe(st.floats(width=32)).map(lambda v: pd.Series(v, dtype="float32")),
    "arrow floats": maybe(floats).map(
        lambda v: pd.Series(pa.array(v, pa.float64()), dtype=pd.ArrowDtype(pa.float64()))
    ),
    "integers": st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=8).map(
        lambda v: pd.Series(v, dtype="int64")
    ),
    "nullable integers": maybe(st.integers(-(2**63), 2**63 - 1)).map(
        lambda v: pd.Series(v, dtype="Int64")
    ),
    "large integers": maybe(st.integers(-(2**80), 2**80)).map(lambda v: pd.Series(v, dtype=object)),
    "truth values": maybe(st.booleans()).map(lambda v: pd.Series(v, dtype="boolean")),
    "category of floats": maybe(floats.filter(lambda x: x == x)).map(
        lambda v: pd.Series(pd.Categorical(v))
    ),
    "days": maybe(days).map(seconds),
    "days as objects": maybe(days).map(lambda v: pd.Series(v, dtype=object)),
    "times": maybe(times).map(seconds),
    "times of a place": maybe(times).map(
        lambda v: seconds(v).dt.tz_localize("Etc/GMT-5").astype("datetime64[us, Etc/GMT-5]")
    ),
    "times as objects": maybe(times).map(lambda v: pd.Series(v, dtype=object)),
    "mixed": maybe(anything).map(lambda v: pd.Series(v, dtype=object)),
    "mixed categories": maybe(anything).map(
        lambda v: pd.Series(pd.Categorical(pd.Series(v, dtype=object)))
    ),
}


@pytest.mark.parametrize("name", COLUMNS)
@settings(max_examples=40)
@given(data=st.data())
def test_both_formats_hold_the_same_rows(name, data):
    column = data.draw(COLUMNS[name])
    kind = data.draw(st.sampled_from(["category", "number", "date", "time"]))
    alone = data.draw(st.booleans())
    frame = pd.DataFrame({"a": column} if alone else {"a": column, "b": "x"})
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        publish(folder, frame, dict.fromkeys(frame.columns, "category") | {"a": kind})
        result = read_published(folder)
        assert ("release.csv", "release.parquet") == result.files
        assert len(frame) == len(result) == len(decoded(result))


@given(data=st.data())
def test_texts_come_back_as_they_were(data):
    """Against cells written down beside the files, not against the other file."""
    column = data.draw(maybe(words))
    kind = data.draw(st.sampled_from(["category", "number", "date", "time"]))
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        publish(folder, pd.DataFrame({"a": pd.Series(column, dtype=object)}), {"a": kind})
        assert [encode_cell(cell, kind) for cell in column] == read_published(folder).rows()


def test_cells_by_the_types_of_the_manifest(tmp_path):
    (tmp_path / "release.csv").write_text(
        'age,zip,seen,at,note\n54.0,01234,2024-03-01,2024-03-01 14:05:00,\n"[1, 2]",*,2024,*,""\n'
    )
    types = manifest(age="number", zip="category", seen="date", at="time")
    (tmp_path / "manifest.json").write_text(json.dumps(types))
    result = read_published(tmp_path)
    assert ("number", "category", "date", "time", "category") == result.layout.types
    assert [
        (Decimal(54), "01234", date(2024, 3, 1), datetime(2024, 3, 1, 14, 5), None),
        ("[1, 2]", "*", "2024", "*", ""),
    ] == decoded(result)
    assert (Decimal(54), "[1, 2]") == result.column("age").values()[:2]
    with pytest.raises(KeyError):
        result.column("words")


@pytest.mark.parametrize("content", [None, {"format": 1, "outputs": ["release.csv"]}])
def test_without_a_specification_every_cell_is_text(tmp_path, content):
    if content is not None:
        (tmp_path / "manifest.json").write_text(json.dumps(content))
    (tmp_path / "release.csv").write_text("age,n\n1.0,2\n")
    assert [("1.0", "2")] == decoded(read_published(tmp_path))


def test_a_pseudonym_is_text_whatever_it_looks_like(tmp_path):
    columns = {"id": {"type": "number", "role": "identifier", "pseudonymize": True}}
    (tmp_path / "manifest.json").write_text(json.dumps({"spec": {"columns": columns}}))
    (tmp_path / "release.csv").write_text("id\n0012e4\n")
    assert [("0012e4",)] == decoded(read_published(tmp_path))


def test_a_folder_without_a_table(tmp_path):
    assert read_published(tmp_path) is None


def test_a_table_without_rows(tmp_path):
    publish(tmp_path, pd.DataFrame({"a": pd.Series([], dtype="str")}), {"a": "category"})
    result = read_published(tmp_path)
    assert 0 == len(result)
    assert [] == result.rows()


def test_types_of_parquet_that_others_write(tmp_path):
    stamp = datetime(2024, 3, 1, 23, 30, 5, 750_000)
    table = pa.table(
        {
            "a": pa.array(["x"], pa.large_string()),
            "b": pa.array(["x"]).dictionary_encode(),
            "c": pa.array([7], pa.uint8()),
            "d": pa.array([0.5], pa.float16()),
            "e": pa.array([date(2024, 3, 1)], pa.date64()),
            "f": pa.array([stamp], pa.timestamp("ns")),
            "g": pa.array([stamp], pa.timestamp("us", "Asia/Tokyo")),
            "h": pa.array([Decimal("1.50")], pa.decimal128(5, 2)),
            "i": pa.nulls(1),
            "j": pa.array([True]),
        }
    )
    pq.write_table(table, tmp_path / "release.parquet")
    utc = "2024-03-01 23:30:05"
    tokyo = "2024-03-02 08:30:05"
    expected = ("x", "x", "7", "0.5", "2024-03-01", utc, tokyo, "1.50", None, "True")
    assert [expected] == decoded(read_published(tmp_path))


# --- two files --------------------------------------------------------------------------------


def test_the_ends_of_intervals_are_another_table(tmp_path):
    publish(tmp_path, pd.DataFrame({"age": ["[1, 2]"]}), {"age": "number"})
    ends = pa.table({"age_min": [1.0], "age_max": [2.0]})
    pq.write_table(ends, tmp_path / "release.parquet")
    result = read_published(tmp_path)
    assert ("release.csv",) == result.files
    assert ("release.parquet",) == result.apart
    assert [("[1, 2]",)] == decoded(result)
    (tmp_path / "release.csv").unlink()
    result = read_published(tmp_path)
    assert ("release.parquet",) == result.files
    assert [(Decimal(1), Decimal(2))] == decoded(result)


def refusal(folder):
    with pytest.raises(IntegrityError) as caught:
        read_published(folder)
    return str(caught.value)


def test_files_that_differ(tmp_path):
    frame = pd.DataFrame({"a": ["1", "2", "3"], "b": ["x", "y", "z"]})
    publish(tmp_path, frame, {"a": "number", "b": "category"})
    read_published(tmp_path)
    both = "'release.csv' and 'release.parquet' do not hold the same rows: "
    write_csv(frame.assign(b=["x", "y", "Y"]), tmp_path / "release.csv")
    assert f"{both}they differ in column 'b', first in row 3" == refusal(tmp_path)
    write_csv(frame.iloc[::-1], tmp_path / "release.csv")
    assert f"{both}they differ in column 'a', first in row 1" == refusal(tmp_path)
    write_csv(frame.iloc[:2], tmp_path / "release.csv")
    assert f"{both}one has 2, the other 3" == refusal(tmp_path)


# --- damage -----------------------------------------------------------------------------------

SECRET = "'release.csv' is damaged: "


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"", "'release.csv' is empty: it does not even have a header"),
        (b"a,b\nsecret,\xff\n", f"{SECRET}it is not UTF-8"),
        (b"a,\xff\nsecret,1\n", f"{SECRET}it is not UTF-8"),
        (b"a,b\n1,2\nsecret\n", f"{SECRET}row 2 has 1 cell; its header has 2"),
        (b"a,b\n1,2,secret\n", f"{SECRET}row 1 has 3 cells; its header has 2"),
        (b'a,b\n1,"\n2,3,4\n"\n1,2,3\n', f"{SECRET}row 2 has 3 cells; its header has 2"),
        (b'a,b\n1,"secret\n', f"{SECRET}a quote that opens is never closed"),
        (b'"a,b\n1,2\n', f"{SECRET}a quote that opens is never closed"),
        (b"a,b", f"{SECRET}it cannot be read as separated text"),
        (b"a,a\nsecret,1\n", "'release.csv' has two columns of the same name"),
        ("e\u0301,\u00e9\n1,2\n".encode(), "'release.csv' has two columns of the same name"),
    ],
)
def test_damaged_csv(tmp_path, data, what):
    (tmp_path / "release.csv").write_bytes(data)
    assert what == refusal(tmp_path)


def test_a_lost_header(tmp_path):
    (tmp_path / "manifest.json").write_text(json.dumps(manifest(age="number")))
    (tmp_path / "release.csv").write_text("54\n55\n")
    assert (
        "'release.csv' has none of the columns in 'manifest.json': it has lost its header, or it "
        "belongs to another release" == refusal(tmp_path)
    )


def test_a_long_cell_and_a_header_of_several_lines(tmp_path):
    cell = "x" * 3_000_000
    (tmp_path / "release.csv").write_text(f'"a\nb",c\n1,{cell}\n')
    result = read_published(tmp_path)
    assert ("a\nb", "c") == result.layout.names
    assert [("1", cell)] == decoded(result)


@pytest.mark.parametrize(
    ("column", "what"),
    [
        (pa.array([[1]]), "list"),
        (pa.array([{"secret": 1}]), "struct"),
        (pa.array([b"x"]), "binary"),
        (pa.array([b"x"]).dictionary_encode(), "binary"),
        (pa.array([1], pa.duration("s")), "duration"),
        (pa.array([1], pa.time32("s")), "time32"),
    ],
)
def test_cells_that_are_none(tmp_path, column, what):
    pq.write_table(pa.table({"a": column}), tmp_path / "release.parquet")
    assert (
        f"'release.parquet': column 'a' holds cells of type {what}; a cell must be one text, "
        "number, truth value, date or time" == refusal(tmp_path)
    )


def test_damaged_parquet(tmp_path):
    path = tmp_path / "release.parquet"
    damaged = "'release.parquet' is not a Parquet file, or it is damaged"
    pq.write_table(pa.table({"a": ["secret"] * 100}), path)
    whole = path.read_bytes()
    for data in (b"", b"PAR1", whole[:-9], whole[: len(whole) // 2], b"x" * 100):
        path.write_bytes(data)
        assert damaged == refusal(tmp_path)
    text = pa.Array.from_buffers(pa.string(), 1, pa.array([b"\xff"]).buffers())
    pq.write_table(pa.table({"a": text}), path)
    assert damaged == refusal(tmp_path)
    pq.write_table(pa.table({"a": [1]}).select([]), path)
    assert "'release.parquet' has no columns" == refusal(tmp_path)
    pq.write_table(pa.Table.from_arrays([pa.array([1])] * 2, ["a", "a"]), path)
    assert "'release.parquet' has two columns of the same name" == refusal(tmp_path)


@given(data=st.data())
def test_a_flipped_bit_of_a_parquet_file_is_read_or_refused_but_never_crashes(data):
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "release.parquet"
        table = pa.table({"a": ["x", None, "y"], "b": [1, 2, None], "c": [0.5, None, 1.5]})
        pq.write_table(table, path)
        content = bytearray(path.read_bytes())
        bit = data.draw(st.integers(0, 8 * len(content) - 1))
        content[bit // 8] ^= 1 << bit % 8
        path.write_bytes(content)
        with contextlib.suppress(IntegrityError):
            read_published(Path(place))


def test_links_are_refused(tmp_path):
    (tmp_path / "elsewhere").write_text("a\n1\n")
    (tmp_path / "release.csv").symlink_to(tmp_path / "elsewhere")
    assert "'release.csv' is a symbolic link" == refusal(tmp_path)


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"words", "it is not JSON"),
        (b"[" * 100_000, "it is not JSON"),
        (b'{"a": 1, "a": 2}', "a name stands twice"),
        (b"[]", "its columns are no mapping"),
        (b'{"spec": []}', "its columns are no mapping"),
        (b'{"spec": {"columns": []}}', "its columns are no mapping"),
        (
            b'{"spec": {"columns": {"a": {"type": "x"}}}}',
            "a column has a type that this version does not know",
        ),
        (
            b'{"spec": {"columns": {"a": {"type": []}}}}',
            "a column has a type that this version does not know",
        ),
        (b'{"spec": {"columns": {"a": 1}}}', "a column has a type that this version does not know"),
    ],
)
def test_damaged_manifests(tmp_path, content, what):
    (tmp_path / "manifest.json").write_bytes(content)
    with pytest.raises(IntegrityError) as caught:
        read_types(tmp_path)
    assert f"'manifest.json' is malformed: {what}" == str(caught.value)
