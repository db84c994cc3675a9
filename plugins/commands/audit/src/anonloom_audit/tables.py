"""What an audit reads besides the two tables."""

from pathlib import Path

from anonloom import Schema, Table
from anonloom.errors import DataError
from anonloom_runner.external import read_cells


def control_table(path: Path, schema: Schema) -> Table:
    """Read people who are not in the release.

    Raises
    ------
    DataError
        When the file cannot be read, or lacks a column of the schema.
    """
    cells = read_cells(path)
    # What is never compared need not be there: people outside have no row of the original.
    kept = Schema(tuple(item for item in schema if item.is_published or item.name in cells.columns))
    try:
        return Table.build(cells, kept)
    except DataError as error:
        raise DataError(f"the control table '{path}': {error.what}", hint=error.hint) from None
