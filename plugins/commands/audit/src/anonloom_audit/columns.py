"""What the columns of two tables are, where no pipeline says so."""

import re
from re import Pattern
from typing import Any

import pandas as pd

from anonloom import Column, Schema
from anonloom.cells import reads_like_a_form
from anonloom.data import Role, Type, coerce
from anonloom.errors import DataError

_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?", re.ASCII)


def guess_schema(original: pd.DataFrame, release: pd.DataFrame, truth: str | None = None) -> Schema:
    """Guess the roles from what was done to the columns.

    A column with generalized cells, or with values that the original lacks, is a quasi-identifier;
    all others were published as they are. A column whose originals are all ISO dates, or all ISO
    times, is one of dates or times.

    Parameters
    ----------
    truth
        The column that says whose a row is.

    Raises
    ------
    DataError
        When the tables share no column.
    """
    shared = [str(name) for name in original.columns if name in release.columns]
    if not shared:
        raise DataError("the original and the release have no column in common")
    columns = []
    for name in shared:
        before = set(_texts(original[name]))
        after = set(_texts(release[name]))
        changed = bool(after - before) or any(reads_like_a_form(text) for text in after)
        role: Role = "quasi" if changed else "other"
        if name == truth:
            columns.append(Column(name=name, role="truth"))
        else:
            columns.append(Column(name=name, role=role, type=_guess_type(sorted(before))))
    if truth is not None and truth not in shared:
        raise DataError(f"the original and the release do not both have a column '{truth}'")
    return Schema(tuple(columns))


def unique_columns(original: pd.DataFrame, schema: Schema) -> tuple[str, ...]:
    """Name the columns of texts that are published as they are and differ in every row."""
    return tuple(
        column.name
        for column in schema
        if column.role == "other"
        and column.type == "category"
        and len(original) > 1
        and original[column.name].notna().all()
        and original[column.name].is_unique
    )


def _guess_type(texts: list[str]) -> Type:
    """Say what texts are; a category where they do not agree."""
    numbers = pd.to_numeric(pd.Series(texts), errors="coerce")
    if texts and not numbers.isna().any():
        return "number"
    guesses: tuple[tuple[Type, Pattern[str]], ...] = (("date", _DATE), ("time", _TIME))
    for type_, pattern in guesses:
        if texts and all(map(pattern.fullmatch, texts)):
            try:
                coerce(pd.Series(texts), Column(name="", role="other", type=type_))
            except DataError:
                continue  # there is no 30th of February
            return type_
    return "category"


def _texts(column: Any) -> list[str]:
    return [str(value) for value in column.dropna().unique()]
