"""Source sql reads what is declared, changes nothing, and tells no secret."""

import sqlite3
import sys
import traceback
from contextlib import closing
from datetime import date, datetime, timedelta, timezone
from urllib.parse import quote

import pandas as pd
import pytest
import sqlalchemy as sa
from sqlalchemy.exc import OperationalError

from anonloom import Column, Pipeline, Schema, StageContext
from anonloom.errors import DataError, ParameterError
from anonloom_sql import source as source_module
from anonloom_sql.column_buffer import ColumnBuffer
from anonloom_sql.database import Database
from anonloom_sql.source import Sql

SCHEMA = Schema(
    [
        Column(name="age", role="quasi", type="number"),
        Column(name="zip code", role="quasi"),
        Column(name="illness", role="sensitive"),
    ]
)
ROWS = [(31, "01234", "flu", "Ann"), (45, None, "cough", "Bob"), (None, "01235", None, "Cid")]


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "clinic.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(
            'CREATE TABLE patients (age INT, "zip code" TEXT, illness TEXT, name TEXT)'
        )
        connection.executemany("INSERT INTO patients VALUES (?, ?, ?, ?)", ROWS)
        connection.commit()
    return path


def load(schema=SCHEMA, **parameters):
    return Sql(**parameters).load(schema, StageContext())


def cells(table):
    return [
        [None if pd.isna(cell) else cell for cell in row]
        for row in table.frame.astype(object).itertuples(index=False)
    ]


EXPECTED = [[31.0, "01234", "flu"], [45.0, None, "cough"], [None, "01235", None]]


def refusal(schema=SCHEMA, **parameters):
    with pytest.raises(DataError) as caught:
        load(schema, **parameters)
    assert 4 == caught.value.exit_code
    shown = "".join(traceback.format_exception(caught.value))
    assert "s3cret" not in shown
    return str(caught.value)


def test_text_and_names_are_read_without_what_nobody_sees(tmp_path):
    path = tmp_path / "spelt.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute('CREATE TABLE spelt ("zip\u200b code" TEXT, illness TEXT)')
        rows = [("1", "flu"), ("1\u00ad", "flu\ufeff"), ("1", "cafe\u0301"), ("1", "caf\u00e9")]
        connection.executemany("INSERT INTO spelt VALUES (?, ?)", rows)
        connection.commit()
    source = Sql(path=path, table="spelt")
    table = source.load(Schema(SCHEMA.columns[1:]), StageContext())
    assert ("zip code", "illness") == source.columns()
    assert [["1", "flu"], ["1", "flu"], ["1", "caf\u00e9"], ["1", "caf\u00e9"]] == cells(table)
    assert {"zip code": 1, "illness": 2} == table.normalized
    assert [1, 1, 0, 0] == table.encode_column("illness").codes.tolist()


def test_a_table_is_read(path):
    assert EXPECTED == cells(load(path=path, table="patients"))
    assert EXPECTED == cells(load(url=f"sqlite:///{path}", table="main.patients"))
    assert ("age", "zip code", "illness", "name") == Sql(path=path, table="patients").columns()


@pytest.mark.parametrize(
    "query",
    [
        'SELECT age, "zip code", illness FROM patients',
        "select * from patients;  ",
        "-- who\n/* is\n ill? */ WITH p AS (SELECT * FROM patients) SELECT * FROM p -- all",
        "SELECT age, \"zip code\", illness, '50 % :x' AS note FROM patients ORDER BY name",
    ],
)
def test_a_query_is_read(path, query):
    assert EXPECTED == cells(load(path=path, query=query))


def test_rows_in_several_portions(path, monkeypatch):
    monkeypatch.setattr(source_module, "_ROWS", 2)
    assert EXPECTED == cells(load(path=path, table="patients"))


def test_a_table_of_its_own_types(path):
    schema = Schema(
        [
            Column(name="day", role="quasi", type="date", format="%d.%m.%Y"),
            Column(name="code", role="quasi"),
            Column(name="pay", role="quasi", type="number"),
        ]
    )
    query = "SELECT '24.12.2023' AS day, 7 AS code, '1.5' AS pay UNION ALL SELECT NULL, 'x', 2.25"
    table = load(schema, path=path, query=query)
    texts = [axis.texts(codes) for axis, codes in zip(table.axes, table.codes, strict=True)]
    assert [["24.12.2023"[6:] + "-12-24", None], ["7", "x"], ["1.5", "2.25"]] == texts


