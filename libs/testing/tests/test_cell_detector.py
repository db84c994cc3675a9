"""A cell is found in whatever notation it comes out, and nothing else is taken for one."""

import base64
import gzip
import hashlib
import html
import io
import json
import random
import urllib.parse
import zipfile
import zlib
from datetime import UTC, date, datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonloom import Column, Schema
from anonloom_testing.canaries import CANARY_TABLES, canaries, crowded_canaries
from anonloom_testing.cell_detector import CellDetector

WORD, NUMBER, SHARE = 'Zwölf"<qxkpwrtzbn&', 523477924, 48231.7716
DAY, MOMENT = date(1902, 1, 9), datetime(1917, 3, 5, 14, 27, tzinfo=UTC)
COLUMNS = Schema(
    [
        Column(name="word", role="quasi"),
        Column(name="number", role="quasi", type="number"),
        Column(name="share", role="quasi", type="number"),
        Column(name="day", role="quasi", type="date"),
        Column(name="moment", role="quasi", type="time"),
    ]
)
ROW = {
    "word": WORD,
    "number": NUMBER,
    "share": SHARE,
    "day": DAY.isoformat(),
    "moment": f"{MOMENT:%Y-%m-%d %H:%M}:00",
}


def seen(said):
    """Columns of which a cell was found."""
    result = CellDetector.of([ROW], COLUMNS).sightings(said)
    return sorted(item.column for item in result)


def packed(text):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("a.txt", text)
    return archive.getvalue()


@pytest.mark.parametrize(
    "said",
    [
        WORD,
        WORD.upper(),
        WORD.lower(),
        WORD[:-3],
        f"north, {WORD}; south",
        html.escape(WORD),
        "".join(f"&#{ord(letter)};" for letter in WORD),
        WORD.replace("ö", "&ouml;"),
        json.dumps(WORD),
        json.dumps({"labels": [WORD]}, ensure_ascii=True),
        repr(WORD),
        ascii(WORD),
        urllib.parse.quote(WORD),
        urllib.parse.quote_plus(WORD),
        '"' + WORD.replace('"', '""') + '"',
        WORD.encode("utf-16-le"),
        WORD.encode("utf-16"),
        b"\x07" + WORD.encode("utf-16-be"),
        base64.b64encode(WORD.encode()),
        b"src=" + base64.b64encode(b"ab" + WORD.encode()),
        base64.urlsafe_b64encode(WORD.encode("utf-16")),
        base64.encodebytes(b"some words before it, and many of them: " * 3 + WORD.encode()),
        WORD.encode().hex(),
        f"digest {WORD.encode().hex().upper()}.",
        gzip.compress(WORD.encode(), mtime=0),
        zlib.compress(WORD.encode()),
        packed(WORD),
        f'<svg><text x="1">{html.escape(WORD)}</text></svg>',
        f'<img src="data:image/svg+xml,{urllib.parse.quote(f"<text>{WORD}</text>")}">',
        '<img src="data:image/svg+xml;base64,'
        + base64.b64encode(f"<text>{html.escape(WORD)}</text>".encode()).decode()
        + '">',
        '<a href="data:;base64,'
        + base64.b64encode(gzip.compress(WORD.encode(), mtime=0)).decode()
        + '">',
    ],
)
def test_a_text_is_found_however_it_is_written(said):
    assert ["word"] == seen(said)


@pytest.mark.parametrize(
    "said",
    [
        "523477924",
        "-523477924",
        "523477924.0",
        "[523477924,100000000]",
        "[1,523477924]",
        "age<523477924",
        "age_523477924",
        "523477923",
        "523477925",
        "523477924.3",
        "523478000",
        "523477000",
        "5.23478e+08",
        "5.234779e8",
        "5.23477924E+08",
        "523,477,924",
        "523.477.924",
        "523 477 924",
        "523\u202f477\u202f924",
        "523'477'924",
        "523_477_924",
        '{"x": 523477924}',
        "&#53;23477924",
        base64.b64encode(b"edge 523477924 of age"),
        "523477924".encode("utf-16-le"),
    ],
)
def test_a_number_is_found_however_it_is_written(said):
    assert ["number"] == seen(said)


@pytest.mark.parametrize(
    "said",
    [
        "48231.7716",
        "48231.7717",
        "48231.772",
        "48,231.7716",
        "48.231,7716",
        "48 231,7716",
        "4.82318e4",
    ],
)
def test_a_number_with_decimals_is_found(said):
    assert ["share"] == seen(said)


def since_1970(day, per_day):
    return str((day - date(1970, 1, 1)).days * per_day)


@pytest.mark.parametrize(
    "said",
    [
        "1902-01-09",
        "1902/01/09",
        "1902.1.9",
        "19020109",
        "09.01.1902",
        "9.1.1902",
        "01/09/1902",
        "09/01/1902",
        "9-1-1902",
        "09.01.02",
        "9 January 1902",
        "9th of January 1902",
        "Jan 9, 1902",
        "JANUARY 9 1902",
        "09-Jan-1902",
        "1902 Jan 9",
        "1902-01-08",
        "1902-01-10",
        "1902-01-09T00:00:00Z",
        "datetime.date(1902, 1, 9)",
        since_1970(DAY, 1),
        since_1970(DAY, 24),
        since_1970(DAY, 86_400),
        since_1970(DAY, 86_400_000),
        since_1970(DAY, 86_400_000_000),
        since_1970(DAY, 86_400_000_000_000),
        since_1970(DAY, 86_400) + ".0",
        f"{(DAY - date(1970, 1, 1)).days * 86_400e9:e}",
    ],
)
def test_a_date_is_found_however_it_is_written(said):
    assert ["day"] == seen(said)


