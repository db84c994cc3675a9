"""The sources csv and parquet: what they read, and what they say of files that they cannot."""

import bz2
import datetime
import gzip
import os
import unicodedata
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonloom import Column, Schema, StageContext
from anonloom.errors import DataError, ParameterError
from anonloom_tables import Csv, Parquet

SCHEMA = Schema(
    [
        Column(name="age", role="quasi", type="number"),
        Column(name="zip", role="quasi"),
        Column(name="illness", role="sensitive"),
    ]
)
PLAIN = "age,zip,illness\n31,01234,flu\n45,01235,cough\n"


def write(tmp_path, content, name="data.csv"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def load(path, schema=SCHEMA, **options):
    return Csv(path=path, **options).load(schema, StageContext())


def cells(table):
    frame = table.frame
    return [
        [None if pd.isna(cell) else cell for cell in row]
        for row in frame.astype(object).itertuples(index=False)
    ]


def refusal(path, schema=SCHEMA, **options):
    with pytest.raises(DataError) as caught:
        load(path, schema, **options)
    return str(caught.value).replace(str(path), "FILE")


# --- what csv reads -------------------------------------------------------------------------


def test_numbers_are_numbers_and_codes_keep_their_zeros(tmp_path):
    table = load(write(tmp_path, PLAIN))
    assert [[31.0, "01234", "flu"], [45.0, "01235", "cough"]] == cells(table)


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_the_separator_is_found_in_the_header(tmp_path, separator):
    path = write(tmp_path, PLAIN.replace(",", separator))
    assert [[31.0, "01234", "flu"], [45.0, "01235", "cough"]] == cells(load(path))
    assert ("age", "zip", "illness") == Csv(path=path).columns()


@pytest.mark.parametrize("separator", [":", "tab"])
def test_a_given_separator_is_taken(tmp_path, separator):
    written = "\t" if separator == "tab" else separator
    path = write(tmp_path, PLAIN.replace(",", written))
    table = load(path, separator=separator)
    assert [[31.0, "01234", "flu"], [45.0, "01235", "cough"]] == cells(table)


def test_separators_inside_quoted_names_do_not_count(tmp_path):
    path = write(tmp_path, '"age","zip","a;b;c;d;e"\n1,2,3\n')
    assert ("age", "zip", "a;b;c;d;e") == Csv(path=path).columns()


def test_one_column_is_a_table(tmp_path):
    schema = Schema([Column(name="zip", role="quasi")])
    assert [["1"], ["2"]] == cells(load(write(tmp_path, "zip\n1\n2\n"), schema))


def test_quoted_cells_hold_separators_line_breaks_and_quotes(tmp_path):
    path = write(tmp_path, 'age,zip,illness\r\n31,"1,2","a\r\nb ""c"""\r\n45,3,d\r\n')
    assert [[31.0, "1,2", 'a b "c"'], [45.0, "3", "d"]] == cells(load(path))


def test_a_header_may_take_two_lines(tmp_path):
    schema = Schema([Column(name="a b", role="quasi"), Column(name="c", role="other")])
    assert [["1", "2"]] == cells(load(write(tmp_path, '\n"a\nb",c\n1,2\n'), schema))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_may_end_in_three_ways(tmp_path, end):
    path = write(tmp_path, PLAIN.replace("\n", end))
    assert [[31.0, "01234", "flu"], [45.0, "01235", "cough"]] == cells(load(path))


def test_empty_lines_and_empty_columns_do_no_harm(tmp_path):
    path = write(tmp_path, "\n\nage,zip,illness\n\n,1,\n\n,2,\n\n\n")
    assert [[None, "1", None], [None, "2", None]] == cells(load(path))


def test_a_cell_may_be_longer_than_a_block(tmp_path):
    long = "x" * 3_000_000
    path = write(tmp_path, f'age,zip,illness\n31,1,"{long}"\n45,2,b\n')
    assert [[31.0, "1", long], [45.0, "2", "b"]] == cells(load(path))


def test_without_quotes_a_quote_is_a_character(tmp_path):
    path = write(tmp_path, 'age,zip,illness\n31,1,5" nail\n')
    assert [[31.0, "1", '5" nail']] == cells(load(path, quote=None))


def test_empty_cells_are_missing_and_words_are_words(tmp_path):
    path = write(tmp_path, 'age,zip,illness\n,NA,""\n45,,null\n')
    assert [[None, "NA", None], [45.0, None, "null"]] == cells(load(path))


def test_the_user_says_what_is_missing(tmp_path):
    path = write(tmp_path, "age,zip,illness\n?,NA,flu\n45,2,?\n")
    table = load(path, null=["?", "NA"])
    assert [[None, None, "flu"], [45.0, "2", None]] == cells(table)


def test_decimals_may_be_written_with_a_comma(tmp_path):
    path = write(tmp_path, "age;zip;illness\n31,5;1;a\n")
    assert [[31.5, "1", "a"]] == cells(load(path, decimal=","))


def test_a_byte_order_mark_is_not_part_of_the_first_name(tmp_path):
    path = write(tmp_path, b"\xef\xbb\xbf" + PLAIN.encode())
    assert ("age", "zip", "illness") == Csv(path=path).columns()
    assert [31.0, "01234", "flu"] == cells(load(path))[0]


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "utf-16", "utf-16-le", "utf-8-sig"])
def test_other_encodings_are_read_when_they_are_named(tmp_path, encoding):
    path = write(tmp_path, "age,zip,illness\n31,1,grippé\n".encode(encoding))
    assert [[31.0, "1", "grippé"]] == cells(load(path, encoding=encoding))