def test_dates_that_the_database_knows(path):
    column = ColumnBuffer(Column(name="day", role="quasi", type="date", format="%d.%m.%Y"))
    column.add([date(2023, 12, 24), None])
    column.add([datetime(2023, 12, 25, 8, 30)])
    assert ["2023-12-24 00:00:00", "NaT", "2023-12-25 08:30:00"] == [
        str(moment) for moment in column.series()
    ]


def test_times_that_the_database_knows_forget_their_zone():
    column = ColumnBuffer(Column(name="seen", role="quasi", type="time"))
    column.add([datetime(2023, 12, 24, 8, 30, 59, 999_999), None])
    column.add([datetime(2023, 12, 25, 0, 30, tzinfo=timezone(timedelta(hours=9)))])
    assert ["2023-12-24 08:30:59", "NaT", "2023-12-25 00:30:00"] == [
        str(moment) for moment in column.series()
    ]


def test_times_that_are_text(path):
    schema = Schema([Column(name="seen", role="quasi", type="time")])
    query = "SELECT '2023-12-24 08:30' AS seen UNION ALL SELECT NULL"
    table = load(schema, path=path, query=query)
    assert ["2023-12-24 08:30:00", None] == table.axes[0].texts(table.codes[0])


def test_only_declared_columns_are_asked_for(path, monkeypatch):
    asked = []
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("ALTER TABLE patients ADD COLUMN secret TEXT")
        connection.commit()
    rows = Database.rows

    def noted(self, names, at_once):
        asked.extend(names)
        return rows(self, names, at_once)

    monkeypatch.setattr(Database, "rows", noted)
    load(path=path, table="patients")
    assert ["age", "zip code", "illness"] == asked


def test_the_database_is_as_it_was(path):
    before = path.read_bytes()
    load(path=path, table="patients")
    refusal(path=path, query="WITH p AS (SELECT 1) DELETE FROM patients")
    assert before == path.read_bytes()
    assert ["clinic.db"] == [file.name for file in path.parent.iterdir()]


def test_a_function_that_writes_is_refused(path):
    """Extensions bring such functions to a SELECT, those of SpatiaLite for example."""

    def add_function(connection, _):
        def forget():
            connection.execute("DELETE FROM patients")
            connection.execute("COMMIT")
            return "done"

        connection.create_function("forget", 0, forget)

    before = path.read_bytes()
    sa.event.listen(sa.Engine, "connect", add_function)
    try:
        refused = refusal(
            path=path, query='SELECT age, "zip code", forget() AS illness FROM patients'
        )
    finally:
        sa.event.remove(sa.Engine, "connect", add_function)
    assert "the database refused to answer: OperationalError" == refused
    assert before == path.read_bytes()