@pytest.mark.parametrize(
    "said",
    [
        "1917-03-05 14:27",
        "1917-03-05T14:27:00+00:00",
        "1917-03-05",
        "05.03.1917 14:27",
        "March 5, 1917 at 2:27 pm",
        str(int(MOMENT.timestamp())),
        str(int(MOMENT.timestamp()) + 60),
        str(int(MOMENT.timestamp() * 1000)),
        str(int(MOMENT.timestamp()) * 10**9),
        str(MOMENT.timestamp() / 60),
        str(MOMENT.timestamp() / 86_400),
        since_1970(MOMENT.date(), 1),
    ],
)
def test_a_moment_is_found_however_it_is_written(said):
    assert ["moment"] == seen(said)


def written(table, **options):
    file = io.BytesIO()
    pq.write_table(table, file, **options)
    return file.getvalue()


def test_a_parquet_file_is_read_to_its_last_page():
    column = pa.array(["harmless"] * 400 + ["also harmless"])
    plain = pa.table({"x": column})
    # Compressed values, a category that no row has, statistics, what others wrote beside them.
    unused = pd.Series(pd.Categorical(["a"] * 9, categories=["a", WORD]))
    for message in (
        written(pa.table({"x": [*column.to_pylist(), WORD]}), compression="zstd"),
        written(pa.Table.from_pandas(pd.DataFrame({"x": unused})), compression="zstd"),
        written(plain.replace_schema_metadata({"note": json.dumps(WORD)})),
        written(plain.rename_columns([WORD])),
    ):
        assert ["word"] == seen(message)
    numbers = written(pa.table({"x": np.r_[np.zeros(50), NUMBER]}), compression="gzip")
    assert ["number"] == seen(numbers)
    days = pd.DataFrame({"x": pd.to_datetime([DAY.isoformat(), "1950-06-07"])})
    assert ["day"] == seen(written(pa.Table.from_pandas(days), compression="brotli"))
    assert [] == seen(written(plain))


@pytest.mark.parametrize(
    "said",
    [
        "",
        b"\x00\xff\xfe" * 50,
        "523477",
        "523481111",
        "5234779240",
        "1523477924",
        "a523477924",
        "523477924f",
        f"sha256 {hashlib.sha256(b'1').hexdigest()}",
        "a1" + "523477924" + "b2" * 11,
        "0.523477924e-3",
        "1902-01",
        "1902-Q1",
        "1900s",
        "19021 rows",
        "created 2026-01-09T10:20:30Z",
        str(int(datetime(2026, 1, 9, tzinfo=UTC).timestamp())),
        "M 10.5 2.5 19 02 01 09 L 1.9 0.2",
        '<path d="M48,231.8 48 231.77 L48,231.8"/>',
        "version 1.9.2, 9.1.2",
        "24828 rows",
        "harmless words of many letters",
        json.dumps({"edges": [0, 50_000_000, 100_000_000], "counts": [12, 13]}),
        base64.b64encode(bytes(range(256)) * 4),
    ],
)
def test_what_is_no_cell_is_not_taken_for_one(said):
    assert [] == seen(said)


def test_no_table_of_canaries_is_found_in_random_figures_digests_and_words():
    rng = random.Random(5)
    figures = [
        f"{rng.random() * 10 ** rng.randrange(-3, 9):.{rng.randrange(1, 17)}g}" for _ in range(3000)
    ]
    digests = [hashlib.sha256(str(index).encode()).hexdigest() for index in range(300)]
    numbers = [str(rng.randrange(10**6)) for _ in range(2000)]
    keys = [base64.b64encode(rng.randbytes(32)).decode() for _ in range(200)]
    clocks = [str(1_600_000_000 + rng.randrange(10**9)) for _ in range(500)]
    message = " ".join(figures + digests + numbers + keys + clocks)
    for make in CANARY_TABLES:
        sample = make()
        result = CellDetector.of(sample.rows, sample.schema).sightings(message)
        assert [] == [str(item) for item in result]


@pytest.mark.parametrize("make", [*CANARY_TABLES, crowded_canaries])
@pytest.mark.parametrize("form", ["to_csv", "to_json", "to_html", "to_string", "to_latex"])
def test_every_cell_of_a_table_of_canaries_is_found(make, form):
    sample = make()
    if form == "to_latex":
        pytest.importorskip("jinja2", reason="pandas writes LaTeX with it")
    options = {"index": False} if form in ("to_csv", "to_html") else {}
    with pd.option_context("display.max_colwidth", None):
        message = getattr(sample.frame, form)(**options)
    detector = CellDetector.of(sample.rows, sample.schema)
    assert len(detector) == len(detector.sightings(message))


def test_what_is_published_is_excused_and_what_lies_beside_it_is_not():
    sample = crowded_canaries()
    first, second = sample.rows[40], sample.rows[41]
    detector = CellDetector.of(sample.rows, sample.schema).allow_published(
        f"[{first['age']}, 600000000]"
    )
    assert [] == detector.sightings(f"age < {first['age']}")
    assert [str(second["age"])] == [
        sighting.value for sighting in detector.sightings(str(second["age"]))
    ]


@given(st.integers(0, 119), st.sampled_from(["age", "region", "admitted", "seen", "cost", "note"]))
def test_one_cell_between_words_is_found(at, name):
    sample = canaries()
    cell = sample.rows[at][name]
    result = CellDetector.of(sample.rows, sample.schema).sightings(f"range 2 of 8, about {cell} on")
    assert (name, str(cell)) in {(item.column, item.value) for item in result}