COMPRESSED = gzip.compress(PLAIN.encode(), mtime=0)
#: More than a header is looked for in, and hardly compressible.
LONG = PLAIN.encode() + b"".join(
    f"{i},{np.random.default_rng(i).bytes(20).hex()},flu\n".encode() for i in range(30_000)
)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("data.csv.gz", COMPRESSED),
        ("data.csv.gz", gzip.compress(PLAIN[:8].encode()) + gzip.compress(PLAIN[8:].encode())),
        ("data.csv.gz", gzip.compress(LONG, mtime=0)),
        ("data.csv.bz2", bz2.compress(PLAIN.encode())),
    ],
    ids=["gzip", "two members", "long", "bzip2"],
)
def test_a_compressed_file_is_read(tmp_path, name, content):
    path = write(tmp_path, content, name)
    assert ("age", "zip", "illness") == Csv(path=path).columns()
    assert [31.0, "01234", "flu"] == cells(load(path))[0]


def test_columns_that_are_not_declared_stay_behind(tmp_path):
    path = write(tmp_path, b"age,zip,illness,name,,\n31,1,flu,Zo\xeb,,\n")
    assert [[31.0, "1", "flu"]] == cells(load(path))


def test_categories_are_not_held_cell_by_cell(tmp_path):
    frame = load(write(tmp_path, PLAIN)).frame
    assert ["float64", "category", "category"] == [str(dtype) for dtype in frame.dtypes]


def test_dates_identifiers_and_persons_are_read(tmp_path):
    schema = Schema(
        [
            Column(name="day", role="quasi", type="date", format="%d.%m.%Y"),
            Column(name="name", role="identifier"),
            Column(name="number", role="person", type="number"),
        ]
    )
    table = load(write(tmp_path, "name,number,day\nA,1,24.12.2023\nB,1,\n"), schema)
    assert ["day", "number"] == list(table.frame.columns)
    assert ["2023-12-24", None] == table.axes[0].texts(table.codes[0])
    assert [0, 0] == table.persons.tolist()


def test_times_are_read_in_every_iso_form(tmp_path):
    schema = Schema([Column(name="seen", role="quasi", type="time")])
    cells = ["2024-03-01 14:05:00", "2024-03-01T14:05", '"2024-03-01T14:05:00.25+01:00"', '""']
    table = load(write(tmp_path, "seen\n" + "\n".join(cells) + "\n"), schema)
    assert (["2024-03-01 14:05:00", None], [0, 0, 0, 1]) == (
        table.axes[0].texts(np.arange(2)),
        table.codes[0].tolist(),
    )


#: What is not changed on its way in: see test_text.py for what is.
seen = st.characters(
    exclude_categories=["C", "M", "Zl", "Zp"], exclude_characters="*[{\u115f\u1160\u3164\uffa0"
)
text = st.text(seen, min_size=1).map(lambda written: unicodedata.normalize("NFC", written))