@pytest.mark.parametrize(
    "query", ["DELETE FROM patients", "DROP TABLE x", "-- SELECT\nUPDATE x", ""]
)
def test_statements_that_do_not_ask(path, query):
    with pytest.raises(ParameterError) as caught:
        Sql(path=path, query=query)
    assert (
        "The 'query' parameter of Sql must be text that begins with SELECT, WITH or VALUES, or None. "
        f"Got {query!r} instead." == str(caught.value)
    )


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"table": "t"}, "give either 'url' or 'path'"),
        ({"table": "t", "url": "sqlite://", "path": "x"}, "give either 'url' or 'path'"),
        ({"path": "x"}, "give either 'table' or 'query'"),
        ({"path": "x", "table": "t", "query": "SELECT 1"}, "give either 'table' or 'query'"),
    ],
)
def test_one_place_and_one_question(parameters, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        Sql(**parameters)


def test_what_is_missing(path, tmp_path):
    absent = tmp_path / "absent.db"
    assert f"{absent}: there is no such file" == refusal(path=absent, table="t")
    assert f"{absent}: there is no such file" == refusal(url=f"sqlite:///{absent}", table="t")
    assert not absent.exists()
    assert f"{tmp_path}: this is a folder, not a file" == refusal(path=tmp_path, table="t")
    (tmp_path / "none").touch()
    assert f"{tmp_path / 'none'}: the file is empty" == refusal(path=tmp_path / "none", table="t")
    assert "/dev/null: this is no ordinary file" == refusal(path="/dev/null", table="t")
    assert "the database refused to answer: no such table: absent" == refusal(
        path=path, table="absent"
    )
    assert "the database refused to answer: no such column: absent" == refusal(
        path=path, query="SELECT absent FROM patients"
    )
    assert "the data have no column 'age', 'zip code'; they have: 'illness'" == refusal(
        path=path, query="SELECT illness FROM patients"
    )
    assert "the table is empty: there is nothing to publish" == refusal(
        path=path, query="SELECT * FROM patients WHERE 1 = 0"
    )


def test_a_file_that_is_no_database(tmp_path):
    (tmp_path / "words").write_text("words" * 1000)
    assert "the database refused to answer: file is not a database" == refusal(
        path=tmp_path / "words", table="t"
    )


def test_words_in_a_column_of_numbers_are_counted_not_shown(path):
    query = 'SELECT illness AS age, "zip code", illness FROM patients'
    assert (
        "column 'age': 2 cells are not a number (rows 1, 2); correct the data, or declare the column "
        "as 'type: category'" == refusal(path=path, query=query)
    )


def test_bytes_are_no_cells(path):
    query = "SELECT x'00' AS age, 1 AS \"zip code\", 2 AS illness"
    assert (
        "column 'age': its cells are bytes; a cell must be one text, number, date or truth value"
        == refusal(path=path, query=query)
    )


def test_a_refusal_while_rows_are_read_is_told_without_its_words(path):
    query = (
        "SELECT age, \"zip code\", CASE WHEN name = 'Cid' THEN "
        "json_extract(name, '$') ELSE illness END AS illness FROM patients"
    )
    assert "the database refused to answer: OperationalError" == refusal(path=path, query=query)


def test_urls_that_cannot_be_used():
    assert (
        "the database's URL cannot be read\n"
        "    it reads driver://user:password@host:port/name; characters such as @ and / in a "
        "password are written %40 and %2F" == refusal(url="user:s3cret@host", table="t")
    )
    assert refusal(url="sqlite://user:s3cret@host/db", table="t").startswith("the database's URL")
    assert (
        "no database is called 'nosuch'\n"
        "    write it as SQLAlchemy does: postgresql, mysql, oracle, mssql, sqlite"
        == refusal(url="nosuch://user:s3cret@host/db", table="t")
    )


def test_a_driver_that_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg2", None)
    url = "postgresql+psycopg2://user:s3cret@host/db"
    assert (
        "the driver of 'postgresql+psycopg2' is not installed: there is no module 'psycopg2'\n"
        "    pip install psycopg2" == refusal(url=url, table="t")
    )


@pytest.mark.parametrize("password", ["s3cret", "s3cret@/ x"])
def test_a_password_in_the_drivers_words_is_not_shown(password, path):
    class Refusing:
        def connect(self):
            message = f"no login for u:{password} ({quote(password, safe='')})\nmore {password}"
            raise OperationalError("SELECT", {}, Exception(message))

    url = sa.URL.create("postgresql", "u", password, host="host")
    with pytest.raises(DataError) as caught:
        Database(url, Refusing(), "t").columns()
    assert "the database cannot be reached: no login for u:*** (***)" == str(caught.value)
    assert "s3cret" not in repr(Database(url, Refusing(), "t"))
    assert "s3cret" not in repr(Sql(url=url.render_as_string(False), table="t"))


@pytest.mark.parametrize(
    "query",
    [
        {"password": "s3cret"},
        {"sslpassword": ("s3cret",)},
        {"odbc_connect": "Driver=x;UID=u;PWD=s3cret"},
    ],
)
def test_a_password_among_the_options_of_a_url_is_not_shown(query):
    class Refusing:
        def connect(self):
            raise OperationalError("SELECT", {}, Exception("no login with s3cret for u"))

    url = sa.URL.create("mssql+pyodbc", host="host", query=query)
    with pytest.raises(DataError) as caught:
        Database(url, Refusing(), "t").columns()
    assert "the database cannot be reached: no login with *** for u" == str(caught.value)


def test_the_url_is_not_in_a_complaint_about_it():
    with pytest.raises(ParameterError) as caught:
        Sql(url=["s3cret"], table="t")
    assert "s3cret" not in str(caught.value)


# --- what is looked at and forgotten ---------------------------------------------------------------


def test_first_rows_are_limited_in_the_database_s_own_words(path, monkeypatch):
    statements = []
    asked = Database._execute

    def noted(self, statement, told):
        statements.append(statement)
        return asked(self, statement, told)

    monkeypatch.setattr(Database, "_execute", noted)
    first = Sql(path=path, table="patients").first_rows(("zip code", "name"), 2)
    assert [["01234", "Ann"], [None, "Bob"]] == first.to_numpy().tolist()
    assert 'SELECT "zip code", name \nFROM patients\n LIMIT 2 OFFSET 0' == statements[-1]


def test_first_rows_of_a_query_that_has_what_looks_like_a_parameter(path):
    query = "SELECT name, ':x anonloom_relation %s' AS note FROM patients -- the end"
    first = Sql(path=path, query=query).first_rows(("note", "name"), 1)
    assert [[":x anonloom_relation %s", "Ann"]] == first.to_numpy().tolist()


def test_first_rows_of_an_empty_table_have_their_columns(path):
    first = Sql(path=path, query="SELECT * FROM patients WHERE age > 99").first_rows(("name",), 5)
    assert (["name"], 0) == (list(first.columns), len(first))


@pytest.mark.parametrize(
    ("dialect", "expected"),
    [
        ("oracle", 'SELECT "zip code", name \nFROM patients\n FETCH FIRST 7 ROWS ONLY'),
        ("mssql", "SELECT TOP 7 [zip code], name \nFROM patients"),
        ("mysql", "SELECT `zip code`, name \nFROM patients \n LIMIT 7"),
        ("postgresql", 'SELECT "zip code", name \nFROM patients \n LIMIT 7'),
    ],
)
def test_every_database_limits_in_words_of_its_own(dialect, expected, monkeypatch):
    statements = []

    def noted(self, statement, told):
        statements.append(statement)
        raise DataError("not asked")

    monkeypatch.setattr(Database, "_execute", noted)
    engine = sa.create_mock_engine(f"{dialect}://", executor=None)
    with pytest.raises(DataError):
        Database(sa.make_url("sqlite://"), engine, "patients").some_rows(("zip code", "name"), 7)
    assert [expected] == statements


def test_a_number_of_persons_that_is_not_declared_is_named(tmp_path):
    with closing(sqlite3.connect(tmp_path / "visits.db")) as connection:
        connection.execute("CREATE TABLE visits (patient INT, age INT, sex TEXT, illness TEXT)")
        rows = [(index // 3, 20 + index // 3, "fm"[index // 3 % 2], "flu") for index in range(90)]
        connection.executemany("INSERT INTO visits VALUES (?, ?, ?, ?)", rows)
        connection.commit()
    (tmp_path / "pipeline.yaml").write_text(
        "version: 1\n"
        "data:\n"
        "  source: sql\n"
        "  with: {path: visits.db, table: visits}\n"
        "  columns: {age: {role: quasi, type: number}, sex: {role: quasi}}\n"
        "privacy: none\n"
    )
    report = Pipeline.load(tmp_path / "pipeline.yaml").run().report
    assert [
        "Column 'patient', which is not declared, is probably a person's number, and rows are "
        "counted as persons: 90 of the first 90 rows share a value of it, and 100% of these agree "
        "in all quasi-identifiers. Declare it as 'role: person', or as 'role: identifier' "
        "with 'namesakes: true', or write 'unit: record' below 'data'."
    ] == [warning["text"] for warning in report["warnings"] if warning["stage"] == "source"]
