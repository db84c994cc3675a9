"""The frame as it leaves the house: no trace of the rows that do not, no order of the input."""

from typing import Any

import attrs
import numpy as np
import pandas as pd

from anonloom.data.release import Release


def publishable(release: Release, rng: np.random.Generator | None) -> Release:
    """Shuffle the rows and take out what the frame still carries of unpublished ones.

    A categorical column keeps every value that it ever had, in the order in which they were met;
    a Parquet file would publish that list.

    Parameters
    ----------
    rng
        Shuffles the rows; None keeps the order of the input, which `shuffle: false` asks for.
    """
    if rng is not None:
        release = release.take(rng.permutation(len(release)))
    columns = {name: _forgetful(release.frame[name]) for name in release.frame.columns}
    return attrs.evolve(release, frame=pd.DataFrame(columns, index=release.frame.index))


def _used_in_order(column: Any) -> Any:
    """Keep only the categories that occur, in the order of their text."""
    codes, categories = column.cat.codes.to_numpy(np.int32), column.cat.categories
    # Missing has the code -1; counted from there, every code is a place.
    used = np.flatnonzero(np.bincount(codes + 1, minlength=len(categories) + 1)[1:])
    used = used[np.argsort(categories[used].astype(str).to_numpy(object), kind="stable")]
    renamed = np.full(len(categories) + 1, -1, np.int32)
    renamed[used] = np.arange(len(used), dtype=np.int32)
    array = pd.Categorical.from_codes(renamed[codes], categories=categories[used])
    return pd.Series(array, index=column.index, name=column.name)


def _forgetful(column: Any) -> Any:
    if isinstance(column.dtype, pd.CategoricalDtype):
        return _used_in_order(column)
    if column.dtype == np.float64 and len(column):
        # Whole numbers that were read beside missing cells, or from text, stay whole numbers.
        numbers = column.to_numpy()
        present = numbers[~np.isnan(numbers)]
        if (present == np.round(present)).all() and (np.abs(present) < 2**53).all():
            return column.astype("Int64")
    return column