@given(rows=st.lists(st.tuples(st.integers(-(10**6), 10**6), text, text), min_size=1, max_size=20))
def test_what_pandas_writes_is_read_again(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("csv") / "data.csv"
    frame = pd.DataFrame(rows, columns=["age", "zip", "illness"])
    frame.to_csv(path, index=False)
    assert [[float(age), code, word] for age, code, word in rows] == cells(
        load(path, separator=",")
    )


SPELT = [["a\u200b", "x"], ["a", "x\ufe0f"], ["NA\u00ad", "\u2060"]]


def spelt(table):
    return cells(table), table.normalized


@pytest.mark.parametrize("numbers", [[1, 2, 3], ["1\u200b", "2", "3"]])
def test_csv_reads_text_and_names_without_what_nobody_sees(tmp_path, numbers):
    frame = pd.DataFrame(SPELT, columns=["zi\u200bp", "illness\n"]).assign(age=numbers)
    path = tmp_path / "spelt.csv"
    frame.to_csv(path, index=False)
    source = Csv(path=path, null=("", "NA"))
    schema = Schema([*SCHEMA.columns[:2], Column(name="illness ", role="sensitive")])
    expected = [[1.0, "a", "x"], [2.0, "a", "x"], [3.0, None, None]]
    counts = {"zip": 2, "illness ": 2} | ({"age": 1} if numbers[0] != 1 else {})
    assert ("zip", "illness ", "age") == source.columns()
    assert (expected, counts) == spelt(source.load(schema, StageContext()))


def test_parquet_reads_text_and_names_without_what_nobody_sees(tmp_path):
    path = tmp_path / "spelt.parquet"
    pd.DataFrame(SPELT, columns=["zi\u200bp", "illness"]).to_parquet(path)
    schema = Schema(SCHEMA.columns[1:])
    expected = [["a", "x"], ["a", "x"], ["NA", ""]]
    assert ("zip", "illness") == Parquet(path=path).columns()[:2]
    result = spelt(Parquet(path=path).load(schema, StageContext()))
    assert (expected, {"zip": 2, "illness": 2}) == result


# --- what csv refuses -----------------------------------------------------------------------


def test_a_missing_file(tmp_path):
    assert "FILE: there is no such file" == refusal(tmp_path / "absent.csv")
    with pytest.raises(DataError, match="there is no such file"):
        Csv(path=tmp_path / "absent.csv").columns()


def test_a_folder(tmp_path):
    assert "FILE: this is a folder, not a file" == refusal(tmp_path)


@pytest.mark.parametrize("content", ["", "\n\n", "\ufeff", "  \n"])
def test_an_empty_file(tmp_path, content):
    assert "FILE: the file is empty" == refusal(write(tmp_path, content))


@pytest.mark.parametrize("end", ["", "\n", "\r\n", "\n\n"])
def test_a_header_alone(tmp_path, end):
    path = write(tmp_path, f"age,zip,illness{end}")
    assert "the table is empty: there is nothing to publish" == refusal(path)


def test_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert "FILE: this is no ordinary file" == refusal(tmp_path / "pipe")


def test_a_missing_column(tmp_path):
    path = write(tmp_path, "age,illness\n1,2\n")
    assert "the data have no column 'zip'; they have: 'age', 'illness'" == refusal(path)


def test_a_repeated_column(tmp_path):
    path = write(tmp_path, "age,zip,zip,illness\n1,2,3,4\n")
    assert "the data have more than one column named 'zip'" == refusal(path)


def test_ragged_rows_are_counted_and_never_shown(tmp_path):
    path = write(tmp_path, 'age,zip,illness\n1,2,3\n1,"2\n2",3\n1,secret\n1,2,3,4\n')
    assert (
        "FILE: 2 rows have more or fewer cells than the header's 3 (rows 3, 4)\n"
        "    the separator is ','; a cell that holds it must be quoted" == refusal(path)
    )


def test_one_ragged_row(tmp_path):
    path = write(tmp_path, "age;zip;illness\n1;2;3\n1;2\n")
    assert (
        "FILE: 1 row has more or fewer cells than the header's 3 (row 2)\n"
        "    the separator is ';'; a cell that holds it must be quoted" == refusal(path)
    )


def test_many_ragged_rows_far_down(tmp_path):
    path = write(tmp_path, "age,zip,illness\n" + "1,2,3\n" * 400_000 + "1,2\n" * 7)
    assert (
        "FILE: 7 rows have more or fewer cells than the header's 3 "
        "(rows 400001, 400002, 400003, 400004, 400005, ...)\n"
        "    the separator is ','; a cell that holds it must be quoted" == refusal(path)
    )


@pytest.mark.parametrize("rest", ["4,5,6\n", "4,5,6\n" * 500_000])
def test_a_quote_that_is_never_closed(tmp_path, rest):
    path = write(tmp_path, f'age,zip,illness\n1,2,3\n1,"secret,3\n{rest}')
    assert (
        "FILE: a quote that opens in row 2 is never closed\n"
        "    close it; a quote inside a quoted cell is written twice" == refusal(path)
    )


@pytest.mark.parametrize("before", ["3", '5" nail'])
@pytest.mark.parametrize("more", ["", ",name"])
def test_a_quote_that_is_never_closed_in_the_last_cell(tmp_path, before, more):
    rest = more and ",x"
    path = write(
        tmp_path,
        f'age,zip,illness{more}\n1,2,{before}{rest}\n1,2{rest},"secret\n4,5,6{rest}\n',
    )
    assert (
        "FILE: a quote that opens in row 2 is never closed\n"
        "    close it; a quote inside a quoted cell is written twice" == refusal(path)
    )


def test_a_last_cell_may_hold_line_breaks(tmp_path):
    path = write(tmp_path, 'age,zip,illness\n1,2,"a\nb"\n')
    assert [[1.0, "2", "a b"]] == cells(load(path))
    undeclared = write(tmp_path, b'age,zip,illness,name\n1,2,a,"\xe9\n"\n')
    assert [[1.0, "2", "a"]] == cells(load(undeclared))


def test_a_header_with_an_open_quote(tmp_path):
    path = write(tmp_path, 'age,"zip,illness\n1,2,3\n')
    assert (
        "FILE: the header cannot be read: a quote is not closed, or text follows a closing one"
        == refusal(path)
    )


def test_another_encoding_in_the_data(tmp_path):
    path = write(tmp_path, "age,zip,illness\n1,2,flu\n1,2,grippé\n".encode("cp1252"))
    assert (
        "FILE: the file is not utf-8 (first in line 3)\n"
        "    name its encoding, for example 'encoding: cp1252', or save it as utf-8"
        == refusal(path)
    )


def test_another_encoding_in_the_header(tmp_path):
    path = write(tmp_path, "âge,zip,illness\n1,2,flu\n".encode("cp1252"))
    assert (
        "FILE: the file is not utf-8 (first in line 1)\n"
        "    name its encoding, for example 'encoding: cp1252', or save it as utf-8"
        == refusal(path)
    )


def test_utf_16_is_recognised(tmp_path):
    assert (
        "FILE: the file is not utf-8 (first in line 1)\n"
        "    name its encoding, for example 'encoding: utf-16', or save it as utf-8"
        == refusal(write(tmp_path, PLAIN.encode("utf-16")))
    )
    assert (
        "FILE: the header holds NUL characters\n"
        "    the file is damaged, or it has another encoding: try 'encoding: utf-16'"
        == refusal(write(tmp_path, PLAIN.encode("utf-16-le")))
    )


def test_a_wrong_encoding_that_is_not_utf_8(tmp_path):
    path = write(tmp_path, "age,zip,illness\n1,2,flu\n1,2,grippé\n".encode())
    assert (
        "FILE: the file is not ascii (first in line 3)\n"
        "    name its encoding, for example 'encoding: utf-8'" == refusal(path, encoding="ascii")
    )


def test_a_byte_order_mark_that_is_missing(tmp_path):
    assert (
        "FILE: the file is not utf-16\n"
        "    name its encoding, for example 'encoding: utf-8'"
        == refusal(write(tmp_path, PLAIN), encoding="utf-16")
    )


def test_nul_characters(tmp_path):
    path = write(tmp_path, b"age,zip,illness\n1,2,f\0u\n")
    assert (
        "FILE: column 'illness' holds NUL characters; the file is damaged, or it has another "
        "encoding" == refusal(path)
    )


def test_words_in_a_column_of_numbers(tmp_path):
    path = write(tmp_path, "age,zip,illness\n1,2,3\nsecret,2,3\n ,2,3\n")
    assert (
        "column 'age': 2 cells are not a number (rows 2, 3); correct the data, or declare the column "
        "as 'type: category'" == refusal(path)
    )


def test_a_point_where_decimals_have_a_comma(tmp_path):
    path = write(tmp_path, "age;zip;illness\n1,5;2;3\n1.5;2;3\n")
    assert (
        "column 'age': 1 cell is not a number (row 2); correct the data, or declare the column "
        "as 'type: category'" == refusal(path, decimal=",")
    )


@pytest.mark.parametrize("cell", ["*", '"[1, 2]"', '"{""a"", ""b""}"'])
def test_raw_cells_that_read_like_published_forms(tmp_path, cell):
    path = write(tmp_path, f"age,zip,illness\n1,{cell},3\n1,2,3\n")
    assert (
        "column 'zip': 1 cell reads like a published form ('*', '[a, b]' or '{\"a\", \"b\"}'); "
        "rename these values before publishing" == refusal(path)
    )


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("data.csv.gz", b"no gzip"),
        ("data.csv.gz", COMPRESSED[:-9]),
        ("data.csv.gz", COMPRESSED[:-4]),
        ("data.csv.gz", COMPRESSED + b"\0\0\0\0"),
        ("data.csv.gz", COMPRESSED + b"more"),
        ("data.csv.gz", COMPRESSED[:-8] + b"checksum"),
        ("data.csv.bz2", b"no bzip2"),
    ],
    ids=["no gzip", "cut off", "no length", "zeros", "more", "another checksum", "no bzip2"],
)
def test_a_damaged_compressed_file(tmp_path, name, content):
    path = write(tmp_path, content, name)
    assert "FILE: the file cannot be decompressed" == refusal(path)
    # Arrow, which will read the rows, does not take it either.
    with pytest.raises(OSError), pa.input_stream(path, compression="detect") as stream:  # noqa: PT011  # whatever Arrow says of it
        stream.read()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"encoding": "utf-99"},
            "The 'encoding' parameter of Csv must be text that names an encoding. "
            "Got 'utf-99' instead.",
        ),
        (
            {"encoding": "rot13"},
            "The 'encoding' parameter of Csv must be text that names an encoding. "
            "Got 'rot13' instead.",
        ),
        (
            {"encoding": "utf\0"},
            "The 'encoding' parameter of Csv must be text that names an encoding. "
            "Got 'utf\\x00' instead.",
        ),
        *(
            (
                {name: value},
                f"The '{name}' parameter of Csv must be text of one ASCII character, no line end, "
                f"or None. Got {value!r} instead.",
            )
            for name in ("separator", "quote")
            for value in (", ", "", "\u00e9", "\N{GRINNING FACE}", "\n", "\r", "\0")
        ),
        (
            {"quote": "tab"},
            "The 'quote' parameter of Csv must be text of one ASCII character, no line end, or "
            "None. Got 'tab' instead.",
        ),
        *(
            (
                {"decimal": value},
                "The 'decimal' parameter of Csv must be text of one ASCII punctuation mark, no "
                f"sign. Got {value!r} instead.",
            )
            for value in ("\u00e9", "tab", "1", "-", "e", " ", "\0")
        ),
    ],
)
def test_parameters_are_judged(options, message):
    with pytest.raises(ParameterError) as caught:
        Csv(path="data.csv", **options)
    assert message == str(caught.value)


