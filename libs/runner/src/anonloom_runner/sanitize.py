"""The frame as it leaves the house: no trace of the rows that do not, no order of the input."""

from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anonloom import Classes, Release
from anonloom.data import row_keys

__all__ = [
    "sanitize",
]


def sanitize(release: Release, rng: np.random.Generator | None) -> Release:
    """Shuffle the rows and take out what the frame still carries of unpublished ones.

    A categorical column keeps every value that it ever had, in the order in which they were met;
    a Parquet file would publish that list. Before they are shuffled, rows are put in the order of
    their published cells: whoever guesses the seed and undoes the shuffle finds that order, and
    nothing of the input's.

    Parameters
    ----------
    rng
        Shuffles the rows; None keeps the order of the input, which `shuffle: false` asks for.
    """
    columns = {name: _forgetful(release.frame[name]) for name in release.frame.columns}
    release = attrs.evolve(release, frame=pd.DataFrame(columns, index=release.frame.index))
    if rng is None:
        return release
    return release.take(_by_content(release.frame)[rng.permutation(len(release))])


def _by_content(frame: pd.DataFrame) -> NDArray[np.int64]:
    """Row numbers in an order that published cells alone decide; equal rows are exchangeable."""
    keys = row_keys((_ranks(frame[name]) for name in frame.columns), len(frame))
    return Classes.from_labels(keys).rows


def _ranks(column: Any) -> tuple[NDArray[np.integer], int]:
    """Rank of every cell, -1 for missing, and the number of ranks."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        # `_used_in_order` has put them in the order of their text.
        return column.cat.codes.to_numpy(), len(column.cat.categories)
    if column.dtype != object:
        codes, values = pd.factorize(column, sort=True)
        return codes.astype(np.int64), len(values)
    codes, values = pd.factorize(column)
    # Texts can be compared whatever the types of the cells are.
    texts = np.array([*(str(value) for value in values), ""], object)
    rank = pd.factorize(texts[:-1], sort=True)[0].astype(np.int64)
    return np.append(rank, -1)[codes], len(values)


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
