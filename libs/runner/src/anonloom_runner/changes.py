"""What was changed in a release whose cells do not cover the originals: a loss of 0 would be a lie.

Where it is known whose the rows are, every cell is compared with its own original. Otherwise the
distributions are: so many cells at least were changed, and the mean moved by so much.
"""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anonloom import Release, Table

__all__ = [
    "changes_of",
    "rows_as_they_were",
]


def changes_of(original: Table, release: Release) -> list[dict[str, Any]]:
    """Return for every column the share of cells changed, and how far the mean moved.

    The share is a lower bound (`at_least`) where rows cannot be told apart; `shift` is in standard
    deviations of the original: the mean distance of every cell from its own, or of the means.
    """
    rows = release.rows_in(original)
    results = []
    for column in release.schema:
        if column.name not in release.frame or column.name not in original.schema:
            continue
        before, after = original.column(column.name), release.frame[column.name]
        number = column.type == "number"
        if rows is not None:
            own = before.iloc[rows].reset_index(drop=True)
            shift = _mean_distance(own, after, before) if number else None
            changed = float((_texts(own, number) != _texts(after, number)).mean())
        else:
            shift = _shift_of_mean(before, after) if number else None
            changed = _least_changed(_texts(before, number), _texts(after, number))
        results.append(
            {
                "column": column.name,
                "changed": changed,
                "at_least": rows is None,
                "shift": shift,
            }
        )
    return results


def rows_as_they_were(original: Table, release: Release) -> float:
    """Return the share of published rows that are, cell for cell, rows of the original.

    Each row of the original accounts for one row of the release.
    """
    names = [
        column.name
        for column in release.schema
        if column.name in release.frame and column.name in original.schema
    ]
    if not names or not len(release):
        return 0.0
    sides = []
    for table in (original.frame, release.frame):
        texts = {
            name: _texts(table[name], original.schema[name].type == "number") for name in names
        }
        sides.append(pd.DataFrame(texts).groupby(names, sort=False, dropna=False).size())
    both = pd.concat(sides, axis="columns", keys=("before", "after")).dropna()
    return float(both.min(axis="columns").sum() / len(release))


def _texts(column: Any, number: bool) -> NDArray[np.object_]:
    """Return cells as texts that can be compared, numbers in one form; missing is ''."""
    texts = column.astype("str").where(column.notna(), "")
    if number:
        values = _numbers(column)
        texts = texts.where(np.isnan(values), pd.Series(values, index=texts.index).astype("str"))
    result: NDArray[np.object_] = texts.to_numpy(object)
    return result


def _numbers(column: Any) -> NDArray[np.float64]:
    """Return cells as numbers; what is none, such as an interval, is NaN."""
    values = pd.to_numeric(column.astype("str"), errors="coerce").to_numpy(np.float64)
    return np.asarray(values)


def _deviation(values: NDArray[np.float64]) -> float:
    return float(np.nanstd(values)) if np.isfinite(values).any() else 0.0


def _mean_distance(own: Any, after: Any, before: Any) -> float | None:
    scale = _deviation(_numbers(before))
    distances = np.abs(_numbers(after) - _numbers(own))
    return float(np.nanmean(distances)) / scale if scale and np.isfinite(distances).any() else None


def _shift_of_mean(before: Any, after: Any) -> float | None:
    first, second = _numbers(before), _numbers(after)
    scale = _deviation(first)
    if not scale or not np.isfinite(second).any():
        return None
    return abs(float(np.nanmean(second)) - float(np.nanmean(first))) / scale


def _least_changed(before: NDArray[np.object_], after: NDArray[np.object_]) -> float:
    """Return the least share of cells that must have been changed to give this distribution."""
    codes = pd.factorize(np.concatenate([before, after]))[0]
    size = int(codes.max(initial=-1)) + 1
    shares = [
        np.bincount(part, minlength=size) / max(len(part), 1)
        for part in (codes[: len(before)], codes[len(before) :])
    ]
    return float(np.maximum(shares[1] - shares[0], 0.0).sum())