@pytest.mark.parametrize(
    "options",
    [{"separator": ",", "decimal": ","}, {"separator": "'", "quote": "'"}, {"quote": "."}],
)
def test_one_character_cannot_have_two_meanings(options):
    with pytest.raises(ValueError, match="must be different") as caught:
        Csv(path="data.csv", **options)
    assert "'separator', 'quote' and 'decimal' must be different characters" == str(caught.value)


def test_the_path_is_not_shown_with_the_method(tmp_path):
    assert "secret" not in repr(Csv(path="/secret/data.csv"))
    assert "secret" not in repr(Parquet(path="/secret/data.parquet"))


# --- parquet --------------------------------------------------------------------------------


def parquet(tmp_path, columns):
    path = tmp_path / "data.parquet"
    pq.write_table(pa.table(columns), path)
    return path


def test_parquet_gives_the_same_table_as_csv(tmp_path):
    text_file = write(tmp_path, PLAIN)
    path = parquet(
        tmp_path,
        {
            "age": [31, 45],
            "zip": ["01234", "01235"],
            "illness": ["flu", "cough"],
            "name": ["A", "B"],
        },
    )
    source = Parquet(path=path)
    assert ("age", "zip", "illness", "name") == source.columns()
    ours, theirs = source.load(SCHEMA, StageContext()), load(text_file)
    assert cells(theirs) == cells(ours)
    assert theirs.codes.tolist() == ours.codes.tolist()


