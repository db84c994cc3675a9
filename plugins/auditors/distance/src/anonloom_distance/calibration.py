"""A release in other units: numbers moved back to where people of the original have them.

Whoever adds a constant to every age, or publishes months instead of years, hides nothing from an
attacker who knows how people are distributed: the n-th smallest of what is published stands for the
n-th smallest of the population.
"""

from typing import Any

import attrs
import numpy as np

from anonloom import AuditInput, Release
from anonloom.cells import number_text
from anonloom.lazy import pd
from anonloom.typing import FloatArray


def calibrate(case: AuditInput) -> AuditInput:
    """Return the evidence with a release whose numbers are distributed as the original's are.

    Columns with cells that are no single numbers stay as they are.
    """
    assert case.original is not None
    frame, changed = case.release.frame, {}
    for column in case.original.schema:
        if column.type != "number" or column.name not in frame:
            continue
        numbers = _single_numbers(frame[column.name])
        own = pd.to_numeric(case.original.column(column.name), errors="coerce")
        known = own.dropna().to_numpy(float)
        if numbers is not None and len(known):
            moved = _moved(numbers, known)
            changed[column.name] = _as_published(frame[column.name], moved)
    release: Release = attrs.evolve(case.release, frame=frame.assign(**changed))
    return attrs.evolve(case, release=release)


def _single_numbers(cells: Any) -> FloatArray | None:
    """Return the numbers of a column, NaN for missing ones; None where some cell is no number."""
    numbers = pd.to_numeric(cells.astype(object), errors="coerce").to_numpy(float)
    return None if bool((np.isnan(numbers) & cells.notna().to_numpy()).any()) else numbers


def _moved(numbers: FloatArray, known: FloatArray) -> FloatArray:
    """Give every number the place that its rank has among those that are known."""
    present = ~np.isnan(numbers)
    values, index, counts = np.unique(numbers[present], return_inverse=True, return_counts=True)
    # The middle of equal numbers, so that as many equal ones stand there.
    share = (np.cumsum(counts) - counts / 2) / counts.sum()
    result = numbers.copy()
    places = np.sort(known)
    at = np.minimum((share * len(places)).astype(np.int64), len(places) - 1)
    result[present] = places[at][index] if len(values) else result[present]
    return result


def _as_published(cells: Any, numbers: FloatArray) -> Any:
    """Return numbers in the form that the column has: texts of categories, or numbers."""
    if not isinstance(cells.dtype, pd.CategoricalDtype):
        return pd.Series(numbers, index=cells.index)
    distinct, index = np.unique(numbers, return_inverse=True)
    codes = np.where(np.isnan(numbers), -1, index)
    texts = pd.Index([number_text(value) for value in distinct if not np.isnan(value)], dtype="str")
    return pd.Series(pd.Categorical.from_codes(codes, categories=texts), index=cells.index)
