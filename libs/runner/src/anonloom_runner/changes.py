"""What was changed in a release whose cells do not cover the originals: a loss of 0 would be a lie.

Where it is known whose the rows are, every cell is compared with its own original. Otherwise the
distributions are: so many cells at least were changed, and the mean moved by so much.
"""

import math
from collections.abc import Iterator
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anonloom import Release, Table, short_repr
from anonloom.data import row_keys

__all__ = [
    "changes_of",
    "rows_as_they_were",
]


@short_repr
@attrs.frozen(eq=False)
class _Cells:
    """A column before and after: equal codes are equal cells.

    Attributes
    ----------
    before, after
        Codes of the cells.
    numbers
        By code the number that the cell is; NaN for what is none, such as an interval.
    """

    before: NDArray[np.int64]
    after: NDArray[np.int64]
    numbers: NDArray[np.float64]

    @classmethod
    def of(cls, before: Any, after: Any, number: bool) -> "_Cells":
        """Compare cells as numbers, whatever they are written like, or as texts."""
        sides = [pd.factorize(column, use_na_sentinel=False) for column in (before, after)]
        texts = [
            "" if missing else str(value)
            for _, distinct in sides
            for value, missing in zip(distinct, pd.isna(distinct), strict=True)
        ]
        numbers = pd.to_numeric(pd.Series(texts, dtype="str"), errors="coerce").to_numpy(np.float64)
        if number:
            known = np.isfinite(numbers)
            texts = [
                str(value) if fits else text
                for value, fits, text in zip(numbers.tolist(), known, texts, strict=True)
            ]
        codes, first = pd.factorize(np.array(texts, object))
        of_code = np.full(len(first), np.nan)
        of_code[codes] = numbers
        start = len(sides[0][1])
        return cls(codes[sides[0][0]], codes[start + sides[1][0]], of_code)

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def deviation(self) -> float:
        """Standard deviation of the numbers before."""
        numbers = self.numbers[self.before]
        return float(np.nanstd(numbers)) if np.isfinite(numbers).any() else 0.0


def changes_of(original: Table, release: Release) -> list[dict[str, Any]]:
    """Return for every column the share of cells changed, and how far the mean moved.

    The share is a lower bound (`at_least`) where rows cannot be told apart; `shift` is in standard
    deviations of the original: the mean distance of every cell from its own, or of the means.
    """
    rows = release.rows_in(original)
    results = []
    for name, cells in _shared_cells(original, release):
        if rows is None:
            changed, distance = _least_changed(cells), _distance_of_means(cells)
        else:
            own = cells.before[rows]
            changed = float((own != cells.after).mean()) if len(own) else 0.0
            distance = _mean_or_nan(np.abs(cells.numbers[cells.after] - cells.numbers[own]))
        number = original.schema[name].type == "number"
        shift = distance / cells.deviation if number and cells.deviation else math.nan
        results.append(
            {
                "column": name,
                "changed": changed,
                "at_least": rows is None,
                "shift": shift if math.isfinite(shift) else None,
            }
        )
    return results


def rows_as_they_were(original: Table, release: Release) -> float:
    """Return the share of published rows that are, cell for cell, rows of the original.

    Each row of the original accounts for one row of the release.
    """
    columns = [cells for _, cells in _shared_cells(original, release)]
    if not columns or not len(release):
        return 0.0
    keys = row_keys(
        ((np.concatenate([cells.before, cells.after]), len(cells)) for cells in columns),
        len(original) + len(release),
    )
    codes = pd.factorize(keys)[0]
    before, after = _counts(codes[: len(original)], codes[len(original) :])
    return float(np.minimum(before, after).sum() / len(release))


def _shared_cells(original: Table, release: Release) -> Iterator[tuple[str, _Cells]]:
    for column in release.schema:
        name = column.name
        if name in release.frame and name in original.schema:
            number = original.schema[name].type == "number"
            yield name, _Cells.of(original.column(name), release.frame[name], number)


def _counts(
    before: NDArray[np.int64], after: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    size = int(max(before.max(initial=-1), after.max(initial=-1))) + 1
    return np.bincount(before, minlength=size), np.bincount(after, minlength=size)


def _least_changed(cells: _Cells) -> float:
    """Return the least share of cells that must have been changed to give this distribution."""
    before, after = _counts(cells.before, cells.after)
    shares = [counts / max(counts.sum(), 1) for counts in (before, after)]
    return float(np.maximum(shares[1] - shares[0], 0.0).sum())


def _distance_of_means(cells: _Cells) -> float:
    means = [_mean_or_nan(cells.numbers[side]) for side in (cells.before, cells.after)]
    return abs(means[1] - means[0])


def _mean_or_nan(numbers: NDArray[np.float64]) -> float:
    return float(np.nanmean(numbers)) if np.isfinite(numbers).any() else math.nan
