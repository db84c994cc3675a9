"""The independent check: every model recomputed from the published frame alone.

It knows nothing of the stages or their classes. Classes are what a recipient sees: rows with equal
published cells. A row whose quasi-identifiers are all `*` belongs to none, is part of nothing that
classes are compared with, and must hold no other value.
"""

from collections.abc import Collection
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anonloom import Classes, Column, PrivacyModel, Release, Schema, Table
from anonloom.cells import STAR
from anonloom.data import changed_cells
from anonloom.errors import PrivacyError
from anonloom.kinds import ModelVerdict

__all__ = [
    "ModelVerdicts",
    "judge_models",
    "refuse_broken_models",
    "refuse_telling_stars",
]

ModelVerdicts = tuple[ModelVerdict, ...]


def judge_models(
    release: Release,
    models: tuple[tuple[str, PrivacyModel], ...],
    persons: NDArray[np.int32] | None = None,
    *,
    among_starred: bool = False,
) -> ModelVerdicts:
    """Judge a release by every model.

    Parameters
    ----------
    models
        Names and models.
    persons
        The person behind every row of the release, -1 where nobody knows, if rows are not
        persons. This is not published, so the frame alone cannot tell.
    among_starred
        Compare classes with all rows, starred ones included, as the stages did that suppressed
        some of them. What is published is never judged so.

    Raises
    ------
    PrivacyError
        When a quasi-identifier is published with characters that nobody sees: rows that look the
        same would be told apart by a machine, and classes counted that no reader can see.
    """
    _refuse_hidden(release)
    kept = np.flatnonzero(~release.suppressed_rows)
    if not len(kept):
        nothing = np.zeros(len(release), bool)
        return tuple(ModelVerdict(name, model, 0, 0, nothing, 0, "") for name, model in models)
    # Rows of the table that is judged, and their numbers in the release.
    shown = np.arange(len(release)) if among_starred else kept
    table = _published_table(release.take(shown), None if persons is None else persons[shown])
    rows = np.searchsorted(shown, kept)
    verdicts = []
    for name, model in models:
        failing = np.zeros(len(release), bool)
        count, failed, words = 0, 0, ""
        for names in model.combinations(release.schema):
            groups = Classes.from_labels(release.groups(names)[kept], rows=rows)
            admitted = model.admits(table, groups.rows, groups.starts, groups.stops)
            failing[shown[groups.rows[~admitted[groups.class_of_position()]]]] = True
            count, failed = count + len(groups), failed + int((~admitted).sum())
            if not admitted.all():
                words = model.would_pass(table, groups.rows, groups.starts, groups.stops)
        verdicts.append(ModelVerdict(name, model, count, len(kept), failing, failed, words))
    return tuple(verdicts)


def _refuse_hidden(release: Release) -> None:
    counts = {name: changed_cells(release.frame[name]) for name in release.schema.quasi}
    result = ", ".join(
        f"{count} {'cell' if count == 1 else 'cells'} of column '{name}'"
        for name, count in counts.items()
        if count
    )
    if result:
        raise PrivacyError(
            "the release is not published: there are characters that nobody sees, or text that is "
            f"not in Unicode's form NFC, in {result}; a machine tells such cells apart",
            hint="Nothing was written. The data were read without them: a mechanism, the "
            "generalizer or the collector put them in. Cells must be in the form of "
            "anonloom.data.normalize_text.",
        )


def _published_table(release: Release, persons: NDArray[np.int32] | None) -> Table:
    """Return the release as a table: published cells are plain text, nothing is coded.

    Building it brings sensitive values to their visible form, whoever wrote them.
    """
    columns = []
    for column in release.schema:
        if not column.is_published:
            continue
        if column.role in {"quasi", "identifier"}:
            columns.append(Column(name=column.name, role="other"))
        else:
            # A missing value was dealt with when the table was read.
            columns.append(attrs.evolve(column, missing="own"))
    frame: Any = release.frame
    if persons is not None:
        name = "person"
        while name in frame.columns:
            name += "_"
        # As numbers with gaps: a row whose person is not known counts for nobody.
        frame = frame.assign(**{name: np.where(persons < 0, np.nan, persons)})
        columns.append(Column(name=name, role="person", type="number", missing="suppress"))
    return Table.build(frame, Schema(tuple(columns)))


def refuse_telling_stars(release: Release, keep: Collection[str]) -> None:
    """Refuse a release in which a row of nothing but `*` still says something.

    Parameters
    ----------
    keep
        Columns whose values such a row may have.

    Raises
    ------
    PrivacyError
        How many rows, and in which columns; never a cell.
    """
    frame, quasi = release.frame, release.schema.quasi
    if not quasi:
        return
    starred = frame.loc[np.logical_and.reduce([_says_star(frame[name]) for name in quasi])]
    rest = [name for name in frame.columns if name not in quasi and name not in keep]
    telling = starred[rest].notna()
    if telling.to_numpy().any():
        names = ", ".join(f"'{name}'" for name in rest if telling[name].any())
        count = int(telling.any(axis=1).sum())
        raise PrivacyError(
            f"the release is not published: {count} suppressed {'row' if count == 1 else 'rows'} "
            f"of {len(starred)} still {'has' if count == 1 else 'have'} values of {names}",
            hint="Nothing was written. A row whose quasi-identifiers are all '*' loses every other "
            "value that 'suppression: keep' does not name.",
        )


def _says_star(column: Any) -> NDArray[np.bool_]:
    """Say which cells are written as `*`; each distinct one is written once."""
    says: NDArray[np.bool_]
    if isinstance(column.dtype, pd.CategoricalDtype):
        # The code of a missing cell, -1, finds the last.
        stars = np.array([*(str(value) == STAR for value in column.cat.categories), False])
        says = stars[column.cat.codes.to_numpy()]
    else:
        says = (column.astype(str) == STAR).to_numpy(dtype=bool, na_value=False)
    return says


def refuse_broken_models(verdicts: ModelVerdicts) -> None:
    """Raise for the first model that does not hold.

    Raises
    ------
    PrivacyError
        Which models, how many classes and rows, and what would pass; never a cell.
    """
    failed = [verdict for verdict in verdicts if not verdict.holds]
    if not failed:
        return
    lines = [
        f"{verdict.name} does not hold: {verdict.failing_classes} of {verdict.classes} published "
        f"classes ({int(verdict.failing.sum())} of {verdict.rows} rows) are refused; "
        f"{verdict.would_pass} would pass"
        for verdict in failed
    ]
    raise PrivacyError(
        "the release is not published: " + "; ".join(lines),
        hint="Nothing was written. Use a sound method, allow suppression, or lower the demand.",
    )
