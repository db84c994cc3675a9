"""Disguised twins: the second job of a row is changed a little, so that it is not recognised.

Workers who compare their batches find equal rows at once. The client says by how much each column
may change without changing the result; that this holds is the client's claim.
"""

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from anonloom.errors import DataError, UsageError
from anonloom.lazy import pd

# A column with more decimals than this counts as continuous.
_MOST_DECIMALS = 12
# Whole numbers below this are exact in floating point.
_EXACT = 2.0**53


def disguise_rows(
    cells: "pd.DataFrame",
    where: NDArray[np.bool_],
    disguise: Mapping[str, float],
    rng: np.random.Generator,
) -> "pd.DataFrame":
    """Return the rows with small changes in some of them.

    A changed cell keeps what the column's cells have in common: their type, their range and the
    step between them; and its own roundness, where the change allowed is as large. What no genuine
    row shows would give the twin away.

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
    result = cells.copy()
    for name, most in disguise.items():
        if name not in cells.columns:
            raise UsageError(f"disguise: there is no column '{name}'")
        column = cells[name]
        if pd.api.types.is_bool_dtype(column) or not pd.api.types.is_numeric_dtype(column):
            raise DataError(f"disguise: column '{name}' holds something else than numbers")
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
        new = _change_values(values, where, most, rng, name)
        if pd.api.types.is_integer_dtype(column):
            new = np.rint(new)
        # Only these: long integers would not survive the way through floating point.
        changed = column.array.copy()
        changed[where] = pd.array(new, dtype=column.dtype)
        result[name] = pd.Series(changed, index=cells.index)
    return result


def _change_values(
    values: NDArray[np.float64],
    where: NDArray[np.bool_],
    most: float,
    rng: np.random.Generator,
    name: str,
) -> NDArray[np.float64]:
    old, finite = values[where], values[np.isfinite(values)]
    if len(finite) == 0:
        return old
    decimals = _decimals(finite)
    if decimals is None:
        size = most * (1 - rng.random(len(old)))
    else:
        grain = _grains(old, finite, most, decimals, name)
        size = grain * rng.integers(1, _steps(most, grain) + 1)
    size *= rng.choice(np.array([-1.0, 1.0]), size=len(old))
    low, high = finite.min(), finite.max()
    inside = (old + size >= low) & (old + size <= high)
    size = np.where(inside, size, -size)
    new = old + size
    new = np.where((new >= low) & (new <= high), new, old)
    if decimals is not None:
        new = np.round(new, decimals)
    return np.where(np.isfinite(old), new, old)


def _decimals(finite: NDArray[np.float64]) -> int | None:
    """Return how many decimals the cells of a column have; None if it is continuous."""
    for decimals in range(_MOST_DECIMALS + 1):
        if np.abs(finite).max() * 10.0**decimals >= _EXACT:
            return None
        if np.array_equal(np.round(finite, decimals), finite):
            return decimals
    return None


def _grains(
    old: NDArray[np.float64], finite: NDArray[np.float64], most: float, decimals: int, name: str
) -> NDArray[np.float64]:
    """Return of what each cell's change is a multiple: as round as the cell, and not above `most`.

    At least the step of the column, which all its cells are apart by multiples of.
    """
    units = np.rint(finite * 10.0**decimals).astype(np.int64)
    step = max(int(np.gcd.reduce(units - units[0])), 1)
    grain = np.full(len(old), step / 10.0**decimals)
    if _steps(most, grain[:1]).sum() < 1 <= len(old):
        raise UsageError(
            f"disguise: the cells of column '{name}' are {grain[0]:g} apart or more; "
            f"a change of at most {most:g} changes none"
        )
    own = np.rint(np.where(np.isfinite(old), old, 0) * 10.0**decimals).astype(np.int64)
    round_ = 10
    while (both := math.lcm(step, round_)) <= most * 10.0**decimals * (1 + 1e-9):
        grain[own % both == 0] = both / 10.0**decimals
        round_ *= 10
    return grain


def _steps(most: float, grain: NDArray[np.float64]) -> NDArray[np.int64]:
    # A little slack: 0.3 / 0.1 is a little less than 3.
    return np.floor(most / grain + 1e-9).astype(np.int64)