def test_parquet_types_are_taken_as_declared(tmp_path):
    schema = Schema(
        [
            Column(name="pay", role="quasi", type="number"),
            Column(name="day", role="quasi", type="date"),
            Column(name="level", role="quasi"),
            Column(name="member", role="quasi"),
        ]
    )
    path = parquet(
        tmp_path,
        {
            "pay": pa.array([Decimal("1.50"), None], pa.decimal128(10, 2)),
            "day": pa.array([datetime.date(2023, 12, 24), None]),
            "level": pa.array([1, 2], pa.int8()),
            "member": pa.array([True, None]),
        },
    )
    table = Parquet(path=path).load(schema, StageContext())
    texts = [axis.texts(codes) for axis, codes in zip(table.axes, table.codes, strict=True)]
    assert [["1.5", None], ["2023-12-24", None], ["1", "2"], ["True", None]] == texts


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_times_of_any_unit_are_seconds_and_zones_are_forgotten(tmp_path, unit):
    schema = Schema([Column(name=name, role="quasi", type="time") for name in ("here", "there")])
    late = datetime.datetime(2023, 12, 24, 23, 59, 59)
    path = parquet(
        tmp_path,
        {
            "here": pa.array([late, None], pa.timestamp(unit)),
            "there": pa.array([late, None], pa.timestamp(unit)).cast(pa.timestamp(unit, "UTC")),
        },
    )
    table = Parquet(path=path).load(schema, StageContext())
    assert [["2023-12-24 23:59:59", None]] * 2 == [
        axis.texts(codes) for axis, codes in zip(table.axes, table.codes, strict=True)
    ]


