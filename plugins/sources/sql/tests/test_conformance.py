"""The kit's checks of a source."""

import sqlite3
from contextlib import closing

from anonloom_sql.source import Sql
from anonloom_testing import SourceConformance


class TestSql(SourceConformance):
    method = Sql
    params = {"path": "table.db", "table": "persons"}  # the kit's own form

    def source(self, frame, folder):
        path = folder / "table.db"
        texts = frame.astype(object).where(frame.notna(), None)
        names = ", ".join(f'"{name}"' for name in frame.columns)
        marks = ", ".join("?" for _ in frame.columns)
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(f"CREATE TABLE persons ({names})")
            rows = [[_plain(cell) for cell in row] for row in texts.itertuples(index=False)]
            connection.executemany(f"INSERT INTO persons VALUES ({marks})", rows)
            connection.commit()
        return Sql(path=path, table="persons")


def _plain(cell):
    """Return a cell as SQLite can store it."""
    if cell is None or isinstance(cell, str | int | float):
        return cell
    return str(cell)[:10] if hasattr(cell, "year") else cell.item()
