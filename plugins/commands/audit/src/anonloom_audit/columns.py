"""What the columns of the tables are: declared, or guessed so that no guess makes anything safer.

A column that nobody declares is a quasi-identifier, whatever was done to it: attackers may know it.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from re import Pattern
from typing import Any

import attrs
import pandas as pd

from anonloom import Column, Schema
from anonloom.data import Role, Type, coerce
from anonloom.errors import DataError, UsageError, comma_list, did_you_mean
from anonloom_runner.identifier_shapes import identifier_shapes

_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?", re.ASCII)

#: Cells that are looked at for the shape of an identifier, and the share and number that have it.
_LOOKED_AT = 2_000
_SHARE, _CELLS = 0.01, 3


@attrs.frozen
class Roles:
    """What the columns are, and who says so.

    Attributes
    ----------
    guessed
        Columns that nobody declared.
    naming
        Guessed columns that seem to name people, with the reason.
    """

    schema: Schema
    guessed: tuple[str, ...] = ()
    naming: Mapping[str, str] = attrs.field(factory=dict)


def assign_roles(
    original: pd.DataFrame,
    releases: Sequence[pd.DataFrame],
    declared: Mapping[str, Role],
    schema: Schema | None = None,
) -> Roles:
    """Say what every column is that the original shares with a release.

    Parameters
    ----------
    declared
        Roles that were given on the command line.
    schema
        Columns that a file declares.

    Raises
    ------
    UsageError
        When a column is declared that the original lacks.
    DataError
        When the tables share no column.
    """
    names = [str(name) for name in original.columns]
    for name in declared:
        if name not in names:
            hint = did_you_mean(name, names) or f"it has: {comma_list(map(repr, names))}"
            raise UsageError(f"the original has no column '{name}'", hint=hint)
    shown = {str(name) for release in releases for name in release.columns}
    if not shown & set(names):
        raise DataError("the original and the release have no column in common")
    for name, role in declared.items():
        if role == "truth" and name not in shown:
            raise DataError(f"the original and the release do not both have a column '{name}'")
    columns = {column.name: column for column in schema or ()}
    guessed = []
    for name in names:
        if name in columns or (name not in shown and name not in declared):
            continue
        if name not in declared:
            guessed.append(name)
        role = declared.get(name, "quasi")
        compared = role not in ("identifier", "truth")
        type_ = _guess_type(sorted(set(_texts(original[name])))) if compared else "category"
        columns[name] = Column(name=name, role=role, type=type_)
    naming = {
        name: why
        for name in guessed
        if (why := _names_people(original[name], columns[name])) is not None
    }
    return Roles(Schema(tuple(columns.values())), tuple(guessed), naming)


def _names_people(cells: Any, column: Column) -> str | None:
    """Say why a column seems to name people, or None."""
    present = cells.dropna()
    shapes = identifier_shapes(
        [str(cell) for cell in present.iloc[:: -(-len(present) // _LOOKED_AT) or 1]],
        contacts=column.type == "category",
    )
    if shapes and shapes[0].share >= _SHARE and shapes[0].cells >= _CELLS:
        return f"{shapes[0].share:.0%} of its cells look like {shapes[0].noun}"
    each_once = len(cells) > 1 and len(present) == len(cells) and cells.is_unique
    if column.type == "category" and each_once:
        return "every row has a value of its own"
    return None


def identifiers_published(
    original: pd.DataFrame, release: pd.DataFrame, names: Iterable[str]
) -> dict[str, int]:
    """Count by column the cells of a release that are identifiers of the original."""
    results = {}
    for name in names:
        if name in release.columns and name in original.columns:
            known = set(_texts(original[name]))
            count = int(release[name].dropna().astype(str).isin(known).sum())
            if count:
                results[name] = count
    return results


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
