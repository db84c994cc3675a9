"""What is asked of a database, and how its refusals are told without secrets."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import attrs
import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from anonloom.errors import DataError
from anonloom_tables import require_file

_SECRET = re.compile(r"pass|pwd|secret|token|key", re.IGNORECASE)
_OPTION = re.compile(r"(\w+)\s*=\s*([^;]+)")

# Needs no quotes in any database, and nobody calls a column so.
_RELATION = "anonloom_relation"


@attrs.frozen(eq=False)
class Database:
    """One table or query of a database."""

    _url: sa.URL = attrs.field(repr=False)
    _engine: sa.Engine = attrs.field(repr=False)
    _relation: str

    @classmethod
    def at(
        cls, url: str | None, path: Path | None, table: str | None, query: str | None
    ) -> "Database":
        """Find the database; nothing is opened yet.

        Raises
        ------
        DataError
            When the URL cannot be read, its driver is not installed, or there is no such file.
        """
        where = _url(url, path)
        try:
            # No pool: one question and the connection is closed.
            engine = sa.create_engine(where, poolclass=NullPool)
        except NoSuchModuleError:
            raise DataError(
                f"no database is called '{where.drivername}'",
                hint="write it as SQLAlchemy does: postgresql, mysql, oracle, mssql, sqlite",
            ) from None
        except ModuleNotFoundError as error:
            raise DataError(
                f"the driver of '{where.drivername}' is not installed: there is no module "
                f"'{error.name}'",
                hint=f"pip install {error.name}",
            ) from None
        except (SQLAlchemyError, TypeError, ValueError):
            raise _unreadable() from None
        _require_file(where)
        preparer = engine.dialect.identifier_preparer
        if query is not None:
            # On lines of its own: a comment at the query's end must not swallow the bracket.
            return cls(where, engine, f"(\n{query.rstrip().rstrip(';')}\n) anonloom_query")
        schema, _, name = str(table).rpartition(".")
        return cls(where, engine, preparer.format_table(sa.table(name, schema=schema or None)))

    def columns(self) -> tuple[str, ...]:
        """Names of the columns, without any row."""
        # No row is read, so that what the database says of a mistake cannot quote one.
        with self._execute(f"SELECT * FROM {self._relation} WHERE 1 = 0", told=True) as result:
            return tuple(result.keys())

    def rows(self, names: Sequence[str], at_once: int) -> Iterator[Sequence[Sequence[Any]]]:
        """Yield all rows, so many at a time, with these columns only."""
        written = self._engine.dialect.identifier_preparer.quote
        listed = ", ".join(written(name) for name in names)
        with self._execute(f"SELECT {listed} FROM {self._relation}", told=False) as result:
            yield from result.partitions(at_once)

    def some_rows(self, names: Sequence[str], at_most: int) -> Sequence[Sequence[Any]]:
        """Return so many rows at most, with these columns only."""
        columns: list[sa.ColumnClause[Any]] = [sa.column(name) for name in names]
        asked = sa.select(*columns).select_from(sa.table(_RELATION)).limit(at_most)
        # Every database limits in words of its own. What is read is put in afterwards: SQLAlchemy
        # would look for parameters in a query.
        statement = str(asked.compile(self._engine, compile_kwargs={"literal_binds": True}))
        before, _, after = statement.rpartition(_RELATION)
        with self._execute(before + self._relation + after, told=False) as result:
            rows: Sequence[Sequence[Any]] = result.fetchall()
        return rows

    @contextmanager
    def _execute(self, statement: str, told: bool) -> Iterator[Any]:
        """Ask, and roll back whatever happens.

        Parameters
        ----------
        told
            Whether the database's own words may be shown.
        """
        try:
            connection = self._engine.connect()
        except SQLAlchemyError as error:
            raise DataError(
                f"the database cannot be reached: {self._without_password(_words(error))}"
            ) from None
        with connection:
            try:
                connection = connection.execution_options(
                    no_parameters=True, stream_results=True, postgresql_readonly=True
                )
                if self._engine.dialect.name == "sqlite":
                    connection.exec_driver_sql("PRAGMA query_only = ON")
                yield connection.exec_driver_sql(statement)
            except SQLAlchemyError as error:
                words = self._without_password(_words(error)) if told else type(error).__name__
                raise DataError(f"the database refused to answer: {words}") from None
            finally:
                connection.rollback()

    def _without_password(self, text: str) -> str:
        for secret in _secrets(self._url):
            for spelling in (secret, quote(secret, safe=""), quote_plus(secret)):
                text = text.replace(spelling, "***")
        return text


def _secrets(url: sa.URL) -> list[str]:
    """Return the password, also one that stands among the options behind the `?`."""
    result = [str(url.password)] if url.password else []
    for name, given in url.query.items():
        for value in (given,) if isinstance(given, str) else given:
            if _SECRET.search(name):
                result.append(value)
            # A whole ODBC connection string: 'Driver=x;UID=y;PWD=z'.
            result += [part[2] for part in _OPTION.finditer(value) if _SECRET.search(part[1])]
    return sorted(filter(None, result), key=len, reverse=True)


def _url(url: str | None, path: Path | None) -> sa.URL:
    if path is not None:
        return sa.URL.create("sqlite", database=str(path))
    try:
        return sa.make_url(str(url))
    except (ArgumentError, ValueError):
        raise _unreadable() from None


def _unreadable() -> DataError:
    # Whatever the URL is, it may hold a password: nothing of it is shown.
    return DataError(
        "the database's URL cannot be read",
        hint="it reads driver://user:password@host:port/name; characters such as @ and / in "
        "a password are written %40 and %2F",
    )


def _require_file(url: sa.URL) -> None:
    """Refuse an SQLite file that is not there, or none; SQLite itself would make an empty one."""
    name = url.database
    if url.get_backend_name() != "sqlite" or not name or name == ":memory:" or name[:5] == "file:":
        return
    require_file(Path(name))


def _words(error: SQLAlchemyError) -> str:
    """Return the driver's first line; SQLAlchemy's own words repeat the whole statement."""
    message = str(error.orig if isinstance(error, DBAPIError) else error).strip()
    return message.splitlines()[0] if message else type(error).__name__
