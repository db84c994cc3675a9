"""The distribution of one column: its levels, and how cells are drawn from it.

A value that few persons hold tells of them. A number, date or time of that sort is never drawn as
it is: what is drawn lies anywhere between its neighbours. A category of that sort is not drawn.
"""

from abc import ABC, abstractmethod
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom import Column, Table, short_repr
from anonloom.lazy import pd
from anonloom.typing import FloatArray, IntArray
from anonloom_columns import OrderedColumn

#: Code of a missing cell.
MISSING = -1

#: Code of a drawn cell that no row of the original has.
NEW = -2


@short_repr
@attrs.frozen(eq=False)
class SampledCells:
    """Cells that were drawn, and the level of each."""

    cells: Any
    codes: IntArray


class Margin(ABC):
    """One column.

    Attributes
    ----------
    column
        What is known of it.
    codes
        Level of every row, in the order of the levels; -1 is missing.
    levels
        How many levels there are.
    """

    column: Column
    codes: IntArray
    levels: int

    @property
    @abstractmethod
    def drawable(self) -> bool:
        """Whether there is any value that may be drawn."""

    @property
    @abstractmethod
    def withheld(self) -> int:
        """How many values are never drawn as they are because too few persons hold them."""

    @abstractmethod
    def draw(self, at: FloatArray, missing: NDArray[np.bool_]) -> SampledCells:
        """Return the cells at these shares of the distribution (0 to 1), some of them missing."""

    @property
    def counts(self) -> IntArray:
        """How many rows have each level."""
        return np.bincount(self.codes[self.codes >= 0], minlength=self.levels)


def margin_of(table: Table, name: str, shared: int) -> Margin:
    """Return the margin of a column; categories in the order of their hierarchy or of their text.

    Parameters
    ----------
    shared
        How many persons must hold a value for it to be drawn as it is.
    """
    column, cells = table.schema[name], table.column(name)
    if column.type != "category":
        line = OrderedColumn.of(cells, column)
        values, result = np.unique(line.places[line.present], return_inverse=True)
        codes = np.full(len(cells), MISSING)
        codes[line.present] = result
        return OrderedMargin(
            column, codes, line, values, _holders(table, codes, len(values)) >= shared
        )
    entries, distinct = pd.factorize(cells)
    # Backwards, so that the first row of each level is what remains.
    rows = np.empty(len(distinct), np.int64)
    backwards = np.flatnonzero(entries >= 0)[::-1]
    rows[entries[backwards]] = backwards
    order = np.argsort(table.encode_column(name).codes[rows], kind="stable")
    codes = np.append(np.argsort(order), MISSING)[entries]
    shared_by = _holders(table, codes, len(order)) >= shared
    return NominalMargin(column, codes, cells, rows[order], shared_by)


