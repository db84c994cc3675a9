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


def _forgetful(column: Any) -> Any:
    if isinstance(column.dtype, pd.CategoricalDtype):
        used = column.cat.remove_unused_categories()
        return used.cat.reorder_categories(sorted(used.cat.categories, key=str), ordered=False)
    if column.dtype == np.float64 and len(column):
        # Whole numbers that were read beside missing cells, or from text, stay whole numbers.
        numbers = column.to_numpy()
        present = numbers[~np.isnan(numbers)]
        if (present == np.round(present)).all() and (np.abs(present) < 2**53).all():
            return column.astype("Int64")
    return column