def test_an_index_that_pandas_wrote_stays_a_column(tmp_path):
    path = tmp_path / "data.parquet"
    frame = pd.DataFrame({"age": [1, 2], "zip": ["a", "b"], "illness": ["c", "d"]})
    frame.set_index("zip").to_parquet(path)
    assert [[1.0, "a", "c"], [2.0, "b", "d"]] == cells(
        Parquet(path=path).load(SCHEMA, StageContext())
    )


def test_days_of_parquet_that_are_categories_have_no_time(tmp_path):
    path = tmp_path / "people.parquet"
    days = pa.array([datetime.date(2023, 12, 24), None])
    pq.write_table(pa.table({"day": days}), path)
    schema = Schema([Column(name="day", role="quasi")])
    assert [["2023-12-24"], [None]] == cells(Parquet(path=path).load(schema, StageContext()))


def parquet_refusal(path):
    with pytest.raises(DataError) as caught:
        Parquet(path=path).load(SCHEMA, StageContext())
    return str(caught.value).replace(str(path), "FILE")


def test_parquet_files_that_cannot_be_read(tmp_path):
    assert "FILE: there is no such file" == parquet_refusal(tmp_path / "absent.parquet")
    assert "FILE: this is a folder, not a file" == parquet_refusal(tmp_path)
    assert "FILE: the file is empty" == parquet_refusal(write(tmp_path, ""))
    assert "FILE: this is not a Parquet file, or it is damaged" == parquet_refusal(
        write(tmp_path, PLAIN)
    )


def test_a_damaged_parquet_file(tmp_path):
    path = parquet(
        tmp_path, {"age": range(9), "zip": [str(i) for i in range(9)], "illness": ["a"] * 9}
    )
    content = bytearray(path.read_bytes())
    content[4:60] = bytes(56)
    path.write_bytes(content)
    assert "FILE: this is not a Parquet file, or it is damaged" == parquet_refusal(path)


def test_nested_parquet_cells(tmp_path):
    path = parquet(tmp_path, {"age": [1], "zip": [["a", "b"]], "illness": ["c"]})
    assert (
        "column 'zip': its cells are of type list; a cell must be one text, number, date or "
        "truth value" == parquet_refusal(path)
    )


def test_parquet_without_rows_or_columns(tmp_path):
    path = parquet(tmp_path, {"age": pa.array([], pa.int64()), "zip": [], "illness": []})
    assert "the table is empty: there is nothing to publish" == parquet_refusal(path)
    path = parquet(tmp_path, {"age": [1]})
    assert "the data have no column 'zip', 'illness'; they have: 'age'" == parquet_refusal(path)