def _holders(table: Table, codes: IntArray, levels: int) -> IntArray:
    """Count the persons that hold each level; without persons, rows."""
    present = codes >= 0
    persons = table.persons
    if persons is None:
        return np.bincount(codes[present], minlength=levels)
    of_all = int(persons.max(initial=0)) + 1
    pairs = np.unique(codes[present] * of_all + persons[present])
    return np.bincount(pairs // of_all, minlength=levels)


@attrs.frozen(eq=False)
class NominalMargin(Margin):
    """A category.

    Attributes
    ----------
    rows
        For every level a row that has it.
    shared
        Which levels may be drawn.
    """

    column: Column
    codes: IntArray = attrs.field(repr=False)
    cells: Any = attrs.field(repr=False)
    rows: IntArray = attrs.field(repr=False)
    shared: NDArray[np.bool_] = attrs.field(repr=False)

    @property
    def levels(self) -> int:  # type: ignore[override]  # read only here
        """How many values there are."""
        return len(self.rows)

    @property
    def drawable(self) -> bool:
        """Whether any value is shared."""
        return bool(self.shared.any())

    @property
    def withheld(self) -> int:
        """How many values are not drawn."""
        return int((~self.shared).sum())

    def with_order(self, order: IntArray) -> "NominalMargin":
        """Return the margin with its levels in another order."""
        codes = np.append(np.argsort(order), MISSING)[self.codes]
        return attrs.evolve(self, codes=codes, rows=self.rows[order], shared=self.shared[order])

    def draw(self, at: FloatArray, missing: NDArray[np.bool_]) -> SampledCells:
        """Return a level where the share of all levels up to it reaches `at`."""
        codes = np.full(len(at), MISSING)
        if self.drawable:
            upto = np.cumsum(np.where(self.shared, self.counts, 0))
            last = int(np.flatnonzero(self.shared)[-1])
            codes = np.minimum(np.searchsorted(upto, at * upto[-1], side="right"), last)
        codes[missing] = MISSING
        rows = np.append(self.rows, -1)[codes]
        cells = pd.Series(pd.api.extensions.take(self.cells.array, rows, allow_fill=True))
        if isinstance(cells.dtype, pd.CategoricalDtype):
            # The others would still be named in the column's type.
            cells = cells.cat.remove_unused_categories()
        return SampledCells(cells, codes)


@attrs.frozen(eq=False)
class OrderedMargin(Margin):
    """A number, a date or a time.

    Attributes
    ----------
    values
        The occurring places, ascending.
    shared
        Which of them may be drawn as they are.
    """

    column: Column
    codes: IntArray = attrs.field(repr=False)
    line: OrderedColumn = attrs.field(repr=False)
    values: FloatArray = attrs.field(repr=False)
    shared: NDArray[np.bool_] = attrs.field(repr=False)

    @property
    def levels(self) -> int:  # type: ignore[override]  # read only here
        """How many values there are."""
        return len(self.values)

    @property
    def drawable(self) -> bool:
        """Whether a value is shared, or lies between two."""
        return self.levels > 1 or bool(self.shared.any())

    @property
    def withheld(self) -> int:
        """How many values are blurred."""
        return int((~self.shared).sum())

    def draw(self, at: FloatArray, missing: NDArray[np.bool_]) -> SampledCells:
        """Return the quantiles at these shares, as coarse as the column is."""
        places = np.full(len(at), np.nan)
        if self.drawable:
            places = self.line.round_places(quantiles(self.values, self.counts, self.shared, at))
            places[missing] = np.nan
        cells = self.line.series(places)
        return SampledCells(cells, self._codes(OrderedColumn.of(cells, self.column).places))

    def _codes(self, places: FloatArray) -> IntArray:
        """Return the levels of drawn places."""
        if not self.levels:
            return np.full(len(places), MISSING)
        nearby = np.minimum(np.searchsorted(self.values, places), self.levels - 1)
        codes = np.where(self.values[nearby] == places, nearby, NEW)
        return np.where(np.isnan(places), MISSING, codes)


def quantiles(
    values: FloatArray, counts: IntArray, shared: NDArray[np.bool_], at: FloatArray
) -> FloatArray:
    """Invert the distribution of values, of which those that are not shared are blurred.

    The n rows lie at the places 0 to n - 1, in the order of their values. A shared value covers
    the places of its rows, and meets a shared neighbour half-way. A value that is not shared is a
    single point, and between points the value rises steadily: so it is never drawn itself. The
    first and the last value stay where they are, which is why the range stays too.

    Parameters
    ----------
    values
        Ascending, at least one of them shared or two in all.
    at
        Shares, 0 to 1.
    """
    end = np.cumsum(counts) - 1.0
    start = end - counts + 1
    middle = (start + end) / 2
    left, right = np.where(shared, start, middle), np.where(shared, end, middle)
    meet = shared[:-1] & shared[1:]
    right[:-1][meet] += 0.5
    left[1:][meet] -= 0.5
    if not shared[0]:
        left[0] = right[0] = start[0]
    if not shared[-1]:
        left[-1] = right[-1] = end[-1]
    points, heights = np.stack([left, right], 1).ravel(), np.repeat(values, 2)
    place = at * end[-1]
    before = np.clip(np.searchsorted(points, place, side="right") - 1, 0, len(points) - 2)
    width = points[before + 1] - points[before]
    share = np.divide(place - points[before], width, out=np.zeros(len(at)), where=width > 0)
    result: FloatArray = heights[before] + share * (heights[before + 1] - heights[before])
    return result
