"""What methods hand back is held to what was declared, before anything is judged or written.

Every check of a release goes by its columns' roles. A method that returned a quasi-identifier under
another role, a column that nobody declared, or somebody else's rows would be judged by the wrong
question and pass. Here such a result is refused whatever the privacy models would say.
"""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anonloom import Classes, Release, Schema, Table
from anonloom.errors import PrivacyError

__all__ = [
    "persons_behind",
]


def wrong_table(before: Table, after: Table) -> str | None:
    """Say what is wrong with the table of a mechanism, or None."""
    wrong = _wrong_schema(before.schema, after.schema)
    if wrong is None and before.origin is None and after.origin is not None:
        wrong = "invented origins for rows that had none"
    if wrong is None and after.origin is not None and len(after.origin) != len(after):
        wrong = "returned origins for another number of rows"
    return wrong


def wrong_release(declared: Schema, release: Release) -> str | None:
    """Say what is wrong with the columns of a release, or None.

    Parameters
    ----------
    declared
        The columns that the release may have.
    """
    wrong = _wrong_schema(declared, release.schema)
    if wrong is not None:
        return wrong
    if sorted(map(str, release.frame.columns)) != sorted(release.schema.published_names):
        return "published other columns than its schema says"
    for name in release.schema.quasi:
        dtype = release.frame[name].dtype
        # Compared as objects, 1, 1.0 and True are one cell; written to a file they are three.
        is_text = isinstance(dtype, pd.CategoricalDtype) and all(
            isinstance(cell, str) for cell in dtype.categories
        )
        if not is_text:
            return f"published the quasi-identifier '{name}' as something else than text"
    for rows in (release.origin, release.classes):
        if rows is not None and len(rows) != len(release):
            return "returned origins or classes for another number of rows"
    return None


def wrong_rows(table: Table, classes: Classes, release: Release) -> str | None:
    """Say whether a generalizer published other rows than it was given, or None."""
    if len(release) != classes.total:
        return f"published {len(release)} of {classes.total} rows"
    if table.origin is None:
        return None if release.origin is None else "invented origins for rows that had none"
    given = table.origin[np.sort(np.concatenate([classes.rows, classes.suppressed]))]
    if release.origin is None or not (
        np.array_equal(given, release.origin)
        or np.array_equal(np.sort(given), np.sort(release.origin))
    ):
        return "published other rows than it was given"
    return None


def _wrong_schema(declared: Schema, found: Schema) -> str | None:
    for column in found:
        if column.name not in declared:
            return f"returned a column '{column.name}', which it was not given"
        role = declared[column.name].role
        if column.role != role:
            return f"turned column '{column.name}' from role '{role}' into '{column.role}'"
        if column.is_published and not declared[column.name].is_published:
            return f"would publish column '{column.name}', which is not to be published"
    return None


def persons_behind(
    release: Release, original: Table, *, nobody: bool = False
) -> NDArray[np.int32] | None:
    """Return the person behind every published row; None where every row is a person of its own.

    A row that was doubled is still one person, whether or not a column names persons. A row whose
    person is not known has -1; such rows are suppressed, whatever a method does.

    Parameters
    ----------
    nobody
        Whether a mechanism made rows that correspond to nobody.

    Raises
    ------
    PrivacyError
        When the rows are somebody's, and it is not known whose, or when a row whose person is not
        known is not suppressed.
    """
    if nobody and release.origin is None:
        return None
    rows = release.rows_in(original)
    if rows is None:
        raise PrivacyError(
            "the release is not published: it does not say truly whose rows it has, so that "
            "nobody can count the persons in it",
            hint="Nothing was written. The collector must keep the origin of the rows.",
        )
    if original.persons is not None:
        return _known_persons(original.persons, original.unknown_persons, rows, release)
    doubled = len(rows) > 1 and bool((np.bincount(rows) > 1).any())
    return rows.astype(np.int32) if doubled else None


def _known_persons(
    persons: NDArray[np.int32],
    unknown: NDArray[np.bool_] | None,
    rows: NDArray[np.int64],
    release: Release,
) -> NDArray[np.int32]:
    if unknown is None:
        return persons[rows]
    open_ = int((unknown[rows] & ~release.suppressed_rows).sum())
    if open_:
        raise PrivacyError(
            f"the release is not published: {open_} of {len(release)} rows have no person and are "
            "not suppressed, so that the persons of their classes cannot be counted",
            hint="Nothing was written. Leave rows without a person out of the table.",
        )
    return np.where(unknown[rows], np.int32(-1), persons[rows])
