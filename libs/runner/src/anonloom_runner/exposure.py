"""Columns that are published as they are, and single people out by themselves.

No privacy model looks at a value that nothing generalizes: a name that was declared as sensitive, a
number of a file under `other`, a cost to the cent. Here the published rows are looked at, column by
column, by a recipient's question: how many of them have a value that nobody else has?
"""

from collections.abc import Iterable, Sequence
from typing import Any, Literal

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anonloom import Column, Release
from anonloom.cells import MOMENTS
from anonloom.errors import PrivacyError, UsageError
from anonloom.findings import Notice
from anonloom_runner.identifier_shapes import Shape, identifier_shapes

__all__ = [
    "examine_exposures",
    "exposure_notices",
]

Outcome = Literal["fine", "amber", "stop"]

#: From which share of rows with a value of their own a column stops a release, and how many such
#: rows it takes: texts repeat in honest tables, exact numbers less so.
_STOPS = {"category": 0.2, "number": 0.5, "date": 0.5, "time": 0.5}
_STOPS_ROWS = 50
_WARNS, _WARNS_ROWS = 0.05, 20
#: In a small table most rows are few; a text that most of them have alone is a name all the same.
_MOST, _MOST_ROWS = 0.5, 5
_SHAPE, _SHAPE_CELLS = 0.01, 3
#: Free text: this many words in the middle, and rarely the same twice.
_WORDS, _TEXT, _TEXT_ROWS = 4, 0.2, 3
#: How many cells are read as texts, evenly spread: enough to see one per cent.
_LOOKED_AT = 2_000
#: What columns that are published as they are single out together.
_TOGETHER = 0.05


@attrs.frozen
class Exposure:
    """What one column that nothing generalizes gives away.

    Attributes
    ----------
    rows, alone
        Published rows, and those among them whose value nobody else has.
    why
        What was found, in words; empty where there is nothing to say.
    """

    column: Column
    rows: int
    alone: int
    outcome: Outcome
    why: str = ""

    @property
    def share(self) -> float:
        """Share of the rows whose value nobody else has."""
        return self.alone / self.rows if self.rows else 0.0


def examine_exposures(release: Release, persons: NDArray[np.int32] | None = None) -> list[Exposure]:
    """Look at every published column that no privacy model generalizes.

    Parameters
    ----------
    persons
        The person behind every row, where rows are not persons: a value that one person has in
        many rows is theirs alone.
    """
    kept = np.flatnonzero(~release.suppressed_rows)
    whose = None if persons is None else persons[kept]
    return [
        _exposure_of(column, release.frame[column.name].iloc[kept], whose)
        for column in release.schema
        if column.is_published and column.role not in ("quasi", "identifier")
    ]


def exposure_notices(
    release: Release,
    exposures: Sequence[Exposure],
    persons: NDArray[np.int32] | None = None,
    *,
    privacy: bool,
) -> list[Notice]:
    """Return what must be said of the columns, or refuse the release.

    Parameters
    ----------
    privacy
        Whether a privacy model is declared; without one nothing is promised that a column could
        break, and all of this is only said.

    Raises
    ------
    PrivacyError
        Naming the columns, with counts; never a cell.
    """
    stops = [
        exposure
        for exposure in exposures
        if exposure.outcome == "stop" and exposure.column.accept is None
    ]
    if stops and privacy:
        _refuse(stops)
    messages = [exposure for exposure in exposures if exposure.outcome != "fine"]
    return [
        *(Notice(f"Column '{item.column.name}': {item.why}.", privacy=True) for item in messages),
        *_together(release, persons),
        *_pseudonyms(release),
    ]


def refuse_needless(exposures: Iterable[Exposure], generalized: Iterable[Column]) -> None:
    """Refuse an acceptance that nothing asks for: it would accept something else later on.

    Parameters
    ----------
    generalized
        The columns that privacy models do generalize.

    Raises
    ------
    UsageError
        Naming the column.
    """
    needless = {column.name: "it is generalized" for column in generalized if column.accept}
    for exposure in exposures:
        if exposure.column.accept is not None and exposure.outcome != "stop":
            needless[exposure.column.name] = (
                f"{exposure.alone} of {exposure.rows} published rows have a value that nobody else "
                "has"
            )
    for name, why in needless.items():
        raise UsageError(
            f"column '{name}' says 'accept: unique' and needs no acceptance: {why}",
            hint="Nothing was written. Leave 'accept' out.",
        )


