"""What an audit reads besides the two tables, and what it cannot read of the release."""

from pathlib import Path

import numpy as np

from anonloom import Release, Schema, Table
from anonloom.errors import DataError
from anonloom_runner.external import read_cells


def unread_cells(release: Release, original: Table) -> dict[str, int]:
    """Count the cells of every quasi-identifier that are in no form that Anonloom publishes."""
    results = {}
    for axis in original.axes:
        if axis.name not in release.frame.columns:
            continue
        column = release.frame[axis.name]
        strange = [axis.read(str(cell)) is None for cell in column.cat.categories]
        # The code of a missing cell, -1, finds the last.
        count = int(np.append(np.array(strange, bool), False)[column.cat.codes.to_numpy()].sum())
        if count:
            results[axis.name] = count
    return results


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
