"""A number, a date or a time as a place on a line, and back, no finer than the column was."""

from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom import Column
from anonloom.cells import MOMENTS
from anonloom.data import LARGEST
from anonloom.hierarchies import UncoveredValues
from anonloom.lazy import pd

Places = NDArray[np.float64]


#: From whole thousands to six decimals: beyond these, decimals are those of a measurement, or of
#: arithmetic, and not of a custom.
_DECIMALS = range(-3, 7)

#: Whole days, hours and minutes in seconds.
_STEPS = (86_400, 3_600, 60, 1)


@attrs.frozen(eq=False)
class OrderedColumn:
    """The values of a column that has an order, as places: numbers, days or seconds.

    Attributes
    ----------
    places
        One per row; NaN is missing.
    """

    column: Column
    places: Places = attrs.field(repr=False)

    @classmethod
    def of(cls, series: Any, column: Column) -> "OrderedColumn":
        """Return the places of a column's cells."""
        unit = MOMENTS.get(column.type)
        if unit is None:
            return cls(column, series.to_numpy(float))
        moments = series.to_numpy().astype(f"datetime64[{unit}]")
        return cls(column, np.where(np.isnat(moments), np.nan, moments.astype(np.int64)))

    @property
    def present(self) -> NDArray[np.bool_]:
        """Which rows have a value."""
        return ~np.isnan(self.places)

    @property
    def limits(self) -> tuple[float, float]:
        """The least and the greatest place that a cell can be written for."""
        unit = MOMENTS.get(self.column.type)
        if unit is None:
            return -LARGEST, LARGEST
        ends = np.array(["0001-01-01", "9999-12-31"], f"datetime64[{unit}]").astype(np.int64)
        return float(ends[0]), float(ends[1])

    def round_places(self, places: Places) -> Places:
        """Return the places as coarse as the column is: whole numbers stay whole, days days.

        A cell that is finer than all others would tell that it was made up, and hide nothing:
        rounded again, it would be what it had been made from.
        """
        own = self.places[self.present]
        if self.column.type == "number":
            for decimals in _DECIMALS:
                if (np.round(own, decimals) == own).all():
                    # Adding nothing turns -0 into 0.
                    return np.round(places, decimals) + 0.0
            return places
        if self.column.type == "date":
            return np.rint(places)
        step = next(step for step in _STEPS if not (own % step).any())
        return np.rint(places / step) * step

    def series(self, places: Places) -> Any:
        """Write places as cells of the column.

        A place that the column's hierarchy lacks becomes the nearest that the column holds.
        """
        present = ~np.isnan(places)
        if self.column.hierarchy is not None and present.any():
            places = self._clip_to_hierarchy(places, present)
        if self.column.type == "number":
            return pd.Series(places)
        return pd.Series(self._values(places).astype("datetime64[s]"))

    def _values(self, places: Places) -> NDArray[Any]:
        unit = MOMENTS.get(self.column.type)
        if unit is None:
            return places
        missing = np.isnan(places)
        moments = np.where(missing, 0, places).astype(np.int64).astype(f"datetime64[{unit}]")
        moments[missing] = np.datetime64("NaT")
        return moments

    def _clip_to_hierarchy(self, places: Places, present: NDArray[np.bool_]) -> Places:
        assert self.column.hierarchy is not None
        result, which = np.unique(places[present], return_inverse=True)
        try:
            self.column.hierarchy.over(self._values(result), self.column.unknown == "own-leaf")
        except UncoveredValues as lacking:
            known = np.unique(self.places[self.present])
            result[lacking.missing] = known[nearest(known, result[lacking.missing])]
            places = places.copy()
            places[present] = result[which]
        return places


def nearest(known: Places, places: Places) -> NDArray[np.int64]:
    """Return which of the ascending known places is nearest to each place; of two the lower."""
    above = np.clip(np.searchsorted(known, places), 0, len(known) - 1)
    below = np.maximum(above - 1, 0)
    lower = places - known[below] <= known[above] - places
    return np.where(lower, below, above)
