"""Source sql: a table or a query of a database."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attrs

from anonloom import Schema, Source, StageContext, Table, param
from anonloom.data import check_columns, normalize_text
from anonloom.lazy import pd
from anonloom.params import not_empty
from anonloom_sql.column_buffer import ColumnBuffer
from anonloom_sql.database import Database

#: Rows that are held as Python objects at a time.
_ROWS = 50_000

_COMMENT = re.compile(r"\s+|--[^\n]*(\n|$)|/\*.*?\*/", re.S)


@attrs.frozen
class _Reads:
    """A statement that asks and changes nothing."""

    words: str = " that begins with SELECT, WITH or VALUES"

    def __call__(self, value: object) -> bool:
        if not isinstance(value, str):
            return True
        rest = value
        while comment := _COMMENT.match(rest):
            rest = rest[comment.end() :]
        return bool(re.match(r"(select|with|values)\b", rest, re.I))

    def schema(self) -> dict[str, object]:
        return {}


@attrs.frozen(kw_only=True)
class Sql(Source):
    """Reads the declared columns of a table or a query.

    The database is asked for these columns only. Of the others it gives a limited number of rows,
    in which Anonloom looks whether a column numbers persons, and forgets them. The transaction is
    rolled back whatever happens. A database gives rows in any order that it likes: a query with
    ORDER BY makes runs repeatable.
    """

    url: str | None = param(
        help="Where the database is, as SQLAlchemy writes it: postgresql://user:password@host/name.",
        default=None,
        check=not_empty(),
        private=True,
    )
    path: Path | None = param(help="An SQLite file, instead of `url`.", default=None, private=True)
    table: str | None = param(
        help="The table or view to read, `name` or `schema.name`.",
        default=None,
        check=not_empty(),
    )
    query: str | None = param(
        help="A query to read instead of a table.", default=None, check=_Reads()
    )

    def __attrs_post_init__(self) -> None:
        """Refuse two places at once, or none."""
        if (self.url is None) == (self.path is None):
            raise ValueError("give either 'url' or 'path'")
        if (self.table is None) == (self.query is None):
            raise ValueError("give either 'table' or 'query'")

    def load(self, schema: Schema, context: StageContext) -> Table:
        """Load the declared columns.

        Raises
        ------
        DataError
            When the database cannot be reached, or the table or a column is missing; never with a
            password or a cell.
        """
        database = self._database()
        written = database.columns()
        check_columns(written, schema)
        # As the database has them: a name may have been written with characters that nobody sees.
        own = {normalize_text(name): name for name in written}
        gathered = [ColumnBuffer(column) for column in schema]
        for rows in database.rows([own[name] for name in schema.names], _ROWS):
            for column, cells in zip(gathered, zip(*rows, strict=True), strict=True):
                column.add(cells)
        frame: dict[str, Any] = {column.name: column.series() for column in gathered}
        return Table.build(pd.DataFrame(frame, copy=False), schema)

    def columns(self) -> tuple[str, ...]:
        """Names of all columns; asks the database for no row."""
        return tuple(map(normalize_text, self._database().columns()))

    def first_rows(self, names: Sequence[str], at_most: int) -> "pd.DataFrame":
        """Cells of some columns in as many rows as the database is asked for."""
        database = self._database()
        own = {normalize_text(name): name for name in database.columns()}
        rows = database.some_rows([own[name] for name in names], at_most)
        cells = zip(*rows, strict=True) if rows else ((),) * len(names)
        columns = zip(names, cells, strict=True)
        # As objects, of which only equals are looked for.
        return pd.DataFrame({name: pd.Series(given, dtype=object) for name, given in columns})

    def _database(self) -> Database:
        return Database.at(self.url, self.path, self.table, self.query)
