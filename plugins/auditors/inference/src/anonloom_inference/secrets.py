"""A secret column: what a cell of it says when a value must be named, and which values count as it.

A generalized cell names one value: a number in the middle of its interval, or the value of a
category that is most frequent among those it stands for.
"""

import attrs
import numpy as np

from anonloom import Table, short_repr
from anonloom.typing import BoolArray, FloatArray
from anonloom_linkage.aligned_columns import AlignedColumn
from anonloom_risk.nearest_rows import CONTROL, ORIGINAL, RELEASE

__all__ = ["Secret", "hard_to_guess"]


@short_repr
@attrs.frozen(eq=False)
class Secret:
    """The values of a column that is to be inferred.

    Attributes
    ----------
    values
        The value that every cell names: a place on the line, or the number of a leaf; infinite for
        missing.
    tolerance
        Share of a number by which it may be missed; of a moment this share of the standard
        deviation.
    """

    column: AlignedColumn
    values: FloatArray
    tolerance: float

    @classmethod
    def of(cls, column: AlignedColumn, tolerance: float) -> "Secret":
        """Read a column."""
        values = _places(column) if column.is_ordered else _leaves(column)
        values[column.missing] = np.inf
        return cls(column, values, tolerance)

    def of_rows(self, side: int) -> FloatArray:
        """Return the value of every row of a table."""
        return self.values[self.column.sides[side]]

    def agree(self, named: FloatArray, true: FloatArray) -> BoolArray:
        """Whether values that are named count as the true ones."""
        # Differences from what is missing are no numbers; what is missing twice is equal.
        with np.errstate(invalid="ignore"):
            return np.asarray((named == true) | (np.abs(named - true) <= self._reach(true)))

    def _reach(self, values: FloatArray) -> FloatArray:
        """How far a value that is named may be from each of these."""
        if not self.column.is_ordered:
            return np.zeros(len(values))
        if self.column.type == "number":
            reach = self.tolerance * np.abs(values)
        else:
            own = self.of_rows(ORIGINAL)
            spread = float(np.std(own[np.isfinite(own)])) if np.isfinite(own).any() else 0.0
            reach = np.full(len(values), self.tolerance * spread)
        return np.where(np.isfinite(values), reach, 0.0)


def _places(column: AlignedColumn) -> FloatArray:
    """Middles of intervals; what says nothing is in the middle of the release."""
    values = column.lo / 2 + column.hi / 2
    cells = column.sides[RELEASE]
    told = values[cells[~column.open[cells] & ~column.missing[cells]]]
    values[column.open] = np.median(told) if len(told) else 0.0
    return values


def _leaves(column: AlignedColumn) -> FloatArray:
    """Numbers of leaves; of several, the one that most rows of release and control have."""
    values = column.lo.copy()
    shown = (RELEASE, CONTROL) if len(column.sides) > CONTROL else (RELEASE,)
    covers = column.covers.tocsr()
    single = column.lo == column.hi
    rows = np.bincount(
        column.lo[single].astype(np.int64),
        weights=column.counts(*shown)[single],
        minlength=covers.shape[1],
    )
    for cell in np.flatnonzero(~single):
        leaves = covers.indices[covers.indptr[cell] : covers.indptr[cell + 1]]
        values[cell] = leaves[np.argmax(rows[leaves])]
    return values


def hard_to_guess(original: Table, names: tuple[str, ...], most: int) -> tuple[str, ...]:
    """Return the columns whose most frequent value is the least frequent, in their order."""
    rows = {name: np.bincount(original.encode_column(name).codes + 1) for name in names}
    chosen = sorted(names, key=lambda name: int(rows[name].max(initial=0)))[:most]
    return tuple(name for name in names if name in chosen)
