"""Disguised twins: the second job of a row is changed a little, so that it is not recognised.

Workers who compare their batches find equal rows at once. The client says by how much each column
may change without changing the result; that this holds is the client's claim.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anonloom.errors import DataError, UsageError

# A column with more decimals than this counts as continuous.
_MOST_DECIMALS = 9


def disguised(
    cells: pd.DataFrame,
    where: NDArray[np.bool_],
    disguise: Mapping[str, float],
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Return the rows with small changes in some of them.

    A changed cell keeps what the column's cells have in common: its type, its number of decimals
    and the range that occurs, for what no genuine row shows would give the twin away.

    Parameters
    ----------
    where
        Which rows are changed.
    disguise
        Column -> largest change.

    Raises
    ------
    UsageError
        When a column is not there, or its smallest step is larger than the change allowed.
    DataError
        When a column holds something else than numbers.
    """
    found = cells.copy()
    for name, most in disguise.items():
        if name not in cells.columns:
            raise UsageError(f"disguise: there is no column '{name}'")
        column = cells[name]
        if pd.api.types.is_bool_dtype(column) or not pd.api.types.is_numeric_dtype(column):
            raise DataError(f"disguise: column '{name}' holds something else than numbers")
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
        whole = pd.api.types.is_integer_dtype(column)
        changed = values.copy()
        changed[where] = _changed(values, where, most, 0 if whole else _decimals(values), rng, name)
        found[name] = pd.Series(changed, index=cells.index).astype(column.dtype)
    return found


def _changed(
    values: NDArray[np.float64],
    where: NDArray[np.bool_],
    most: float,
    decimals: int,
    rng: np.random.Generator,
    name: str,
) -> NDArray[np.float64]:
    step = 10.0**-decimals
    # Half a step of slack: 0.3 / 0.1 is a little less than 3.
    steps = int(np.floor(most / step + 1e-9))
    if steps < 1:
        raise UsageError(
            f"disguise: the cells of column '{name}' are {step:g} apart or more; "
            f"a change of at most {most:g} changes none"
        )
    old = values[where]
    size = rng.integers(1, steps + 1, size=len(old)) * step
    size *= rng.choice(np.array([-1.0, 1.0]), size=len(old))
    if not np.isfinite(values).any():
        return old
    low, high = np.nanmin(values), np.nanmax(values)
    inside = (old + size >= low) & (old + size <= high)
    size = np.where(inside, size, -size)
    new = old + size
    new = np.where((new >= low) & (new <= high), new, old)
    return np.where(np.isfinite(old), np.round(new, decimals), old)


def _decimals(values: NDArray[np.float64]) -> int:
    """Return how many decimals the cells of a column have."""
    finite = values[np.isfinite(values)]
    for decimals in range(_MOST_DECIMALS):
        if np.array_equal(np.round(finite, decimals), finite):
            return decimals
    return _MOST_DECIMALS