def _exposure_of(column: Column, cells: Any, persons: NDArray[np.int32] | None) -> Exposure:
    alone = _alone(pd.factorize(cells)[0], persons)
    share = alone / len(cells) if len(cells) else 0.0
    texts = _texts(column, cells)
    shape = _shape(column, texts)
    words, lettered = _words(column, texts)
    if shape is not None and shape.share >= _SHAPE and shape.cells >= _SHAPE_CELLS:
        why = f"{shape.share:.0%} of the cells look like {shape.noun}"
        return Exposure(column, len(cells), alone, "stop", why)
    why = f"{alone} of {len(cells)} published rows have a value that nobody else has"
    if words >= _WORDS and share >= _TEXT and alone >= _TEXT_ROWS:
        return Exposure(column, len(cells), alone, "stop", f"it holds free text, and {why}")
    if share >= _STOPS[column.type] and alone >= _STOPS_ROWS:
        return Exposure(column, len(cells), alone, "stop", why)
    few = lettered and share >= _MOST and alone >= _MOST_ROWS
    if few or (share >= _WARNS and alone >= _WARNS_ROWS):
        return Exposure(column, len(cells), alone, "amber", why)
    return Exposure(column, len(cells), alone, "fine")


def _alone(codes: NDArray[np.int64], persons: NDArray[np.int32] | None) -> int:
    """Count the rows whose value only one person has; a missing value is nobody's."""
    there = codes >= 0
    codes = codes[there]
    if not len(codes):
        return 0
    holders = codes
    if persons is not None:
        pairs = np.unique(np.stack([codes, persons[there].astype(np.int64)]), axis=1)
        holders = pairs[0]
    single = np.bincount(holders) == 1
    return int(single[codes].sum())


def _texts(column: Column, cells: Any) -> list[str]:
    """Return cells as texts, evenly spread where there are many; numbers with a fraction as ''."""
    if column.type in MOMENTS:
        return []
    present = cells.dropna()
    looked_at = present.iloc[:: -(-len(present) // _LOOKED_AT) or 1]
    if column.type == "category":
        return [str(cell) for cell in looked_at]
    return [f"{cell:.0f}" if cell % 1 == 0 and abs(cell) < 2**53 else "" for cell in looked_at]


def _shape(column: Column, texts: list[str]) -> Shape | None:
    result = identifier_shapes(texts, contacts=column.type == "category")
    return result[0] if result else None


def _words(column: Column, texts: list[str]) -> tuple[float, bool]:
    """Words of the cell in the middle, and whether most cells have letters, as names do."""
    if column.type != "category" or not texts:
        return 0.0, False
    lettered = np.mean([any(map(str.isalpha, text)) for text in texts])
    return float(np.median([len(text.split()) for text in texts])), bool(lettered > 0.5)


def _refuse(stops: Sequence[Exposure]) -> None:
    listed = "; ".join(f"column '{stop.column.name}': {stop.why}" for stop in stops)
    names = [stop.column.name for stop in stops]
    lines = "\n".join(f"    --set {_path(name)}.accept=unique" for name in names)
    one = len(names) == 1
    raise PrivacyError(
        f"the release is not published: no privacy model generalizes {listed}",
        hint=f"Nothing was written. Declare {'it' if one else 'them'} 'role: quasi', make "
        f"{'it' if one else 'them'} coarser in the data, or leave {'it' if one else 'them'} out. "
        "Where such values must be published, 'accept: unique' on the column says so, and the "
        f"report with it:\n{lines}",
    )


def _path(name: str) -> str:
    """Return the path of a column's options, as `--set` reads it."""
    plain = name.isidentifier() or name.replace("-", "").isalnum()
    return f"data.columns.{name}" if plain else f"data.columns['{name}']"


def _together(release: Release, persons: NDArray[np.int32] | None) -> Iterable[Notice]:
    """Warn where columns that are published as they are single rows out by their combination.

    Sensitive columns are left out of it: l-diversity wants different values inside a class.
    """
    names = [
        name for name in release.schema.names_with_role("other", "label") if name in release.frame
    ]
    kept = np.flatnonzero(~release.suppressed_rows)
    if len(names) < 2 or not len(kept):
        return
    groups = release.groups(tuple(names))[kept]
    alone = _alone(groups, None if persons is None else persons[kept])
    if alone >= _TOGETHER * len(kept):
        yield Notice(
            f"Columns that are published as they are ({', '.join(names)}) together single out "
            f"{alone} of {len(kept)} published rows.",
            privacy=True,
        )


def _pseudonyms(release: Release) -> Iterable[Notice]:
    for column in release.schema:
        if column.pseudonymize and column.name in release.frame:
            yield Notice(
                f"Column '{column.name}' is published as pseudonyms: rows of one person stay "
                "linked, and whoever has the key can undo them.",
                privacy=True,
            )
